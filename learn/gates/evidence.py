"""The quote is in the turn: equal after folding, negations and numbers exactly; given back as the turn wrote it. Pure.

    located("I live in  Paris.", "i live in paris")  ->  Found(0, "I live in  Paris")

Folding is compatibility (NFKC's, compared decomposed), case, spaces and punctuation. What is merely like the quote is
no evidence: "I live in Parma" is 93 % of "I live in Paris". rapidfuzz shows only where a quote might stand, and then
the same exact test decides on the words that are found there.
"""

import re
import unicodedata
from functools import lru_cache
from typing import Final, NamedTuple

from rapidfuzz import fuzz

from braid.learn.gates.outcome import GateError
from braid.learn.turn import Turn

NEAR: Final = 75.0
"""From this likeness on, of 100, a quote is said to differ from what was said, not to be absent."""
MAX_TURN: Final = 100_000
"""Characters of a turn in which a quote that isn't there as it is written is looked for."""
_CONTEXT: Final = re.compile(
    r"<(memory|experience_context|context|recalled|data-[0-9a-f]+)\b[^>]*>.*?(?:</\1>|\Z)"
    r"|^\[(?:memory|context|recalled)\b[^\]]*\].*$",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
"""What recall or a prompt's fence put into a text: it was said before, and saying it again adds nothing."""
_NUMBER: Final = re.compile(r"[-+−]?[£$€¥]?\d(?:[\d.,:/'’-]*\d)?\s?%?[£$€¥]?")
_NEGATION: Final = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|nowhere|without|cannot|hardly|barely|scarcely)\b"
    r"|\w*n['’]t\b|\b(?:ain|are|ca|could|did|does|do|had|has|have|is|might|must|need|should|was|were|wo|would)nt\b",
    re.IGNORECASE,
)


class Found(NamedTuple):
    """Where a quote stands in a turn's text, and the words that stand there."""

    start: int
    quote: str

    @property
    def stop(self) -> int:
        """The character behind it."""
        return self.start + len(self.quote)


class Folded(NamedTuple):
    """The letters and digits of a text, folded, and from which character each is."""

    letters: str
    places: tuple[int, ...]


def evidence(turn: Turn | None, quote: str, start: int, *, spoken: bool = True) -> Found:
    """Return where the quote stands in a turn; `spoken`: only what a user or a named person said counts.

    Raises GateError: `no_such_turn`, `not_a_speaker`, `recalled`, `quote_empty`, `quote_differs`, `quote_absent`,
    `inside_a_word`.
    """
    if turn is None:
        raise GateError("evidence", "no_such_turn")
    if turn.role != "user" if spoken else turn.role == "assistant":
        raise GateError("evidence", "not_a_speaker")
    found = located(turn.text, quote, start)
    if "<" in turn.text or "[" in turn.text:
        for held in _CONTEXT.finditer(turn.text):
            if held.start() < found.stop and found.start < held.end():
                raise GateError("evidence", "recalled")
    return found


def located(text: str, quote: str, start: int = 0) -> Found:
    """Return the turn's own slice that says the quote, the nearest to `start` of several. Raises GateError as
    `evidence` does."""
    if not any(map(str.isalnum, quote)):
        raise GateError("evidence", "quote_empty")
    if start >= 0 and text.startswith(quote, start) and _is_whole(text, start, start + len(quote)):
        return Found(start, quote)
    if places := _places(text, quote):
        at = min(places, key=lambda place: abs(place - start))
        return Found(at, quote)
    found = _folded_place(text[:MAX_TURN], quote, start)
    if found is not None:
        return found
    if quote in text:
        raise GateError("evidence", "inside_a_word")
    return _nearest(text[:MAX_TURN], quote)


def says_the_same(one: str, other: str) -> bool:
    """Whether two stretches are equal after folding, with the same negations and numbers."""
    return (
        folded(one).letters == folded(other).letters
        and negations(one) == negations(other)
        and numbers(one) == numbers(other)
    )


def negations(text: str) -> list[str]:
    """Return the words of a text that deny, in order, without their apostrophes."""
    return [re.sub("['’]", "", match[0].casefold()) for match in _NEGATION.finditer(text)]


def numbers(text: str) -> list[str]:
    """Return the numbers of a text as they are written, with sign, currency and per cent."""
    plain = unicodedata.normalize("NFKC", text)
    return [match[0].replace(" ", "") for match in _NUMBER.finditer(plain)]


@lru_cache(maxsize=64)
def folded(text: str) -> Folded:
    """Return the letters, digits and marks of a text, decomposed and case folded."""
    letters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        for one in _fold(character):
            letters.append(one)
            places.append(place)
    return Folded("".join(letters), tuple(places))


@lru_cache(maxsize=4_096)
def _fold(character: str) -> str:
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", character).casefold())
    return "".join(one for one in plain if one.isalnum() or unicodedata.category(one).startswith("M"))


def _places(text: str, quote: str) -> list[int]:
    """Return where a quote stands as it is written, whole words alone."""
    found: list[int] = []
    at = text.find(quote)
    while at >= 0:
        if _is_whole(text, at, at + len(quote)):
            found.append(at)
        at = text.find(quote, at + 1)
    return found


def _is_whole(text: str, start: int, stop: int) -> bool:
    """Whether a slice neither begins nor ends within a word, and parts no letter from its marks."""
    if start and text[start].isalnum() and text[start - 1].isalnum():
        return False
    if stop >= len(text):
        return stop == len(text)
    behind = text[stop]
    return not (text[stop - 1].isalnum() and behind.isalnum()) and not unicodedata.combining(behind)


def _folded_place(text: str, quote: str, start: int) -> Found | None:
    """Return the nearest slice that is equal after folding, with the negations and numbers of the quote."""
    letters, places = folded(text)
    wanted = folded(quote).letters
    best: Found | None = None
    at = letters.find(wanted)
    while at >= 0:
        first, stop = places[at], places[at + len(wanted) - 1] + 1
        while stop < len(text) and unicodedata.combining(text[stop]):
            stop += 1
        if _is_whole(text, first, stop) and says_the_same(text[first:stop], quote):
            found = Found(first, text[first:stop])
            if best is None or abs(found.start - start) < abs(best.start - start):
                best = found
        at = letters.find(wanted, at + 1)
    return best


def _nearest(text: str, quote: str) -> Found:
    """Return what stands where the quote is likest, if it says the same; else raise GateError: how near it came."""
    letters, places = folded(text)
    likeness = fuzz.partial_ratio_alignment(folded(quote).letters, letters)
    if likeness is None or likeness.score < NEAR or likeness.dest_end <= likeness.dest_start:
        raise GateError("evidence", "quote_absent")
    first, stop = places[likeness.dest_start], places[likeness.dest_end - 1] + 1
    while first and text[first - 1].isalnum():
        first -= 1
    while stop < len(text) and (text[stop].isalnum() or unicodedata.combining(text[stop])):
        stop += 1
    if not says_the_same(text[first:stop], quote):
        raise GateError("evidence", "quote_differs")
    return Found(first, text[first:stop])
