"""`braid status`: ten lines that a person needs, and nothing opened for them; every field with --all."""

import json
import shutil

import pytest

from tests.system.cli.conftest import Session

NAMES = [
    "store", "records", "signed head", "durability", "guard", "vault", "forgotten", "history", "projections",
    "snapshot", "disk",
]  # fmt: skip


def screen(session: Session, **env: str) -> dict[str, str]:
    shown = session.well("status", **env).out
    return {line[:13].rstrip(): line[13:] for line in shown.splitlines()}


def test_a_screen_says_how_a_store_is(session: Session) -> None:
    found = screen(session)
    assert list(found) == NAMES
    assert found["store"].startswith(f"{session.store} (braid.local/")
    assert found["signed head"] == "of all records"
    assert found["forgotten"] == "0 records; 0 erased"
    assert (found["projections"], found["snapshot"]) == ("none yet", "none")
    assert found["guard"].endswith(".guard")
    assert found["vault"] == "open, epoch 0"


def test_it_tells_what_was_forgotten_and_what_is_due(session: Session) -> None:
    ids = [session.well("append", text).id for text in ("tea", "coffee")]
    session.well("forget", ids[0])
    assert screen(session)["forgotten"].startswith("1 record, the first due on 20")
    session.well("erase", ids[1], "--yes")
    assert screen(session)["forgotten"].endswith("; 1 erased")
    assert screen(session)["vault"] == "open, epoch 1"


def test_it_tells_the_projections_and_the_snapshot(session: Session) -> None:
    session.well("append", "I live in Porto.")
    session.well("recall", "Porto")
    session.well("snapshot")
    found = screen(session)
    assert {part.split()[0] for part in found["projections"].split(", ")} == {"catalog", "duck", "lance"}
    assert found["snapshot"].startswith("at-")
    assert found["snapshot"].endswith(", 0 records behind")
    session.well("append", "I moved.")
    assert not screen(session)["snapshot"].endswith(", 0 records behind")


def test_it_tells_what_is_missing(session: Session) -> None:
    shutil.rmtree(session.folder / "guard")
    (session.store / "vault").unlink()
    found = screen(session)
    assert found["guard"] == "missing: nothing would show an older copy"
    assert found["vault"] == "none here: bodies stay sealed"


def test_looking_changes_nothing(session: Session) -> None:
    session.well("append", "tea")
    before = {path: path.stat().st_mtime_ns for path in session.store.rglob("*") if path.is_file()}
    screen(session)
    assert {path: path.stat().st_mtime_ns for path in session.store.rglob("*") if path.is_file()} == before


def test_every_field_stands_in_all_and_in_json(session: Session) -> None:
    known = json.loads(session.well("status", "-o", "json").out)
    assert {"vkey", "views", "stage", "disk", "retention"} <= set(known)
    every = session.well("status", "--all").out
    assert len(every.splitlines()) > 30
    for name in ("vkey", "views.duck.behind_by", "stage.name", "disk.free", "retention.due"):
        assert f"\n{name} " in every


@pytest.mark.parametrize(
    ("count", "told"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1_000, "1.0 KB"),
        (12_345, "12 KB"),
        (9_999_999, "10.0 MB"),
        (7 * 10**15, "7000 TB"),
    ],
)
def test_sizes_are_read_in_steps_of_a_thousand(count: int, told: str) -> None:
    from braid.tools.cli.overview import size_told

    assert size_told(count) == told
