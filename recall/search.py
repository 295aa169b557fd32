"""A question through the stages: candidates, signals, score. What the index holds, nothing of the log yet."""

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np

from braid.recall.decompose import Question
from braid.recall.pool import Floats, Pool, pool
from braid.recall.rank import scored, weights
from braid.recall.retrieve import Found, Links, retrieve, share
from braid.recall.signals import signals
from braid.recall.vocabulary import Vocabulary
from braid.views.embedder import Embedder
from braid.views.search import Index, Where


class Evidence(msgspec.Struct, frozen=True):
    """The candidates side by side with what speaks for each, and their scores."""

    pool: Pool
    found: Found
    signals: Mapping[str, Floats]
    weighed: Mapping[str, float]
    scores: Floats


def evidence(
    question: Question,
    index: Index,
    where: Where,
    embedder: Embedder | None,
    vocabulary: Vocabulary | None = None,
    links: Links | None = None,
) -> Evidence:
    """Return the scored candidates of a question."""
    query: Any = embedder.embed([question.text or " "])[0] if embedder is not None else None
    found = retrieve(question, query, index, where, links)
    side_by_side = pool(list(found.rows.values()), index.vectors(sorted(found.rows)) if query is not None else {})
    speaking: dict[str, Floats] = signals(question, side_by_side, query, vocabulary)
    order = [row.index for row in side_by_side.rows]
    speaking["index_words"] = share(found.by_words, order)
    speaking["causal"] = np.array([found.by_links.get(at, 0.0) for at in order])
    weighed = weights().of(speaking)
    return Evidence(side_by_side, found, speaking, weighed, scored(speaking, weighed))
