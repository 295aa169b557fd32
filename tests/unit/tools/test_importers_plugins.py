"""Importers of other packages: found in the entry-point group, asked first, and never in the way."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from braid.tools.importers.detect import by_name, detect, installed
from braid.tools.importers.message import Message
from tests.unit.tools.samples import piped

MODULE = """
from braid.tools.importers.message import Message

class Shouts:
    name = "shouts"
    shape = "lines that end with !"

    def recognises(self, source):
        return source.head.rstrip().endswith(b"!")

    def source_id(self, source):
        return "shouts"

    def read(self, source):
        for part in source.parts():
            with part.open() as stream:
                for ordinal, line in enumerate(stream):
                    yield Message(role="user", text=line.decode().strip(), ordinal=ordinal,
                                  source_uri=f"{part.uri}#L{ordinal + 1}", source_hash="sha256:" + "0" * 64)
"""


@pytest.fixture
def distribution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of another package's importers, on the path; its entry points are to be written."""
    (tmp_path / "shouting.py").write_text(MODULE)
    about = tmp_path / "shouting-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: shouting\nVersion: 1.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    installed.cache_clear()
    yield about / "entry_points.txt"
    installed.cache_clear()
    sys.modules.pop("shouting", None)


def test_an_importer_of_another_package_is_found_and_asked_first(distribution: Path) -> None:
    distribution.write_text("[braid.importers]\nshouts = shouting:Shouts\n")
    source = piped("text", b"two words!\nand more!\n")
    assert detect(source).name == by_name("shouts").name == "shouts"
    assert [each.text for each in detect(source).read(source) if isinstance(each, Message)] == [
        "two words!",
        "and more!",
    ]
    assert detect(piped("text", b"two words")).name == "text"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("broken = shouting:Missing", "AttributeError"),
        ("broken = no_such_module:X", "ModuleNotFoundError"),
        ("slack = shouting:Shouts", "'slack' is taken"),
    ],
)
def test_one_that_fails_or_takes_a_name_is_left_out_and_told(
    distribution: Path, line: str, reason: str
) -> None:
    distribution.write_text(f"[braid.importers]\n{line}\n")
    (trouble,) = installed().troubles
    assert reason in trouble
    assert by_name("slack").shape.startswith("a Slack export")
