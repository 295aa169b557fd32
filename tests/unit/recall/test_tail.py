"""The log's end is searched in memory: the same answer as if the index had taken it in, and no commit of it."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import braid
from braid.ledger.record.record import Draft
from braid.log.drafts import experience, scope
from braid.recall.memory import MemoryIndex
from braid.recall.tail import MOST, scored_alike
from braid.store import Store
from braid.text.words import stem, telling
from braid.tools.lab.claim_scores import labelled
from braid.views.embedder import EmbeddingError
from tests.unit.recall.scene import row

WHEN = datetime(2025, 3, 1, tzinfo=UTC)
TOLD = (
    "Her cat {0} sleeps on the boiler.", "The plumber comes on {0} to mend the tap.", "We sailed to {0} in the rain.",
    "{0} plays the cello in the town band.", "I bought {0} a red bicycle for her birthday.",
)  # fmt: skip
NAMES = ("Miso", "Rex", "Olive", "Tom", "Porto", "Leeds", "Ghent", "Friday", "Monday", "Ann")
LINES = (Path(__file__).parents[2] / "unit" / "learn" / "sentences.jsonl").read_bytes().splitlines()
SAID = list(dict.fromkeys(turn.text for turn in labelled(LINES)))


def told(number: int) -> str:
    return TOLD[number % len(TOLD)].format(NAMES[number * 7 % len(NAMES)]) + f" That was day {number}."


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store whose index has taken in forty turns."""
    with braid.open(tmp_path / "memory") as opened:
        opened.session.append_drafts([draft(told(number), number) for number in range(40)])
        opened.recall("Which turns?")
        yield opened


def draft(text: str, number: int) -> Draft:
    at = datetime(2025, 3, 1, number % 24, tzinfo=UTC)
    return experience(text, within=scope(session_id=f"s{number // 10}"), occurred_at=at)


def found(store: Store, question: str, **asked: Any) -> list[tuple[str, float]]:
    answer = store.recall(question, **asked)
    assert (answer.degraded, answer.behind_by) == ((), 0)
    return [(hit.text, hit.score) for hit in answer.results]


def position(store: Store) -> int:
    return store.views.search.status().position


def test_what_was_just_said_is_found_and_nothing_is_committed(store: Store) -> None:
    before, commits = position(store), store.views.search.home.commits()
    store.append("The zeppelin is moored behind the bakery.")
    store.append("Her canary is called Bix.", user_id="maya")
    assert found(store, "Where is the zeppelin?")[0][0] == "The zeppelin is moored behind the bakery."
    assert found(store, "Which airship is tied up near the baker's?")[0][0].startswith("The zeppelin")
    assert found(store, "What is her canary called?", user_id="maya") != []
    assert "Bix" not in str(found(store, "What is her canary called?", user_id="bob"))
    assert (position(store), store.views.search.home.commits()) == (before, commits)


@pytest.mark.soak
def test_the_answer_is_the_one_that_the_index_would_give(store: Store) -> None:
    store.session.append_drafts([draft(text, at) for at, text in enumerate(SAID[:250])])
    store.views.search.index()
    store.session.append_drafts([draft(text, at) for at, text in enumerate(SAID[250 : 250 + MOST])])
    asked = [f"What about {' '.join(text.split()[1:6])}?" for text in SAID[::20]]
    beside = [found(store, question) for question in asked]
    assert position(store) == store.reader.size - MOST
    store.views.search.index()
    after = [found(store, question) for question in asked]
    same = [hits[0][0] == then[0][0] for hits, then in zip(beside, after, strict=True)]
    shared = [len(dict(hits).keys() & dict(then).keys()) for hits, then in zip(beside, after, strict=True)]
    assert sum(same) >= len(asked) - 1
    assert sum(shared) >= 9 * len(asked)


def test_an_index_takes_in_many_at_once(store: Store) -> None:
    before = position(store)
    store.session.append_drafts([draft(told(number), number) for number in range(MOST)])
    store.recall("Who plays the cello?")
    assert position(store) == before
    store.append("The zeppelin is moored behind the bakery.")
    assert "zeppelin" in found(store, "Where is the zeppelin?")[0][0]
    assert position(store) == store.reader.size


