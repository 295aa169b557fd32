"""Public docstrings say the contract, the errors, the shapes and the units: the rooms that are held to it."""

import ast
from pathlib import Path

import pytest

from braid.tools.lab.docstrings import ROOMS, Tree

HELD = set(ROOMS) - {"tools"}

MODULE = '''
class BadError(ValueError):
    """What a caller gave is bad."""


def bare(given: int) -> int:
    return given


def silent(given: int) -> int:
    """Return what was given, as it is."""
    if given < 0:
        raise BadError("negative")
    return given


def whole(given: int) -> int:
    """Return what was given; raise BadError below 0."""
    if given < 0:
        raise BadError("negative")
    return given


def timed(pause: float) -> None:
    """Wait for the pause that is given."""
'''


@pytest.fixture(scope="module")
def tree() -> Tree:
    return Tree()


@pytest.mark.soak
def test_the_rooms_are_found(tree: Tree) -> None:
    counted = tree.counted()
    assert set(counted) == set(ROOMS)
    assert sum(public for public, _ in counted.values()) > 1000


@pytest.mark.soak(first=True)
def test_public_docstrings_are_complete(tree: Tree) -> None:
    assert [f"{gap.where}: lacks {gap.lacks}" for gap in tree.gaps() if gap.room in HELD] == []


def test_the_check_finds_what_is_missing(tmp_path: Path) -> None:
    ast.parse(MODULE)
    (tmp_path / "api").mkdir()
    (tmp_path / "docs").mkdir()
    (tmp_path / "examples").mkdir()
    (tmp_path / "wal").mkdir()
    (tmp_path / "README.md").write_text("from braid.wal.example import bare, silent, whole, timed\n")
    (tmp_path / "api" / "__init__.py").write_text("")
    (tmp_path / "wal" / "example.py").write_text(MODULE)
    found = {(gap.where.rpartition(" ")[2], gap.lacks) for gap in Tree(tmp_path).gaps()}
    assert found == {
        ("bare", "a docstring"),
        ("silent", "the error BadError"),
        ("timed", "the unit of pause"),
    }
