"""The answer without a model: what is held, or what was said that answers best, quoted with its date and its id. Pure.

It invents nothing: every word of an answer is a claim that the stance holds, a slice of a record, or a time that a
record tells. Where too little speaks for an answer it says that it doesn't know.
"""

from collections.abc import Callable, Collection, Sequence
from datetime import UTC
from typing import Final

import msgspec
import numpy as np

from braid.agent import bands
from braid.agent.answer import predecessor
from braid.agent.answer.address import addressed
from braid.agent.answer.choice import QuoteChoice, choices, choose
from braid.agent.answer.confidence import (
    MOST_HITS,
    ConfidenceWeights,
    missing,
    name_of,
    signals,
    speaker,
    sureness,
    weights,
    when_of,
)
from braid.agent.answer.followup import followed
from braid.agent.answer.lists.told import listed
from braid.agent.answer.period import amounts_met, asks_for_sum, of_period
from braid.agent.answer.referent import is_meant
from braid.agent.answer.report import capital, clause, date, quotable, report_of, support_of, with_next
from braid.agent.answer.variants import changes, later, variants
from braid.agent.answer.verdict import asks_of_the_past, asks_of_then, denied, is_of_now, verdict
from braid.agent.cite import marks
from braid.agent.parts import Composed, QuestionContext, Support
from braid.recall.decompose import Question, decompose
from braid.recall.hits import Hit
from braid.recall.salience import unlearned
from braid.recall.uncertainty import answer_of, entropy
from braid.stance.answers import is_list
from braid.stance.claims import RecordedClaim
from braid.stance.question import read
from braid.stance.reconcile import Reconciliation
from braid.stance.relations import compared_as
from braid.stance.values import same
from braid.text.words import words

UNKNOWN: Final = "I don't know."
MOST_NAMED: Final = 3
"""How many of the words that nobody speaks of are told."""
DISPUTED: Final = 0.5
"""How sure an answer is at most while claims that exclude each other leave it undecided."""
UNMET: Final = 0.55
"""How sure an answer is at most where the sentence quoted has nothing of the kind that was asked for."""
OF_ANOTHER: Final = bands.CAREFUL - 0.01
"""How sure an answer is at most where the sentence quoted doesn't name the person whom the question describes."""
TAKEN_BACK: Final = 0.65
"""How sure a "no" is at least that rests on a denial which stands."""
_KINDS: Final = frozenset(("count", "duration", "person", "place"))
Rung = Callable[[QuestionContext], Composed | None]
"""Takes the question with what was found; returns a whole answer, or None where the question isn't its to answer."""
FIRST_ASKED: Final[tuple[Rung, ...]] = (followed, listed)
"""What is asked before what is held and what was said, in this order."""


class Extractive:
    """Composes answers out of what memory holds, word for word."""

    name = "extractive"

    def __init__(self, given: ConfidenceWeights | None = None) -> None:
        """`given`: other weights than those of this release."""
        self._weights = given or weights()

    @property
    def version(self) -> str:
        """Changes with the rules, and with the weights."""
        return f"1/{name_of(self._weights)}"

    def compose(self, asked: QuestionContext) -> Composed:
        for rung in (*FIRST_ASKED, _was):
            if (composed := rung(asked)) is not None:
                return composed
        # What was replaced is among the hits only for a question about what was before.
        asked = msgspec.structs.replace(asked, hits=[hit for hit in asked.hits if hit.superseded_by is None])
        question = decompose(asked.question, asked.now)
        held = _held(question, asked)
        if held is not None:
            since = _since(question, asked)
            return held if not since else _changed(asked.support[:1], since, min(held.p, DISPUTED))
        if not asked.hits:
            return _unknown("nothing was found", 0.0)
        found = speaking(question, asked.hits)
        sure = sureness(found, self._weights)
        if sure.known < self._weights.least(found):
            return _unknown(_why_not(question, asked.hits), sure.right)
        return _said(question, asked, asked.given * min(sure.right, _most(asked)))


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
    )


def speaking(
    question: Question, found: Sequence[Hit], *, named: Collection[str] | None = None
) -> dict[str, float]:
    """Return the signals that say how sure an answer is; `found`, best first, is not empty. `named` as for `signals`.

    That a record helped before may bring it forward, but makes nothing surer: no answer bears out the next.
    """
    hits = [unlearned(hit) for hit in found]
    answers = [answer_of(question, hit.text) for hit in hits]
    disagreement, _ = entropy(answers, np.array([hit.score for hit in hits]))
    return signals(question, hits, disagreement, named=named)


