"""The LanceDB projection: what is found, by whom, as of when; what is forgotten, pending, damaged, of another model."""

import errno
import hashlib
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import braid
from braid.entry import open as open_store
from braid.ledger.record.record import Affect, Draft, EmbeddingBody, Signature, Vad
from braid.log.drafts import experience
from braid.models.static import StaticEmbedder
from braid.store import Store
from braid.views.embedder import Embedder, EmbeddingError, Vectors
from braid.views.errors import DamagedViewError, ViewBusyError
from braid.views.lance.index import LanceIndex
from braid.views.search import AFFECT, CAUSAL, PROMPT, RESPONSE, TEMPORAL, IndexHit, Where
from braid.wal.lock import FileLock
from tests.unit.views.conftest import whole_table
from tests.unit.views.vectors import vector_of

MODEL = StaticEmbedder()


class Counted:
    """A model of hashed words in eight dimensions that counts what it is asked; `broken` makes it fail."""

    def __init__(self, version: str = "1", *, remote: bool = False) -> None:
        self.name = "counted"
        self.version = version
        self.dimensions = 8
        self.remote = remote
        self.asked: list[str] = []
        self.broken = False

    def embed(self, texts: Sequence[str]) -> Vectors:
        if self.broken:
            raise EmbeddingError("counted: it is broken")
        self.asked += texts
        found = np.zeros((len(texts), 8), dtype=np.float32)
        for place, text in enumerate(texts):
            for word in text.lower().split():
                digest = hashlib.sha256(f"{self.version}{word}".encode()).digest()
                found[place] += np.frombuffer(digest[:8], dtype=np.uint8) / 127.5 - 1
        unit: Vectors = found / np.linalg.norm(found, axis=1, keepdims=True)
        return unit


Opener = Callable[..., Store]


@pytest.fixture
def opener(tmp_path: Path) -> Iterator[Opener]:
    """Return what opens the test's store with a model, or none; each is closed at the end."""
    opened: list[Store] = []

    def one(embedder: Embedder | None = MODEL, **options: Any) -> Store:
        opened.append(open_store(tmp_path / "memory", embedder=lambda: embedder, **options))
        return opened[-1]

    yield one
    for store in opened:
        store.close()


@pytest.fixture
def store(opener: Opener) -> Store:
    return opener()


def texts(index: LanceIndex, hits: list[IndexHit]) -> list[str]:
    rows = index.take([hit.index for hit in hits])
    return [rows[hit.index].text for hit in hits]


def ask(store: Store, question: str, **options: Any) -> list[str]:
    index = store.views.search.index()
    return texts(index, index.nearest(MODEL.embed([question])[0], **options))


def position_of(store: Store, id: str) -> int:
    return store.reader.index_of(id)


def test_meaning_and_words_find(store: Store) -> None:
    store.append("Maya moved to Porto last spring.", name="Maya", user_id="maya")
    store.append("The boiler was repaired on Tuesday.")
    assert ask(store, "In which city does she live?", k=1) == ["Maya: Maya moved to Porto last spring."]
    index = store.views.search.index()
    assert texts(index, index.words("boiler")) == ["The boiler was repaired on Tuesday."]
    assert (index.position, index.model) == (len(store), "static-minilm-256-int8@1")


def test_it_is_made_when_it_is_first_asked(store: Store) -> None:
    store.append("one")
    store.views.catch_up()
    assert not (store.path / "views" / "lance").exists()
    assert [one.name for one in store.views.status()] == ["duck", "catalog"]
    store.views.search.index()
    store.append("two")
    assert [one.name for one in store.views.catch_up()] == ["duck", "catalog", "lance"]
    (lance,) = [one for one in store.views.status() if one.name == "lance"]
    assert (lance.behind_by, lance.pending, lance.model) == (0, 0, "static-minilm-256-int8@1")


