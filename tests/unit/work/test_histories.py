"""A few random histories; `make soak` runs more than a thousand (tests/soak/work)."""

from hypothesis import settings

from tests.unit.work.machine import Histories

TestHistories = Histories.TestCase
TestHistories.settings = settings(max_examples=12, stateful_step_count=25, deadline=None)