def _why_not(question: Question, hits: Sequence[Hit]) -> str:
    unheard = missing(question, hits[:MOST_HITS])
    if not unheard:
        return "what was found is not about what was asked"
    return f"nothing that was found speaks of {' or '.join(unheard[:MOST_NAMED])}"


def _unknown(reason: str, p: float) -> Composed:
    return Composed(text=UNKNOWN, citations=(), p=p, abstained=True, reason=reason)


def _held(question: Question, asked: QuestionContext) -> Composed | None:
    """Return what the stance holds, where it holds something that was asked for, surely enough to be said.

    A question that no rule could read was guessed at by what recall found: of such only the time of something is taken,
    and a denial of what is asked; and only of someone whom the question names.
    """
    outcome = asked.stance
    if outcome is None or not outcome.decision.claim or not asked.support:
        return None
    p = asked.given * (1.0 - outcome.decision.residual_uncertainty)
    was_read = read(asked.question) is not None
    if not was_read and not _is_meant(question, outcome):
        return None
    if _short(question, outcome) == "no" and asks_of_then(question) and is_of_now(asked.support[0].quote):
        return None  # that it is so no longer says nothing of what was
    first, *rest = dict.fromkeys(asked.support)
    report = report_of(first, first.quote or first.text)
    if bands.band(p) == "unsaid":
        if not was_read or is_list(outcome.asks):
            return None
        # Held, but too long ago to be said: nothing that is found may be said more surely.
        text = bands.quoted(report, p)
        return Composed(text=text, citations=(first.id,), short=_short(question, outcome), p=p)
    held = addressed(clause(outcome.decision.claim))
    if _is_of_then(question):
        held = f"back then this was so: {held}"
    claim = f"{capital(bands.stated(held, p))}{marks(one.id for one in rest)}."
    citations = (*(one.id for one in rest), first.id)
    return Composed(
        text=f"{claim} {capital(report)}", citations=citations, short=_short(question, outcome), p=p
    )


def _since(question: Question, asked: QuestionContext) -> list[QuoteChoice]:
    """Return the turns that say later, in words that nothing read, that what is held has changed; none of a list."""
    if asked.stance is not None and is_list(asked.stance.asks):
        return []
    weighed = {one.id for one in asked.support}
    until = max(one.when for one in asked.support)
    first = asked.support[0]
    by_id = {hit.id: hit for hit in asked.hits}
    if first.id not in by_id:
        return []
    found = later(
        question,
        asked.hits,
        sentence=first.quote or first.text,
        when=until.astimezone(UTC),
        who=speaker(by_id[first.id]),
    )
    return [one for one in found if one.hit.id not in weighed]


def _changed(older: Sequence[Support], since: Sequence[QuoteChoice], p: float) -> Composed:
    """Return what was said and what was said of it later, each with its day and none as what holds now."""
    supports = [*older, *(support_of(one.hit, one.span.sentence) for one in since)]
    reports = [capital(report_of(one, one.quote or one.text)) for one in supports]
    return Composed(
        text=" ".join(["This may have changed.", *reports]),
        citations=tuple(one.id for one in supports),
        short="; ".join(f"{quotable(one.quote or one.text)} ({date(one.when)})" for one in supports),
        p=p,
    )


def _is_of_then(question: Question) -> bool:
    """Whether a question asks how things were at a time that it names."""
    return question.time is not None and question.intent != "time" and asks_of_the_past(question)


def _is_meant(question: Question, outcome: Reconciliation) -> bool:
    asked = set(words(question.text))
    named = any(not asked.isdisjoint(words(said.claim.subject)) for said in outcome.support)
    no = outcome.asks.wants == "check" and denied(question, outcome) is not None
    return named and (outcome.asks.wants == "time" or no)


def _short(question: Question, outcome: Reconciliation) -> str:
    """Return what is held in the fewest words."""
    if outcome.asks.wants == "time":
        return clause(outcome.decision.claim.rsplit(" on ", 1)[-1])
    if outcome.asks.wants == "check":
        if (
            question.intent != "check"
        ):  # "what does she think of it?" is read by what she likes, and wants no yes
            return clause(outcome.decision.claim)
        return "yes" if any(_affirms(said, outcome) for said in outcome.support) else "no"
    return "; ".join(dict.fromkeys(said.claim.object for said in outcome.support))


