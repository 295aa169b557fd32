"""The answer without a model: what is held, or what was said that answers best, quoted with its date and its id. Pure.

It invents nothing: every word of an answer is a claim that the stance holds, a slice of a record, or a time that a
record tells. Where too little speaks for an answer it says that it doesn't know.
"""

from collections.abc import Callable, Iterator, Sequence, Set
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec

from braid.agent import bands
from braid.agent.answer.assertion.assertion import assertion
from braid.agent.answer.assertion.verdict import (
    asks_of_the_past,
    asks_of_then,
    denied,
    is_bounded,
    is_of_now,
)
from braid.agent.answer.change import former_state as predecessor
from braid.agent.answer.change.replacement import Replacement, has_replaceable, replacement, taken_back
from braid.agent.answer.change.variants import later
from braid.agent.answer.choice.chooser import Chosen, LadderWeights, choose, name_of, weights
from braid.agent.answer.choice.confidence import missing
from braid.agent.answer.identity import changes_who, identified, named, says_role
from braid.agent.answer.ladder import (
    LIKELY,
    NEAREST,
    SPOKEN_OF,
    is_of_then,
    near,
    said,
    silence,
    surely,
    told,
    unknown,
)
from braid.agent.answer.lists.listing import listed
from braid.agent.answer.question.followup import followed
from braid.agent.answer.question.period import asks_for_sum, is_to_be_summed
from braid.agent.answer.question.reading import Wants
from braid.agent.answer.relevance.mismatch import is_of_another_thing, mismatch
from braid.agent.answer.relevance.referent import is_meant
from braid.agent.answer.turn.moments import during
from braid.agent.answer.turn.spans import AnswerSpan, best_span, kind_of, read_question
from braid.agent.answer.turn.turn import when_of
from braid.agent.answer.wording.report import (
    addressed,
    capital,
    clause,
    date,
    quotable,
    report_of,
    support_of,
)
from braid.agent.cite import marks
from braid.agent.composer import Composed, QuestionContext, Support
from braid.recall.decompose import Question
from braid.recall.hits import Hit, speaker
from braid.stance.answers import is_list
from braid.stance.claims import RecordedClaim
from braid.stance.question import ParsedQuestion, read
from braid.stance.reconcile import Reconciliation
from braid.stance.relations import compared_as
from braid.stance.values import same
from braid.text.dates import times
from braid.text.words import stem, stems, telling, words

DISPUTED: Final = 0.5
"""How sure an answer is at most while claims that exclude each other leave it undecided."""
TAKEN_BACK: Final = 0.65
"""How sure a "no" is at least that rests on a denial which stands."""
ALOOF: Final = 0.05
"""Up to what share of a question that a turn speaks of it speaks of nothing that is asked."""
_CHECKED: Final[tuple[Wants, ...]] = ("time", "value")
"""As what is asked for the value that a yes rests on may have changed."""
MOST_PASSED: Final = 3
"""Among how many of the first turns the first is looked for that isn't of something else."""
BEYOND_DOUBT: Final = 1.0
"""From which `read_best` on it answers all the same."""
Rung = Callable[[QuestionContext], Composed | None]
"""Takes the question with what was found; returns a whole answer, or None where the question isn't its to answer."""
_ASKING: Final = frozenset(("who", "whom", "whose", "what", "when", "where", "why", "how", "which"))


def _asks_nothing(asked: QuestionContext) -> Composed | None:
    """Return that nothing is known of a question without a word of what it asks about: "?", "who"."""
    if not asked.hits or not _ASKING.issuperset(words(asked.question)):
        return None
    return unknown("the question has no word to look for; say what it is about", 0.0)


FIRST_ASKED: Final[tuple[Rung, ...]] = (followed, listed, _asks_nothing)
"""What is asked before what is held and what was said, in this order."""


