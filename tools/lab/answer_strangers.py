"""Questions that nobody can answer, made of some that can be: what was asked of one conversation, asked of another.

"What does Ann collect?" with Bob's name in it, where Bob never said. LoCoMo's own unanswerable questions are mostly of
what the other speaker did; these are of what nobody spoke of.
"""

import random
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from braid.tools.evaluation.answers import Case, collect
from braid.tools.evaluation.exams import Exam, Gold

OF_EACH: Final = 20
"""How many questions of each other conversation each is asked."""
SEED: Final = 7
_KINDS: Final = frozenset(("1", "2", "4"))


class Stranger(msgspec.Struct, frozen=True):
    """A question that was put to another conversation than `of`, which it was written for."""

    case: Case
    of: int


def strangers(exams: Sequence[Exam]) -> list[Stranger]:
    """Return what a store gave for questions that were written for others of these conversations."""
    draw = random.Random(SEED)
    asked = [list(asked_of(exams, number, draw)) for number in range(len(exams))]
    cases = collect(
        [
            Exam(exam.sample, [gold for gold, _ in some], exam.learnt_from)
            for exam, some in zip(exams, asked, strict=True)
        ]
    )
    sources = [of for some in asked for _, of in some]
    return [Stranger(case, of) for case, of in zip(cases, sources, strict=True)]


def asked_of(exams: Sequence[Exam], number: int, draw: random.Random) -> Iterator[tuple[Gold, int]]:
    """Yield questions of the other conversations with this one's speakers in them, and where they are from."""
    here = speakers(exams[number])
    for of, exam in enumerate(exams):
        there = speakers(exam)
        taught = exam.learnt_from and exams[number].learnt_from
        if of == number or not taught or min(len(here), len(there)) < 2:
            continue
        swap = dict(zip(there, here, strict=False))
        some = [gold for gold in exam.questions if gold.category in _KINDS and _names_one(gold.text, there)]
        for gold in draw.sample(some, min(OF_EACH, len(some))):
            named = next(name for name in there if name in gold.text)
            text = gold.text.replace(named, swap[named])
            yield Gold(text, "strange", answerable=False, answer=None, evidence=()), of


def _names_one(question: str, names: Sequence[str]) -> bool:
    return sum(name in question for name in names) == 1


def speakers(exam: Exam) -> list[str]:
    """Return the first two who speak in a conversation."""
    return list(dict.fromkeys(turn.speaker for turn in exam.sample.turns))[:2]
