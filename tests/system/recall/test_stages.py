"""Each stage for itself: the pool, its signals, what retrieval may bring, uncertainty, filters, the measures."""

import gc
import math
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from time import sleep
from typing import Any

import msgspec
import numpy as np
import pytest

from braid.recall.cache import RowCache
from braid.recall.deadline import within
from braid.recall.decompose import decompose
from braid.recall.evaluate import QuestionMeasures, measure, summary
from braid.recall.filters import compiled
from braid.recall.memory import MemoryIndex
from braid.recall.pool import heard, pool, together
from braid.recall.rank import weights
from braid.recall.retrieve import REACH, retrieve, walk
from braid.recall.samples import evidence_ids, read
from braid.recall.search import evidence
from braid.recall.signals import signals
from braid.recall.uncertainty import answer_of, discriminative, entropy, reranked
from braid.recall.vocabulary import Vocabulary
from braid.views.errors import ViewError
from braid.views.search import IndexHit, Row, Where
from tests.unit.recall.scene import EMBEDDER, NOW, index, row, rows


def asked(text: str) -> Any:
    return decompose(text, NOW), EMBEDDER.embed([text])[0]


def best(text: str, where: Where | None = None) -> int:
    question, query = asked(text)
    held = index()
    found = evidence(question, held, where or Where(), query, Vocabulary(EMBEDDER), sessions=held)
    return found.pool.rows[int(np.argmax(found.scores))].index


# -- the pool and its signals -------------------------------------------------------------------------


def test_neighbours_are_turns_of_one_session_that_follow_each_other() -> None:
    order = index().before(range(6))
    side = pool(rows(), {}, order)
    assert side.before.tolist() == [-1, 0, 1, -1, 3, 4]
    assert side.after.tolist() == [1, 2, -1, 4, 5, -1]
    apart = pool([rows()[0], rows()[2]], {}, order)
    assert apart.before.tolist() == [-1, -1]


def test_a_window_sums_a_turn_and_its_neighbours() -> None:
    side = pool(rows(), {}, index().before(range(6)))
    ones = np.ones(side.size)
    assert together(side, ones, 1).tolist() == [2, 3, 2, 2, 3, 2]
    assert together(side, ones, 2).tolist() == [3, 3, 3, 3, 3, 3]


def test_signals_are_finite_and_named_by_the_weights() -> None:
    question, query = asked("When did Maya move to Porto?")
    found = evidence(question, index(), Where(), query, Vocabulary(EMBEDDER))
    assert set(weights().fitted) <= set(found.signals)
    assert all(np.isfinite(values).all() and len(values) == 6 for values in found.signals.values())


def test_without_a_model_the_words_have_weights_of_their_own() -> None:
    question, _ = asked("Which wrist did Owen break?")
    found = evidence(question, index(), Where(), None, None)
    assert set(found.weighed) - set(weights().set) == set(weights().without_model)
    assert found.pool.rows[int(np.argmax(found.scores))].index == 4


def test_who_speaks_counts_where_the_question_names_one_of_them() -> None:
    side = pool(rows(), {})
    spoken = signals(decompose("What did Owen break?", NOW), side, None, None)
    assert spoken["speaker"].tolist() == [0, 1, 0, 0, 1, 1]
    both = signals(decompose("Did Owen and Maya meet?", NOW), side, None, None)
    assert not both["speaker"].any()


def test_i_and_you_are_user_and_assistant_where_nobody_is_named() -> None:
    held = [row(0, "I like tea"), row(1, "Noted, you like tea", speaker="assistant")]
    side = pool(held, {})
    assert signals(decompose("What do I like?", NOW), side, None, None)["speaker"].tolist() == [1, 0]
    assert signals(decompose("What did you note?", NOW), side, None, None)["speaker"].tolist() == [0, 1]


