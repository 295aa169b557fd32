"""What no row knows, claimed in the speaker's own words: `did`, `does`, `is`, `can`, `plans_to`. Pure."""

from typing import Final

from braid.learn import dates
from braid.learn.page import Page
from braid.learn.parse.clauses import Clause
from braid.learn.parse.people import Whom
from braid.learn.parse.phrases import noun, shown, subtree
from braid.learn.parse.plans import EMPTY_PLANS
from braid.learn.parse.relevance import (
    PLANS,
    SAYS_NOTHING,
    gap_of,
    is_considered,
    is_cut,
    is_elliptic,
    is_pep_talk,
    is_worth_saying,
)
from braid.learn.parse.said import Said
from braid.learn.parse.validity import held_of, timed, without_when
from braid.text.sentences import TextPart
from braid.text.words import listed

_MANNERS: Final = listed(
    "mention claim reckon insist know mean guess thank hope say tell think wonder ask bet agree suppose wait let "
    "seem imagine wish promise swear joke kid forget"
)
_LONGEST: Final = 240
_NO_DEEDS: Final = frozenset(("need", "miss", "know", "love", "like", "want", "own", "cost", "depend"))
"""Nobody plans these: I'll need the recipe."""
_GOVERNS: Final = listed(
    "hear say know realize realise find think hope learn see notice feel decide love like remember forget "
    "figure explain show mean understand believe wish promise tell ask guess wonder read discover worry agree prove "
    "ensure expect appreciate make let help watch have get keep want need hate suggest imagine remind"
)
"""Verbs that take a clause as their object."""
_PLEASE: Final = frozenset(("pls", "plz", "please"))
_GIVES: Final = frozenset(("help", "make", "bring", "give", "lead", "inspire"))
"""What a thing can do for anybody: reminders can help."""
_BARE_AUX: Final = listed("do does did can could have has had is are was were will would should might must")


def in_own_words(said: Said, who: list[Whom]) -> None:
    """Claim what no row knows as it was said: did, does, is (done to it), plans_to."""
    first, last = said.clause.said
    lemma = said.clause.token.lemma.lower()
    if (
        said.clause.token.tag == "MD"  # Uncle Falk can't
        or (lemma in _MANNERS and not is_considered(said.clause, who[0]))
        or said.clause.mode == "possible"
        or said.page.wry
        or is_pep_talk(said.clause, who[0])
        or is_elliptic(said.clause)
        or not is_worth_saying(said.clause, who[0], first, last)
    ):
        return
    last = _end_of_clause(said.clause, last)
    what = said.by_others(_words(said.clause, first, last), who[0])
    if (
        not what
        or len(what) > _LONGEST
        or what.endswith(" to")
        or what.lower() in _BARE_AUX
        or is_cut(said.clause, who[0], first, last)
    ):
        return
    named = _named(said.page, said.part, said.clause, who[0])
    if named is None or (
        named[0] == "plans_to"
        and (said.clause.denied or (lemma in EMPTY_PLANS and last - first < 3) or lemma in _NO_DEEDS)
    ):
        return
    rel, type = named
    if said.page.angry and rel == "does":
        return  # what somebody who lets off steam says of the present doesn't last
    if (
        said.clause.token.text.lower() == "got"
        and said.clause.tense == "perfect"
        and said.clause.child("prt", "acomp", "auxpass") is None
    ):
        rel, type = "has", "fact"  # I've got choir on Thursdays
    elif (
        rel == "does"
        and lemma == "have"
        and not said.clause.progressive
        and said.clause.child("xcomp") is None
    ):
        rel = "has"
    if rel == "has":
        what = what.partition(" ")[2]
    if rel == "plans_to" and said.clause.mode != "planned":
        what = f"{lemma} {what.partition(' ')[2]}".strip()
    held = held_of(said.page, said.part, said.clause, type)
    if said.clause.mode == "planned" and _is_common(said.clause) and held == dates.NEVER:
        return  # all that work will shine through: a prediction
    what = without_when(said.page, what, held)
    if " " not in what and held != dates.NEVER and rel == "did" and lemma in PLANS | SAYS_NOTHING:
        return  # decided on Tuesday: what isn't said
    for one in who:
        said.claim(one.name, rel, what, polarity=not said.clause.denied, held=held, type=type)


