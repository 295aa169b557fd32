"""A request that something that is kept be changed: of what, and to what; no old value is named. Pure."""

import re
from typing import Final, NamedTuple

from braid.agent.request.opening import LEAD, Opening, is_asked, openings
from braid.agent.request.righting import is_about, replaced_in
from braid.agent.request.slots import restated_in, slots
from braid.text.wording import wording
from braid.text.words import words

_VERB: Final = (
    r"(?:change|move|update|make|set|switch|push|shift|reschedule|postpone|bump|put|amend|adjust|correct|edit"
    r"|bring forward)"
)
_TO: Final = r"(?:back |forward |up |down )?(?:to|until|till|into)"
_IT: Final = r"(?:it|that|this|them|(?:that|this|the|your|my) (?:one|note|entry|line|record))"
_TAIL: Final = r"(?:,? (?:please|pls|thanks|thank you|instead|now|from now on|for (?:me|us)))*[\s.!]*"
_WAS: Final = (
    r"(?:what(?:ever)? (?:you|i|we)(?:['’]ve)? (?:have|had|know|knew|saved|noted|stored|remember|said|told you"
    r"|put)(?: down)?|(?:the|your|my) (?:old |previous |earlier )?(?:note|entry|line|one|record|memory|version"
    r"|value|info|information)s?)"
)
_FORMS: Final = tuple(
    re.compile(pattern, flags=re.IGNORECASE)
    for pattern in (
        rf"{LEAD}{_VERB} {_IT} {_TO} (?P<value>.+?){_TAIL}",
        rf"{LEAD}{_VERB} (?P<of>.+?) (?:on|in|from|at) (?:[^ ]+(?: [^ ]+)?) to (?P<value>.+?){_TAIL}",
        rf"{LEAD}{_VERB} (?P<of>.+) {_TO} (?P<value>.+?){_TAIL}",
    )
)  # fmt: skip
_ANEW: Final = re.compile(
    rf"{LEAD}(?:(?:put|set|get) {_IT} (?:right|straight)"
    r"|(?:update|overwrite|replace|fix|amend|change|correct|adjust|edit|refresh)"
    rf" (?:{_WAS}(?: (?:there|about|on|for|of) (?P<of>.+?))?|{_IT}|(?:your|the|my) (?:notes?|records?|memory|list)))"
    rf"(?: in (?:your|the|my) (?:notes?|records?|memory|list))?(?: accordingly| with (?:that|this))?{_TAIL}",
    flags=re.IGNORECASE,
)
_MAKE: Final = re.compile(rf"{LEAD}(?:make|set) (?P<of>.+)", flags=re.IGNORECASE)
_CHANGED: Final = re.compile(
    r",? (?:(?:has|have|had|was|is|are|were|got|been|just|now|also)['’]? )*(?:been )?(?:moved|changed"
    r"|rescheduled|shifted|postponed"
    r"|different|wrong|off|updated|out of date|pushed(?: back)?|brought forward)\b.*",
    flags=re.IGNORECASE,
)
_BEGINNING: Final = 3
"""What begins with the same words, so many of them, says something of the same thing."""
_POINTS_BACK: Final = re.compile(r"(?:it|that|this|them|those|these|him|her|us|me)\b.*", flags=re.IGNORECASE)
_SAYS: Final = re.compile(r"\w{2,} \w")
_NOW_ON: Final = re.compile(r" (?:from now on|from here on|now|instead)(?=[\s.!]*$)", flags=re.IGNORECASE)
class ChangeRequest(NamedTuple):
    """What is to be changed, and what it is now. `of`: what it is of, in words; "" where the statement says so, or for
    the last thing told.

    `value`: what is to stand there; else `statement` says it as a whole.
    """

    of: str
    value: str | None
    statement: str

    @property
    def is_of_last(self) -> bool:
        """Whether it is of the last thing that was told: "make it 9:30"."""
        return not self.of and not self.statement


def change_request(line: str) -> ChangeRequest | None:
    """Return what a line asks to be changed; None where it asks for nothing of the kind."""
    for opening in openings(line):
        asked = _anew(opening) or _to(opening) or _made(opening)
        if asked is not None:
            return asked
    return None


def _anew(opening: Opening) -> ChangeRequest | None:
    """Read "… is daily now, so update what you have"."""
    found = _ANEW.fullmatch(opening.clause)
    if found is None or not is_asked(found["lead"], opening) or not _SAYS.search(opening.before):
        return None
    return ChangeRequest((found["of"] or "").strip(), None, _last(opening.before))


def _to(opening: Opening) -> ChangeRequest | None:
    """Read "move the dentist to Friday", and "the dentist has moved, change it to Friday"."""
    found = next(filter(None, (form.fullmatch(opening.clause) for form in _FORMS)), None)
    if found is None or not is_asked(found["lead"], opening):
        return None
    is_named = "of" in found.re.groupindex
    of = found["of"] if is_named else _CHANGED.sub("", _last(opening.before))
    if is_named and _POINTS_BACK.fullmatch(of):
        return None
    return ChangeRequest(of.strip(" ,"), found["value"].partition(", ")[0].strip(" .!"), "")


def _made(opening: Opening) -> ChangeRequest | None:
    """Read "make the retro 11:00", and "make it 11:00"."""
    found = _MAKE.fullmatch(opening.clause)
    parted = (
        _ending(_NOW_ON.sub("", found["of"]))
        if found is not None and is_asked(found["lead"], opening)
        else None
    )
    if parted is None:
        return None
    of, value = parted
    return ChangeRequest("" if _POINTS_BACK.fullmatch(of) else of, value, "")


def changed(before: str, asked: ChangeRequest) -> str | None:
    """Return a text as it is asked to be; None where that can't be told: then a whole sentence would."""
    if asked.value is not None:
        return restated_in(before, asked.value, of={*words(asked.of)})
    if is_about(before, asked.statement) or _begins_alike(before, asked.statement):
        return replaced_in(before, asked.statement)
    return restated_in(before, asked.statement)


def _begins_alike(one: str, other: str) -> bool:
    return wording(one)[:_BEGINNING] == wording(other)[:_BEGINNING]


def _last(said: str) -> str:
    """Return the last clause of what stands in front of a request."""
    parts = re.split(r"(?<=[.!?;])\s+|(?<=\w\w it):\s+|(?<=moved|hange):\s+", said.strip(" ,;:-–—"))
    return re.sub(r",? (?:so|and|then)$", "", parts[-1].strip(" .,;!"))


def _ending(text: str) -> tuple[str, str] | None:
    """Return what a text names and the value that it ends with, "the retro 11:00"."""
    text = re.split(r", ", text, maxsplit=1)[0].strip(" .!")
    for one in slots(text):
        if one.start and len(text[one.stop :].split()) <= 1:
            return text[: one.start].strip(), text[one.start :]
    return None
