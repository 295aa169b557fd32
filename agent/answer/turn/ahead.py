"""Days to come: where to look for one whose year isn't said, and the last day of a month that is a deadline. Pure."""

import re
from datetime import date, datetime
from typing import Final

from dateutil.relativedelta import relativedelta

from braid.text.calendar import MONTH_NAME, month_of
from braid.text.meanings import Lean

_AHEAD: Final = re.compile(
    r"\b(?:due|deadline|will|going to|booked|plan(?:s|ned|ning)?|expires?|by the end)\b|['’]ll\b",
    re.IGNORECASE,
)
_NOW: Final = re.compile(
    r"\b(?:is|are|am|isn|aren|has to|have to|gets?|getting|runs?|starts?|begins?|opens?|closes?|ends?|comes?|leaves?"
    r"|flies|fly|arrives?|meets?|takes place|travels?|sails?|lands?|returns?|ships"
    r"|wants?|needs?)\b|['’](?:re|m)\b|['’]s (?:on|the|from)\b",
    re.IGNORECASE,
)
"""What is told of a day to come, where nothing says that it is past."""
_THEN: Final = re.compile(
    r"\b(?:was|were|had|did|has|have|been|since|ago|last|yesterday|went|came|got|met|saw|left|began|broke|bought|found"
    r"|gave|took|made|told|said|dated|issued|from(?! [^,.;]*(?:\b(?:to|until|till)\b|[-–—]))"
    r"|(?<!is )(?<!are )(?<!be )(?<!get )(?<!gets )(?<!getting )[a-z]{2,}ed)\b(?! to\b)",
    re.IGNORECASE,
)
_PAST: Final = re.compile(
    r"\b(?:died|born|passed away|went|met|saw|(?<!get )(?<!gets )(?<!getting )married|arrived|happened|took place"
    r"|(?<!is )(?<!are )(?<!be )(?<!being )(?:held|sold))\b",
    re.IGNORECASE,
)
_MONTH_END: Final = re.compile(
    r"\b(?:by|before|(?P<until>until|till)|due(?: in)?(?: at| by)?) the (?:very )?end of"
    rf" (?:(?P<which>the|this|next) month|(?P<month>{MONTH_NAME})\b(?:,? (?P<year>(?:19|20)\d\d)\b)?)",
    re.IGNORECASE,
)


def lean_of(sentence: str) -> Lean:
    """Return where to look for a day without a year: ahead where something is told of what is to come."""
    if _AHEAD.search(sentence):
        return "ahead"
    if _PAST.search(sentence):
        return "past"
    return "ahead" if _NOW.search(sentence) and not _THEN.search(sentence) else "near"


def tells_of_plan(sentence: str) -> bool:
    """Whether a sentence says outright that it tells of what is to come."""
    return _AHEAD.search(sentence) is not None


def month_end(sentence: str, when: datetime, *, until: bool) -> date | None:
    """Return the last day of the month that a sentence, said at `when`, names the end of as a deadline.

    `until`: also as the end of what goes on until then.
    """
    found = _MONTH_END.search(sentence)
    if found is None or (found["until"] and not until):
        return None
    said, last = when.date(), relativedelta(day=31)
    if found["which"]:
        return said + relativedelta(months=int(found["which"].lower() == "next")) + last
    month = month_of(found["month"]) or said.month
    year = int(found["year"]) if found["year"] else said.year + int(month < said.month)
    return date(year, month, 1) + last