def _is_common(clause: Clause) -> bool:
    """Whether something without a name of its own is spoken of."""
    return clause.subject is not None and clause.parse.tokens[clause.subject].tag in ("NN", "NNS")


def _end_of_clause(clause: Clause, last: int) -> int:
    """Return where a clause ends: before one that only stands behind it. Gus does the stall, Femke packs."""
    parse, tokens = clause.parse, clause.parse.tokens
    governs = clause.token.lemma.lower() in _GOVERNS or clause.lemma == "be"
    for at in range(clause.verb + 1, last + 1):
        if tokens[at].text.lower() in _PLEASE:
            return max(clause.verb, at - 1)
        if (
            tokens[at].tag == "VBG"
            and tokens[at - 1].text == ","
            and tokens[at].dep in ("advcl", "conj", "acl")
        ):
            last = at - 1  # does Sundays, ringing now: who rings isn't said
            break
        verb = tokens[at].head
        if (
            governs
            or tokens[at].dep not in ("nsubj", "nsubjpass", "csubj")
            or tokens[verb].head != clause.verb
            or verb > last
        ):
            continue
        marked = any(one.dep == "mark" or one.tag in ("WRB", "WP", "WDT") for one in parse.around(verb))
        if tokens[verb].dep in ("ccomp", "advcl", "parataxis", "conj") and not marked:
            last = (
                min(subtree(parse, at)) - 1
            )  # ordered a sofa, and what came is a chair: a clause as a subject, too
            break
    while last > clause.verb and (
        tokens[last].pos in ("PUNCT", "CCONJ") or tokens[last].text.lower() in ("so", "then")
    ):
        last -= 1
    return last


def _words(clause: Clause, first: int, last: int) -> str:
    """Return what a verb says, with what a relative clause is about."""
    parse = clause.parse
    what = shown(parse, first, last)
    gap = gap_of(clause)
    if gap is not None:
        rest = shown(parse, first + 1, last) if last > first else ""
        verb, thing = shown(parse, first, first), noun(parse, gap)
        what = f"{verb} {rest} {thing}" if parse.tokens[last].pos == "ADP" else f"{verb} {thing} {rest}"
    return " ".join(what.split())


def _named(page: Page, part: TextPart, clause: Clause, who: Whom) -> tuple[str, str] | None:  # noqa: PLR0911 - one decision a line
    """Return the relation and the type of what is said in the speaker's own words; None for what isn't to be kept."""
    if clause.mode == "able" and clause.passive:
        return None
    if clause.passive and any(one.dep == "auxpass" and one.tag == "VBG" for one in clause.around()):
        is_plan = dates.is_ahead(timed(part, clause), page.turn.when)
        return ("plans_to", "goal") if is_plan else ("is", "fact")  # is being repaired
    if clause.passive:
        return ("is", "fact") if clause.tense != "past" else ("was", "episode")
    if clause.mode == "planned":
        return "plans_to", "goal"
    if clause.mode == "able":
        is_we = clause.subject is not None and clause.parse.word(clause.subject) == "we"
        lemma = clause.token.lemma.lower()
        nothing = is_we or lemma in SAYS_NOTHING or (who.sort == "thing" and lemma in _GIVES)
        return None if nothing else ("can", "fact" if who.sort == "thing" else "skill")
    ahead = clause.progressive and clause.tense == "present" and who.sort != "thing"
    if ahead and dates.is_ahead(timed(part, clause), page.turn.when):
        return "plans_to", "goal"
    if clause.tense in ("past", "perfect") and not (clause.tense == "perfect" and clause.progressive):
        return "did", "episode"
    return "does", "fact"
