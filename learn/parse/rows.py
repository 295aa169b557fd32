"""A clause held against the rows of its verb: of each slot, the first row that fits is claimed. Pure."""

import re
from collections import defaultdict
from typing import Final

from braid.learn import dates
from braid.learn.page import Page
from braid.learn.parse import changes
from braid.learn.parse.clauses import Clause
from braid.learn.parse.people import Whom
from braid.learn.parse.phrases import from_outside, joined, noun, said_of, shown
from braid.learn.parse.relevance import YOURS
from braid.learn.parse.said import Said
from braid.learn.parse.sorts import objects
from braid.learn.parse.table import JOBS, ROWS, Row
from braid.learn.parse.validity import held_of, timed
from braid.learn.words import LIMBS
from braid.text.calendar import WEEKDAY_NAME
from braid.text.sentences import TextPart

BY_VERB: Final[dict[str, list[Row]]] = defaultdict(list)
for _row in ROWS:
    for _verb in {*_row.verbs.split(), _row.verbs}:  # grow up, sign up: as one
        BY_VERB[_verb].append(_row)
BY_VERB["give up"] = [row for row in ROWS if row.verbs.startswith("give")]
del BY_VERB["give"]  # whoever gives up coffee drinks none; whoever gives somebody a tea does

_ONLY_DENIED: Final = {"not": True, "can": False}
"""What a row that is only of what is denied claims: can't stand it, dislikes it; can't have it, doesn't eat it."""
_LIKINGS: Final = frozenset(("likes", "dislikes", "prefers", "interested_in"))
_SUM: Final = re.compile(
    r"[£$€]|\b(?:pounds?|euros?|dollars?|quid|bucks|grand|kr|kroner|francs?)\b|\d ?k\b|\d,\d{3}"
    r"|\b(?:an?|per|each|every) (?:hour|day|week|month|year)\b",
    re.IGNORECASE,
)
_FOR_ANOTHER: Final = re.compile(r"\bfor (?:you|u|him|her|them)\b", re.IGNORECASE)
_WEEKDAYS: Final = re.compile(rf"{WEEKDAY_NAME}s?", re.IGNORECASE)
_SPANS: Final = frozenset(
    ("while", "ages", "time", "now", "long", "years", "hours", "days", "weeks", "months")
)


def by_rows(said: Said, who: list[Whom], held: dates.Validity | None = None) -> bool:
    """Claim what the rows of a clause's verb read in it; True where one of them fits. `held`: when, where its words
    are not those that say so.
    """
    rows = BY_VERB.get(said.clause.lemma) or BY_VERB.get(said.clause.token.lemma.lower()) or []
    done: set[str] = set()
    for row in rows:
        slot = "object" if row.slot in ("dobj", "xcomp", "gerund", "broken") else row.slot
        if slot in done or not _may(said.page, said.clause, row, said.part):
            continue
        found = fillers(said.clause, row)
        if found:
            _claim(said, row, who, found, held)
            done.add(slot)
    return bool(done)


def _may(page: Page, clause: Clause, row: Row, part: TextPart) -> bool:  # noqa: PLR0911, PLR0912 - one decision a line
    """Whether a row's time and mood are those of the clause."""
    if row.only in _ONLY_DENIED and not (clause.denied and clause.mode in ("able", "possible")):
        return False
    if (
        row.rel == "decided_on"
        and clause.lemma == "go"
        and clause.parse.tokens[clause.verb + 1 :][:1]
        and (clause.parse.word(clause.verb + 1) != "with")
    ):
        return False  # went on a trip with colleagues
    if row.rel == "decided_on" and clause.child("prt") is not None:
        return False  # picked up new skills
    if ("move" in row.verbs.split() or row.rel == "signed_up_for") and clause.child("dobj") is not None:
        return False  # dad signed me up
    if row.rel == "is_on" and clause.child("dobj") is not None and not clause.passive:
        return False  # the kids start school on 4 September
    if row.rel == "earns" and clause.token.lemma == "make" and not _SUM.search(part.text):
        return False  # we make 260 of them
    if clause.mode == "able" and row.rel not in ("speaks", "plays", "eats", "drinks", "dislikes"):
        return False
    if row.rel in _LIKINGS and (page.wry or (page.angry and row.rel == "dislikes")):
        return False
    tense, when = clause.tense, row.when
    if when == "any":
        return True
    if when == "past":
        return tense in ("past", "perfect") and clause.mode != "planned"
    if when == "ahead":
        is_on = clause.progressive and clause.tense == "present"
        return (
            clause.mode == "planned"
            or (is_on and dates.is_ahead(timed(part, clause), page.turn.when))
            or (is_on and row.rel in ("going_to", "moving_to"))
        )
    if when == "progress":
        return clause.progressive and tense in ("present", "perfect")
    if when == "habit":
        return (tense == "present" or clause.mode == "able") and (not clause.progressive or clause.denied)
    return tense in ("present", "perfect") or clause.mode == "able"


def fillers(clause: Clause, row: Row) -> list[str]:
    """Return what fills a row's slot in a clause, as it will be shown; empty where the row doesn't fit."""
    parse = clause.parse
    if row.slot in ("gerund", "broken"):
        return _special(clause, row)
    if row.slot == "xcomp":
        return _deed(clause)
    found: list[str] = []
    for slot in row.slot.split():
        if slot == "dobj":
            at = clause.child("dobj", "attr", "oprd") if clause.lemma != "be" else None
            if at is not None and _is_only(clause, row, at):
                found = objects(parse, at, row.sort)
        elif slot != "xcomp":
            found = found or _governed(clause, row, slot)
    return found


