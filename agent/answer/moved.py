"""What something was moved or raised from: in "the rent goes up from 870 to 940" the 870. Pure.

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
_OF_BEFORE: Final = re.compile(
    r"\b(?:from(?=\W*$)|before|used to|original(?:ly)?|first|initial(?:ly)?|previous(?:ly)?|former(?:ly)?|earlier|old"
    r"|until|till|was|were|had|started|begin|began|leave|left)\b",
    re.IGNORECASE,
)
_TO: Final = re.compile(r"\bto\W*$", re.IGNORECASE)


def without_left(asked: str, text: str) -> str:
    """Return a text, as long as before, with blanks for what something was moved from; as it is, where that is asked
    for."""
    if _OF_BEFORE.search(asked) and not _TO.search(asked):
        return text
    for found in _FROM.finditer(text):
        start, stop = found.span("left")
        text = text[:start] + " " * (stop - start) + text[stop:]
    return text