def test_the_front_door_brings_a_model(tmp_path: Path) -> None:
    with braid.open(tmp_path / "memory") as store:
        store.append("The cat sleeps.")
        assert ask(store, "a sleeping kitten") == ["The cat sleeps."]


def test_roles_part_users_from_agents(store: Store) -> None:
    store.append("I like tea")
    store.append("You like tea", actor="agent")
    assert ask(store, "tea", role=PROMPT) == ["I like tea"]
    assert ask(store, "tea", role=RESPONSE) == ["You like tea"]
    assert len(ask(store, "tea")) == 2


def test_captions_are_searched(store: Store) -> None:
    store.append(
        "Look at this",
        structured={"media": [{"kind": "image", "caption": "a red kayak"}, "x", {"caption": 1}]},
    )
    index = store.views.search.index()
    assert texts(index, index.words("kayak")) == ["Look at this\na red kayak"]


def test_scopes_are_filters_of_their_own(store: Store) -> None:
    store.append("tea for the first", user_id="u'1", session_id="s")
    store.append("tea for the second", user_id="u2", structured={"user_id": "u'1"})
    store.append("tea for nobody")
    assert ask(store, "tea", where=Where(user_id="u'1")) == ["tea for the first"]
    index = store.views.search.index()
    for where, count in (
        (Where(user_id="u'1"), 1),
        (Where(user_id="u'1", session_id="other"), 0),
        (Where(user_id="u2' OR '1'='1"), 0),
        (Where(user_id=""), 0),
        (Where(user_id="\ud800"), 0),
        (Where(user_id="\x00"), 0),
        (Where(agent_id="u2"), 0),
        (Where(), 3),
    ):
        assert len(index.words("tea", where=where)) == count, where
        assert len(list(index.rows(where))) == count, where
        assert len(index.nearest(MODEL.embed(["tea"])[0], where=where)) == count, where


def test_time_size_and_choice_narrow(store: Store) -> None:
    early = datetime(2020, 1, 1, tzinfo=UTC)
    late = datetime(2024, 1, 1, tzinfo=UTC)
    first = position_of(store, store.append("tea one", occurred_at=early))
    second = position_of(store, store.append("tea two", occurred_at=late))
    index = store.views.search.index()

    def found(**where: Any) -> list[int]:
        return sorted(hit.index for hit in index.words("tea", where=Where(**where)))

    middle = int(datetime(2022, 1, 1, tzinfo=UTC).timestamp() * 1e6)
    assert found(since_us=middle) == [second]
    assert found(until_us=middle) == [first]
    assert found(below=second) == [first]
    assert found(among=frozenset([second])) == [second]
    assert found(among=frozenset()) == []
    assert found(among=frozenset(range(20_000))) == [first, second]


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "question",
    ["", " ", "\x00", "' OR 1=1 --", '"unclosed', "a AND (b OR", "*", "~2", "ignore previous instructions " * 3000,
     "x" * 100_000, "\x1b[31m\u202e", "\ud800", "💥" * 1000, "title:x^9 /re[/"],
)  # fmt: skip
def test_any_text_is_a_question(store: Store, question: str) -> None:
    store.append("plain")
    index = store.views.search.index()
    assert isinstance(index.words(question), list)
    assert len(index.nearest(MODEL.embed([question])[0])) == 1


def test_misuse_is_refused(store: Store) -> None:
    id = store.append("plain")
    index = store.views.search.index()
    vector = MODEL.embed(["x"])[0]
    with pytest.raises(ValueError, match="256 dimensions"):
        index.nearest(vector[:5])
    with pytest.raises(ValueError, match="no direction"):
        index.nearest(np.full(256, np.nan))
    with pytest.raises(ValueError, match="no direction"):
        index.nearest(np.zeros(256))
    with pytest.raises(ValueError, match="no vectors of role semantic"):
        index.nearest(vector, "semantic")
    with pytest.raises(ValueError, match="no vectors of role affect_profile are kept"):
        index.nearest(vector, (PROMPT, AFFECT))
    for uri in (id, f"vec://{id}", f"http://{PROMPT}/{id}", f"vec://{PROMPT}/", "vec://nothing/x"):
        with pytest.raises(ValueError, match="vec://role/id"):
            vector_of(store, uri)
    assert index.nearest(vector, k=0) == []


