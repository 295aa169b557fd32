"""Which turns the log has already, found for a whole batch at a time: what makes taking a source again cheap."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from braid.ledger.errors import LedgerError
from braid.ledger.record.record import Scope
from braid.ledger.record.scope import OWNERS
from braid.ledger.record.standing import SUPERSEDES
from braid.own_key import mark_of

if TYPE_CHECKING:
    from braid.store import Store

_GAP = 64
_SPARSE = 4
"""A run of which only one record in so many is wanted is read one by one."""
"""Records this near to each other are read in one go."""


class _Source(msgspec.Struct, frozen=True):
    hash: str | None = None


class _Provenance(msgspec.Struct, frozen=True):
    actor: str = "user"
    name: str | None = None
    sources: list[_Source] = []


class _Structured(msgspec.Struct, frozen=True):
    edited_at: Any = None


class _Content(msgspec.Struct, frozen=True):
    text: str = ""
    structured: _Structured = _Structured()


class _Body(msgspec.Struct, frozen=True):
    content: _Content = _Content()
    provenance: _Provenance = _Provenance()
    scope: Scope | None = None
    occurred_at: datetime | None = None


_decode = msgspec.json.Decoder(_Body).decode


class KeyPlace(NamedTuple):
    """Under which key a turn is recorded within the scope, and the log index of the record that has it."""

    key: str
    at: int | None


class KnownTurn(NamedTuple):
    """What an earlier turn says: the hash of its source, and its words with who said them when, its edit."""

    hash: str | None = None
    words: tuple[str, str | None, datetime | None, str] | None = None
    edited_at: datetime | None = None


class KnownTurns:
    """The records of earlier turns, by their keys, as far as a recall in the scope finds them.

    A key that a record elsewhere has is put apart by the scope, as an idempotency key is (ADR 75): so the turn of one
    user hides none of another, and whoever names no scope meets every turn.
    """

    def __init__(self, store: "Store", within: Scope | None = None) -> None:
        self._store = store
        self._owners = _owners_of(within)
        self._mark = mark_of(store.session, self._owners) if self._owners else ""

    def find(self, keys: Sequence[str]) -> dict[str, KeyPlace]:
        """Return where each key stands; an erased record has none."""
        index_of = self._store.reader.key_index.find
        if not self._mark:
            found = index_of(keys)
            return {key: KeyPlace(key, found.get(key)) for key in keys}
        found = index_of([form for key in keys for form in (key, key + self._mark)])
        unsure = [found[key] for key in keys if key in found and key + self._mark not in found]
        bodies = self._bodies(unsure)
        return {key: self._placed(key, found, bodies) for key in keys}

    def _placed(self, key: str, found: dict[str, int], bodies: dict[int, "_Body | None"]) -> KeyPlace:
        apart, index = key + self._mark, found.get(key)
        if apart in found:
            return KeyPlace(apart, found[apart])
        if index is None or self._is_within(bodies[index]):
            return KeyPlace(key, index)
        return KeyPlace(apart, None)

    def _is_within(self, body: "_Body | None") -> bool:
        """Whether a recall in the scope finds a record; one that can't be read is held to nothing."""
        return body is None or self._owners.items() <= _owners_of(body.scope).items()

    def turns(self, indexes: Iterable[int]) -> dict[int, KnownTurn]:
        """Return what each record says; one that can't be had says nothing."""
        return {index: _turn_in(body) for index, body in self._bodies(indexes).items()}

    def _bodies(self, indexes: Iterable[int]) -> dict[int, "_Body | None"]:
        wanted = sorted(set(indexes))
        found: dict[int, _Body | None] = dict.fromkeys(wanted)
        for some in _runs(wanted):
            if some[-1] - some[0] >= _SPARSE * len(
                some
            ):  # rows in another order: what lies between isn't asked for
                found |= {index: self._body(index) for index in some}
                continue
            for entries in self._store.reader.entries(some[0], some[-1] + 1):
                for entry in entries:
                    index = entry.record.index
                    if index in found:
                        found[index] = _body_in(entry.record.raw)
        return found

    def _body(self, index: int) -> "_Body | None":
        try:
            return _body_in(self._store.reader.at(index, include_forgotten=True).raw)
        except LedgerError:
            return None

    def newest(self, index: int) -> tuple[str, KnownTurn]:
        """Return the id of what holds now in place of the record at `index`, and its newest turn with a source.

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
        turns = self.turns(versions)
        told = [turns[each] for each in versions if turns[each].hash is not None]
        return reader.envelope(versions[-1]).id, told[-1] if told else KnownTurn()


def _runs(indexes: list[int]) -> Iterable[list[int]]:
    """Yield the indexes in runs without long gaps."""
    run: list[int] = []
    for index in indexes:
        if run and index - run[-1] > _GAP:
            yield run
            run = []
        run.append(index)
    if run:
        yield run


def _owners_of(scope: Scope | None) -> dict[str, str]:
    """Return whose a record is; in which session it was said is no part of that."""
    named = {name: getattr(scope, name, None) for name in OWNERS}
    return {name: value for name, value in named.items() if value is not None}


def _body_in(raw: bytes | None) -> _Body | None:
    try:
        return None if raw is None else _decode(raw)
    except msgspec.MsgspecError:
        return None


def _turn_in(body: _Body | None) -> KnownTurn:
    if body is None:
        return KnownTurn()
    by = body.provenance
    hash_ = by.sources[0].hash if by.sources else None
    words = by.actor, by.name, body.occurred_at, body.content.text
    return KnownTurn(hash_, words, _moment(body.content.structured.edited_at))


def _moment(value: object) -> datetime | None:
    """Return the time of an edit; None for what a person's own metadata may have under that name."""
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return moment if moment is not None and moment.tzinfo is not None else None
