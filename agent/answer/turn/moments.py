"""When: the time in a sentence that a question asks for. Of several the one that holds: not what it was moved from, nor
what is denied. Pure.

Only a time that is told relative to the day it was said on is put as a date: "last week", said on 9 June 2023, is "the
week before 9 June 2023".
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, time, timedelta
from typing import Final

import msgspec

from braid.agent.answer.question.reading import ASKS_DAY
from braid.agent.answer.turn.ahead import lean_of, month_end, tells_of_plan
from braid.recall.decompose import Question
from braid.text import dates, numbers
from braid.text.calendar import MONTH_NAME, MONTHS, WEEKDAY_NAME
from braid.text.dates import Time, times
from braid.text.meanings import Lean
from braid.text.words import stems

_CLOCK: Final = re.compile(
    r"\b\d{1,2}[:.]\d\d(?:\s?[ap]\.?m\b)?|\b\d{1,2}\s?[ap]\.?m\b|\b(?:noon|midnight)\b", re.I
)
_RELATIVE: Final = re.compile(
    r"\b(?P<which>last|this|next|past) (?P<unit>week(?:end)?|month|year)\b"
    rf"|\b(?P<n>{numbers.COUNT}) (?P<units>week(?:end)?|month|year)s ago\b",
    re.IGNORECASE,
)
_OF_DAY: Final = r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_HOUR: Final = re.compile(
    r"\bat \d{1,2}\b(?![:.,]?\d|\s?[%€£$])"
    rf"|\bhalf (?:past )?(?:{_OF_DAY}|\d{{1,2}})\b|\bquarter (?:past|to) (?:{_OF_DAY}|\d{{1,2}})\b"
    rf"|\b(?:{_OF_DAY}|\d{{1,2}}) o['’]?clock\b"
    rf"|\b(?:at {_OF_DAY}(?: (?:fifteen|twenty|thirty|forty))?|{_OF_DAY} (?:fifteen|thirty))\b"
    r"(?=\W*(?:$|[.,;!?)]|(?:on|in|and|or|for|every|from|sharp|today|tomorrow|because|now|instead)\b))",
    re.IGNORECASE,
)
"""An hour, where a time of the day is asked for: at 11, half past eight."""
_SORRY: Final = re.compile(
    r"\b(?:sorry|no wait|wait no|i mean|actually|or rather|correction)\b", re.IGNORECASE
)
_OF_CLOCK: Final = re.compile(r"\btime\b|\bo['’]clock\b", re.IGNORECASE)
_OF_CLOCK_ALONE: Final = re.compile(
    r"\b(?:what|which|whats|what['’]s the) time\b(?! (?:of|in) (?:the )?(?:year|month|week)|s\b)|\bat what hour\b",
    re.IGNORECASE,
)
"""What no day answers."""
_ENDS: Final = re.compile(
    r"\b(?:ends?|ended|finish(?:es|ed)?|over|back|until|till|return(?:s|ed)?|last day|closes?|expires?)\b",
    re.IGNORECASE,
)
_REOPENS: Final = re.compile(r"\bopens? (?:up )?again\b|\bre-?opens?\b", re.IGNORECASE)
_SHUT: Final = re.compile(r"\b(?:closed|shut|closes|shuts)\b", re.IGNORECASE)
_STARTS: Final = re.compile(
    r"\b(?:starts?|started|begins?|began|first day|opens?|leave|set off|go(?:ing)?)\b", re.IGNORECASE
)
_DENIED: Final = re.compile(
    r"(?:\b(?:not|instead of|rather than|cannot|cant|wont|no longer|isnt|wasnt|was|used to be|were)|n['’]t)\b"
    r"(?:(?!\bbut\b)[^,;.!?:])*$",
    re.IGNORECASE,
)
"""What stands before a time that doesn't hold, within its clause."""
_WAS: Final = re.compile(r"\b(?:was|were|used to be)\b", re.IGNORECASE)
_MOVED_FROM: Final = re.compile(r"\bfrom\b[^,;.!?]*$", re.IGNORECASE)
_MOVES: Final = re.compile(
    r"\b(?:mov(?:e|ed|ing)|chang(?:e|ed|ing)|push(?:ed|ing)?|shift(?:ed)?|reschedul(?:e|ed)|postpone[d]?|delayed?|brought"
    r"|went|goes|slipp?(?:s|ed)?|put back|switch(?:ed)?|swapp?(?:ed)?|bumped)\b",
    re.IGNORECASE,
)
_TO: Final = re.compile(
    rf"^\W*(?:to|until|till|through|[-–—])\W*(?:(?:the|{WEEKDAY_NAME})\W+){{0,2}}$", re.IGNORECASE
)
_WEEK_OF: Final = re.compile(r"\bweek (?:of|from|beginning|commencing)(?: the)?\W*$", re.IGNORECASE)
"""What makes a day name its week: "the week of the twentieth"."""
_NOT_ON: Final = re.compile(
    r"(?:\b(?:not|never|cannot|cant|wont)|n['’]t)\b[^,;.!?:]*\bbefore\W+(?:the\W+)?$"
    r"|\bnot (?:on )?(?:the )?$",
    re.IGNORECASE,
)
_EITHER: Final = re.compile(
    r"(?:\bbetween (?:on )?(?:the )?(?:[\w,]+ ){1,4}and|\bor) (?:on )?(?:the )?$", re.IGNORECASE
)
"""What stands before the second of two days, where it isn't said which of them it is, or of those between them."""
_CUTS: Final = re.compile(
    r"[,;:–—]|\b(?:and|but|while|then|whereas|though|although|before|after)\b", re.IGNORECASE
)
"""Where a clause may end."""
_DAY: Final = r"[0-3]?\d(?:st|nd|rd|th)?"
_UP_TO: Final = r"(?: ?[-–—] ?| (?:to|until|till) (?:the )?)"
_MONTH: Final = rf"(?P<month>{MONTH_NAME})"
_SPANS: Final = (
    re.compile(
        rf"(?<![\d.:])\b(?P<first>{_DAY}){_UP_TO}(?P<last>{_DAY}) (?:of )?{_MONTH}\b(?P<year>,? \d{{4}}\b)?",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b{_MONTH} (?P<first>{_DAY}){_UP_TO}(?P<last>{_DAY})\b(?P<year>)(?![:.]?\d)", re.IGNORECASE
    ),
)
"""Days of one month, which stands at one of them."""
_WEEKDAY: Final = re.compile(rf"(?:on )?{WEEKDAY_NAME}", re.IGNORECASE)
_OF_WEEK: Final = re.compile(rf"\b{WEEKDAY_NAME}s?,?\s(?:at\s)?$", re.IGNORECASE)
_DAY_ALONE: Final = re.compile(
    r"\bthe [0-3]?\d(?:st|nd|rd|th)\b(?! (?!(?:not|and|or|to|at|in|for|because|so|instead|but|until|if|we|i|is|was|now"
    r"|then|with|from|on)\b)[a-z])",
    re.IGNORECASE,
)
"""A day of which the month isn't said: it is told as it was said, where there are two to choose from."""
_BIRTH: Final = re.compile(r"\b(?:born|birthday|bday|b-day)\b", re.IGNORECASE)
_NEARLY_A_YEAR: Final = timedelta(days=320)
_YEAR: Final = re.compile(r"\d{4}")
_CALENDAR_DAY: Final = re.compile(
    rf"\b(?:{'|'.join(MONTHS)}|{'|'.join(one[:3] for one in MONTHS)})\b", re.IGNORECASE
)