def test_the_time_that_is_asked_for_counts() -> None:
    side = pool(rows(), {})
    assert signals(decompose("in May 2023", NOW), side, None, None)["date"].min() == 1.0
    told = signals(decompose("on 8 May 2023", NOW), side, None, None)["date"]
    assert told[3] == 1.0
    assert told[0] < 0.1


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("What is Maya's cat called?", 2),
        ("Which wrist did Owen break?", 4),
        ("How long until the plaster comes off?", 5),
        ("Who made something for the infant?", 3),
    ],
)
def test_the_answer_comes_first(text: str, answer: int) -> None:
    assert best(text) == answer


@pytest.mark.parametrize(
    "text", ["", "\x00\x01\x02", "¿?¡!", "a" * 100_000, "' OR 1=1; DROP TABLE --", "the of and"]
)
def test_strange_questions_are_scored_too(text: str) -> None:
    question = decompose(text, NOW)
    query = EMBEDDER.embed([question.text])[0]
    assert np.isfinite(evidence(question, index(), Where(), query, Vocabulary(EMBEDDER)).scores).all()


def test_nothing_remembered_nothing_found() -> None:
    question, query = asked("anything?")
    assert evidence(question, index([]), Where(), query, Vocabulary(EMBEDDER)).pool.size == 0


def test_what_is_kept_of_turns_is_nothing_to_the_garbage_collector() -> None:
    assert not gc.is_tracked(heard("Maya moved to Porto in May 2023."))


