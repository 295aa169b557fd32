"""What a question takes for granted ("the piano", "Kit's manager", "Barcelona"), and what of it nobody speaks of. Pure.

Whoever asks what the piano cost takes it that there is a piano. Where none of what was found has the word, the question
is mostly one that memory can't answer, however well its other words are met.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from braid.agent.language import guess
from braid.text.calendar import MONTHS, WEEKDAYS
from braid.text.words import STOP, stem, words

_GIVEN: Final = re.compile(
    r"(?:\b(?:the|an?|my|your|his|her|its|our|their)|['’]s)\s+(?=((?:[^\W_]+[\s-]*){1,3}))",
    re.IGNORECASE,
)
_NAME: Final = re.compile(r"(?<=[^\W\d_A-Z,'’] )[A-Z][^\W_]+")
_ORDERS: Final = """
first second third last next new old other same biggest best most recent main end favorite favourite
"""
"""Words that say which one, not what."""
_BOUNDS: Final = frozenset(("after", "before", "during", "since", "until", "while"))
_IDLE: Final = frozenset((*_ORDERS.split(), *MONTHS, *WEEKDAYS))


def presumed(question: str) -> tuple[str, ...]:
    """Return the words for what a question takes for granted, lower case, each once: what follows an article, a
    possessive, and names; neither numbers nor times, which are put in many ways. Nothing of other languages than
    English, whose nouns and forms these rules don't know."""
    if (guess(question) or "en") != "en":
        return ()
    return tuple(dict.fromkeys(word for word in _words(question) if not any(map(str.isdigit, word))))


def _words(question: str) -> Iterator[str]:
    for match in _GIVEN.finditer(question):
        # The first word that says something: what stands further back may be a verb.
        run = words(match[1])
        yield from [word for word in run[: _until(run)] if word not in _IDLE][:1]
    yield from (word for match in _NAME.finditer(question) for word in words(match[0]) if word not in _IDLE)


def _until(run: Sequence[str]) -> int:
    return next((at for at, word in enumerate(run) if word in STOP or word in _BOUNDS), len(run))


def unheard(question: str, texts: Sequence[str], known: Collection[str] = ()) -> tuple[str, ...]:
    """Return what of it stands in none of the texts, in any form of the word; `known` words count as heard."""
    heard = {stem(word) for text in texts for word in words(text)}
    return tuple(word for word in presumed(question) if word not in known and stem(word) not in heard)
