"""How sure a candidate is, after all that speaks against it, and whether that is enough to keep it. Pure.

What a model found is worth what its source is worth (`stance.pool.PRIORS`: .7, .4, .3, .15); its own figure may only
lower that. What rules read, or an event states, is worth the share of its kind that was right (`stance.readings`).
"""

from collections.abc import Mapping
from typing import Final

from braid.learn.candidate import Candidate, CandidateType
from braid.stance.pool import prior_of
from braid.stance.readings import certainty

MIN_STORAGE_CONFIDENCE: Final[Mapping[CandidateType, float]] = {
    "correction": 0.5,
    "fact": 0.4,
    "relation": 0.4,
    "preference": 0.4,
    "skill": 0.4,
    "goal": 0.4,
    "episode": 0.4,
    "step": 0.4,
    "entity": 0.3,
    "interest": 0.3,
}
"""Below this a candidate is staged. What is stated and doubted once passes (.7 - .2); what two things speak against
doesn't; of what is only inferred nothing passes by itself. A correction ends something: it has to be surer."""
NEUTRAL: Final = 0.2
"""What an explicit claim of a model loses that its sentence leaves open."""
SECOND_HAND: Final = 0.8
POSSIBLE: Final = 0.7
HALVED: Final = 0.5
"""What is left of a claim that a warning is about."""
HYPOTHETICAL: Final = 0.2
VENTED: Final = 0.3
SUPERSEDED: Final = 0.2
"""What is left of a claim that the same session takes back; it is kept all the same, with what replaced it."""


def confidence(candidate: Candidate, *, neutral: bool, vented: bool, warned: bool) -> float:
    """Return how sure a candidate is, in [0, 1]. `neutral`: its sentence leaves it open; `vented`: it was an
    outburst."""
    claim = candidate.claim
    by_model = candidate.maker.name == "model"
    p = min(prior_of(claim.source_type), candidate.confidence) if by_model else certainty(claim).p
    if neutral and by_model and claim.source_type == "explicit":
        p -= NEUTRAL
    if claim.said_by is not None and by_model:
        p *= SECOND_HAND
    if candidate.modality == "possible":
        p *= POSSIBLE
    if warned:
        p *= HALVED
    if candidate.modality == "hypothetical":
        p = min(p, HYPOTHETICAL)
    if vented and candidate.type != "episode":
        p = min(p, VENTED)
    return round(max(p, 0.0), 4)


def is_enough(candidate: Candidate, p: float) -> bool:
    """Whether a candidate of its type is sure enough to be kept."""
    return p >= MIN_STORAGE_CONFIDENCE[candidate.type]