def test_the_nearest_word_of_a_turn_whatever_is_known_already(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("braid.recall.vocabulary.MOST", 3)
    held = Vocabulary(EMBEDDER)
    spoken = [["cat", "cat", "river"], [], ["kitten"]]
    for words in (["cat"], ["infants", "cat"], ["river"]):
        cosines = [EMBEDDER.embed(each or ["none"]) @ EMBEDDER.embed(words).T for each in spoken]
        nearest = np.stack([each.max(axis=0) for each in cosines])
        nearest[1] = -1.0
        np.testing.assert_allclose(held.nearest(words, spoken), nearest, atol=1e-5)


# -- retrieval ------------------------------------------------------------------------------------------


def test_no_way_in_leaves_the_scope() -> None:
    held = [
        row(0, "Maya has a cat", user_id="maya"),
        row(1, "Bob has a cat", user_id="bob"),
        row(2, "cat", user_id=None),
    ]
    question, query = asked("Who has a cat?")
    found = retrieve(question, query, index(held), Where(user_id="maya"), links=lambda at: [1, 2])
    assert set(found.rows) == {0}
    assert found.by_links == {}


def test_what_is_linked_comes_along_in_two_hops() -> None:
    chain = {0: [1], 1: [0, 2], 2: [1, 3], 3: [2]}
    assert walk([0], lambda at: chain[at]) == {1: 0.5, 2: 0.25}
    held = [row(at, text) for at, text in enumerate(["zebra crossing", "quite another thing", "and a third"])]
    question, query = asked("zebra?")
    found = retrieve(question, query, index(held), Where(), links=lambda at: {0: [1], 1: [0, 2], 2: [1]}[at])
    assert found.by_links[1] > found.by_links[0]


def test_a_walk_in_a_circle_ends() -> None:
    assert set(walk([0, 1], lambda at: [0, 1, 2])) == {0, 1, 2}


class Listening(MemoryIndex):
    """An index that keeps what it was asked for in words."""

    heard: list[str]

    def words(self, text: str, k: int = 10, where: Where | None = None) -> list[IndexHit]:
        self.heard = [*getattr(self, "heard", []), text]
        return super().words(text, k, where)


@pytest.mark.parametrize(("name", "brought"), [("Duarte", {3}), ("Owen", set[int]())])
def test_what_a_question_names_comes_along_unless_it_speaks_there(name: str, brought: set[int]) -> None:
    held = Listening(rows(), {}, position=6)
    question = decompose(f"What flat in Porto over the river did {name} move to in the spring?", NOW)
    found = retrieve(question, None, held, Where(), sessions=held, deep=1)
    assert (name in held.heard) == bool(brought)
    assert brought <= set(found.rows) - set(found.by_words)


class Nameless(MemoryIndex):
    """An index that fails where it is asked for a name."""

    def words(self, text: str, k: int = 10, where: Where | None = None) -> list[IndexHit]:
        if text == "Duarte":
            raise ViewError("the index is torn")
        return super().words(text, k, where)


def test_a_name_that_cannot_be_asked_for_is_told_and_the_rest_stays() -> None:
    question = decompose("Which cot did Duarte build?", NOW)
    found = retrieve(question, None, Nameless(rows(), {}, position=6), Where())
    assert found.trouble == ("entities: the index is torn",)
    assert 3 in found.rows
    assert not found.lost


class Beside(MemoryIndex):
    """An index that gives rows once it has been asked which turn stands before each of them."""

    def __init__(self, *given: Any, **known: Any) -> None:
        super().__init__(*given, **known)
        self.times, self.asked = 0, Event()

    def before(self, indexes: Sequence[int]) -> dict[int, int]:
        self.times += 1
        if self.times > REACH:  # the first times are for the neighbours themselves
            self.asked.set()
        return super().before(indexes)

    def take(self, indexes: Sequence[int]) -> dict[int, Row]:
        if not self.asked.wait(2.0):
            raise ViewError("nobody asked for the turns before these while they were read")
        return super().take(indexes)


def test_sessions_are_asked_while_rows_are_on_their_way() -> None:
    held = Beside(rows(), {}, position=6)
    found = retrieve(decompose("What do you call the cat?", NOW), None, held, Where(), sessions=held)
    assert found.trouble == ()
    assert found.before == {1: 0, 2: 1}


def test_what_comes_along_by_name_has_its_place_in_its_session() -> None:
    held = Listening([*rows(), row(6, "Duarte shivered.", "Maya", session_id="s1", turn=6)], {}, position=7)
    question = decompose("What flat in Porto over the river did Duarte move to in the spring?", NOW)
    found = retrieve(question, None, held, Where(), sessions=held, deep=1)
    assert 6 in set(found.rows) - set(found.by_words)
    assert found.before[6] == 2


class Late(MemoryIndex):
    """An index that takes three fifths of a second for rows, and again for what names Duarte."""

    def words(self, text: str, k: int = 10, where: Where | None = None) -> list[IndexHit]:
        sleep(0.6 if text == "Duarte" else 0.0)
        return super().words(text, k, where)

    def take(self, indexes: Sequence[int]) -> dict[int, Row]:
        sleep(0.6)
        return super().take(indexes)


def test_rows_and_what_names_share_their_time() -> None:
    question = decompose("Which cot did Duarte build?", NOW)
    found = retrieve(question, None, Late(rows(), {}, position=6), Where(), limit_s=1.0)
    assert found.trouble[0].startswith("entities: it took longer")
    assert 3 in found.rows


class Broken(MemoryIndex):
    """An index whose search by meaning fails."""

    def nearest(
        self, vector: Any, role: str | Sequence[str] = "", k: int = 10, where: Where | None = None
    ) -> list[IndexHit]:
        raise ViewError("the index is torn")


class Slow(MemoryIndex):
    """An index whose search by words takes its time."""

    def words(self, text: str, k: int = 10, where: Where | None = None) -> list[IndexHit]:
        sleep(0.5)
        return []


@pytest.mark.parametrize(
    ("kind", "told"), [(Broken, "meaning: the index is torn"), (Slow, "words: it took longer")]
)
def test_what_fails_is_left_out_and_told(kind: type[MemoryIndex], told: str) -> None:
    whole = index()
    worse = kind(rows(), whole.vectors(range(6)), position=6, model=whole.model)
    question, query = asked("Which wrist did Owen break?")
    found = retrieve(question, query, worse, Where(), limit_s=0.2)
    assert found.trouble[0].startswith(told)
    if kind is Broken:
        assert 4 in found.rows


def test_a_step_that_takes_too_long() -> None:
    with pytest.raises(TimeoutError, match=r"longer than 0\.05 s"):
        within(0.05, lambda: sleep(1))
    with pytest.raises(ZeroDivisionError):
        within(1.0, lambda: 1 / 0)


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_step_is_done_in_a_fork_too() -> None:
    assert within(1.0, lambda: 1) == 1
    child = os.fork()
    if child == 0:
        try:
            os._exit(within(5.0, lambda: 7))
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_a_shelf_fetches_once_and_is_emptied_when_something_is_forgotten() -> None:
    class Counting(MemoryIndex):
        fetched = 0

        def take(self, indexes: Sequence[int]) -> dict[int, Any]:
            Counting.fetched += len(indexes)
            return super().take(indexes)

    gone: list[int] = []
    shelf = RowCache(lambda: tuple(gone))
    held = Counting(rows(), {}, position=6)
    for _ in range(2):
        assert set(shelf.over(held).both([0, 1, 99]).rows) == {0, 1}
    assert Counting.fetched == 4
    gone.append(0)
    assert set(shelf.over(MemoryIndex(rows()[1:], {}, position=6)).both([0, 1]).rows) == {1}


def test_a_shelf_asks_again_for_what_waits_for_its_vector() -> None:
    waiting = row(0, "zebra", pending=True)
    shelf = RowCache(lambda: 0)
    assert shelf.over(MemoryIndex([waiting], {}, position=1)).both([0]).vectors == {}
    filled = index([row(0, "zebra")])
    assert set(shelf.over(filled).both([0]).vectors) == {0}
    assert set(shelf.over(MemoryIndex([], {}, position=1, model=filled.model)).both([0]).vectors) == {0}


# -- uncertainty ----------------------------------------------------------------------------------------


def test_answers_are_typed_spans() -> None:
    assert answer_of(decompose("When did she move?", NOW), "I moved on 3 March 2021.") == "3 march 2021"
    assert answer_of(decompose("How many cats?", NOW), "I have 3 cats") == "3"
    assert (
        answer_of(decompose("Who came with Maya?", NOW), "Maya and Owen Blackwood came") == "owen blackwood"
    )
    assert answer_of(decompose("What is it?", NOW), "a thing") is None


def test_agreement_leaves_the_order() -> None:
    scores = np.array([2.0, 1.0, 0.5])
    assert entropy(["3", "3", None], scores)[0] == 0.0
    assert reranked(["3", "3", None], scores).tolist() == scores.tolist()


def test_what_tells_the_candidates_apart_rises() -> None:
    scores = np.array([1.00, 0.99, 0.98, 0.97])
    answers = ["3", "3", "3", "4"]
    rise = discriminative(answers, scores)
    assert 0 < rise[0] < rise[3] <= 1
    assert int(np.argmax(reranked(answers, scores))) == 3
    assert int(np.argmax(reranked(answers, scores, weight=0.0))) == 0
    assert math.isclose(entropy(["a", "b"], np.array([1.0, 1.0]))[0], 1.0)


# -- filters --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("filters", "told"),
    [
        ({"user_id": {"eq": "bob"}}, "is a scope, not a filter"),
        ({"OR": [{"session_id": "x"}, {}]}, "is a scope, not a filter"),
        ({"colour": {"eq": 1}}, "no field 'colour'"),
        ({"type": {"like": 1}}, "no operator 'like'"),
        ({"AND": {}}, "AND takes a list"),
        ({"type": {"in": "abc"}}, "`in` takes a list"),
        ({"NOT": 3}, "a filter is an object"),
        ({"created_at": {"gt": "soon"}}, "no time"),
        ({"created_at": {"gt": 5}}, "5 is no time"),
        ({"occurred_at": None}, "None is no time"),
        ({"occurred_at": {"in": ["2025-05-01", "soon"]}}, "'soon' is no time"),
        ({"occurred_at": {"contains": "2025"}}, "a time contains nothing"),
    ],
)
def test_filters_that_mean_nothing_are_refused(filters: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        compiled(filters)


def test_filters_nested_without_end_are_refused() -> None:
    deep: dict[str, Any] = {"type": "x"}
    for _ in range(40):
        deep = {"NOT": deep}
    with pytest.raises(ValueError, match="nested"):
        compiled(deep)


# -- measures -------------------------------------------------------------------------------------------


def test_a_summary_has_the_promised_shape() -> None:
    one = QuestionMeasures("1", measure(["a"], {"a"}), measure(["s"], {"s"}))
    other = QuestionMeasures("2", measure(["x"], {"a"}), measure(["s"], {"s"}))
    found = summary([one, other])
    assert set(found) == {"turn", "session"}
    assert set(found["turn"]) == {"all", "1", "2"}
    names = {*(f"recall@{cut}" for cut in (1, 5, 10, 20, 50)), "ndcg@10", "mrr", "all@10", "hit@10", "p@10"}
    assert set(found["turn"]["all"]) == names | {"questions"}
    assert (found["turn"]["all"]["mrr"], found["turn"]["1"]["mrr"], found["session"]["2"]["mrr"]) == (
        0.5,
        1.0,
        1.0,
    )


def test_measures_of_a_ranking() -> None:
    found = measure(["a", "x", "b", "x"], {"a", "b"})
    assert (found["recall@1"], found["recall@5"], found["mrr"], found["all@10"]) == (0.5, 1.0, 1.0, 1.0)
    assert math.isclose(found["ndcg@10"], (1 + 0.5) / (1 + 1 / math.log2(3)), rel_tol=1e-9)
    assert measure(["x"], {"a"})["mrr"] == 0.0
    assert set(found) - set(measure(["a"], {"a"}, depth=10)) == {"recall@20", "recall@50"}


def test_evidence_ids_are_normalised() -> None:
    assert list(evidence_ids(["(D1:3)", "D30:05; D:11:26", "D8:6 D9:17"])) == [
        "D1:3",
        "D30:5",
        "D11:26",
        "D8:6",
        "D9:17",
    ]


def test_a_locomo_conversation_is_read_without_its_leak() -> None:
    document = {
        "sample_id": "c", "qa": [
            {"question": "q?", "evidence": ["D1:1", "D7:7"], "category": 4}, {"question": "r?", "evidence": ["D9:9"]}],
        "conversation": {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": [
            {"speaker": "A", "dia_id": "D1:1", "text": "hi", "blip_caption": "a cat", "query": "leak"}]},
    }  # fmt: skip
    (sample,) = read("locomo", msgspec.json.encode(document))
    assert sample.turns[0].whole == "A: hi\na cat"
    assert (len(sample.questions), sample.unresolved, sample.unscorable) == (1, 2, 1)
    assert "leak" not in repr(sample)


