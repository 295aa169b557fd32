"""Questions to a store that can't be written: answered from what stands, or refused in words that are true."""

from pathlib import Path

import pytest

import braid
from tests.ledger.test_open import read_only


def test_questions_are_answered_from_what_stands(store: Path) -> None:
    with braid.open(store) as opened:
        opened.append("Maya lives in Porto.", user_id="maya")
        opened.ask("Where does Maya live?", user_id="maya", write=False)
    with read_only(store), braid.open(store, read_only=True) as opened:
        (hit,) = opened.answer("Where does Maya live?", user_id="maya").results
        assert hit.record.text == "Maya lives in Porto."
        assert "Porto" in opened.ask("Where does Maya live?", user_id="maya", write=False).text
        assert opened.lag == 0
    with braid.open(store) as opened:
        opened.append("Maya lives in Lisbon.", user_id="maya")
    with read_only(store), braid.open(store, read_only=True) as opened:
        assert opened.answer("Where does Maya live?", user_id="maya").results
        assert opened.lag == 1


def test_where_nothing_stands_it_is_said_what_is_needed(store: Path) -> None:
    with braid.open(store) as opened:
        opened.append("Maya lives in Porto.", user_id="maya")
    with (
        read_only(store),
        braid.open(store, read_only=True) as opened,
        pytest.raises(OSError, match=r"has to be made there first .*: ask once with write access"),
    ):
        opened.answer("Where does Maya live?", user_id="maya")
