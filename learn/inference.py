"""From a record to what is read of it: turns, settled readings, the drafts of inference records, and these made again.

What is read of a turn is a function of the record and of the few others whose words were needed (its `evidence` links):
they are read first, in the order of the log, so that the same links give the same claims again (SPEC §19).
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from typing import Final, NamedTuple, cast

import msgspec

from braid.learn.source import MAX_TEXT
from braid.learn.turn import KnownClaims, Turn, TurnReader, TurnReading
from braid.ledger.errors import NotRederivableError
from braid.ledger.record.record import (
    READING,
    Claim,
    Content,
    Draft,
    ExperienceBody,
    LinkDiff,
    Provenance,
    Record,
    Reweighted,
)
from braid.stance.readings import certainty

_READ_TYPES: Final = ("occurrence", "observation")
_ROUNDS: Final = 8
MAX_EVIDENCE: Final = MAX_TEXT
"""So many characters of other turns are read again to settle one: the newest that it needs, older ones are left out."""

Turns = Callable[[int], Turn]


class Settled(NamedTuple):
    """What a turn states, and the records without which it wouldn't."""

    claims: tuple[Claim, ...]
    evidence: tuple[int, ...]


def method_of(reader: TurnReader) -> str:
    """Return the method under which a reader's records stand: `read:plain@1`."""
    return f"{READING}{reader.name}@{reader.version}"


def once_key(reader: TurnReader, parent: Record) -> str:
    """Return the key under which what a reader has read of a record is recorded once."""
    return f"{method_of(reader)}:{parent.id}"


def turn_of(record: Record) -> Turn | None:
    """Return a record as a turn; None for what is kept raw, and what nobody said: other kinds, and what is derived."""
    if record.kind != "experience" or record.type not in _READ_TYPES or record.raw is None:
        return None
    body = cast("ExperienceBody", record.body)
    source = body.provenance
    if not body.content.text or body.raw:
        return None
    role = {"user": "user", "agent": "assistant", "system": "system"}.get(source.actor, "tool")
    return Turn(
        text=body.content.text,
        speaker=source.name or "user",
        role=role,
        when=body.occurred_at or record.created_at,
        at=record.index,
    )


def settled(reader: TurnReader, turn: Turn, reading: TurnReading, turns: Turns) -> Settled:
    """Return what a turn states with nothing known but what the records that it needs give: these are its evidence.

    `reading` is the one with everything known. Reading anew from ever fewer records ends: a round drops some or none.
    """
    used = _newest(reading.used, turns)
    for _ in range(_ROUNDS):
        again = with_evidence(reader, turn, (turns(at) for at in sorted(used)))
        if again.used == used:
            return Settled(again.claims, tuple(sorted(used)))
        used = again.used & used
    return Settled(with_evidence(reader, turn, ()).claims, ())


def _newest(used: Iterable[int], turns: Turns) -> frozenset[int]:
    """Return those of these turns, newest first, that have `MAX_EVIDENCE` characters together."""
    lengths = accumulate(len(turns(at).text) for at in sorted(used, reverse=True))
    newest = zip(sorted(used, reverse=True), lengths, strict=True)
    return frozenset(at for at, length in newest if length <= MAX_EVIDENCE)


def with_evidence(reader: TurnReader, turn: Turn, evidence: Iterable[Turn]) -> TurnReading:
    """Read a turn with nothing known but what these turns, oldest first, make known."""
    known = KnownClaims()
    before: list[Turn] = []
    for earlier in evidence:
        known.add(reader.read(earlier, known).notes)
        before.append(earlier)
    if before and reader.looks_back:
        turn = msgspec.structs.replace(turn, previous=tuple(before))
    return reader.read(turn, known)


def inference(reader: TurnReader, parent: Record, claims: Iterable[Claim], evidence: Iterable[str]) -> Draft:
    """Return the draft of the one record that holds what was read of `parent`; `evidence` are ids."""
    body = cast("ExperienceBody", parent.body)
    found = list(claims)
    text, sure = "; ".join(map(in_words, found)), min(map(certainty, found), key=lambda one: one.p)
    return Draft(
        kind="experience",
        type="inference",
        body=ExperienceBody(
            content=Content(text=text),
            provenance=Provenance(actor="agent", method=method_of(reader)),
            confidence=sure,
            symbolic=found,
            scope=body.scope,
            occurred_at=body.occurred_at or parent.created_at,  # it was said then, whenever it is read
            diffs=[_diff(body, found, text, sure.p)],
            once=once_key(reader, parent),
        ),
        links=[("parent", parent.id), *(("evidence", id) for id in evidence)],
    )


def _diff(parent: ExperienceBody, claims: Iterable[Claim], text: str, p: float) -> LinkDiff:
    """Return what changes on the way up from a turn, along the record's first link: what is stated, which characters
    (first-end) no claim quotes, and how sure it is. It may say what the turn says: it goes with the turn.
    """
    before = parent.confidence.p if parent.confidence is not None else 1.0
    return LinkDiff(
        link=0,
        added=text,
        removed=", ".join(f"{first}-{end}" for first, end in _unquoted(parent.content.text, claims)) or None,
        reweighted=[Reweighted(link=0, w_old=before, w_new=p)],
    )


def _unquoted(text: str, claims: Iterable[Claim]) -> Iterator[tuple[int, int]]:
    """Yield the stretches of a text that no claim quotes, those of spaces alone left out."""
    quotes = {claim.quote for claim in claims if claim.quote}
    spans = sorted((at, at + len(quote)) for quote in quotes if (at := text.find(quote)) >= 0)
    end = 0
    for first, after in [*spans, (len(text), len(text))]:
        if text[end:first].strip():
            yield end, first
        end = max(end, after)


def in_words(claim: Claim) -> str:
    """Return a claim in short words: `Jonas lives_in Leeds`, `Mireille not allergic_to shellfish`."""
    return f"{claim.subject} {'' if claim.polarity else 'not '}{claim.rel} {claim.object}"


def rederive(record: Record, read: Callable[[int], Record], readers: Iterable[TurnReader]) -> Draft:
    """Return the draft that the records which `record` names give by one of these readers, to be compared with it.

    `read` gives verified records, and raises what reading them raises. Raises NotRederivableError for a reader that
    isn't here.
    """
    method = cast("ExperienceBody", record.body).provenance.method
    reader = next((one for one in readers if method_of(one) == method), None)
    if reader is None:
        raise NotRederivableError(f"no reader {method.removeprefix(READING)} here")
    parent = read(record.targets("parent")[0].index)
    evidence = record.targets("evidence")
    turns = [turn for link in evidence if (turn := turn_of(read(link.index))) is not None]
    turn = turn_of(parent)
    if turn is None:
        raise ValueError(f"{parent.id} is nothing that is read")
    claims = with_evidence(reader, turn, turns).claims
    draft = inference(reader, parent, claims, [link.id for link in evidence])
    if record.body.diffs:
        return draft
    # Its text says the same: a record from before links carried diffs lacks nothing that could be held against it.
    return msgspec.structs.replace(draft, body=msgspec.structs.replace(draft.body, diffs=[]))
