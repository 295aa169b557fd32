"""What somebody plans, wishes for, gives up or used to do: a verb under "go", "want", "decide" or "used". Pure."""

from typing import Final

from braid.learn import dates
from braid.learn.parse import changes
from braid.learn.parse.people import Whom
from braid.learn.parse.phrases import shown
from braid.learn.parse.relevance import GOALS, is_telling
from braid.learn.parse.rows import BY_VERB, by_rows, fillers
from braid.learn.parse.said import Said
from braid.learn.parse.sorts import objects
from braid.learn.parse.validity import timed, without_when
from braid.text.words import listed

EMPTY_PLANS: Final = listed(
    "be have do miss need say tell ask think keep know see check let try feel make get help send call "
    "remember love enjoy like "
    "show look find put believe hear continue use come take give sleep bed go talk stay"
)


def under(said: Said, above: str, who: list[Whom]) -> None:  # noqa: PLR0911, PLR0912 - one decision a line
    """Claim what a plan or a wish is for, or what used to be so."""
    if above == "go" and said.clause.parse.tokens[said.clause.under or 0].dep == "xcomp":
        return  # started going to boot camps
    if above == "use":
        if said.clause.denied:
            return
        first, last = said.clause.said
        what = said.by_others(shown(said.clause.parse, first, last), who[0])
        for one in who:
            changes.used_to(said.page, said.part, one.name, what)
            said.claim(one.name, "used_to", what, type="episode")
        return
    if above in ("start", "begin"):
        _taken_up(said, who)
        return
    if _given_up(said, who):
        return
    rel = "goal" if above in GOALS else "has_to" if above == "have" else "plans_to"
    if rel == "has_to" and said.clause.tense != "present":
        return  # had to wait: whether it was done isn't said
    if rel == "plans_to" and said.clause.tense == "past":
        return  # were going to print today: what was planned may not have been done
    if said.clause.denied or (rel == "plans_to" and said.clause.token.tag not in ("VB",)):
        return
    if said.clause.child("dobj", "prep", "xcomp", "prt", "advmod", "npadvmod") is None:
        return
    first, last = said.clause.said
    what = said.by_others(shown(said.clause.parse, first, last), who[0])
    if not is_telling(said.clause, first, last) or (
        said.clause.token.lemma.lower() in EMPTY_PLANS and last - first < 2
    ):
        return
    words, now = timed(said.part, said.clause), said.page.turn.when
    begun = dates.bounds(words, now, lasted=False)  # to close on Tuesdays, starting next week: from then on
    held = dates.ahead(words, now) if begun == dates.NEVER else begun
    what = without_when(said.page, what, held)
    if above == "go":
        by_rows = [
            (row, found)
            for row in BY_VERB.get(said.clause.lemma, ())
            if row.when == "ahead" and (found := fillers(said.clause, row))
        ]
        if by_rows:
            row, found = by_rows[0]
            for one in who:
                said.claim(one.name, row.rel, found[0], held=held, type="goal")
            return
        if held == dates.NEVER and said.clause.lemma in EMPTY_PLANS:
            return
    for one in who:
        said.claim(one.name, rel, what, held=held, type="goal")


def _taken_up(said: Said, who: list[Whom]) -> None:
    """I started eating chicken in the spring: what is so from then on, where a row knows of it."""
    clause = said.clause
    is_whole = clause.child("ccomp", "advcl", "xcomp") is None
    if clause.tense in ("past", "perfect") and clause.mode == "actual" and is_whole:
        held = dates.Validity(dates.past(timed(said.part, clause), said.page.turn.when).since)
        by_rows(said._replace(clause=clause._replace(tense="present", progressive=False)), who, held)


def _given_up(said: Said, who: list[Whom]) -> bool:
    """We decided to stop eating meat from 1 July: what is eaten or drunk no longer."""
    parse = said.clause.parse
    inner = said.clause.child("xcomp")
    if said.clause.token.lemma.lower() not in ("stop", "quit", "give") or inner is None or said.clause.denied:
        return False
    rel = {"eat": "eats", "drink": "drinks"}.get(parse.lemma(inner))
    at = parse.child(inner, "dobj")
    if rel is None or at is None:
        return False
    held = dates.bounds(said.part.text, said.page.turn.when)
    for one in who:
        for what in objects(parse, at, "food"):
            said.claim(one.name, rel, what, polarity=False, held=held, type="preference")
    return True
