"""Where candidates disagree: each one's answer, the entropy over them, and what tells them apart. Pure.

A candidate's answer is its claim; else what of the wanted kind it says: a date, a number, a name. Where the candidates
agree, or say nothing of the kind, the order stays.
"""

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

import numpy as np

from braid.ledger.record.record import ExperienceBody
from braid.recall.decompose import Question, entities
from braid.recall.pool import Floats
from braid.text.calendar import MONTHS
from braid.text.numbers import WORD
from braid.text.words import stem, telling

WEIGHT: Final = 0.25
_MONTH: Final = "|".join(month for month in MONTHS if month != "may")
_DATE: Final = re.compile(
    rf"\b(?:\d{{4}}-\d\d-\d\d|(?:\d{{1,2}}(?:st|nd|rd|th)? )?(?:{_MONTH}|may \d{{1,4}})(?:,? \d{{4}})?"
    r"|(?:19|20)\d\d|yesterday|today|tomorrow"
    r"|(?:last|next|this) (?:week|month|year|weekend|\w+day)|\w+ (?:days?|weeks?|months?|years?) ago)\b",
    flags=re.IGNORECASE,
)
_NUMBER: Final = re.compile(
    rf"\b(?:\d[\d,.]*\b|{WORD}|(?:once|twice|dozen|hundred)\b)",
    flags=re.IGNORECASE,
)


def answer_of(question: Question, text: str, body: ExperienceBody | None = None) -> str | None:
    """Return what a candidate answers, in a form that can be compared; None where it says nothing of the kind."""
    if body is not None and (claim := _claim(question, body)) is not None:
        return claim
    if question.intent in ("time", "duration"):
        return _first(_DATE, text)
    if question.intent == "count":
        return _first(_NUMBER, text)
    if question.intent in ("person", "place"):
        asked = {name.lower() for name in question.entities}
        return next((name.lower() for name in entities(text) if name.lower() not in asked), None)
    return None


def _claim(question: Question, body: ExperienceBody) -> str | None:
    """Return the object of the claim that shares most with the question, with its polarity."""
    stems = set(question.stems)
    best = max(
        body.symbolic,
        key=lambda claim: len(stems & {stem(word) for word in telling(f"{claim.subject} {claim.rel}")}),
        default=None,
    )
    return None if best is None else f"{'' if best.polarity else 'not '}{best.object.lower()}"


def _first(pattern: re.Pattern[str], text: str) -> str | None:
    match = pattern.search(text)
    return match[0].lower() if match else None


def entropy(answers: Sequence[str | None], scores: Floats) -> tuple[float, dict[str, float]]:
    """Return the entropy of the answers in [0, 1], and the share of the scores' mass behind each answer."""
    grown = np.exp(scores - scores.max(initial=0.0))
    masses: defaultdict[str, float] = defaultdict(float)
    for answer, mass in zip(answers, grown.tolist(), strict=True):
        if answer is not None:
            masses[answer] += mass
    total = sum(masses.values())
    shares = {answer: mass / total for answer, mass in masses.items()} if total else {}
    if len(shares) < 2:
        return 0.0, shares
    return -sum(p * math.log(p) for p in shares.values() if p) / math.log(len(shares)), shares


def discriminative(answers: Sequence[str | None], scores: Floats) -> Floats:
    """Return float64[n] in [0, 1]: how much each candidate tells the others apart.

    Its answer's surprise (1 less its share), times the disagreement there is; nothing for a candidate without one.
    """
    disagreement, shares = entropy(answers, scores)
    return np.array([disagreement * (1.0 - shares[each]) if each is not None else 0.0 for each in answers])


def reranked(answers: Sequence[str | None], scores: Floats, weight: float = WEIGHT) -> Floats:
    """Return the scores with what tells the candidates apart added."""
    return scores + weight * discriminative(answers, scores)
