"""What speaks for each candidate by the topic of a question: its words but for those by which it is put. Pure.

Names of speakers count here, since a role such as "user interface" is a topic too. What is said around a turn counts by
how near it stands, so that a turn which says nothing on its own takes its meaning from its session.
"""

from typing import Any, Final

import numpy as np

from braid.recall.decompose import Question
from braid.recall.pool import NOBODY, Floats, Pool, occurrences, together
from braid.recall.signals import bm25, dots, idf, spread, window_cosines
from braid.text.words import stem

NEAR: Final = 3.0
"""How many turns away what was said counts for 1/e, for what is said around a turn."""
WIDE: Final = 10.0
"""The same, for the stretch of a session that a turn is in."""


def topic_signals(question: Question, pool: Pool, topic: Any | None) -> dict[str, Floats]:
    """Return float64[n] for each signal. `topic`: the vector of the question's topic, None where there is none."""
    found = _words(question, pool)
    if topic is not None:
        asked = np.asarray(topic, dtype=np.float32)
        *_, wide = window_cosines(pool, asked, 2)
        found |= {"topic_meaning": spread(dots(pool.vectors, asked)), "topic_meaning_2": spread(wide)}
    return found | _nearby(
        pool, {name: found[name] for name in ("topic_words", "topic_meaning") if name in found}
    )


def _words(question: Question, pool: Pool) -> dict[str, Floats]:
    asked = list(dict.fromkeys(stem(word) for word in question.topic))
    own = np.column_stack([occurrences(pool, asked), pool.lengths])
    around = together(pool, own, 2)
    rare = idf(own[:, :-1])
    return {
        "topic_words": bm25(own[:, :-1], own[:, -1]),
        "topic_words_2": bm25(around[:, :-1], around[:, -1]),
        "topic_cover": (own[:, :-1] > 0) @ (rare / max(float(rare.sum()), 1e-9)),
    }


def _nearby(pool: Pool, own: dict[str, Floats]) -> dict[str, Floats]:
    """Return, for each of these, its mean around each row and its sum over a wider stretch of the session."""
    places = _places(pool)
    away = np.abs(places[:, None] - places[None, :])
    away[pool.sessions[:, None] != pool.sessions[None, :]] = np.inf
    np.fill_diagonal(away, np.inf)
    near, wide = np.exp(-away / NEAR), np.exp(-away / WIDE)
    beside = np.maximum(near.sum(axis=1), 1e-9)
    found: dict[str, Floats] = {}
    for name, values in own.items():
        found[f"{name}_around"] = near @ values / beside
        stretch = wide @ values
        found[f"{name}_stretch"] = stretch / max(float(stretch.max(initial=0.0)), 1e-9)
    return found


def _places(pool: Pool) -> Floats:
    """Return float64[n], where each row stands in its session, in turns.

    What was read of turns stands between them in the log: rows that follow each other show how much of it there is.
    """
    order = [row.index for row in pool.rows]
    before: list[int] = pool.before.tolist()
    steps = [order[at] - order[earlier] for at, earlier in enumerate(before) if earlier != NOBODY]
    step = max(sum(steps) / len(steps), 1.0) if steps else 1.0
    found = np.zeros(len(order))
    last: dict[int, int] = {}
    for at, session in enumerate(pool.sessions.tolist()):
        earlier = last.get(session)
        if before[at] != NOBODY:
            found[at] = found[before[at]] + 1.0
        elif earlier is not None:
            found[at] = found[earlier] + max((order[at] - order[earlier]) / step, 1.0)
        last[session] = at
    return found
