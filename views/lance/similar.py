"""Which records mean nearly the same: each is held against those before it in the same memory (SPEC §10.10).

A record looks back at so many and no further, and what comes later changes nothing of what it found: so the work grows
with the records, not with their pairs, and the past shows what it showed then.
"""

from collections import defaultdict
from typing import Final, NamedTuple

import numpy as np

from braid.ledger.record.scope import OWNERS
from braid.views.embedder import Vectors
from braid.views.lance.schema import EXPERIENCE
from braid.views.lance.view import COPY_ROWS, LanceView, told_as_damage

LEAST: Final = 0.85
"""Of a greater cosine two records mean nearly the same."""
MOST_BEFORE: Final = 4_096
"""So many records before it a record is held against."""
MOST_EACH: Final = 5
"""So many of them, the nearest, are kept."""
MOST_RECORDS: Final = 100_000
"""What lies further back in the log than this is not looked at."""
_BLOCK: Final = 512


class Pairs(NamedTuple):
    """Pairs of records: the log index of each, that of an earlier one, and their cosine."""

    later: list[int]
    earlier: list[int]
    cosines: list[float]


def similar_pairs(view: LanceView) -> Pairs:
    """Return which records of a set mean nearly the same; raise DamagedViewError.

    Only of one user, agent, run and project; of nobody's, only of one session.
    """
    found = Pairs([], [], [])
    if view.stamp is None or not view.model.name:
        return found
    first = view.stamp.position - MOST_RECORDS
    where = f"kind = '{EXPERIENCE}' AND vector IS NOT NULL AND log_index >= {first}"
    indexes: list[int] = []
    parts: list[Vectors] = []
    memories = defaultdict[tuple[str | None, ...], list[int]](list)
    with told_as_damage("read"):
        for batch in view.table.batches(where, ["log_index", "vector", *OWNERS, "session_id"], COPY_ROWS):
            owners = zip(*(batch.column(name).to_pylist() for name in (*OWNERS, "session_id")), strict=True)
            for place, (*whose, session) in enumerate(owners, len(indexes)):
                memories[tuple(whose) if any(whose) else (session,)].append(place)
            indexes += batch.column("log_index").to_pylist()
            flat = np.from_dlpack(batch.column("vector").flatten()).astype(np.float32, copy=False)
            parts.append(flat.reshape(batch.num_rows, view.model.dimensions))
    vectors = np.concatenate(parts) if parts else np.empty((0, view.model.dimensions), dtype=np.float32)
    for places in memories.values():
        places.sort(key=indexes.__getitem__)
        rows, befores, cosines = nearest_before(vectors[places])
        found.later.extend(indexes[places[row]] for row in rows)
        found.earlier.extend(indexes[places[before]] for before in befores)
        found.cosines.extend(cosines)
    return found


def nearest_before(vectors: Vectors) -> tuple[list[int], list[int], list[float]]:
    """Return which of some unit vectors, float32[n, d] in their order, have a near one before them: the place of each,
    the other's, and their cosine. Of equally near ones the later is nearer.
    """
    rows: list[int] = []
    befores: list[int] = []
    cosines: list[float] = []
    for start in range(0, len(vectors), _BLOCK):
        block = vectors[start : start + _BLOCK]
        first = max(start - MOST_BEFORE, 0)
        own = np.arange(start, start + len(block))[:, None]
        others = np.arange(first, start + len(block))
        near = block @ vectors[first : start + len(block)].T
        near[(others >= own) | (others < own - MOST_BEFORE)] = 0.0
        row, at = np.nonzero(near > LEAST)
        cosine = (
            near[row, at].astype(np.float64).round(4)
        )  # what is as near as rounding tells is equally near
        order = np.lexsort((-at, -cosine, row))
        row, at, cosine = row[order], at[order], cosine[order]
        rank = np.arange(len(row)) - np.searchsorted(row, row)
        kept = rank < MOST_EACH
        rows += (row[kept] + start).tolist()
        befores += (at[kept] + first).tolist()
        cosines += np.minimum(cosine[kept], 1.0).tolist()
    return rows, befores, cosines