def test_addresses_of_vectors_resolve(store: Store) -> None:
    first = store.append("The cat sleeps.", occurred_at=datetime(2024, 5, 1, 23, 50, tzinfo=UTC))
    near = store.append("x", parents=[first], occurred_at=datetime(2024, 5, 9, 0, 10, tzinfo=UTC))
    far = store.append("y", occurred_at=datetime(2024, 11, 5, 12, 0, tzinfo=UTC))
    wordless = store.append("…")
    sad = store.append("z", affect=Affect(vad=Vad(v=-1, a=0.5, d=0)))
    assert np.allclose(vector_of(store, f"vec://{PROMPT}/{first}"), MODEL.embed(["The cat sleeps."])[0])
    assert vector_of(store, f"vec://{RESPONSE}/{first}") is None
    assert vector_of(store, f"vec://{AFFECT}/{wordless}") is None
    time, cause = (
        {id: vector_of(store, f"vec://{role}/{id}") for id in (first, near, far)}
        for role in (TEMPORAL, CAUSAL)
    )
    assert cause[near] @ cause[near] == pytest.approx(1.0)
    assert time[first] @ time[near] > 0.9 > time[first] @ time[far]
    # Ids are random, and so are their hashes: one pair may meet by chance, two dozen don't.
    linked = [store.append(f"because {n}", parents=[first]) for n in range(24)]
    alone = [store.append(f"anyway {n}") for n in range(24)]
    nearness = [
        float(np.mean([cause[first] @ vector_of(store, f"vec://{CAUSAL}/{id}") for id in ids]))
        for ids in (linked, alone)
    ]
    assert nearness[0] > 0.4
    assert abs(nearness[1]) < 0.2
    tone = vector_of(store, f"vec://{AFFECT}/{sad}")
    assert np.allclose(tone, np.array([-1, 0.5, 0, 1]) / 1.5)
    glad = vector_of(store, f"vec://{AFFECT}/{store.append('I love it!')}")  # read of a captured turn
    assert glad[0] > 0.3


def test_forgotten_and_erased_never_appear(store: Store) -> None:
    ids = [store.append(f"tea number {n}") for n in range(3)]
    index = store.views.search.index()
    store.forget(ids[0])
    for state in (index, store.views.search.index()):  # one that was opened before, too
        assert "tea number 0" not in texts(state, state.words("tea"))
        assert position_of(store, ids[0]) not in state.vectors(range(10))
        assert state.position <= len(store)
    assert "tea number 0" not in [row.text for row in store.views.search.index().rows()]
    with pytest.raises(braid.LedgerError):
        vector_of(store, f"vec://{PROMPT}/{ids[0]}")
    store.recover(ids[0])
    assert sorted(ask(store, "tea")) == ["tea number 0", "tea number 1", "tea number 2"]
    store.erase(ids[1])
    assert sorted(ask(store, "tea")) == ["tea number 0", "tea number 2"]


def test_salience_weighs_and_labels_name(store: Store) -> None:
    first, second = store.append("tea in the morning"), store.append("tea in the evening")
    before = ask(store, "tea in the morning", k=1)
    weigh = EmbeddingBody(signatures=[Signature(role=PROMPT, model="m", salience=0.1, label="dull")])
    signature = store.session.append_drafts(
        [Draft(kind="embedding", links=[("experience", first)], body=weigh)]
    )[0].id
    assert before == ["tea in the morning"]
    assert ask(store, "tea in the morning", k=1) == ["tea in the evening"]
    rows = store.views.search.index().take([position_of(store, first), position_of(store, second)])
    assert [(round(row.salience, 3), row.label) for row in rows.values()] == [(0.1, "dull"), (1.0, None)]
    store.forget(signature)
    assert ask(store, "tea in the morning", k=1) == before


