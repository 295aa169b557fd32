"""Who is meant by what they are to somebody ("my partner", "Ann's brother"), where that is held, and what is held of
them. Pure."""

from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from braid.agent.answer.hop import BRIDGE, hop
from braid.agent.parts import HeldStance, Support
from braid.stance.claims import RecordedClaim
from braid.stance.question import read
from braid.stance.relations import relation
from braid.text.words import words

_MOTHER: Final = ("mother", "mum", "mom")
_FATHER: Final = ("father", "dad")
_CHILD: Final = ("child", "kid", "son", "daughter")
_NEIGHBOUR: Final = ("neighbour", "neighbor")
_NAMED_BY: Final = {
    **dict.fromkeys(_MOTHER, _MOTHER), **dict.fromkeys(_FATHER, _FATHER), **dict.fromkeys(_NEIGHBOUR, _NEIGHBOUR),
    "child": _CHILD, "kid": _CHILD, "parent": ("parent", *_MOTHER, *_FATHER),
    "sibling": ("sibling", "sister", "brother"),
}  # fmt: skip
"""The words that say what a noun asks for: whoever asks for a child may mean a daughter, but a son is none."""
_CALLED: Final = (f"what is {BRIDGE}'s name", f"what is {BRIDGE} called", f"what is {BRIDGE} named")
_MOST_WORDS: Final = 4


def bridged(question: str, hold: Callable[[str], HeldStance | None]) -> HeldStance | None:
    """Return what is held of somebody whom a question describes, with what says who that is; None where one of both
    isn't held of exactly one.

    `hold` returns what is held of a question; it may raise ValueError, which is passed on.
    """
    two = hop(question)
    if two is None or read(two.first) is None:
        return None
    first = hold(two.first)
    said = _meant(two.noun, first) if first is not None else ()
    if first is None or not said:
        return None
    who = said[0].claim.object
    via = msgspec.structs.replace(first, support=_of(said, first))
    if two.then.casefold().strip(" ?.!").replace("’", "'") in _CALLED:
        objects = {one.claim.object for one in first.outcome.support}
        return via if len(objects) == 1 else None
    then = two.then.replace(BRIDGE, who)
    if read(then) is None:
        return None
    held = hold(then)
    if held is None or not held.outcome.decision.claim or not held.support:
        return None
    return msgspec.structs.replace(held, via=via)


def _meant(noun: str, held: HeldStance) -> Sequence[RecordedClaim]:
    """Return the claims that say who it is: of one name alone, and where a relation is of several (a sibling), in the
    word that is asked by."""
    said = [one for one in held.outcome.support if one.claim.polarity]
    if any(relation(one.claim.rel).many for one in said):
        wanted = set(_NAMED_BY.get(noun, (noun,)))
        said = [one for one in said if not wanted.isdisjoint(words(one.claim.quote or ""))]
    names = {one.claim.object for one in said}
    return said if len(names) == 1 and _is_name(*names) else ()


def _is_name(text: str) -> bool:
    return text[:1].isupper() and len(text.split()) <= _MOST_WORDS


def _of(said: Sequence[RecordedClaim], held: HeldStance) -> Sequence[Support]:
    """Return the turns that these claims were read from."""
    quotes = [one.claim.quote or "" for one in said]
    return [one for one in held.support if any(quote in one.text for quote in quotes)]
