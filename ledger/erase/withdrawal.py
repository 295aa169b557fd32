"""What falls with records that are forgotten, and what comes back with them (SPEC §9.1). Reads only.

A forgotten record is hidden by a tombstone; so is, by the same one, what rests on it alone, and every answer, stance
and view that may quote it. So what is hidden is signed, and every reader of the log hides the same.
"""

from collections.abc import Collection, Iterable, Iterator
from heapq import heappop, heappush
from typing import Final

from braid.ledger.erase.cascade import quoted
from braid.ledger.errors import InvalidRecordError
from braid.ledger.read.reader import Reader
from braid.ledger.record.envelope import DERIVATION_ROLES
from braid.ledger.record.standing import supports_of

_KINDS: Final = ("experience", "stance", "view", "event")


def falls_with(reader: Reader, targets: Collection[int]) -> list[int]:
    """Return what would fall if these records were forgotten, in log order: nothing that is hidden or erased yet."""
    gone = set(reader.control.hidden) | set(targets)
    fallen: list[int] = []
    for at in _below(reader, targets, fallen):
        if at not in gone and at not in reader.control.erased and _falls(reader, at, gone):
            gone.add(at)
            fallen.append(at)
    return fallen


def returns_with(reader: Reader, targets: Collection[int]) -> list[int]:
    """Return what fell with these records, or with what they had fallen with, and would stand if they were recovered.

    What was forgotten on its own stays so: a tombstone that names nothing that it rests on.
    """
    hidden = reader.control.hidden
    left = set(hidden) - set(targets)
    returned: list[int] = []
    together: dict[int, set[int]] = {}
    for at in _below(reader, targets, returned):
        if at not in left or not fell(reader, at, together):
            continue
        left.discard(at)
        if _falls(reader, at, left):
            left.add(at)
        else:
            returned.append(at)
    return returned


def _below(reader: Reader, above: Iterable[int], grown: list[int]) -> Iterator[int]:
    """Yield what was drawn of records, and of those that `grown` takes in meanwhile: each once, in log order."""
    waiting = sorted({child for at in above for child in _children(reader, at)})
    last, known = -1, 0
    while waiting:
        at = heappop(waiting)  # a sorted list is a heap; links point back, so that what comes in lies ahead
        if at == last:
            continue
        last = at
        yield at
        for more in grown[known:]:
            for child in _children(reader, more):
                heappush(waiting, child)
        known = len(grown)


def _children(reader: Reader, index: int) -> list[int]:
    return [child for child, role in reader.backlinks.of(index) if role in DERIVATION_ROLES]


def _falls(reader: Reader, index: int, hidden: set[int]) -> bool:
    """Whether a record has nothing left to rest on while these are hidden, or quotes one of them."""
    envelope = reader.envelope(index)
    if envelope.kind not in _KINDS or envelope.is_control:
        return False
    links = reader.links(index)
    if not hidden.isdisjoint(quoted(reader, envelope, links)):
        return True
    if envelope.kind == "event":  # what else it says of the forgotten is no memory
        return False
    supports = supports_of(links)
    erased = reader.control.erased
    return any(at in hidden for at in supports) and all(at in hidden or at in erased for at in supports)


def refuse_baseless(reader: Reader, targets: Collection[int]) -> None:
    """Raise InvalidRecordError for a record that would still have fallen if it were recovered with these others."""
    left = set(reader.control.hidden) - set(targets)
    for index in targets:
        if index in reader.control.hidden and _falls(reader, index, left):
            above = next(link for link in reader.links(index) if link.index in left)
            raise InvalidRecordError(
                f"{reader.envelope(index).id} rests on {above.id}, which is forgotten: recover that too"
            )


def fell(reader: Reader, index: int, known: dict[int, set[int]] | None = None) -> bool:
    """Whether a hidden record was hidden with something that it rests on, by one tombstone or one transaction of them.

    `known` keeps what tombstones name, for who asks of many records.
    """
    tombstone, _ = reader.control.hidden[index]
    kept = known if known is not None else {}
    if tombstone not in kept:
        kept[tombstone] = _named(reader, tombstone)
    named = kept[tombstone]
    return any(link.role in DERIVATION_ROLES and link.index in named for link in reader.links(index))


def _named(reader: Reader, tombstone: int) -> set[int]:
    """Return what the tombstones of a transaction name: a record holds so many links and no more."""
    _, place, count = reader.envelope(tombstone).tx
    first = tombstone - place
    return {
        link.index for at in range(first, first + count) for link in reader.links(at) if link.role == "target"
    }
