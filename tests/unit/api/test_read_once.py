"""What a question reads and works out is read and worked out once; and none of it outlives an erasure."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import braid
from braid.affect.blend import Felt
from braid.affect.vad import read as read_tones
from braid.claims import subjects
from braid.claims.finder import ClaimFinder
from braid.ledger.record.record import Record, Scope, Vad
from braid.search.question import Question
from braid.search.retrieval import find
from braid.store import Store
from braid.tone import snapshots

SAID = ("I'm so happy with the red kayak.", "The kayak cost £300.", "My sister hates the kayak.")
KAYAK = "What did the kayak cost?"
WHERE = "Where does Maya live?"
MAYA = Scope(user_id="maya")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with braid.open(tmp_path / "memory", guard_dir=tmp_path / "guard") as one:
        yield one


def said(store: Store) -> list[str]:
    return [store.append(text, actor="user", name="Maya", user_id="maya") for text in SAID]


def lives(store: Store, place: str, user: str = "maya") -> str:
    claim = braid.Claim(subject=user.title(), rel="lives_in", object=place)
    return store.append(f"I live in {place}.", claims=[claim], user_id=user)


def named(store: Store, id: str) -> int:
    return store.get(id).index


def test_a_second_search_reads_no_record_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = said(store)
    asked, held = Question(query=KAYAK, user_id="maya", top_k=3), dict[int, Record]()
    found = find(store.session, asked, records=held)
    assert len(held) == len(found.results) == len(SAID)
    reader = type(store.session.reader)
    whole, read = reader.at, list[int]()

    def counted(self: Any, index: int, **how: Any) -> Record:
        read.append(index)
        return whole(self, index, **how)

    monkeypatch.setattr(reader, "at", counted)
    assert [hit.id for hit in find(store.session, asked, records=held).results] == [
        hit.id for hit in found.results
    ]
    assert not read
    store.erase(ids[1])
    assert ids[1] not in [hit.id for hit in find(store.session, asked, records=held).results]


def test_a_search_reads_each_record_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    said(store)
    reader = type(store.session.reader)
    whole, read = reader.at, list[int]()

    def counted(self: Any, index: int, **how: Any) -> Record:
        read.append(index)
        return whole(self, index, **how)

    monkeypatch.setattr(reader, "at", counted)
    find(store.session, Question(query=KAYAK, user_id="maya", trust="tool"))
    assert sorted(read) == sorted(set(read))  # for its class and as a hit


@pytest.mark.parametrize("ask", [Store.entities, Store.decision_report, Store.reviews])
def test_what_was_read_of_turns_and_the_turns_are_read_once(
    store: Store, monkeypatch: pytest.MonkeyPatch, ask: Callable[..., object]
) -> None:
    turns = said(store)
    for text, turn in zip(SAID, turns, strict=True):
        claim = braid.Claim(subject="Maya", rel="said", object=text, quote=text)
        store.append(text, type="inference", user_id="maya", parents=[turn], claims=[claim])
    reader = type(store.session.reader)
    whole, read = reader.at, list[int]()

    def counted(self: Any, index: int, **how: Any) -> Record:
        read.append(index)
        return whole(self, index, **how)

    monkeypatch.setattr(reader, "at", counted)
    ask(store, user_id="maya")
    monkeypatch.undo()
    assert {named(store, id) for id in turns} < set(read)
    assert sorted(read) == sorted(set(read))


def test_the_tone_of_a_turn_is_read_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = said(store)
    whole, read = read_tones, list[str]()

    def counted(texts: Any, vectors: Any = None) -> Any:
        read.extend(texts)
        return whole(texts, vectors)

    monkeypatch.setattr(snapshots, "read", counted)
    monkeypatch.setattr(snapshots, "_vectors", lambda _, texts: np.zeros((len(texts), 256), dtype=np.float32))
    first = store.ask(KAYAK, user_id="maya", write=False)
    assert set(SAID) <= set(read)
    read.clear()
    assert store.ask(KAYAK, user_id="maya", write=False).text == first.text
    assert set(SAID).isdisjoint(read)
    store.forget(ids[0])
    store.ask(KAYAK, user_id="maya", write=False)
    assert set(SAID[1:]) <= set(read)  # what was kept went with it
    kept = store.session.reader.standings().kept[snapshots._FeltTurns]
    assert len(kept.by_index) == 2


def test_without_vectors_no_tone_is_kept(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    said(store)
    monkeypatch.setattr(snapshots, "_vectors", lambda *_: None)
    store.ask(KAYAK, user_id="maya", write=False)
    assert not store.session.reader.standings().kept[snapshots._FeltTurns].by_index


def test_no_more_tones_are_kept_than_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "MOST_FELT", 2)
    kept, tone = snapshots._FeltTurns(), Felt(Vad(v=0.0, a=0.5, d=0.0))
    kept.add({1: tone, 2: tone})
    kept.add({3: tone})
    assert list(kept.by_index) == [3]


def test_who_is_claimed_of_is_asked_of_the_projection_once(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    porto = named(store, lives(store, "Porto"))
    leeds = named(store, lives(store, "Leeds", "jonas"))
    opened: list[int] = []
    whole = type(store.views).tables

    def counted(self: Any, **how: Any) -> Any:
        opened.append(len(store))
        return whole(self, **how)

    monkeypatch.setattr(type(store.views), "tables", counted)
    for _ in range(2):
        assert ClaimFinder(store.session, MAYA, None).named(None) == [porto]
    assert len(opened) == 1
    assert ClaimFinder(store.session, Scope(user_id="jonas"), None).named(None) == [leeds]
    faro = named(store, lives(store, "Faro"))
    assert ClaimFinder(store.session, MAYA, None).named(None) == [porto, faro]
    assert ClaimFinder(store.session, MAYA, faro).named(None) == [porto]  # of a past moment
    assert store.stance(WHERE, user_id="maya", append=False).claim == "Maya lives in Faro"


def test_a_subject_that_was_erased_is_not_kept(store: Store) -> None:
    id = lives(store, "Porto")
    lives(store, "Leeds", "jonas")
    assert ClaimFinder(store.session, MAYA, None).named(None) == [named(store, id)]
    store.erase(id)
    assert ClaimFinder(store.session, MAYA, None).named(None) == []
    kept = store.session.reader.standings().kept[subjects.SubjectIndex]
    assert "Maya" not in repr(kept._held)


@pytest.mark.sample(2)
@pytest.mark.parametrize("most", [1, 2, 3, 50])
def test_more_claims_than_are_kept_are_found_all_the_same(
    store: Store, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(subjects, "MOST_ROWS", most)
    mayas, others = list[int](), list[int]()
    for place in ("Porto", "Faro", "Leeds"):
        mayas.append(named(store, lives(store, place)))
        others.append(named(store, lives(store, place, "jonas")))
        assert ClaimFinder(store.session, MAYA, None).named(None) == mayas
        assert ClaimFinder(store.session, Scope(user_id="jonas"), None).named(None) == others
        held = store.session.reader.standings().kept[subjects.SubjectIndex]._held.values()
        assert sum(len(indexes) for one in held for indexes in one.by_subject.values()) <= most
