"""Records in the shape of the experience schema: what `show -o json` and exports give (SPEC §4.7). Pure."""

from base64 import b64encode
from typing import Any

from braid.ledger.record.envelope import Link
from braid.ledger.record.record import Record

_TARGETS = {"experience": "exp", "view": "view", "stance": "stance", "embedding": "emb", "affect": "aff"}


def shape(record: Record) -> dict[str, Any]:
    """Return a record as the schema writes it; members that the schema doesn't name keep their own.

    Without its body it is what its envelope says: the members of the schema would be made up.
    """
    if record.raw is None:
        return _sealed(record)
    members = dict(record.members)
    build = _SHAPES.get(record.kind)
    shaped = build(record, members) if build else {}
    head = {"id": record.id, "kind": record.kind} if record.kind not in _SCHEMA_KINDS else {"id": record.id}
    rest = {name: value for name, value in members.items() if name not in _HOUSEKEEPING}
    tail = _tail(record)
    result = head | shaped | rest | {name: tail[name] for name in tail if name not in shaped}
    if record.envelope.public:
        result["public"] = record.envelope.public
    if "scope" in members:
        result["scope"] = members["scope"]
    return result


def _sealed(record: Record) -> dict[str, Any]:
    head = {"id": record.id, "kind": record.kind} | ({"type": record.type} if record.type else {})
    public = {"public": record.envelope.public} if record.envelope.public else {}
    return head | _relations(record, {}) | _tail(record) | public | {"sealed": True}


def _tail(record: Record) -> dict[str, Any]:
    return {
        "created_at": record.envelope.created_at,
        "sign": "ed25519:" + b64encode(record.signature).decode(),
        "key_id": record.envelope.key,
        "index": record.index,
    }


def shape_whole(record: Record) -> dict[str, Any]:
    """Return `shape`, and of the kinds that the schema has no example of the links too, under their roles.

    Exports have these beside the record, and are held against `shape`.
    """
    return shape(record) | ({} if record.kind in _SCHEMA_KINDS else _relations(record, {}))


def shape_transaction(tx: int, records: list[Record]) -> dict[str, Any]:
    """Return a transaction as the schema's `wal_entry`."""
    return {"wal_id": f"wal_{tx:06d}", "ops": [op for record in records for op in _ops(record)]}


def _ops(record: Record) -> list[dict[str, Any]]:
    stamp = {"ts": record.envelope.created_at}
    if record.kind != "tombstone":
        target = _TARGETS.get(record.kind, record.kind)
        return [stamp | {"op": "append", "target": target, "id": record.id, "key_id": record.envelope.key}]
    ops: list[dict[str, Any]] = []
    for link in record.targets("target"):
        op: dict[str, Any] = stamp | {"op": "tombstone", "target": link.id.partition("_")[0], "id": link.id}
        op["action"] = record.envelope.public.get("op")
        if reason := record.members.get("reason"):
            op["reason"] = reason
        if op["action"] == "erase":
            op["purge_key"] = f"k_{link.index}"
        ops.append(op)
    return ops


def _ids(links: list[Link], *roles: str) -> list[str]:
    return [link.id for link in links if link.role in roles]