class Extractive:
    """Composes answers out of what memory holds, word for word."""

    name = "extractive"

    def __init__(self, given: LadderWeights | None = None) -> None:
        """`given`: other weights than those of this release."""
        self._weights = given or weights()

    @property
    def version(self) -> str:
        """Changes with the rules, and with the weights."""
        return f"11/{name_of(self._weights)}"

    def compose(self, asked: QuestionContext) -> Composed:
        for rung in (*FIRST_ASKED, _was):
            if (composed := rung(asked)) is not None:
                return composed
        # What was replaced is among the hits only for a question about what was before.
        hits = [hit for hit in asked.hits if hit.superseded_by is None]
        more = [hit for hit in asked.more if hit.superseded_by is None]
        asked = msgspec.structs.replace(asked, hits=hits, more=more)
        question = read_question(asked.question, asked.now)
        if (who := identified(question, asked)) is not None:
            return who
        held = _held(question, asked)
        if held is not None:
            later = _since(question, asked) or _unread(question, asked)
            after = [one for one in later if changes_who(asked.question, one.text)]
            return _changed(asked.support[:1], after, min(held.p, DISPUTED)) if after else held
        below = _below(question, asked, self._weights)
        mine = named(question, asked)
        is_plain = below.rung != "said" or (mine is not None and below.citations == mine.citations)
        return mine if mine is not None and is_plain else below


def _below(question: Question, asked: QuestionContext, given: LadderWeights) -> Composed:
    """Return what was said that answers, else what comes near, else that nothing is known."""
    hits = [*asked.hits, *asked.more]
    if not hits:
        return unknown("nothing was found", 0.0)
    if (no := _taken_back(question, asked)) is not None:
        return told(question, no, [no], max(asked.given * bands.CAREFUL, TAKEN_BACK), "no")
    chosen = choose(question, hits, given, asked.nearest, asked.answers)
    if (chosen.speaks < SPOKEN_OF and chosen.likeliest < LIKELY) or _unknown_names(question, hits):
        return silence(question, chosen, hits)
    best = chosen.ranked[0]
    is_of_another = _is_of_another(question, best, hits)
    if is_of_another and (told_by := _next_whole(question, chosen, hits)) is not None:
        chosen = choose(question, told_by, given, asked.nearest, asked.answers)
        best = chosen.ranked[0]
        is_of_another = _is_of_another(question, best, hits)
    is_open = (
        asks_for_sum(question)
        or is_to_be_summed(question, best)
        or is_of_another
        or not says_role(question.text, best.text)
        or _speaks_of_nothing_asked(chosen)
    )
    if is_open or (answer := said(question, chosen, asked)) is None:
        return _near(question, chosen, asked)
    changed = _overtaken(question, chosen, asked) or _maybe_changed(question, chosen, asked)
    return changed or surely(answer, _most(asked))


def _speaks_of_nothing_asked(chosen: Chosen) -> bool:
    """Whether the best turn, with the two before, has no word of the question, and doesn't read as answering beyond
    doubt."""
    return chosen.signals["in_context"] < ALOOF and chosen.signals["read_best"] < BEYOND_DOUBT


def _is_of_another(question: Question, best: Hit, hits: Sequence[Hit]) -> bool:
    """Whether the best turn speaks of somebody or something else than what is asked."""
    span = best_span(question, best.text, when_of(best))
    sentence = span.sentence if span is not None else best.text
    return not is_meant(question, best.text, best, hits) or mismatch(question, sentence, best, hits)


def _next_whole(question: Question, chosen: Chosen, hits: Sequence[Hit]) -> list[Hit] | None:
    """Return the hits without those of something else that stand before the first that isn't, where that one has every
    telling word of the question and reads as an answer; None where it hasn't."""
    passed = set[str]()
    for hit in chosen.ranked[:MOST_PASSED]:
        if not _is_of_another(question, hit, hits):
            is_whole = bool(question.stems) and stems(f"{hit.text} {speaker(hit)}").issuperset(question.stems)
            return (
                [one for one in hits if one.id not in passed]
                if is_whole and hit.id in chosen.answering
                else None
            )
        if not is_of_another_thing(question, hit):
            return None  # it may take back what would be told instead
        passed.add(hit.id)
    return None


def _unknown_names(question: Question, hits: Sequence[Hit]) -> list[str]:
    """Return whom or what a question names that nobody speaks of."""
    unheard = set(missing(question, hits))
    return [name for name in question.entities if any(word in unheard for word in words(name))]


