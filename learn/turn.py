"""What a claim reader is: a turn in, what it states out. Better readers come behind the same protocol."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Final, Literal, NamedTuple, Protocol

import msgspec

from braid.ledger.record.record import Claim

FACTS_KEPT: Final = 200
"""How many claims back a correction may look."""


_LONG_AGO: Final = datetime(1970, 1, 1, tzinfo=UTC)


class TurnNote(msgspec.Struct, frozen=True):
    """What a turn makes known to the turns after it. `at` is the index of its record.

    `person`: `name` is `owner`'s `role` ("wife"); `fact`: a claim; `topic`: something that later words may mean.
    """

    kind: Literal["person", "fact", "topic"]
    at: int
    owner: str = ""
    role: str = ""
    name: str = ""
    claim: Claim | None = None
    needs: frozenset[int] = frozenset()
    """The records without which it would not have been made known."""


class KnownClaims:
    """What is known in a conversation so far, to be asked by a reader; it grows by the notes of each turn."""

    __slots__ = ("_facts", "_first_names", "_names", "_people", "_topics", "since")

    def __init__(self, notes: Iterable[TurnNote] = ()) -> None:
        self.since = 0
        """What was said before this record is too long ago to be meant."""
        self._people: dict[tuple[str, str], TurnNote] = {}
        self._names: dict[str, TurnNote] = {}
        self._first_names: dict[str, TurnNote | None] = {}
        self._topics: dict[tuple[str, str], TurnNote] = {}
        self._facts: list[TurnNote] = []
        self.add(notes)

    def add(self, notes: Iterable[TurnNote]) -> None:
        """Take in what a turn has made known; a newer note of the same thing replaces the older."""
        for note in notes:
            if note.kind == "person":
                self._people[note.owner, note.role] = note
                self._names[note.name] = note
                first = note.name.partition(" ")[0]
                other = self._first_names.get(first, note)
                # Of two people with one first name, it means neither.
                self._first_names[first] = note if other is not None and other.name == note.name else None
            elif note.kind == "topic":
                self._topics[note.owner, note.role] = note
            else:
                self._facts.append(note)
        if len(self._facts) > 2 * FACTS_KEPT:
            del self._facts[:-FACTS_KEPT]

    def person(self, owner: str, role: str) -> TurnNote | None:
        """Return who is `owner`'s `role`, None where nobody said."""
        return self._recent(self._people.get((owner, role)))

    def named(self, name: str) -> TurnNote | None:
        """Return the note that introduced a person of this name."""
        found = self._recent(self._names.get(name))
        return found or self._recent(self._first_names.get(name))

    def topic(self, owner: str, role: str) -> TurnNote | None:
        """Return the newest topic of this sort."""
        return self._recent(self._topics.get((owner, role)))

    def facts(self) -> Iterable[TurnNote]:
        """Return the claims, newest first, of the last `FACTS_KEPT`."""
        return (note for note in reversed(self._facts[-FACTS_KEPT:]) if note.at >= self.since)

    def _recent(self, note: TurnNote | None) -> TurnNote | None:
        return note if note is not None and note.at >= self.since else None


class Turn(msgspec.Struct, frozen=True):
    """One turn to be read. `speaker` is a name, or `user` where none is known; `at` the index of its record."""

    text: str
    speaker: str = "user"
    role: str = "user"
    when: datetime = _LONG_AGO
    at: int = 0
    whose: tuple[str | None, ...] = ()
    """Whose memory it is of: what is known of one person's isn't known in another's."""
    previous: tuple["Turn", ...] = ()
    """The turns before it, the last one last: as many as the reader looks back."""


class TurnReading(NamedTuple):
    """What a turn states; which other records had to be known for it; what it makes known."""

    claims: tuple[Claim, ...] = ()
    used: frozenset[int] = frozenset()
    notes: tuple[TurnNote, ...] = ()
    left: int = 0
    """Of how many characters of the turn nothing was read, because it is too long, or states too much."""


class TurnReader(Protocol):
    """Reads claims from turns. Pure: the same turn, with the same known, gives the same reading."""

    @property
    def name(self) -> str:
        """A plain word; with the version it is the method of every record that is made of its readings."""
        ...

    @property
    def version(self) -> str:
        """Changes whenever a reading may."""
        ...

    @property
    def looks_back(self) -> int:
        """How many previous turns of the conversation it is shown; what is known comes to it in any case."""
        ...

    def prepare(self, turns: Sequence[Turn]) -> None:
        """Take note of turns that will be read, where that makes reading quicker; it changes no reading."""
        ...

    def read(self, turn: Turn, known: KnownClaims) -> TurnReading:
        """Return what a turn states. Never raises: what can't be read states nothing."""
        ...
