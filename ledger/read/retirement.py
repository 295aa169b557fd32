"""Which readings have no say any more, since an event retires their reader: by what was signed (SPEC §9.7).

A retirement is an event that links to genesis: whoever looks for them looks at the links to genesis, and at no others.
Where there is none, no body is read.
"""

from collections.abc import Container, Iterator, Mapping
from typing import TYPE_CHECKING, Final

import msgspec

from braid.ledger.errors import ErasedError
from braid.ledger.read.gathered import ROLES
from braid.ledger.record.envelope import Envelope
from braid.ledger.record.record import READING, Draft, EventBody, Provenance

if TYPE_CHECKING:
    from braid.ledger.read.reader import Reader

EVENT: Final = "retired"
_ROLE: Final = "target"


class _Said(msgspec.Struct, frozen=True):
    provenance: Provenance = Provenance()


def draft(method: str, genesis: str, key: str, reason: str | None = None) -> Draft:
    """Return the event that retires all readings of a method; `key` keeps it from being recorded twice."""
    return Draft(
        kind="event",
        body=EventBody(name=EVENT, reason=reason, once=key),
        links=[(_ROLE, genesis)],
        public={"name": EVENT, "method": method},
    )


def method_retired(envelope: Envelope) -> str:
    """Return the method that a record retires; empty for any other record."""
    if envelope.kind != "event" or envelope.public.get("name") != EVENT:
        return ""
    method = envelope.public.get("method")
    return method if isinstance(method, str) else ""


class RetiredMethods:
    """What is retired at one moment of a log. Implements `standing.Retired`."""

    def __init__(self, retirements: "Retirements", events: Mapping[str, int]) -> None:
        self._retirements = retirements
        self.events = events
        """Method → the first living event that names it."""

    def by(self, index: int) -> int | None:
        return self.events.get(self._retirements.method_of(index)) if self.events else None


class Retirements:
    """The retirements of a log, and the methods of its readings, each read once. Safe to share between threads."""

    def __init__(self, reader: "Reader") -> None:
        self._reader = reader
        self._named: dict[int, str] = {}
        """Record that links to genesis → the method that it retires."""
        self._methods: dict[int, str] = {}

    @property
    def count(self) -> int:
        """How many records link to genesis: while that stays, none has retired anything."""
        return len(self._reader.backlinks.of(0))

    def events(self) -> Iterator[tuple[int, str]]:
        """Yield the retirements with the methods that they name, in log order; forgotten and erased ones too."""
        for index, role in self._reader.backlinks.of(0):
            if index not in self._named:
                self._named[index] = method_retired(self._reader.envelope(index)) if role == _ROLE else ""
            if self._named[index]:
                yield index, self._named[index]

    def at(self, size: int, hidden: Container[int], erased: Container[int]) -> RetiredMethods:
        """Return what is retired in a log of `size` records of which some are forgotten or erased."""
        found: dict[str, int] = {}
        for index, method in self.events():
            if index < size and index not in hidden and index not in erased:
                found.setdefault(method, index)
        return RetiredMethods(self, found)

    def method_of(self, index: int) -> str:
        """Return the method of a reading; empty for any other record, an erased one, and without a vault."""
        if index not in self._methods:
            envelope = self._reader.envelope(index)
            is_inference = envelope.kind == "experience" and envelope.type == "inference"
            self._methods[index] = self._read(index) if is_inference else ""
        return self._methods[index]

    def readings(self, method: str, below: int) -> Iterator[int]:
        """Yield the readings of a method under `below`: reads every record of the log that has a parent."""
        children, roles, _ = self._reader.backlinks.every()
        for index in dict.fromkeys(children[roles == ROLES.index("parent")].tolist()):
            if index < below and self.method_of(index) == method:
                yield index

    def methods(self, below: int) -> set[str]:
        """Return the methods that have readings under `below`: reads every record of the log that has a parent."""
        children, roles, _ = self._reader.backlinks.every()
        parents = dict.fromkeys(children[roles == ROLES.index("parent")].tolist())
        return {method for index in parents if index < below and (method := self.method_of(index))}

    def _read(self, index: int) -> str:
        try:
            raw = self._reader.at(index, include_forgotten=True).raw
            method = msgspec.json.decode(raw, type=_Said).provenance.method if raw is not None else ""
        except (ErasedError, msgspec.MsgspecError, UnicodeDecodeError):
            return ""
        return method if method.startswith(READING) else ""
