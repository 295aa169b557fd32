"""A request that what is kept be brought up to what a line says: "the gym is 34 now, so update that". Pure."""

import re
from typing import Final, NamedTuple

from braid.agent.request.opening import LEAD, is_asked, openings
from braid.agent.request.righting import is_about, replaced_in
from braid.agent.request.slots import restated_in
from braid.text.wording import wording

_IT: Final = r"(?:it|that|this|them|(?:that|this|the|your|my) (?:one|note|entry|line|record))"
_WAS: Final = (
    r"(?:what(?:ever)? (?:you|i|we)(?: [\w'’]+){1,3}?|(?:the|your|my) (?:old |previous |earlier )?"
    r"(?:note|entry|line|one|record|memory|version|value|info|information)s?)"
)
_NOTES: Final = r"(?:your|the|my) (?:notes?|records?|memory|list)"
_ASKS: Final = re.compile(
    rf"{LEAD}(?:(?:put|set|get) {_IT} (?:right|straight)"
    r"|(?:update|overwrite|replace|fix|amend|change|correct|adjust|edit|refresh)"
    rf" (?:{_WAS}(?: (?:there|about|on|for|of) (?P<of>.+?))?|{_IT}|{_NOTES}))(?: in {_NOTES})?"
    r"(?: accordingly| with (?:that|this))?"
    r"(?:,? (?:please|pls|thanks|thank you|instead|now|from now on|for (?:me|us)))*[\s.!]*",
    flags=re.IGNORECASE,
)
_BEGINNING: Final = 3
"""What begins with the same words, so many of them, says something of the same thing."""
_SAYS: Final = re.compile(r"\w{2,} \w")


class ChangeRequest(NamedTuple):
    """What a line says instead. `of`: what it says it of, in words; "" where the statement tells."""

    of: str
    statement: str


def change_request(line: str) -> ChangeRequest | None:
    """Return what a line asks to be changed to what it says; None where it asks for nothing of the kind."""
    for opening in openings(line):
        found = _ASKS.fullmatch(opening.clause)
        if found is not None and is_asked(found["lead"], opening) and _SAYS.search(opening.before):
            return ChangeRequest((found["of"] or "").strip(), _last(opening.before))
    return None


def changed(before: str, asked: ChangeRequest) -> str | None:
    """Return a text as it is asked to be; None where that can't be told: then a whole sentence would."""
    if is_about(before, asked.statement) or _begins_alike(before, asked.statement):
        return replaced_in(before, asked.statement)
    return restated_in(before, asked.statement)


def _begins_alike(one: str, other: str) -> bool:
    return wording(one)[:_BEGINNING] == wording(other)[:_BEGINNING]


def _last(said: str) -> str:
    """Return the last clause of what stands in front of a request."""
    parts = re.split(r"[.!?;:]\s+", said.strip(" ,;:-–—"))
    return re.sub(r",? (?:so|and|then)$", "", parts[-1].strip(" .,;!"))
