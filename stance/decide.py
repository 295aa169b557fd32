"""What to do with a candidate claim, given what is known of the same subject: add, update, delete, or nothing. Pure.

A decider proposes and changes nothing. Source rank says what is superseded, and pooling (`stance.reconcile`) what is
told: where the two disagree nothing is superseded, both claims are kept, and a person is asked. `DELETE` means to
forget, never to erase.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple, Protocol

import msgspec

from braid.ledger.record.record import Asks
from braid.ledger.record.source import BELIEVED, is_least
from braid.stance.claims import RecordedClaim, clash, of_one, overlap
from braid.stance.culprit import STANDING
from braid.stance.fold import GroundedRecord
from braid.stance.precedence import advantage
from braid.stance.proposal import CHANGES, Action, Proposal
from braid.stance.reconcile import reconcile
from braid.stance.values import is_finer, same, stemmed

Order = tuple[datetime, int, int]
RULES: Final = "rules@1"
"""The rules and their version: what was decided, or judged, by other ones says nothing of these."""
TOP_K: Final = 10
"""So many living claims are shown with a candidate at most."""
DOUBT: Final = 0.8
"""Both confidences are multiplied by this where nothing says which of two claims gives way."""
_SOURCES: Final = 2
"""So many independent sources make a DELETE of what is only inferred."""
_INFERRED: Final = STANDING["inferred"]
_SOURCE: Final = {4: "corrected", 3: "stated", 2: "observed", 1: "inferred"}


class ShownClaim(NamedTuple):
    """A living claim as a decider sees it: a temporary id, `m1` and so on, and the claim."""

    id: str
    said: RecordedClaim


class UndecidedError(Exception):
    """A decider has decided nothing. Its text is the warning that is counted."""


class Decider(Protocol):
    """Whatever decides: the rules, or a model."""

    def decide(self, candidate: RecordedClaim, shown: Sequence[ShownClaim]) -> object:
        """Return a `Proposal`, or the same as JSON or as a mapping; it is checked before anybody uses it.

        Raises UndecidedError where there is none.
        """
        ...


def shown_for(
    candidate: RecordedClaim, living: Iterable[RecordedClaim], limit: int = TOP_K
) -> list[ShownClaim]:
    """Return the living claims to show with a candidate: of its subject and user, those nearest to it first."""
    alike = [
        said
        for said in living
        if said.node != candidate.node
        and said.user_id == candidate.user_id
        and of_one(said.claim.subject, candidate.claim.subject)
    ]
    alike.sort(key=lambda said: (_nearness(candidate, said), said.recency, said.index, said.k), reverse=True)
    return [ShownClaim(f"m{place}", said) for place, said in enumerate(alike[:limit], 1)]


def _nearness(candidate: RecordedClaim, said: RecordedClaim) -> int:
    if clash(candidate, said) is not None:
        return 3
    if candidate.relation.name != said.relation.name:
        return 0
    return 1 + same(candidate.claim.object, said.claim.object, said.relation.of, broad=True)


def propose(
    decider: Decider, candidate: RecordedClaim, shown: Sequence[ShownClaim]
) -> tuple[Proposal | None, str | None]:
    """Return what a decider proposes, or a warning where that can't be used: malformed, or of a claim not shown."""
    try:
        made = decider.decide(candidate, shown)
    except UndecidedError as error:
        return None, str(error)
    try:
        raw: Any = msgspec.json.decode(made) if isinstance(made, str | bytes) else msgspec.to_builtins(made)
        found = msgspec.convert(raw, Proposal)
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError):
        return None, "malformed_decision"
    ids = {one.id for one in shown}
    if found.target is not None and found.target not in ids:
        return None, "unknown_target"
    if found.target is None and found.action != "ADD":
        return None, "missing_target"
    return found, None


class Decided(NamedTuple):
    """What is proposed for a claim; the claims that were shown; warnings of what could not be used."""

    candidate: RecordedClaim
    proposal: Proposal | None
    shown: Sequence[ShownClaim]
    warnings: tuple[str, ...] = ()

    @property
    def target(self) -> RecordedClaim | None:
        """The claim that it is about."""
        wanted = self.proposal.target if self.proposal is not None else None
        return next((one.said for one in self.shown if one.id == wanted), None)


def decide(
    candidate: Sequence[RecordedClaim],
    living: Sequence[RecordedClaim],
    decider: Decider | None = None,
    limit: int = TOP_K,
) -> Decided:
    """Return what to do with a claim. `candidate`: the claim, and the states that are drawn from it (`moved_to` Ghent:
    `lives_in` Ghent); what these would change counts for the claim.
    """
    return strongest([decide_one(one, living, decider, limit) for one in candidate])


def decide_one(
    candidate: RecordedClaim,
    living: Iterable[RecordedClaim],
    decider: Decider | None = None,
    limit: int = TOP_K,
) -> Decided:
    """Return what to do with one claim, whatever is drawn from it."""
    shown = shown_for(candidate, living, limit)
    made, warning = propose(decider or RulesDecider(), candidate, shown)
    return Decided(candidate, made, shown, (warning,) if warning else ())


def strongest(found: Sequence[Decided]) -> Decided:
    """Return what is proposed for a claim, the first, or for a state drawn from it, where that would do more."""
    best = max(found, key=_weight)
    return best._replace(warnings=tuple(warning for one in found for warning in one.warnings))


def _weight(one: Decided) -> int:
    """Return how much a proposal would do: change something, ask somebody, or neither."""
    made = one.proposal
    if made is None:
        return 0
    return 2 if made.action in CHANGES else int(made.review_needed)


def said_order(said: RecordedClaim) -> Order:
    """Return the order in which claims are decided about: as they were said."""
    return said.said, said.index, said.k


