"""Refusals of bad input, each with the member's name and what would be right (SPEC §4.6). Pure."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from math import isfinite
from typing import Any, cast

import msgspec

from braid.ledger.errors import InvalidRecordError, UnknownRecordError
from braid.ledger.record.envelope import LINK_ROLES, MAX_LINKS
from braid.ledger.record.lattice import RANK
from braid.ledger.record.record import (
    KINDS,
    Affect,
    AffectBody,
    Body,
    Claim,
    Draft,
    EmbeddingBody,
    EventBody,
    ExperienceBody,
    Reweighted,
    StanceBody,
    Vad,
    ViewBody,
)

_SCALARS = (str, bool, int, type(None))
_MAX_DEPTH = 64


def check_draft(draft: Draft, now: datetime) -> None:
    """Raise InvalidRecordError for a draft that must not enter the log. `now` bounds what can have occurred."""
    if draft.kind not in KINDS:
        raise InvalidRecordError(f"unknown kind {draft.kind!r}; known: {', '.join(KINDS)}")
    if draft.kind == "experience":
        if draft.type not in RANK:
            raise InvalidRecordError(f"unknown type {draft.type!r}; known: {', '.join(RANK)}")
    elif draft.type:
        raise InvalidRecordError(f"a {draft.kind} has no type")
    if draft.links:
        _check_links(draft)
    if draft.extra:
        known = {field.encode_name for field in msgspec.structs.fields(draft.body)}
        if clash := known & set(draft.extra):
            raise InvalidRecordError(f"extra members {sorted(clash)} have a field of their own")
        check_json(draft.extra, "extra")
    if draft.public:
        check_json(draft.public, "public")
    check_body(draft.body, len(draft.links), now)


def _check_links(draft: Draft) -> None:
    if len(draft.links) > MAX_LINKS:
        raise InvalidRecordError(f"{len(draft.links)} links; a record holds up to {MAX_LINKS}")
    for role, _ in draft.links:
        if role not in LINK_ROLES:
            raise InvalidRecordError(f"unknown link role {role!r}; known: {', '.join(sorted(LINK_ROLES))}")


def earlier_place(target: object, place: int) -> int:
    """Return where in its transaction a link's target stands; UnknownRecordError unless that is before `place`."""
    at = getattr(target, "place", -1)
    if not 0 <= at < place:
        raise UnknownRecordError("a link names a record that does not stand earlier in the transaction")
    return at


def check_body(body: Body, links: int, now: datetime) -> None:
    """Raise InvalidRecordError for a member out of its range; `links` is how many links the record has."""
    if body.occurred_at is not None:
        _check_time(body.occurred_at, "occurred_at", now)
    for diff in body.diffs:
        _check_link_number(diff.link, links)
        _check_weights(diff.reweighted, links)
    if isinstance(body, ExperienceBody):
        _check_experience(body)
    elif isinstance(body, AffectBody):
        _check_vad(Vad(v=body.valence, a=body.arousal, d=body.dominance))
        check_probability(body.intensity, "intensity")
        check_probability(body.confidence, "confidence")
        check_json(body.signals, "signals")
    elif isinstance(body, StanceBody):
        _check_stance(body, links)
    elif isinstance(body, ViewBody):
        _check_view(body, links)
    elif isinstance(body, EmbeddingBody):
        for signature in body.signatures:
            check_probability(signature.salience, "salience")
            check_json(signature.metadata, "metadata")
    elif isinstance(body, EventBody):
        check_json(body.data, "data")


def _check_experience(body: ExperienceBody) -> None:
    if body.confidence is not None:
        check_probability(body.confidence.p, "confidence.p")
    if body.affect is not None:
        _check_affect(body.affect)
    if body.content.structured:
        check_json(body.content.structured, "content.structured")
    for claim in body.symbolic:
        _check_claim(claim)
    actor = body.provenance.actor
    if actor not in ("user", "agent", "system") and not (actor.startswith("tool(") and actor.endswith(")")):
        raise InvalidRecordError(f"provenance.actor is {actor!r}; it is user, agent, system or tool(name)")


