"""A store whose files were altered: refused at reading, named by an audit, and not made worse."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.system.cli.conftest import Session


@pytest.fixture
def filled(session: Session) -> tuple[Session, str]:
    """A store with a few records, and the id of one in the middle."""
    session.well("append", "before")
    id = session.well("append", "the words in the middle").id
    for n in range(5):
        session.well("append", f"after {n}")
    return session, id


def segment_of(session: Session) -> Path:
    (segment,) = (session.store / "log").glob("*.seg")
    return segment


def flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


def snapshot(session: Session) -> dict[str, bytes]:
    """Every file that is not a projection."""
    return {
        str(path.relative_to(session.store)): path.read_bytes()
        for path in session.store.rglob("*")
        if path.is_file() and "views" not in path.parts
    }


def test_an_altered_envelope_is_refused_at_reading(filled: tuple[Session, str]) -> None:
    session, id = filled
    segment = segment_of(session)
    flip(segment, segment.read_bytes().index(session.well("show", "--envelope", id).out.encode()) + 40)
    before = snapshot(session)
    said = session.refused("show", id)
    assert segment.name in said
    assert "braid verify" in said
    done = session.braid("verify", "-o", "json")
    assert done.code == 1
    findings = json.loads(done.out)["findings"]
    assert any(segment.name in finding.get("file", "") for finding in findings)
    assert snapshot(session) == before


def test_an_altered_body_is_refused_at_reading(filled: tuple[Session, str]) -> None:
    session, id = filled
    envelope = session.well("show", "--envelope", id).out.encode()
    segment = segment_of(session)
    flip(segment, segment.read_bytes().index(envelope) + len(envelope) + 30)
    before = snapshot(session)
    session.refused("show", id)
    assert session.braid("verify").code == 1
    assert snapshot(session) == before


def test_a_torn_tail_is_told_and_cut(filled: tuple[Session, str]) -> None:
    session, _ = filled
    segment = segment_of(session)
    whole = segment.read_bytes()
    segment.write_bytes(whole + whole[whole.rindex(b"BRF1") :][:200])
    assert "200 bytes of an unfinished transaction" in session.well("verify").err
    said = session.well("append", "it goes on").err
    assert (
        f"200 bytes that are no whole transaction were cut from the log's end (log/{segment.name}, offset"
        in said
    )
    assert "never acknowledged" not in said
    assert said.count("were cut") == 1
    assert session.is_clean()


def test_a_shortened_log_is_refused(filled: tuple[Session, str]) -> None:
    session, id = filled
    segment = segment_of(session)
    segment.write_bytes(segment.read_bytes()[:-100])
    before = snapshot(session)
    for words in (("show", id), ("append", "x"), ("log",)):
        said = session.refused(*words)
        assert "remembers" in said or segment.name in said
    assert session.braid("verify").code == 1
    assert session.braid("doctor").code == 1
    assert snapshot(session) == before


def test_a_missing_segment_is_named(filled: tuple[Session, str]) -> None:
    session, _ = filled
    segment_of(session).rename(session.folder / "kept.seg")
    session.refused("log")
    assert session.braid("verify").code in (1, 2)


def test_a_row_that_was_edited_is_found_and_mended(filled: tuple[Session, str]) -> None:
    session, id = filled
    session.well("recall", "the words in the middle")
    session.well("sql", "SELECT 1")
    assert "doctor" not in session.well("doctor").out
    with closing(sqlite3.connect(session.store / "views" / "catalog.sqlite")) as con:
        con.execute("INSERT INTO turns VALUES (2, 7)")
        con.commit()
    shown = session.braid("doctor", "-o", "json")
    assert shown.code == 1, shown
    (problem,) = json.loads(shown.out)
    assert (problem["problem"], problem["fixable"]) == ("projection", False)
    assert "views/catalog.sqlite" in problem["detail"]
    assert problem["remedy"].startswith("braid replay")
    session.well("replay", "--from-scratch")
    assert session.well("doctor").out == ""
    assert "the words in the middle" in session.well("show", id).out


def test_what_is_derived_is_made_again(filled: tuple[Session, str]) -> None:
    session, id = filled
    for name in ("checkpoint", "log/000000000000.idx"):
        (session.store / name).unlink()
    for tile in (session.store / "tile").rglob("*"):
        if tile.is_file():
            tile.unlink()
    assert "doctor" in session.refused("show", id)
    found = session.braid("doctor", "-o", "json")
    assert found.code == 1
    assert all(problem["fixable"] for problem in json.loads(found.out))
    dry = session.braid("doctor", "--fix", "--dry-run")
    assert dry.code == 1
    assert not (session.store / "checkpoint").exists()
    session.well("doctor", "--fix")
    assert "the words in the middle" in session.well("show", id).out
    assert session.is_clean()


def test_a_damaged_projection_is_rebuilt(filled: tuple[Session, str]) -> None:
    session, _ = filled
    count = ("sql", "SELECT count(*) AS n FROM experiences", "-o", "json")
    assert json.loads(session.well(*count).out) == [{"n": 7}]
    for path in (session.store / "views").rglob("*"):
        if path.is_file() and path.stat().st_size:
            path.write_bytes(b"nonsense")
    session.well("replay")
    assert json.loads(session.well(*count).out) == [{"n": 7}]
    session.well("verify", "--deep")
