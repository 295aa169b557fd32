"""The last day of a month that is a deadline: "by the end of January". Pure."""

import re
from datetime import date, datetime
from typing import Final

from dateutil.relativedelta import relativedelta

from braid.text.calendar import MONTH_NAME, month_of

_MONTH_END: Final = re.compile(
    r"\b(?:by|before|(?P<until>until|till)|due(?: in)?(?: at| by)?) the (?:very )?end of"
    rf" (?:(?P<which>the|this|next) month|(?P<month>{MONTH_NAME})\b(?:,? (?P<year>(?:19|20)\d\d)\b)?)",
    re.IGNORECASE,
)


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
