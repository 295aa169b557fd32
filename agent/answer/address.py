"""A claim about whoever asks, said to them: "user likes tea" is "you like tea". Pure.

Whoever has no name in a store is its user. Only claims in the words of `stance.words` are turned.
"""

import re
from typing import Final

from braid.text.verbs import plain

_SPEAKERS: Final = {"user": "you", "agent": "I"}
_USER: Final = re.compile(r"\Auser(?P<own>'s)?\b(?P<rest>.*)", re.DOTALL)
_BETWEEN: Final = "; "
"""Stands between the claims of a stance that holds several (`stance.reconcile`)."""
_TURNED: Final = {"is": "are", "was": "were"}


def spoken_by(speaker: str) -> str:
    """Return who said something, as the one who answers says it."""
    return _SPEAKERS.get(speaker, speaker)


def addressed(held: str) -> str:
    """Return what a stance holds as it is said to its user: each claim about them; any other as it is."""
    return _BETWEEN.join(map(_addressed, held.split(_BETWEEN)))


def _addressed(claim: str) -> str:
    found = _USER.match(claim)
    if found is None:
        return claim
    if found["own"]:
        return f"your{found['rest']}"
    verb, space, rest = found["rest"].removeprefix(" ").partition(" ")
    plural = _TURNED.get(verb) or (plain(verb) if verb.endswith("s") and not verb.endswith("ss") else verb)
    return f"you {plural}{space}{rest}"
