"""Reconciliation: which answer to a question stands, how sure that is, and what would change it. Pure.

The network says which claims stand; pooling says how sure each answer is; a decision needs both: one answer that
stands, and more for it than against. Otherwise it is undecided, which is an answer too. It is a function of its
arguments alone, so that a stance can be made again from the records that it names.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

import msgspec

from braid.ledger.record import Asks, Claim, Decision
from braid.stance.answers import Answer, answers_to, is_list
from braid.stance.belief import Believed, believe
from braid.stance.claims import FOREVER, Said, advantage, backdated, check, relevant
from braid.stance.fold import Folded, Source, fold, grounds, in_dispute
from braid.stance.pool import PRIORS
from braid.stance.words import words_of

METHOD: Final = "justified_truth_maintenance+bayes_pool"
VERSION: Final = "2"
"""Raised by any change that lets the same records give another stance."""
ENOUGH: Final = PRIORS["inferred"] - 1e-9
"""An answer for which less speaks than one inference is not held; age lowers how sure it is, not whether it is held."""


class Weighed(msgspec.Struct, frozen=True):
    """A claim that was weighed: the probability of the answer it gives, whether it stands, and why."""

    said: Said
    p: float
    held: bool
    defeaters: tuple[int, ...]
    """Log indexes of the records that keep it from standing, or would if they stood."""
    why: str


class Outcome(msgspec.Struct, frozen=True):
    """What reconciling came to."""

    question: str
    asks: Asks
    candidates: tuple[Weighed, ...]
    decision: Decision
    support: tuple[Said, ...]
    others: tuple[Source, ...]
    """Records that give no candidate and bear on it: they claim what holds at another time, or supersede."""
    would_change: tuple[str, ...]
    folded: Folded

    @property
    def claims(self) -> list[Claim]:
        """The claims that are held, each once."""
        kept = {words_of(said.claim): said.claim for said in self.support}
        return list(kept.values())


def reconcile(question: str, asks: Asks, candidates: Iterable[Said], sources: Iterable[Source]) -> Outcome:
    """Return what to hold of a question at the time that it asks about (`asks.at`).

    `candidates` are claims of living records; `sources` what these records, those they were drawn from and those that
    supersede them rest on. Raises ValueError for a probability that is none, and for a claim whose record isn't there.
    """
    if asks.at is None:
        raise ValueError("a question is asked of an instant: asks.at is missing")
    given = {source.index: source for source in sources}
    claims = backdated([check(said, given) for said in relevant(candidates, asks)])
    known = grounds({said.index for said in claims}, given)
    folded = _folded(asks, claims, known.values())
    answers = answers_to(asks, claims, folded)
    believed = believe(answers, folded, asks)
    weighed = [
        _weighed(said, p, folded)
        for answer, p in zip(answers, believed.shares, strict=True)
        for said in answer.claims
    ]
    weighed.sort(key=lambda one: (one.said.index, one.said.k, one.said.derived))
    decision, support = _decide(asks, answers, believed, folded, claims)
    named = {one.said.index for one in weighed}
    others = {said.index for said in claims} | {by for all_ in folded.superseders.values() for by in all_}
    return Outcome(
        question,
        asks,
        tuple(weighed),
        decision,
        support,
        tuple(known[index] for index in sorted(others - named)),
        tuple(_would_change(asks, support, claims, known.values(), folded)),
        folded,
    )


def _weighed(said: Said, p: float, folded: Folded) -> Weighed:
    defeaters = [folded.claims[node] for node in folded.defeaters.get(said.node, ())]
    indexes = (*folded.superseders.get(said.index, ()), *(other.index for other in defeaters))
    return Weighed(
        said, p, folded.stands(said.node), tuple(dict.fromkeys(indexes)), _why(said, defeaters, folded)
    )


def _why(said: Said, defeaters: Sequence[Said], folded: Folded) -> str:
    """Return in a few words why a claim stands, or doesn't."""
    if folded.stands(said.node):
        return "nothing that stands speaks against it"
    if not folded.stands(f"r:{said.index}"):
        return "its record was superseded, or what it was drawn from was"
    for other in defeaters:
        if folded.stands(other.node):
            return f"{advantage(other, said) or 'stronger'}: {other.text}"
    return "as strong as what it excludes"


