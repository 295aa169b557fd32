"""A line that hands a text over: "Translate this:", "My boss wrote:". What stands behind it is another's. Pure."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from braid.text import labels

_ON_WORDS: Final = (
    r"(?:translat(?:e|ion)|summari[sz](?:e|ation)|tl;?dr|proof-?read|re-?write|re-?phrase|re-?word|paraphrase|shorten"
    r"|condense|polish|grammar|spell(?:ing|check))"
)
"""What is done to words alone."""
_WORK: Final = (
    rf"(?:{_ON_WORDS}|correct|fix|edit|improve|check(?! (?:this|it) out)|review|analy[sz]e|critique|classify|convert"
    r"|extract)"
)
"""What is asked to be done with a text."""
_DO_WORDS: Final = re.compile(rf"\b{_ON_WORDS}\b", re.IGNORECASE)
_DO: Final = re.compile(rf"\b{_WORK}\b", re.IGNORECASE)
_INLINE: Final = re.compile(
    r"\s*(?:(?:please|now|can you|could you|would you|pls|kindly),? ){0,2}"
    r"(?:translate|summari[sz]e|proof-?read|re-?write|re-?phrase|re-?word|paraphrase"
    r"|(?:finish|complete|continue)(?= th(?:is|ese)\b))\b[^:\n.!?]{0,60}:(?=\s*\S)",
    re.IGNORECASE,
)
_TEXT: Final = re.compile(
    r"\b(?:outputs?|transcript|article|e-?mails?|mails?|messages?|letter|lyrics|song|poem|quotes?|excerpt|passage"
    r"|paragraphs?|text|tweets?|cv|résumé|resume|document|snippet|code|conversation|chat|thread|response|speech|interview|blog"
    r"|web ?page|website)\b",
    re.IGNORECASE,
)
_FROM: Final = re.compile(r"\bfrom (?!me\b|us\b)\w|\b(?:my|our) [\w-]+['’]s\b", re.IGNORECASE)
_TAKEN: Final = re.compile(r"\b(?:copied|pasted|taken|quoted) from\b", re.IGNORECASE)
_WROTE: Final = re.compile(
    r"\b(?P<who>[\w'’-]+) (?:just |has |had |also )?(?:wrote|writes|written|said|says|sent|texted|posted|returned"
    r"|returns|replied|shared|reads|told|answered)\b",
    re.IGNORECASE,
)
_THIS: Final = re.compile(
    r"(?<!is )(?<!['’]s )(?<!like )\b(?:this|these|the following|below)"
    r"(?: (?:lines?|sentences?|bit|part|one|person|guy|user|review|story|ad|post|comment|log|result|prompt"
    r"|description|means?|says?))?$",
    re.IGNORECASE,
)
_POINTED: Final = re.compile(r"\b(?:this|these|following|below|attached)\b", re.IGNORECASE)
_KEEP: Final = re.compile(
    r"\b(?:remember|note|keep|save|store|memori[sz]e|know|consider)\b|\b(?:about|of|for) (?:me|myself|my|us)\b"
    r"|^\W*(?:so |and |well )?(?:to|let me|i['’]ll|i will|i want to|i['’]d like to)\b",
    re.IGNORECASE,
)
"""Words by which the speaker tells of themselves: "remember this:", "some facts about me:", "to answer that:"."""
_ABOVE: Final = re.compile(rf"\b{_WORK}\b.{{0,40}}\babove\b", re.IGNORECASE)


class Line(NamedTuple):
    """A line of a text: where it stands, and as much of it as is looked at."""

    start: int
    stop: int
    text: str
    is_blank: bool


def handed_over(lines: Sequence[Line]) -> int | None:
    """Return where a text begins that a line before it hands over."""
    last = max((line.start for line in lines if not line.is_blank), default=0)
    for place, line in enumerate(lines):
        if line.is_blank or is_quoted(lines[place : place + 3]):
            continue
        if (match := _INLINE.match(line.text)) is not None:
            return line.start + match.end()
        if line.start < last and _hands_over(line.text.strip(" \t*_#>\r")):
            return line.stop
    return None


def is_quoted(lines: Sequence[Line]) -> bool:
    """Whether of a line and those behind it one is marked as a quotation (">"): then all that isn't marked is said."""
    return any(line.text.lstrip().startswith(">") for line in lines)


def _hands_over(line: str) -> bool:
    """Whether a line asks for something to be done with what follows it, or says whose words that is."""
    last = re.split(r"[.!?]\s+", line.rstrip(".!?"))[-1]
    if not last or _KEEP.search(last):
        return False
    of_text = _TEXT.search(last) is not None
    if not line.endswith(":"):
        do = _DO if of_text else _DO_WORDS
        return line[-1] in ".!?" and do.search(last) is not None and _POINTED.search(last) is not None
    last = last.rstrip(": ")
    if _TAKEN.search(last) or any(one["who"].lower() not in ("i", "we") for one in _WROTE.finditer(last)):
        return True
    if labels.FIRST.search(last):
        return of_text and (_DO.search(last) is not None or _FROM.search(last) is not None)
    return of_text or any(one.search(last) for one in (_DO, _THIS))


def taken_up(lines: Sequence[Line]) -> int | None:
    """Return where a last line begins that asks for something to be done with the text above it."""
    last = next((line for line in reversed(lines) if not line.is_blank), None)
    return last.start if last is not None and last.start and _ABOVE.search(last.text) else None