def _was(asked: QuestionContext) -> Composed | None:
    """Return what was so before, worded as past, where the question asks for that and it was found."""
    wanted = predecessor.wanted(asked.question)
    found = predecessor.former(wanted, asked.hits, asked.now) if wanted is not None else None
    if wanted is None or found is None:
        return None
    one = found.choice
    support = support_of(one.hit, one.span.sentence)
    was = (
        "this was so" if one.hit.superseded_by is None else "this was remembered"
    )  # what was corrected never was so
    when = f"Until {date(found.until)}" if found.until and wanted.which == "before" else "At first"
    return Composed(
        text=f"{when} {was}: {report_of(support, support.quote)}",
        citations=(one.hit.id,),
        short=one.span.short,
        p=asked.given * bands.HEDGED,
        rung="said",
    )


def _held(question: Question, asked: QuestionContext) -> Composed | None:
    """Return what the stance holds, where it holds something that was asked for, surely enough to be said.

    A question that no rule could read was guessed at by what recall found: of such only the time of something is taken,
    and a denial of what is asked; and only of someone whom the question names.
    """
    outcome = asked.stance
    if outcome is None or not outcome.decision.claim or not asked.support:
        return None
    p = asked.given * (1.0 - outcome.decision.residual_uncertainty)
    parsed = read(asked.question)
    was_read = parsed is not None
    if (not was_read and not _is_meant(question, outcome)) or (
        parsed is not None and not _is_of_kind(parsed, outcome)
    ):
        return None
    if question.intent == "check" and _is_no_no(question, asked, outcome):
        return None
    first, *rest = dict.fromkeys(asked.support)
    report = report_of(first, first.quote or first.text)
    if bands.band(p) == "unsaid":
        if not was_read or is_list(outcome.asks):
            return None
        # Held, but too long ago to be said: nothing that is found may be said more surely.
        text = f"{NEAREST} {capital(report)}"
        return Composed(text=text, citations=(first.id,), short=_short(question, outcome), p=p, rung="near")
    held = addressed(clause(" ".join(filter(None, _dated(outcome)))))
    if is_of_then(question):
        held = f"back then this was so: {held}"
    claim = f"{capital(bands.stated(held, p))}{marks(one.id for one in rest)}."
    citations = (*(one.id for one in rest), first.id)
    if asked.via is not None and (who := asked.via.support[0]).id not in citations:
        report = f"{capital(report)} {capital(report_of(who, who.quote or who.text))}"
        citations = (*citations, who.id)
    return Composed(
        text=f"{claim} {capital(report)}",
        citations=citations,
        short=_short(question, outcome),
        p=p,
        rung="held",
    )


def _is_no_no(question: Question, asked: QuestionContext, outcome: Reconciliation) -> bool:
    """Whether a denial says nothing of what is asked: that it is so no longer, of what was; not after noon, of ever."""
    if any(is_bounded(question, one.claim.quote or "") for one in outcome.support):
        return True
    return _short(question, outcome) == "no" and asks_of_then(question) and is_of_now(asked.support[0].quote)


def _since(question: Question, asked: QuestionContext) -> list[Support]:
    """Return the turns that say later, in words that nothing read, that what is held has changed; none of a list of
    several."""
    older = _held_turn(asked)
    if older is None:
        return []
    weighed = {one.id for one in asked.support}
    first = asked.support[0]
    found = later(
        question,
        asked.hits,
        sentence=first.quote or first.text,
        when=max(one.when for one in asked.support).astimezone(UTC),
        who=speaker(older),
    )
    return [support_of(one.hit, one.span.sentence) for one in found if one.hit.id not in weighed]


def _unread(question: Question, asked: QuestionContext) -> list[Support]:
    """Return the last turn that may bring another value than what is held, or take back a yes; none of a list of
    several, and none behind a no."""
    older = None if kind_of(question).past else _held_turn(asked)
    if older is None or asked.stance is None or older.superseded_by is not None:
        return []
    weighed = {one.id for one in asked.support}
    hits = [hit for hit in (*asked.hits, *asked.more) if hit.id not in weighed or hit is older]
    if asked.stance.asks.wants == "check":
        is_yes = any(_affirms(one, asked.stance) for one in asked.stance.support)
        since = taken_back(asked.stance.support[0].claim.object, older, hits) if is_yes else None
    else:
        span = best_span(question, older.text, when_of(older))
        asks = kind_of(question)
        since = replacement(question, asks, older, span, hits, only_named=True) if span is not None else None
    return [] if since is None else [support_of(since.hit, since.sentence)]