class Moment(msgspec.Struct, frozen=True):
    """A time that a sentence names, where it stands, and what is told of it."""

    start: int
    stop: int
    shown: str


def time_of(question: Question, sentence: str, when: datetime) -> str | None:
    """Return the time that a sentence, said at `when`, gives for a question; None where it names none."""
    clocks = [Moment(found.start(), found.end(), found[0]) for found in _CLOCK.finditer(sentence)]
    if _OF_CLOCK.search(question.text):
        hours = [Moment(found.start(), found.end(), found[0]) for found in _HOUR.finditer(sentence)]
        if clocks or hours:
            return _fitting(question, sentence, clocks or hours).shown
        if _OF_CLOCK_ALONE.search(question.text):
            return None
    told = _told_day(question, sentence, when)
    if told is not None:
        return told or None
    of_day = [_with_day(sentence, one) for one in clocks]
    if ASKS_DAY.search(question.text):
        of_day = [one for one, clock in zip(of_day, clocks, strict=True) if one is not clock]
    return _fitting(question, sentence, of_day).shown if of_day else None


def _with_day(sentence: str, clock: Moment) -> Moment:
    """Return a time of the day with the day of the week right before it: Saturdays at 15:00."""
    day_of_week = _OF_WEEK.search(sentence[: clock.start])
    if day_of_week is None:
        return clock
    start = day_of_week.start()
    return Moment(start, clock.stop, sentence[start : clock.stop])


