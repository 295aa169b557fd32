"""Questions whose answer nobody said: it has to be reckoned from several that were. Read by rules, in English. Pure.

"How much did the desk and the lamp cost together?" asks for two amounts and their sum, "How long is it until the fair?"
for a day and today's. What no rule reads is looked up as it is.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal

import msgspec

from braid.agent.answer.question.description import asked_of
from braid.agent.answer.question.hop import MAX_CHARS
from braid.text import numbers
from braid.text.verbs import is_base
from braid.text.words import MAX_QUERY_CHARS

MOST_PARTS: Final = 4
_ALL: Final = r"(?:in all|altogether|in total|all told|together|in sum)"
_THING: Final = r"(?:(?:the|my|our|his|her|their|a|an) |[A-Z])[^?,]+?"
_THINGS: Final = rf"(?P<things>{_THING}(?:, {_THING})*,? and {_THING})"
_VERB: Final = r"(?P<verb>cost|come to|weigh|earn|make|take|last|owe|pay)"
_EACH: Final = {"do": "does", "are": "is", "were": "was", "have": "has"}
_TOGETHER: Final = re.compile(
    rf"how (?P<much>much|many \w+) (?P<aux>do|does|did|are|is|were|was) {_THINGS}(?: {_VERB})?"
    rf"(?: (?P<all>{_ALL}|on average))?",
    re.IGNORECASE,
)
_TOTAL: Final = re.compile(
    rf"(?:what(?: is|['’]s| was) the (?P<what>sum|total|average|difference) (?:of|between|cost of|price of) {_THINGS}"
    rf"|what (?:do|did|does) {_THINGS.replace('things', 'those')} (?:come|add up) to(?: {_ALL})?)",
    re.IGNORECASE,
)
_MORE: Final = re.compile(
    r"how much (?P<which>more|less) (?P<aux>do|does|did|is|was) (?P<one>.+?)(?: (?P<verb>cost|weigh|earn|pay))? than"
    r" (?P<other>.+?)(?: (?:do|does|did|is|was))?",
    re.IGNORECASE,
)
_PERIOD: Final = re.compile(
    r"(?P<asks>(?:what (?:do|does|did|will)|how much (?:do|does|did|is|was|will)) .+?) (?:in|for|over|during)"
    rf" (?P<count>{numbers.COUNT})(?: whole| full)? (?P<period>week|month|year)s?",
    re.IGNORECASE,
)
_BETWEEN: Final = re.compile(
    r"how (?:long|many (?P<unit>days|weeks)) (?:is it|are there|were there|was it|went by|passed|lie|lay|did it take)?"
    r" ?(?:between|from) (?P<one>.+?) (?:and|to|until|till) (?P<other>.+?)",
    re.IGNORECASE,
)
_AFTER: Final = re.compile(
    r"how (?:long|many (?P<unit>days|weeks)) (?P<way>after|before) (?P<one>.+?),? (?P<aux>did|was|is|does|will)"
    r" (?P<other>.+?)",
    re.IGNORECASE,
)
_UNTIL: Final = re.compile(
    r"how (?:long|many (?P<unit>days|weeks)) (?:is it |is there |are there |are left |do (?:i|we) have )?"
    r"(?:still |left )?(?:until|till|to go until|before) (?P<one>.+?)",
    re.IGNORECASE,
)
_SINCE: Final = re.compile(
    r"how (?:long|many (?P<unit>days|weeks)) (?:(?:is it|has it been|have passed|has passed) since (?P<one>.+?)"
    r"|ago (?P<aux>did|was) (?P<other>.+?))",
    re.IGNORECASE,
)


class Reckoning(msgspec.Struct, frozen=True):
    """What is asked for each part, of which kind these are, and what a tool makes of them: `{part1}`, `{part2}` …"""

    of: Sequence[str]
    what: Literal["amount", "day"]
    tool: str
    args: Mapping[str, str]
    per: str = ""
    """Into which times the result is to be divided: "week"."""


def reckoning(question: str) -> Reckoning | None:
    """Return how a question is reckoned, None for one that isn't."""
    text = " ".join(question[:MAX_QUERY_CHARS].split()).strip(" ?.!")
    if len(text) > MAX_CHARS or "{" in text:
        return None
    return next((found for read in _READERS if (found := read(text)) is not None), None)


