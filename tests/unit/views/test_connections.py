"""`connections` in SQL: what follows on what, comes from what, speaks of whom, and means nearly the same."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from braid import open as open_store
from braid.ledger.record.record import Claim, Content, Draft, ExperienceBody, Provenance, Scope
from braid.models.static import StaticEmbedder
from braid.store import Store
from braid.views.duck.check import check_content
from braid.views.duck.macros import creation
from braid.views.embedder import Vectors
from braid.views.lance import similar
from braid.views.lance.similar import LEAST, MOST_EACH, nearest_before

MODEL = StaticEmbedder()
SAID = "I live in Porto with my sister Nadia."


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "memory", embedder=lambda: MODEL) as opened:
        opened.followers.clear()  # nothing is read here but what a test says
        yield opened


def say(store: Store, text: str, user: str | None = "maya", **more: Any) -> str:
    return store.append(text, user_id=user, session_id="s", actor="user", **more)


def read(store: Store, turn: str, *claims: Claim) -> str:
    """Append what a reader found in a turn; return its id."""
    body = ExperienceBody(
        content=Content(text="it"),
        provenance=Provenance(actor="agent", method="read:tester@1"),
        symbolic=list(claims),
        scope=Scope(user_id="maya", session_id="s"),
    )
    draft = Draft(kind="experience", type="inference", body=body, links=[("parent", turn)])
    return store.session.append_drafts([draft])[0].id


def connected(store: Store, **how: Any) -> set[tuple[str, str, str]]:
    rows = store.sql("SELECT kind, id, to_id FROM connections", **how).to_pylist()
    return {(row["kind"], row["id"], row["to_id"]) for row in rows}


def similar_rows(store: Store, **how: Any) -> list[tuple[str, str]]:
    rows = store.sql("SELECT id, other_id FROM similar_to ORDER BY log_index, other_index", **how).to_pylist()
    return [(row["id"], row["other_id"]) for row in rows]


def test_each_kind_has_its_rows_and_each_row_names_its_records(store: Store) -> None:
    first, second = say(store, SAID), say(store, f"{SAID}!")
    reading = read(store, first, Claim(subject="Maya", rel="lives_in", object="Porto", quote="Porto", at=10))
    store.views.search.catch_up()
    entities = {row["name"]: row["entity_id"] for row in store.sql("FROM entities").to_pylist()}
    assert connected(store) == {
        ("FOLLOWS", second, first),
        ("CAUSED_BY", reading, first),
        ("REFERENCES", first, entities["Maya"]),
        ("REFERENCES", first, entities["Porto"]),
        ("SIMILAR_TO", second, first),
    }
    rows = {row["kind"]: row for row in store.sql("FROM connections ORDER BY how").to_pylist()}
    assert (rows["CAUSED_BY"]["how"], rows["CAUSED_BY"]["made_of"]) == ("parent", [reading, first])
    assert (rows["REFERENCES"]["how"], rows["REFERENCES"]["made_of"]) == ("Porto", [first, reading])
    assert rows["SIMILAR_TO"]["how"] == f"{MODEL.name}@{MODEL.version}"
    assert LEAST <= rows["SIMILAR_TO"]["weight"] <= 1
    assert {(row["user_id"], row["session_id"]) for row in rows.values()} == {("maya", "s")}
    assert rows["FOLLOWS"]["log_index"] == store.reader.index_of(second)
    assert rows["FOLLOWS"]["to_index"] == store.reader.index_of(first)


def test_turns_follow_on_each_other_as_they_happened(store: Store) -> None:
    third, first, second = (
        say(store, text, occurred_at=datetime(2025, 6, day, tzinfo=UTC))
        for day, text in ((3, "Third."), (1, "First."), (2, "Second."))
    )
    found = store.sql("SELECT id, after_id FROM follows").to_pylist()
    assert {(row["id"], row["after_id"]) for row in found} == {(second, first), (third, second)}


def test_a_time_line_says_what_was_replaced(store: Store) -> None:
    old = say(store, "The invoice is INV-2043.")
    new = store.correct(old, "The invoice is INV-2034.")
    found = store.sql("SELECT id, standing FROM timeline()").to_pylist()
    assert {row["id"]: row["standing"] for row in found} == {old: "replaced", new: "living"}


@pytest.mark.soak
def test_what_is_gone_takes_its_rows_and_the_past_keeps_them(store: Store) -> None:
    first, second, third = (say(store, SAID) for _ in range(3))
    reading = read(store, first, Claim(subject="Maya", rel="lives_in", object="Porto"))
    store.views.search.catch_up()
    size = len(store)
    before = connected(store)
    store.forget(first)
    left = {("FOLLOWS", third, second), ("SIMILAR_TO", third, second)}
    assert connected(store) == left
    assert connected(store, as_of=size - 1, include_forgotten=True) == before
    store.recover(first)
    assert connected(store) == before
    store.erase(first)
    assert {(kind, id, to) for kind, id, to in connected(store) if reading != id} == left
    assert not {id for row in connected(store) for id in row} & {first}
    assert not {id for row in connected(store, as_of=size - 1) for id in row} & {first}
    third_index = store.reader.index_of(third)
    assert connected(store, as_of=third_index - 1) == set()
    assert ("SIMILAR_TO", third, second) in connected(store, as_of=third_index)


def test_only_within_one_memory(store: Store) -> None:
    ids = [say(store, SAID, user) for user in ("maya", "noor", None, "noor")]
    other = store.append(SAID, session_id="t")
    store.views.search.catch_up()
    assert similar_rows(store) == [(ids[3], ids[1])]
    again = store.append(SAID, session_id="t")
    store.views.search.catch_up()
    assert similar_rows(store) == [(ids[3], ids[1]), (again, other)]


def test_nothing_is_caught_up_for_it_and_without_a_model_there_is_nothing(
    store: Store, tmp_path: Path
) -> None:
    first, second = say(store, SAID), say(store, SAID)
    assert similar_rows(store) == []
    store.views.search.catch_up()
    third = say(store, SAID)
    assert similar_rows(store) == [(second, first)]
    store.views.search.catch_up()
    assert similar_rows(store) == [(second, first), (third, first), (third, second)]
    with open_store(tmp_path / "bare", embedder=None) as bare:
        say(bare, SAID)
        say(bare, SAID)
        bare.views.search.catch_up()
        assert similar_rows(bare) == []


def test_another_client_of_duckdb_sees_the_rest(store: Store) -> None:
    first, second = say(store, SAID), say(store, SAID)
    store.views.search.catch_up()
    assert ("SIMILAR_TO", second, first) in connected(store)
    store.views.close()
    with duckdb.connect(str(store.path / "views" / "duck" / "work.duckdb"), read_only=True) as con:
        con.execute(";".join(creation()))
        assert con.execute("SELECT kind FROM connections").fetchall() == [("FOLLOWS",)]


def test_a_view_in_the_file_is_found(store: Store) -> None:
    say(store, SAID)
    store.replay("duck")
    file = store.path / "views" / "duck" / "work.duckdb"
    assert check_content(store.reader, file) == []
    with duckdb.connect(str(file)) as con:
        con.execute("CREATE VIEW refers_to AS SELECT * FROM links WHERE false")
    (finding,) = check_content(store.reader, file)
    assert "refers_to" in finding.message


# -- which are near ---------------------------------------------------------------------------------


def near_ones(count: int, seed: int = 5) -> Vectors:
    """Return vectors of about length 1, in a few clusters; their products are exact, whoever adds them."""
    random = np.random.default_rng(seed)
    centres = random.normal(size=(6, 32))
    found = centres[random.integers(0, 6, count)] + random.normal(scale=0.35, size=(count, 32))
    made: Vectors = (
        np.round(found / np.linalg.norm(found, axis=1, keepdims=True) * 64).astype(np.float32) / 64
    )
    return made


def by_hand(vectors: Vectors, most_before: int) -> set[tuple[int, int]]:
    found = set[tuple[int, int]]()
    for row, vector in enumerate(vectors):
        before = range(max(row - most_before, 0), row)
        near = [
            (-round(float(vector @ vectors[at]), 4), -at) for at in before if vector @ vectors[at] > LEAST
        ]
        found |= {(row, -at) for _, at in sorted(near)[:MOST_EACH]}
    return found


@pytest.mark.sample(3)
@pytest.mark.parametrize("most", [7, 600, 4_096])
def test_the_nearest_before_are_those_that_comparing_each_would_find(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(similar, "MOST_BEFORE", most)
    vectors = near_ones(1_300)
    rows, befores, cosines = nearest_before(vectors)
    assert set(zip(rows, befores, strict=True)) == by_hand(vectors, most)
    assert all(LEAST <= cosine <= 1 for cosine in cosines)


def test_what_comes_later_changes_nothing_of_what_was_found() -> None:
    vectors = near_ones(1_300)
    whole = {row for row in zip(*nearest_before(vectors)[:2], strict=True) if row[0] < 700}
    assert whole == set(zip(*nearest_before(vectors[:700])[:2], strict=True))


def test_none_and_one_have_no_pairs_and_equal_ones_have_their_nearest_in_time() -> None:
    assert nearest_before(near_ones(0)) == nearest_before(near_ones(1)) == ([], [], [])
    same = np.repeat(near_ones(1), 20, axis=0)
    rows, befores, cosines = nearest_before(same)
    assert [before for row, before in zip(rows, befores, strict=True) if row == 19] == [18, 17, 16, 15, 14]
    assert {round(cosine, 1) for cosine in cosines} == {1.0}
