"""Reconciliation: which answer to a question is held, how sure that is, and what would change it. Pure.

The network says which claims have a say; pooling decides among these: the answer with half of what there is, and a
tenth more than any other. Otherwise it is undecided, which is an answer too. It is a function of its arguments alone,
so that a stance can be made again.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import cached_property, partial
from typing import Final, Literal, NamedTuple

import msgspec

from braid.ledger.record.record import Asks, Claim, Decision
from braid.stance.answers import CandidateAnswer, answers_to, is_list
from braid.stance.belief import LEAD, Share, believe, has_enough
from braid.stance.claims import FOREVER, RecordedClaim, check, relevant
from braid.stance.fold import Folded, GroundedRecord, fold, grounds
from braid.stance.precedence import backdated
from braid.stance.words import words_of
from braid.text.words import normal

METHOD: Final = "justified_truth_maintenance+bayes_pool"
VERSION: Final = "8"
"""Raised by any change that lets the same records give another stance. A number, so that an older one can be told."""
_NAMED: Final = 4
_ARTICLES: Final = frozenset(("", "the", "a", "an"))
"""What names nothing: a question that breaks off has no more for a subject."""
Status = Literal["held", "outvoted", "undecided", "silent"]
"""What became of a claim: its answer is held; it has a say and another answer has more; it has one and nothing is held;
it has none."""


class Weighed(msgspec.Struct, frozen=True):
    """A claim that was weighed: the probability of the answer it gives, what became of it, and why."""

    said: RecordedClaim
    p: float
    status: Status
    taken_by: tuple[int, ...]
    """Log indexes of the records that take its say, or would if they stood."""
    why: str

    @property
    def held(self) -> bool:
        """Whether it is part of what is held."""
        return self.status == "held"


class Reconciliation(msgspec.Struct, frozen=True, dict=True):
    """What reconciling came to."""

    question: str
    asks: Asks
    candidates: tuple[Weighed, ...]
    decision: Decision
    support: tuple[RecordedClaim, ...]
    others: tuple[GroundedRecord, ...]
    """Records that give no candidate and bear on it: they claim what holds at another time."""
    folded: Folded
    change: Callable[[], str]
    """Says what would bring another answer: it folds the claims once more, without those that are held."""

    @cached_property
    def would_change(self) -> tuple[str, ...]:
        """What would bring another answer, in words."""
        return (self.change(),)

    @property
    def claims(self) -> list[Claim]:
        """The claims that are held, each once."""
        kept = {words_of(said.claim): said.claim for said in self.support}
        return list(kept.values())


def reconcile(
    question: str, asks: Asks, candidates: Iterable[RecordedClaim], sources: Iterable[GroundedRecord]
) -> Reconciliation:
    """Return what to hold of a question at the time that it asks about (`asks.at`).

    `candidates` are claims of living records; `sources` these records and the living ones that they were drawn from.
    Raises ValueError for a probability that is none, and for a claim whose record isn't there.
    """
    if asks.at is None:
        raise ValueError("a question is asked of an instant: asks.at is missing")
    given = {source.index: source for source in sources}
    claims = backdated([check(said, given) for said in relevant(candidates, asks)])
    known = grounds({said.index for said in claims}, given)
    case = _case(asks, claims, known.values())
    weighed = [one for place in range(len(case.answers)) for one in _weighed(place, case)]
    weighed.sort(key=lambda one: (one.said.index, one.said.k, one.said.derived))
    support = tuple(
        said for k in case.held for said in case.answers[k].claims if case.folded.stands(said.node)
    )
    others = {said.index for said in claims} - {one.said.index for one in weighed}
    return Reconciliation(
        question,
        asks,
        tuple(weighed),
        _decide(case),
        support,
        tuple(known[index] for index in sorted(others)),
        case.folded,
        partial(_would_change, case, support, known.values()),
    )


class _Case(NamedTuple):
    """A question with its claims, as they fold into answers, and what each answer has for it."""

    asks: Asks
    claims: Sequence[RecordedClaim]
    folded: Folded
    answers: Sequence[CandidateAnswer]
    shares: Sequence[Share]
    held: Sequence[int]
    """Places of the answers that are held."""

    def text(self, answer: CandidateAnswer) -> str:
        return answer.text(self.folded, self.asks)


def _case(asks: Asks, claims: Sequence[RecordedClaim], sources: Iterable[GroundedRecord]) -> _Case:
    """Fold claims as of the instant that is asked about; of all times where the time is what is asked for."""
    folded = fold(claims, sources, None if asks.wants == "time" else asks.at)
    answers = answers_to(asks, claims, folded)
    believed = believe(answers, folded, asks)
    return _Case(asks, claims, folded, answers, believed.shares, believed.held)


def _weighed(place: int, case: _Case) -> Iterator[Weighed]:
    """Yield the claims of an answer as they were weighed."""
    share = case.shares[place]
    for said in case.answers[place].claims:
        status = _status(said, place, case)
        taken = tuple(dict.fromkeys(one.index for one, _ in case.folded.taken.get(said.node, ())))
        yield Weighed(said, share.aged, status, taken, _why(said, status, share, case.folded))


def _status(said: RecordedClaim, place: int, case: _Case) -> Status:
    share = case.shares[place]
    if not case.folded.stands(said.node):
        return "silent"
    if place in case.held or (not case.answers[place].says and has_enough(share)):
        return "held"
    return "outvoted" if case.held or share.against > share.fresh else "undecided"


def _why(said: RecordedClaim, status: Status, share: Share, folded: Folded) -> str:
    """Return in a few words why a claim is held, or isn't."""
    for one, why in folded.taken.get(said.node, ()):
        if folded.stands(one.node):
            return f"{why}: {one.text}"
    return {
        "held": "nothing that stands takes it back",
        "outvoted": "outvoted: more speaks for another answer",
        "undecided": f"not enough for it: {share.fresh:.2f}",
        "silent": "it takes itself back, by way of others",
    }[status]


