"""Which turns the log has already, found for a whole batch at a time: what makes taking a source again cheap."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec

from braid.ledger.record.standing import SUPERSEDES

if TYPE_CHECKING:
    from braid.store import Store

_GAP = 64
"""Records this near to each other are read in one go."""


class _Source(msgspec.Struct, frozen=True):
    hash: str | None = None


class _Provenance(msgspec.Struct, frozen=True):
    sources: list[_Source] = []


class _Body(msgspec.Struct, frozen=True):
    provenance: _Provenance = _Provenance()


_decode = msgspec.json.Decoder(_Body).decode


class KnownTurns:
    """The records of earlier turns, by their keys."""

    def __init__(self, store: "Store") -> None:
        self._store = store

    def find(self, keys: Sequence[str]) -> dict[str, int]:
        """Return the log index of each key that a record has; an erased one has none."""
        return self._store.reader.key_index.find(keys)

    def hashes(self, indexes: Iterable[int]) -> dict[int, str | None]:
        """Return the hash of the source of each record; None where it has none, or can't be had."""
        wanted = sorted(set(indexes))
        found: dict[int, str | None] = dict.fromkeys(wanted)
        for start, stop in _runs(wanted):
            for entries in self._store.reader.entries(start, stop):
                for entry in entries:
                    index = entry.record.index
                    if index in found:
                        found[index] = _hash_in(entry.record.raw)
        return found

    def newest(self, index: int) -> tuple[str, str | None]:
        """Return the id of what holds now in place of the record at `index`, and the hash of its newest source.

        A correction by hand has no source: the source is then still where it was when it was last read.
        """
        reader = self._store.reader
        versions = [index]
        while later := [
            child
            for child, role in reader.backlinks.of(versions[-1])
            if role == SUPERSEDES
            and child not in reader.control.erased
            and reader.envelope(child).kind == "experience"
        ]:
            versions.append(later[-1])
        hashes = self.hashes(versions)
        told = [hashes[each] for each in versions if hashes[each] is not None]
        return reader.envelope(versions[-1]).id, told[-1] if told else None


def _runs(indexes: list[int]) -> Iterable[tuple[int, int]]:
    """Ranges that hold the indexes, without long gaps."""
    if not indexes:
        return
    start = indexes[0]
    for before, after in pairwise(indexes):
        if after - before > _GAP:
            yield start, before + 1
            start = after
    yield start, indexes[-1] + 1


def _hash_in(raw: bytes | None) -> str | None:
    if raw is None:
        return None
    try:
        sources = _decode(raw).provenance.sources
    except msgspec.MsgspecError:
        return None
    return sources[0].hash if sources else None
