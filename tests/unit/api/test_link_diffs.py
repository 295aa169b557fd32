"""What Braid derives says along its links what changed: readings, corrections, reconciliations."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

import braid
from braid import installed_parser
from braid.admin import rederivation as again
from braid.admin.stance_audit import StanceAudit
from braid.ledger.errors import ErasedError
from braid.ledger.record.record import ExperienceBody
from braid.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with braid.open(tmp_path / "memory", guard_dir=tmp_path / "guard") as opened:
        yield opened


def diffs(store: Store, id: str) -> list[dict[str, Any]]:
    """Return what SQL shows along a record's links."""
    rows = store.sql("SELECT diff FROM links WHERE id = $1 AND diff IS NOT NULL ORDER BY k", [id]).to_pylist()
    return [json.loads(row["diff"]) for row in rows]


def read_of(store: Store, turn: str) -> str:
    (found,) = store.sql("SELECT id FROM links WHERE target_id = $1 AND role = 'parent'", [turn]).to_pylist()
    return str(found["id"])


def confidence(store: Store, id: str) -> float:
    body = store.get(id).body
    assert isinstance(body, ExperienceBody)
    assert body.confidence is not None
    return body.confidence.p


def test_a_reading_says_what_it_states_what_it_leaves_out_and_how_sure_it_is(store: Store) -> None:
    text = "What a day! I live in Porto. Bye."
    (turn,) = store.remember([{"role": "user", "content": text, "name": "Maya"}])
    store.learn()
    reading = read_of(store, turn)
    (diff,) = diffs(store, reading)
    assert diff["link"] == 0
    assert diff["added"] == "Maya lives_in Porto" == store.get(reading).text
    left = [text[int(a) : int(b)] for a, b in (span.split("-") for span in diff["removed"].split(", "))]
    assert "".join(left).split() == ["What", "a", "day!", ".", "Bye."]
    sure = confidence(store, reading)
    assert diff["reweighted"] == [{"link": 0, "w_old": 1.0, "w_new": sure}]


def test_a_reading_of_the_whole_leaves_nothing_out(store: Store) -> None:
    (turn,) = store.remember([{"role": "user", "content": "I live in Porto", "name": "Maya"}])
    store.learn()
    assert diffs(store, read_of(store, turn))[0].get("removed") is None


def test_a_reading_is_made_again_with_its_diff_and_one_from_before_there_were_any_is_too(
    store: Store,
) -> None:
    (turn,) = store.remember([{"role": "user", "content": "I live in Porto.", "name": "Maya"}])
    store.learn()
    assert store.verify(rederive=True).findings == []
    reading = store.get(read_of(store, turn))
    bare = json.loads(reading.raw or b"")
    assert bare.pop("diffs")
    raw = msgspec.json.encode(bare)
    older = type(reading)(reading.envelope, reading.links, raw, reading.stored)
    assert (
        again._problem(
            older, again._deriver("claim", StanceAudit(store.reader), installed_parser), store.reader
        )
        is None
    )
    bare["diffs"] = [{"link": 0, "added": "Maya lives_in Leeds"}]
    forged = type(reading)(reading.envelope, reading.links, msgspec.json.encode(bare), reading.stored)
    assert "diffs" in str(
        again._problem(
            forged, again._deriver("claim", StanceAudit(store.reader), installed_parser), store.reader
        )
    )


def test_a_correction_names_what_it_replaces_and_quotes_nothing(store: Store) -> None:
    old = store.append("Maya is allergic to nuts.", confidence=0.8, structured={"k": "secret"})
    new = store.correct(old, "Maya is allergic to cats.")
    assert diffs(store, new) == [
        {
            "link": 0,
            "added": "text",
            "removed": "text, structured, confidence",
            "reweighted": [{"link": 0, "w_old": 0.8, "w_new": 0.0}],
        }
    ]
    store.erase(old)
    body = store.get(new).raw or b""
    assert b"nuts" not in body
    assert b"secret" not in body


def test_a_diff_is_sealed_and_goes_with_the_turn_it_quotes(store: Store) -> None:
    (turn,) = store.remember([{"role": "user", "content": "I live in Quokkaville.", "name": "Maya"}])
    store.learn()
    reading = read_of(store, turn)
    stored = store.get(reading).stored
    assert b"Quokkaville" not in stored
    assert b"diffs" not in stored
    store.erase(turn)
    with pytest.raises(ErasedError):
        store.get(reading)
    assert diffs(store, reading) == []


def test_a_reconciliation_says_how_each_support_came_to_weigh(store: Store) -> None:
    store.remember([{"role": "user", "content": "I live in Porto.", "name": "Maya"}])
    store.learn()
    store.stance("Where does Maya live?")
    (id,) = store.sql("SELECT id FROM experiences WHERE type = 'reconciliation'").column("id").to_pylist()
    record = store.get(id)
    body = record.body
    assert isinstance(body, ExperienceBody)
    assert body.confidence is not None
    assert record.links[0].role == "parent"
    alone = confidence(store, record.links[0].id)
    assert diffs(store, id) == [
        {"link": 0, "reweighted": [{"link": 0, "w_old": alone, "w_new": body.confidence.p}]}
    ]