def _affirms(said: RecordedClaim, outcome: Reconciliation) -> bool:
    """Whether a claim that is held says yes to what was asked."""
    opposite = compared_as(outcome.asks.rels[0]).opposite if outcome.asks.rels else ""
    wanted = outcome.asks.object or said.claim.object
    return (
        said.claim.polarity
        and said.relation.name != opposite
        and same(said.claim.object, wanted, said.relation.of, broad=True)
    )


def _most(asked: QuestionContext) -> float:
    """Return how sure an answer may be at most: where claims that were weighed leave it undecided, not very."""
    outcome = asked.stance
    open_ = outcome is not None and bool(outcome.candidates) and not outcome.decision.claim
    return DISPUTED if open_ and read(asked.question) is not None else 1.0


def _said(question: Question, asked: QuestionContext, p: float) -> Composed:
    """Return what was said that answers, quoted."""
    no = _taken_back(question, asked)
    hits = of_period(question, asked.hits) if asks_for_sum(question) else asked.hits
    if not hits:
        return _unknown("nothing that was found is of the time asked for", 0.0)
    chosen = no or choose(question, hits)
    if chosen is None:
        return _unknown("what was found states nothing", p)
    if no is None and not asks_for_sum(question):
        both = variants(question, chosen, choices(question, hits))
        if both and question.time is None:
            return _each_told(both, min(p, DISPUTED))
        if since := changes(question, chosen, hits):
            return _changed([support_of(chosen.hit, chosen.span.sentence)], since, min(p, DISPUTED))
        chosen = _by_then(question, both) or chosen
    hit, span = chosen.hit, chosen.span
    if question.intent in _KINDS and not span.wanted:
        p = min(p, UNMET)
    if asks_for_sum(question) and amounts_met(hits) > 1:
        p = min(p, UNMET)
    if no is not None:
        p = max(p, TAKEN_BACK)
    said = span.sentence if span.wanted else with_next(hit.text, span.sentence)
    if not is_meant(question, said, hit, asked.hits):
        p = min(p, OF_ANOTHER)
    support = support_of(hit, said)
    report = report_of(support, said)
    checked = "no" if no is not None else verdict(question, said)
    short = checked or span.short
    if question.intent == "time" and not span.wanted:
        # The day of saying is no answer to when; of what was over by then it is a bound.
        short = f"by {date(support.when)}" if asks_of_the_past(question) else ""
        p = min(p, UNMET)
    text = bands.quoted(report, p)
    if short and (checked or span.wanted or question.intent == "time") and bands.band(p) != "unsaid":
        then = "back then: " if not checked and _is_of_then(question) else ""
        text = f"{capital(bands.fragment(then + quotable(short), p))}. {capital(report)}"
    return Composed(text=capital(text), citations=(hit.id,), short=short, p=p)


def _by_then(question: Question, both: Sequence[QuoteChoice]) -> QuoteChoice | None:
    """Return the last of what was said of something by the end of the time asked about; None where none was."""
    until = question.time.until if question.time is not None else None
    return next((one for one in reversed(both) if until and when_of(one.hit) < until), None)


def _each_told(both: Sequence[QuoteChoice], p: float) -> Composed:
    """Return what was said otherwise on other days, each with its day and none as what holds now."""
    supports = [support_of(one.hit, one.span.sentence) for one in both]
    reports = [capital(report_of(one, one.quote)) for one in supports]
    return Composed(
        text=" ".join(["This was said in more than one way.", *reports]),
        citations=tuple(one.id for one in supports),
        short="; ".join(dict.fromkeys(f"{one.span.short} ({date(when_of(one.hit))})" for one in both)),
        p=p,
    )


def _taken_back(question: Question, asked: QuestionContext) -> QuoteChoice | None:
    """Return the record in which what is asked was denied, where that stands and is among what was found."""
    claim = denied(question, asked.stance)
    if claim is None or not claim.claim.quote:
        return None
    found = [one for one in choices(question, asked.hits) if claim.claim.quote in one.hit.text]
    return found[0] if found else None