def _told_day(question: Question, sentence: str, when: datetime) -> str | None:
    """Return the day, month or year that a sentence gives; empty where what it names is no answer, None for none."""
    if (last := month_end(sentence, when, until=_ENDS.search(question.text) is not None)) is not None:
        return f"by {day(last.isoformat())}"
    relative = _RELATIVE.search(sentence)
    days = _days(sentence, when)
    if relative is not None and not any(_covers(one, relative) for one in days):
        return _relative(relative, when)
    if days:
        if _REOPENS.search(question.text) and _SHUT.search(sentence):
            return ""  # of what is closed until then nobody says that it opens on that day
        certain = _certain(sentence, days)
        return _fitting(question, sentence, certain).shown if certain else ""
    return None


def _covers(one: Moment, found: re.Match[str]) -> bool:
    """Whether a time says more than words within it: "Tuesday next week"."""
    inside = one.start <= found.start() and found.end() <= one.stop
    return inside and one.stop - one.start > found.end() - found.start()


def _certain(sentence: str, found: Sequence[Moment]) -> list[Moment]:
    """Return the times but for those that it isn't on, or not before, that name a week, or that it may be on."""
    between = [place for place, one in enumerate(found) if _EITHER.search(sentence[: one.start])]
    open_ = {*between, *(place - 1 for place in between)}
    return [
        one
        for place, one in enumerate(found)
        if place not in open_
        and not _NOT_ON.search(sentence[: one.start])
        and not _WEEK_OF.search(sentence[: one.start])
    ]


def _of_clause(question: Question, sentence: str, found: Sequence[Moment]) -> Moment:
    """Return the time of the clause that has most of the question's words; of two that have as many the one that has
    the later of them, which say more: in "fly back" the back.

    That something ends counts as a word of its own: when do I fly back? Flying on June 11, back on June 18.
    """
    to_its_end = _ENDS.search(question.text) is not None
    cuts = [cut.span() for cut in _CUTS.finditer(sentence)]
    cuts = [cut for cut in cuts if not any(one.start <= cut[0] < one.stop for one in found)]

    def met(one: Moment) -> tuple[int, int]:
        first = max((stop for _, stop in cuts if stop <= one.start), default=0)
        last = min((start for start, _ in cuts if start >= one.stop), default=len(sentence))
        said = stems(sentence[first:last])
        ends = to_its_end and _ENDS.search(sentence, first, last) is not None
        places = [place for place, each in enumerate(question.stems) if each in said]
        return len(places) + 2 * ends, max(places, default=-1)

    return max(found, key=met)


def _fitting(question: Question, sentence: str, found: Sequence[Moment]) -> Moment:
    """Return which of the times is meant: what holds, and of a span its end where that is asked for."""
    holding = [one for one in found if not _is_denied(question, sentence, one)] or found
    later = [one for one in holding[1:] if _SORRY.search(sentence[holding[0].stop : one.start])]
    if later:
        return later[0]  # at 10 – sorry, at 11
    pairs = [
        pair for pair in itertools.pairwise(holding) if _TO.match(sentence[pair[0].stop : pair[1].start])
    ]
    chosen = _of_clause(question, sentence, holding)
    pair = next((pair for pair in pairs if chosen in pair), None)
    if pair is None:
        return chosen
    first, last = pair
    if _MOVES.search(sentence[: first.start]) and _MOVED_FROM.search(sentence[: first.start]):
        return last
    starts, ends = _STARTS.search(question.text), _ENDS.search(question.text)
    if starts or ends:
        return first if starts else last
    return msgspec.structs.replace(first, shown=f"{first.shown} to {last.shown}", stop=last.stop)


def _is_denied(question: Question, sentence: str, one: Moment) -> bool:
    """Whether a time is what it isn't, or was: on the 5th, not the 4th; was Monday, now Tuesday."""
    found = _DENIED.search(sentence[: one.start])
    if found is None:
        return False
    return not (
        _WAS.search(found[0]) and re.search(r"\b(?:was|were|did|born)\b", question.text, re.IGNORECASE)
    )


