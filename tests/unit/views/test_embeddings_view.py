"""`embeddings` in SQL lists the vectors that LanceDB holds, row for row, and every address in it resolves."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from braid import open as open_store
from braid.ledger.record.record import Affect, Draft, EmbeddingBody, Signature, Vad
from braid.models.static import StaticEmbedder
from braid.store import Store
from braid.views.search import CAUSAL, PROMPT, RESPONSE, TEMPORAL
from tests.unit.views.conftest import whole_table
from tests.unit.views.vectors import vector_of

MODEL = StaticEmbedder()
NAME = f"{MODEL.name}@{MODEL.version}"
LISTED = "SELECT log_index, id, role, uri, model, pending, salience, label FROM embeddings ORDER BY log_index, role"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store of every sort of experience: said, answered, felt, captioned, read, empty, forgotten, erased."""
    with open_store(tmp_path / "memory", embedder=lambda: MODEL) as store:
        store.remember(
            [{"role": "user", "content": "I live in Porto."}, {"role": "assistant", "content": "Noted."}]
        )
        store.append("A sad day.", affect=Affect(vad=Vad(v=-0.8, a=0.2, d=0.1)))
        store.append("", structured={"media": [{"caption": "a cat"}, 3]})
        store.append("", structured={"media": "none", "k": 1})
        store.append("", structured={"media_of_turn": [{"caption": "a dog"}], "media": [{"caption": ""}]})
        store.append(
            "", media=[msgspec.structs.replace(store.attach(b"x", media_type="text/plain"), caption="a boat")]
        )
        store.learn()
        store.append("That door is green.", actor="tool(eye)")
        store.forget(store.append("Forgotten words."))
        store.erase(store.append("Erased words."))
        yield store


def listed(store: Store) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = store.sql(LISTED).to_pylist()
    return rows


def held(store: Store) -> set[tuple[int, str]]:
    """Return (log index, role) of every vector that LanceDB itself holds."""
    rows = whole_table(store.path).search().where("kind = 'experience'").limit(1000).to_arrow().to_pylist()
    return {(row["log_index"], row["role"]) for row in rows if row["vector"] is not None}


def test_it_is_what_lancedb_holds(store: Store) -> None:
    store.views.search.catch_up()
    rows = listed(store)
    assert {(row["log_index"], row["role"]) for row in rows} == held(store)
    assert not any(row["pending"] for row in rows)
    assert {row["model"] for row in rows if row["role"] in (PROMPT, RESPONSE)} == {NAME}
    assert {row["role"] for row in rows} == {PROMPT, RESPONSE}
    for row in rows:
        assert vector_of(store, row["uri"]) is not None


def test_what_search_has_not_come_to_is_pending(store: Store) -> None:
    assert {row["pending"] for row in listed(store)} == {True}
    assert {row["model"] for row in listed(store)} == {None}
    store.views.search.catch_up()
    later = store.append("Said since.")
    assert {row["id"] for row in listed(store) if row["pending"]} == {later}
    size = len(store)
    assert {row["id"] for row in store.sql(LISTED, as_of=size - 2).to_pylist() if row["pending"]} == set()


def test_without_a_model_meaning_is_pending(tmp_path: Path) -> None:
    with open_store(tmp_path / "bare", embedder=None) as store:
        store.append("Words alone.")
        store.views.search.catch_up()
        assert {(row["role"], row["pending"]) for row in listed(store)} == {(PROMPT, True)}


def test_the_newest_signature_of_a_role_weighs_it(store: Store) -> None:
    id = store.append("Weighed words.")
    for salience, label in ((0.2, "first"), (0.7, "second")):
        said = Signature(role=PROMPT, model="m", salience=salience, label=label)
        store.session.append_drafts(
            [Draft(kind="embedding", body=EmbeddingBody(signatures=[said]), links=[("experience", id)])]
        )
    store.views.search.catch_up()
    of = {row["role"]: (row["salience"], row["label"]) for row in listed(store) if row["id"] == id}
    assert of[PROMPT] == (0.7, "second")
    assert of.keys() == {PROMPT}


@pytest.mark.parametrize(("short", "long"), [("sem", PROMPT), ("temp", TEMPORAL), ("caus", CAUSAL)], ids=str)
def test_the_forms_of_the_schema_document_resolve(store: Store, short: str, long: str) -> None:
    id = store.append("Maya moved to Porto.")
    assert np.array_equal(vector_of(store, f"vec://{short}/{id}"), vector_of(store, f"vec://{long}/{id}"))


def test_the_meaning_of_an_answer_has_the_same_short_address(store: Store) -> None:
    id = store.append("She did.", actor="agent")
    assert np.array_equal(vector_of(store, f"vec://sem/{id}"), vector_of(store, f"vec://{RESPONSE}/{id}"))
    assert vector_of(store, f"vec://{PROMPT}/{id}") is None
