"""How sure a reading is: the probability that the raters' valence lies on the side that it reads.

Where it reads more than LEAN above or below neutral, theirs must lie on that side; where it reads neither, theirs must
be no further than NEAR from neutral. Calibrated on EmoBank's dev split (docs/affect.md). What isn't in EmoBank is
handled by rule: one signal alone is never very sure, sarcasm and venting make less sure, and so does a language whose
words are not known. Pure.
"""

from collections.abc import Sequence
from typing import Any, Final

import msgspec
import numpy as np

from braid.affect.cues import Cues

Floats = Any
LEAN: Final = 0.1
"""From where on a valence, or VADER's compound halved, says something."""
NEAR: Final = 0.15
ALONE: Final = 0.75
"""What one signal by itself can reach."""
SARCASTIC: Final = 0.65
VENTED: Final = 0.9
BANDS: Final = (("high", 0.8), ("middle", 0.6), ("low", 0.0))
"""Names of confidence, each from where on."""
STRANGE: Final = 0.3
"""Below this share of known words a text may be of another language."""


class Votes(msgspec.Struct, frozen=True):
    """Which signals speak for the direction that the model reads, and which against it."""

    agreeing: tuple[str, ...]
    opposed: tuple[str, ...]


def votes(valence: float, cues: Cues) -> Votes:
    """Return what the signals say of a valence. A text without any cue agrees with a neutral reading."""
    model = _sign(valence, LEAN)
    said = {"lexical": _sign(cues.scores.compound / 2, LEAN)}
    if cues.emoji:
        weights = [weight for cue, weight in cues.scores.cues if cue in cues.emoji]
        said["emoji"] = _sign(sum(weights), 0.5)
    if "thanks" in cues.discourse or cues.venting:
        said["discourse"] = -1 if cues.venting else 1
    loud = cues.exclamations + cues.capitals + cues.drawn > 0
    if loud != (model == 0):  # a loud surface speaks for a tone, a quiet one for none
        said["surface"] = model
    return Votes(
        ("model", *(name for name, sign in said.items() if sign == model)),
        tuple(name for name, sign in said.items() if sign * model < 0),
    )


def _sign(value: float, lean: float) -> int:
    return 0 if abs(value) < lean else 1 if value > 0 else -1


def is_right(read: Floats, rated: Floats) -> Floats:
    """Return bool[n], whether valences that are read lie on the side of those that were rated."""
    neither = np.abs(read) < LEAN
    return (neither & (np.abs(rated) <= NEAR)) | (~neither & (read * rated > 0))


def columns(
    vad: Floats, spread: Floats, known: Floats, voted: Sequence[Votes], cues: Sequence[Cues]
) -> Floats:
    """Return float[n, 8], what confidence is computed from."""
    counts = np.array([[len(each.agreeing), len(each.opposed)] for each in voted], dtype=float).reshape(-1, 2)
    lengths = np.array([np.log1p(len(each.words)) for each in cues])
    return np.column_stack(
        [
            np.ones(len(vad)), counts, 10 * spread, known, lengths / 4, np.abs(vad[:, 0]),
            2 * np.abs(vad[:, 1] - 0.5),
        ]
    )  # fmt: skip


def calibrated(columns: Floats, coefficients: Floats) -> Floats:
    """Return float[n] in (0, 1): the calibrated probability, before the rules."""
    return 1 / (1 + np.exp(-np.clip(columns @ coefficients, -30, 30)))


def ruled(calibrated: float, voted: Votes, cues: Cues, known: float) -> float:
    """Return the confidence of a reading in [0, 1]: a calibrated one, less what the rules take."""
    sure = calibrated if len(voted.agreeing) > 1 and not voted.opposed else min(calibrated, ALONE)
    if cues.sarcasm:
        sure = min(sure * SARCASTIC, ALONE)
    if cues.venting:
        sure *= VENTED
    return sure * min(1.0, known / STRANGE)


def band(confidence: float) -> str:
    """Return the name of a confidence: high, middle or low."""
    return next(name for name, least in BANDS if confidence >= least)
