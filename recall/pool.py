"""The candidates of one question side by side, as arrays: who stands next to whom, their words and vectors.

Everything here is arithmetic over the rows that retrieval brought; nothing is asked of the index again.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from braid.ledger.record.scope import ids_of
from braid.recall.traits import traits
from braid.text.words import STOP, stem, words
from braid.views.search import Row

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]
NOBODY = -1


class Pool(msgspec.Struct, frozen=True):
    """The rows in the log's order, what each says, and the places of their neighbours (NOBODY where none)."""

    rows: list[Row]
    stems: Sequence[Sequence[str]]
    """The stem of each telling word of each row."""
    lengths: Floats
    """How many telling words each row has."""
    spoken: Sequence[Sequence[str]]
    """The telling words of each row as they stand."""
    traits: Sequence[tuple[float, ...]]
    """What kind of thing each row says (`TRAITS`)."""
    vectors: npt.NDArray[np.float32]
    """float32[n, d]; zeros where a row has no vector (or d is 0)."""
    sessions: Places
    """The session of each row, numbered from 0."""
    before: Places
    after: Places

    @property
    def size(self) -> int:
        """How many rows there are."""
        return len(self.rows)

    def at(self, values: Floats, steps: int) -> Floats:
        """Return, for each row, the value of the row so many turns before (< 0) or after it; 0 where there is none."""
        places = np.arange(self.size)
        step = self.before if steps < 0 else self.after
        for _ in range(abs(steps)):
            places = np.where(places == NOBODY, NOBODY, step[places])
        found = values[places]
        found[places == NOBODY] = 0.0
        return found


def pool(found: Sequence[Row], vectors: Mapping[int, Any], order: Mapping[int, int] | None = None) -> Pool:
    """Return the pool of these rows; `order` names the turn before each in its session, by log index."""
    rows = sorted(found, key=lambda row: row.index)
    numbers: dict[object, int] = {}
    sessions = np.array([numbers.setdefault(session_of(row), len(numbers)) for row in rows], dtype=np.int64)
    before, after = np.full(len(rows), NOBODY), np.full(len(rows), NOBODY)
    places = {row.index: place for place, row in enumerate(rows)}
    for index, earlier in (order or {}).items():
        place, near = places.get(index), places.get(earlier)
        if place is not None and near is not None:
            before[place], after[near] = near, place
    width = len(next(iter(vectors.values()), ()))
    stacked = np.zeros((len(rows), width), dtype=np.float32)
    for place, row in enumerate(rows):
        if row.index in vectors:
            stacked[place] = vectors[row.index]
    texts = [heard(said(row)) for row in rows]
    lengths = np.array([float(len(text.stems)) for text in texts])
    return Pool(
        rows, [text.stems for text in texts], lengths, [text.spoken for text in texts],
        [text.traits for text in texts], stacked, sessions, before, after,
    )  # fmt: skip


def said(row: Row) -> str:
    """Return what a turn says, without the name of who says it, which the index puts before it."""
    return row.text.removeprefix(f"{row.name}: ") if row.name else row.text


def session_of(row: Row) -> tuple[str | None, ...]:
    """Return what names the session of a turn: whose it is, and its own name."""
    return ids_of(row)


class Heard(msgspec.Struct, frozen=True, gc=False):
    """What a turn says, taken apart. Thousands of them are kept: the garbage collector need not go through them."""

    stems: tuple[str, ...]
    """The stem of each telling word."""
    spoken: tuple[str, ...]
    """The telling words as they stand."""
    traits: tuple[float, ...]


@lru_cache(maxsize=50_000)
def heard(text: str) -> Heard:
    """Take a turn apart; kept, since the same turns are candidates again and again."""
    everything = words(text)
    said = tuple([word for word in everything if word not in STOP])
    return Heard(tuple(map(stem, said)), said, traits(text, everything))


def occurrences(pool: Pool, stems: Sequence[str]) -> Floats:
    """Return float64[n, m]: how often each of the m stems stands in each row."""
    found = np.zeros((pool.size, len(stems)))
    columns = {each: column for column, each in enumerate(stems)}
    asked = frozenset(stems)
    for row, said in enumerate(pool.stems):
        for each in asked.intersection(said):
            found[row, columns[each]] = said.count(each)
    return found


def together(pool: Pool, values: Floats, reach: int) -> Floats:
    """Return the sums over each row and its neighbours up to `reach` turns away."""
    return values + sum(
        (pool.at(values, steps) for steps in range(-reach, reach + 1) if steps), np.zeros_like(values)
    )


def by_session(pool: Pool, values: Floats) -> Floats:
    """Return the sums over each row's session, as far as it is in the pool."""
    sums = np.zeros((int(pool.sessions.max(initial=-1)) + 1, *values.shape[1:]))
    np.add.at(sums, pool.sessions, values)
    return sums[pool.sessions]
