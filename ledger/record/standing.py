"""Whether a record stands: the one rule of what was corrected, forgotten or erased, and of what rests on that. Pure.

A record is *replaced* while one that supersedes it is living: directly, or behind others that may be replaced,
forgotten or erased themselves. A reading is *retired* while a living event retires its reader. A record has *fallen*
while it rests on something and nothing that it rests on is living; it comes back with it. What is not living replaces
nothing. What a record itself replaces does not make it fall.

Links point back, but a record's standing depends on earlier records (what it rests on) and on later ones (what
supersedes it), so that a few may depend on each other in a circle: then the newest of them is judged first, as if
nothing within the circle were replaced.
"""

from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any, Final, Literal, NamedTuple, Protocol

from braid.ledger.record.envelope import DERIVATION_ROLES, Link

State = Literal["living", "replaced", "retired", "fallen", "hidden", "erased", "later"]
SUPERSEDES: Final = "supersedes"


class Standing(NamedTuple):
    """How a record stands. `by`: the newest living record in its place, the event that retires its reader, or the first
    of those that it fell with.
    """

    state: State
    by: int | None = None


class Retired(Protocol):
    """What events say of readers."""

    def by(self, index: int) -> int | None:
        """Return the living event that retires the reader whose reading this record is; None where there is none."""
        ...


class _NoneRetired:
    def by(self, index: int) -> int | None:
        del index
        return None


class StandingFacts(NamedTuple):
    """The facts that a standing is judged by: how many records the log held, what was forgotten and erased, and which
    readings are retired.
    """

    size: int
    hidden: Container[int]
    erased: Container[int]
    retired: Retired = _NoneRetired()


class Edges(Protocol):
    """What signed links say."""

    def supports(self, index: int) -> Sequence[int]:
        """Return what a record rests on, by log index."""
        ...

    def superseders(self, index: int) -> Sequence[int]:
        """Return the records of its own kind that supersede it, by log index."""
        ...


def supports_of(links: Iterable[Link]) -> list[int]:
    """Return what a record rests on: its parents; where it names none, all that it was made of or borne out by."""
    held = list(links)
    parents = [link.index for link in held if link.role == "parent"]
    made_of = parents or [link.index for link in held if link.role in DERIVATION_ROLES]
    return list(dict.fromkeys(made_of))


def standing(index: int, past: StandingFacts, edges: Edges) -> Standing:
    """Return how a record stands."""
    return Standings(past, edges).of(index)


class _Judged(NamedTuple):
    standing: Standing
    instead: int | None
    """The newest living record in its place, whether or not it is there itself."""


