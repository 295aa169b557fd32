"""`affect` as a person types it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.system.cli.conftest import Session


def test_a_text_needs_no_store(empty: Session) -> None:
    out = empty.well("affect", "I love it, thank you so much!").out
    assert out.splitlines()[3].split() == ["emotion", "joy"]
    assert "love +3.2" in out
    assert not empty.store.exists()
    sent = json.loads(empty.well("affect", "-", "-o", "json", stdin=b"I love it \x1b[31m\xff").out)
    assert sent["valence"] > 0.2
    assert sent["band"] in ("high", "middle", "low")


def test_records_are_read_and_snapshots_appended_once(session: Session) -> None:
    one = session.well("append", "I love it!").id
    two = session.well("append", "It is \x1b[31mawful.").id
    sent = json.loads(session.well("affect", "--record", one, "--record", two, "-o", "json").out)
    assert [(each["record"], each["valence"] > 0) for each in sent] == [(one, True), (two, False)]
    assert "\x1b" not in session.well("affect", "--record", two).out
    done = session.well("affect", "--record", one, "--record", two, "--append", "--stage", "augmented")
    assert done.id.startswith("aff_")
    assert len(done.out.split()) == 2
    again = session.well("affect", "--record", one, "--append", "--stage", "augmented")
    assert again.id == done.id
    assert "1 of 1 were in the log already" in again.err
    assert "augmented" in session.well("sql", "SELECT stage FROM affect").out
    assert session.is_clean()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((), "give a text"),
        (("hi", "--record", "exp_2026-01-31T09:30:00Z_000000g1k2v3"), "give a text"),
        (("hi", "--append"), "--append needs --record"),
        (("--record", "nonsense"), "nonsense: no such record"),
        (("--record", "exp_2026-01-31T09:30:00Z_000000g1k2v3"), ""),
    ],
)
def test_what_cannot_be_meant_is_refused(session: Session, words: tuple[str, ...], why: str) -> None:
    assert why in session.refused("affect", *words)


def test_a_record_without_words_is_refused(session: Session) -> None:
    steps = '{"content": {"structured": {"steps": 4000}}}'
    id = session.well("append", "--json", "-", stdin=steps).id
    assert "has no words" in session.refused("affect", "--record", id, "--append")