def test_a_realtalk_conversation_is_read() -> None:
    document = {
        "name": {"speaker_1": "A", "speaker_2": "B"}, "qa": [{"question": "q?", "evidence": ["D1:1"], "category": 1}],
        "session_1": [{"clean_text": "hello", "speaker": "A", "date_time": "29.12.2023, 15:23:45", "dia_id": "D1:1"}],
    }  # fmt: skip
    (sample,) = read("realtalk", msgspec.json.encode(document))
    assert (sample.turns[0].text, sample.turns[0].when.day, sample.questions[0].evidence) == (
        "hello",
        29,
        (0,),
    )


def test_a_realtalk_conversation_is_read_whatever_its_annotators_did() -> None:
    def turn(id: str, text: str | None, **given: object) -> dict[str, object]:
        return {"clean_text": text, "speaker": "A", "dia_id": id} | given

    document = {
        "session_3": [turn("D3:1", "hello"), turn("D3:2", None, blip_caption=["a cat", "a dog"]), turn(" D3:3 ", "so")],
        "session_3_date_time": "29.12.2023, 00:51:12",
        "session_10": [turn("D10:1", "late"), turn("D10:2", "later", date_time="2.1.2024, 9:05")],
        "events_session_3": {"agent_a": [], "agent_b": None},
        "qa": [
            {"question": "a range?", "evidence": ["D3:1-D3:3"], "category": 1},
            {"question": "one text?", "evidence": "D3:2; (D10:01) .", "category": 2},
            {"question": "objects?", "evidence": [{"dia_id": "D3:1"}, {"id": "D10:2"}], "category": 3},
            {"question": "prose?", "evidence": ["see D3:2 and the next"], "category": 3},
            {"question": "nowhere?", "evidence": ["session 3", "D30:1"], "category": 3},
        ],
    }  # fmt: skip
    (sample,) = read("realtalk", msgspec.json.encode(document))
    assert [turn.id for turn in sample.turns] == ["D3:1", "D3:2", "D3:3", "D10:1", "D10:2"]
    assert sample.turns[1].whole == "A: \na cat\na dog"
    assert [turn.when.isoformat()[:16] for turn in sample.turns] == [
        *["2023-12-29T00:51"] * 3,
        *["2024-01-02T09:05"] * 2,
    ]
    assert [one.evidence for one in sample.questions] == [(0, 2), (1, 3), (0, 4), (1,)]
    assert (sample.name, sample.unscorable, sample.unresolved) == ("conversation", 1, 7)


