"""From a record to what is read of it: turns, settled readings, the drafts of inference records, and these made again.

What is read of a turn is a function of the record and of the few others whose words were needed (its `evidence` links):
they are read first, in the order of the log, so that the same links give the same claims again (SPEC §19).
"""

from collections.abc import Callable, Iterable
from itertools import accumulate
from typing import Final, NamedTuple, cast

import msgspec

from braid.learn.candidate import Maker
from braid.learn.reading import method_of, reading
from braid.learn.source import MAX_TEXT
from braid.learn.turn import KnownClaims, Turn, TurnReader, TurnReading
from braid.ledger.errors import NotRederivableError
from braid.ledger.record.record import READING, Claim, Draft, ExperienceBody, Record
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


def settled(reader: TurnReader, turn: Turn, first: TurnReading, turns: Turns) -> Settled:
    """Return what a turn states with nothing known but what the records that it needs give: these are its evidence.

    `first` is the one with everything known. Reading anew from ever fewer records ends: a round drops some or none.
    """
    used = _newest(first.used, turns)
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
    found = list(claims)
    text = cast("ExperienceBody", parent.body).content.text
    quotes = {claim.quote for claim in found if claim.quote}
    # Where each quote stands first: so it is written in every log, and an audit makes the same again.
    quoted = [(at, at + len(quote)) for quote in quotes if (at := text.find(quote)) >= 0]
    sure = min(map(certainty, found), key=lambda one: one.p)
    maker = Maker(reader.name, reader.version)
    return reading(maker, parent, found, sure, evidence=evidence, quoted=quoted)


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
