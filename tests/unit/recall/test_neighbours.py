"""Neighbours are turns of one session, whatever the log holds between: readings, snapshots, reflections, others."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import braid
from braid.ledger.record.record import REFLECTION
from braid.store import Store

SAID = (
    "I moved to Porto in May.",
    "Lovely! Who came along?",
    "My brother Duarte and the cat.",
    "What do you call the cat now?",
    "She answers to Miso at meals.",
    "And what does she eat?",
    "Tuna on Fridays.",
)
QUESTION = "What is the cat called?"
OF_PLACE = {"causal", "index_words", "recency"}
"""Signals that may speak of other records too: BM25 of the whole index, links, lateness among the candidates."""


def said(store: Store, between: bool) -> list[str]:
    """Append a chat; with what comes between turns in a chat that is lived, and that of somebody else."""
    ids: list[str] = []
    for text in SAID:
        ids.append(store.append(text, user_id="maya", session_id="s1", name="Maya"))
        if between:
            store.feel(ids[-1])
            store.append(
                "Noted.", actor="agent", method=REFLECTION, user_id="maya", session_id="s1", parents=[ids[-1]]
            )
            store.append(
                "Something else.", type="inference", user_id="maya", session_id="s1", parents=ids[-1:]
            )
            store.append(text, user_id="bob", session_id="s1", name="Bob")
            store.append(text, user_id="maya", session_id="s2", name="Maya")
    return ids


def speaking(store: Store, ids: list[str]) -> dict[str, dict[str, float]]:
    """Return the signals of these turns, the candidates being all that may be found of their session."""
    answer = store.recall(QUESTION, user_id="maya", session_id="s1", top_k=50)
    return {
        hit.id: {name: value for name, value in hit.signals.items() if name not in OF_PLACE}
        for hit in answer.results
        if hit.id in ids
    }


@pytest.fixture
def lived(tmp_path: Path) -> Iterator[tuple[Store, list[str]]]:
    with braid.open(tmp_path / "memory") as store:
        yield store, said(store, between=True)


def neighbours(store: Store, ids: list[str]) -> list[tuple[str | None, str | None]]:
    """Return the turns before and after each of these by the catalogue, as ids."""
    catalog, reader = store.views.catalog, store.reader
    at = [reader.index_of(id) for id in ids]
    before, after = catalog.before(at), catalog.after(at)
    name: Any = lambda index: None if index is None else reader.envelope(index).id  # noqa: E731
    return [(name(before.get(one)), name(after.get(one))) for one in at]


def chain(ids: list[str]) -> list[tuple[str | None, str | None]]:
    """Return the neighbours that turns have which follow each other."""
    return [
        (ids[at - 1] if at else None, ids[at + 1] if at + 1 < len(ids) else None) for at in range(len(ids))
    ]


def test_nothing_between_two_turns_parts_them(lived: tuple[Store, list[str]]) -> None:
    store, ids = lived
    assert neighbours(store, ids) == chain(ids)
    answer = store.recall(QUESTION, user_id="maya", session_id="s1", top_k=50)
    found = {str(hit.id): hit.signals for hit in answer.results}
    asking, answering = found[ids[3]], found[ids[4]]
    assert asking["asks"] == answering["answers"] == 1.0
    assert answering["words_before"] == asking["words"] > 0
    assert asking["meaning_after"] == answering["meaning"] > 0
    assert [found[id]["opens"] for id in ids] == [1.0, 0, 0, 0, 0, 0, 0]


def test_readings_do_not_part_turns(tmp_path: Path) -> None:
    with braid.open(tmp_path / "bare") as store:
        bare = said(store, between=False)
        plain = speaking(store, bare)
    with braid.open(tmp_path / "read") as store:
        ids: list[str] = []
        for text in SAID:
            ids.append(store.append(text, user_id="maya", session_id="s1", name="Maya"))
            store.learn()
        assert store.reader.size > 4 + len(SAID), "nothing was read of the turns"
        read = speaking(store, ids)
    assert [read[id] for id in ids] == [plain[id] for id in bare]


def test_what_is_forgotten_or_erased_leaves_its_neighbours_beside_each_other(
    lived: tuple[Store, list[str]],
) -> None:
    store, ids = lived
    store.forget(ids[2])
    assert neighbours(store, [*ids[:2], *ids[3:]]) == chain([*ids[:2], *ids[3:]])
    store.recover(ids[2])
    assert neighbours(store, ids) == chain(ids)
    store.erase(ids[4])
    left = [*ids[:4], *ids[5:]]
    assert neighbours(store, left) == chain(left)
    caught = _turns(store)
    store.views.catalog.replay()
    assert _turns(store) == caught
    assert neighbours(store, left) == chain(left)


def test_a_rebuild_knows_the_turns_of_catching_up(lived: tuple[Store, list[str]]) -> None:
    store, ids = lived
    store.forget(ids[1])
    store.append("One more.", user_id="maya", session_id="s1")
    store.views.catalog.catch_up()
    caught = _turns(store)
    assert len(caught) == 3 * len(SAID)
    store.views.catalog.replay()
    assert _turns(store) == caught


def _turns(store: Store) -> list[tuple[int, int]]:
    return store.views.catalog._ask("SELECT * FROM turns ORDER BY log_index", [])