def _decide(case: _Case) -> Decision:
    if case.held:
        texts = dict.fromkeys(case.text(case.answers[k]) for k in case.held)
        rest = _rest(min(case.shares[k].aged for k in case.held))
        return Decision(claim="; ".join(texts), residual_uncertainty=rest)
    best = max((share.aged for share, _ in _open(case)), default=0.0)
    return Decision(residual_uncertainty=_rest(best), undecided=_undecided(case))


def _open(case: _Case) -> list[tuple[Share, CandidateAnswer]]:
    """Return the answers that somebody has a say for, the best first."""
    pairs = zip(case.shares, case.answers, strict=True)
    return sorted(
        ((share, one) for share, one in pairs if one.says and share.aged), key=lambda pair: -pair[0].fresh
    )


def _rest(p: float) -> float:
    return round(min(max(1.0 - p, 0.0), 1.0), 6)


def _undecided(case: _Case) -> str:
    """Return in words why there is no answer."""
    if near := _nearest(case):
        told = [case.text(answer) for answer in near]
        if len(told) == 1:
            return f"too little speaks for it: {told[0]}"
        return f"nothing says which gives way: {', or '.join(told)}"
    denials = (said for answer in case.answers if not answer.says for said in answer.claims)
    if (denied := next((said for said in denials if case.folded.stands(said.node)), None)) is not None:
        return f"all that is known is what it is not: {denied.text}"
    if case.answers:
        return "what was said of it was taken back"
    return _elsewhen(case.asks.at or FOREVER, case.claims)


def _nearest(case: _Case) -> list[CandidateAnswer]:
    """Return the answers between which nothing decides, or the one that has too little; up to four."""
    found = _open(case)
    if is_list(case.asks):
        return [answer for _, answer in found[:1]]
    return [answer for share, answer in found if found[0][0].fresh - share.fresh < LEAD][:_NAMED]


def _elsewhen(at: datetime, claims: Sequence[RecordedClaim]) -> str:
    """Return what holds at another time than the one asked about."""
    if later := [said for said in claims if said.since > at]:
        first = min(later, key=lambda said: said.since)
        return f"nothing that is known held then; from {first.since:%Y-%m-%d} on: {first.text}"
    if ended := [said for said in claims if said.until <= at]:
        last = max(ended, key=lambda said: said.until)
        return f"nothing that is known holds then; until {last.until:%Y-%m-%d}: {last.text}"
    return "nothing is known of it"


def _would_change(case: _Case, support: Sequence[RecordedClaim], sources: Iterable[GroundedRecord]) -> str:
    """Return what would bring another answer: what is held once the support is gone, and what would end a dispute."""
    if not support:
        if near := _nearest(case):
            ids = dict.fromkeys(answer.claims[-1].id for answer in near)
            return f"a correction, or another's word, on {' or '.join(ids)}"
        subjects = [one for one in case.asks.subjects if normal(one) not in _ARTICLES]
        of_them = f" of {', '.join(subjects)}" if subjects else ""
        return f"a claim{of_them} that holds at that time"
    gone = {said.node for said in support}
    left = _case(case.asks, [said for said in case.claims if said.node not in gone], sources)
    instead = "; ".join(left.text(left.answers[k]) for k in left.held)
    ids = dict.fromkeys(said.id for said in support)
    named = ", ".join(list(ids)[:_NAMED]) + (f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else "")
    return f"without {named}: {instead or 'nothing would be held'}"