def _beside(record: Record, role: str, entries: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """Return each entry of a body with the id of the link that it speaks of."""
    return list(zip(_ids(record.links, role), entries, strict=False))


def _pop(members: dict[str, Any], name: str, default: Any) -> Any:
    return members.pop(name, default)


def _experience(record: Record, members: dict[str, Any]) -> dict[str, Any]:
    content = {"text": "", "media": [], "structured": {}} | _pop(members, "content", {})
    content["media"] = [{k: v for k, v in media.items() if k != "key"} for media in content["media"]]
    provenance = {"sources": [], "actor": "user", "method": "capture"} | _pop(members, "provenance", {})
    shaped: dict[str, Any] = {
        "type": record.type,
        "created_at": record.envelope.created_at,
        "content": content,
        "provenance": provenance,
        "evidence_ptrs": _ids(record.links, "evidence") + _pop(members, "evidence_uris", []),
    }
    if confidence := _pop(members, "confidence", None):
        shaped["confidence"] = {"method": "stated"} | confidence
    embeddings = _pop(members, "embeddings", {})
    symbolic = [
        {"polarity": True, "source_type": "explicit"} | claim for claim in _pop(members, "symbolic", [])
    ]
    if embeddings or symbolic:
        shaped["embeddings"] = embeddings | ({"symbolic": symbolic} if symbolic else {})
    if affect := _pop(members, "affect", None):
        shaped["affect"] = affect
    return (
        shaped | {"parents": _ids(record.links, "parent")} | _relations(record, members, "parent", "evidence")
    )


def _view(record: Record, members: dict[str, Any]) -> dict[str, Any]:
    delta = dict(_pop(members, "delta_from_raw", {}))
    delta["reweighted"] = [_reweighted(record, entry) for entry in delta.get("reweighted", [])]
    shaped = {
        "lens": _pop(members, "lens", ""),
        "applied_to": _ids(record.links, "applied_to"),
        "delta_from_raw": {"added": None, "removed": None} | delta,
        "affect_delta": _pop(members, "affect_delta", None),
        "provenance_braid": [link.id for link in record.links],
    }
    return shaped | _relations(record, members, "applied_to")


def _stance(record: Record, members: dict[str, Any]) -> dict[str, Any]:
    candidates = [
        {"exp": id, **candidate}
        for id, candidate in _beside(record, "candidate", _pop(members, "candidates", []))
    ]
    decision = _pop(members, "decision", None)
    if decision is not None:
        decision = {
            "claim": decision.get("claim"),
            "support": _ids(record.links, "support"),
            "residual_uncertainty": decision["residual_uncertainty"],
        } | ({"undecided": decision["undecided"]} if decision.get("undecided") else {})
    shaped = {
        "question": _pop(members, "question", ""),
        "candidates": candidates,
        "method": _pop(members, "method", "justified_truth_maintenance+bayes_pool"),
        "decision": decision,
    }
    return shaped | _relations(record, members, "candidate", "support")


def _affect(record: Record, members: dict[str, Any]) -> dict[str, Any]:
    names = [
        "actor",
        "stage",
        "primary_emotion",
        "valence",
        "arousal",
        "dominance",
        "confidence",
        "notes",
        "signals",
    ]
    defaults: dict[str, Any] = {
        "primary_emotion": "neutral",
        "confidence": None,
        "notes": None,
        "signals": {},
    }
    values = {name: _pop(members, name, defaults.get(name)) for name in names}
    return {"experience_id": next(iter(_ids(record.links, "experience")), None)} | values


def _embedding(record: Record, members: dict[str, Any]) -> dict[str, Any]:
    signatures = _pop(members, "signatures", [])
    entries = [
        {
            "experience_id": id,
            "role": entry["role"],
            "embedding_model": entry["model"],
            "vector": f"vec://{entry['role']}/{id}",
            "label": entry.get("label"),
            "hash": entry.get("hash"),
            "salience": entry.get("salience", 1.0),
            "metadata": entry.get("metadata", {}),
        }
        for id, entry in _beside(record, "experience", signatures)
    ]
    return entries[0] if len(entries) == 1 else {"signatures": entries}


def _reweighted(record: Record, entry: dict[str, Any]) -> dict[str, Any]:
    return {"exp": record.links[int(entry["link"])].id, "w_old": entry["w_old"], "w_new": entry["w_new"]}


def _relations(record: Record, members: dict[str, Any], *shown: str) -> dict[str, Any]:
    """Return the links that the schema has no member for, and what changed along each link."""
    shaped: dict[str, Any] = {}
    for link in record.links:
        if link.role not in shown:
            shaped.setdefault(link.role, []).append(link.id)
    diffs = _pop(members, "diffs", [])
    if diffs:
        shaped["diffs"] = [
            {
                "id": record.links[int(diff["link"])].id,
                **{name: diff[name] for name in ("added", "removed") if name in diff},
                "reweighted": [_reweighted(record, entry) for entry in diff.get("reweighted", [])],
            }
            for diff in diffs
        ]
    return shaped


_SHAPES = {
    "experience": _experience,
    "view": _view,
    "stance": _stance,
    "affect": _affect,
    "embedding": _embedding,
}
_SCHEMA_KINDS = frozenset(_SHAPES)
_HOUSEKEEPING = frozenset(("once", "scope"))