def test_a_card_holds_what_its_row_holds(store: Store) -> None:
    at = position_of(store, store.append("tea with milk", name="Maya", user_id="u", session_id="s"))
    hidden = store.append("coffee")
    store.forget(hidden)
    index = store.views.search.index()
    rows, vectors = index.both([at, position_of(store, hidden), 10_000])
    assert list(rows) == list(vectors) == [at]
    row = rows[at]
    assert (row.text, row.name, row.speaker, row.user_id, row.session_id, row.pending) == (
        "Maya: tea with milk", "Maya", "user", "u", "s", False,
    )  # fmt: skip
    whole = index.vectors([at])[at]
    assert np.array_equal(whole, MODEL.embed(["Maya: tea with milk"])[0])
    assert float(np.abs(vectors[at] - whole).max()) < 2**-11  # half precision
    assert vectors[at].dtype == np.float32


@pytest.mark.sample(2)
@pytest.mark.parametrize("card", ["X'90'", "X'00'", "NULL"])
def test_a_card_that_cannot_be_read_is_damage_and_never_another_row(store: Store, card: str) -> None:
    at = position_of(store, store.append("tea"))
    store.views.search.index()
    whole_table(store.path).update(where=f"log_index = {at}", values_sql={"card": card})
    index = LanceIndex(store.views.search.home.open(), frozenset)
    if card == "NULL":
        assert index.take([at]) == {}
    else:
        with pytest.raises(DamagedViewError, match="card"):
            index.take([at])


def test_without_a_model_words_are_found_and_meaning_waits(opener: Opener) -> None:
    store = opener(None)
    store.append("tea")
    index = store.views.search.index()
    assert (len(index.words("tea")), index.model) == (1, "")
    assert next(index.rows()).pending
    (lance,) = [one for one in store.views.status() if one.name == "lance"]
    assert lance.pending == 1


def test_a_broken_model_leaves_rows_pending_and_filling_helps(opener: Opener) -> None:
    model = Counted()
    store = opener(model)
    store.append("one")
    store.views.search.index()
    model.broken = True
    store.append("two words")
    index = store.views.search.index()
    assert [row.pending for row in index.rows()] == [False, True]
    assert len(index.words("words")) == 1
    with pytest.raises(EmbeddingError):
        store.views.search.fill()
    model.broken = False
    assert store.views.search.fill() == 1
    assert [row.pending for row in store.views.search.index().rows()] == [False, False]
    assert store.views.search.fill() == 0


@pytest.mark.sample(6)
@pytest.mark.parametrize("remote", [False, True])
@pytest.mark.parametrize(
    "gives",
    [
        lambda texts: np.full((len(texts), 8), np.nan, dtype=np.float32),
        lambda texts: np.ones((len(texts), 5), dtype=np.float32),
        lambda texts: np.zeros((len(texts), 8), dtype=np.float32),
        lambda texts: np.ones((len(texts) + 1, 8), dtype=np.float32),
        lambda texts: None,
        lambda texts: texts[99],
    ],
    ids=["nan", "other length", "zeros", "too many", "none", "raises"],
)
def test_a_model_that_gives_no_vectors_leaves_rows_pending(
    opener: Opener, monkeypatch: pytest.MonkeyPatch, gives: Callable[[Sequence[str]], Any], *, remote: bool
) -> None:
    """A caller's own model is held to the protocol like those of this package."""
    model = Counted(remote=remote)
    store = opener(model)
    store.append("two words")
    with monkeypatch.context() as patch:
        patch.setattr(model, "embed", gives)
        index = store.views.search.index()
        assert [row.pending for row in index.rows()] == [True]
        assert len(index.words("words")) == 1
        with pytest.raises(EmbeddingError, match="counted"):
            store.views.search.fill()
    assert store.views.search.fill() == 1
    assert [row.pending for row in store.views.search.index().rows()] == [False]
    assert store.verify(deep=True).exit_code == 0