def _is_only(clause: Clause, row: Row, at: int) -> bool:
    if not row.only or row.only in _ONLY_DENIED:
        return True
    return clause.token.lemma.lower() in row.only.split()


def _governed(clause: Clause, row: Row, prep: str) -> list[str]:
    """Return what a preposition governs: of the verb itself, or of the noun or adjective that `only` names."""
    parse = clause.parse
    for name, place, at in clause.preps():
        if (
            name.replace(" ", "_") == prep
            and (place > clause.verb or row.rel != "likes")
            and parse.tokens[at].dep == "pobj"
            and not (
                row.sort == "thing" and _WEEKDAYS.fullmatch(parse.tokens[at].text)
            )  # never work on Fridays
            and (not row.only or _has_only(clause, row))
        ):
            return objects(parse, at, row.sort)
    as_what = [
        at for name, _, at in clause.preps() if name == "as" and row.rel == "works_at"
    ]  # as a nurse at St Jude's
    for middle in (*parse.children(clause.verb), *as_what):
        token = parse.tokens[middle]
        if (
            token.dep not in ("acomp", "attr", "dobj", "advmod", "oprd", "prt", "conj")
            and middle not in as_what
        ):
            continue
        if row.only and not (
            token.lemma.lower() in row.only.split() or (row.only == "job" and token.lemma.lower() in JOBS)
        ):
            continue
        if not row.only and row.rel not in ("works_at", "works_as", "likes", "lives_in", "decided_on"):
            continue
        for inner in parse.children(middle):
            if prep == "to" and parse.tokens[inner].dep == "xcomp" and row.rel == "allergic_to":
                return [
                    parse.tokens[inner].text
                ]  # a noun that the parse takes for a verb: allergic to shellfish
            governed = parse.child(inner, "pobj", "pcomp")
            is_prep = parse.tokens[inner].dep == "prep" and parse.lemma(inner) == prep
            if is_prep and governed is not None:
                return objects(parse, governed, row.sort)
    return []


def _has_only(clause: Clause, row: Row) -> bool:
    words = {one.lemma.lower() for one in clause.around()}
    return bool(words & set(row.only.split())) or (row.only == "job" and bool(words & JOBS))


def _deed(clause: Clause) -> list[str]:
    """Return what is done, of "enjoys baking bread and painting": a verb in -ing with what it says."""
    parse = clause.parse
    at = clause.child("xcomp")
    if at is None or parse.tokens[at].tag != "VBG":
        return []
    found: list[str] = []
    for one in joined(parse, at):
        if parse.tokens[one].tag in ("VBG", "NN", "NNS"):
            first, last = said_of(parse, one)
            found.append(
                _without_time(shown(parse, first, last))
                if parse.tokens[one].tag == "VBG"
                else noun(parse, one)
            )
    return [one for one in found if not any(word.lower() in YOURS for word in one.split())]


def _without_time(text: str) -> str:
    """Return a deed without when it is done: baking bread, on Sundays."""
    for mark in (" on ", " every ", " at the ", " in the "):
        head, found, tail = text.partition(mark)
        if found and len(tail.split()) <= 2 and len(head.split()) > 1:
            return head
    return text


def _special(clause: Clause, row: Row) -> list[str]:
    parse = clause.parse
    if row.slot == "gerund":
        at = clause.child("xcomp", "dobj", "advcl", "npadvmod", "pcomp", "ccomp", "acomp", "attr", "advmod")
        habit = clause.tense in ("present", "perfect") and any(
            word.text.lower()
            in ("every", "often", "regularly", "usually", "always", "weekly", "most", "each")
            for word in parse.tokens
        )
        if at is None or not parse.word(at).endswith("ing") or not habit or at != clause.verb + 1:
            return []
        return [parse.tokens[at].text]
    at = clause.child("dobj")
    if at is None or parse.lemma(at) not in LIMBS:
        return []
    done = {"break": "broken", "tear": "torn"}.get(clause.lemma, f"{clause.lemma}ed".replace("eed", "ed"))
    return [f"{done} {noun(parse, at)}"]


def _claim(said: Said, row: Row, who: list[Whom], found: list[str], held: dates.Validity | None) -> None:
    if row.rel in ("works_at", "works_for"):
        found = [one for one in found if one.lower().rpartition(" ")[2] not in _SPANS]  # on for a while
    if row.rel in ("pet", "owns", "has") and _FOR_ANOTHER.search(said.part.text):
        return  # I got this pup for you
    if row.rel == "prefers":
        found = [one.partition(" than ")[0] for one in found]
    polarity = _ONLY_DENIED.get(row.only, row.polarity != said.clause.denied)
    if held is None:
        held = dates.NEVER if row.sort == "date" else held_of(said.page, said.part, said.clause, row.type)
    if row.sort == "day":
        lean = "past" if said.clause.tense == "past" else "ahead"
        found = [day for what in found if (day := said.page.day(what, lean)) is not None]
        held, who = dates.NEVER, [one for one in who if one.sort == "thing"]
    for one in who:
        for what in found:
            if row.rel == "eats" and polarity:
                changes.eats_again(said.page, said.part, one.name, what)
            said.claim(
                one.name,
                row.rel,
                from_outside(what) if one.sort == "first" else what,
                polarity=polarity and not said.clause.no_more,
                held=held,
                type=row.type,
            )
