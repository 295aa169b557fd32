"""Questions that compare two times, read by rules into one question for each. Pure.

"Where did Ann live in April 2025, and where does she live now?", "What has changed about where Ann lives since May?".
"""

import re
from typing import Final

import msgspec

from braid.agent.answer.question.hop import MAX_CHARS
from braid.text.verbs import plain
from braid.text.words import MAX_QUERY_CHARS

_LEAD: Final = r"(?:(?:so|and|well|please),? |(?:(?:can|could) you )?tell me |do you (?:know|remember) )*"
_ASKS: Final = r"(?:where|what|who|which|how (?:much|many|old|often)|when|on which|at what)"
_BOTH: Final = re.compile(
    rf"{_LEAD}(?P<one>{_ASKS} .+?),? (?:and|but|then)(?: then)? (?P<other>{_ASKS} .+?)[ ?.!]*", re.IGNORECASE
)
_TIMES: Final = re.compile(
    rf"{_LEAD}(?P<asks>{_ASKS}) (?P<aux>did|does|do|was|were|is|are) (?P<rest>.+?) (?P<one>(?:in|on|at|before|until)"
    r" .+?),? (?:and|versus|compared (?:to|with)|and then) (?P<other>now|today|after(?:wards| that)?|since(?: then)?"
    r"|(?:in|on|at|after|before) .+?)[ ?.!]*",
    re.IGNORECASE,
)
_CHANGED: Final = re.compile(
    rf"{_LEAD}(?:how|what) (?:has|have|did|had) (?:changed about )?(?P<what>where|who|what) (?P<who>.+?) "
    r"(?P<verb>lives?|works?|studies|eats?|drinks?)(?: (?P<at>at|in|for))?(?: changed?)? since (?P<when>.+?)[ ?.!]*",
    re.IGNORECASE,
)
_NOW: Final = frozenset(("now", "today", "since", "since then", "after", "afterwards", "after that"))
_PRONOUN: Final = re.compile(r"\b(?:he|she|they|it)\b", re.IGNORECASE)
_NAMED: Final = re.compile(
    r"\b(?:does|do|did|was|were|is|are|has|had) (?P<who>(?:[A-Z][\w’'-]*(?: |$))+|I\b)"
)


class TimeComparison(msgspec.Struct, frozen=True):
    """A question for each of two times, and the sentence that says both answers."""

    before: str
    after: str
    says: str


def turn(question: str) -> TimeComparison | None:
    """Return the two questions, None for a question that doesn't compare two times."""
    text = " ".join(question[:MAX_QUERY_CHARS].split())
    if len(text) > MAX_CHARS or "{" in text:
        return None
    for read in (_changed, _both, _times):
        if (found := read(text)) is not None:
            return found
    return None


def _changed(text: str) -> TimeComparison | None:
    match = _CHANGED.fullmatch(text)
    if match is None:
        return None
    verb = plain(match["verb"].lower())
    at = f" {match['at']}" if match["at"] else ""
    who = match["who"]
    now = "do" if who.lower() in ("i", "we", "they") else "does"
    ask = match["what"].capitalize()
    return _made(f"{ask} did {who} {verb}{at} before {match['when']}", f"{ask} {now} {who} {verb}{at}")


def _both(text: str) -> TimeComparison | None:
    match = _BOTH.fullmatch(text)
    if match is None:
        return None
    one, other = match["one"], match["other"]
    named = _NAMED.search(one)
    if named is not None:
        other = _PRONOUN.sub(named["who"].strip(), other, count=1)
    return _made(one, other) if _alike(one, other) else None


def _times(text: str) -> TimeComparison | None:
    match = _TIMES.fullmatch(text)
    if match is None:
        return None
    aux, rest = match["aux"].lower(), match["rest"]
    later = match["other"]
    present = later.lower() in _NOW
    aux_after = {"did": "does", "was": "is", "were": "are"}.get(aux, aux) if present else aux
    when = "" if present else f" {later}"
    return _made(f"{match['asks']} {aux} {rest} {match['one']}", f"{match['asks']} {aux_after} {rest}{when}")


def _alike(one: str, other: str) -> bool:
    """Whether both ask the same thing: by their question word, and a word that says something."""
    first, second = one.lower().split(), other.lower().split()
    small = {"does", "did", "do", "is", "was", "were", "are", "now", "in", "the", "at"}
    stems = {word[:4] for word in first[1:] if word not in small}
    return first[0] == second[0] and any(word[:4] in stems for word in second[1:] if word not in small)


def _made(before: str, after: str) -> TimeComparison:
    return TimeComparison(_question(before), _question(after), "Earlier: {before}. Later: {after}.")


def _question(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].strip(' ?.!,')}?"
