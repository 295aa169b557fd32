"""Scope chains: each record of a scope says how many came before it and which was the last (SPEC §4.8).

So a memory that is left out where a scope is shown leaves a gap that its neighbours name. The member lies inside the
sealed body: outside, as a link, it would show everybody which records are of one person. Pure but for the reading.
"""

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

import msgspec

from braid.ledger.record.record import Scope
from braid.ledger.record.scope import SCOPES

if TYPE_CHECKING:
    from braid.ledger.read.reader import Reader

MEMBER: Final = "scope_chain"

ScopeKey = tuple[str, str]
"""A scope's name and value, such as `("user_id", "maya")`."""


class Last(NamedTuple):
    """The newest record of a scope: how many there are with it, and its index."""

    number: int
    at: int


class KnownScopes(Protocol):
    """Finds the newest record of a scope."""

    def last_of(self, scopes: Collection[ScopeKey]) -> dict[ScopeKey, Last]:
        """Return the newest living record of each scope that has one, up to the log's present end."""
        ...


class _Member(msgspec.Struct):
    scope: Scope | None = None
    scope_chain: dict[str, tuple[int, int | None]] = {}


_decode = msgspec.json.Decoder(_Member).decode


def scopes_of(scope: Scope | None) -> list[ScopeKey]:
    """Return the scopes that a record is of: one for each name that has a value."""
    if scope is None:
        return []
    return [(name, value) for name in SCOPES if (value := getattr(scope, name)) is not None]


def spliced(raw: bytes, members: Mapping[str, tuple[int, int | None]]) -> bytes:
    """Return a body's JSON with its chain behind the other members."""
    return raw[:-1] + b',"%s":' % MEMBER.encode() + msgspec.json.encode(members) + b"}"


def chain_of(raw: bytes | None) -> Iterator[tuple[ScopeKey, int, int | None]]:
    """Yield (scope, count, previous) of the chains in `raw`, a body's JSON; nothing for one that has none."""
    if raw is None or MEMBER.encode() not in raw:
        return
    try:
        read = _decode(raw)
    except msgspec.MsgspecError:
        return
    for name, value in scopes_of(read.scope):
        if name in read.scope_chain:
            yield (name, value), *read.scope_chain[name]


class Chains:
    """The newest record of each scope as the writer knows it; asks once for a scope."""

    def __init__(self, known: Callable[[], KnownScopes]) -> None:
        self._known = known
        self._last: dict[ScopeKey, Last] = {}

    def forget(self) -> None:
        """Ask again: others have appended, or what was prepared has not been written."""
        self._last.clear()

    def next(self, batch: Sequence[tuple[int, Scope | None]]) -> "Links":
        """Return the chains of records that will stand at these indexes; nothing is remembered before `take`."""
        fresh = {key for _, scope in batch for key in scopes_of(scope)} - self._last.keys()
        if fresh:
            self._last |= self._known().last_of(fresh)
        links = Links({}, {})
        last: dict[ScopeKey, Last] = {}
        for index, scope in batch:
            for key in scopes_of(scope):
                before = last.get(key) or self._last.get(key)
                now = last[key] = Last(before.number + 1 if before else 1, index)
                links.members.setdefault(index, {})[key[0]] = (now.number, before.at if before else None)
                links.scopes.setdefault(key, []).append(now)
        return links

    def take(self, links: "Links") -> None:
        """Remember what was prepared: the next transaction of the group stands behind it."""
        self._last |= {key: several[-1] for key, several in links.scopes.items()}


class Links(NamedTuple):
    """What `Chains.next` gives: the member of each record by index, and each scope's new records."""

    members: dict[int, dict[str, tuple[int, int | None]]]
    scopes: dict[ScopeKey, list[Last]]


class ScopeReport(msgspec.Struct, frozen=True):
    """What a scope's chain shows: how many records it holds, how many of them are erased, and where it is broken."""

    scope: str
    records: int
    erased: int
    unchained: int
    problems: list[str]


Member = tuple[int, int, int | None]
"""A record of one scope: its index, its number, and the index of the one before it."""


def scope_of(subject: Mapping[str, str]) -> ScopeKey | None:
    """Return the scope that a subject is: none where an actor is meant, or what several names have in common."""
    (first, *others) = subject.items()
    return first if first[0] in SCOPES and not others else None


def gaps(members: Sequence[Member]) -> Iterator[tuple[int, int]]:
    """Yield the (index, index) between which a scope's numbers, or names, leave records out; -1 is its beginning."""
    last = Last(0, -1)
    for index, count, previous in sorted(members):
        if (-1 if previous is None else previous, count) != (last.at, last.number + 1):
            yield last.at, index
        last = Last(count, index)


def check_chain(members: Sequence[Member], erased: Collection[int]) -> tuple[int, list[str]]:
    """Return how many records of the chain are erased, and what is wrong; `members` are (index, count, previous).

    A gap is lawful where the record before it was erased, and no larger than the erased that lie in it.
    """
    problems: list[str] = []
    gone, at_index, at_count, dead = 0, -1, 0, sorted(erased)
    for index, count, previous in sorted(members):
        between = bisect_left(dead, index) - bisect_left(dead, at_index + 1)
        missing = count - at_count - 1
        named = -1 if previous is None else previous
        if named == at_index and missing == 0:
            pass
        elif named in erased and at_index < named < index and 0 < missing <= between:
            gone += missing
        else:
            what = "the beginning" if previous is None else f"record {previous}"
            here = "the beginning" if at_index < 0 else f"record {at_index} as number {at_count}"
            problems.append(f"record {index} is number {count} behind {what}; shown before it is {here}")
        at_index, at_count = index, count
    return gone, problems


def check_scope(reader: "Reader", name: str, value: str) -> ScopeReport:
    """Read the log and check the chain of one scope; raise NoVaultError without a vault, ValueError for a bad name."""
    if name not in SCOPES:
        raise ValueError(f"a scope is {', '.join(SCOPES)}, not {name!r}")
    reader.need_vault()
    members: list[tuple[int, int, int | None]] = []
    unchained = 0
    for entries in reader.entries():
        for entry in entries:
            scope = entry.record.body.scope if entry.record.raw is not None else None
            if (name, value) not in scopes_of(scope):
                continue
            mine = [
                (count, before) for key, count, before in chain_of(entry.record.raw) if key == (name, value)
            ]
            if mine:
                members.append((entry.record.index, *mine[0]))
            else:
                unchained += 1
    gone, problems = check_chain(members, reader.control.erased)
    return ScopeReport(f"{name}={value}", len(members) + unchained, gone, unchained, problems)