def gives_way(made: Proposal | None, said: RecordedClaim, target: RecordedClaim | None) -> bool:
    """Whether a claim would not be kept: it gives way to one that says otherwise."""
    return (
        made is not None and made.action == "NONE" and target is not None and clash(said, target) is not None
    )


class RulesDecider:
    """Decides by relations, polarity, time and source; the same claims give the same decision."""

    def decide(self, candidate: RecordedClaim, shown: Sequence[ShownClaim]) -> Proposal:
        """Return what to do with a candidate."""
        known = next((one for one in shown if _says_as_much(one.said, candidate)), None)
        rivals = [one for one in shown if clash(candidate, one.said) and overlap(candidate, one.said)]
        if known is not None and (not rivals or _was_said_so(known.said, candidate)):
            return Proposal("NONE", known.id, candidate.worth, "it is known already: reinforced")
        if not rivals:
            return Proposal("ADD", None, candidate.worth, "nothing that is known excludes it")
        if candidate.since.date() > candidate.said.date():
            return Proposal("ADD", None, candidate.worth, "it holds only later: nothing gives way yet")
        found = _between(candidate, rivals, [one.said for one in shown])
        if known is None or found.action != "ADD":
            return found
        return msgspec.structs.replace(found, action="NONE", target=known.id)


def _was_said_so(known: RecordedClaim, candidate: RecordedClaim) -> bool:
    """Whether the same voice has said the same before, and with as much weight: nothing has changed by it."""
    return known.voices == candidate.voices and known.rank >= candidate.rank


def _says_as_much(known: RecordedClaim, candidate: RecordedClaim) -> bool:
    """Whether a known claim says all that a candidate does, of the same time."""
    a, b, rel = known.claim, candidate.claim, known.relation
    if rel.name != candidate.relation.name or a.polarity != b.polarity or not overlap(known, candidate):
        return False
    if rel.temporal == "episode" and known.since.date() != candidate.since.date():
        return False
    if not same(a.object, b.object, rel.of, broad=not rel.many):
        return False
    if is_finer(b.object, a.object, rel.of):
        return False
    if rel.of != "text" or same(a.object, b.object):
        return True
    return len(stemmed(b.object)) <= len(stemmed(a.object))


def _between(
    candidate: RecordedClaim, rivals: Sequence[ShownClaim], shown: Sequence[RecordedClaim]
) -> Proposal:
    """Return what becomes of a candidate that some living claims exclude."""
    wins = [_wins(candidate, one.said, shown) for one in rivals]
    loses = [(one, why) for one in rivals if (why := _wins(one.said, candidate, shown))]
    decides = bool(loses) or all(wins)
    held = _told(candidate, shown) if decides else frozenset[str]()  # it bears on nothing else
    if loses and held.isdisjoint((candidate.node,)):
        one, why = loses[0]
        return Proposal("NONE", one.id, candidate.worth, f"it gives way: {why}")
    told = not candidate.claim.polarity or candidate.node in held
    target = max(rivals, key=lambda one: (one.said.rank, one.said.recency))
    if all(wins) and told and held.isdisjoint(one.said.node for one in rivals):
        action: Action = "UPDATE" if candidate.claim.polarity else "DELETE"
        return Proposal(action, target.id, candidate.worth, wins[rivals.index(target)])
    why = "what source and time say is not what all voices together say" if decides else ""
    return Proposal(
        "ADD",
        target.id,
        round(candidate.worth * DOUBT, 6),
        why or "nothing says which gives way",
        review_needed=True,
        target_confidence=round(target.said.worth * DOUBT, 6),
    )


def _wins(one: RecordedClaim, other: RecordedClaim, shown: Sequence[RecordedClaim]) -> str:
    """Return in words why a claim supersedes another by source and time; empty where it doesn't.

    Newer wins within one voice: that another voice says otherwise later is no change of what the first one said.
    """
    retracts = one.rank == _INFERRED and not one.claim.polarity
    if _is_believed(one) != _is_believed(other):
        return "" if _is_believed(other) else "an outsider's word gives way"
    if retracts and _sources(one, shown) < _SOURCES:
        return ""
    if why := advantage(one, other):
        return why
    if advantage(other, one):
        return ""
    if retracts and other.rank == _INFERRED:
        return "independent sources say so"
    return f"{_SOURCE[one.rank]} over {_SOURCE[other.rank]}" if one.rank > other.rank else ""


def _is_believed(said: RecordedClaim) -> bool:
    """Whether a claim's words may update a belief: an outsider's may not."""
    return is_least(said.source, BELIEVED)


def _sources(one: RecordedClaim, shown: Sequence[RecordedClaim]) -> int:
    """Return how many independent sources deny what a claim denies, itself counted."""
    alike = [said for said in shown if not said.claim.polarity and _says_as_much(said, one)]
    return len({one.voices, *(said.voices for said in alike)})


def _told(candidate: RecordedClaim, shown: Sequence[RecordedClaim]) -> frozenset[str]:
    """Return the claims that are told once a candidate is known: the nodes of what all voices together hold.

    Outsiders have no voice in it, as in what is told.
    """
    claims = [said for said in shown if said.node != candidate.node and _is_believed(said)]
    claims = [candidate, *claims] if _is_believed(candidate) or not claims else claims
    asks = Asks(
        subjects=[candidate.claim.subject],
        rels=[candidate.relation.name],
        at=max(said.recency for said in (candidate, *claims) if clash(candidate, said) or said is candidate),
    )
    sources = [GroundedRecord(said.index, said.id) for said in claims]
    return frozenset(one.said.node for one in reconcile("", asks, claims, sources).candidates if one.held)
