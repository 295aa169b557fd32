"""The amount, or the day, that answers a question, among what was found and what is held: for sums. Pure."""

import re
from collections.abc import Collection, Iterator, Sequence
from datetime import date
from typing import Final

from braid.agent.answer.question.presupposition import presumed
from braid.agent.program.selection import NoteCandidate, Picked, Stated, known, pick, said_on, stated
from braid.recall.decompose import Question
from braid.recall.hits import Hit
from braid.text.dates import iso_dates
from braid.text.quantities import Quantity, quantities
from braid.text.words import STOP, stem, stems

_IDLE: Final = (
    "much", "many", "cost", "costs", "pay", "paid", "price", "amount", "total", "come", "altogether", "month", "year",
    "week", "day", "rest", "remainder", "balance", "half", "part", "sum", "spend", "spent", "whole", "long",
)  # fmt: skip
"""Words of a question for an amount that its sentence need not have, or has in another form."""
_MONEY: Final = re.compile(
    r"\b(?:how much|prices?|costs?|rent|salary|wages?|pay|paid|earn\w*|deposit|fees?|bill|spen[dt]|owe[ds]?|worth"
    r"|budget|refund|fare|loan|debt|invoice)\b",
    re.IGNORECASE,
)
_AGAIN: Final = re.compile(
    r"\b(?:rent|salary|wages?|earn\w*|subscription|membership|(?:an?|per|each|every) (?:day|week|month|year))\b",
    re.IGNORECASE,
)
_COUNTED: Final = re.compile(r"\bhow many (\w+)(?: (\w+))?", re.IGNORECASE)
_ALL: Final = re.compile(r"\b(?:in all|altogether|in total|all told|all in all|together)\b", re.IGNORECASE)
_DAY_CHARS: Final = 10
_NEARLY: Final = 0.8
"""How well an amount fits of which nothing is missing but the currency."""
_ONLY_RELATED: Final = 0.5
"""How well a number fits that has no unit, or another period than was asked for."""


def amount(question: Question, hits: Sequence[Hit], apart: Collection[tuple[str, str]] = ()) -> Picked | None:
    """Return the amount that answers, None where none does.

    `apart`: records, and amounts in them, that other notes of the same sum were read from: two parts of a sum are not
    one and the same.
    """
    found = [one for one in _amounts(question, hits) if (one.id, one.text) not in apart]
    return pick(found, known(question, hits, _IDLE))


def _amounts(question: Question, hits: Sequence[Hit]) -> Iterator[NoteCandidate]:
    for one in stated(question, hits, _IDLE, split=True):
        whole = _ALL.search(one.part.text) is not None and _COUNTED.search(question.text) is not None
        for read in quantities(one.part.text):
            fit = fits(question.text, read.quantity)
            if fit:
                told = str(read.quantity)
                yield one.candidate(told, told, fit + whole, read.start)


def fits(question: str, found: Quantity) -> float:
    """Return how well an amount is of the kind that a question asks for: 1, less, or 0 where it isn't."""
    counted = _COUNTED.search(question)
    if counted is not None:
        wanted = {Quantity(found.value, word).kind for word in counted.groups() if word and word not in STOP}
        return float(bool(found.kind) and found.kind in wanted)
    if _MONEY.search(question) is None:
        return 1.0 if found.unit else _ONLY_RELATED
    if found.unit and not found.is_money:
        return 0.0
    if _AGAIN.search(question) is not None:
        return (1.0 if found.is_money else _NEARLY) if found.per else _ONLY_RELATED * bool(found.unit)
    return 1.0 if found.is_money else _ONLY_RELATED


def held_amount(question: Question, claim: str) -> str | None:
    """Return the amount that a claim which is held says, where it is about all that the question takes for granted."""
    if not _speaks_of(question, claim):
        return None
    found = [read.quantity for read in quantities(claim) if fits(question.text, read.quantity) >= 1.0]
    return str(found[0]) if len(found) == 1 else None


def day_of(question: Question, hits: Sequence[Hit]) -> Picked | None:
    """Return the day that answers, as ISO text; None where none does."""
    return pick(list(_days(question, hits)), known(question, hits, _IDLE))


def _days(question: Question, hits: Sequence[Hit]) -> Iterator[NoteCandidate]:
    for one in stated(question, hits, _IDLE, split=True):
        named = _named(one)
        for day in named:
            yield one.candidate(day, day, 1.0)
        if not named and one.cover > _ONLY_RELATED:  # told as it happened
            yield one.candidate(said_on(one), said_on(one), 0.0)


def _named(one: Stated) -> list[str]:
    on = date.fromisoformat(said_on(one))
    return [day for day in iso_dates(one.part.text, on) if len(day) == _DAY_CHARS]


def held_day(question: Question, claim: str, on: date) -> str | None:
    """Return the day that a claim which is held says, where it is about all that the question takes for granted."""
    found = [day for day in iso_dates(claim, on) if len(day) == _DAY_CHARS]
    return found[0] if len(found) == 1 and _speaks_of(question, claim) else None


def _speaks_of(question: Question, claim: str) -> bool:
    heard = stems(claim)
    return all(stem(word) in heard for word in presumed(question.text) if word not in _IDLE)
