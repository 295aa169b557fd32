"""Every test lies in one tier, and a tier keeps what it says (docs/adr/0053-tests-in-tiers.md)."""

import ast
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.unit.conftest import BarredError, nothing_is_waited_for

ROOT = Path(__file__).parents[3]
TIERS = {"unit", "system", "soak", "truth"}
TESTS = sorted((ROOT / "tests").rglob("test_*.py"))


def test_every_test_lies_in_a_tier() -> None:
    assert TESTS
    assert {path.relative_to(ROOT / "tests").parts[0] for path in TESTS} == TIERS


@pytest.mark.parametrize(
    "path", [path for path in TESTS if "soak" in path.parts], ids=lambda path: str(path.relative_to(ROOT))
)
def test_what_lies_in_soak_is_left_out_by_make_test(path: Path) -> None:
    marks = [
        ast.unparse(line.value)
        for line in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "pytestmark"
    ]
    assert any("pytest.mark.soak" in mark for mark in marks)


@pytest.mark.parametrize(
    "wait",
    [lambda: subprocess.run([sys.executable, "-V"], check=True), lambda: time.sleep(0.001)],
    ids=["process", "sleep"],
)
def test_a_unit_test_that_waits_fails(wait: object, request: pytest.FixtureRequest) -> None:
    assert callable(wait)
    guard = nothing_is_waited_for.__wrapped__(None)  # type: ignore[attr-defined]
    next(guard)
    try:
        with pytest.raises(BarredError):
            wait()
    finally:
        next(guard, None)
    wait()
