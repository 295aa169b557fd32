"""What speaks for each candidate: one column a signal, each in [0, 1] or thereabouts. Pure.

Words by BM25 and dense cosine, of the turn itself, of the turn with its neighbours, and of its session; who speaks;
the time that was asked for; what kind of answer is wanted. SPEC §15 lists them.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np

from braid.recall.decompose import Question
from braid.recall.pool import NOBODY, Floats, Pool, by_session, occurrences, together
from braid.recall.traits import TRAITS
from braid.text.calendar import Span
from braid.text.words import stem, words

NearestWord = Callable[[Sequence[str], Sequence[Sequence[str]]], Any]
"""(words, spoken) → float32[n, m]: for each of n lists of words, the cosine of its nearest to each of m words."""
K1, B = 1.2, 0.75
_PLANS: Final = re.compile(
    r"\b(?:plan|planning|will|going to|upcoming|want|hope|intend)\b", flags=re.IGNORECASE
)


def signals(question: Question, pool: Pool, query: Any, nearest: NearestWord | None) -> dict[str, Floats]:
    """Return float64[n] for each signal. `query`: the question's vector, None without a model, as `nearest`."""
    names = {word for name in {row.name for row in pool.rows} for word in words(name or "")}
    wanted = [word for word in question.words if word not in names]
    stems = [stem(word) for word in wanted]
    asked = list(dict.fromkeys(stems))
    turn = occurrences(pool, asked)
    found = _words(turn, pool)
    found |= _meaning(pool, query) if query is not None else {}
    if nearest is not None and wanted:
        rarity = dict(zip(asked, idf(turn).tolist(), strict=True))
        found |= _soft(wanted, [rarity[each] for each in stems], pool, nearest)
    return found | _who(question, pool) | _when(question, pool) | _kind(question, pool)


def _words(turn: Floats, pool: Pool) -> dict[str, Floats]:
    own = np.column_stack([turn, pool.lengths])  # length last: it is added up as the words are
    around, session = together(pool, own, 1), by_session(pool, own)
    found: dict[str, Floats] = {}
    for name, counted in (
        ("words", own),
        ("words_1", around),
        ("words_2", together(pool, own, 2)),
        ("words_session", session),
    ):
        found[name] = bm25(counted[:, :-1], counted[:, -1])
    rarity = idf(turn)
    share = rarity / max(float(rarity.sum()), 1e-9)
    for name, counted in (("cover", own), ("cover_1", around), ("cover_session", session)):
        found[name] = (counted[:, :-1] > 0) @ share
    for name, steps in (("words_before", -1), ("words_after", 1)):
        found[name] = pool.at(found["words"], steps)
    return found


def idf(counts: Floats) -> Floats:
    """Return the inverse document frequency of each column, of the rows at hand."""
    having = (counts > 0).sum(axis=0)
    return np.asarray(np.log1p((len(counts) - having + 0.5) / (having + 0.5)), dtype=np.float64)


def bm25(counts: Floats, lengths: Floats) -> Floats:
    """Return float64[n] in [0, 1]: BM25 of n rows by how often each has each word, as a share of the best."""
    norm = K1 * (1 - B + B * lengths / max(float(lengths.mean()), 1e-9))
    scores = (counts * (K1 + 1) / (counts + np.maximum(norm, 1e-9)[:, None])) @ idf(counts)
    best: float = max(float(scores.max(initial=0.0)), 1e-9)
    return np.asarray(scores / best, dtype=np.float64)


def _meaning(pool: Pool, query: Any) -> dict[str, Floats]:
    asked = np.asarray(query, dtype=np.float32)
    cosine = dots(pool.vectors, asked)
    found = {"meaning": spread(cosine)}
    for reach, near in enumerate(window_cosines(pool, asked, 2), 1):
        found[f"meaning_{reach}"] = spread(near)
    best = np.full(int(pool.sessions.max(initial=-1)) + 1, -1.0)
    np.maximum.at(best, pool.sessions, cosine)
    found["meaning_session"] = spread(best[pool.sessions])
    for name, steps in (("meaning_before", -1), ("meaning_after", 1)):
        found[name] = pool.at(found["meaning"], steps)
    return found


