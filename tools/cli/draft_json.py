"""Records written as JSON in the schema's shape, back into drafts: the inverse of `ledger.record.shape` (SPEC
§4.7). Pure.

Members that only the log can give (`id`, `created_at`, `sign`, `key_id`, `index`) are left out when a record is
written again. Links of roles that the schema has no member for stand under the role's own name. A member that is
unknown is refused; what is the writer's own goes under `metadata`: an experience's joins its structured content.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import msgspec

from braid.ledger.record.envelope import LINK_ROLES
from braid.ledger.record.record import BODY_TYPES, Body, Draft, with_article
from braid.ledger.record.scope import SCOPES
from braid.log import drafts
from braid.log import members as names

_GIVEN_BY_THE_LOG = frozenset(
    ("id", "created_at", "sign", "key_id", "index", "provenance_braid", "kind", "public")
)
_WRITABLE = ("experience", "view", "stance", "affect", "embedding", "event")
_ONE_A_LINE = (
    "not one JSON object, or a list of them: put records that stand one a line into a list (jq -s .); "
    "chat messages, one a line, go in by `braid ingest`"
)
_Members = dict[str, Any]
_Links = list[tuple[str, str]]


def drafts_from(data: bytes) -> list[Draft]:
    """Return the drafts that a JSON object, or a list of them, describes; ValueError says what is wrong."""
    several = data.lstrip().startswith(b"[")
    try:
        items = (
            msgspec.json.decode(data, type=list[Any]) if several else [msgspec.json.decode(data, type=Any)]
        )
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        if data.lstrip().startswith(b"{") and "trailing characters" in str(error):
            raise ValueError(f"{_ONE_A_LINE} ({error})") from None
        raise ValueError(f"not JSON: {error}") from None
    if not items:
        raise ValueError("the list is empty: nothing to append")
    return [_draft(item, place) for place, item in enumerate(items)]


def _draft(item: Any, place: int) -> Draft:
    if not isinstance(item, dict):
        raise ValueError(f"record {place + 1} is not a JSON object")
    members = dict(cast("_Members", item))
    kind = _kind_of(members)
    if wrong := names.refusal(members, _known(kind), places=_PLACES, meant=_MEANT):
        raise ValueError(f"record {place + 1}: {wrong}")
    links: _Links = []
    for member in [name for name in members if name in LINK_ROLES and isinstance(members[name], list)]:
        links += [(member, str(target)) for target in members.pop(member)]
    type_ = str(members.pop("type", "occurrence")) if kind == "experience" else ""
    if convert := _CONVERT.get(kind):
        convert(members, links)
    if diffs := _several(members, "diffs"):
        members["diffs"] = [_diff(_object(entry, "diffs"), _numbers(links)) for entry in diffs]
    body, extra = _body(
        kind, {name: v for name, v in members.items() if name not in _GIVEN_BY_THE_LOG}, place
    )
    if body.scope is not None:
        drafts.checked_scope(body.scope)
    if body.once is not None:
        drafts.checked_key(body.once)
    return drafts.telling(Draft(kind=kind, type=type_, body=body, links=links, extra=extra))


def _several(members: _Members, name: str) -> Sequence[Any]:
    """Take a list out of the members; there may be none."""
    value = members.pop(name, None)
    if value is None:
        return []
    if not isinstance(value, list):
        raise ValueError(f"{name}: a list is wanted, not {value!r}")
    return cast("Sequence[Any]", value)


def _object(value: Any, name: str) -> _Members:
    """Return a copy of an object; an empty one for null."""
    if value is not None and not isinstance(value, dict):
        raise ValueError(f"{name}: an object is wanted, not {value!r}")
    return dict(cast("_Members", value or {}))


def _numbers(links: _Links) -> dict[str, int]:
    return {target: number for number, (_, target) in enumerate(links)}


def _kind_of(members: _Members) -> str:
    kind = members.get("kind") or next(
        (kind for mark, kind in _MARKS.items() if mark in members), "experience"
    )
    if kind not in _WRITABLE:
        raise ValueError(f"a record of kind {kind!r} can't be appended; known: {', '.join(_WRITABLE)}")
    return str(kind)


def _body(kind: str, members: _Members, place: int) -> tuple[Body, _Members]:
    known = {field.encode_name for field in msgspec.structs.fields(BODY_TYPES[kind])}
    extra = {name: value for name, value in members.items() if name not in known}
    given = {name: v for name, v in members.items() if name in known and v is not None}
    try:
        body = msgspec.convert(given, BODY_TYPES[kind])
    except msgspec.ValidationError as error:
        raise ValueError(f"record {place + 1} is not the body of {with_article(kind)}: {error}") from None
    if lost := next(_unknown(given, body), None):
        raise ValueError(f"record {place + 1}: {lost}")
    return body, extra


def _unknown(given: Any, kept: Any, path: str = "") -> Iterator[str]:
    """Yield why members within `given` are refused: their struct has no field for them, and `convert` passes over."""
    if isinstance(kept, msgspec.Struct) and isinstance(given, dict):
        fields = {field.encode_name: field.name for field in msgspec.structs.fields(kept)}
        for name, value in cast("_Members", given).items():
            if wrong := names.refusal([name], fields, meant={}):
                yield f"{path.removesuffix('.')}: {wrong}"
            else:
                yield from _unknown(value, getattr(kept, fields[name]), f"{path}{name}.")
    elif isinstance(kept, list):
        for place, one in enumerate(cast("Sequence[Any]", kept)):
            yield from _unknown(given[place], one, f"{path.removesuffix('.')}[{place}].")


def _known(kind: str) -> frozenset[str]:
    """Return the names of members that a record of this kind may have in the schema's shape."""
    body = {field.encode_name for field in msgspec.structs.fields(BODY_TYPES[kind])}
    return frozenset(body - _INNER | _GIVEN_BY_THE_LOG | LINK_ROLES | _KEPT | set(_OF_SHAPE.get(kind, ())))


