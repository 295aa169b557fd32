"""A sentence taken apart: tokens, their parts of speech, and which hangs on which. What a parser gives, as plain data.

Parsers load weights; they are in `models/` and are handed in from above. Whoever reads a parse needs none of them, and
is tested with parses that were written down (`from_rows`).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol


class Token(NamedTuple):
    """One word or mark. `start` and `stop` are characters of the parsed text; `head` is a token's number, its own at
    the root. `pos` is of Universal Dependencies, `tag` of the Penn Treebank, `dep` a label of CLEAR (`nsubj`, `dobj`).
    """

    text: str
    lemma: str
    pos: str
    tag: str
    dep: str
    head: int
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Parse:
    """The tokens of one text, in order."""

    text: str
    tokens: tuple[Token, ...]
    _hanging: tuple[tuple[int, ...], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        hanging: list[list[int]] = [[] for _ in self.tokens]
        for number, token in enumerate(self.tokens):
            if token.head != number:
                hanging[token.head].append(number)
        object.__setattr__(self, "_hanging", tuple(map(tuple, hanging)))

    def children(self, at: int, *deps: str) -> tuple[int, ...]:
        """Return the numbers of the tokens that hang on one directly, in order: all, or those in one of these ways."""
        found = self._hanging[at]
        if not deps or not found:
            return found
        tokens = self.tokens
        return tuple([child for child in found if tokens[child].dep in deps])

    def child(self, at: int, *deps: str) -> int | None:
        """Return the first token that hangs on one in one of these ways; None where none does."""
        for child in self._hanging[at]:
            if self.tokens[child].dep in deps:
                return child
        return None

    def around(self, at: int) -> list[Token]:
        """Return the tokens that hang on one directly, in order."""
        tokens = self.tokens
        return [tokens[child] for child in self._hanging[at]]

    def word(self, at: int) -> str:
        """Return a token in small letters."""
        return self.tokens[at].text.lower()

    def lemma(self, at: int) -> str:
        """Return the lemma of a token in small letters."""
        return self.tokens[at].lemma.lower()

    def words_on(self, at: int) -> frozenset[str]:
        """Return the words that hang on a token directly, in small letters."""
        tokens = self.tokens
        return frozenset([tokens[child].text.lower() for child in self._hanging[at]])


class ParserError(Exception):
    """There is no parser, or not the one that was pinned; the message says what to do."""


class ParserMissingError(ParserError):
    """What a parser needs isn't installed."""


class Parser(Protocol):
    """Takes English sentences apart. Pure: a text gives the same parse whatever is parsed beside it."""

    @property
    def name(self) -> str:
        """What parsed, with the version of all that a parse depends on: `en_core_web_sm-3.8.0+spacy-3.8.18`."""
        ...

    def parse(self, texts: Sequence[str]) -> list[Parse]:
        """Return the parse of each text, in their order. Never raises for a text: what is no English gets some parse.

        Raises ParserError where there is no parser, whatever the texts.
        """
        ...


Parses = Callable[[Sequence[str]], Sequence[Parse] | None]
"""Texts → the parse of each, in their order; None where there is no parser, or it failed."""


def from_rows(text: str, rows: Iterable[Sequence[str | int]]) -> Parse:
    """Return a parse of rows `word lemma pos tag dep head`, their places found in the text in order."""
    tokens: list[Token] = []
    end = 0
    for word, lemma, pos, tag, dep, head in rows:
        start = text.index(str(word), end)
        end = start + len(str(word))
        tokens.append(Token(str(word), str(lemma), str(pos), str(tag), str(dep), int(head), start, end))
    return Parse(text, tuple(tokens))


Parsing = Callable[[], Parser]
"""Returns a parser when one is first needed. Raises ParserMissingError where none is installed."""
