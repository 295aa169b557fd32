"""When what a clause says holds, by its own words; and those words without that time. Pure."""

import re
from typing import Final

from braid.learn import dates
from braid.learn.page import Page
from braid.learn.parse.clauses import Clause
from braid.learn.parse.phrases import shown, subtree
from braid.text.calendar import MONTH_NAME, WEEKDAY_NAME
from braid.text.dates import places
from braid.text.parse import Parse
from braid.text.sentences import TextPart
from braid.text.words import listed

_SETS: Final = listed("book reserve move change plan schedule arrange agree postpone shift push rebook set")
"""Deeds whose day is another's: what was set, not when."""
_ENTERS: Final = listed("sign register enrol enroll enter apply")
_DAYS_OF_WEEK: Final = re.compile(
    rf"\bfrom {WEEKDAY_NAME}s? (?:to|till|until|through) {WEEKDAY_NAME}s?\b", re.IGNORECASE
)
"""I work nights from Sunday to Wednesday: every week."""
_LEADS: Final = listed(
    "on in at by this next last the for until since to till from of weekend starting beginning"
)
_TO_DAY: Final = re.compile(
    rf"\b(?:to|for) (?:the )?(?:\d|{WEEKDAY_NAME}|{MONTH_NAME}|(?:mon|tue|wed|thu|fri|sat|sun)\b)",
    re.IGNORECASE,
)
_FOR_DAY: Final = re.compile(
    r"\bfrom (?:today|tomorrow|tonight|now)\b"
    r"|\b(?:for|until|till) (?:the )?(?:\d{1,2}(?:st|nd|rd|th)\b"
    rf"|(?:\d{{1,2}} (?:of )?)?{MONTH_NAME}\b|{WEEKDAY_NAME}|\w+(?:th|rd|st|nd) of \w+)",
    re.IGNORECASE,
)
"""Put me on the rota for 5 July: the day of what was put, not of the putting."""


def timed(part: TextPart, clause: Clause) -> str:
    """Return a clause's words, behind them those of time before its subject: yesterday I bought a bike."""
    parse, subject = clause.parse, clause.subject
    verb = clause.verb if clause.under is None else clause.under  # next month we're going to repaint it
    if subject is None or subject > verb or parse.tokens[subject].head != verb:
        return part.text
    text = part.text
    if any(parse.tokens[child].dep == "relcl" for child in parse.children(subject)):
        text = shown(parse, *clause.said)  # the blender I bought on 2 May stopped
    words = [
        shown(parse, min(inside), max(inside))
        for child in parse.children(verb)
        if child < subject
        and (
            parse.tokens[child].dep == "npadvmod"
            or (parse.tokens[child].dep == "prep" and parse.word(child) in ("on", "in", "since", "from"))
        )
        and _leads(parse, inside := list(subtree(parse, child)), subject)
    ]
    return ", ".join((text, *words))


def _leads(parse: Parse, inside: list[int], subject: int) -> bool:
    """Whether words stand before a subject, no comma between, or open the sentence: last week, I bought a bike; not:
    fitted today, Marek rode home.
    """
    tokens, first, last = parse.tokens, min(inside), max(inside)
    opens = all(one.pos in ("CCONJ", "INTJ", "ADV", "PUNCT") for one in tokens[:first])
    return last < subject and (opens or all(one.text != "," for one in tokens[last:subject]))


def held_of(page: Page, part: TextPart, clause: Clause, type: str = "fact") -> dates.Validity:  # noqa: PLR0911 - one decision a line
    """Return when a clause holds by its own words: a state from "since" on, a deed on its day, a plan ahead."""
    lemma, when = clause.token.lemma.lower(), page.turn.when
    has_got = (
        clause.tense == "perfect" and lemma == "get"
    )  # the 14th of June I've got my exam: not since then
    if has_got and (to_come := dates.ahead(part.text, when)) != dates.NEVER:
        return to_come  # I've got a wedding on the 13th
    text = part.text if has_got else timed(part, clause)
    is_set = type == "episode" and lemma in _SETS
    if (
        lemma in _ENTERS
        or (is_set and (clause.child("dobj", "nsubjpass") is not None or _TO_DAY.search(text) is not None))
        or (type == "episode" and _FOR_DAY.search(text) is not None)
        or dates.is_moved(text)
    ):
        return dates.NEVER  # booked for the 9th, signed up for June: when it will be, not when that was done
    if clause.tense == "past" and type == "episode":
        return dates.NEVER if _is_of_object(page, clause) else dates.past(text, when)
    lasted = clause.tense == "perfect" or (clause.progressive and type != "goal")
    bounds = dates.bounds(_DAYS_OF_WEEK.sub("", text), when, lasted=lasted)
    if bounds != dates.NEVER:
        return bounds
    if lemma == "turn" and clause.tense == "present":
        return dates.Validity(dates.ahead(text, when).since)  # turns 90 on Sunday, and is so from then on
    if clause.mode == "planned" or type == "goal":
        return dates.ahead(text, when)
    if clause.tense in ("past", "perfect"):
        held = dates.NEVER if _is_of_object(page, clause) else dates.past(text, when)
        return held if type == "episode" else dates.Validity(held.since)
    return dates.NEVER


def _is_of_object(page: Page, clause: Clause) -> bool:
    """Whether a time belongs to what is spoken of, not to the deed: replayed the night of the 7th; had the 24th from
    Luton; wrote a scene that was shown yesterday; paid for a greenhouse that comes in October.
    """
    parse, at = clause.parse, clause.child("dobj")
    if at is None:
        return False
    within = [at] if parse.tokens[at].text[:1].isdigit() else []
    for child in subtree(parse, clause.verb):
        token = parse.tokens[child]
        is_of = token.head == at and parse.word(child) == "of"
        if is_of or (token.dep == "relcl" and child > clause.verb):
            within += subtree(parse, child)
    if not within:
        return False
    first, last = parse.tokens[min(within)].start, parse.tokens[max(within)].stop
    return dates.past(f"{parse.text[:first]} {parse.text[last:]}", page.turn.when) == dates.NEVER


def without_when(page: Page, what: str, held: dates.Validity) -> str:
    """Return words without the time at their end, which the claim has as its validity."""
    if held == dates.NEVER:
        return what
    for first, stop in (
        *places(what, page.turn.when, calendar=True),
        *places(what, page.turn.when, calendar=False),
    ):
        if stop >= len(what.rstrip(" .!,")) and first > 0:
            words = what[:first].rstrip(" ,").split()
            while words and words[-1].lower() in _LEADS:
                words.pop()
            return " ".join(words) if len(words) > 0 else what
    return what
