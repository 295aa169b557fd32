"""What a text comes to as a note of a few tokens: names, values and the finding, not its first words. Pure.

After Chain of Draft (Xu et al., 2025): of the sentence that bears most on the question the words that say something are
kept, in their order; names, values and denials before the rest, of that what stands nearest to them.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from braid.lenses.entity import names
from braid.recall.context import tokens
from braid.text.dates import places
from braid.text.quantities import quantities
from braid.text.sentences import sentences
from braid.text.words import STOP, stem, telling_stems, words

_REPORTED: Final = re.compile(r"^[^“”:]{1,80}: “(?P<said>[^”]+)”")
_WORD: Final = re.compile(r"\S+")
_DENIES: Final = re.compile(
    r"(?:not?|never|nor|none|nobody|nothing|without|cannot|\w+n['’]t)\W*", re.IGNORECASE
)
_IDLE: Final = STOP | {
    "well",
    "oh",
    "really",
    "because",
    "actually",
    "just",
    "know",
    "like",
    "think",
    "thing",
    "things",
}
_LEADS: Final = frozenset(
    ("from", "to", "in", "at", "on", "by", "until", "since", "for", "with", "of", "than", "per")
)
"""Words that say what a name or a value is to the rest: they stay with it."""
_FIRST, _NEXT = 2, 1
_EDGES: Final = ' ,;:.!?–—"“”()'


class _Piece(NamedTuple):
    """A word, or words that stand together, and how much it is worth."""

    start: int
    stop: int
    worth: int


def finding(text: str, question: str, most: int, now: datetime) -> str:
    """Return what a text says of a question in at most so many tokens, by a cautious estimate, in its own words."""
    said = " ".join(text.split())
    if tokens(said) <= most:
        return said
    if reported := _REPORTED.match(said):
        said = reported["said"]
    said = _telling(said, question).strip(_EDGES)
    if tokens(said) <= most:
        return said
    pieces = list(_pieces(said, question, now))
    anchors = [one for one in pieces if one.worth == _FIRST] or pieces[:1]
    kept: list[_Piece] = []
    for piece in sorted(pieces, key=lambda one: (-one.worth, _distance(one, anchors), one.start)):
        if tokens(_joined(said, [*kept, piece])) <= most:
            kept.append(piece)
    return _joined(said, kept) or clipped(said, most)


def clipped(text: str, most: int) -> str:
    """Return a text cut to so many tokens by a cautious estimate, at a word where there is one."""
    kept = " ".join(text.split())
    while kept and tokens(kept) > most:
        kept = kept.rpartition(" ")[0] if " " in kept else kept[:-1]
    return kept


def _distance(piece: _Piece, anchors: Sequence[_Piece]) -> int:
    return min(max(one.start - piece.stop, piece.start - one.stop, 0) for one in anchors)


def _joined(text: str, pieces: Sequence[_Piece]) -> str:
    return " ".join(text[one.start : one.stop].strip(_EDGES) for one in sorted(pieces))


def _telling(text: str, question: str) -> str:
    """Return the sentence that shares most words with a question; of equals that which says most, then the first."""
    asked = telling_stems(question)
    found = [text[part.start : part.stop] for part in sentences(text)] or [text]

    def worth(sentence: str) -> tuple[int, int]:
        said = telling_stems(sentence)
        return len(said & asked), len(said - asked)

    return max(found, key=worth)


def _pieces(text: str, question: str, now: datetime) -> Iterator[_Piece]:
    """Yield the words of a sentence that say something; names and values whole, with the word that leads to them.

    Names and values that the question says itself are words like others.
    """
    asked = telling_stems(question)
    whole = _whole(text, now)
    end, before = 0, None
    for match in _WORD.finditer(text):
        start, stop = match.span()
        if start < end:
            continue
        span = next((one for one in whole if one[0] < stop and start < one[1]), None)
        if span is not None:
            stop = end = max(stop, _word_end(text, span[1]))
            new = any(stem(word) not in asked for word in words(text[start:stop]))
            leads = before is not None and text[slice(*before)].lower() in _LEADS
            yield _Piece(before[0] if leads and before else start, stop, _FIRST if new else _NEXT)
        elif _DENIES.fullmatch(match[0]):
            yield _Piece(start, stop, _FIRST)
        elif any(word not in _IDLE for word in words(match[0])):
            yield _Piece(start, stop, _NEXT)
        before = (start, stop)


def _value(text: str, start: int, stop: int) -> tuple[int, int] | None:
    """Return where a quantity in figures stands, without a word behind it that is no unit."""
    said = text[start:stop]
    if not any(map(str.isdigit, said)):
        return None
    number, _, unit = said.rpartition(" ")
    return (start, start + len(number)) if number and unit.lower() in _IDLE else (start, stop)


def _word_end(text: str, at: int) -> int:
    match = re.compile(r"\S*").match(text, at)
    return match.end() if match is not None else at


def _whole(text: str, now: datetime) -> list[tuple[int, int]]:
    """Return where names, quantities, days and times stand, by their beginning; of two that overlap the longer one."""
    found = [span for one in quantities(text) if (span := _value(text, one.start, one.stop))]
    found += places(text, now, calendar=True)
    for name in set(names(text)):
        found += [match.span() for match in re.finditer(re.escape(name), text)]
    kept: list[tuple[int, int]] = []
    for start, stop in sorted(found, key=lambda one: one[0] - one[1]):
        if all(stop <= other[0] or other[1] <= start for other in kept):
            kept.append((start, stop))
    return sorted(kept)
