"""Which turns a list is of: those of its topic that have what is asked for. Pure; weights and limits set by hand.

A list that is not surely of the topic is worse than none: a turn counts by the words of the topic in it, or in the turn
that it replies to, and by its meaning; what nobody says of the topic speaks against all.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final

from braid.agent.answer.lists.request import ListRequest
from braid.agent.answer.lists.topic import TopicTurn, of_topic
from braid.agent.answer.lists.values import ValueKind, amounts, values
from braid.recall.hits import Hit

WORDS: Final = 0.6
MEANING: Final = 0.4
"""What words and meaning weigh."""
SURE: Final = 0.7
"""How near a turn is that stands for a list by itself."""
RELATED: Final = 0.55
"""How near a turn is that stands beside others, or tells of a change."""
WHOLE: Final = 0.99
HALF: Final = 0.5
_TURNS: Final = re.compile(
    r"\bfrom\b.{1,40}\b(?:to|→|->)\b|\bto\b.{1,30}\bfrom\b|\bnow\b.{0,30}\bnot\b|\bno longer\b|\binstead\b"
    r"|\b(?:went|go(?:es)?|moves?d?|moving|shift(?:s|ed)?|push(?:ed|es)?|postponed|brought|changed?|switch(?:ed)?|rais(?:ed|es)"
    r"|drop(?:s|ped)?|cut|put|back|up|down|bumped|reduced?|increased?)\b.{0,25}?\b(?:to|until)\b"
    r"|\b(?:scrap|change of plan|cancel(?:led|ed|s)|called off|is off|not anymore|any ?more|replaced|takes the slot)\b"
    r"|\bwas\b.{1,40}\bnow\b|\bnow\b",
    re.IGNORECASE,
)
"""What says that something has changed."""


def chosen(wanted: ListRequest, hits: Sequence[Hit]) -> list[TopicTurn]:
    """Return the turns that answer, in the order in which they were said; none where that isn't sure."""
    turns = [one for one in of_topic(wanted.topic, hits) if not one.asks]
    return _WAYS[wanted.kind](wanted, turns) if wanted.topic else []


def nearness(one: TopicTurn) -> float:
    """Return how near a turn is to the topic, in [0, 1]."""
    return WORDS * max(one.cover, one.beside) + MEANING * one.meaning


def _course(wanted: ListRequest, turns: Sequence[TopicTurn]) -> list[TopicTurn]:
    """Return the turns of a course of things: with a value each where values are asked for; two at least."""
    if wanted.value is None:
        found = [one for one in turns if one.cover >= WHOLE]
        return found if len(found) > 1 else []
    found = _series(wanted, turns)
    told = {value.lower() for one in found for value in _values(wanted, one)}
    return found if len(found) > 1 and len(told) > 1 else []


def _series(wanted: ListRequest, turns: Sequence[TopicTurn]) -> list[TopicTurn]:
    """Return the turns that give a value of the topic, with those that reply to what asks for one."""
    kind = wanted.value or ValueKind("number")
    valued = [one for one in turns if _values(wanted, one)]
    core = [one for one in valued if one.cover >= WHOLE]
    if kind.sort == "rate":
        core += [one for one in valued if one not in core and one.meaning >= RELATED]
    if not core:
        return []
    known = [each for one in core for each in amounts(kind, one.spot)]
    counted = [each for each in known if each.kind in wanted.topic]
    if counted:  # "14 tests": what is of the topic says so itself
        core = [one for one in core if any(each.kind in wanted.topic for each in amounts(kind, one.spot))]
        return [one for one in turns if one in core]
    return [one for one in turns if one in core or (one in valued and one.beside >= HALF)]


def _changed(wanted: ListRequest, turns: Sequence[TopicTurn]) -> list[TopicTurn]:
    """Return the turns that say of the topic that it changed, behind what was said of it first."""
    if wanted.value is not None and wanted.value.sort == "rate":
        return _course(wanted, turns)
    telling = [one for one in turns if nearness(one) >= RELATED and _TURNS.search(one.spot)]
    if wanted.value is not None:
        telling = [one for one in telling if _values(wanted, one)]
    if not telling:
        return []
    first = [one for one in turns if one.cover >= WHOLE and one not in telling]
    if wanted.value is not None:
        first = [one for one in first if _values(wanted, one)]
    return [one for one in turns if one in telling or one in first]


def _pieces(wanted: ListRequest, turns: Sequence[TopicTurn]) -> list[TopicTurn]:
    """Return the turns that give the pieces asked for: one that gives several, or several that are wholly of the
    topic."""
    if wanted.value is None:
        whole = [one for one in turns if one.cover >= WHOLE]
        return whole if len(wanted.topic) > 1 and len(whole) > 1 else []
    least = wanted.count or 2
    several = [one for one in turns if nearness(one) >= SURE and len(_values(wanted, one)) >= least]
    if several:
        return several
    nearest = max(turns, key=lambda one: one.meaning, default=None)
    if (
        nearest is not None
        and len(_values(wanted, nearest)) >= max(least, 3)
        and wanted.value.sort == "weekday"
    ):
        return [nearest]
    found = _series(wanted, turns) if wanted.value.sort != "person" else []
    return found if len(found) >= least else []


def _values(wanted: ListRequest, one: TopicTurn) -> set[str]:
    """Return the values of the kind asked for that a turn gives, those that the question names aside."""
    found = values(wanted.value or ValueKind("number"), one.spot, frozenset(wanted.topic))
    return {each for each in found if each.lower().removesuffix("'s") not in wanted.words}


_Way = Callable[[ListRequest, Sequence[TopicTurn]], list[TopicTurn]]
_WAYS: Final[dict[str, _Way]] = {"timeline": _course, "changes": _changed, "list": _pieces, "known": _course}
