"""Words: lower case, without those that say nothing, reduced to their stems; and equal spellings of one name. Pure."""

import re
import unicodedata
from functools import lru_cache
from typing import Any, Final, cast

import Stemmer

MAX_QUERY_CHARS: Final = 8_000
"""What is read of a question; the rest of a longer one would drown the search, not sharpen it."""
_STOP: Final = """a about again all also am an and any are as at be been being but by can could did do does doing don
each few for from get got had has have having he her here hers herself him himself his how i if in into is it its
itself just may me might mine more most must my myself no nor not of off on once only onto or other our ours ourselves
over own same shall she should so some such t than that the their theirs them themselves then there these they this
those to too under us very was we were what when where which who whom whose why will with would yes you your yours
yourself s re ve ll d m"""
STOP: Final = frozenset(_STOP.split())
"""Words that say nothing of what a question or a text is about."""
_CHAT: Final = """above after because before below both down during further go going know let like ll now oh ok okay one
out really say says see think through until up want well while yeah"""
CHAT: Final = STOP | frozenset(_CHAT.split())
"""Those, and what people say in between."""
_WORD: Final = re.compile(r"[^\W_]+")
_AFTER_APOSTROPHE: Final = re.compile(r"([^\W_])['’][^\W\d_]+")
_SPACED: Final = str.maketrans({chr(code): " " for code in range(128) if not chr(code).isalnum()})
_ARTICLE: Final = re.compile(r"^(?:(?:the|a|an|my|his|her|our|their|your)\s+)+")
_EDGES: Final = " \t\n.,;:!?\"'“”\u2018’()[]"
_STEMMER: Final = cast("Any", Stemmer).Stemmer("english")


def listed(text: str) -> frozenset[str]:
    """Return the words of a list, which blanks part, as they are written."""
    return frozenset(text.split())


def words(text: str) -> list[str]:
    """Return the words of a text in order, lower case, without what follows an apostrophe."""
    low = text.lower()
    if "'" in low or "’" in low:
        low = _AFTER_APOSTROPHE.sub(r"\1 ", low)
    # The same in a third of the time where every character is ASCII: hundreds of turns are taken apart for a question.
    return low.translate(_SPACED).split() if low.isascii() else _WORD.findall(low)


def telling(text: str) -> list[str]:
    """Return the words of a text that say something, in order."""
    return [word for word in words(text) if word not in STOP]


def spoken(text: str) -> list[str]:
    """Return the words of a text that say something where people chat, in order."""
    return [word for word in words(text) if word not in CHAT and (len(word) > 1 or word.isdigit())]


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """Return the stem of a lower-case English word; of any other word, something that equals only itself mostly."""
    found: str = _STEMMER.stemWord(word)
    return found


def stems(text: str) -> set[str]:
    """Return the stems of all words of a text."""
    return set(map(stem, words(text)))


def telling_stems(text: str) -> set[str]:
    """Return the stems of the words of a text that say something."""
    return set(map(stem, telling(text)))


def plain(text: str, limit: int = MAX_QUERY_CHARS) -> str:
    """Return the readable part of an untrusted question: control characters become spaces, the rest is cut off."""
    head = text[: 2 * limit]
    return " ".join("".join(c if c.isprintable() else " " for c in head).split())[:limit]


@lru_cache(maxsize=20_000)
def normal(text: str) -> str:
    """Return text as names and objects are compared: case folded, one space, no article, no punctuation at the ends.

    Never fails; two spellings that Unicode calls compatible are one.
    """
    folded = " ".join(unicodedata.normalize("NFKC", text).replace("’", "'").casefold().split()).strip(_EDGES)
    return _ARTICLE.sub("", folded) or folded
