"""`shape` gives records back in the form of the experience schema's JSON examples."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from braid.ledger.erase.cascade import plan
from braid.ledger.erase.erasure import erase, forget
from braid.ledger.record.record import (
    Affect,
    AffectBody,
    AffectDelta,
    Candidate,
    Claim,
    Confidence,
    Content,
    Decision,
    Delta,
    Draft,
    EmbeddingBody,
    EventBody,
    ExperienceBody,
    LinkDiff,
    Provenance,
    Record,
    Reweighted,
    Signature,
    Source,
    StanceBody,
    Vad,
    ViewBody,
)
from braid.ledger.record.shape import shape, shape_transaction, shape_whole
from braid.ledger.write.create import create_store
from braid.ledger.write.writer import Writer

# The schema's examples, their ids replaced by `…` where ours differ.
EXPERIENCE = {
    "content": {"text": "The invoice is wrong.", "media": [], "structured": {}},
    "provenance": {
        "sources": [{"uri": "https://example.org/chat/1", "hash": "sha256:00"}],
        "actor": "user",
        "method": "capture",
    },
    "confidence": {"p": 0.78, "method": "calibrated_logit"},
    "affect": {
        "vad": {"v": 0.15, "a": 0.62, "d": 0.40},
        "labels": ["frustration"],
        "intensity": 0.7,
        "confidence": 0.66,
    },
}


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Writer]:
    create_store(tmp_path / "store", now=datetime.now(UTC))
    writer = Writer(tmp_path / "store")
    yield writer
    writer.close()


def said(text: str) -> Draft:
    return Draft(kind="experience", type="occurrence", body=ExperienceBody(content=Content(text=text)))


def put(writer: Writer, draft: Draft) -> str:
    return writer.append([draft])[0].id


def shown(writer: Writer, id: str) -> dict[str, Any]:
    return shape(writer.get(id))


def test_an_experience_has_the_members_of_the_schema(writer: Writer) -> None:
    parent = put(writer, said("a"))
    evidence = put(writer, said("b"))
    id = put(
        writer,
        Draft(
            kind="experience",
            type="observation",
            body=ExperienceBody(
                content=Content(text="The invoice is wrong."),
                provenance=Provenance(sources=[Source(uri="https://example.org/chat/1", hash="sha256:00")]),
                evidence_uris=["uri:isbn:1"],
                confidence=Confidence(p=0.78, method="calibrated_logit"),
                affect=Affect(
                    vad=Vad(v=0.15, a=0.62, d=0.40), labels=["frustration"], intensity=0.7, confidence=0.66
                ),
                embeddings={"semantic": "vec://sem/x", "temporal": "vec://temp/x", "causal": "vec://caus/x"},
                symbolic=[Claim(subject="X", rel="causes", object="Y")],
                diffs=[LinkDiff(link=0, added="more", reweighted=[Reweighted(link=1, w_old=0.3, w_new=0.5)])],
            ),
            links=[("parent", parent), ("evidence", evidence)],
        ),
    )
    result = shown(writer, id)
    assert {name: result[name] for name in EXPERIENCE} == EXPERIENCE
    assert result["id"] == id
    assert result["type"] == "observation"
    assert result["created_at"] == writer.get(id).envelope.created_at
    assert result["parents"] == [parent]
    assert result["evidence_ptrs"] == [evidence, "uri:isbn:1"]
    symbolic = result["embeddings"].pop("symbolic")
    assert result["embeddings"] == {
        "semantic": "vec://sem/x",
        "temporal": "vec://temp/x",
        "causal": "vec://caus/x",
    }
    assert {name: symbolic[0][name] for name in ("subject", "rel", "object")} == {
        "subject": "X",
        "rel": "causes",
        "object": "Y",
    }
    assert result["sign"].startswith("ed25519:")
    assert result["diffs"] == [
        {"id": parent, "added": "more", "reweighted": [{"exp": evidence, "w_old": 0.3, "w_new": 0.5}]}
    ]


def test_a_view_has_the_members_of_the_schema(writer: Writer) -> None:
    a, b = put(writer, said("a")), put(writer, said("b"))
    id = put(
        writer,
        Draft(
            kind="view",
            body=ViewBody(
                lens="causal_v2",
                delta_from_raw=Delta(
                    added="x", removed="y", reweighted=[Reweighted(link=1, w_old=0.3, w_new=0.5)]
                ),
                affect_delta=AffectDelta(
                    before=Vad(v=0.10, a=0.60, d=0.40), after=Vad(v=0.20, a=0.45, d=0.55)
                ),
            ),
            links=[("applied_to", a), ("applied_to", b)],
        ),
    )
    result = shown(writer, id)
    assert {
        name: result[name] for name in ("id", "lens", "applied_to", "delta_from_raw", "affect_delta")
    } == {
        "id": id,
        "lens": "causal_v2",
        "applied_to": [a, b],
        "delta_from_raw": {
            "added": "x",
            "removed": "y",
            "reweighted": [{"exp": b, "w_old": 0.3, "w_new": 0.5}],
        },
        "affect_delta": {"from": {"v": 0.10, "a": 0.60, "d": 0.40}, "to": {"v": 0.20, "a": 0.45, "d": 0.55}},
    }
    assert result["provenance_braid"] == [a, b]


def test_a_stance_has_the_members_of_the_schema(writer: Writer) -> None:
    a, b = put(writer, said("a")), put(writer, said("b"))
    id = put(
        writer,
        Draft(
            kind="stance",
            body=StanceBody(
                question="Which metric should we report?",
                candidates=[Candidate(claim="one", p=0.62), Candidate(claim="two", p=0.31)],
                decision=Decision(claim="one", residual_uncertainty=0.22),
            ),
            links=[("candidate", a), ("candidate", b), ("support", a)],
        ),
    )
    result = shown(writer, id)
    assert {name: result[name] for name in ("id", "question", "candidates", "method", "decision")} == {
        "id": id,
        "question": "Which metric should we report?",
        "candidates": [{"exp": a, "claim": "one", "p": 0.62}, {"exp": b, "claim": "two", "p": 0.31}],
        "method": "justified_truth_maintenance+bayes_pool",
        "decision": {"claim": "one", "support": [a], "residual_uncertainty": 0.22},
    }


def test_a_transaction_is_a_wal_entry(writer: Writer) -> None:
    id = put(writer, said("a"))
    tombstone = erase(writer, plan(writer, [writer.index_of(id)]), list, reason="gdpr_erasure")[0].tombstone
    record = writer.get(tombstone)
    entry = shape_transaction(record.envelope.tx[0], [record])
    assert entry["wal_id"] == "wal_000002"
    [operation] = entry["ops"]
    assert operation["op"] == "tombstone"
    assert operation["target"] == "exp"
    assert operation["id"] == id
    assert operation["reason"] == "gdpr_erasure"
    assert "purge_key" in operation

    other = writer.get(put(writer, said("b")))
    [operation] = shape_transaction(other.envelope.tx[0], [other])["ops"]
    assert {"ts", "op", "target", "id", "key_id"} == set(operation)
    assert operation["op"] == "append"


def test_affect_and_embedding_name_their_experience(writer: Writer) -> None:
    a = put(writer, said("a"))
    affect = Draft(
        kind="affect",
        body=AffectBody(actor="user", stage="input", valence=0.1, arousal=0.2, dominance=0.3, confidence=0.5),
        links=[("experience", a)],
    )
    result = shown(writer, put(writer, affect))
    assert result["experience_id"] == a
    assert (result["actor"], result["stage"], result["primary_emotion"]) == ("user", "input", "neutral")
    assert (result["valence"], result["arousal"], result["dominance"]) == (0.1, 0.2, 0.3)
    batch = EmbeddingBody(signatures=[Signature(role="prompt_semantic", model="m1", salience=0.5)])
    result = shown(writer, put(writer, Draft(kind="embedding", body=batch, links=[("experience", a)])))
    assert (result["experience_id"], result["role"], result["embedding_model"]) == (
        a,
        "prompt_semantic",
        "m1",
    )
    assert result["vector"] == f"vec://prompt_semantic/{a}"


def test_a_kind_without_an_example_shows_its_links_too(writer: Writer) -> None:
    """Not in `shape` itself, which exports are held against: they carry the links beside the record."""
    a = put(writer, said("a"))
    event = put(
        writer,
        Draft(kind="event", body=EventBody(name="correction"), links=[("evidence", a), ("supersedes", a)]),
    )
    tombstone = forget(writer, [a], "private")
    whole = shape_whole(writer.get(event))
    assert (whole["evidence"], whole["supersedes"], whole["name"]) == ([a], [a], "correction")
    assert shape_whole(writer.get(tombstone))["target"] == [a]
    assert "evidence" not in shape(writer.get(event))
    experience = writer.get(put(writer, said("b")))
    assert shape_whole(experience) == shape(experience)


def test_unknown_members_are_shown_as_they_are(writer: Writer) -> None:
    draft = Draft(
        kind="experience", type="occurrence", body=ExperienceBody(), extra={"weather": {"sky": "blue"}}
    )
    assert shown(writer, put(writer, draft))["weather"] == {"sky": "blue"}


def test_what_is_sealed_is_not_made_up(writer: Writer) -> None:
    """Without a body a record shows its envelope: no actor, no empty text, no candidate that claims nothing."""
    a = put(writer, said("a"))
    body = StanceBody(
        question="q", candidates=[Candidate(claim="c", p=0.5)], decision=Decision(residual_uncertainty=0.5)
    )
    stance = put(writer, Draft(kind="stance", body=body, links=[("candidate", a)]))
    for id, more in (
        (a, {"kind": "experience", "type": "occurrence"}),
        (stance, {"kind": "stance", "candidate": [a]}),
    ):
        record = writer.get(id)
        sealed = shape(Record(record.envelope, record.links, None, record.stored))
        whole = shape(record)
        tail = {name: whole[name] for name in ("created_at", "sign", "key_id", "index")}
        assert sealed == {"id": id, "sealed": True} | more | tail
