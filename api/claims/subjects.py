"""Which records claim something of whom, in one scope: kept from one question to the next, and caught up.

It holds subjects and log indexes alone, while all records stand as they do: what is forgotten, erased or replaced drops
it all (`Standings.kept`), as it drops the claims that were read.
"""

from array import array
from collections.abc import Callable, Iterable
from threading import Lock
from typing import Final, NamedTuple

from braid.ledger.record.record import Scope
from braid.ledger.record.standing import Standings

MOST_ROWS: Final = 50_000
"""Of so many claims it is kept, of all scopes together; the claims of a larger scope are asked for each time."""

Fetch = Callable[[int, int], tuple[Iterable[tuple[str, int]], int]]
"""(from which log index on, how many rows at most) → (subject, log index) of each claim from there on, and up to which
log index that was looked at."""


class _Held(NamedTuple):
    upto: int
    by_subject: dict[str, "array[int]"]
    claims: int


class SubjectIndex:
    """Log indexes by scope and subject. Safe to share between threads."""

    def __init__(self) -> None:
        self._held: dict[Scope | None, _Held] = {}
        self._turn = Lock()

    def of(self, scope: Scope | None, size: int, fetch: Fetch) -> dict[str, "array[int]"] | None:
        """Return the log indexes of the claims of a scope by subject, of `size` records at least: each in log order,
        some perhaps of later ones. None where there are more than are kept. Raises what `fetch` raises.
        """
        with self._turn:
            held = self._held.get(scope)
            if held is None or held.upto < size:
                held = self._caught_up(scope, held or _Held(0, {}, 0), fetch)
            return None if held is None else held.by_subject

    def _caught_up(self, scope: Scope | None, held: _Held, fetch: Fetch) -> _Held | None:
        if held.claims > MOST_ROWS:
            return None
        others = sum(one.claims for of, one in self._held.items() if of != scope and one.claims <= MOST_ROWS)
        rows, upto = fetch(held.upto, MOST_ROWS + 1 - held.claims)
        new: dict[str, array[int]] = {}
        for subject, index in rows:
            new.setdefault(subject, array("q")).append(index)
        count = held.claims + sum(map(len, new.values()))
        if count > MOST_ROWS:
            self._held[scope] = _Held(upto, {}, count)
            return None
        if count + others > MOST_ROWS:
            self._held = {of: one for of, one in self._held.items() if one.claims > MOST_ROWS}
        by_subject = held.by_subject.copy()  # another thread may be going through the one before
        for subject, indexes in new.items():
            by_subject[subject] = by_subject.get(subject, array("q")) + indexes
        found = self._held[scope] = _Held(upto, by_subject, count)
        return found


def subjects_of(standings: Standings) -> SubjectIndex:
    """Return the one that is kept while all records stand as they do."""
    known = standings.kept.get(SubjectIndex)
    if not isinstance(known, SubjectIndex):
        known = standings.kept[SubjectIndex] = SubjectIndex()
    return known