def window_cosines(pool: Pool, asked: Any, most: int) -> Iterator[Floats]:
    """Yield the cosine to the mean of each turn and its neighbours one step away, then two …; these weigh 0.7."""
    padded = np.vstack([pool.vectors, np.zeros_like(pool.vectors[:1])])
    steps = [np.append(step, NOBODY) for step in (pool.before, pool.after)]
    places = [np.arange(pool.size) for _ in steps]
    total = pool.vectors.copy()
    for _ in range(most):
        places = [step[at] for step, at in zip(steps, places, strict=True)]
        total += np.float32(0.7) * (padded[places[0]] + padded[places[1]])
        length = np.sqrt(np.einsum("ij,ij->i", total, total))
        yield dots(total, asked) / np.maximum(length, 1e-9)


def dots(vectors: Any, asked: Any) -> Floats:
    """Return the dot product of each vector with the one asked for, without the threads of BLAS (see `vocabulary`)."""
    return np.asarray(np.einsum("ij,j->i", vectors, asked), dtype=np.float64)


def _soft(
    wanted: Sequence[str], rarity: Sequence[float], pool: Pool, nearest: NearestWord
) -> dict[str, Floats]:
    """Return how well each question word is met by the turn's nearest word, weighed by rarity."""
    best = np.clip((nearest(wanted, pool.spoken) - 0.3) / 0.7, 0.0, 1.0)
    near = spread(best @ np.array(rarity))
    return {"near_words": near, "near_before": pool.at(near, -1), "near_after": pool.at(near, 1)}


def spread(values: Floats) -> Floats:
    """Return the values moved and scaled to [0, 1]."""
    low, high = float(values.min(initial=np.inf)), float(values.max(initial=-np.inf))
    return (values - low) / (high - low) if high > low else np.zeros_like(values)


def _who(question: Question, pool: Pool) -> dict[str, Floats]:
    """Whether the one who speaks is the one the question names; nothing where it names all or none."""
    asked = set(words(question.text))
    meant = {name for name in {row.name for row in pool.rows} if name and not asked.isdisjoint(words(name))}
    named = np.array([row.name in meant for row in pool.rows])
    spoken = np.array([bool(row.name) for row in pool.rows])
    telling = bool(named.any()) and not bool(named[spoken].all())
    own = np.array([row.speaker for row in pool.rows]) == "user"
    if not spoken.any() and question.first_person != question.second_person and own.any() and not own.all():
        named, telling, spoken = (
            (own if question.first_person else ~own),
            True,
            np.ones(pool.size, dtype=bool),
        )
    return {
        "speaker": (named & telling).astype(float),
        "other_speaker": (~named & spoken & telling).astype(float),
    }


def _when(question: Question, pool: Pool) -> dict[str, Floats]:
    span = question.time
    if span is None:
        return {"date": np.zeros(pool.size)}
    return {"date": np.array([_fits(span, row.happened_us) for row in pool.rows])}


def _fits(span: Span, happened_us: int) -> float:
    """1 within the span, half in the days around it, half for the month of any year; less outside."""
    moment = datetime.fromtimestamp(happened_us / 1e6, UTC)
    if span.month is not None and not span.exact:
        if moment.month != span.month:
            return 0.0
        return 0.5 if span.day is None else max(0.3, 1.0 - 0.1 * abs(moment.day - span.day))
    early = (span.since - moment).total_seconds() / 86400 if span.since else -1.0
    late = (moment - span.until).total_seconds() / 86400 if span.until else -1.0
    outside = max(early, late)
    return 1.0 if outside < 0 else max(0.0, 0.5 - outside / 14)


def _kind(question: Question, pool: Pool) -> dict[str, Floats]:
    table = np.array(pool.traits).reshape(pool.size, len(TRAITS))
    has = dict(zip(TRAITS, table.T, strict=True))
    wants = question.intent
    return {
        "time_wanted": has["times"] * (wants in ("time", "duration")),
        "number_wanted": has["numbers"] * (wants in ("count", "duration")),
        "name_wanted": has["names"] * (wants in ("person", "place", "fact")),
        "reason_wanted": has["reasons"] * (wants == "reason"),
        "plan_wanted": has["future"] * bool(_PLANS.search(question.text)),
        "times": has["times"],
        "names": has["names"],
        "first_person": has["first"],
        "future": has["future"],
        "asks": has["asks"],
        "ends_asking": has["ends_asking"],
        "answers": pool.at(has["asks"], -1),
        "length": has["length"],
        "short": has["short"],
        "opens": (pool.before < 0).astype(float),
    }
