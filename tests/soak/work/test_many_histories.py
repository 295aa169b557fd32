"""More than a thousand random histories of workers against a model."""

import pytest
from hypothesis import HealthCheck, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.unit.work.machine import Histories

pytestmark = pytest.mark.soak
HISTORIES = 300
PARTS = 4


@pytest.mark.parametrize("part", range(PARTS))
def test_whatever_happens_each_record_has_one_effect(part: int) -> None:
    run_state_machine_as_test(
        seed(part)(Histories),
        settings=settings(
            max_examples=HISTORIES,
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