def _days(sentence: str, when: datetime) -> list[Moment]:
    """Return the days, months and years that a sentence names, in its order; of a span both ends."""
    now = datetime.combine(when.date(), time(12), UTC)
    lean = lean_of(sentence)
    may_recur = lean == "ahead" and not tells_of_plan(sentence)
    taken = bytearray(len(sentence))
    found: list[Moment] = []
    for form in _SPANS:
        for match in form.finditer(sentence):
            found += _ends(match, now, lean)
            taken[match.start() : match.end()] = b"\x01" * (match.end() - match.start())
    for one in times(sentence, now, lean):
        if may_recur and _WEEKDAY.fullmatch(sentence, one.start, one.stop):
            continue  # it comes on Thursday: perhaps every week
        if one.iso and taken.find(1, one.start, one.stop) < 0:
            taken[one.start : one.stop] = b"\x01" * (one.stop - one.start)
            shown = _shown(sentence, one.start, one.stop, one.iso)
            if may_recur and _may_be_past(one, sentence, now):
                shown = shown.removesuffix(f" {one.iso[:4]}")
            found.append(Moment(one.start, one.stop, shown))
    alone = [match for match in _DAY_ALONE.finditer(sentence) if taken.find(1, *match.span()) < 0]
    if len(alone) == 1 and not found and lean == "ahead":
        at = dates.day(alone[0][0], now, lean)
        if at is not None and at.since is not None:
            found.append(Moment(*alone[0].span(), day(at.since.date().isoformat())))
    if len(alone) > 1:  # the 5th, not the 4th
        found += [Moment(match.start(), match.end(), match[0]) for match in alone]
    return sorted(found, key=lambda one: one.start)


def _may_be_past(one: Time, sentence: str, now: datetime) -> bool:
    """Whether a day without a year, which is taken to be ahead, has only just been."""
    said = sentence[one.start : one.stop]
    return one.span.since is not None and one.span.since - now > _NEARLY_A_YEAR and not _YEAR.search(said)


def _ends(match: re.Match[str], now: datetime, lean: Lean) -> Iterator[Moment]:
    """Yield both ends of a span of days in one month."""
    for name in ("first", "last"):
        named = times(f"{match[name]} {match['month']}{match['year'] or ''}", now, lean)
        if (iso := next((one.iso for one in named if len(one.iso) == 10), None)) is not None:
            yield Moment(match.start(name), match.end(name), day(iso))


def _shown(sentence: str, start: int, stop: int, iso: str) -> str:
    """Return a time as people write it; the day of a birth without a year that nobody has said."""
    told = day(iso)
    said = sentence[start:stop]
    if len(iso) == 10 and _BIRTH.search(sentence) and not _YEAR.search(said) and _CALENDAR_DAY.search(said):
        return told.rpartition(" ")[0]
    return told


def _relative(match: re.Match[str], when: datetime) -> str:
    """Put a week, month or year that is told from the day it was said on as one that anybody can find."""
    unit = (match["unit"] or match["units"]).lower()
    if match["n"]:
        return f"{match['n'].lower()} {unit}s before {day(when.date().isoformat())}"
    by = {"last": -1, "past": -1, "this": 0, "next": 1}[match["which"].lower()]
    if unit == "year":
        return str(when.year + by)
    if unit == "month":
        months = 12 * when.year + when.month - 1 + by
        return day(f"{months // 12:04d}-{months % 12 + 1:02d}")
    way = {-1: "before", 0: "of", 1: "after"}[by]
    return f"the {unit} {way} {day(when.date().isoformat())}"


def during(since: datetime, until: datetime) -> str:
    """Return a time from its first instant to before its last, as closely as that says it: a day, a month, a year."""
    last = (until - timedelta(microseconds=1)).date()
    first = since.date()
    if first == last:
        return f"on {day(first.isoformat())}"
    if (first.month, first.day, last.month, last.day) == (1, 1, 12, 31):
        return f"in {first.year}" if first.year == last.year else f"from {first.year} to {last.year}"
    if first.day == 1 and (first.year, first.month) == (last.year, last.month) and until.day == 1:
        return f"in {day(first.isoformat()[:7])}"
    return f"from {day(first.isoformat())} to {day(last.isoformat())}"


def day(iso: str) -> str:
    """Return `2025-05-17`, `2025-05` or `2025` as people write it."""
    form = {4: "%Y", 7: "%B %Y", 10: "%-d %B %Y"}[len(iso)]
    return datetime.strptime(iso, "%Y-%m-%d"[: {4: 2, 7: 5, 10: 8}[len(iso)]]).strftime(form)  # noqa: DTZ007 - a date
