"""What tests of this room share lies with the unit tests."""

from tests.unit.views.conftest import _one_of_each, bench  # noqa: F401
