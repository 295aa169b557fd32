"""A request that something that is kept be changed: of what, and to what; no old value is named. Pure."""

import re
from collections.abc import Set
from typing import Final, NamedTuple

from braid.agent.request.opening import LEAD, Opening, is_asked, openings
from braid.agent.request.righting import is_about, replaced_in
from braid.text.calendar import MONTHS, WEEKDAYS
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
_CODED: Final = re.compile(r"(?P<what>[A-Za-z][\w-]+) [A-Za-z]?\d[\w.]*")
_FILLER: Final = re.compile(r"(?:,? (?:then|please|pls|now|instead|tops|max|thanks))+$", flags=re.IGNORECASE)
_NOW_ON: Final = re.compile(r" (?:from now on|from here on|now|instead)(?=[\s.!]*$)", flags=re.IGNORECASE)
_UNIT: Final = r"(?:(?!(?:an?|per|each|every|and|for|from|since|as)\b)[a-z%°€$£]+)"
_MONTH: Final = "|".join(MONTHS)
_DAY: Final = "|".join(WEEKDAYS)
_KINDS: Final = tuple(
    re.compile(rf"(?<![\w.,:]){pattern}(?!\w)", flags=re.IGNORECASE)
    for pattern in (
        rf"(?:\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{_MONTH})|(?:{_MONTH}) \d{{1,2}}(?:st|nd|rd|th)?)(?:,? \d{{4}})?",
        (
            r"(?:\d{1,2}[:.h]\d{2}(?: ?[ap]\.?m\.?)?|\d{1,2} ?[ap]\.?m\.?|noon|midnight|\d{1,2} o['’]clock"
            r"|(?:half|quarter) (?:past|to) \w+)"
        ),
        rf"(?:{_DAY})s?(?: (?:morning|afternoon|evening|night)s?)?",
        (
            r"(?:daily|weekly|monthly|yearly|hourly|fortnightly|(?:once|twice|\w+ times) (?:a|every|per) \w+"
            r"|every (?:(?:other|second|third|fourth|\d+|two|three|few|single) )?(?:(?:working|week"
            r"|school) )?\w+)"
        ),
        r"the \d{1,2}(?:st|nd|rd|th)",
        rf"(?:{_MONTH})",
    )
)
"""Kinds of values of which one may stand in the place of another, the longest first."""
_AMOUNT: Final = re.compile(
    rf"(?<![\w.,:/-])(?P<sign>[€$£]?)(?P<number>\d(?:[\d.,]*\d)?)(?: ?(?P<unit>{_UNIT}))?(?![\w:/-])",
    flags=re.IGNORECASE,
)


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
        return put_in_place(before, asked.value, {*words(asked.of)})
    if is_about(before, asked.statement) or _begins_alike(before, asked.statement):
        return replaced_in(before, asked.statement)
    found = [
        value for value in map(str.strip, values(asked.statement)) if put_in_place(before, value) is not None
    ]
    return put_in_place(before, found[0]) if len(found) == 1 else None


def _begins_alike(one: str, other: str) -> bool:
    return wording(one)[:_BEGINNING] == wording(other)[:_BEGINNING]


def _last(said: str) -> str:
    """Return the last clause of what stands in front of a request."""
    parts = re.split(r"(?<=[.!?;])\s+|(?<=\w\w it):\s+|(?<=moved|hange):\s+", said.strip(" ,;:-–—"))
    return re.sub(r",? (?:so|and|then)$", "", parts[-1].strip(" .,;!"))


def _ending(text: str) -> tuple[str, str] | None:
    """Return what a text names and the value that it ends with, "the retro 11:00"."""
    text = re.split(r", ", text, maxsplit=1)[0].strip(" .!")
    for value in values(text):
        if text.endswith(value) and len(text) > len(value):
            return text[: -len(value)].strip(), value
    return None


def values(text: str) -> list[str]:
    """Return the values in a text that may stand in the place of another."""
    found = [one[0] for kind in _KINDS for one in kind.finditer(text)]
    return [
        *found,
        *(
            one[0].strip()
            for one in _AMOUNT.finditer(text)
            if not any(one["number"] in each for each in found)
        ),
    ]


def put_in_place(before: str, value: str, named: Set[str] = frozenset()) -> str | None:
    """Return a text with a value in the place of the one of its kind; None where there is none, or more than one.

    `named`: words that say of what it is, of which none is the value.
    """
    value = value.strip()
    if (coded := _CODED.fullmatch(value)) is not None:  # Postgres 16 for Postgres 14
        found = list(
            re.finditer(rf"\b{re.escape(coded['what'])} [A-Za-z]?\d[\w.]*", before, flags=re.IGNORECASE)
        )
        if len(found) == 1:
            return f"{before[: found[0].start()]}{value}{before[found[0].end() :]}"
    for kind in _KINDS:
        if (new := kind.search(value)) is not None:
            found = list(kind.finditer(before))
            if len(found) != 1:
                continue
            return f"{before[: found[0].start()]}{new[0]}{before[found[0].end() :]}"
    new = _AMOUNT.match(_FILLER.sub("", value))
    if new is None:
        return None
    alike = [one for one in _AMOUNT.finditer(before) if _same_unit(new, one) and one["number"] not in named]
    if len(alike) != 1:
        return None
    at = alike[0]
    return f"{before[: at.start('number')]}{new['number']}{before[at.end('number') :]}"


def _same_unit(new: re.Match[str], old: re.Match[str]) -> bool:
    unit, other = (new["unit"] or "").lower(), (old["unit"] or "").lower()
    signs = {new["sign"], old["sign"]} - {""}
    return len(signs) < 2 and (not unit or unit.rstrip("s") == other.rstrip("s"))
