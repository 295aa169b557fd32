"""Vectors that need no model: when something happened, what it is linked to, how it felt. Pure, the same everywhere.

They are computed when an address such as `vec://temporal_profile/id` is resolved, and kept nowhere: no ranking that was
tried gains by them (docs/recall.md).

All are unit vectors. Cyclic time puts 23:50 beside 00:10 (sine and cosine of each period). Causes are a hashed sum of
names (feature hashing, Weinberger et al. 2009): a record's own, and those it descends from, so that a cause is near its
effect and siblings are near each other. VAD gets a fourth, constant axis, so that a neutral tone has a direction too.
"""

import math
from collections.abc import Iterable
from typing import Final

import numpy as np
from blake3 import blake3

from braid.affect import turn
from braid.ledger.record.envelope import Link
from braid.ledger.record.record import ExperienceBody, Record, Vad
from braid.views.embedder import Vectors
from braid.views.search import AFFECT, CAUSAL, TEMPORAL
from braid.views.values import created, microseconds

CAUSAL_DIMENSIONS: Final = 64
DAY_US: Final = 86_400_000_000
YEAR_US: Final = 31_556_952_000_000
"""The mean year of the Gregorian calendar."""
_PERIODS: Final = (DAY_US, 7 * DAY_US, YEAR_US)
_SIGNS_PER_NAME: Final = 4
_SELF_WEIGHT: Final = 1.0
_LINK_WEIGHT: Final = 0.7


def profile(role: str, record: Record) -> Vectors | None:
    """Return a record's vector, float32[d], of one of the profiles' roles; None for one that it hasn't."""
    body, envelope = record.body, record.envelope
    if not isinstance(body, ExperienceBody):
        return None
    if role == TEMPORAL:
        recorded = created(envelope.created_at)
        return temporal(recorded if body.occurred_at is None else microseconds(body.occurred_at))
    if role == CAUSAL:
        return causal(envelope.id, record.links)
    felt = turn.felt(envelope.type, body) if role == AFFECT else None
    return None if felt is None else affect(felt.vad)


def temporal(happened_us: int) -> Vectors:
    """Return sine and cosine of the time of day, of the week and of the year, UTC."""
    angles = [math.tau * (happened_us % period) / period for period in _PERIODS]
    axes = [part(angle) for angle in angles for part in (math.sin, math.cos)]
    return np.array(axes, dtype=np.float32) / np.float32(math.sqrt(len(_PERIODS)))


def causal(id: str, links: Iterable[Link]) -> Vectors:
    """Return the hashed sum of a record's own name and of what it is linked to."""
    found = np.zeros(CAUSAL_DIMENSIONS, dtype=np.float64)
    _add(found, id, _SELF_WEIGHT)
    for target in sorted({link.id for link in links}):
        _add(found, target, _LINK_WEIGHT)
    length = math.sqrt(float(found.dot(found)))
    if length < 1e-9:  # hashes that cancel out, exactly: not seen, and not to be divided by
        found[0] = length = 1.0
    return (found / length).astype(np.float32)


def _add(vector: "np.typing.NDArray[np.float64]", name: str, weight: float) -> None:
    hashed = blake3(name.encode()).digest(2 * _SIGNS_PER_NAME)
    for place, sign in zip(hashed[::2], hashed[1::2], strict=True):
        vector[place % CAUSAL_DIMENSIONS] += weight if sign & 1 else -weight


def affect(vad: Vad) -> Vectors:
    """Return valence [-1, 1], arousal [0, 1], dominance [-1, 1] and 1 as a direction."""
    found = np.array([vad.v, vad.a, vad.d, 1.0], dtype=np.float64)
    return (found / np.linalg.norm(found)).astype(np.float32)
