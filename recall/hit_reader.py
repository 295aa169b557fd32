"""Candidates → hits: each read from the log and verified, held against scope, filters and tone. The index has no last
word on what is shown.
"""

from collections.abc import Callable, Sequence
from math import inf
from typing import Final

import msgspec
import numpy as np

from braid.ledger.record.record import ExperienceBody, Record, Vad, is_reading
from braid.ledger.record.scope import in_scope
from braid.ledger.record.source import SourceClass, is_least
from braid.recall.filters import Test
from braid.recall.hits import Hit
from braid.recall.search import ScoredCandidates
from braid.recall.tones import tone_of
from braid.stance.wording import Wording, wording_of
from braid.views.search import Where
from braid.views.values import microseconds

AFFECT_WEIGHT: Final = 4.0
"""What nearness in tone adds at most, where the caller asks for it."""


ClassAt = Callable[[int], tuple[int, SourceClass] | None]
"""Of a candidate by log index: what stands for it now, and whose words that is; None where nothing does. Known of most
without reading them."""


class ToneFilter(msgspec.Struct, frozen=True):
    """The tone that a caller asks for: near `vad`, at most `within` away (Euclidean), or by nearness alone."""

    vad: Vad
    within: float | None = None


def placed(hits: Sequence[Hit], places: int) -> list[Hit]:
    """Return the first of some hits, in their order: outsiders' fill half of the places at most while others fit."""
    outsiders = [at for at, hit in enumerate(hits) if hit.source == "outsider"]
    others = len(hits) - len(outsiders)
    room = max(places // 2, places - others)
    left_out = set(outsiders[room:])
    return [hit for at, hit in enumerate(hits) if at not in left_out][:places]


class HitReader:
    """What one question reads: each record once, however often its candidates are gone through."""

    def __init__(
        self,
        read: Callable[[int], Record | None],
        where: Where,
        test: Test | None,
        tone: ToneFilter | None,
        *,
        tone_of: Callable[[Record], Vad | None] = tone_of,
        wording_of: Callable[[Record], Wording | None] = wording_of,
        source_of: Callable[[Record], SourceClass] | None = None,
        class_at: ClassAt | None = None,
        trust: SourceClass = "outsider",
    ) -> None:
        self._read = read
        self._source_of = source_of
        self._class_at = class_at
        self._trust: SourceClass = trust
        self._beneath: set[int] = set()
        self._records: dict[int, Record | None] = {}
        self.is_crowded = False
        """Whether outsiders' words fill places: of those that were looked at last, too few were others'."""
        self._where = where
        self._test = test
        self._tone = tone
        self._tone_of = tone_of
        self._wording_of = wording_of
        self._known: dict[int, Record | None] = {}
        self._toneless = 0
        self._nearest = inf
        """How near in tone the nearest of those that were looked at is, near enough or not."""

    @property
    def count(self) -> int:
        """How many candidates were looked at."""
        return len(self._known)

    @property
    def beneath(self) -> int:
        """How many were left out since their source class is beneath the trust that was asked for."""
        return len(self._beneath)

    def why_few(self) -> str | None:
        """Return why the tone that was asked for let nothing through; None where none was asked for, or some did."""
        wanted = self._tone.within if self._tone is not None else None
        if wanted is None or not self._known or self._nearest <= wanted:
            return None
        if self._nearest == inf:
            return f"affect: none of the {self._toneless:,} best candidates has a tone"
        return (
            f"affect: none of the {self.count:,} best candidates is within {wanted:g} of that tone, the nearest at"
            f" {self._nearest:.2f}; {self._toneless:,} have none"
        )

    def hits(self, found: ScoredCandidates, most: int) -> list[Hit]:
        """Return the best candidates that may be shown, at most `most`, best first.

        Of those that say the same the first stands, with the rest beneath it. Outsiders' words take half of the
        places at most while others fit: whoever may send a mail can fill it with the words of every question.
        """
        hits, aside = self._in_order(found, most, most // 2)
        self.is_crowded = bool(aside) and len(hits) < most
        hits += aside[: most - len(hits)]
        return sorted(hits, key=lambda hit: -hit.score)

    def _in_order(self, found: ScoredCandidates, most: int, outside: int) -> tuple[list[Hit], list[Hit]]:
        """Return the best hits, at most `outside` of them outsiders', and the outsiders' that were put aside."""
        hits: list[Hit] = []
        aside: list[Hit] = []
        others = 0
        places: dict[Wording, int] = {}
        shown: set[int] = set()
        order: list[int] = np.argsort(-found.scores, kind="stable").tolist()
        signals = np.array(list(found.signals.values()))
        for at in order:
            if len(hits) >= most:
                break
            record = self._admitted(found.pool.rows[at].index)
            if record is None or record.index in shown:
                continue
            # What was replaced brings what replaced it, which may have been found itself.
            shown.add(record.index)
            source = self._source(record)
            said = self._wording_of(record)
            if source == "outsider":  # their saying it too bears nothing out
                said = None
            if said is not None and places.setdefault(said, len(hits)) < len(hits):
                same = hits[places[said]]
                hits[places[said]] = msgspec.structs.replace(same, also=(*same.also, record))
                continue
            speaking: dict[str, float] = dict(zip(found.signals, signals[:, at].tolist(), strict=True))
            parts = {name: weight * speaking[name] for name, weight in found.weighed.items()}
            hit = self._toned(Hit(record, float(found.scores[at]), speaking, parts, source=source))
            if source == "outsider" and others >= outside:
                aside.append(hit)
                continue
            others += source == "outsider"
            hits.append(hit)
        return hits, aside

    def _source(self, record: Record) -> SourceClass:
        return "owner" if self._source_of is None else self._source_of(record)

    def _admitted(self, index: int) -> Record | None:
        """Return the record where it may be shown. Raises what reading the log raises."""
        if index not in self._known:
            record = self._record(index)
            fits = (
                record is not None
                and is_admitted(record, self._where, self._test)
                and self.is_trusted(index)
                and self._is_near(record)
            )
            self._known[index] = record if fits else None
        return self._known[index]

    def is_trusted(self, index: int) -> bool:
        """Whether what a candidate leads to is of a source class that is trusted; what leads nowhere is."""
        found = self._class_read(index) if self._class_at is None else self._class_at(index)
        if found is None or is_least(found[1], self._trust):
            return True
        self._beneath.add(found[0])
        return False

    def _class_read(self, index: int) -> tuple[int, SourceClass] | None:
        """As `class_at`, by reading."""
        record = self._record(index)
        return None if record is None else (record.index, self._source(record))

    def _record(self, index: int) -> Record | None:
        if index not in self._records:
            self._records[index] = self._read(index)
        return self._records[index]

    def _away(self, record: Record) -> float | None:
        """Return how far a record's tone is from the one that was asked for; None where either is none."""
        tone = self._tone
        felt = None if tone is None else self._tone_of(record)
        if felt is None or tone is None:
            return None
        return float(np.hypot(np.hypot(felt.v - tone.vad.v, felt.a - tone.vad.a), felt.d - tone.vad.d))

    def _is_near(self, record: Record) -> bool:
        if self._tone is None or self._tone.within is None:
            return True
        away = self._away(record)
        if away is None:
            self._toneless += 1
            return False
        self._nearest = min(self._nearest, away)
        return away <= self._tone.within

    def _toned(self, hit: Hit) -> Hit:
        """Weigh a hit by tone, only where a tone was asked for."""
        away = self._away(hit.record)
        return hit if away is None else raised(hit, "affect", max(0.0, 1.0 - away / 2), AFFECT_WEIGHT)


def is_admitted(record: Record, where: Where, test: Test | None) -> bool:
    """Whether a record may be shown to who asks: of the scope, of the time, and as the filters say."""
    return (
        isinstance(record.body, ExperienceBody)
        and not is_reading(record.body)  # it would stand beside its turn, and say the same
        and is_within(record, where)
        and (test is None or test(record))
    )


def is_within(record: Record, where: Where) -> bool:
    """Hold what the log says of a record against the scope and the time: the index is not believed in either."""
    return in_scope(record.body.scope, where) and _in_time(record, where)


def happened(record: Record) -> int:
    """Return when a record happened, by the log, in microseconds since 1970."""
    return microseconds(record.body.occurred_at or record.created_at)


def _in_time(record: Record, where: Where) -> bool:
    if where.since_us is None and where.until_us is None:
        return True
    at = happened(record)
    after = where.since_us is None or at >= where.since_us
    return after and (where.until_us is None or at < where.until_us)


def raised(hit: Hit, name: str, value: float, weight: float) -> Hit:
    """Return a hit with one more signal that speaks for it."""
    return msgspec.structs.replace(
        hit,
        score=hit.score + weight * value,
        signals={**hit.signals, name: value},
        parts={**hit.parts, name: weight * value},
    )
