"""What became of records that are there and no longer hold, as rows tell it: by the one rule of standing (SPEC §9.7).

Judged by signed links and by what is forgotten and erased; no row has a part in it. A rebuild looks once at every link
and judges what may not be living; catching up judges what it makes, and nothing where no link of it leads back.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Final

import msgspec

from braid.ledger.read.backlinks import SignedEdges, affected
from braid.ledger.read.gathered import ROLES
from braid.ledger.read.lineage import DERIVES
from braid.ledger.read.reader import LogEntry, Reader
from braid.ledger.record.envelope import DERIVATION_ROLES
from braid.ledger.record.standing import SUPERSEDES, Standings
from braid.views.projection import Fate, HeadFacts

_TELLING: Final = frozenset(("experience", "view", "stance", "affect", "event"))
"""Kinds whose rows tell how their record stands."""
_SUPERSEDES: Final = ROLES.index(SUPERSEDES)


class Fates:
    """The fates of records by the facts of one standing. Follows the log's links only when it is asked."""

    def __init__(self, reader: Reader, standing: HeadFacts) -> None:
        self._reader = reader
        self._standing = standing

    @cached_property
    def _standings(self) -> Standings:
        reader, standing = self._reader, self._standing
        past = reader.standing_facts(standing.size, standing.hidden, standing.erased)
        return Standings(past, SignedEdges(reader, reader.backlinks))

    def all(self) -> HeadFacts:
        """Return the standing with the fates of all records: looks at every link of the log."""
        return self._with(sorted(self._doubtful()))

    def of(self, entries: Sequence[LogEntry], again: Sequence[LogEntry] = ()) -> HeadFacts:
        """Return the standing with the fates of a batch: new records in log order, and earlier ones."""
        return self._with([*self._linked(entries), *(entry.record.envelope.index for entry in again)])

    def touched(self, changed: Iterable[int], below: int) -> set[int]:
        """Return the records under `below` whose fate may be another now that these came, went or came back."""
        reader, reached = self._reader, set(changed)
        for event, method in reader.retirements.events() if reached else ():
            if event in reached:
                reached.update(reader.retirements.readings(method, below))
        return {at for at in affected(reader, reached) if at < below and reader.envelope(at).kind in _TELLING}

    def reaching_back(self, start: int, stop: int) -> list[int]:
        """Return the records from `start` to `stop` that supersede another, or retire readings."""
        children, roles, _ = self._reader.backlinks.every()
        found: list[int] = children[(roles == _SUPERSEDES) & (children >= start) & (children < stop)].tolist()
        return found + [event for event, _ in self._reader.retirements.events() if start <= event < stop]

    def _with(self, indexes: Iterable[int]) -> HeadFacts:
        fates = {at: fate for at in indexes if (fate := self._fate(at)) is not None}
        return msgspec.structs.replace(self._standing, fates=fates)

    def _fate(self, index: int) -> Fate | None:
        """Return what became of a record: None for a living one, and for one that is not there."""
        standing = self._standings.of(index)
        if standing.state == "replaced" and standing.by is not None:
            return Fate("replaced", self._reader.envelope(standing.by).id)
        return Fate(standing.state, None) if standing.state in ("fallen", "retired") else None

    def _doubtful(self) -> set[int]:
        """Return the records that may not be living: the superseded, retired and gone, and all that rests on such."""
        size, retirements = self._standing.size, self._reader.retirements
        children, roles, targets = self._reader.backlinks.every()
        found = {*self._standing.hidden, *self._standing.erased, *targets[roles == _SUPERSEDES].tolist()}
        for method in retirements.at(size, self._standing.hidden, self._standing.erased).events:
            found.update(retirements.readings(method, size))
        derives = DERIVES[roles]
        for child, target in zip(children[derives].tolist(), targets[derives].tolist(), strict=True):
            if target in found:  # links lead back: whether it is has been seen
                found.add(child)
        return {at for at in found if at < size and self._reader.envelope(at).kind in _TELLING}

    def _linked(self, entries: Sequence[LogEntry]) -> Iterator[int]:
        """Yield those of a batch that may not be living: they rest on others, or are superseded by later ones."""
        if not entries:
            return
        superseded = {
            link.index for entry in entries for link in entry.record.links if link.role == SUPERSEDES
        }
        # What the last batch holds is superseded by its own records, if by any: the log needn't be asked.
        last = entries[-1].record.envelope.index + 1 == self._standing.size
        for entry in entries:
            record = entry.record
            index = record.envelope.index
            if record.envelope.kind in _TELLING and (
                index in superseded
                or any(link.role in DERIVATION_ROLES for link in record.links)
                or (not last and self._reader.backlinks.of(index))
            ):
                yield index
