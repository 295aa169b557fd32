"""How far a memory has come: from empty to expert, by what is in it, and what it lacks to the next stage. Pure.

A stage is reached when all of its counts are. They say how much there is to answer from, not how well it answers: that
is for `braid evaluate`.
"""

from collections.abc import Mapping
from typing import Final

import msgspec


class StageCounts(msgspec.Struct, frozen=True, kw_only=True):
    """What is in a memory, or what a stage asks for."""

    experiences: int = 0
    """What was said, done or seen; not what Braid made of it."""
    sessions: int = 0
    """Conversations; what has no session counts by its day."""
    claims: int = 0
    stances: int = 0
    answers: int = 0
    """Questions that got an answer which cites."""
    days: int = 0
    """Days on which something was said."""


EMPTY: Final = "empty"
STAGES: Final[Mapping[str, StageCounts]] = {
    "learning": StageCounts(experiences=1),
    "viable": StageCounts(experiences=10, sessions=1, claims=3),
    "functional": StageCounts(experiences=30, sessions=2, claims=10, answers=1),
    "mature": StageCounts(experiences=100, sessions=5, claims=25, stances=3, answers=10, days=7),
    "expert": StageCounts(experiences=500, sessions=20, claims=100, stances=20, answers=50, days=30),
}
"""In order; each asks for at least what the one before does. A careful reader finds a claim in about one turn of
twenty in small talk, and in most of those that say something of somebody."""
COUNTS: Final = """
SELECT
  (SELECT count(*) FROM said) AS experiences,
  (SELECT count(DISTINCT coalesce(session_id, strftime(happened_at, '%Y-%m-%d'))) FROM said) AS sessions,
  (SELECT count(*) FROM claims) AS claims,
  (SELECT count(*) FROM stances) AS stances,
  (SELECT count(DISTINCT e.log_index) FROM experiences e JOIN links l USING (log_index)
   WHERE e.method = 'answer' AND l.role = 'evidence') AS answers,
  (SELECT count(DISTINCT happened_at::DATE) FROM said) AS days
"""
"""One row, in the order of `StageCounts`, over the tables of the projection and `SAID`."""
SAID: Final = """
WITH said AS (
  SELECT session_id, happened_at FROM experiences
  WHERE type = 'occurrence' AND method NOT IN ('ask', 'answer'))
"""


class Stage(msgspec.Struct, frozen=True):
    """Where a memory stands. `lacks`: how many more of each the next stage asks for; `next` is None at the last."""

    name: str
    next: str | None
    lacks: Mapping[str, int]
    counts: StageCounts


def stage(counts: StageCounts) -> Stage:
    """Return the stage of a memory with so much in it."""
    reached = EMPTY
    for name, needs in STAGES.items():
        if lacks := _lacks(counts, needs):
            return Stage(reached, name, lacks, counts)
        reached = name
    return Stage(reached, None, {}, counts)


def _lacks(counts: StageCounts, needs: StageCounts) -> dict[str, int]:
    having = msgspec.structs.asdict(counts)
    wanted = msgspec.structs.asdict(needs)
    return {name: wanted[name] - count for name, count in having.items() if count < wanted[name]}
