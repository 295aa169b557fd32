"""What was so before: the turn that a question about an earlier state of things means. Pure.

"Where did I live before?" means what was replaced last, "at first" what was said first, "before Lisbon" what was said
before Lisbon was. What has been replaced comes marked from recall; what was only said anew is told apart by its day.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Final, Literal

import msgspec

from braid.agent.answer.change.variants import variants
from braid.agent.answer.choice.quotes import QuoteChoice, choices
from braid.agent.answer.turn.turn import when_of
from braid.recall.decompose import Question, decompose
from braid.recall.hits import Hit
from braid.text.calendar import MONTHS_AND_WEEKDAYS
from braid.text.words import words

Which = Literal["before", "first"]
_BEFORE: Final = re.compile(
    r"\b(?:before(?: (?:that|then|now|this))?(?=\s*[?.!]*\s*$)|(?:previously|formerly)\b)", re.IGNORECASE
)
_FIRST: Final = re.compile(
    r"\b(?:at first|originally|initially|to (?:begin|start) with|(?:at|in) the (?:very )?(?:start|beginning)"
    r"|first (?:say|tell)(?: (?:you|me))?(?: that)?)\b",
    re.IGNORECASE,
)
_AHEAD_OF: Final = re.compile(r"\bbefore (?P<what>(?:[A-Z\d][\w'’.-]*\s*)+)[?.!]*\s*$")


class FormerState(msgspec.Struct, frozen=True):
    """Which earlier state is asked for, and the question without the words that say so; `what`: the one after it."""

    which: Which
    text: str
    what: str = ""


class Former(msgspec.Struct, frozen=True):
    """The turn that is meant, and when it was replaced; None where nothing says so."""

    choice: QuoteChoice
    until: datetime | None


def wanted(text: str) -> FormerState | None:
    """Return which earlier state of things a question asks for; None where it asks for none."""
    if (found := _AHEAD_OF.search(text)) is not None:
        what = found["what"].strip(" .!?")
        if MONTHS_AND_WEEKDAYS.isdisjoint(words(what)) and not what.isdigit():
            return FormerState("before", _without(found, text), what)
        return None
    if (found := _BEFORE.search(text)) is not None:
        return FormerState("before", _without(found, text))
    found = _FIRST.search(text)
    return FormerState("first", _without(found, text)) if found is not None else None


def _without(found: re.Match[str], text: str) -> str:
    return f"{' '.join((text[: found.start()] + text[found.end() :]).split()).rstrip(' ?.!')}?"


def former(asked: FormerState, hits: Sequence[Hit], now: datetime) -> Former | None:
    """Return the turn that is meant; None where nothing earlier was found."""
    question = decompose(asked.text, now)
    found = [one for one in choices(question, hits) if one.has_all(question)]
    by_id = {hit.id: hit for hit in hits}
    gone = [one for one in found if one.hit.superseded_by is not None]
    if gone:
        best = max(gone, key=lambda one: one.worth)
        chain = [one for one in gone if one.hit.superseded_by == best.hit.superseded_by]
        chosen = (max if asked.which == "before" else min)(chain, key=lambda one: one.hit.index)
        by = by_id.get(str(chosen.hit.superseded_by))
        return Former(chosen, by.record.created_at if by is not None else None)
    return _said_anew(asked, question, found)


def _said_anew(asked: FormerState, question: Question, found: Sequence[QuoteChoice]) -> Former | None:
    """Return what was said before something else was said in its place."""
    if not found:
        return None
    if asked.what:
        named = set(words(asked.what))
        after = [one for one in found if named <= set(words(one.hit.text))]
        since = min((when_of(one.hit) for one in after), default=None)
        earlier = [one for one in found if one not in after and since and when_of(one.hit) < since]
        best = max(earlier, key=lambda one: when_of(one.hit), default=None)
        return Former(best, since) if best is not None else None
    line = variants(question, max(found, key=lambda one: one.worth), found)
    if not line:
        return None
    at = -2 if asked.which == "before" else 0
    return Former(line[at], when_of(line[at + 1].hit))
