"""Is a candidate well formed: types, ranges, lengths, and the fields of its type. Pure."""

import math
import re
from typing import Final

import msgspec

from braid.learn.candidate import Candidate
from braid.learn.gates.outcome import GateError
from braid.stance.relations import name_of
from braid.text.words import listed

MAX_SUBJECT: Final = 120
MAX_RELATION: Final = 64
MAX_OBJECT: Final = 400
MAX_QUOTE: Final = 2_000
MAX_DETAILS: Final = 16
PROFICIENCIES: Final = ("novice", "beginner", "intermediate", "advanced", "expert")
_KEY: Final = re.compile(r"[a-z][a-z0-9_]{0,79}")
_TRIVIAL: Final = listed(
    "it that this thing things something anything everything nothing stuff them they he she someone "
    "somebody one those these yes no ok okay thanks hello hi null n/a unknown undefined"
)


def schema(candidate: Candidate) -> Candidate:
    """Return a candidate that is well formed.

    Raises GateError: `wrong_type`, `out_of_range`, `too_long`, `trivial`, `field_lacks`, `field_of_another_type`.
    """
    try:
        # A constructor checks no types: what a model or a plug-in gave is read as if it came over the wire.
        msgspec.convert(msgspec.to_builtins(candidate), Candidate)
    except (msgspec.ValidationError, TypeError, ValueError, AttributeError) as error:
        raise GateError("schema", "wrong_type") from error
    _in_range(candidate)
    _long_enough(candidate)
    _of_its_type(candidate)
    return candidate


def _in_range(candidate: Candidate) -> None:
    figures = (
        [candidate.confidence] if candidate.strength is None else [candidate.confidence, candidate.strength]
    )
    claim = candidate.claim
    if not all(math.isfinite(one) and 0 <= one <= 1 for one in figures) or candidate.evidence.start < 0:
        raise GateError("schema", "out_of_range")
    if claim.valid_from is not None and claim.valid_from.tzinfo is None:
        raise GateError("schema", "out_of_range")
    if claim.valid_to is not None and (
        claim.valid_to.tzinfo is None or (claim.valid_from is not None and claim.valid_to <= claim.valid_from)
    ):
        raise GateError("schema", "out_of_range")
    if candidate.proficiency is not None and candidate.proficiency not in PROFICIENCIES:
        raise GateError("schema", "out_of_range")


def _long_enough(candidate: Candidate) -> None:
    claim = candidate.claim
    if not (claim.subject.strip() and name_of(claim.rel) and claim.object.strip()):
        raise GateError("schema", "field_lacks")
    if (
        len(claim.subject) > MAX_SUBJECT
        or len(claim.rel) > MAX_RELATION
        or len(claim.object) > MAX_OBJECT
        or len(candidate.evidence.quote) > MAX_QUOTE
        or len(claim.details) > MAX_DETAILS
    ):
        raise GateError("schema", "too_long")
    if claim.object.strip(" .!?,\"'").lower() in _TRIVIAL or not any(map(str.isalnum, claim.subject)):
        raise GateError("schema", "trivial")


def _of_its_type(candidate: Candidate) -> None:
    preference, by_model = candidate.type == "preference", candidate.maker.name == "model"
    if preference and by_model and (candidate.category is None or candidate.key is None):
        raise GateError("schema", "field_lacks")
    if candidate.key is not None and not _KEY.fullmatch(candidate.key):
        raise GateError("schema", "out_of_range")
    if candidate.proficiency is not None and candidate.type != "skill":
        raise GateError("schema", "field_of_another_type")
    if candidate.strength is not None and candidate.type not in ("preference", "interest"):
        raise GateError("schema", "field_of_another_type")
    if (candidate.category is not None or candidate.key is not None) and not preference:
        raise GateError("schema", "field_of_another_type")
