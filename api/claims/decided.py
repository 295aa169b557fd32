"""What was decided so far, by the signed outcomes of the consumer that decides, and what people have undone of it."""

from collections.abc import Iterator, Sequence
from typing import Final

from braid.claims.applied import Decision, decision_at, is_decision
from braid.claims.protection import is_reviewed
from braid.ledger.read.reader import Reader
from braid.log.chain import chain_of
from braid.log.lock import memory_behind
from braid.outcomes import Signed, outcomes
from braid.session import Session
from braid.settings import fold_of
from braid.stance.decide import RULES

DECISION: Final = "decision"
"""The consumer that decides."""


def rounds(session: Session) -> Sequence[Signed]:
    """Return the outcomes since the phase was set last, newest first, of the rules that decide now.

    Those that count what would be done are none of them.
    """
    since = fold_of(session).now()[1].get("phase", 0)
    found = [
        one
        for one in outcomes(session).every("done", "dead")
        if one.index > since
        and (one.outcome.consumer, one.outcome.version) == (DECISION, RULES)
        and (one.outcome.ended == "dead" or "applied" in one.outcome.spent.counts)
    ]
    return sorted(found, key=lambda one: -one.index)


def decisions(session: Session, held: Sequence[Signed]) -> Iterator[Decision]:
    """Yield what was decided in some rounds, newest first: it stands before the outcome, in its transaction."""
    reader = session.reader
    for one in held:
        place, first = one.index, one.index - reader.envelope(one.index).tx[1]
        while (place := place - 1) >= first:
            if is_decision(reader, place) and (decided := decision_at(reader, place)) is not None:
                yield decided


def is_contradicted(reader: Reader, one: Decision) -> bool:
    """Whether a person has undone a decision, or would have: forgotten it, or forgotten, corrected or settled against
    the claim that won.
    """
    hidden = reader.control.hidden
    behind = memory_behind(reader, one.winner_index)
    memory = chain_of(reader, behind)
    gone = {one.index, one.winner_index, behind} & hidden.keys()
    return bool(gone) or memory.members[-1] != behind or is_reviewed(reader, one.winner_index, lost=True)
