"""Each promise of the README is forced by tests that `make test` runs, and each file that it names is met at each
landing: by `make test`, or by what CI begins its soak with. `make soak` plays all of it.
"""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def promises() -> list[tuple[str, list[str]]]:
    """Each promise with the tests that it names: files, and functions of files."""
    table = (ROOT / "README.md").read_text("utf-8").partition("| Promise |")[2].partition("\n\n")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
    return [(row[0], re.findall(r"tests/[\w/]+\.py(?:::\w+)?", row[-1])) for row in rows]


def played(named: str, *, by_ci: bool = False) -> list[str]:
    """The tests of a file, or the one that is named, of which `make test` runs a case at least, or CI each time."""
    path, _, name = named.partition("::")
    body = ast.parse((ROOT / path).read_text("utf-8")).body
    found = [one for one in body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
    whole = [one for one in body if isinstance(one, ast.Assign) and "soak" in ast.unparse(one)]
    assert not whole, f"{path} is of the soak as a whole"
    return [
        one.name
        for one in found
        if one.name.startswith("test_")
        and name in ("", one.name)
        and all(_is_played(ast.unparse(each), by_ci) for each in one.decorator_list)
    ]


def _is_played(decorator: str, by_ci: bool) -> bool:
    return not decorator.startswith("pytest.mark.soak") or (by_ci and "first=True" in decorator)


def test_there_are_promises() -> None:
    assert len(promises()) >= 30


@pytest.mark.parametrize(
    ("promise", "tests"), promises(), ids=lambda one: one[:40] if isinstance(one, str) else ""
)
def test_a_promise_is_forced_whenever_tests_run(promise: str, tests: list[str]) -> None:
    del promise
    assert tests
    assert [name for named in tests for name in played(named)]
    for named in tests:
        assert played(named, by_ci="::" not in named), f"{named} is left to the soak"
