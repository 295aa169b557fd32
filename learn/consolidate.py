"""What waits in staging beside what has been said since: found again, contradicted, or neither. Pure.

A claim that one turn was too weak for is borne out by other words of the same owner's memory that say the same. What a
stated claim contradicts is not. Anything between the two is left for a person, and so is what only a person may let in.
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Final, Literal, NamedTuple

from braid.learn.gates.consistency import MAX_COMPARED, alike_key, is_same
from braid.ledger.record.source import BELIEVED, RANK, is_least
from braid.stance.claims import RecordedClaim, clash, overlap
from braid.stance.culprit import STANDING

RULES: Final = "consolidation@1"
"""The rules and their version."""
FOR_PEOPLE: Final = ("safety",)
"""Gates that let a claim wait until a person lets it in, whatever was said since."""
UNREAD: Final = ("entailment",)
"""Gates that looked at nothing, for want of a parse: two such claims don't bear each other out."""
_STATED: Final = STANDING["explicit"]
_INFERRED: Final = STANDING["inferred"]
Verdict = Literal["accepted", "rejected", "left"]


class Heard(NamedTuple):
    """A claim with the words that it was read from.

    `owner`: whose memory it is of; `roots`: the records without parents that it descends from, by log index; `words`:
    those of its turn, in normal form; `why`: `gate:outcome` that let it wait, empty for what is known; `has_say`:
    whether a stance weighs it.
    """

    said: RecordedClaim
    owner: tuple[str | None, ...]
    session: str | None
    roots: frozenset[int]
    words: str
    why: str = ""
    has_say: bool = True

    @property
    def gate(self) -> str:
        """The gate that let it wait."""
        return self.why.partition(":")[0]


class Finding(NamedTuple):
    """What becomes of a claim that waits, and the claim by which: none where it is left."""

    waiting: Heard
    verdict: Verdict
    by: Heard | None = None


def review(waiting: Sequence[Heard], known: Iterable[Heard]) -> list[Finding]:
    """Return what becomes of each claim that waits, in the order given. `known`: claims that are no staged ones.

    Each is compared with the newest `MAX_COMPARED` of its owner, subject and relation, of either kind.
    """
    beside: dict[Hashable, list[Heard]] = {}
    for one in sorted((*known, *waiting), key=lambda each: (each.said.index, each.said.k)):
        beside.setdefault(_key(one), []).append(one)
    return [_judged(one, beside[_key(one)]) for one in waiting]


def _judged(one: Heard, beside: Sequence[Heard]) -> Finding:
    if one.gate in FOR_PEOPLE or not is_least(one.said.source, BELIEVED):
        return Finding(one, "left")
    near = beside[-MAX_COMPARED:]
    again = next(_witnesses(one, near), None)
    against = next((other for other in near if _contradicts(other, one)), None)
    if again is not None and against is None:
        return Finding(one, "accepted", again)
    if against is not None and again is None:
        return Finding(one, "rejected", against)
    return Finding(one, "left")  # neither, or both: a person looks at it


def _key(one: Heard) -> Hashable:
    return one.owner, alike_key(one.said.claim)


def _witnesses(one: Heard, near: Iterable[Heard]) -> Iterator[Heard]:
    """Yield what says the same independently: what is known first, since it needs no other to be so."""
    found = [other for other in near if _bears_out(other, one)]
    yield from sorted(found, key=lambda other: bool(other.why))


def _bears_out(other: Heard, one: Heard) -> bool:
    if (
        other.said.derived
        or not is_same(other.said.claim, one.said.claim)
        or not overlap(other.said, one.said)
    ):
        return False
    if other.why and (other.gate in FOR_PEOPLE or other.gate in UNREAD or one.gate in UNREAD):
        return False
    if not other.why and not other.has_say:
        return False
    return _may_vouch(other, one) and is_independent(other, one)


def _may_vouch(other: Heard, one: Heard) -> bool:
    """Whether a claim's words are of a class that may bear another out: no lower, and no agent's, who repeats itself
    and what it was shown."""
    source = other.said.source
    return source != "agent" and is_least(source, BELIEVED) and RANK[source] >= RANK[one.said.source]


def is_independent(one: Heard, other: Heard) -> bool:
    """Whether two claims are read from words of their own: nothing is behind both, and where the words are the same,
    they were said in two sessions, at two times. A message that was sent twice is one, as is one that was copied."""
    if one.roots & other.roots:
        return False
    if one.words != other.words:
        return True
    in_two = one.session is not None and other.session is not None and one.session != other.session
    return in_two and one.said.said != other.said.said


def _contradicts(other: Heard, one: Heard) -> bool:
    """Whether a known claim that was stated, and has a say, excludes one that waits and takes its say."""
    said, mine = other.said, one.said
    if other.why or not other.has_say or said.rank < _STATED or RANK[said.source] < RANK[mine.source]:
        return False
    if clash(mine, said) is None or not overlap(mine, said):
        return False
    return STANDING[mine.claim.source_type] == _INFERRED or said.recency >= mine.recency
