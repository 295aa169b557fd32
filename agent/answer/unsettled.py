"""Whether what was said later may have changed what answers, where no rule reads that it has. Pure.

"We fly on the Thursday" … "school said no, so I've booked the Friday instead": what comes second by how well it
answers, was said later, speaks of the same, and has a word that goes with change. Such a turn is quoted beside the
first, as one that may have changed it. How often that helps, and how often it only adds a line: ADR 84.
"""

import re
from collections.abc import Sequence
from typing import Final

from braid.agent.answer.spans import AnswerSpan
from braid.text.words import stem, telling, words

RARE: Final = 6
"""A word says what is spoken of where at most one in so many of the turns found has it, or two turns."""
_GOES_WITH_CHANGE: Final = re.compile(
    r"\b(?:instead|after all|sorry|correction|actually|wait|turns out|in the end|mov(?:ed?|es|ing)|chang\w*|switch\w*"
    r"|swapp?\w*|push\w*|postpon\w*|up to|down to|goes (?:up|down)|went (?:up|down)|halve\w*|doubl\w*|made? it|make|now"
    r"|new|only|rather|so it['’]?s|agreed?|decided?|decision|settled|signed|booked|final\w*|ended up)\b",
    re.IGNORECASE,
)
_DENIES: Final = re.compile(
    r"\b(?:off|out|shut|closed|full|gone|lost|sold|broke\w*|dropp\w*|cancel\w*|scrap\w*|not?|never|wrong|mistake|misheard"
    r"|longer|any ?more|(?:is|was|are|were|ca|could|wo|did|does|do)n['’]?t)\b",
    re.IGNORECASE,
)


def may_have_changed(question: str, older: AnswerSpan, newer: str, found: Sequence[str]) -> bool:
    """Whether a turn may say that what answers holds no longer; `found`: all turns that were found, both in it.

    What says the same value again, and denies nothing, bears it out.
    """
    denies = _DENIES.search(newer) is not None
    if not denies and _GOES_WITH_CHANGE.search(newer) is None:
        return False
    said = {stem(word) for word in words(newer)}
    value = _stems(older.short) - {stem(word) for word in words(question)}
    if value and value <= said and not denies:
        return False
    most = max(2.0, len(found) / RARE)
    spoken = [{stem(word) for word in words(text)} for text in found]
    return any(sum(one in each for each in spoken) <= most for one in _stems(older.sentence) & said)


def _stems(text: str) -> set[str]:
    return {stem(word) for word in telling(text)}
