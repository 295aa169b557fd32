"""What every projection is given, and what it must be: a function of the log and of what holds now (SPEC §10.1).

A projection is rebuilt from the log alone: no clock, no network; no model either, but for the LanceDB projection's
packaged one. The rows of a record follow from the
record and from `HeadFacts`, the few facts of the log's head that reach back (what is forgotten, erased, disputed …).
So a record's rows change after it was applied only when its standing changes, and then the batch brings it again.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, runtime_checkable

import msgspec

from braid.ledger.read.reader import LogEntry
from braid.ledger.record.source import SourceClass

if TYPE_CHECKING:
    from braid.views.duck.batch import MadeBatch


class AuthorKeyFacts(NamedTuple):
    """What the log's head says of an author key; times are log indexes."""

    role: str
    public: bytes
    admitted: int
    revoked: int | None
    compromised_since: int | None


class Fate(NamedTuple):
    """What became of a record that is there and is not living (SPEC §9.7)."""

    state: Literal["replaced", "retired", "fallen"]
    by: str | None
    """Id of the newest living record in its place; None for a retired or fallen one."""


class RowSource(NamedTuple):
    """Whose words a derived record is, and each of its claims (SPEC §4.9)."""

    record: SourceClass
    claims: tuple[SourceClass, ...]


class HeadFacts(msgspec.Struct, frozen=True):
    """The facts of the log's head that reach back to earlier records, as they were at `size` records."""

    origin: str
    size: int
    sealed: bool
    """Whether there is a vault: without one, records are their envelopes only."""
    hidden: frozenset[int]
    erased: frozenset[int]
    weakened: frozenset[int]
    """Records that stayed when an erasure took one of their supports."""
    last_erasure: int
    """Index of the newest erase tombstone, -1 for none."""
    disputed: Mapping[str, int]
    """Key id → the index from which on its signatures are disputed."""
    keys: Mapping[str, AuthorKeyFacts]
    fates: Mapping[int, Fate] = {}
    """What became of the records that rows are made of with it, where they are not living (`fates.Fates`)."""
    sources: Mapping[int, RowSource] = {}
    """Whose words the derived ones among these are (`sources.RowSources`)."""


class Stamp(msgspec.Struct, frozen=True):
    """What a projection says it was made from; kept with the rows, in the same transaction."""

    version: int
    origin: str
    position: int
    root: str
    """Root of the log's tree at `position`, hex."""
    sealed: bool
    disputed: dict[str, int]


class Batch(NamedTuple):
    """Whole transactions on their way into a projection.

    `entries` are new, in log order. `again` are earlier records whose standing changed (forgotten, recovered, a key
    revoked; where rows tell it, also what these and corrections reach): their rows are removed and made again from
    `standing`. `stamp` is what holds once all of it is applied.
    Erasures never come this way: they lead to a rebuild, so that nothing of the erased stays in free pages.
    """

    entries: list[LogEntry]
    again: list[LogEntry]
    standing: HeadFacts
    stamp: Stamp


class Projection(Protocol):
    """An open projection."""

    @property
    def stamp(self) -> Stamp | None:
        """What it was made from; None while it holds nothing."""
        ...

    def apply(self, batch: Batch) -> None:
        """Take a batch in: rows and stamp in one transaction. It may be under way when this returns."""
        ...

    def finish(self) -> None:
        """Return once every batch is committed; raise what went wrong with one."""
        ...

    def close(self) -> None:
        """Close the file; what was not committed is lost."""
        ...


@runtime_checkable
class TakesMade(Projection, Protocol):
    """A projection of `make`'s rows: they tell how each record stands, and may be made in other processes."""

    def take(self, made: "MadeBatch") -> None:
        """Take in a batch whose rows were made elsewhere; as `apply`."""
        ...


class Home(Protocol):
    """Where a projection's files live, and how a rebuilt one takes the place of the old."""

    name: str
    version: int

    def open(self) -> Projection:
        """Open the working file; raise DamagedViewError where there is none that can be used."""
        ...

    def fresh(self) -> Projection:
        """Begin an empty file beside the working one."""
        ...

    def fresh_without(self, gone: Sequence[int]) -> Projection:
        """Begin a file with what the working one holds, but for these records; raise DamagedViewError."""
        ...

    def swap(self) -> None:
        """Put the closed fresh file in the working one's place, durably."""
        ...