def _check_stance(body: StanceBody, links: int) -> None:
    for candidate in body.candidates:
        check_probability(candidate.p, "candidates.p")
    if body.decision:
        check_probability(body.decision.residual_uncertainty, "decision.residual_uncertainty")
    for justification in body.justifications:
        if not 0 <= justification.candidate < len(body.candidates):
            raise InvalidRecordError(
                f"a justification names candidate {justification.candidate}; the stance has {len(body.candidates)}"
            )
        for link in (*justification.inn, *justification.out):
            if not 0 <= link < links:
                raise InvalidRecordError(f"a justification names link {link}; the record has {links}")
    if body.asks and body.asks.at:
        _check_aware(body.asks.at, "asks.at")


def _check_view(body: ViewBody, links: int) -> None:
    delta = body.delta_from_raw
    check_json([delta.added, delta.removed], "delta_from_raw")
    _check_weights(delta.reweighted, links)
    if body.affect_delta:
        _check_vad(body.affect_delta.before)
        _check_vad(body.affect_delta.after)
    if body.content:
        check_json(body.content.structured, "content.structured")


def _check_affect(affect: Affect) -> None:
    _check_vad(affect.vad)
    check_probability(affect.intensity, "affect.intensity")
    check_probability(affect.confidence, "affect.confidence")


def _check_vad(vad: Vad) -> None:
    for name, value, low in (("valence", vad.v, -1), ("arousal", vad.a, 0), ("dominance", vad.d, -1)):
        if not low <= value <= 1:  # NaN fails both comparisons
            raise InvalidRecordError(f"{name} is {value}; it lies in [{low}, 1]")


def check_probability(value: float | None, name: str) -> None:
    """Raise InvalidRecordError unless `value` is None or in [0, 1]."""
    if value is not None and not 0 <= value <= 1:
        raise InvalidRecordError(f"{name} is {value}; it lies in [0, 1]")


def _check_weights(weights: list[Reweighted], links: int) -> None:
    for weight in weights:
        _check_link_number(weight.link, links)
        if not (isfinite(weight.w_old) and isfinite(weight.w_new)):
            raise InvalidRecordError("a weight is not finite")


def _check_link_number(link: int, links: int) -> None:
    if not 0 <= link < links:
        raise InvalidRecordError(f"a diff names link {link}; the record has {links}")


def _check_claim(claim: Claim) -> None:
    for name, time in (("valid_from", claim.valid_from), ("valid_to", claim.valid_to)):
        if time is not None:
            _check_aware(time, name)
    if claim.valid_from and claim.valid_to and claim.valid_to < claim.valid_from:
        raise InvalidRecordError("a claim's valid_to lies before its valid_from")


def _check_aware(time: datetime, name: str) -> None:
    if time.tzinfo is None or time.utcoffset() is None:
        raise InvalidRecordError(
            f"{name} {time.isoformat()} has no time zone; say which (for example +00:00)"
        )
    if time.year in (1, 9999):
        raise InvalidRecordError(f"{name} {time.isoformat()} is out of range")


def _check_time(time: datetime, name: str, now: datetime) -> None:
    _check_aware(time, name)
    if time > now + timedelta(days=1):
        raise InvalidRecordError(f"{name} {time.isoformat()} lies in the future")


def check_json(value: Any, name: str, depth: int = 0) -> None:
    """Raise InvalidRecordError for what is no free-form JSON: NaN (it would be stored as null), unbounded nesting,
    other types than JSON's own.
    """
    if depth > _MAX_DEPTH:
        raise InvalidRecordError(f"{name} is nested deeper than {_MAX_DEPTH}")
    if isinstance(value, float):
        if not isfinite(value):
            raise InvalidRecordError(f"{name} holds {value}; numbers are finite")
    elif isinstance(value, dict):
        for key, member in cast("dict[object, Any]", value).items():
            if not isinstance(key, str):
                raise InvalidRecordError(f"{name} has the member {key!r}; names are text")
            check_json(member, name, depth + 1)
    elif isinstance(value, (list, tuple)):
        for member in cast("Sequence[Any]", value):
            check_json(member, name, depth + 1)
    elif not isinstance(value, _SCALARS):
        raise InvalidRecordError(f"{name} holds a {type(value).__name__}; only JSON values can be kept")
