"""Whose words the records of a batch are, as rows tell it: by the one rule of source classes (SPEC §4.9).

What rests on nothing says its class itself; only for what was derived are other records looked at, most of them of the
same batch.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from braid.ledger.read.reader import LogEntry, Reader
from braid.ledger.record.envelope import DERIVATION_ROLES
from braid.ledger.record.record import ExperienceBody, Record
from braid.ledger.record.source import SourceClasses
from braid.stance.source import ClaimSources
from braid.views.projection import HeadFacts, RowSource

MOST_KEPT: Final = 200_000
"""How many records' classes are remembered from batch to batch."""


class RowSources:
    """The classes of derived records, batch by batch in the order of the log."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._near: dict[int, Record] = {}
        self._begin()

    def _begin(self) -> None:
        self._classes = SourceClasses(self._read, self._reader.role)
        self._claims = ClaimSources(self._classes, self._read, self._reader.role)

    def told(self, standing: HeadFacts, *batches: Sequence[LogEntry]) -> HeadFacts:
        """Return a standing with the classes of what is derived among some records."""
        if self._classes.count > MOST_KEPT:
            self._begin()
        entries = [entry.record for batch in batches for entry in batch]
        derived = [one for one in entries if _is_derived(one)]
        if not derived:
            return standing
        self._near = {one.index: one for one in entries if one.raw is not None}
        try:
            return msgspec.structs.replace(standing, sources=dict(self._of(derived)))
        finally:
            self._near = {}

    def _of(self, derived: Iterable[Record]) -> Iterable[tuple[int, RowSource]]:
        for record in derived:
            try:
                body = record.body
            except ValueError:  # no body of its kind: its envelope is shown
                continue
            if isinstance(body, ExperienceBody):
                claims = tuple(self._claims.of_all(record, body.symbolic))
                yield record.index, RowSource(self._classes.note(record), claims)

    def _read(self, index: int) -> Record | None:
        return self._near.get(index) or self._reader.unless_erased(index)


def _is_derived(record: Record) -> bool:
    return (
        record.kind == "experience"
        and record.raw is not None
        and any(link.role in DERIVATION_ROLES for link in record.links)
    )
