"""What something was moved or raised from: in "the rent goes up from 870 to 940" the 870, or "instead of 870". Pure.

It answers what was, and nothing that is asked of now.
"""

import re
from typing import Final

_MOVES: Final = (
    r"(?:mov(?:e[sd]?|ing)|(?:go|goes|going|gone|went)|chang(?:e[sd]?|ing)|switch(?:es|ed|ing)?|rais(?:e[sd]?|ing)"
    r"|ris(?:es?|en|ing)|rose|increas(?:e[sd]?|ing)|reduc(?:e[sd]?|ing)|lower(?:s|ed|ing)?|cut(?:s|ting)?"
    r"|drop(?:s|ped|ping)?|f[ae]ll(?:s|en|ing)?|climb(?:s|ed|ing)?|gr(?:ew|ows?|own)|up(?:dat|grad)(?:e[sd]?|ing)"
    r"|extend(?:s|ed|ing)?|bump(?:s|ed|ing)?|up(?:ped)?|down|transferred|relocat(?:e[sd]?|ing)|migrat(?:e[sd]?|ing))"
)
_FROM: Final = re.compile(
    rf"\b{_MOVES}\b[^.;!?\n]{{0,60}}?(?P<left>\bfrom [^;!?\n]{{1,40}}?)(?= (?:up |down |back )?(?:to|into|onto)\b)",
    re.IGNORECASE,
)
_INSTEAD: Final = re.compile(
    r"\b(?P<left>(?:instead of|in place of|rather than) [^,;.!?\n]{1,20}(?:[.,:]\d+)?)", re.IGNORECASE
)
_EARLIER: Final = (
    r"before|used to|original(?:ly)?|first|initial(?:ly)?|previous(?:ly)?|former(?:ly)?|earlier|old"
)
_OF_EARLIER: Final = re.compile(rf"\b(?:{_EARLIER})\b", re.IGNORECASE)
_OF_BEFORE: Final = re.compile(
    rf"\b(?:from(?=\W*$)|{_EARLIER}|until|till|was|were|had|started|begin|began|leave|left)\b", re.IGNORECASE
)
_TO: Final = re.compile(r"\bto\W*$", re.IGNORECASE)


def of_time_asked(asked: str, text: str) -> str:
    """Return a text, as long as before, with blanks for what something was moved from; with blanks for all else, where
    what was before is asked for; as it is, where either may be."""
    spans = [found.span("left") for pattern in (_FROM, _INSTEAD) for found in pattern.finditer(text)]
    if spans and _OF_EARLIER.search(asked):
        start, stop = spans[0]
        return " " * start + text[start:stop] + " " * (len(text) - stop)
    if _OF_BEFORE.search(asked) and not _TO.search(asked):
        return text
    for start, stop in spans:
        text = text[:start] + " " * (stop - start) + text[stop:]
    return text
