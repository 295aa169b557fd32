"""Whose word a claim is: its voices. However often one of them says a thing, it has one say. Pure."""

from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from braid.ledger.record.record import ExperienceBody, is_reading
from braid.text.words import normal

PERSON: Final = "person"


class Backing(msgspec.Struct, frozen=True):
    """Whose words a record rests on, and what part of all that it rests on is still there, in (0, 1]."""

    voices: frozenset[str]
    kept: float = 1.0


def voice_of(body: ExperienceBody) -> str:
    """Return who says what a record says: a person by name, else by user; a document by its addresses; else a tool.

    A reading says what somebody else said; where its parent is not at hand, that is the user whose memory it is of.
    """
    source = body.provenance
    user = (body.scope.user_id if body.scope else None) or ""
    if source.actor == "user" or is_reading(body):
        return person(source.name or user)
    if source.sources:
        return "document " + " ".join(sorted(one.uri for one in source.sources))
    return f"{source.actor} {normal(source.name or '')}".strip()


def person(name: str) -> str:
    """Return the voice of a person of that name."""
    return f"{PERSON} {normal(name)}" if name else PERSON


def backing(
    record: int,
    parents: Callable[[int], Iterable[int]],
    lives: Callable[[int], bool],
    voice: Callable[[int], str],
) -> Backing | None:
    """Return whose words a living record rests on: its occurrences, as far as a way up to them is living.

    What is not living takes its share with it. None where nothing is left.
    """
    every = occurrences(record, parents)
    living = occurrences(record, lambda at: [one for one in parents(at) if lives(one)])
    left = living & every  # one whose parents are all gone is no occurrence
    if not left:
        return None
    return Backing(frozenset(map(voice, left)), len(left) / len(every))


def occurrences(record: int, parents: Callable[[int], Iterable[int]]) -> frozenset[int]:
    """Return the records without parents that a record descends from: itself, where it has none."""
    found: set[int] = set()
    seen = {record}
    stack = [record]
    while stack:
        one = stack.pop()
        above = list(parents(one))
        if not above:
            found.add(one)
        fresh = {parent for parent in above if parent not in seen}
        seen |= fresh
        stack += fresh
    return frozenset(found)
