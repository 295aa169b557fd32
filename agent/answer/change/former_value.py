"""What something was moved or raised from, or can't be: in "the rent goes up from 870 to 940" the 870, in "95 is too
much" the 95. Pure.

It answers what was, and nothing that is asked of now.
"""

import re
from typing import Final

from braid.text.numbers import WORD

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
CANNOT: Final = (
    r"(?:\bcan(?:no|['’])?t|\bwo(?:uld)?n['’]?t|\b(?:do|does|did)n['’]?t) (?:do|make|work|suit|fit|come)\b"
)
IS_OUT: Final = (
    r"(?:\b(?:is|are|was|were)|['’]s|['’]re)(?: (?:way|much|far|a bit|just|really|so))*"
    r" (?:too \w+|bad|no good|impossible|off|out|taken|done|full|gone|broken|cancelled|sold out|worn out|over)\b"
)
"""Says of what stands before it that it can't be, or is over: "wednesday is bad"."""
_SUM: Final = r"[$€£]?\d[\d.,]*(?: ?[$€£%]| (?:euros?|pounds?|dollars?|quid))?"
_REFUSED: Final = re.compile(rf"(?P<before>{_SUM})(?={IS_OUT})|{CANNOT} (?P<behind>{_SUM})", re.IGNORECASE)
_AMOUNT: Final = rf"(?:[$€£]?\d(?:[\d.,:]*\d)?(?: ?[$€£%])?|\b{WORD}(?: {WORD})?)"
_SLIPPED: Final = re.compile(
    rf"(?P<left>(?<![\w.,]){_AMOUNT}(?: (?:an? )?[a-z]+){{0,2}}?)(?=[\s,.…–—-]+(?:(?:no|nope|wait|sorry|oops|hang on"
    rf"|scratch that|i mean|i meant|make (?:it|that)|or rather|correction)\b[\s,.:…–—-]*)+{_AMOUNT}(?![\w-]))",
    re.IGNORECASE,
)
"""A number that is taken back in the same breath: "12 pounds no wait 14"."""
_TO: Final = re.compile(r"\bto\W*$", re.IGNORECASE)


def of_time_asked(asked: str, text: str) -> str:
    """Return a text, as long as before, with blanks for what something was moved from and for sums that are refused;
    with blanks for all else, where what was before is asked for; as it is, where either may be. What was a slip of the
    tongue never was."""
    text = _SLIPPED.sub(lambda slip: " " * len(slip[0]), text)
    left = [found.span("left") for pattern in (_FROM, _INSTEAD) for found in pattern.finditer(text)]
    if left and _OF_EARLIER.search(asked):
        start, stop = left[0]
        return " " * start + text[start:stop] + " " * (len(text) - stop)
    if _OF_BEFORE.search(asked) and not _TO.search(asked):
        return text
    refused = [found.span(found.lastgroup or 0) for found in _REFUSED.finditer(text)]
    for start, stop in (*left, *refused):
        text = text[:start] + " " * (stop - start) + text[stop:]
    return text
