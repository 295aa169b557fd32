"""Where rows lie in the LanceDB projection: known or not, moved or deleted, the answers are the same."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from braid.entry import open as open_store
from braid.models.static import StaticEmbedder
from braid.store import Store
from braid.views.lance import maintenance
from braid.views.lance.addresses import Addresses, Stretches
from braid.views.lance.index import LanceIndex
from braid.views.lance.table import Table
from braid.views.search import Fetched, IndexHit
from tests.unit.views.conftest import whole_table

MODEL = StaticEmbedder()
FIRST = [
    "Maya moved to Porto.",
    "The boiler was repaired.",
    "Owen broke his wrist.",
    "The cat is called Miso.",
]
LATER = ["Duarte built a cot.", "The plaster comes off in six weeks."]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "memory", embedder=lambda: MODEL) as store:
        for text in FIRST:
            store.append(text)
        yield store


def told(store: Store, addresses: Addresses) -> tuple[list[IndexHit], list[IndexHit], Fetched]:
    """Return what the present set answers to one who knows these addresses."""
    index = LanceIndex(store.views.search.home.open(), store.views.search._gone, addresses)
    near = index.nearest(MODEL.embed(["Who is hurt at the wrist?"])[0])
    return near, index.words("boiler wrist cat cot"), index.both(range(len(store)))


def same(store: Store, addresses: Addresses) -> None:
    """Hold an answer against that of one who knows no address."""
    near, words, (rows, vectors) = told(store, addresses)
    asked_near, asked_words, (asked_rows, asked_vectors) = told(store, Addresses())
    assert (near, words, rows) == (asked_near, asked_words, asked_rows)
    assert vectors.keys() == asked_vectors.keys()
    assert all(np.array_equal(vectors[at], asked_vectors[at]) for at in vectors)


@given(
    st.dictionaries(st.integers(0, 60), st.integers(0, 90), max_size=40), st.randoms(use_true_random=False)
)
def test_every_row_is_found_by_either_and_nothing_else(places: dict[int, int], chance: object) -> None:
    del chance
    once = {address: index for index, address in places.items()}  # no address holds two rows
    indexes = np.array(list(once.values()), dtype=np.int64)
    addresses = np.array(list(once), dtype=np.int64)
    stretches = Stretches(indexes, addresses)
    assert stretches.indexes(np.arange(100)).tolist() == [once.get(at, -1) for at in range(100)]
    lying = {index: address for address, index in once.items()}
    assert stretches.addresses(np.arange(70)).tolist() == [lying.get(at, -1) for at in range(70)]
    assert stretches.end == max(lying, default=-1) + 1


def test_a_small_set_is_learnt_by_its_first_question(store: Store) -> None:
    store.views.search.index()
    known = Addresses()
    last = len(store) - 1
    assert known.of([last]).unknown == [last]
    told(store, known)
    assert known.known
    assert known.of([0, last]).addresses.keys() == {last}  # the log begins with a key, which has no row
    assert known.of([0, last]).unknown == []
    same(store, known)


def test_what_came_later_is_found_without_an_address(store: Store) -> None:
    store.views.search.index()
    known = Addresses()
    told(store, known)
    known.miss = lambda table, share: None  # type: ignore[method-assign]
    for text in LATER:
        store.append(text)
    store.views.search.index()
    assert known.of([len(store) - 1]).unknown == [len(store) - 1]
    assert len(told(store, known)[1]) == 4  # "cot" among them
    same(store, known)


@pytest.mark.sample(2)
@pytest.mark.parametrize("way", ["replaced", "compacted", "forgotten"])
def test_what_was_moved_is_found_where_it_went(store: Store, way: str) -> None:
    store.views.search.index()
    ids = [store.append(text) for text in LATER]
    store.views.search.index()  # a fragment of its own
    known = Addresses()
    told(store, known)
    known.miss = lambda table, share: None  # type: ignore[method-assign]
    before = known.of(range(len(store))).addresses
    if way == "forgotten":
        store.forget(ids[0])
        store.views.search.index()
        same(store, known)
        store.recover(ids[0])
    elif way == "replaced":
        whole_table(store.path).update(where=f"log_index = {len(store) - 1}", values={"label": "moved"})
    else:
        maintenance.compact(store.views.search.home.open().table)
    store.views.search.index()
    fresh = Addresses()
    told(store, fresh)
    assert fresh.of(range(len(store))).addresses != before
    same(store, known)


def test_addresses_are_read_when_that_costs_less_than_was_lost(store: Store) -> None:
    class Large(Table):
        """A table of a million rows that must not be read yet."""

        def count(self, where: str | None = None) -> int:
            return 1_000_000

    known = Addresses()
    for _ in range(99):
        known.miss(Large(None), 1.0)
    assert not known.known
    store.views.search.index()
    known.miss(store.views.search.home.open().table, 1.0)
    assert known.known


def test_no_question_fetches_the_schema(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """It costs half a millisecond to a millisecond, and a question asks LanceDB three times."""
    index = store.views.search.index()

    class Spied:
        """The extension's table, but for its schema."""

        def __init__(self, inner: Any) -> None:
            self._inner = inner

        def __getattr__(self, name: str) -> Any:
            assert name != "schema", "the schema was fetched"
            return getattr(self._inner, name)

    monkeypatch.setattr(index._table, "_inner", Spied(index._table._inner))
    (near, *_), (said, *_) = (
        index.nearest(MODEL.embed(["Who is hurt at the wrist?"])[0]),
        index.words("boiler"),
    )
    assert index.both([near.index]).rows[near.index].text == FIRST[2]
    assert index.both([said.index]).rows[said.index].text == FIRST[1]


def test_a_set_that_is_made_anew_has_addresses_of_its_own(store: Store) -> None:
    search = store.views.search
    search.index().words("boiler")
    before = search.index()._addresses
    store.append(LATER[0])
    assert search.index()._addresses is before
    search.replay()
    assert search.index()._addresses is not before
    assert len(search.index().words("boiler")) == 1