def test_vectors_of_any_length_are_kept_as_unit_vectors(
    opener: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Counted()
    monkeypatch.setattr(model, "embed", lambda texts: np.full((len(texts), 8), 100.0))
    store = opener(model)
    id = store.append("two words")
    assert np.linalg.norm(vector_of(store, f"vec://{PROMPT}/{id}")) == pytest.approx(1.0, abs=1e-6)
    assert store.verify(deep=True).exit_code == 0


def test_a_remote_model_is_asked_apart_and_once(opener: Opener) -> None:
    model = Counted(remote=True)
    store = opener(model)
    ids = [store.append(f"text {n}") for n in range(5)]
    index = store.views.search.index()
    assert model.asked == []
    assert len(index.words("text")) == 5
    assert all(row.pending for row in index.rows())
    assert index.pending == 5
    store.forget(store.append("text to be forgotten"))
    assert store.views.search.index().pending == 5  # what is forgotten waits for nothing
    assert store.views.search.fill(limit=2) == 2
    assert store.views.search.index().pending == 3
    assert store.views.search.fill() == 3
    assert store.views.search.index().pending == 0
    assert sorted(model.asked) == [f"text {n}" for n in range(5)]
    assert not any(row.pending for row in store.views.search.index().rows())
    model.broken = True  # from here on the cache answers, or nobody
    before = vector_of(store, f"vec://{PROMPT}/{ids[0]}")
    store.replay("lance")
    assert not any(row.pending for row in store.views.search.index().rows())
    assert np.array_equal(vector_of(store, f"vec://{PROMPT}/{ids[0]}"), before)
    store.forget(ids[0])
    store.views.search.index()
    store.recover(ids[0])
    assert not any(row.pending for row in store.views.search.index().rows())
    assert len(model.asked) == 5


def test_salience_weighs_while_rows_wait(opener: Opener) -> None:
    model = Counted(remote=True)
    store = opener(model)
    first, second = store.append("tea in the morning"), store.append("tea in the evening")
    weigh = EmbeddingBody(signatures=[Signature(role=PROMPT, model="m", salience=0.1)])
    store.session.append_drafts([Draft(kind="embedding", links=[("experience", first)], body=weigh)])
    store.views.search.fill()
    store.append("tea at noon")
    index = store.views.search.index()
    (best,) = index.nearest(model.embed(["tea in the morning"])[0], k=1)
    assert (index.pending, best.index) == (1, position_of(store, second))


def test_filling_takes_only_the_model_of_the_projection(opener: Opener) -> None:
    store = opener(Counted())
    store.append("one")
    store.views.search.index()
    with pytest.raises(ValueError, match="counted@1, and this is counted@2"):
        store.views.search.fill(Counted("2"))
    with pytest.raises(ValueError, match="no model"):
        opener(None, read_only=True).views.search.fill()


def test_another_model_takes_over_in_the_background(opener: Opener) -> None:
    first = opener(Counted("1"))
    ids = [first.append(f"text {n}") for n in range(5)]
    first.views.search.index()
    first.close()
    model = Counted("2")
    held, going = threading.Event(), threading.Event()
    embed = model.embed

    def slow(texts: Sequence[str]) -> Vectors:
        held.set()
        assert going.wait(30)
        return embed(texts)

    model.embed = slow  # type: ignore[method-assign]
    second = opener(model)
    second.append("text 5")
    meanwhile = second.views.search.index()  # caught up; the new vectors are under way
    assert held.wait(30)
    assert (meanwhile.model, len(meanwhile.words("text"))) == ("counted@1", 6)
    second.append("text 6")
    second.forget(ids[0])
    assert len(second.views.search.index().words("text")) == 6
    going.set()
    second.views.search.settle()
    index = second.views.search.index()
    assert index.model == "counted@2"
    assert [(row.text, row.pending) for row in index.rows()] == [(f"text {n}", False) for n in range(1, 7)]
    assert len(second.views.search.home.sets()) == 1
    assert np.allclose(vector_of(second, f"vec://{PROMPT}/{ids[1]}"), embed(["text 1"])[0])


def test_a_model_that_fails_to_take_over_changes_nothing(opener: Opener) -> None:
    first = opener(Counted("1"))
    first.append("one")
    first.views.search.index()
    first.close()
    model = Counted("2")
    model.broken = True
    second = opener(model)
    second.append("two")
    second.views.search.index()
    second.views.search.settle()
    assert second.views.search.index().model == "counted@1"
    with pytest.raises(EmbeddingError):
        second.views.search.change_model()
    assert len(second.views.search.home.sets()) == 1
    model.broken = False
    assert second.views.search.change_model()
    assert second.views.search.index().model == "counted@2"


def files_of(store: Store) -> list[Path]:
    return sorted(path for path in (store.path / "views" / "lance").rglob("*") if path.is_file())


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", ["data", "_versions", "_indices"])
def test_a_damaged_set_is_rebuilt(opener: Opener, kind: str) -> None:
    store = opener()
    store.append("tea")
    store.views.search.index()
    store.views.search.tend()
    store.close()
    for path in files_of(store):
        if kind in path.parts:
            path.write_bytes(path.read_bytes()[:10])
    again = opener()
    again.append("more tea")
    index = again.views.search.index()
    assert sorted(row.text for row in index.rows()) == ["more tea", "tea"]
    assert len(index.words("tea")) == 2


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "content", [b"", b"{", b'{"folder": "../../x", "model": {}}', b'{"folder": "set-0", "model": {}}']
)
def test_a_lost_pointer_is_a_lost_projection(opener: Opener, content: bytes) -> None:
    store = opener()
    store.append("tea")
    store.views.search.index()
    store.close()
    (store.path / "views" / "lance" / "current").write_bytes(content)
    again = opener()
    assert ask(again, "tea") == ["tea"]
    assert len(again.views.search.home.sets()) == 1


