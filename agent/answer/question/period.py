"""Whether what comes together is asked for: of that no turn is told, which tells a part of it. Pure."""

import re
from typing import Final

from braid.agent.answer.turn.turn import when_of
from braid.recall.decompose import Question
from braid.recall.hits import Hit
from braid.text.dates import iso_dates

_SUM: Final = re.compile(
    r"\bhow much\b.*\b(?:spen[dt]|earn(?:ed)?)\b"
    r"|\bhow much\b(?!.*\b(?:for|to)\b).*\b(?:pay|paid)\b"
    r"|\bhow much\b.*\b(?:pay|paid|cost)\b.*\b(?:in all|altogether|in total|all told|overall)\b"
    r"|\b(?:total|sum)\b.*\b(?:spen[dt]|spending|expenses|paid|earned)\b",
    re.IGNORECASE,
)
_IN_ALL: Final = re.compile(
    r"\b(?:altogether|in all|in total|all told|overall|total|sum|all together)\b", re.IGNORECASE
)
_NUMBER: Final = re.compile(r"(?<![\w.-])[$€£]?\d[\d,.]*\b(?!\s*(?:st|nd|rd|th|am|pm|%)\b)(?![-:/])")


def asks_for_sum(question: Question) -> bool:
    """Whether a question wants what comes together over a time that it names."""
    span = question.time
    return (
        span is not None and (span.since or span.until) is not None and _SUM.search(question.text) is not None
    )


def is_to_be_summed(question: Question, hit: Hit) -> bool:
    """Whether a question wants what comes together, and a turn tells several numbers and no total: none of them is the
    answer, and their sum is nobody's word."""
    if not _IN_ALL.search(question.text) or _IN_ALL.search(hit.text):
        return False
    dates = sum(len(iso) == 10 for iso in iso_dates(hit.text, when_of(hit).date()))
    return len(_NUMBER.findall(hit.text)) - dates > 1
