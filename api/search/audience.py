"""Before whom something is said: what a group, or somebody else's program, is given, and what is flagged in it.

A record is as private as the most private of its claims (docs/learning.md). One of which no claim says how private it
is counts as somebody's life, L2; one that identifies a person, by its shape, as L3.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from braid.learn.gates.outcome import Level
from braid.ledger.errors import ErasedError, ForgottenError
from braid.ledger.record.record import ExperienceBody, Record, is_reading
from braid.search.operations import Flag
from braid.search.question import Audience
from braid.session import Session
from braid.text.personal import IDENTIFYING, personal

HIGHEST: Final[dict[Audience, Level]] = {"owner": "L4", "group": "L1", "third_party": "L0"}
"""The highest level that each is given."""
UNKNOWN: Final[Level] = "L2"
_NAMED: Final = 200
"""How many of the names in a memory's newest hits are looked for in what goes out."""


def level_of(session: Session, record: Record) -> Level:
    """Return how private a record is, by its claims, what was read of it, and its shape."""
    levels: list[Level] = [level for one in (record, *_readings(session, record)) for level in _claimed(one)]
    if any(one.kind in IDENTIFYING for one in personal(record.text)):
        levels.append("L3")
    for level in reversed(_LEVELS.values()):
        if level in levels:
            return level
    return UNKNOWN


def may_hear(session: Session, record: Record, audience: Audience) -> bool:
    """Whether a record may be given to an audience."""
    return audience == "owner" or level_of(session, record) <= HIGHEST[audience]


def flags_in(session: Session, records: Iterable[Record], audience: Audience) -> list[Flag]:
    """Return what is personal in records that go out, none for the owner: it belongs there."""
    if audience == "owner":
        return []
    held = list(records)
    names = list(dict.fromkeys(name for one in held for name in _names(session, one)))[:_NAMED]
    return [
        Flag(kind=one.kind, text=record.text[one.start : one.end], id=record.id)
        for record in held
        for one in personal(record.text, names)
    ]


def _readings(session: Session, record: Record) -> Iterator[Record]:
    """Yield what was read of a record."""
    for at, role in session.reader.backlinks.of(record.index):
        if role != "parent":
            continue
        try:
            child = session.reader.at(at)
        except (ErasedError, ForgottenError):
            continue
        if child.kind == "experience" and is_reading(child.body):
            yield child


def _claimed(record: Record) -> Iterator[Level]:
    body = record.body
    for claim in body.symbolic if isinstance(body, ExperienceBody) else ():
        said = claim.details.get("privacy", UNKNOWN)
        yield _LEVELS.get(said, "L4")


_LEVELS: Final[dict[str, Level]] = {"L0": "L0", "L1": "L1", "L2": "L2", "L3": "L3", "L4": "L4"}


def _names(session: Session, record: Record) -> Iterator[str]:
    """Yield the names of people and things that a record speaks of, or is from."""
    for one in (record, *_readings(session, record)):
        body = one.body
        if isinstance(body, ExperienceBody):
            if body.provenance.name:
                yield body.provenance.name
            for claim in body.symbolic:
                yield from (claim.subject, claim.object)
