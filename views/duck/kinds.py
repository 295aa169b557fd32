"""One maker a kind of record: its rows, in the order of their tables (SPEC §10.3). Pure."""

from base64 import b64encode
from collections.abc import Mapping
from typing import Any, Final

from braid.affect import turn
from braid.ledger.record.envelope import Envelope
from braid.ledger.record.record import (
    Affect,
    AffectBody,
    Body,
    EmbeddingBody,
    EventBody,
    ExperienceBody,
    KeyBody,
    LinkDiff,
    Media,
    Record,
    StanceBody,
    ViewBody,
)
from braid.ledger.record.scope import owner_of
from braid.ledger.record.source import at_first_hand
from braid.stance.mentions import mentions_of
from braid.stance.pool import prior_of
from braid.views.duck.schema import NUMBER
from braid.views.projection import HeadFacts, RowSource
from braid.views.values import Numbered, body_part, created, json_text, microseconds, record_part

_STATED: Final = "stated"
_NO_TONE: Final = (None,) * 7
_TRUSTED: Final = (prior_of("explicit"), "prior")
_EXPERIENCES, _LINKS, _CLAIMS = NUMBER["experiences"], NUMBER["links"], NUMBER["claims"]
_MENTIONS: Final = NUMBER["mentions"]


def _experience(record: Record, body: Body | None, standing: HeadFacts) -> list[Numbered]:
    envelope = record.envelope
    place = (envelope.index, envelope.id)
    head = (*place, envelope.type, *record_part(envelope, standing), *body_part(envelope, body))
    if not isinstance(body, ExperienceBody):
        return [(_EXPERIENCES, (*head, *(None,) * 19))]
    content, from_ = body.content, body.provenance
    source, claims = _source(envelope, body, standing)
    row = (
        *head,
        content.text,
        json_text(content.structured),
        json_text([_media(media) for media in content.media]) if content.media else None,
        from_.actor,
        from_.name,
        from_.method,
        source,
        json_text(from_.sources) if from_.sources else None,
        body.evidence_uris,
        *_sure(envelope, body),
        *_tone(envelope, body),
        json_text(body.embeddings) if body.embeddings else None,
    )
    rows: list[Numbered] = [(_EXPERIENCES, row)]
    for k, claim in enumerate(body.symbolic):
        span = [None if time is None else microseconds(time) for time in (claim.valid_from, claim.valid_to)]
        said = (claim.subject, claim.rel, claim.object, claim.polarity, *span, claim.source_type)
        how = (claim.quote, claim.hedge, claim.said_by, claim.at, claim.type, json_text(claim.details))
        rows.append((_CLAIMS, (*place, k, *said, *how, claims[k])))
    return [*rows, *_mentions(record, body)]


def _source(envelope: Envelope, body: ExperienceBody, standing: HeadFacts) -> RowSource:
    """Return whose words an experience is, and each of its claims: what rests on others is told by the standing."""
    if (told := standing.sources.get(envelope.index)) is not None:
        return told
    key = standing.keys.get(envelope.key)
    own = at_first_hand(key.role if key is not None else "", body)
    return RowSource(own, (own,) * len(body.symbolic))


def _mentions(record: Record, body: ExperienceBody) -> list[Numbered]:
    """Return a row for each name in what an experience claims."""
    place = (record.envelope.index, record.envelope.id)
    turn = next(((link.index, link.id) for link in record.targets("parent")), place)
    owner = owner_of(body.scope)
    return [
        (_MENTIONS, (*place, k, one.k, one.role, one.name, one.key, one.canonical, one.type, owner, *turn))
        for k, one in enumerate(mentions_of(body.symbolic))
    ]


def _sure(envelope: Envelope, body: ExperienceBody) -> tuple[float | None, str | None]:
    """Return the probability of an experience, and who says so: a captured turn of a person has that of their word."""
    if body.confidence is not None:
        return body.confidence.p, body.confidence.method
    captured = envelope.type == "occurrence" and body.provenance.actor == "user" and body.content.text
    return _TRUSTED if captured else (None, None)


def _tone(envelope: Envelope, body: ExperienceBody) -> tuple[Any, ...]:
    """Return the tone of an experience, and who read it: a captured turn has that of its words (SPEC §10.3)."""
    found = turn.felt(envelope.type, body)
    if not isinstance(found, Affect):
        return found or _NO_TONE
    return (found.vad.v, found.vad.a, found.vad.d, found.labels, found.intensity, found.confidence, _STATED)


def _media(media: Media) -> dict[str, Any]:
    """Return what may be shown of a sealed blob: all but its key."""
    return {
        "blob": media.blob,
        "size": media.size,
        "media_type": media.media_type,
        "name": media.name,
        "caption": media.caption,
    }


def link_rows(record: Record, body: Body | None) -> list[Numbered]:
    """Return a row for each link of the record."""
    diffs: Mapping[int, LinkDiff] = {diff.link: diff for diff in body.diffs} if body else {}
    place = (record.envelope.index, record.envelope.id)
    return [
        (_LINKS, (*place, k, link.role, link.index, link.id, json_text(diffs[k]) if k in diffs else None))
        for k, link in enumerate(record.links)
    ]


def _view(record: Record, body: Body | None, standing: HeadFacts) -> list[Numbered]:
    envelope = record.envelope
    head = (envelope.index, envelope.id, *record_part(envelope, standing), *body_part(envelope, body))
    if not isinstance(body, ViewBody):
        return [(NUMBER["views"], (*head, *(None,) * 9))]
    delta, tone, content = body.delta_from_raw, body.affect_delta, body.content
    row = (
        *head,
        body.lens,
        body.version,
        json_text(delta.added),
        json_text(delta.removed),
        json_text(delta.reweighted),
        content.text if content else None,
        json_text(content.structured) if content else None,
        json_text(tone.before) if tone else None,
        json_text(tone.after) if tone else None,
    )
    return [(NUMBER["views"], row)]


