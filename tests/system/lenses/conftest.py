"""What tests of this room share lies with the unit tests."""

from tests.unit.lenses.conftest import shouting  # noqa: F401
