"""What is said word for word: all words in order, and whether a text denies something. Pure."""

import re
from typing import Final

from braid.text.words import STOP, words

_NOT: Final = re.compile(r"(?<=[^\W_])n['’]t\b", flags=re.IGNORECASE)
_WHOLE: Final = {"ca": "can", "wo": "will", "sha": "shall", "cannot": "can not"}
_SHORT: Final = re.compile(r"\b(?:ca|wo|sha)(?= not\b)|\bcannot\b", flags=re.IGNORECASE)
_DENYING: Final = frozenset(
    [
        "not",
        "never",
        "no",
        "none",
        "nobody",
        "nothing",
        "nowhere",
        "neither",
        "nor",
        "without",
        "hardly",
        "barely",
    ]
)
_LEADING: Final = frozenset(["the", "a", "an", "my", "our", "your", "his", "her", "their"])
_STATES: Final = 3
"""From so many words on a query is taken to state something, though none of them is a small one."""


def wording(text: str) -> tuple[str, ...]:
    """Return all words of a text in order, lower case, with "n't" as the word "not": "can't" isn't "can"."""
    apart = _SHORT.sub(lambda found: _WHOLE[found[0].lower()], _NOT.sub(" not", text))
    return tuple(words(apart))


def denies(text: str) -> bool:
    """Whether a text says that something is not so."""
    return not _DENYING.isdisjoint(wording(text))


def says(text: str, wanted: str) -> bool:
    """Whether a text says all of `wanted` word for word, and doesn't deny what that states."""
    said, asked = wording(text), wording(wanted)
    length = len(asked)
    found = any(said[at : at + length] == asked for at in range(len(said) - length + 1))
    return bool(asked) and found and denies(text) == denies(wanted)


def states(text: str) -> bool:
    """Whether a text is more than a topic: it has three words, or a small word among them ("I moved", "code is 7")."""
    said = wording(text)
    topic = said[1:] if said and said[0] in _LEADING else said
    return len(said) >= _STATES or any(word in STOP for word in topic)


def named(text: str) -> set[str]:
    """Return the words of a text that stand in it with a capital, behind the first, as "May" and "Will" do."""
    return {word for part in text.split()[1:] if part[:1].isupper() for word in words(part)}
