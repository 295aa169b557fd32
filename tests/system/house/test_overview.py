"""The page on how the house is built names what is there: every path exists, every room has its row."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "overview.md").read_text(encoding="utf-8")
PATH = re.compile(r"`((?:[a-z_]+/)+[\w.-]*|[A-Z]+\.md|pyproject\.toml)`")


def test_every_path_is_there() -> None:
    named = PATH.findall(PAGE)
    assert len(named) > 40
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_every_room_has_its_row() -> None:
    rooms = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests"}
    assert rooms == set(re.findall(r"^\| `(\w+)/` \|", PAGE, flags=re.MULTILINE))
