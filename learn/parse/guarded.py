"""What a parse may state and yet isn't kept: secrets, numbers of persons, orders to a model, privileges. Pure.

The gates of evidence and entailment compare words with a parse; what is read from that very parse has passed them.
Safety is for all makers alike.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple, cast

import msgspec

from braid.learn.candidate import Candidate, CandidateType, Evidence, Maker
from braid.learn.gates.evidence import Found
from braid.learn.gates.outcome import GateError, GateSettings, Sensitivity
from braid.learn.gates.privacy import level
from braid.learn.gates.safety import Sensitive, safety, sensitive
from braid.learn.turn import Turn
from braid.ledger.record.record import Claim

SETTINGS: Final = GateSettings(health=True, finance=True)
"""All is read, and each claim says of what it is: whether it may be known is the reader's to say."""
_MAKER: Final = Maker("parse", "")
_TYPES: Final = frozenset(("relation", "fact", "preference", "skill", "interest", "goal", "episode", "step"))


class GuardedClaim(NamedTuple):
    """A claim that may be kept, with its level of privacy, and whether it is of health or money."""

    claim: Claim
    kinds: Sensitivity


def guarded(turn: Turn, claims: Sequence[Claim]) -> tuple[GuardedClaim, ...]:
    """Return those of a turn's claims that may be kept, each with its level of privacy."""
    if not claims:
        return ()
    care = sensitive(turn)
    return tuple(kept for claim in claims if (kept := _kept(turn, claim, care)) is not None)


def _kept(turn: Turn, claim: Claim, care: Sensitive) -> GuardedClaim | None:
    at = Found(claim.at or 0, claim.quote or "")
    if turn.text[at.start : at.start + len(at.quote)] != at.quote:
        return None  # not the turn's own words, whatever else is true of them
    type = cast("CandidateType", claim.type if claim.type in _TYPES else "fact")
    candidate = Candidate(
        claim=claim, type=type, evidence=Evidence(turn.at, at.start, at.quote), maker=_MAKER
    )
    try:
        kinds = safety(candidate, turn, at, care, SETTINGS)
    except GateError:
        return None
    details = {**claim.details, "privacy": level(candidate, sensitive=bool(kinds))}
    return GuardedClaim(msgspec.structs.replace(claim, details=details), kinds)
