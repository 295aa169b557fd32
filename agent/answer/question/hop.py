"""Questions that one look can't answer, read by rules: what must be found first, and what is asked with it. Pure.

"When was the daughter of Nadia's brother born?" asks first who Nadia's brother is; "Where did Ann live in April, and
where does she live now?" asks twice. What no rule reads is one question.
"""

import re
from collections.abc import Callable
from typing import Final

import msgspec

from braid.agent.answer.question.description import PERSONS, described
from braid.text.verbs import base, is_past
from braid.text.words import MAX_QUERY_CHARS

BRIDGE: Final = "{bridge}"
MAX_CHARS: Final = 300
"""A plain question is shorter; the rules would go over a long text again and again."""
_THINGS: Final = (
    "dog|cat|pet|company|school|university|band|team|hometown|home town|city|town|street|café|shop|bank"
)
_ASKING: Final = r"(?!(?:Who|What|Where|When|Which|How|Why|Is|Are|Was|Does|Do|Did|Has|Tell)\b)"
_WHOSE: Final = rf"(?:my|our|his|her|their|(?:{_ASKING}[A-Z][\w’'-]*[A-Za-z] ?){{1,3}}['’]s?)"
_NAMED: Final = r"(?:(?:my|our|the) [\w’'-]+|[A-Z][\w’'.-]*(?: [A-Z][\w’'.-]*)*)"
_KIN: Final = re.compile(
    rf"\b(?P<whole>(?:{_WHOSE} (?:[\w-]+ ){{0,2}}?(?P<noun>{PERSONS}|{_THINGS})"
    rf"|the (?P<of>{PERSONS}|{_THINGS}) of {_NAMED})(?P<own>['’]s)?)(?=[ ?,.]|$)"
)
_CLAUSE: Final = re.compile(
    r"\b(?P<whole>(?:the )?(?P<what>city|town|place|country|street|company|firm|school|university|office) "
    r"(?:where|in which|at which|that|which) (?P<who>(?:[\w’'-]+ ){1,3}?)"
    r"(?P<verb>lives?|works?|studies|study|lived|worked|studied|moved)(?: (?:in|at|for|to))?)(?=[ ?,.]|$)"
)
_IDENTITY: Final = re.compile(
    r"\s*(?:and |so )?(?:who|what|which)(?:(?:['’]s| is| are| was| were) )(?:the name of |called )?",
    re.IGNORECASE,
)


class Hop(msgspec.Struct, frozen=True):
    """What is asked first, and what is asked with its answer in the place of `{bridge}`."""

    first: str
    then: str
    noun: str = ""
    """What the first asks for somebody or something as: "sister"."""


def hop(question: str) -> Hop | None:
    """Return the two questions that a question is made of, None for one that is one."""
    text = " ".join(question[:MAX_QUERY_CHARS].split())
    if len(text) > MAX_CHARS or "{" in text:
        return None
    return next((found for read in _READERS if (found := read(text)) is not None), None)


def _kin(text: str) -> Hop | None:
    found = _KIN.search(text)
    if found is None:
        return None
    whole = found["whole"]
    bare = whole.removesuffix(found["own"] or "")
    before, after = text[: found.start()], text[found.end() :].strip(" ?.!")
    if _IDENTITY.fullmatch(before) and not after and not found["own"]:
        return None  # it asks just that
    noun = str(found["noun"] or found["of"])
    asks = "Who" if noun in PERSONS.split("|") else "What"
    return Hop(f"{asks} is {bare}?", _put(text, found, f"{BRIDGE}{found['own'] or ''}"), noun)


def _clause(text: str) -> Hop | None:
    found = _CLAUSE.search(text)
    if found is None:
        return None
    verb, who = found["verb"], found["who"].strip()
    aux = "did" if is_past(verb) else "do" if who.lower() in ("i", "we", "they", "you") else "does"
    asked = "Where" if found["what"] != "street" else "On which street"
    return Hop(f"{asked} {aux} {who} {base(verb)}?", _put(text, found, BRIDGE))


def _described(text: str) -> Hop | None:
    found = described(text)
    if found is None:
        return None
    return Hop(found.asks, f"{text[: found.start]}{BRIDGE}{found.own}{text[found.stop :]}")


def _put(text: str, found: "re.Match[str]", instead: str) -> str:
    return f"{text[: found.start()]}{instead}{text[found.end() :]}"


_READERS: Final[tuple[Callable[[str], Hop | None], ...]] = (_clause, _described, _kin)