def _decide(
    asks: Asks, answers: Sequence[Answer], believed: Believed, folded: Folded, claims: Sequence[Said]
) -> tuple[Decision, tuple[Said, ...]]:
    standing = [
        (answer, share)
        for answer, share, worth in zip(answers, believed.shares, believed.worth, strict=True)
        if answer.says and worth >= ENOUGH and _stands(answer, folded)
    ]
    if standing and (is_list(asks) or (len(standing) == 1 and not in_dispute(folded))):
        support = [said for answer, _ in standing for said in answer.claims if folded.stands(said.node)]
        texts = dict.fromkeys(answer.text(folded, asks) for answer, _ in standing)
        rest = _rest(min(share for _, share in standing))
        return Decision(claim="; ".join(texts), residual_uncertainty=rest), tuple(support)
    why = _undecided(asks, answers, standing, claims, folded)
    said = [share for answer, share in zip(answers, believed.shares, strict=True) if answer.says]
    return Decision(residual_uncertainty=_rest(max(said, default=0.0)), undecided=why), ()


def _stands(answer: Answer, folded: Folded) -> bool:
    return any(folded.stands(said.node) for said in answer.claims)


def _rest(p: float) -> float:
    return round(min(max(1.0 - p, 0.0), 1.0), 6)


def _undecided(
    asks: Asks,
    answers: Sequence[Answer],
    standing: Sequence[tuple[Answer, float]],
    claims: Sequence[Said],
    folded: Folded,
) -> str:
    """Return in words why there is no answer."""
    if disputed := in_dispute(folded):
        one, other = disputed[0]
        return f"nothing says which gives way: {one.text}, or {other.text}"
    if len(standing) > 1:
        return "several answers stand: " + "; ".join(answer.text(folded, asks) for answer, _ in standing[:4])
    if weak := [answer for answer in answers if answer.says and _stands(answer, folded)]:
        return f"too little speaks for it: {weak[0].claims[0].text}"
    if denied := [answer for answer in answers if not answer.says and _stands(answer, folded)]:
        return f"all that is known is what it is not: {denied[0].claims[0].text}"
    if answers:
        return "what was said of it was taken back"
    return _elsewhen(asks.at or FOREVER, claims)


def _elsewhen(at: datetime, claims: Sequence[Said]) -> str:
    """Return what holds at another time than the one asked about."""
    if later := [said for said in claims if said.since > at]:
        first = min(later, key=lambda said: said.since)
        return f"nothing that is known held then; from {first.since:%Y-%m-%d} on: {first.text}"
    if ended := [said for said in claims if said.until <= at]:
        last = max(ended, key=lambda said: said.until)
        return f"nothing that is known holds then; until {last.until:%Y-%m-%d}: {last.text}"
    return "nothing is known of it"


def _would_change(
    asks: Asks, support: Sequence[Said], claims: Sequence[Said], sources: Iterable[Source], folded: Folded
) -> list[str]:
    """Return what would bring another answer: what stands once the support is gone, and what would end a dispute."""
    if not support:
        pairs = in_dispute(folded)
        if pairs:
            one, other = pairs[0]
            return [f"a correction, or a later or surer word, on {one.id} or {other.id}"]
        of_them = f" of {', '.join(asks.subjects)}" if asks.subjects else ""
        return [f"a claim{of_them} that holds at that time"]
    gone = {said.node for said in support}
    rest = [said for said in claims if said.node not in gone]
    left = _folded(asks, rest, sources)
    instead = [
        answer.text(left, asks)
        for answer in answers_to(asks, rest, left)
        if answer.says and _stands(answer, left)
    ]
    named = ", ".join(dict.fromkeys(said.id for said in support))
    return [f"without {named}: {'; '.join(instead) or 'nothing would be held'}"]


def _folded(asks: Asks, claims: Sequence[Said], sources: Iterable[Source]) -> Folded:
    """Fold claims as of the instant that is asked about; of all times where the time is what is asked for."""
    return fold(claims, sources, None if asks.wants == "time" else asks.at)