def _stance(record: Record, body: Body | None, standing: HeadFacts) -> list[Numbered]:
    envelope = record.envelope
    place = (envelope.index, envelope.id)
    head = (*place, *record_part(envelope, standing), *body_part(envelope, body))
    stance = body if isinstance(body, StanceBody) else None
    decision = stance.decision if stance else None
    row = (
        *head,
        stance.question if stance else None,
        stance.method if stance else None,
        *((decision.claim or None, decision.residual_uncertainty) if decision else (None, None)),
        (decision.undecided or None) if decision else None,
        microseconds(stance.asks.at) if stance and stance.asks and stance.asks.at else None,
        stance.would_change if stance else None,
    )
    rows: list[Numbered] = [(NUMBER["stances"], row)]
    targets, said = record.targets("candidate"), stance.candidates if stance else []
    for k in range(max(len(targets), len(said))):
        whose = (targets[k].index, targets[k].id) if k < len(targets) else (None, None)
        claim = (said[k].claim, said[k].p) if k < len(said) else (None, None)
        rows.append((NUMBER["candidates"], (*place, k, *whose, *claim)))
    for k, one in enumerate(stance.justifications if stance else []):
        needs, unless = ([record.links[link].id for link in of] for of in (one.inn, one.out))
        rows.append((NUMBER["justifications"], (*place, k, one.candidate, one.held, needs, unless, one.why)))
    return rows


def _affect(record: Record, body: Body | None, standing: HeadFacts) -> list[Numbered]:
    envelope = record.envelope
    of = next(((link.index, link.id) for link in record.links if link.role == "experience"), (None, None))
    head = (envelope.index, envelope.id, *record_part(envelope, standing), *body_part(envelope, body), *of)
    if not isinstance(body, AffectBody):
        return [(NUMBER["affect_snapshots"], (*head, *(None,) * 10))]
    row = (
        *head,
        body.actor,
        body.stage,
        body.valence,
        body.arousal,
        body.dominance,
        body.primary_emotion,
        body.intensity,
        body.confidence,
        body.notes,
        json_text(body.signals),
    )
    return [(NUMBER["affect_snapshots"], row)]


def _embedding(record: Record, body: Body | None, standing: HeadFacts) -> list[Numbered]:
    del standing
    envelope = record.envelope
    targets = record.targets("experience")
    said = body.signatures if isinstance(body, EmbeddingBody) else []
    rows: list[Numbered] = []
    for k in range(max(len(targets), len(said))):
        of = (targets[k].index, targets[k].id) if k < len(targets) else (None, None)
        it = said[k] if k < len(said) else None
        signature = (
            (it.role, it.model, it.label, it.salience, it.hash, json_text(it.metadata)) if it else (None,) * 6
        )
        rows.append(
            (
                NUMBER["signatures"],
                (envelope.index, envelope.id, k, created(envelope.created_at), *of, *signature),
            )
        )
    return rows


def _event(record: Record, body: Body | None, standing: HeadFacts) -> list[Numbered]:
    envelope = record.envelope
    head = (envelope.index, envelope.id, *record_part(envelope, standing), *body_part(envelope, body))
    event = body if isinstance(body, EventBody) else None
    name = (event.name if event else "") or envelope.public.get("name")
    data = json_text(event.data) if event else None
    op = envelope.public.get("op")
    row = (
        *head,
        op if isinstance(op, str) else None,
        name if isinstance(name, str) else None,
        data,
        json_text(envelope.public),
    )
    return [(NUMBER["events"], row)]


def _tombstone(record: Record, body: Body | None, standing: HeadFacts) -> list[Numbered]:
    del standing
    envelope = record.envelope
    public = envelope.public
    op, epoch = public.get("op"), public.get("epoch")
    place = (envelope.index, envelope.id)
    by = (created(envelope.created_at), envelope.key, op if isinstance(op, str) else None)
    why = (epoch if isinstance(epoch, int) else None, body.reason if body else None)
    named = [(link.role, link.index, link.id) for link in record.links if link.role in ("target", "kept")]
    return [
        (NUMBER["tombstones"], (*place, k, *by, *target, *why))
        for k, target in enumerate(named or [(None, None, None)])
    ]


def transaction_row(envelope: Envelope) -> Numbered:
    """Return the row of the transaction that this record begins."""
    tx, _, count = envelope.tx
    index, at = envelope.index, created(envelope.created_at)
    return NUMBER["transactions"], (index, envelope.id, tx, f"wal_{tx:06d}", index, count, at)


def _key(record: Record, body: Body | None, standing: HeadFacts) -> list[Numbered]:
    """Rows of the keys that this record admitted; genesis admits the root keys. A revocation has none of its own."""
    envelope = record.envelope
    actor = body.actor if isinstance(body, KeyBody) else None
    admitted = [(id, key) for id, key in standing.keys.items() if key.admitted == envelope.index]
    return [
        (
            NUMBER["keys"],
            (
                envelope.index,
                envelope.id,
                k,
                id,
                key.role,
                actor,
                b64encode(key.public).decode(),
                created(envelope.created_at),
                key.revoked,
                key.compromised_since,
            ),
        )
        for k, (id, key) in enumerate(sorted(admitted))
    ]


MAKERS: Final = {
    "experience": _experience,
    "view": _view,
    "stance": _stance,
    "affect": _affect,
    "embedding": _embedding,
    "event": _event,
    "tombstone": _tombstone,
    "key": _key,
    "genesis": _key,
}
"""Kind → its maker; a kind without one is unknown to this release."""