def _experience(members: _Members, links: _Links) -> None:
    links += [("parent", str(target)) for target in _several(members, "parents")]
    pointers = [str(pointer) for pointer in _several(members, "evidence_ptrs")]
    links += [("evidence", pointer) for pointer in pointers if drafts.is_id(pointer)]
    members["evidence_uris"] = [pointer for pointer in pointers if not drafts.is_id(pointer)]
    embeddings = _object(members.pop("embeddings", None), "embeddings")
    members["symbolic"] = embeddings.pop("symbolic", [])
    members["embeddings"] = embeddings
    if own := _object(members.pop(names.METADATA, None), names.METADATA):
        content = _object(members.get("content"), "content")
        structured = own | _object(content.get("structured"), "structured")
        members["content"] = content | {"structured": structured}


def _view(members: _Members, links: _Links) -> None:
    links += [("applied_to", str(target)) for target in _several(members, "applied_to")]
    delta = _object(members.pop("delta_from_raw", None), "delta_from_raw")
    delta["reweighted"] = _reweighted(delta, _numbers(links))
    members["delta_from_raw"] = delta


def _diff(entry: _Members, at: dict[str, int]) -> _Members:
    """Return a diff under its link's number; in the schema's shape it names the record."""
    if "id" not in entry:
        return entry
    return entry | {"link": _link(entry.pop("id"), "diff", at), "reweighted": _reweighted(entry, at)}


def _reweighted(members: _Members, at: dict[str, int]) -> list[_Members]:
    entries = [_object(entry, "reweighted") for entry in _several(members, "reweighted")]
    return [entry | {"link": _link(entry.pop("exp", None), "weight", at)} for entry in entries]


def _link(target: Any, what: str, at: dict[str, int]) -> int:
    if str(target) not in at:
        raise ValueError(f"a {what} names {target!r}, to which the record has no link")
    return at[str(target)]


def _stance(members: _Members, links: _Links) -> None:
    candidates = [_object(candidate, "candidates") for candidate in _several(members, "candidates")]
    links += [("candidate", str(candidate.pop("exp", ""))) for candidate in candidates]
    members["candidates"] = candidates
    decision = _object(members.pop("decision", None), "decision")
    links += [("support", str(target)) for target in _several(decision, "support")]
    if decision:
        members["decision"] = decision


def _affect(members: _Members, links: _Links) -> None:
    links.append(("experience", str(members.pop("experience_id", ""))))


def _embedding(members: _Members, links: _Links) -> None:
    if "signatures" in members:
        entries = [_object(entry, "signatures") for entry in _several(members, "signatures")]
    else:
        entries = [{name: members.pop(name) for name in _SIGNATURE if name in members}]
    signatures: list[_Members] = []
    for entry in entries:
        links.append(("experience", str(entry.pop("experience_id", ""))))
        entry.pop("vector", None)
        entry["model"] = entry.pop("embedding_model", entry.get("model"))
        signatures.append({name: value for name, value in entry.items() if value is not None})
    members["signatures"] = signatures


_SIGNATURE = ("experience_id", "role", "embedding_model", "vector", "label", "hash", "salience", "metadata")
_INNER = frozenset(("evidence_uris", "symbolic"))
"""Fields of bodies that the schema writes elsewhere."""
_KEPT = frozenset((names.METADATA, "imported", "scope_chain"))
"""Members beside the body's fields: the writer's own, and what an import and the log's writer put there."""
_OF_SHAPE = {
    "experience": ("type", "parents", "evidence_ptrs"),
    "affect": ("experience_id",),
    "embedding": _SIGNATURE,
}
_PLACES = {
    **{name: f'belongs into the scope: {{"scope": {{"{name}": …}}}}' for name in SCOPES},
    **{
        name: f'belongs into the content: {{"content": {{"{name}": …}}}}'
        for name in ("text", "media", "structured")
    },
    **{
        name: f'belongs into the provenance: {{"provenance": {{"{name}": …}}}}'
        for name in ("sources", "method")
    },
    "symbolic": 'belongs into the embeddings: {"embeddings": {"symbolic": […]}}',
    "evidence_uris": 'is called "evidence_ptrs" here',
    "role": "is of a chat message: `braid ingest` takes these, one a line",
    "session": 'belongs into the scope: {"scope": {"session_id": …}}',
}
_MEANT = {
    "timestamp": "occurred_at", "time": "occurred_at", "date": "occurred_at", "claims": "embeddings",
    "idempotency_key": "once", "key": "once", "parent_id": "parents",
}  # fmt: skip
_MARKS = {
    "lens": "view",
    "question": "stance",
    "embedding_model": "embedding",
    "signatures": "embedding",
    "experience_id": "affect",
}
_CONVERT: dict[str, Callable[[_Members, _Links], None]] = {
    "experience": _experience,
    "view": _view,
    "stance": _stance,
    "affect": _affect,
    "embedding": _embedding,
}
