"""What sends a session to the larger model: words that put right or soften, and figures that tell nothing apart. Pure.

ADR-0013 §4 (routing) and §9 (degenerate output).
"""

import re
from collections.abc import Iterable, Sequence
from math import isfinite
from statistics import pstdev
from typing import Final

from braid.learn.candidate import Candidate
from braid.learn.turn import Turn
from braid.learn.words import HEDGES

UNSURE: Final = 0.5
FLAT: Final = 0.05
"""Below this deviation of three figures or more, they say nothing."""
_FLAT_FROM: Final = 3
_CORRECTION: Final = re.compile(
    r"\b(?:actually|instead|rather than|scratch that|correction|never ?mind|i meant|i was wrong|my mistake"
    r"|changed my mind|change of plan|on second thought|forget (?:that|what i said)|no longer|not any ?more)\b"
    r"|\b(?:no|oh|oops|sorry|hang on|hold on),? wait\b|\bwait,? (?:no|actually)\b|^\s*(?:no|wait)\b[,.]",
    re.IGNORECASE | re.MULTILINE,
)
_HEDGE: Final = re.compile(
    rf"\b(?:{'|'.join(sorted(HEDGES))}|i (?:think|guess|suppose|believe)|not (?:so )?sure|kind of|sort of"
    r"|might|could be|i'm considering|leaning towards?|if i (?:were|had)|suppose|imagine)\b",
    re.IGNORECASE,
)


def corrects_or_hedges(turns: Iterable[Turn]) -> bool:
    """Whether anybody puts something right, or softens what they say."""
    return any(
        _CORRECTION.search(turn.text) or _HEDGE.search(turn.text) for turn in turns if turn.role == "user"
    )


def is_flat(candidates: Sequence[Candidate]) -> bool:
    """Whether three candidates or more are all as sure, or all as strong."""
    strengths = [one.strength for one in candidates if one.strength is not None]
    return any(
        len(figures) >= _FLAT_FROM and all(map(isfinite, figures)) and pstdev(figures) < FLAT
        for figures in ([one.confidence for one in candidates], strengths)
    )


def is_unsure(candidates: Iterable[Candidate]) -> bool:
    """Whether any candidate is less sure than not."""
    return any(one.confidence < UNSURE for one in candidates)
