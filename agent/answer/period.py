"""Sums over a time: "How much did I spend in April?" is answered by nothing of May, and hardly by one amount. Pure."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from dateutil.relativedelta import relativedelta

from braid.agent.answer.counts import has_money
from braid.agent.answer.turns import when_of
from braid.recall.decompose import Question
from braid.recall.hits import Hit
from braid.text.calendar import Span
from braid.text.dates import iso_dates
from braid.text.sentences import sentences

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
_STEPS: Final = {4: relativedelta(years=1), 7: relativedelta(months=1), 10: relativedelta(days=1)}


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


def of_period(question: Question, hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits that tell of the time which a question names: by a date in them, else by when they were said."""
    span = question.time
    return [hit for hit in hits if span is None or _is_of(hit, span)]


def amounts_met(hits: Sequence[Hit]) -> int:
    """Return how many sentences of the hits tell an amount of money."""
    return sum(has_money(part.text) for text in {hit.text for hit in hits} for part in sentences(text))


def _is_of(hit: Hit, span: Span) -> bool:
    when = when_of(hit)
    named = iso_dates(hit.text, when.date())
    if not named:
        return _meets(span, when, when)
    return any(
        _meets(span, start, start + _STEPS[len(iso)]) for iso in named if (start := _start(iso)) is not None
    )


def _start(iso: str) -> datetime | None:
    try:
        return datetime.fromisoformat(f"{iso}{'-01-01'[: 10 - len(iso)]}").replace(tzinfo=UTC)
    except ValueError:  # 31 February
        return None


def _meets(span: Span, start: datetime, stop: datetime) -> bool:
    """Whether a stretch of time has something of a span."""
    before = span.until is not None and start >= span.until
    after = span.since is not None and stop <= span.since and start < span.since
    return not (before or after)
