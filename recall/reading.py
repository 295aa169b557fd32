"""Candidates → hits: each read from the log and verified, held against scope, filters and tone. The index has no last
word on what is shown.
"""

from collections.abc import Callable
from typing import Final

import msgspec
import numpy as np

from braid.ledger.record import ExperienceBody, Record, Vad
from braid.recall.filters import Test
from braid.recall.hits import Hit
from braid.recall.search import Evidence
from braid.views.search import Where

AFFECT_WEIGHT: Final = 4.0
"""What nearness in tone adds at most, where the caller asks for it."""


class Tone(msgspec.Struct, frozen=True):
    """The tone that a caller asks for: near `vad`, at most `within` away (Euclidean), or by nearness alone."""

    vad: Vad
    within: float | None = None


class Reading:
    """What one question reads: each record once, however often its candidates are gone through."""

    def __init__(
        self, read: Callable[[int], Record | None], where: Where, test: Test | None, tone: Tone | None
    ) -> None:
        self._read = read
        self._where = where
        self._test = test
        self._tone = tone
        self._known: dict[int, Record | None] = {}

    @property
    def count(self) -> int:
        """How many candidates were looked at."""
        return len(self._known)

    def hits(self, found: Evidence, most: int) -> list[Hit]:
        """Return the best candidates that may be shown, at most `most`, best first."""
        hits: list[Hit] = []
        order: list[int] = np.argsort(-found.scores, kind="stable").tolist()
        signals = np.array(list(found.signals.values()))
        for at in order:
            if len(hits) >= most:
                break
            record = self._admitted(found.pool.rows[at].index)
            if record is None:
                continue
            speaking: dict[str, float] = dict(zip(found.signals, signals[:, at].tolist(), strict=True))
            parts = {name: weight * speaking[name] for name, weight in found.weighed.items()}
            hits.append(_toned(Hit(record, float(found.scores[at]), speaking, parts), self._tone))
        return sorted(hits, key=lambda hit: -hit.score)

    def _admitted(self, index: int) -> Record | None:
        """Return the record where it may be shown. Raises what reading the log raises."""
        if index not in self._known:
            record = self._read(index)
            fits = (
                record is not None
                and isinstance(record.body, ExperienceBody)
                and _in_scope(record, self._where)
                and (self._test is None or self._test(record))
                and _is_near(record.body, self._tone)
            )
            self._known[index] = record if fits else None
        return self._known[index]


def _in_scope(record: Record, where: Where) -> bool:
    """Hold what the log says of a record against the scope."""
    scope = record.body.scope
    return all(
        wanted is None or (scope is not None and getattr(scope, name) == wanted)
        for name, wanted in (
            ("user_id", where.user_id),
            ("agent_id", where.agent_id),
            ("run_id", where.run_id),
            ("session_id", where.session_id),
        )
    )


def _away(body: ExperienceBody, tone: Tone) -> float | None:
    """Return how far a record's tone is from the one that was asked for; None for a record without one."""
    felt = body.affect.vad if body.affect is not None else None
    if felt is None:
        return None
    return float(np.hypot(np.hypot(felt.v - tone.vad.v, felt.a - tone.vad.a), felt.d - tone.vad.d))


def _is_near(body: ExperienceBody, tone: Tone | None) -> bool:
    if tone is None or tone.within is None:
        return True
    away = _away(body, tone)
    return away is not None and away <= tone.within


def _toned(hit: Hit, tone: Tone | None) -> Hit:
    """Weigh a hit by tone, only where a tone was asked for."""
    body = hit.record.body
    away = _away(body, tone) if tone is not None and isinstance(body, ExperienceBody) else None
    return hit if away is None else raised(hit, "affect", max(0.0, 1.0 - away / 2), AFFECT_WEIGHT)


def raised(hit: Hit, name: str, value: float, weight: float) -> Hit:
    """Return a hit with one more signal that speaks for it."""
    return msgspec.structs.replace(
        hit,
        score=hit.score + weight * value,
        signals={**hit.signals, name: value},
        parts={**hit.parts, name: weight * value},
    )
