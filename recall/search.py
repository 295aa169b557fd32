"""A question's candidates with what speaks for each, and their scores: all that the index can tell."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
import numpy as np

from braid.recall.decompose import Question
from braid.recall.pool import Floats, Pool, pool
from braid.recall.rank import scored, weights
from braid.recall.retrieve import DEEP, Links, RetrievedRows, Sessions, retrieve, share
from braid.recall.signals import signals
from braid.recall.topic import topic_signals
from braid.recall.vocabulary import LIMIT_S, Vocabulary
from braid.views.embedder import EmbeddingError
from braid.views.search import Index, Where


class ScoredCandidates(msgspec.Struct, frozen=True):
    """The candidates side by side with what speaks for each, and their scores."""

    pool: Pool
    found: RetrievedRows
    signals: Mapping[str, Floats]
    weighed: Mapping[str, float]
    scores: Floats
    trouble: Sequence[str]
    """What couldn't be asked of the index, and of the model."""


def evidence(
    question: Question,
    index: Index,
    where: Where,
    query: Any | None,
    vocabulary: Vocabulary | None = None,
    *,
    topic: Any | None = None,
    links: Links | None = None,
    sessions: Sessions | None = None,
    limit_s: float = LIMIT_S,
    deep: int = DEEP,
    keeps: Callable[[int], bool] | None = None,
) -> ScoredCandidates:
    """Return the scored candidates. `query` is the question's vector, None where meaning can't be asked for; `topic`
    that of its topic, the same where it isn't given.

    What `keeps` leaves out, by log index, has no part in how the others are scored.
    """
    found = retrieve(question, query, index, where, links, sessions=sessions, limit_s=limit_s, deep=deep)
    if keeps is not None:
        found = msgspec.structs.replace(found, rows={at: row for at, row in found.rows.items() if keeps(at)})
    side_by_side = pool(list(found.rows.values()), found.vectors, found.before)
    if not side_by_side.size:
        return ScoredCandidates(side_by_side, found, {}, {}, np.zeros(0), found.trouble)
    known = query if found.vectors else None
    nearest = partial(vocabulary.nearest, limit_s=limit_s) if vocabulary is not None else None
    trouble = found.trouble
    try:
        speaking = signals(question, side_by_side, known, nearest)
    except (EmbeddingError, TimeoutError) as error:  # the model was asked for words that are new to it
        trouble = (*trouble, f"meaning of single words: {error}")
        speaking = signals(question, side_by_side, known, None)
    speaking |= topic_signals(question, side_by_side, known if known is None or topic is None else topic)
    indexes = [row.index for row in side_by_side.rows]
    speaking["index_words"] = share(found.by_words, indexes)
    speaking["causal"] = np.array([found.by_links.get(at, 0.0) for at in indexes])
    speaking["recency"] = _recency(side_by_side) * question.latest
    weighed = weights().of(speaking)
    return ScoredCandidates(side_by_side, found, speaking, weighed, scored(speaking, weighed), trouble)


def _recency(pool: Pool) -> Floats:
    """Return how late each candidate is among them, in [0, 1]: counted where a question asks for the present state."""
    happened = np.array([float(row.happened_us) for row in pool.rows])
    low, high = happened.min(initial=np.inf), happened.max(initial=-np.inf)
    return (happened - low) / (high - low) if high > low else np.zeros(len(happened))
