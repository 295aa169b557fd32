"""The record of what an extractor found in one record: a reading above it (SPEC §19), with what made it. Pure.

What a model said is in the log so: a replay needs no model, and an audit sees that it can't be made again.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from braid.learn.candidate import Maker
from braid.learn.gates.outcome import Sensitivity, suffix_of
from braid.learn.turn import TurnReader
from braid.ledger.record.record import (
    READING,
    Claim,
    Confidence,
    Content,
    Draft,
    EventBody,
    ExperienceBody,
    LinkDiff,
    Provenance,
    Record,
    Reweighted,
)

BY_MODEL: Final = "model"
"""The method of a confidence that a model's own figure took part in."""


def in_words(claim: Claim) -> str:
    """Return a claim in short words: `Jonas lives_in Leeds`, `Mireille not allergic_to shellfish`."""
    return f"{claim.subject} {'' if claim.polarity else 'not '}{claim.rel} {claim.object}"


def method_of(maker: Maker | TurnReader) -> str:
    """Return the method under which what a maker found stands: `read:model@1`."""
    return f"{READING}{maker.name}@{maker.version}"


def made_of(maker: Maker, kinds: Sensitivity) -> Maker:
    """Return what stands as the maker of claims of health or money: of these alone, so that they can be retired."""
    return msgspec.structs.replace(maker, version=f"{maker.version}{suffix_of(kinds)}")


def once_key(maker: Maker, parent: str) -> str:
    """Return the key under which what a maker finds in a record, by its id, is recorded once."""
    return f"{method_of(maker)}:{parent}"


def reading(
    maker: Maker,
    parent: Record,
    claims: Sequence[Claim],
    confidence: Confidence | None,
    *,
    evidence: Iterable[str] = (),
    notes: Mapping[str, Any] | None = None,
    quoted: Iterable[tuple[int, int]] | None = None,
) -> Draft:
    """Return the draft of the one record that holds what was found in `parent`; `evidence` are ids.

    `quoted`: from where to where claims quote it, where they don't say so themselves. `notes`: what else is known of
    the finding: what was staged, what was warned of. They go with their record.
    """
    body = parent.body
    text = "; ".join(map(in_words, claims))
    members: dict[str, Any] = {"model": maker.model} if maker.model else {}
    return Draft(
        kind="experience",
        type="inference",
        body=ExperienceBody(
            content=Content(text=text, structured=members | dict(notes or {})),
            provenance=Provenance(actor="agent", method=method_of(maker)),
            confidence=confidence,
            symbolic=list(claims),
            scope=body.scope,
            occurred_at=body.occurred_at or parent.created_at,  # it was said then, whenever it is read
            diffs=_diffs(parent, _quoted(claims) if quoted is None else quoted, text, confidence),
            once=once_key(maker, parent.id),
        ),
        links=[("parent", parent.id), *(("evidence", id) for id in evidence)],
    )


def _diffs(
    parent: Record, quoted: Iterable[tuple[int, int]], text: str, confidence: Confidence | None
) -> list[LinkDiff]:
    """Return what changes on the way up (SPEC §4.6): what is stated, what no claim quotes, how sure it is. It may say
    what the parent says: it goes with it."""
    if confidence is None:
        return []
    body = parent.body
    before, left = 1.0, None
    if isinstance(body, ExperienceBody):
        before = body.confidence.p if body.confidence is not None else 1.0
        left = ", ".join(_unquoted(body.content.text, quoted)) or None
    weights = [Reweighted(link=0, w_old=before, w_new=confidence.p)]
    return [LinkDiff(link=0, added=text, removed=left, reweighted=weights)]


def _quoted(claims: Iterable[Claim]) -> list[tuple[int, int]]:
    return [
        (claim.at, claim.at + len(claim.quote)) for claim in claims if claim.quote and claim.at is not None
    ]


def _unquoted(text: str, quoted: Iterable[tuple[int, int]]) -> list[str]:
    """Return the stretches of a text that no claim quotes, those of spaces alone left out: `first-end` of each."""
    found: list[str] = []
    end = 0
    for first, after in [*sorted(quoted), (len(text), len(text))]:
        if text[end:first].strip():
            found.append(f"{end}-{first}")
        end = max(end, after)
    return found


def misquoted(record: Record, parent: Record) -> str | None:
    """Return how a reading's quotes differ from the words of its parent, None where each stands where it says."""
    text = "" if isinstance(parent.body, EventBody) else parent.text
    body = record.body
    for claim in body.symbolic if isinstance(body, ExperienceBody) else ():
        if claim.quote is None or claim.at is None:
            continue
        if claim.at < 0 or text[claim.at : claim.at + len(claim.quote)] != claim.quote:
            return f"the quote of {in_words(claim)!r} doesn't stand at character {claim.at} of {parent.id}"
    return None