def test_a_published_realtalk_file_is_read_as_it_is() -> None:
    exported = Path(__file__).parents[2] / "unit" / "tools" / "exports" / "realtalk.json"
    (sample,) = read("realtalk", exported.read_bytes())
    assert sample.name == "Emi-Elise"
    assert list(sample.sessions) == ["session_1", "session_1", "session_2"]
    assert [turn.id for turn in sample.turns] == ["D1:1", "D1:2", "D2:1"]
    assert sample.turns[1].whole == "Elise: Long! This is my desk.\na desk full of books"
    assert sample.turns[2].when == datetime(2023, 12, 30, 9, 5, tzinfo=UTC)
    assert [(one.category, one.evidence) for one in sample.questions] == [("1", (1,))]
    assert "takes an exam" not in repr(sample.turns)


TURNS: list[dict[str, object]] = [
    {"clean_text": "hello", "speaker": "A", "date_time": "29.12.2023, 15:23:45", "dia_id": "D1:1"},
    {
        "clean_text": "tea?",
        "speaker": "B",
        "date_time": "29.12.2023, 15:24:45",
        "dia_id": "D1:2",
        "blip_caption": "a cup",
    },
]
LATER: list[dict[str, object]] = [
    {"clean_text": "so", "speaker": "A", "date_time": "30.12.2023, 09:05:00", "dia_id": "D2:1"}
]
QA = [{"question": "what?", "answer": "tea", "evidence": ["D1:2"], "category": 1}]


