"""The memory that a record belongs to: a chain of corrections, which any of its ids names. By signed links alone.

What is set of a memory, and not said in it (pinned, how important), is an event that targets one of its records. It
holds for the whole chain, from that event on, and falls with the event. A memory's version counts the transactions that
ever changed it, so that it only rises: who names the version that they saw learns of every change since (SPEC §9.8).
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple, TypeGuard

from braid.ledger.errors import ForgottenError, InvalidRecordError
from braid.ledger.read.reader import Reader
from braid.ledger.record.record import Draft, EventBody, Scope, Target, with_article
from braid.ledger.record.standing import SUPERSEDES, Standings

EVENT: Final = "memory"
"""The name of the events that set something of a memory."""
MOST: Final = 10_000
"""How many records a chain has at most: more are no memory that somebody corrects."""
_HIDING: Final = ("forget", "recover")


class Chain(NamedTuple):
    """The records of a memory in log order, by index; `living`: those that stand: two where both took one's place."""

    members: tuple[int, ...]
    living: tuple[int, ...]
    version: int
    settings: tuple[int, ...]
    """The events that set something of it, in log order, forgotten ones too."""
    tombstones: tuple[int, ...]
    """Those that hid it or brought it back, in log order."""

    @property
    def current(self) -> int | None:
        """The newest that is living, None where none is."""
        return self.living[-1] if self.living else None


class Kept(NamedTuple):
    """How a memory is kept: `pinned` is not forgotten without force; `importance` in [0, 1], .5 where nobody set it;
    `locked_until`, an instant in UTC: before it no agent changes the memory."""

    pinned: bool = False
    importance: float = 0.5
    locked_until: str | None = None


def chain_of(
    reader: Reader, index: int, size: int | None = None, standings: Standings | None = None
) -> Chain:
    """Return the memory of a record, as the log is now, or was when it held `size` records; `standings` are those then.

    Raises InvalidRecordError for what is no experience.
    """
    envelope = reader.envelope(index)
    if envelope.kind != "experience":
        raise InvalidRecordError(
            f"{envelope.id} is {with_article(envelope.kind)}: only experiences are memories that change"
        )
    end = reader.size if size is None else size
    members = sorted(at for at in _connected(reader, index) if at < end)
    standings = standings or reader.standings(size)
    living = tuple(at for at in members if standings.lives(at))
    settings, tombstones = set[int](), set[int]()
    for member in members:
        for at, role in reader.backlinks.of(member):
            if role != "target" or at >= end:
                continue
            kind = reader.envelope(at).kind
            if kind == "tombstone" and reader.envelope(at).public.get("op") in _HIDING:
                tombstones.add(at)
            elif kind == "event" and reader.envelope(at).public.get("name") == EVENT:
                settings.add(at)
    version = len({reader.envelope(at).tx[0] for at in (*members, *tombstones, *settings)})
    return Chain(tuple(members), living, version, tuple(sorted(settings)), tuple(sorted(tombstones)))


def memory_of(reader: Reader, id: str) -> Chain:
    """Return the memory that any of its records names.

    Raises UnknownRecordError, ErasedError, InvalidRecordError for what is no experience.
    """
    index = reader.index_of(id)
    reader.at(index, id=id, include_forgotten=True)
    return chain_of(reader, index)


def refuse_gone(chain: Chain, id: str) -> None:
    """Refuse to change a memory of which nothing is living, with ForgottenError."""
    if not chain.living:
        raise ForgottenError(f"nothing of {id} is living: recover it before it is changed")


def present(reader: Reader, chain: Chain) -> list[int]:
    """Return the records of a memory that are neither hidden nor erased, in log order."""
    control = reader.control
    return [at for at in chain.members if at not in control.hidden and at not in control.erased]


def kept(reader: Reader, chain: Chain) -> Kept:
    """Return how a memory is kept: by the events that are there, the newest word of each."""
    control, found = reader.control, Kept()
    for at in chain.settings:
        if at in control.hidden or at in control.erased:
            continue
        said = _said(reader, at)
        pinned, importance = said.get("pinned"), said.get("importance")
        if isinstance(pinned, bool):
            found = found._replace(pinned=pinned)
        if isinstance(importance, int | float) and not isinstance(importance, bool) and 0 <= importance <= 1:
            found = found._replace(importance=float(importance))
        if is_instant(until := said.get("locked_until")):
            found = found._replace(locked_until=until)
    return found


def is_instant(said: object) -> TypeGuard[str]:
    """Whether something is an instant as it stands in an event: RFC 3339 with an offset."""
    if not isinstance(said, str):
        return False
    try:
        return datetime.fromisoformat(said).tzinfo is not None
    except ValueError:
        return False


def _connected(reader: Reader, index: int) -> set[int]:
    """Return all experiences that supersede each other, directly or behind others."""
    found, waiting = {index}, [index]
    while waiting:
        at = waiting.pop()
        older = [link.index for link in reader.links(at) if link.role == SUPERSEDES]
        newer = [child for child, role in reader.backlinks.of(at) if role == SUPERSEDES]
        for other in (*older, *newer):
            if other not in found and reader.envelope(other).kind == "experience":
                found.add(other)
                waiting.append(other)
        if len(found) > MOST:
            raise InvalidRecordError(
                f"{reader.envelope(index).id} stands in a chain of more than {MOST} records"
            )
    return found


def _said(reader: Reader, at: int) -> dict[str, Any]:
    body = reader.at(at).body
    return body.data if isinstance(body, EventBody) else {}


def setting(kept_as: Mapping[str, object], target: Target, within: Scope | None, reason: str | None) -> Draft:
    """Return the event that sets something of a memory; its envelope says that it does, not what."""
    return Draft(
        kind="event",
        body=EventBody(name=EVENT, data=dict(kept_as), reason=reason, scope=within),
        links=[("target", target)],
        public={"name": EVENT},
    )
