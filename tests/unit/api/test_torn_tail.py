"""What was cut from the log's end is told to Python as it is to a person, and kept in the log."""

from pathlib import Path
from typing import Literal

import pytest

import braid
from braid.admin.status import Torn

GARBAGE = b"BRF1 and no more"


def torn(store: Path, durability: Literal["always", "interval", "none"]) -> Path:
    """Make a store whose last write did not come through."""
    braid.init(store, durability=durability)
    with braid.open(store) as opened:
        opened.append("whole")
    (segment,) = (store / "log").glob("*.seg")
    with segment.open("ab") as file:
        file.write(GARBAGE)
    return store


def test_a_cut_is_told_by_a_warning_by_status_and_by_the_log(tmp_path: Path) -> None:
    store = torn(tmp_path / "memory", "always")
    end = (store / "log" / "000000000000.seg").stat().st_size - len(GARBAGE)
    with pytest.warns(braid.TornTailWarning, match=rf"{len(GARBAGE)} bytes .* offset {end}: .*") as told:
        opened = braid.open(store)
    assert told[0].filename == __file__
    with opened:
        assert opened.status().torn == Torn(
            segment="log/000000000000.seg",
            offset=end,
            length=len(GARBAGE),
            reason="the frame header is incomplete",
        )
        rows = opened.sql("SELECT data FROM events WHERE name = 'torn_tail'").to_pylist()
        assert len(rows) == 1
        assert f'"offset":{end}' in str(rows[0]["data"]).replace(" ", "")
    with braid.open(store) as again:  # told once
        assert again.status().torn is None
        assert [one.text for one in again.read() if one.kind == "experience"] == ["whole"]


@pytest.mark.parametrize(
    ("durability", "said"),
    [
        ("always", "as a rule a write that a crash interrupted before it was acknowledged"),
        ("interval", "with durability `interval` what was acknowledged in the last moments"),
        ("none", "with durability `none` what was acknowledged in the last moments"),
    ],
)
def test_nothing_is_claimed_that_cannot_be_known(
    tmp_path: Path, durability: Literal["always", "interval", "none"], said: str
) -> None:
    store = torn(tmp_path / "memory", durability)
    with pytest.warns(braid.TornTailWarning, match=said) as told:
        braid.open(store).close()
    assert "never acknowledged" not in str(told[0].message)


def test_a_store_whose_keys_are_elsewhere_opens_all_the_same(tmp_path: Path) -> None:
    store = torn(tmp_path / "memory", "always")
    (tmp_path / "keys").mkdir()
    for key in (store / "keys").glob("recorder-*.key"):
        key.rename(tmp_path / "keys" / key.name)
    with pytest.warns(braid.TornTailWarning):
        opened = braid.open(store)
    with opened:
        assert len(opened) == 4