def spelled(turns: Sequence[dict[str, object]], **names: str) -> list[dict[str, object]]:
    return [{names.get(name, name): value for name, value in turn.items()} for turn in turns]


OTHER = {"clean_text": "message", "speaker": "sender", "date_time": "timestamp", "dia_id": "id"}
SHAPES: dict[str, object] = {
    "as published": {"session_1": TURNS, "session_2": LATER, "qa": QA},
    "other keys of sessions": {"Session 1": TURNS, "session2": LATER, "qa": QA},
    "in an object": {"conversation": {"session_1": TURNS, "session_2": LATER}, "qa": QA},
    "a list of lists": {"sessions": [TURNS, LATER], "qa": QA},
    "a list of objects": {"sessions": [{"date_time": "x", "turns": TURNS}, {"messages": LATER}], "qa": QA},
    "objects": {"session_1": {"dialogue": TURNS}, "session_2": {"dialogue": LATER}, "qa": QA},
    "one list of turns": {"conversation": [*TURNS, *LATER], "qa": QA},
    "other keys of turns": {
        "session_1": spelled(TURNS, **OTHER),
        "session_2": spelled(LATER, **OTHER),
        "qa": QA,
    },
    "an image of its own": {
        "session_1": [
            TURNS[0],
            {**TURNS[1], "blip_caption": "", "images": [{"url": "x", "caption": "a cup"}]},
        ],
        "session_2": LATER,
        "qa": QA,
    },
    "without ids": {
        "session_1": [{name: value for name, value in turn.items() if name != "dia_id"} for turn in TURNS],
        "session_2": [{name: value for name, value in turn.items() if name != "dia_id"} for turn in LATER],
        "qa": QA,
    },
    "other keys of questions": {
        "session_1": TURNS,
        "session_2": LATER,
        "questions": [{"question": "what?", "evidences": "D1:2", "type": 1}],
    },
    "questions by number": {"session_1": TURNS, "session_2": LATER, "qa": {"1": QA[0]}},
    "one question": {"session_1": TURNS, "session_2": LATER, "qa": QA[0]},
    "a list of conversations": [{"session_1": TURNS, "session_2": LATER, "qa": QA}],
    "a list in a member": {"data": [{"session_1": TURNS, "session_2": LATER, "qa": QA}]},
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_realtalk_conversation_is_read_however_it_is_spelled(shape: str) -> None:
    (sample,) = read("realtalk", msgspec.json.encode(SHAPES[shape]))
    assert [(turn.id, turn.whole, turn.session) for turn in sample.turns] == [
        ("D1:1", "A: hello", "session_1"),
        ("D1:2", "B: tea?\na cup", "session_1"),
        ("D2:1", "A: so", "session_2"),
    ]
    assert [turn.when.isoformat()[:16] for turn in sample.turns] == [
        "2023-12-29T15:23", "2023-12-29T15:24", "2023-12-30T09:05",
    ]  # fmt: skip
    assert [(one.text, one.category, one.evidence) for one in sample.questions] == [("what?", "1", (1,))]
    assert (sample.unresolved, sample.unscorable) == (0, 0)


def test_times_of_turns_may_be_iso() -> None:
    turns = [
        {**TURNS[0], "date_time": "2024-01-02T09:05:00+01:00"},
        {**TURNS[1], "date_time": "2024-01-03 10:00"},
    ]
    (sample,) = read("realtalk", msgspec.json.encode({"session_1": turns, "qa": QA}))
    assert [turn.when.day for turn in sample.turns] == [2, 3]
    assert sample.turns[0].when.utcoffset() is not None


@pytest.mark.parametrize(
    ("document", "told"),
    [
        (
            {"talk": TURNS, "qa": QA},
            r'no turns in "session_1"; it has "talk": a list of 2, "qa": a list of 1$',
        ),
        ({"session_1": "hello", "qa": QA}, r'no turns in "session_1"; it has "session_1": text'),
        (
            {"session_1": TURNS, "events": {}},
            r'no questions in "qa"; it has "session_1": a list of 2, "events": an obj',
        ),
        ({"session_1": TURNS, "qa": 3}, r'"qa": a number'),
        ({str(n): None for n in range(20)}, r'"11": null and 8 more$'),
        ({}, "it has no members"),
        ([], "no conversation: not an object but a list of 0"),
        ([{"session_1": TURNS, "qa": QA}, 3], "no conversation"),
        ("talk", "no conversation: not an object but text"),
        (
            {"session_1": TURNS, "qa": [{"question": "what?", "evidence": ["m17"]}]},
            r"none of its 1 questions cites a turn: evidence such as \"\['m17'\]\", turns such as \['D1:1', 'D1:2'\]",
        ),
    ],
)
def test_another_shape_than_realtalk_says_what_was_seen(document: object, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        read("realtalk", msgspec.json.encode(document))


@pytest.mark.parametrize("kind", ["locomo", "realtalk"])
def test_a_question_that_is_none_is_counted_and_the_rest_is_read(kind: str) -> None:
    turn = {"speaker": "A", "dia_id": "D1:1", "text": "hi 🙂", "clean_text": "hi 🙂"}
    noise = [
        {"answer": "x"},
        {"question": "  ", "evidence": ["D1:1"]},
        "no object",
        None,
        {"question": "p?", "evidence": None},
    ]
    sessions: dict[str, object] = {
        "session_1": [turn, {"dia_id": 3}, "no turn"],
        "session_1_date_time": "",
        "events_session_1": {},
    }
    document: dict[str, object] = {
        "qa": [*noise, {"question": "q?", "evidence": "D1:01, D9:9", "category": 2}]
    }
    document |= {"conversation": sessions} if kind == "locomo" else sessions
    (sample,) = read(kind, msgspec.json.encode(document))
    assert [(one.text, one.category, one.evidence) for one in sample.questions] == [("q?", "2", (0,))]
    assert (sample.unscorable, sample.unresolved, len(sample.turns)) == (5, 1, 1)


@pytest.mark.parametrize(
    ("evidence", "right", "unresolved"),
    [
        (["t1"], (0,), 0),
        ("t1", (0,), 0),
        (7, (1,), 0),
        ([7, "t1", "t1"], (0, 1), 0),
        (None, (), 0),
        ([], (), 0),
        (["t1", "t9"], (0,), 1),
        ({"t1": 1}, (), 1),
    ],
)
def test_evidence_of_ones_own_is_a_list_of_ids_or_one(
    evidence: object, right: tuple[int, ...], unresolved: int
) -> None:
    asked = [{"question": "p?", "evidence": ["t1"]}, {"question": "q?", "evidence": evidence}]
    lines = [{"id": "t1", "text": "a"}, {"id": 7, "text": "b"}, *asked]
    (sample,) = read("jsonl", b"\n".join(msgspec.json.encode(line) for line in lines))
    assert [one.evidence for one in sample.questions[1:]] == ([right] if right else [])
    assert (sample.unresolved, sample.unscorable) == (unresolved, int(not right))


def test_turns_of_two_conversations_may_have_the_same_id() -> None:
    lines = [
        {"conversation": name, **line}
        for name in ("a", "b")
        for line in ({"id": "t1", "text": name}, {"question": "q?", "evidence": ["t1"]})
    ]
    found = read("jsonl", b"\n".join(msgspec.json.encode(line) for line in lines))
    assert [[turn.text for turn in sample.turns] for sample in found] == [["a"], ["b"]]


def test_a_byte_order_mark_is_passed_over_in_every_file_that_is_read_together() -> None:
    bom = b"\xef\xbb\xbf"
    turns, questions = b'{"id": "t1", "text": "a"}\r\n', b'{"question": "q?", "evidence": "t1"}'
    assert read("jsonl", bom + turns + b"\n" + bom + questions) == read("jsonl", turns + questions)
    locomo = b'{"conversation": {}, "qa": []}'
    assert read("locomo", bom + locomo) == read("locomo", locomo)


@pytest.mark.parametrize(
    ("kind", "raw", "told"),
    [
        ("locomo", b"{", "not JSON"),
        ("locomo", b"[3]", "no conversation"),
        ("locomo", b"{}", "not a LoCoMo conversation"),
        ("realtalk", b"{}", "not a REALTALK conversation"),
        ("jsonl", b"{", "line 1: neither a turn nor a question"),
        ("jsonl", b'{"id": "a", "text": "b"}', "no question"),
        ("jsonl", b'{"text": "b"}', "line 1: neither a turn nor a question: it has no 'id'"),
        ("jsonl", b'{"a": ' * 5_000, "line 1: neither a turn nor a question: .*recursion"),
        ("locomo", b"[" * 5_000, "not JSON: .*recursion"),
        (
            "jsonl",
            b'{"id": 7, "text": "a"}\n\n{"id": "7", "text": "b"}',
            "line 3: the turn '7' of 'conversation' is there already, in line 1",
        ),
    ],
)
def test_data_that_is_none_is_refused(kind: str, raw: bytes, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        read(kind, raw)