def _held_turn(asked: QuestionContext) -> Hit | None:
    """Return the turn that what is held rests on, where it was found; None of a list of several."""
    outcome = asked.stance
    if outcome is not None and is_list(outcome.asks) and len(outcome.support) > 1:
        return None
    return next((hit for hit in asked.hits if hit.id == asked.support[0].id), None)


def _overtaken(question: Question, chosen: Chosen, asked: QuestionContext) -> Composed | None:
    """Return what was said with the turn that says otherwise, where what answers was read and holds no longer."""
    if (
        asked.overtaken is None
        or chosen.changed
        or (asks_of_the_past(question) and question.intent != "check")
    ):
        return None
    best = chosen.ranked[0] if chosen.ranked[0] in chosen.told else chosen.told[-1]
    span = best_span(question, best.text, when_of(best))
    if span is None:
        return None
    value = {stem(word) for word in words(span.short)}
    by = {
        one.by.id: one.by
        for one in asked.overtaken(best.index)
        if not value.isdisjoint(map(stem, telling(one.object))) and one.by.when >= when_of(best)
    }
    if not by:
        return None
    p = min(max(asked.given * chosen.p, bands.CAREFUL), DISPUTED)
    found = _changed([support_of(best, span.sentence)], list(by.values()), p)
    return msgspec.structs.replace(found, beside=list(by.values()))


def _maybe_changed(question: Question, chosen: Chosen, asked: QuestionContext) -> Composed | None:
    """Return what was said with a later turn that may stand in its place."""
    best = chosen.ranked[0]
    rivals = {hit.id for hit in chosen.next_best} & chosen.answering
    since = _replacement(question, chosen, best, asked, rivals)
    for wants in _CHECKED if chosen.asked.wants == "check" and since is None else ():
        of_value = msgspec.structs.replace(chosen.asked, wants=wants)
        since = since or _replacement(question, msgspec.structs.replace(chosen, asked=of_value), best, asked)
    if chosen.changed or since is None or list(chosen.told) != [best]:
        return None
    span, newer = since
    p = min(max(asked.given * chosen.p, bands.CAREFUL), DISPUTED)
    by = support_of(newer.hit, newer.sentence)
    return msgspec.structs.replace(_changed([support_of(best, span.sentence)], [by], p), beside=[by])


def _near(question: Question, chosen: Chosen, asked: QuestionContext) -> Composed:
    """Return what comes nearest, right behind the first of it the turn that may stand in its place."""
    since = _replacement(question, chosen, chosen.near[0], asked)
    if since is None:
        return near(question, chosen, asked.parses)
    newer = since[1]
    found = near(question, chosen, asked.parses, newer.hit)
    return msgspec.structs.replace(found, beside=[support_of(newer.hit, newer.sentence)])


def _replacement(
    question: Question, chosen: Chosen, older: Hit, asked: QuestionContext, rivals: Set[str] = frozenset()
) -> tuple[AnswerSpan, Replacement] | None:
    """Return what a turn answers, and the later turn that may stand in its place."""
    span = best_span(question, older.text, when_of(older))
    if span is None:
        return None
    hits = [*asked.hits, *asked.more]
    since = replacement(question, chosen.asked, older, span, hits, answering=chosen.answering, rivals=rivals)
    if since is None and asked.find is not None and has_replaceable(chosen.asked, older, span):
        # What takes its place may have no word of the question, and have one of what is told.
        hits += [hit for hit in asked.find(span.sentence) if hit.superseded_by is None]
        since = replacement(question, chosen.asked, older, span, hits, answering=chosen.answering)
    return None if since is None else (span, since)


def _changed(older: Sequence[Support], since: Sequence[Support], p: float) -> Composed:
    """Return what was said and what was said of it later, each with its day and none as what holds now."""
    supports = [*older, *since]
    reports = [capital(report_of(one, one.quote or one.text)) for one in supports]
    return Composed(
        text=" ".join(["This may have changed.", *reports]),
        citations=tuple(one.id for one in supports),
        short="; ".join(f"{quotable(one.quote or one.text)} ({date(one.when)})" for one in supports),
        p=p,
        rung="said",
    )


