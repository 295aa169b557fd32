"""A turn's text as rules read it, and where each stretch of it stands in the source. Pure.

Rules are patterns, and a pattern may take the square of what it runs over. So none of them ever sees more than a
sentence of `MAX_SENTENCE` characters, and no long run of blanks or of full stops: what a turn costs grows with its
length, whatever it says. A quote is a slice of the source all the same, its blanks as they were written.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final
from unicodedata import category, normalize

from braid.text.sentences import BLANK, TextPart, readable, sentences
from braid.text.words import listed

MAX_TEXT: Final = 100_000
"""So many characters of a turn are read, up to the last end of a sentence among them: a pasted book isn't talk."""
MAX_SENTENCE: Final = 1_000
"""Of a longer sentence nothing is read: it is a table, a list or a key, and half of it may say the opposite."""
_MARKS: Final = 8
"""A longer run of closing marks says no more than this many."""

_RUNS: Final = re.compile(
    rf"\s{{2,}}|{BLANK}{{2,}}|[.!?…]{{{_MARKS + 1},}}"
    r"|.[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+"
)


_TITLE: Final = re.compile(
    r"[\"“«](?=[A-Z0-9])(?=.{1,60}[\"”»]$)(?:[A-Z0-9][\w'’.:&!?-]*|(?:a|an|the|of|and|in|on|to|for|at|by|from|with|or|is|de|la|le)"
    r"|[-–&:]|[ ,])+[\"”»]"
)
"""A quotation that is the name of a work: its words begin large."""
_SPOKEN: Final = r"[\w'’]+"
_NAMES: Final = listed("called named titled entitled read reading reread finished watched watching saw seen")
"""Behind these a title may stand that ends what is said."""


def _is_put_otherwise(word: str, speaker: str) -> bool:
    """Whether a word may stand for another in what was said: their for my, Ana's for my."""
    first = speaker.strip().partition(" ")[0]
    return word.lower().startswith(("they", "their", "them")) or (first != "" and word.startswith(first))


class TurnText:
    """The text of a turn: `shown` is what rules read, `quote` gives the words that a part of it was written with."""

    def __init__(self, text: str, speaker: str | None = None) -> None:
        """`speaker`: the person whose turn it is; what they pasted is not read."""
        self.left = 0
        """Of how many characters nothing was read, as far as `sentences` has got."""
        self._length = len(text)
        # A quotation that is opened in what is read may be closed behind it.
        self._text = text[: MAX_TEXT + MAX_SENTENCE]
        self._here: list[int] = [0]
        self._there: list[int] = [0]
        self.shown = self._shortened(readable(self._text, speaker))

    def sentences(self) -> Iterator[TextPart]:
        """Yield the sentences that are read; those passed over, for length or place, are added to `left`."""
        is_whole = self._length == len(self._text)
        for sentence in sentences(self.shown):
            if not is_whole and (not sentence.mark or self.place(sentence.stop) > MAX_TEXT):
                self.leave(sentence)
                return
            if len(sentence.text) <= MAX_SENTENCE:
                yield sentence
            else:
                self.pass_over(sentence)
        if not is_whole:
            self.left += self._length - MAX_TEXT

    def leave(self, sentence: TextPart) -> None:
        """Say that reading stops at this sentence, and that the rest of the turn is left."""
        self.left += self._length - self.place(sentence.start)

    def pass_over(self, sentence: TextPart) -> None:
        """Say that one sentence is left."""
        self.left += self.place(sentence.stop) - self.place(sentence.start)

    def quote(self, part: TextPart) -> str | None:
        """Return the words of a part as they stand in the source; None where it begins or ends within a word."""
        start, stop = self.place(part.start), self.place(part.stop)
        if self._is_within_word(start) or self._is_within_word(stop):
            return None
        return self._text[start:stop]

    def with_titles(self, part: TextPart, said: str, speaker: str) -> tuple[TextPart, str]:
        """Return what is said with the titles that stand within it, or right behind it, as the source has them: reading
        "Dune" by Frank Herbert; a show called "Lost", whose part grows by it. Empty where something else stands there.
        """
        words = said.split()
        if BLANK not in self.shown or not words or len(said) > MAX_SENTENCE:
            return part, said
        spoken = [_SPOKEN if _is_put_otherwise(word, speaker) else re.escape(word) for word in words]
        pattern = rf"([\s{BLANK}]+)".join(spoken)
        match = re.compile(rf"{pattern}(\s*{BLANK}+)?").search(self.shown, part.start)
        if match is None:
            return part, said
        spans = [match.span(group) for group in range(1, len(words) + 1)]
        if words[-1].lower() not in _NAMES:
            spans.pop()
        whole: list[str] = []
        for place, word in enumerate(words):
            whole.append(word)
            start, stop = spans[place] if place < len(spans) else (0, 0)
            if BLANK not in self.shown[start:stop]:
                continue
            title = self._text[self.place(start) : self.place(stop)].strip()
            if _TITLE.fullmatch(title) is None:
                return part, ""
            whole.append(title)
            if stop > part.stop:
                part = part._replace(text=self.shown[part.start : stop], stop=stop)
        return part, " ".join(whole)

    def _shortened(self, text: str) -> str:
        """Return a text with its long runs shortened; where each ends, here and in the source, is noted."""
        pieces: list[str] = []
        length = end = 0
        for match in _RUNS.finditer(text):
            short = _short(match[0])
            pieces += (text[end : match.start()], short)
            length += match.start() - end + len(short)
            end = match.end()
            self._here.append(length)
            self._there.append(end)
        return "".join((*pieces, text[end:]))

    def place(self, at: int) -> int:
        """Return the place in the source of a place in what is shown."""
        last = bisect_right(self._here, at) - 1
        return self._there[last] + at - self._here[last]

    def _is_within_word(self, at: int) -> bool:
        around = self._text[max(at - 1, 0) : at + 1]
        return 0 < at < self._length and len(around) == 2 and all(map(_is_of_word, around))


def _short(run: str) -> str:
    """Return what a run of blanks, closing marks or combining marks is read as; a question stays one."""
    if run[0] == BLANK:
        return BLANK
    if run.isspace():
        return "\n" if "\n" in run else " "
    if run[0] in ".!?…" and run[1] in ".!?…":
        return f"{run[: _MARKS - 1]}{'?' if '?' in run else run[-1]}"
    return normalize("NFC", run)[:_MARKS]


def _is_of_word(character: str) -> bool:
    return character.isalnum() or character == "_" or category(character).startswith("M")