def test_what_changes_earlier_records_is_taken_in_at_once(store: Store) -> None:
    kept = store.append("The zeppelin is moored behind the bakery.")
    gone = store.append("The zeppelin is painted yellow.")
    assert len([text for text, _ in found(store, "zeppelin") if "zeppelin" in text]) == 2
    store.forget(gone)
    assert [text for text, _ in found(store, "zeppelin") if "zeppelin" in text] == [
        "The zeppelin is moored behind the bakery."
    ]
    store.recover(gone)
    assert len([text for text, _ in found(store, "zeppelin") if "zeppelin" in text]) == 2
    store.erase(kept, reason="asked")
    assert [text for text, _ in found(store, "zeppelin") if "zeppelin" in text] == [
        "The zeppelin is painted yellow."
    ]
    new = store.append("The airship left.")
    store.append("The zeppelin came back.")
    assert "zeppelin" in found(store, "When did the zeppelin come back?")[0][0]
    assert new in {hit.id for hit in store.recall("The airship left").results}


def test_the_past_is_asked_of_the_tail_too(store: Store) -> None:
    store.append("The zeppelin is moored behind the bakery.")
    size = store.reader.size
    store.append("The zeppelin is painted yellow.")
    texts = [text for text, _ in found(store, "zeppelin", as_of=size - 1) if "zeppelin" in text]
    assert texts == ["The zeppelin is moored behind the bakery."]


def test_a_reader_finds_what_another_handle_appends(store: Store) -> None:
    with braid.open(store.reader.path, read_only=True) as beside:
        beside.recall("Who plays the cello?")
        store.append("The zeppelin is moored behind the bakery.")
        beside.refresh()
        assert "zeppelin" in found(beside, "Where is the zeppelin?")[0][0]


def test_where_the_model_fails_the_index_takes_it_in(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def failed(*_: object) -> None:
        raise EmbeddingError("no")

    store.append("The zeppelin is moored behind the bakery.")
    with monkeypatch.context() as patch:
        patch.setattr("braid.recall.tail.embedded", failed)
        assert "zeppelin" in found(store, "Where is the zeppelin?")[0][0]
    assert position(store) == store.reader.size


def test_rows_of_the_tail_are_those_of_the_index(store: Store) -> None:
    for number in range(3):
        store.append(told(number), user_id="maya", structured={"ordinal": number}, occurred_at=WHEN)
    store.remember([{"role": "assistant", "content": "I live in Leeds.", "name": "Bot"}])
    first, size = position(store), store.reader.size
    places = range(first, size)
    search, shelf = store.views.search, store.embedding()[2]
    tailed = shelf.tail.over(search.index_near(MOST), store.reader, store.embedding()[0])
    assert tailed is not None
    beside = tailed.both(places)
    taken_in = search.index().both(places)
    assert tailed.position == search.index().position == size
    assert beside.rows == taken_in.rows
    assert beside.vectors.keys() == taken_in.vectors.keys()
    assert all(np.array_equal(vector, taken_in.vectors[at]) for at, vector in beside.vectors.items())
    assert tailed.take(places) == taken_in.rows
    assert len(list(tailed.rows())) == len(list(search.index().rows()))
    assert tailed.vectors(places).keys() == search.index().vectors(places).keys()


def test_words_are_weighed_as_the_index_weighs_them() -> None:
    """What an index lacks is scored as an index that has it scores it."""
    texts = [text.lower() for text in SAID[:200]]
    question = "what does my sister like about her new job in leeds"
    whole = MemoryIndex([row(at, text) for at, text in enumerate(texts)], {}, position=200)
    part = MemoryIndex([row(at, text) for at, text in enumerate(texts[:150])], {}, position=150)
    known = [(texts[hit.index], hit.score) for hit in part.words(question, 40)]
    stems = list(dict.fromkeys(stem(word) for word in telling(question)))
    ours = scored_alike(texts[150:], known, stems, 150)
    wanted = {hit.index - 150: hit.score for hit in whole.words(question, 200) if hit.index >= 150}
    assert len(wanted) >= 5
    assert {at for at, score in enumerate(ours) if score > 0} == wanted.keys()
    assert all(ours[at] == pytest.approx(score, rel=0.35) for at, score in wanted.items())
    best = max(wanted, key=wanted.__getitem__)
    assert ours[best] == max(ours)