def _is_of_kind(parsed: ParsedQuestion, outcome: Reconciliation) -> bool:
    """Whether all that is held is said to be of the kind that is asked for: who plays football said nothing of an
    instrument."""
    if parsed.kind is None:
        return True
    kind = stem(parsed.kind)
    return all(kind in stems(f"{said.claim.quote or ''} {said.claim.object}") for said in outcome.support)


def _is_meant(question: Question, outcome: Reconciliation) -> bool:
    asked = set(words(question.text))
    named = any(not asked.isdisjoint(words(said.claim.subject)) for said in outcome.support)
    no = outcome.asks.wants == "check" and denied(question, outcome) is not None
    return named and (outcome.asks.wants == "time" or no)


def _short(question: Question, outcome: Reconciliation) -> str:
    """Return what is held in the fewest words."""
    if outcome.asks.wants == "time":
        what, when = _dated(outcome)
        return clause(when.removeprefix("on ") or what)
    if outcome.asks.wants == "check":
        if (
            question.intent != "check"
        ):  # "what does she think of it?" is read by what she likes, and wants no yes
            return clause(outcome.decision.claim)
        if any(_affirms(said, outcome) for said in outcome.support):
            return "yes"
        if _denies(outcome):
            return "no"
    return "; ".join(dict.fromkeys(clause(said.claim.object) for said in outcome.support))


def _dated(outcome: Reconciliation) -> tuple[str, str]:
    """Return what is held in words, and its time: no more closely than it was said, in 1990, not on 1 January 1990; the
    whole and nothing where no time is asked for."""
    claim = outcome.decision.claim or ""
    what, on, iso = claim.rpartition(" on ")
    if outcome.asks.wants != "time" or not on:
        return claim, ""
    spans = {
        (said.since, said.until)
        for said in outcome.support
        if f"{said.since:%Y-%m-%d}" == iso and said.claim.valid_to
    }
    spans = spans or {span for said in outcome.support for span in _begun_within(said, iso)}
    return what, during(*min(spans)) if spans else f"on {iso}"


def _begun_within(said: RecordedClaim, iso: str) -> Iterator[tuple[datetime, datetime]]:
    """Yield the months and years that begin with a day, where those and no day were said: in January is not on its
    first."""
    spans = [(one.span.since, one.span.until) for one in times(said.claim.quote or "", said.said)]
    whole = [(since, until) for since, until in spans if since is not None and until is not None]
    if all(until - since > timedelta(days=7) for since, until in whole):
        yield from ((since, until) for since, until in whole if f"{since:%Y-%m-%d}" == iso)


def _affirms(said: RecordedClaim, outcome: Reconciliation) -> bool:
    """Whether a claim that is held says yes to what was asked."""
    opposite = compared_as(outcome.asks.rels[0]).opposite if outcome.asks.rels else ""
    wanted = outcome.asks.object or said.claim.object
    return (
        said.claim.polarity
        and said.relation.name != opposite
        and same(said.claim.object, wanted, said.relation.of, broad=True)
    )


def _denies(outcome: Reconciliation) -> bool:
    """Whether what is held says no to what was asked: it denies that, or took its place. Who lives in Leeds may live in
    Yorkshire."""
    wanted = outcome.asks.object
    if not wanted or not all(said.claim.polarity for said in outcome.support):
        return True
    said = [*outcome.support, *(one.said for one in outcome.candidates)]
    return any(same(one.claim.object, wanted, one.relation.of, broad=True) for one in said)


def _most(asked: QuestionContext) -> float:
    """Return how sure an answer may be at most: where claims that were weighed leave it undecided, not very."""
    outcome = asked.stance
    open_ = outcome is not None and bool(outcome.candidates) and not outcome.decision.claim
    return DISPUTED if open_ and read(asked.question) is not None else 1.0


def _taken_back(question: Question, asked: QuestionContext) -> Hit | None:
    """Return the record in which what is asked was denied, where that stands and is among what was found."""
    claim = denied(question, asked.stance)
    if claim is None or not claim.claim.quote:
        return None
    read = asked.parses((question.text, claim.claim.quote)) if asked.parses is not None else None
    if read is not None and assertion(read[0], read[1]) not in (None, "no"):
        return None  # "I don't mind that Ben smokes"
    return next((hit for hit in asked.hits if claim.claim.quote in hit.text), None)
