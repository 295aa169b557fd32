"""What a sentence says to a question that wants a yes or a no: yes, no, or neither. Pure.

"Am I still taking the course?" is answered by "I've pulled out of it", whatever was said before. A sentence says yes
only where it tells all that is asked, of its own accord: no "if", no "she says", no wish.
"""

import re
from collections.abc import Sequence
from typing import Final, Literal

from braid.recall.decompose import Question
from braid.recall.text import stem, telling
from braid.stance.claims import Said
from braid.stance.reconcile import Outcome

Verdict = Literal["yes", "no"]
_ENDED: Final = re.compile(
    r"\b(?:cancell?ed|called off|scrap(?:ped)?|pulled out|dropped out|backed out|gave up|given up|giving up|quit"
    r"|stopped|sold|paid (?:me |us |it )?(?:back|off)|no longer|not any ?more|broke up|split up|closed down|is over"
    r"|forget what i said|(?:that|it) was(?:n['’]t true| wrong))\b",
    re.IGNORECASE,
)
_DENIED: Final = re.compile(r"\b(?:not|never|none|nobody|no)\b|n['’]t\b|\bwithout\b", re.IGNORECASE)
_OPEN: Final = re.compile(
    r"\b(?:if|unless|would|wouldn['’]t|could|might|may|maybe|perhaps|wish|hope|hypothetically|imagine|says?|said|claims?"
    r"|thinks?|told|according|should|almost|nearly|plan(?:ning)?)\b|['’]d\b|\?",
    re.IGNORECASE,
)
MEANT: Final = 2 / 3
"""What share of a claim's words a question must have to be about it."""


def verdict(question: Question, said: str) -> Verdict | None:
    """Return what a sentence, with what follows it, says to a question; None where it isn't a plain yes or no."""
    if question.intent != "check" or _DENIED.search(question.text):
        return None
    has = {stem(word) for word in telling(said)}
    met = [each for each in question.stems if each in has]
    if not met:
        return None
    if _ENDED.search(said):
        return "no"
    if _OPEN.search(said):
        return None
    whole = len(met) == len(question.stems)
    if _DENIED.search(said):
        return "no" if whole else None
    return "yes" if whole and len(met) > 1 else None


def denied(question: Question, outcome: Outcome | None) -> Said | None:
    """Return a claim that stands and says no to a question; None where there is none, or it is of something else."""
    if outcome is None or question.intent != "check" or any(said.claim.polarity for said in outcome.support):
        return None
    standing = [one.said for one in outcome.candidates if one.held and not one.said.claim.polarity]
    meant = [said for said in standing if is_about(question, said.claim.object)]
    return max(meant, key=lambda said: said.said, default=None)


def is_about(question: Question, object_: str) -> bool:
    """Whether a question has most words of a claim's object, in any form."""
    return _share(question.stems, [stem(word) for word in telling(object_)]) >= MEANT


def _share(asked: Sequence[str], wanted: Sequence[str]) -> float:
    return sum(any(_alike(each, one) for one in asked) for each in wanted) / len(wanted) if wanted else 0.0


def _alike(one: str, other: str) -> bool:
    """Whether two stems are of one word, as far as their beginnings tell: broken, broke."""
    return one == other or (min(len(one), len(other)) > 3 and one[:4] == other[:4])
