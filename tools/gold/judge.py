"""What was answered held against what is right: a verdict for each task. Pure.

Words are compared, not spelling: lower case, without punctuation; 54.00 is 54, 1,180 is 1180. What must be said may
stand anywhere in the answer; what holds no more must not be what it comes to (`short`).
"""

import re
from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from braid.agent.bands import band
from braid.tools.gold.tasks import NOTHING, UNDECIDED, Groups, Manner, Task

Verdict = Literal["right", "pointed", "silent", "wrong"]
"""pointed: what is right was found, but only as the nearest there is, not said to be the answer."""
Stood = Literal["as expected", "nothing held", "other"]
_WORD: Final = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:'[^\W\d_]+)*")
_CHECKS: Final = frozenset(("yes", "no"))
_MANNERS: Final[dict[Manner, tuple[str, bool]]] = {
    "warm": ("tone warm", True), "not warm": ("tone warm", False),
    "urgent": ("urgent,", True), "not urgent": ("urgent,", False),
}  # fmt: skip
"""What must stand in the words of a style, or must not."""


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """What was answered to a task, by whichever way it was asked. `cited` names turns by their own ids."""

    text: str
    """Without citations."""
    short: str
    p: float
    abstained: bool
    cited: tuple[str, ...]
    held: str | None
    """The claim that is held of the question."""
    undecided: bool
    """Whether claims were weighed, and none is held."""
    manner: str
    tokens: tuple[int, int]
    ms: float
    degraded: tuple[str, ...] = ()
    model: str | None = None
    """Whose words these are; None where no model's are."""


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """A task, what was answered, and how that compares."""

    id: str
    kind: str
    part: str
    verdict: Verdict
    stance: Stood
    said: bool
    """Whether anything was said, be it as the nearest there is."""
    claimed: bool
    """Whether it was given as an answer, and not only pointed at."""
    fits: bool
    """Whether what was said is right, however surely it was put."""
    cited: int
    cited_right: int
    evidence: int
    found: int
    given: Given


def judge(task: Task, given: Given) -> Judged:
    """Compare an answer with what is right."""
    fits = is_met(task.wanted(), given) and not any(_has(given.short, each) for each in task.never)
    right = {id for group in task.evidence for id in group}
    return Judged(
        id=task.id,
        kind=task.kind,
        part=task.part,
        verdict=_verdict(task, given, fits=fits),
        stance=_stood(task, given),
        said=not given.abstained,
        claimed=_claims(given),
        fits=fits and bool(task.wanted()) and not given.abstained,
        cited=len(given.cited),
        cited_right=sum(id in right for id in given.cited),
        evidence=len(task.evidence),
        found=sum(not set(group).isdisjoint(given.cited) for group in task.evidence),
        given=given,
    )


def is_met(groups: Groups, given: Given) -> bool:
    """Whether an answer says one of each group. Yes and no are what it begins with, or comes to."""
    return all(any(_says(given, each) for each in group) for group in groups)


def _says(given: Given, wanted: str) -> bool:
    if wanted in _CHECKS:
        return any(words(said)[:1] == [wanted] for said in (given.short, given.text))
    return _has(given.text, wanted) or _has(given.short, wanted)


def _has(text: str, wanted: str) -> bool:
    there, those = words(text), words(wanted)
    return any(there[at : at + len(those)] == those for at in range(len(there) - len(those) + 1))


def words(text: str) -> list[str]:
    """Return the words of a text as they are compared."""
    return [_number(word) for word in _WORD.findall(text.lower().replace("’", "'"))]


def _number(word: str) -> str:
    if not word[0].isdigit():
        return word
    plain = re.sub(r",(?=\d{3}(?:\D|$))", "", word)
    return re.sub(r"\.0+$", "", plain)


def _claims(given: Given) -> bool:
    """Whether an answer is given, and not only pointed at."""
    return not given.abstained and (given.model is not None or band(given.p) != "unsaid")


def _verdict(task: Task, given: Given, *, fits: bool) -> Verdict:
    claimed = _claims(given)
    as_it_should = fits and (task.manner is None or sounds(task.manner, given.manner))
    if task.then == "how":  # what is said of an answer is beyond doubt, also that there was none
        return "right" if fits else "silent" if given.abstained else "wrong"
    if task.answer is None:
        return "right" if not claimed or (bool(task.accept) and as_it_should) else "wrong"
    if claimed:
        return "right" if as_it_should else "wrong"
    return "pointed" if fits and not given.abstained else "silent"


def sounds(wanted: Manner, manner: str) -> bool:
    """Whether a manner, in the words of a style, is the one that is wanted."""
    words_of_it, there = _MANNERS[wanted]
    return (words_of_it in manner) is there


def _stood(task: Task, given: Given) -> Stood:
    if given.held is None:
        expected = task.stance == NOTHING or (task.stance == UNDECIDED and given.undecided)
        return "as expected" if expected else "nothing held"
    if task.stance in (NOTHING, UNDECIDED):
        return "other"
    return "as expected" if _has(given.held, task.stance) else "other"


def failures(judged: Sequence[Judged]) -> list[Judged]:
    """Return the answers that are not right, worst first: what was said wrongly before what was not said."""
    order = ("wrong", "silent", "pointed")
    return sorted(
        (one for one in judged if one.verdict != "right"), key=lambda one: (order.index(one.verdict), one.id)
    )
