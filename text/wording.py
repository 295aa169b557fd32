"""What is said word for word: all words in order, and whether a text denies something. Pure."""

import re
from typing import Final

from braid.text.sentences import sentences
from braid.text.words import STOP, listed, stem, telling, words

_NOT: Final = re.compile(r"(?<=[^\W_])n['’]t\b", flags=re.IGNORECASE)
_NO_MARK: Final = re.compile(
    r"\b(do|does|did|is|are|was|were|has|have|had|would|could|should)nt\b", flags=re.IGNORECASE
)
_WHOLE: Final = {"ca": "can", "wo": "will", "sha": "shall", "cannot": "can not"}
_SHORT: Final = re.compile(r"\b(?:ca|wo|sha)(?= not\b)|\bcannot\b", flags=re.IGNORECASE)
_OWNER: Final = "user"
"""What an agent calls whoever says "I"."""
_DENYING: Final = listed("not never no none nobody nothing nowhere neither nor without hardly barely")
_LEADING: Final = frozenset(["the", "a", "an", "my", "our", "your", "his", "her", "their"])
_STATES: Final = 3
"""From so many words on a query is taken to state something, though none of them is a small one."""


def wording(text: str) -> tuple[str, ...]:
    """Return all words of a text in order, lower case, with "n't" as the word "not": "can't" isn't "can"."""
    return tuple(words(plainly(text)))


def plainly(text: str) -> str:
    """Return a text with "not" as a word of its own: "doesn't" and "dont" are "does not" and "do not"."""
    whole = _NO_MARK.sub(lambda found: f"{found[1]} not", text)
    return _SHORT.sub(lambda found: _WHOLE[found[0].lower()], _NOT.sub(" not", whole))


def denies(text: str) -> bool:
    """Whether a text says that something is not so."""
    return not _DENYING.isdisjoint(wording(text))


def says(text: str, wanted: str) -> bool:
    """Whether a text says all of `wanted` word for word, and doesn't deny what that states."""
    asked, denied = wording(wanted), denies(wanted)
    return bool(asked) and any(
        _holds(wording(part), asked) and denies(part) == denied for part in _parts(text, wanted)
    )


def says_alike(text: str, wanted: str) -> bool:
    """Whether a text says what `wanted` states, with its telling words bent otherwise or in another order.

    But for names and numbers: who lends whom must not be turned round. Nor does it begin with something else: "my
    mother's rent" isn't "my rent".
    """
    said, asked = ([stem(word) for word in telling(plainly(one))] for one in (text, wanted))
    if (
        not asked
        or denies(text) != denies(wanted)
        or not {*asked} <= {*said}
        or said[0] not in {*asked, _OWNER}
    ):
        return False
    names = {stem(word) for word in named(text) | named(wanted)}
    ordered = [[word for word in one if word in names or word.isdecimal()] for one in (said, asked)]
    rest = iter(ordered[0])
    return all(word in rest for word in ordered[1])


def _parts(text: str, wanted: str) -> list[str]:
    """Return the sentences of a text, or it as a whole where what is wanted has several."""
    several = len(list(sentences(wanted))) > 1
    return [text] if several else [text[one.start : one.stop] for one in sentences(text)] or [text]


def _holds(said: tuple[str, ...], asked: tuple[str, ...]) -> bool:
    return any(said[at : at + len(asked)] == asked for at in range(len(said) - len(asked) + 1))


def states(text: str) -> bool:
    """Whether a text is more than a topic: it has three words, or a small word among them ("I moved", "code is 7")."""
    said = wording(text)
    topic = said[1:] if said and said[0] in _LEADING else said
    return len(said) >= _STATES or any(word in STOP for word in topic)


def named(text: str) -> set[str]:
    """Return the words of a text that stand in it with a capital, behind the first, as "May" and "Will" do."""
    return {word for part in text.split()[1:] if part[:1].isupper() for word in words(part)}
