"""Values in a text: times, days, amounts, codes; and a text with another value in the place of one of its own. Pure."""

import re
from collections.abc import Set
from typing import Final, NamedTuple

from braid.text.calendar import MONTH_NAME, MONTHS, WEEKDAYS
from braid.text.words import STOP, listed, stem, words

_DAY: Final = rf"(?:{'|'.join(WEEKDAYS)}|mon|tues?|weds?|thu(?:rs?)?|fri)s?"
_NTH: Final = r"(?:first|second|third|fourth|last|\d(?:st|nd|rd|th))"
_NUMBER: Final = r"\d{1,2}(?:st|nd|rd|th)?"
_YEAR: Final = r"(?:,? (?:19|20)\d\d)?"
_MEALS: Final = {"breakfast": "morning", "dinner": "evening", "supper": "evening", "bedtime": "night"}
_KINDS: Final = tuple(
    (kind, re.compile(rf"(?<![\w.,:])(?:{pattern})", re.IGNORECASE))
    for kind, pattern in (
        ("date", rf"(?:{_NUMBER}(?: of)? {MONTH_NAME}|{MONTH_NAME} {_NUMBER}){_YEAR}\b"),
        (
            "time",
            r"(?:\d{1,2}[:h]\d{2}(?: ?[ap]\.?m)?|\d{1,2}(?:\.\d\d)? ?[ap]\.?m|noon|midnight"
            r"|\d{1,2} o['’]clock|(?:half|quarter) (?:past|to) \w+)\b",
        ),
        ("nth", rf"{_NTH} {_DAY}\b"),
        ("days", rf"{_DAY}(?:(?:,| and| &|/)? ?{_DAY})*\b"),
        (
            "often",
            r"(?:daily|weekly|monthly|yearly|hourly|fortnightly|(?:once|twice|\w+ times) (?:a|every|per) \w+"
            r"|every (?:other|second|third|\d+|two|three|four|five|six|seven|eight|nine|ten) \w+)\b",
        ),
        ("day", r"\d{1,2}(?:st|nd|rd|th)\b"),
        ("month", rf"(?:{'|'.join({*MONTHS} - {'may', 'march'})}|(?-i:May|March)){_YEAR}\b"),
        (
            "part",
            r"(?<!this )(?<!last )(?<!next )(?<!tomorrow )(?<!yesterday )(?:mornings?|afternoons?|evenings?|nights?"
            r"|breakfast|lunch|dinner|supper|bedtime)\b",
        ),
        ("code", r"[a-z]+-?\d[\w-]*"),
        ("amount", r"[€$£]?\d(?:[\d.,]*\d)?(?=[a-z%°€$£]{0,5}(?!\w))"),
    )
)  # fmt: skip
_UNITS: Final = frozenset(
    map(
        stem,
        listed("""
g grams kg kilos kilograms mg ml l litres euros euro pounds dollars percent bar mm cm m km metres minutes min mins hours
days weeks months years points pages people guests times units degrees amp volts
"""),
    )
)


class Slot(NamedTuple):
    """A value and where it stands. `same`: equal for two spellings of one; `before`, `behind`: the words beside it."""

    kind: str
    start: int
    stop: int
    text: str
    same: str
    before: str
    behind: str


def slots(text: str) -> list[Slot]:
    """Return the values in a text, those that are longer first."""
    found: list[Slot] = []
    for kind, pattern in _KINDS:
        for one in pattern.finditer(text):
            if any(one.start() < other.stop and one.end() > other.start for other in found):
                continue
            beside = words(text[: one.start()])[-1:], words(text[one.end() :])[:1]
            before, behind = (stem("".join(each)) for each in beside)
            found.append(Slot(kind, *one.span(), one[0], _same(kind, one[0]), before, behind))
    return found


def _same(kind: str, text: str) -> str:
    text = text.lower()
    if kind in ("days", "nth", "date", "month"):
        return " ".join(
            sorted(part[:3] for part in re.findall(r"[a-z]{3,}|\d+", text) if part not in ("and",))
        )
    if kind == "part":
        return _MEALS.get(text, text.rstrip("s"))
    if kind == "code":
        return text[0] + "".join(re.findall(r"\d+", text))
    return text.lstrip("€$£").replace(" ", "")


def without_slots(text: str) -> str:
    """Return a text without its values."""
    for one in slots(text):
        text = f"{text[: one.start]}{' ' * (one.stop - one.start)}{text[one.stop :]}"
    return text


def restated_in(before: str, line: str, *, of: Set[str] = frozenset()) -> str | None:
    """Return a text with the one value that a line has otherwise; None where that is none, or more than one.

    `of`: words that say of what it is, of which none is the value.
    """
    own, said = [one for one in slots(before) if one.text not in of], slots(line)
    shared = {(one.kind, one.same) for one in own} & {(one.kind, one.same) for one in said}
    new = {(one.kind, one.same): one for one in said if (one.kind, one.same) not in shared}
    if len(new) != 1:
        return None
    value = next(iter(new.values()))
    told = {*map(stem, (*words(without_slots(line)), *of))}
    fitting = [one for one in own if _takes(one, value)]
    open_ = [one for one in fitting if (one.kind, one.same) not in shared] or fitting
    if len(open_) > 1:
        open_ = [one for one in open_ if _is_beside(one, value, told)]
    if len(open_) != 1:
        return None
    at = open_[0]
    return f"{before[: at.start]}{_spelt(value, at)}{before[at.stop :]}"


def _takes(old: Slot, new: Slot) -> bool:
    if old.kind == new.kind == "code":
        return re.sub(r"\W*\d.*", "", old.text.lower()) == re.sub(r"\W*\d.*", "", new.text.lower())
    if old.kind == new.kind == "amount":
        units = [{one.behind} & _UNITS for one in (old, new)]
        return not all(units) or units[0] == units[1]
    is_hour = (
        new.kind == "amount" and new.text.isdecimal() and int(new.text) < 25 and new.behind not in _UNITS
    )
    return old.kind == new.kind or (
        old.kind == "time" and is_hour and (new.before in STOP or new.before in ("",))
    )


def _is_beside(old: Slot, new: Slot, told: Set[str]) -> bool:
    beside = {old.before, old.behind} - STOP - {""}
    return not beside.isdisjoint({new.before, new.behind}) or old.before in told - STOP


def _spelt(new: Slot, old: Slot) -> str:
    """Return a value as a text would spell it: days in full."""
    if new.kind not in ("days", "nth"):
        return new.text

    def whole(found: re.Match[str]) -> str:
        day = next(day for day in WEEKDAYS if day.startswith(found[0][:3].lower()))
        return f"{day.capitalize()}{'s' if old.text.endswith('s') else ''}"

    return re.sub(rf"\b{_DAY}\b", whole, new.text, flags=re.IGNORECASE)