class Standings:
    """How records stand at one moment of the log: each is judged once. A circle costs the square of its records."""

    def __init__(self, past: StandingFacts, edges: Edges) -> None:
        self.past = past
        self._edges = edges
        self._judged: dict[int, _Judged] = {}
        self.kept: dict[Any, Any] = {}
        """What others have worked out of living records. Once one stands otherwise, the next question drops it all, and
        erased words with it."""

    def grown(self, size: int) -> "Standings":
        """Return how records stand in a longer log where nothing that came supersedes, hides or erases any."""
        longer = Standings(self.past._replace(size=size), self._edges)
        longer._judged = {at: one for at, one in self._judged.items() if one.standing.state != "later"}
        longer.kept = self.kept
        return longer

    def of(self, index: int) -> Standing:
        """Return how a record stands."""
        if index not in self._judged:
            self._judge(index)
        return self._judged[index].standing

    def lives(self, index: int) -> bool:
        """Whether a record is there and nothing stands in its place."""
        return self.of(index).state == "living"

    def instead(self, index: int) -> int | None:
        """Return the newest living record that stands in the place of one, be it there itself or not."""
        self.of(index)
        return self._judged[index].instead

    def supports(self, index: int) -> Sequence[int]:
        """Return what a record rests on, by log index, whether or not it is living."""
        return self._edges.supports(index)

    # -- judging -----------------------------------------------------------------------------------

    def _judge(self, index: int) -> None:
        """Judge a record and all that its standing depends on."""
        for circle in self._circles([index]):
            self._settle(circle)

    def _settle(self, circle: list[int]) -> None:
        """Judge the records of a circle: the newest first, then what is left of it, circle by circle."""
        if len(circle) == 1 and circle[0] not in self._judged:
            self._judged[circle[0]] = self._verdict(circle[0], frozenset(circle))
            return
        waiting = [circle]
        while waiting:
            some = [at for at in waiting.pop() if at not in self._judged]
            if not some:
                continue
            some.sort(reverse=True)  # what a record is superseded by is newer, and looked at before it
            newest = some[0]
            self._judged[newest] = self._verdict(newest, frozenset(some))
            rest = frozenset(at for at in some if not self._is_replaced(at))
            waiting += reversed(list(self._circles(sorted(rest), within=rest)))

    def _is_replaced(self, index: int) -> bool:
        """Whether a record of a circle is judged: now, too, where what is judged already replaces it, whatever it rests
        on. So a chain of corrections, each drawn from the one before, is judged in one go.
        """
        if index not in self._judged and all(at in self._judged for at in self._superseders(index)):
            verdict = self._verdict(index, frozenset())
            if verdict.standing.state == "replaced":
                self._judged[index] = verdict
        return index in self._judged

    def _verdict(self, index: int, circle: frozenset[int]) -> _Judged:
        instead = max(
            (at for at in map(self._stands_for, self._superseders(index)) if at is not None), default=None
        )
        if (gone := self._gone(index)) is not None:
            return _Judged(Standing(gone), instead)
        if instead is not None:
            return _Judged(Standing("replaced", instead), instead)
        if (by := self.past.retired.by(index)) is not None:
            return _Judged(Standing("retired", by), None)
        supports = self._edges.supports(index)
        if supports and not any(self._holds(at, circle) for at in supports):
            return _Judged(Standing("fallen", supports[0]), None)
        return _Judged(Standing("living"), None)

    def _stands_for(self, superseder: int) -> int | None:
        """Return what stands where a record that supersedes another stood; None where nothing does."""
        judged = self._judged[superseder]
        return superseder if judged.standing.state == "living" else judged.instead

    def _holds(self, support: int, circle: frozenset[int]) -> bool:
        if support in self._judged:
            return self._judged[support].standing.state == "living"
        return support in circle and not self._is_gone(support) and self.past.retired.by(support) is None

    def _gone(self, index: int) -> Literal["later", "erased", "hidden"] | None:
        if index >= self.past.size:
            return "later"
        if index in self.past.erased:
            return "erased"
        return "hidden" if index in self.past.hidden else None

    def _is_gone(self, index: int) -> bool:
        return self._gone(index) is not None

    def _superseders(self, index: int) -> Sequence[int]:
        return [at for at in self._edges.superseders(index) if at < self.past.size]

    def _depends(self, index: int) -> list[int]:
        """Return what the standing of a record depends on: the gone rest on nothing any more."""
        above: Sequence[int] = () if self._is_gone(index) else self._edges.supports(index)
        return [*self._superseders(index), *above]

    def _circles(self, roots: Sequence[int], *, within: frozenset[int] | None = None) -> Iterator[list[int]]:
        """Yield the strongly connected components of what is not judged yet, each behind those that it depends on.

        Tarjan's algorithm (SIAM J. Comput. 1972), without recursion: a chain of retellings may be longer than a stack.
        """
        number: dict[int, int] = {}
        low: dict[int, int] = {}
        open_: dict[int, None] = {}
        for root in roots:
            if root in number or root in self._judged:
                continue
            work = [(root, iter(self._depends(root)))]
            number[root] = low[root] = len(number)
            open_[root] = None
            while work:
                at, rest = work[-1]
                below = next((one for one in rest if self._is_open(one, number, open_, within)), None)
                if below is None:
                    work.pop()
                    if work:
                        low[work[-1][0]] = min(low[work[-1][0]], low[at])
                    if low[at] == number[at]:
                        yield _closed(open_, at)
                elif below in number:
                    low[at] = min(low[at], number[below])
                else:
                    number[below] = low[below] = len(number)
                    open_[below] = None
                    work.append((below, iter(self._depends(below))))

    def _is_open(
        self, index: int, number: dict[int, int], open_: dict[int, None], within: frozenset[int] | None
    ) -> bool:
        """Whether a walk goes to a record: it is not judged, and is new to the walk or on its way."""
        if index in self._judged or (within is not None and index not in within):
            return False
        return index not in number or index in open_


def _closed(open_: dict[int, None], root: int) -> list[int]:
    """Take the component of `root` off the way."""
    component: list[int] = []
    while True:
        at, _ = open_.popitem()
        component.append(at)
        if at == root:
            return component
