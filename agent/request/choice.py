"""Which of several memories that were shown a reply means: their numbers, or words that only one of them has. Pure."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from braid.agent.request.naming import naming_stems
from braid.agent.request.opening import QUESTION_MARKS
from braid.text.words import words

_NONE: Final = re.compile(
    r"(?:no(?:pe|ne)?|nah|neither|cancel|stop|never ?mind|leave (?:it|them)|nothing)(?: of (?:them|those|these))?",
    re.IGNORECASE,
)
_ALL: Final = re.compile(
    r"(?:both|all|every one|all \w+|each)(?: of (?:them|those|these))?(?:,? please)?", re.IGNORECASE
)
_AGREES: Final = re.compile(
    r"(?:y|yes|yeah|yep|yup|sure|ok|okay|do it|go ahead)(?:,? please)?", re.IGNORECASE
)
_NUMBERS: Final = {
    "first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "fifth": 5, "5th": 5,
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5,
}  # fmt: skip
_BESIDE_NUMBERS: Final = frozenset(
    ("the", "number", "no", "and", "one", "ones", "please", "pls", "it", "s", "just")
)
"""Words that may stand beside a number, and choose nothing."""


class Picked(NamedTuple):
    """What a reply chooses of several: their places, from 0; `is_clear`: it doesn't just agree, without saying to what.
    None is chosen where it is clear, and names no place."""

    places: tuple[int, ...] = ()
    is_clear: bool = True


def picked(reply: str, shown: Sequence[str]) -> Picked | None:
    """Return what a reply chooses of the texts that were shown, numbered from 1; None where it says something else."""
    said = reply.strip().rstrip(".! ")
    if _NONE.fullmatch(said):
        return Picked()
    is_both = said.lower().startswith("both")
    if _ALL.fullmatch(said) and not (is_both and len(shown) > 2):
        return Picked(tuple(range(len(shown))))
    if is_both or _AGREES.fullmatch(said):
        return Picked(is_clear=False)
    places = _by_number(said, len(shown)) or _by_words(said, shown)
    return Picked(places) if places else None


def _by_number(said: str, count: int) -> tuple[int, ...]:
    """Return the places that a reply names by numbers alone, in its order; none where it says anything else."""
    beside = [word for word in words(said) if word not in _BESIDE_NUMBERS] or words(said)
    numbers = [
        int(word) if word.isdecimal() else count if word == "last" else _NUMBERS.get(word, 0)
        for word in beside
    ]
    return (
        tuple(dict.fromkeys(each - 1 for each in numbers))
        if all(1 <= each <= count for each in numbers)
        else ()
    )


def _by_words(said: str, shown: Sequence[str]) -> tuple[int, ...]:
    """Return the place of the one text that has every word that names something in a reply."""
    if any(mark in said for mark in QUESTION_MARKS) or not (named := naming_stems(said)):
        return ()
    having = tuple(at for at, text in enumerate(shown) if named <= naming_stems(text))
    return having if len(having) == 1 else ()
