"""`braid learn`, and `braid ingest` that ends with it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.system.cli.conftest import Session

CHAT = (
    '{"role": "user", "name": "Ana", "content": "I live in Leeds, maybe I say so too often."}\n'
    '{"role": "assistant", "content": "I live in a rack."}\n'
)
READ = "SELECT text FROM experiences WHERE type = 'inference'"


def test_ingest_reads_what_it_takes_once(session: Session) -> None:
    session.write("chat.jsonl", CHAT)
    told = json.loads(session.well("ingest", "chat.jsonl", "-o", "json").out)
    assert (told["taken"], told["claims read"]) == (2, 1)
    assert "Ana lives_in Leeds" in session.well("sql", READ).out
    told = json.loads(session.well("ingest", "chat.jsonl", "-o", "json").out)
    assert (told["taken"], told["claims read"]) == (0, 0)
    assert session.is_clean()


def test_ingest_can_leave_it_out_and_learn_does_it(session: Session) -> None:
    session.write("chat.jsonl", CHAT)
    assert "claims" not in session.well("ingest", "chat.jsonl", "--no-learn").out
    dry = session.well("learn", "--dry-run")
    assert dry.out.split() == [
        "turns",
        "read",
        "2",
        "records",
        "1",
        "claims",
        "1",
        "characters",
        "not",
        "read",
        "0",
    ]
    assert "1 record would be appended" in dry.err
    assert "Leeds" not in session.well("sql", READ).out
    assert json.loads(session.well("learn", "-o", "json").out) == {
        "turns read": 2,
        "records": 1,
        "claims": 1,
        "characters not read": 0,
    }
    assert json.loads(session.well("learn", "-o", "json").out) == {
        "turns read": 0,
        "records": 0,
        "claims": 0,
        "characters not read": 0,
    }


def test_learn_shows_each_claim_and_its_words(session: Session) -> None:
    session.write("chat.jsonl", CHAT.replace("Leeds", "Leeds\\u001b[31m"))
    session.well("ingest", "chat.jsonl", "--no-learn")
    (row,) = json.loads(session.well("learn", "--show", "--dry-run", "-o", "json").out)
    assert (row["subject"], row["rel"], row["polarity"]) == ("Ana", "lives_in", True)
    assert row["from"].startswith("exp_")
    shown = session.well("learn", "--show")
    assert "\x1b" not in shown.out
    assert "1 claim in 2 turns" in shown.err


def test_learn_without_a_store_is_refused(empty: Session) -> None:
    assert "there is no store" in empty.refused("learn")
    assert "there is no store" in empty.refused("learn", "--dry-run")