def _together(text: str) -> Reckoning | None:
    found = _TOGETHER.fullmatch(text)
    if found is None or not (found["all"] or found["verb"] in ("cost", "come to", "weigh")):
        return None
    aux = _EACH.get(found["aux"].lower(), found["aux"])
    *things, last = _split(found["things"])
    before, _, end = last.rpartition(" ")
    verb = found["verb"] or (end if before and is_base(end) else "")
    things.append(before if verb == end else last)
    asked = [" ".join(f"How {found['much']} {aux} {thing} {verb}".split()) + "?" for thing in things]
    return _sum(asked, "average" if (found["all"] or "").lower() == "on average" else "sum")


def _total(text: str) -> Reckoning | None:
    found = _TOTAL.fullmatch(text)
    if found is None:
        return None
    things = _split(found["things"] or found["those"])
    what = (found["what"] or "sum").lower()
    asked = [f"How much is {thing}?" for thing in things]
    if what == "difference":
        return _difference(asked) if len(asked) == 2 else None
    return _sum(asked, "average" if what == "average" else "sum")


def _more(text: str) -> Reckoning | None:
    found = _MORE.fullmatch(text)
    if found is None:
        return None
    verb = f" {found['verb']}" if found["verb"] else ""
    asked = [f"How much {found['aux']} {thing}{verb}?" for thing in (found["one"], found["other"])]
    if found["other"].lower() in ("before", "now", "then"):
        return None  # of two times, not of two things
    return _difference(asked if found["which"].lower() == "more" else asked[::-1])


def _period(text: str) -> Reckoning | None:
    found = _PERIOD.fullmatch(text)
    if found is None:
        return None
    count = numbers.value(found["count"])
    return Reckoning(
        [f"{found['asks']} a month?"],
        "amount",
        "calculator",
        {"expression": f"{{part1}} * {count} {found['period'].lower()}"},
    )


def _between(text: str) -> Reckoning | None:
    found = _BETWEEN.fullmatch(text)
    return None if found is None else _days(_when(found["one"]), _when(found["other"]), found["unit"])


def _after(text: str) -> Reckoning | None:
    found = _AFTER.fullmatch(text)
    if found is None:
        return None
    one, other = _when(found["one"]), f"When {found['aux'].lower()} {found['other']}?"
    pair = (one, other) if found["way"].lower() == "after" else (other, one)
    return _days(*pair, found["unit"])


def _until(text: str) -> Reckoning | None:
    found = _UNTIL.fullmatch(text)
    return None if found is None else _days(None, _when(found["one"]), found["unit"])


def _since(text: str) -> Reckoning | None:
    found = _SINCE.fullmatch(text)
    if found is None:
        return None
    asked = _when(found["one"]) if found["one"] else f"When {found['aux'].lower()} {found['other']}?"
    return _days(asked, None, found["unit"])


def _split(things: str) -> list[str]:
    return [thing.strip() for thing in re.split(r",? and |, ", things)]


def _sum(asked: Sequence[str], function: str) -> Reckoning | None:
    if len(asked) > MOST_PARTS:
        return None
    parts = ", ".join(f"{{part{number}}}" for number in range(1, len(asked) + 1))
    return Reckoning(asked, "amount", "calculator", {"expression": f"{function}({parts})"})


def _difference(asked: Sequence[str]) -> Reckoning:
    return Reckoning(asked, "amount", "calculator", {"expression": "{part1} - {part2}"})


def _days(first: str | None, last: str | None, unit: str | None) -> Reckoning:
    """Return what is reckoned between two days; None is today."""
    asked = [one for one in (first, last) if one is not None]
    names = iter(f"{{part{number}}}" for number in range(1, len(asked) + 1))
    args = {
        name: "{today}" if one is None else next(names) for name, one in (("day", first), ("until", last))
    }
    return Reckoning(asked, "day", "calendar", args, "week" if (unit or "").lower() == "weeks" else "")


def _when(event: str) -> str:
    """Return the question for the day of something: "the fair", "I signed the lease"."""
    return asked_of("When", event) or f"When is {event}?"


_READERS: Final[tuple[Callable[[str], Reckoning | None], ...]] = (
    _together, _total, _more, _period, _between, _after, _until, _since,
)  # fmt: skip
