"""Records → rows of the LanceDB projection, all but what a model adds. Pure."""

from typing import Any, Final, cast

import msgspec

from braid.ledger.read.reader import LogEntry
from braid.ledger.record.record import EmbeddingBody, ExperienceBody, Record, is_reading
from braid.ledger.record.scope import SCOPES, ids_of
from braid.views.lance.card import CARD_COLUMNS
from braid.views.lance.schema import EXPERIENCE, HIDDEN, SIGNATURE
from braid.views.projection import HeadFacts
from braid.views.search import PROMPT, RESPONSE, ROLES, Row
from braid.views.values import created, microseconds

_decode_experience: Final = msgspec.json.Decoder(ExperienceBody).decode
_decode_embedding: Final = msgspec.json.Decoder(EmbeddingBody).decode
_SPEAKERS: Final = {"agent": "assistant"}
_MOST: Final = 2**62
_PLACE: Final = ("log_index", "k", "id", "pending")


def rows_of(entry: LogEntry, standing: HeadFacts) -> list[dict[str, Any]]:
    """Return the rows of a record as it stands, by column; a forgotten one keeps its place and nothing else.

    None for an erased record, a body that can't be read, a reading, or a kind that isn't searched.
    """
    record = entry.record
    index = record.envelope.index
    if record.raw is None or index in standing.erased:
        return []
    try:
        match record.envelope.kind:
            case "experience":
                body = _decode_experience(record.raw)
                if is_reading(body):  # it would stand beside its turn, and say the same
                    return []
                rows = [_experience(record, body)]
            case "embedding":
                rows = _signatures(record, _decode_embedding(record.raw), standing)
            case _:
                return []
    except msgspec.MsgspecError:
        return []
    if index in standing.hidden:
        rows = [{name: row[name] for name in _PLACE} | {"kind": HIDDEN} for row in rows]
    return rows


def row_of(record: Record) -> Row | None:
    """Return a record as the room above knows it, None for one that has no row; one that is neither forgotten nor
    erased.
    """
    if record.kind != "experience" or record.raw is None:
        return None
    try:
        body = _decode_experience(record.raw)
    except msgspec.MsgspecError:
        return None
    if is_reading(body):
        return None
    row = _experience(record, body)
    named = {name: row[name] for name in CARD_COLUMNS if name not in ("pending", "vector")}
    return Row(index=record.index, salience=1.0, label=None, pending=False, **named)


def _experience(record: Record, body: ExperienceBody) -> dict[str, Any]:
    envelope, scope, from_ = record.envelope, body.scope, body.provenance
    recorded = created(envelope.created_at)
    happened = recorded if body.occurred_at is None else microseconds(body.occurred_at)
    speaker = from_.actor.partition("(")[0]
    ordinal = body.content.structured.get("ordinal")
    return {
        "log_index": envelope.index,
        "k": 0,
        "id": envelope.id,
        "kind": EXPERIENCE,
        "pending": False,
        "role": PROMPT if speaker == "user" else RESPONSE,
        "text": searched_text(body),
        "speaker": _SPEAKERS.get(speaker, speaker),
        "name": from_.name,
        **dict(zip(SCOPES, ids_of(scope), strict=True)),
        "turn": ordinal if isinstance(ordinal, int) and abs(ordinal) < _MOST else None,
        "happened_us": happened,
    }


def searched_text(body: ExperienceBody) -> str:
    """Return what is searched of an experience: who speaks, what is said, what the images show."""
    said, name = body.content.text, body.provenance.name
    whole = "\n".join([*([said] if said else []), *_captions(body)])
    return f"{name}: {whole}" if whole and name else whole


def _captions(body: ExperienceBody) -> list[str]:
    """Captions of sealed media, and of the images that an import tells of."""
    found = [media.caption for media in body.content.media if media.caption]
    for member in ("media", "media_of_turn"):
        told = body.content.structured.get(member)
        for each in cast("list[object]", told) if isinstance(told, list) else []:
            caption = cast("dict[str, object]", each).get("caption") if isinstance(each, dict) else None
            if isinstance(caption, str) and caption:
                found.append(caption)
    return found


def _signatures(record: Record, body: EmbeddingBody, standing: HeadFacts) -> list[dict[str, Any]]:
    """One row a signature: its salience and label weigh its target, and leave with it."""
    envelope = record.envelope
    return [
        {
            "log_index": envelope.index,
            "k": k,
            "id": envelope.id,
            "kind": SIGNATURE,
            "pending": False,
            "role": said.role if said.role in ROLES else None,
            "model": said.model,
            "target": link.index,
            "salience": said.salience,
            "label": said.label,
        }
        for k, (link, said) in enumerate(zip(record.targets("experience"), body.signatures, strict=False))
        if link.index not in standing.erased
    ]
