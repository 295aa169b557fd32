"""A statement of what is so now, of which one memory says all but the value: "the rent's 840 now". Pure.

It asks for nothing by itself: where no memory, or more than one, says the rest, it is something told.
"""

import re
from collections.abc import Iterator
from typing import Final

from braid.agent.request.change import values
from braid.agent.request.naming import naming_stems
from braid.agent.request.opening import QUESTION_MARKS
from braid.agent.request.pointing import OWN, Pointed
from braid.text.wording import denies
from braid.text.words import words

_MOST_WORDS: Final = 16
_IT: Final = r"(?:it|that|this|them)"
_CUE: Final = re.compile(
    r"\b(?:(?:from|as of) now on|from now|right now|now|these days|nowadays|btw|by the way|correction|instead"
    r"|(?:i |we )?(?:got|had) (?:it|that|this) wrong|is (?:wrong|outdated|out of date|not right)"
    r"|(?:(?:has|have|was|were|got|is|are) )?(?:just )?(?:been )?(?:moved|changed|rescheduled|shifted|postponed"
    r"|switched|pushed|went up|gone up|dropped)(?: (?:back|forward|up|down))?(?= to\b|[,.;]|$)"
    r"|(?:so |and |can (?:you|u) |could (?:you|u) )*(?:please |pls )?(?:update|change|correct|fix|adjust|amend)"
    rf"(?: {_IT})?(?: (?:please|pls|accordingly))?(?=\W*$))\b|(?<=has )a new\b|(?<=have )a new\b",
    re.IGNORECASE,
)
"""Says that something has changed or was wrong."""
_UNSURE: Final = re.compile(
    r"\b(?:if|when|once|unless|until|because|might|maybe|perhaps|could|would|should|hopefully|hope|think|thought|want"
    r"|wish|wants|wonder|said|says|told|asked|heard|remind|was|were|had|will|going to|than|almost|nearly)\b",
    re.IGNORECASE,
)
"""Says that it isn't so, or that somebody else says it."""
_NAMED: Final = re.compile(
    r"(?P<of>.+?)(?:\W+(?:it['’]?s|it is)|['’]s| is called| is| are| to|[,:])\s+(?P<value>[^,;:]+?)[\s,.!]*",
    re.IGNORECASE,
)


def restated(line: str) -> Iterator[Pointed]:
    """Yield what a line may say anew: each value of it, and what it is of."""
    if len(line.split()) > _MOST_WORDS or line.rstrip().endswith(QUESTION_MARKS) or denies(line):
        return
    bare = _CUE.sub(",", line)
    if bare == line or _UNSURE.search(bare):
        return
    bare = re.sub(r"(?:\s*,)+", ",", bare).strip(" ,.!")
    parts = [(bare.replace(value, " ", 1), value) for value in values(bare)]
    if (found := _NAMED.fullmatch(bare)) is not None:
        parts.append((found["of"], found["value"]))
    is_own = not OWN.isdisjoint(words(line))
    for of, value in parts:
        if stems := naming_stems(of):
            yield Pointed(
                "change", stems, frozenset(), frozenset(), None, is_own, value.strip(), is_stated=True
            )