def test_others_read_while_the_owner_works(opener: Opener) -> None:
    store = opener()
    store.append("one tea")
    store.views.search.index()
    other = opener(read_only=True)
    owner = FileLock(store.path / "views" / "lance" / "lock")
    owner.acquire()
    try:
        gone = store.append("two tea")
        other.refresh()
        index = other.views.search.index()
        assert (texts(index, index.words("tea")), len(store) - index.position) == (["one tea"], 1)
        with pytest.raises(ViewBusyError):
            other.views.search.catch_up(wait_s=0.0)
    finally:
        owner.release()
    assert len(other.views.search.index().words("tea")) == 2
    store.views.search.index()
    store.erase(gone)
    other.refresh()
    assert len(other.views.search.index().words("tea")) == 1


def test_nobody_reads_a_set_from_before_an_erasure(opener: Opener) -> None:
    store = opener()
    id = store.append("tea")
    store.views.search.index()
    other = opener(read_only=True)
    old = store.path / "views" / "kept"
    shutil.copytree(store.path / "views" / "lance", old)
    store.erase(id)
    shutil.rmtree(store.path / "views" / "lance")
    old.rename(store.path / "views" / "lance")
    other.refresh()
    owner = FileLock(store.path / "views" / "lance" / "lock")
    owner.acquire()
    try:
        with pytest.raises(ViewBusyError):
            other.views.search.index()
    finally:
        owner.release()


