"""The answer without a model: what is held, or what was said that answers best, quoted with its date and its id. Pure.

It invents nothing: every word of an answer is a claim that the stance holds, a slice of a record, or a time that a
record tells. Where too little speaks for an answer it says that it doesn't know.
"""

import re
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

import numpy as np

from braid.agent import bands
from braid.agent.address import addressed, spoken_by
from braid.agent.choice import Choice, choices, choose
from braid.agent.cite import marks
from braid.agent.meant import is_meant
from braid.agent.parts import Asked, Composed, Support
from braid.agent.period import amounts_met, asks_for_sum, of_period
from braid.agent.spans import day
from braid.agent.sureness import (
    MOST_HITS,
    Weights,
    missing,
    name_of,
    signals,
    speaker,
    sureness,
    weights,
    when_of,
)
from braid.agent.verdict import asks_of_then, denied, is_of_now, verdict
from braid.learn.sentences import sentences
from braid.recall.decompose import Question, decompose
from braid.recall.hits import Hit
from braid.recall.salience import unlearned
from braid.recall.text import words
from braid.recall.uncertainty import answer_of, entropy
from braid.stance.answers import is_list
from braid.stance.claims import Said
from braid.stance.question import read
from braid.stance.reconcile import Outcome
from braid.stance.relations import compared_as
from braid.stance.values import same

UNKNOWN: Final = "I don't know."
MAX_QUOTE_CHARS: Final = 240
MAX_NEXT_CHARS: Final = 200
"""How long a sentence may be with the next, so that both are quoted."""
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
_MARKS: Final = str.maketrans({"“": "\u2018", "”": "’", "[": "(", "]": ")", '"': "’", "`": "’"})


class Extractive:
    """Composes answers out of what memory holds, word for word."""

    name = "extractive"

    def __init__(self, given: Weights | None = None) -> None:
        """`given`: other weights than those of this release."""
        self._weights = given or weights()

    @property
    def version(self) -> str:
        """Changes with the rules, and with the weights."""
        return f"1/{name_of(self._weights)}"

    def compose(self, asked: Asked) -> Composed:
        """See `Composer`."""
        question = decompose(asked.question, asked.now)
        held = _held(question, asked)
        if held is not None:
            return held
        if not asked.hits:
            return _unknown("nothing was found", 0.0)
        found = speaking(question, asked.hits)
        sure = sureness(found, self._weights)
        if sure.known < self._weights.least(found):
            return _unknown(_why_not(question, asked.hits), sure.right)
        return _said(question, asked, asked.given * min(sure.right, _most(asked)))


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


def _held(question: Question, asked: Asked) -> Composed | None:
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
    held = addressed(_clause(outcome.decision.claim))
    claim = f"{_capital(bands.stated(held, p))}{marks(one.id for one in rest)}."
    citations = (*(one.id for one in rest), first.id)
    return Composed(
        text=f"{claim} {_capital(report)}", citations=citations, short=_short(question, outcome), p=p
    )


def _is_meant(question: Question, outcome: Outcome) -> bool:
    asked = set(words(question.text))
    named = any(not asked.isdisjoint(words(said.claim.subject)) for said in outcome.support)
    no = outcome.asks.wants == "check" and denied(question, outcome) is not None
    return named and (outcome.asks.wants == "time" or no)


def _short(question: Question, outcome: Outcome) -> str:
    """Return what is held in the fewest words."""
    if outcome.asks.wants == "time":
        return _clause(outcome.decision.claim.rsplit(" on ", 1)[-1])
    if outcome.asks.wants == "check":
        if (
            question.intent != "check"
        ):  # "what does she think of it?" is read by what she likes, and wants no yes
            return _clause(outcome.decision.claim)
        return "yes" if any(_affirms(said, outcome) for said in outcome.support) else "no"
    return "; ".join(dict.fromkeys(said.claim.object for said in outcome.support))


def _affirms(said: Said, outcome: Outcome) -> bool:
    """Whether a claim that is held says yes to what was asked."""
    opposite = compared_as(outcome.asks.rels[0]).opposite if outcome.asks.rels else ""
    wanted = outcome.asks.object or said.claim.object
    return (
        said.claim.polarity
        and said.relation.name != opposite
        and same(said.claim.object, wanted, said.relation.of, broad=True)
    )


def _most(asked: Asked) -> float:
    """Return how sure an answer may be at most: where claims that were weighed leave it undecided, not very."""
    outcome = asked.stance
    open_ = outcome is not None and bool(outcome.candidates) and not outcome.decision.claim
    return DISPUTED if open_ and read(asked.question) is not None else 1.0


def _said(question: Question, asked: Asked, p: float) -> Composed:
    """Return what was said that answers, quoted."""
    no = _taken_back(question, asked)
    hits = of_period(question, asked.hits) if asks_for_sum(question) else asked.hits
    if not hits:
        return _unknown("nothing that was found is of the time asked for", 0.0)
    chosen = no or choose(question, hits)
    if chosen is None:
        return _unknown("what was found states nothing", p)
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
        short = _date(support.when)
    text = bands.quoted(report, p)
    if (checked or span.wanted or question.intent == "time") and bands.band(p) != "unsaid":
        text = f"{_capital(bands.fragment(quotable(short), p))}. {_capital(report)}"
    return Composed(text=_capital(text), citations=(hit.id,), short=short, p=p)


def _taken_back(question: Question, asked: Asked) -> Choice | None:
    """Return the record in which what is asked was denied, where that stands and is among what was found."""
    claim = denied(question, asked.stance)
    if claim is None or not claim.claim.quote:
        return None
    found = [one for one in choices(question, asked.hits) if claim.claim.quote in one.hit.text]
    return found[0] if found else None


def with_next(text: str, sentence: str) -> str:
    """Return a sentence of a text with the one behind it, where that tells something and both are short."""
    start = text.find(sentence)
    stop = start + len(sentence)
    for part in sentences(text[stop : stop + MAX_NEXT_CHARS]):
        if not part.text.strip(" .!?…"):
            continue
        end = stop + part.stop
        whole = end < len(text) or stop + MAX_NEXT_CHARS >= len(text)
        if start >= 0 and "?" not in part.mark and whole and end - start <= MAX_NEXT_CHARS:
            return text[start:end]
        break
    return sentence


def report_of(support: Support, said: str) -> str:
    """Return who said something when, quoted and cited, as a sentence."""
    return f"{quotable(spoken_by(support.speaker))} said on {_date(support.when)}: {quote(said)}{marks([support.id])}."


def support_of(hit: Hit, sentence: str) -> Support:
    """Return a hit as what an answer rests on; whoever has no name is "you" or "I"."""
    who = spoken_by(speaker(hit)) or "somebody"
    return Support(id=hit.id, index=hit.index, text=hit.text, quote=sentence, when=when_of(hit), speaker=who)


def quote(text: str) -> str:
    """Return stored text as a quotation of one line, in which nothing ends the quotation or looks like a citation."""
    line = quotable(text)
    if len(line) > MAX_QUOTE_CHARS:
        line = line[:MAX_QUOTE_CHARS].rsplit(" ", 1)[0] + " …"
    return f"“{line}”"


def quotable(text: str) -> str:
    """Return stored text as one line without control characters, quotation marks or brackets of ours."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).translate(_MARKS).split())


def _date(when: datetime) -> str:
    return day(when.date().isoformat())


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _clause(claim: str) -> str:
    """Return a claim in words, its ISO dates as people write them."""
    return re.sub(r"\b\d{4}-\d\d-\d\d\b", lambda match: day(match[0]), quotable(claim))
