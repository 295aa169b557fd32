"""Who is meant by what they are to somebody ("my partner", "Ann's brother"), where that is held, and what is held of
them. Pure."""

from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from braid.agent.answer.question.hop import BRIDGE, Hop, hop
from braid.agent.composer import HeldStance, Support
from braid.ledger.record.record import Claim
from braid.stance.claims import RecordedClaim
from braid.stance.question import read
from braid.stance.relations import name_of
from braid.text.words import normal, words

_MOTHER: Final = ("mother", "mum", "mom")
_FATHER: Final = ("father", "dad")
_CHILD: Final = ("child", "kid", "son", "daughter")
_SPOUSE: Final = ("spouse", "wife", "husband")
_NEIGHBOUR: Final = ("neighbour", "neighbor")
_NAMED_BY: Final = {
    **dict.fromkeys(_MOTHER, _MOTHER), **dict.fromkeys(_FATHER, _FATHER), **dict.fromkeys(_NEIGHBOUR, _NEIGHBOUR),
    "child": _CHILD, "kid": _CHILD, "parent": ("parent", *_MOTHER, *_FATHER),
    "sibling": ("sibling", "sister", "brother"), "spouse": _SPOUSE,
    "partner": ("partner", *_SPOUSE, "girlfriend", "boyfriend", "fiancé", "fiancée"),
}  # fmt: skip
"""The words that say what a noun asks for: whoever asks for a child may mean a daughter, but a son is none."""
_FORMER: Final = frozenset(("former", "ex", "first", "previous", "old", "late", "was", "were", "used"))
_CALLED: Final = (f"what is {BRIDGE}'s name", f"what is {BRIDGE} called", f"what is {BRIDGE} named")
_MOST_WORDS: Final = 4


def bridged(question: str, hold: Callable[[str], HeldStance | None]) -> HeldStance | None:
    """Return what is held of somebody whom a question describes, with what says who that is; None where one of both
    isn't held of exactly one.

    `hold` returns what is held of a question; it may raise ValueError, which is passed on.
    """
    two = hop(question)
    via = _who(two, hold) if two is not None and read(two.first) is not None else None
    if two is None or via is None:
        return None
    if two.then.casefold().strip(" ?.!").replace("’", "'") in _CALLED:
        return via[1] if _is_one(via[1]) else None
    then = two.then.replace(BRIDGE, via[0])
    held = hold(then) if read(then) is not None else None
    if held is None or not held.outcome.decision.claim or not held.support:
        return None
    if any(normal(one.claim.subject) != normal(via[0]) for one in held.outcome.support):
        return None  # it may be of a namesake: Anna, and Anna Maria
    return msgspec.structs.replace(held, via=via[1])


def _who(two: Hop, hold: Callable[[str], HeldStance | None]) -> tuple[str, HeldStance] | None:
    """Return the name of whoever is described, with what says so; None where that isn't held of one alone."""
    first = hold(two.first)
    said = _meant(two.noun, first) if first is not None else ()
    support = _of(said, first) if first is not None else ()
    if first is None or not said or not support:
        return None
    return said[0].claim.object, msgspec.structs.replace(first, support=support)


def _is_one(held: HeldStance) -> bool:
    """Whether all that is held is of one name: an answer tells all of it."""
    return len({one.claim.object for one in held.outcome.support}) == 1


def _meant(noun: str, held: HeldStance) -> Sequence[RecordedClaim]:
    """Return the claims that say who it is now: of one name alone, and in the word that is asked by."""
    said = [one for one in held.outcome.support if one.claim.polarity and _says(noun, one.claim)]
    names = {one.claim.object for one in said}
    return said if len(names) == 1 and _is_name(*names) else ()


def _says(noun: str, claim: Claim) -> bool:
    """Whether a claim says who somebody's brother, boss, wife is: a sister is none, nor is who was it before."""
    if not claim.quote:
        return name_of(claim.rel) == f"{noun}_is"
    heard = frozenset(words(claim.quote))
    return heard.isdisjoint(_FORMER) and not heard.isdisjoint(_NAMED_BY.get(noun, (noun,)))


def _is_name(text: str) -> bool:
    return text[:1].isupper() and len(text.split()) <= _MOST_WORDS


def _of(said: Sequence[RecordedClaim], held: HeldStance) -> Sequence[Support]:
    """Return the turns that these claims were read from."""
    quotes = {one.claim.quote or one.claim.object for one in said}
    return [one for one in held.support if any(quote in one.text for quote in quotes)]