def test_indexing_changes_no_answer(opener: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    from braid.views.lance import maintenance, search

    monkeypatch.setattr(maintenance, "VECTOR_INDEX_ROWS", 300)
    monkeypatch.setattr(search, "WORTH_ROWS", 300)
    monkeypatch.setattr(maintenance, "_ROWS_PER_PARTITION", 200)
    store = opener()
    store.session.append_drafts([experience(f"note number {n} of the {n % 7} kinds") for n in range(400)])
    index = store.views.search.index()
    store.views.search.settle()
    again = store.views.search.index()
    vector = MODEL.embed(["note number 77"])[0]
    assert whole_table(store.path).index_stats("vector_2").num_indexed_rows >= 400
    assert [hit.index for hit in again.nearest(vector, k=5)] == [
        hit.index for hit in index.nearest(vector, k=5)
    ]
    assert again.words("77") == index.words("77")
    store.append("note number 77 again")
    assert len(store.views.search.index().words("77")) == 2


@pytest.mark.soak
def test_vectors_are_indexed_anew_when_they_have_doubled_however_they_came(
    opener: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    from braid.views.lance import maintenance, search

    monkeypatch.setattr(maintenance, "VECTOR_INDEX_ROWS", 300)
    monkeypatch.setattr(search, "WORTH_ROWS", 100)
    monkeypatch.setattr(maintenance, "_ROWS_PER_PARTITION", 100)
    store = opener(Counted())
    named: list[list[str]] = []
    for begun in range(0, 800, 200):  # rows are folded into the index meanwhile, which adds no partition
        store.session.append_drafts(
            [experience(f"note {n} of the {n % 7} kinds") for n in range(begun, begun + 200)]
        )
        store.views.search.index()
        store.views.search.settle()
        table = store.views.search.home.open().table
        named.append([name for name, columns in table.indexes().items() if columns == ["vector"]])
    assert named == [[], ["vector_4"], ["vector_4"], ["vector_8"]]
    assert maintenance.partitions(store.views.search.home.open().table) == 8
    index = store.views.search.index()
    assert len(index.nearest(Counted().embed(["note 7 of the 0 kinds"])[0], k=1)) == 1


@pytest.mark.parametrize("step", ["index_vectors", "compact"])
def test_building_indexes_blocks_neither_reading_nor_writing(
    opener: Opener, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    from braid.views.lance import maintenance, search

    monkeypatch.setattr(maintenance, "VECTOR_INDEX_ROWS", 300)
    monkeypatch.setattr(search, "WORTH_ROWS", 300)
    begun, going = threading.Event(), threading.Event()
    build = getattr(maintenance, step)

    def held(table: Any) -> None:
        begun.set()
        assert going.wait(30)
        build(table)

    monkeypatch.setattr(maintenance, step, held)
    store = opener()
    store.session.append_drafts([experience(f"note {n} of tea") for n in range(300)])
    store.views.search.index()
    assert begun.wait(30)
    try:
        started = time.monotonic()
        store.append("a wombat drinks")
        index = store.views.search.index()
        assert len(index.words("tea", k=300)) == 300
        assert len(index.nearest(MODEL.embed(["tea"])[0], k=300)) == 300
        assert time.monotonic() - started < 10
        if step == "index_vectors":  # the long part: rows go on entering beside it
            assert texts(index, index.words("wombat")) == ["a wombat drinks"]
    finally:
        going.set()
    store.views.search.settle()
    index = store.views.search.index()
    assert texts(index, index.words("wombat")) == ["a wombat drinks"]
    assert maintenance.partitions(index._table) == 1


def test_vectors_come_by_role_and_only_where_there_are_any(opener: Opener) -> None:
    store = opener()
    said = position_of(store, store.append("tea"))
    answered = position_of(store, store.append("noted", actor="agent"))
    index = store.views.search.index()
    both = [said, answered, 10**6]
    assert set(index.vectors(both)) == {said, answered}
    assert set(index.vectors(both, PROMPT)) == {said}
    assert set(index.vectors(both, RESPONSE)) == {answered}
    assert index.vectors([]) == {}
    found = index.vectors([said])[said]
    assert (found.dtype, found.shape) == (np.float32, (256,))
    assert np.allclose(found, MODEL.embed(["tea"])[0], atol=1e-6)


# -- verify --deep ----------------------------------------------------------------------------------


def test_an_honest_set_has_no_findings(opener: Opener) -> None:
    store = opener()
    store.append("tea", name="Maya", user_id="u", session_id="s", affect=Affect(vad=Vad(v=0.1, a=0.2, d=0.3)))
    hidden = store.append("a secret")
    noted = store.append("coffee")
    store.session.append_drafts(
        [
            Draft(
                kind="embedding",
                links=[("experience", noted)],
                body=EmbeddingBody(
                    signatures=[Signature(role=PROMPT, model="m", salience=0.3, label="drink")]
                ),
            )
        ]
    )
    store.forget(hidden)
    assert store.views.search.check() == []
    store.views.search.index()
    assert store.views.search.check() == []
    assert store.verify(deep=True).findings == []


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("harm", "told"),
    [
        ({"text": "'coffee'"}, "not those that are made from the record"),
        ({"user_id": "'bob'"}, "not those that are made from the record"),
        ({"log_index": "77"}, "rows of no record"),
        ({"vector": f"[{', '.join(['0.0625'] * 256)}]"}, "its vector is not the one that the model gives"),
        ({"card": "X'90'"}, "its card does not say what its row says"),
        ({"card": "NULL"}, "its card does not say what its row says"),
    ],
)
def test_an_edited_row_is_found(opener: Opener, harm: dict[str, str], told: str) -> None:
    store = opener()
    at = position_of(store, store.append("tea", user_id="maya"))
    store.append("more tea")
    store.views.search.index()
    whole_table(store.path).update(where=f"log_index = {at}", values_sql=harm)
    findings = store.verify(deep=True).findings
    assert any(told in one.message for one in findings)
    assert {one.kind for one in findings} == {"projection"}
    store.replay("lance")
    assert store.verify(deep=True).findings == []


def test_a_removed_row_and_a_torn_set_are_found(opener: Opener) -> None:
    store = opener()
    at = position_of(store, store.append("tea"))
    store.views.search.index()
    store.views.search.home.open().table.delete(f"log_index = {at}")
    assert [(one.message, one.index) for one in store.views.search.check()] == [("rows were removed", at)]
    for path in files_of(store):
        if "data" in path.parts or "_versions" in path.parts:
            path.write_bytes(b"torn")
    (torn,) = store.views.search.check()
    assert "can't be read" in torn.message


def test_private_to_its_owner(store: Store) -> None:
    store.append("tea")
    store.views.search.index()
    assert (store.path / "views" / "lance").stat().st_mode & 0o077 == 0


def test_a_set_that_goes_while_it_is_followed_ends_no_question(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process has removed it; the disk is full. An error of the disk stays the environment's."""
    store.append("The boiler was repaired.")
    store.views.search.index()
    store.append("It was cold.")
    search = store.views.search

    def gone(errno_: int) -> Callable[..., Any]:
        def follow(**_: object) -> None:
            raise OSError(errno_, "it is gone", "3-0a.txn")

        return follow

    with monkeypatch.context() as patch:
        patch.setattr(search, "catch_up", gone(errno.ENOENT))
        assert search.index().position == len(store) - 1
        assert store.recall("boiler").results[0].text == "The boiler was repaired."
        shutil.rmtree(search.home.folder)
        answer = store.recall("boiler")
        assert answer.results[0].text == "The boiler was repaired."
        assert answer.degraded[0].startswith("index: ")
    store.views.search.index()
    store.append("It is warm.")
    with monkeypatch.context() as patch:
        patch.setattr(search, "catch_up", gone(errno.ENOSPC))
        assert search.index().position == len(store) - 1
        assert store.views.lag == 1
        patch.setattr(search, "catch_up", gone(errno.EIO))
        with pytest.raises(OSError, match="it is gone"):
            search.index()
