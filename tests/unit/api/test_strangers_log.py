"""A log that anybody may have made: what it brings is an outsider's, unless its key was given."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import braid
from braid.exchange.intake import Outcome, import_jsonl
from braid.exchange.lines import export_jsonl
from braid.ledger.export.evidence import check_imported

HOME = "Where do I live?"


@pytest.fixture
def stranger(tmp_path: Path) -> Iterator[braid.Store]:
    """A store in which somebody wrote in Maya's name."""
    with braid.open(tmp_path / "stranger", guard_dir=tmp_path / "guard") as store:
        say(store, "I live in Minsk.")
        yield store


@pytest.fixture
def mine(tmp_path: Path) -> Iterator[braid.Store]:
    with braid.open(tmp_path / "mine", guard_dir=tmp_path / "guard") as store:
        yield store


def say(store: braid.Store, text: str) -> str:
    return store.remember({"role": "user", "name": "Maya", "content": text}, user_id="maya")[0]


def taken(store: braid.Store, other: braid.Store, **options: Any) -> Outcome:
    out = io.StringIO()
    export_jsonl(other.session, out)
    return import_jsonl(store, out.getvalue().encode().splitlines(keepends=True), **options)


def classes(store: braid.Store) -> set[str]:
    return {
        store.session.reader.source_classes.of(one.index) for one in store.read() if "imported" in one.members
    }


def test_without_its_key_nothing_of_it_is_the_owners(mine: braid.Store, stranger: braid.Store) -> None:
    assert taken(mine, stranger).refused == []
    assert classes(mine) == {"outsider"}
    told = mine.ask(HOME, user_id="maya")
    assert told.rung not in ("held", "said"), told.text
    for one in mine.read():
        if "imported" in one.members:
            check_imported(one.members)


def test_it_takes_no_place_of_what_the_owner_said(mine: braid.Store, stranger: braid.Store) -> None:
    say(mine, "I live in Faro.")
    taken(mine, stranger)
    told = mine.ask(HOME, user_id="maya")
    assert "Faro" in told.text
    assert "Minsk" not in told.text


def test_with_its_key_it_keeps_whose_words_they_are(mine: braid.Store, stranger: braid.Store) -> None:
    taken(mine, stranger, vkey=stranger.vkey)
    assert "owner" in classes(mine)
    assert "Minsk" in mine.ask(HOME, user_id="maya").text


def test_the_key_may_be_given_later(mine: braid.Store, stranger: braid.Store) -> None:
    first = taken(mine, stranger)
    assert taken(mine, stranger).added == 0
    second = taken(mine, stranger, vkey=stranger.vkey)
    assert (second.added, second.known) == (first.added, 0)
    assert taken(mine, stranger).added == 0
    assert "Minsk" in mine.ask(HOME, user_id="maya").text


def test_it_corrects_nothing_that_came_home(mine: braid.Store, stranger: braid.Store) -> None:
    id = say(mine, "I live in Faro.")
    taken(stranger, mine, vkey=mine.vkey)
    copy = next(
        one.id for one in stranger.read() if "imported" in one.members and one.text == "I live in Faro."
    )
    stranger.correct(copy, "I live in Minsk.")
    assert taken(mine, stranger).refused
    assert "Faro" in mine.ask(HOME, user_id="maya").text
    assert mine.get(id).text == "I live in Faro."
