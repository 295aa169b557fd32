"""The pipeline of a question: decompose, retrieve, score, read from the log, re-rank. Never writes.

Whatever fails or takes too long leaves an answer from what remains, which says what it lacks.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgspec
import numpy as np

from braid.ledger.record import ExperienceBody, Record, Vad
from braid.recall.decompose import Decomposer, Question, decompose
from braid.recall.filters import Test
from braid.recall.hits import Answer, Hit
from braid.recall.memory import MemoryIndex
from braid.recall.pool import Floats
from braid.recall.retrieve import Links
from braid.recall.search import Evidence, evidence
from braid.recall.times import Span
from braid.recall.uncertainty import WEIGHT, answer_of, discriminative, entropy
from braid.recall.vocabulary import Vocabulary
from braid.recall.within import within
from braid.views.embedder import Embedder, EmbeddingError, checked
from braid.views.errors import ViewError
from braid.views.search import Index, Row, Where

MAX_TOP_K: Final = 1_000
READ_AHEAD: Final = 5
"""How many hits beyond those asked for take part in the re-ranking."""
AFFECT_WEIGHT: Final = 4.0
"""What nearness in tone adds at most, where the caller asks for it."""

CrossEncoder = Callable[[str, Sequence[str]], Sequence[float]]
"""(question, texts) → how well each answers; higher is better."""
Lens = Callable[[Sequence[Hit]], Sequence[Hit]]


class Tone(msgspec.Struct, frozen=True):
    """The tone that a caller asks for: near `vad`, at most `within` away (Euclidean), or by nearness alone."""

    vad: Vad
    within: float | None = None


class Asking(msgspec.Struct, frozen=True, kw_only=True):
    """A question with everything that bounds and shapes its answer."""

    text: str
    where: Where
    now: datetime
    top_k: int = 10
    test: Test | None = None
    """What a record must satisfy, beyond its scope."""
    tone: Tone | None = None
    uncertainty: float = WEIGHT
    """What disagreement weighs; 0 switches it off."""
    cross_encoder: CrossEncoder | None = None
    lens: Lens | None = None
    limit_s: float = 5.0
    """How long each of the index's answers, the model and the cross-encoder may take."""
    index_s: float = 60.0
    """How long the index may take to catch up; it goes on meanwhile, the answer doesn't wait."""
    decomposer: Decomposer = decompose


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked: the index, the log behind it, and the model."""

    index: Callable[[], Index]
    read: Callable[[int], Record | None]
    """A record of the log by index, verified; None for one that is forgotten or gone."""
    recent: Callable[[Where], Iterator[Row]]
    """Rows of the log's end, read without an index: what remains when there is none."""
    size: int
    links: Links | None = None
    embedder: Embedder | None = None
    vocabulary: Vocabulary | None = None


def recall(asking: Asking, memory: Memory) -> Answer:
    """Return what fits the question. Raises what reading the log raises: damage is never an empty answer."""
    trouble: list[str] = []
    question = asking.decomposer(asking.text, asking.now)
    index = _index(asking, memory, trouble)
    query = _vector(question, index, asking, memory, trouble)
    vocabulary = memory.vocabulary if query is not None else None
    question = _anchored(question, index, asking, memory)
    found = evidence(
        question, index, asking.where, query, vocabulary, links=memory.links, limit_s=asking.limit_s
    )
    trouble += found.trouble
    hits = _read(found, asking, memory)
    hits, disagreement = _told_apart(question, hits, asking)
    hits = _crossed(question, hits, asking, trouble)[: asking.top_k]
    if asking.lens is not None:
        hits = list(asking.lens(hits))
    behind = max(memory.size - index.position, 0)
    return Answer(
        results=hits, position=index.position, behind_by=behind, degraded=trouble, disagreement=disagreement
    )


def _index(asking: Asking, memory: Memory, trouble: list[str]) -> Index:
    """Return the index; where there is none to be had, the end of the log, searched by words."""
    try:
        return within(asking.index_s, memory.index)
    except (ViewError, TimeoutError) as error:
        trouble.append(f"index: {error}; only the newest records were searched, by their words")
    rows = list(memory.recent(asking.where))
    return MemoryIndex(rows, {}, position=memory.size)


def _vector(
    question: Question, index: Index, asking: Asking, memory: Memory, trouble: list[str]
) -> Any | None:
    embedder = memory.embedder
    if embedder is None or not question.text:
        return None
    if index.model != f"{embedder.name}@{embedder.version}":
        if not isinstance(index, MemoryIndex):
            trouble.append(
                f"meaning: the index holds vectors of {index.model or 'no model'}, not of {embedder.name}: they are"
                " being made anew"
            )
        return None
    try:
        given = within(asking.limit_s, lambda: embedder.embed([question.text]))
        return checked(given, 1, embedder.dimensions, embedder.name)[0]
    except (EmbeddingError, TimeoutError, OSError) as error:
        trouble.append(f"meaning: {error}")
        return None


def _anchored(question: Question, index: Index, asking: Asking, memory: Memory) -> Question:
    """Give "before we moved" its time: that of the record which fits the event best, where there is one."""
    if question.event is None or question.time is not None:
        return question
    way, event = question.event
    best = index.words(event, 1, asking.where)
    row = index.take([best[0].index]).get(best[0].index) if best else None
    if row is None:
        return question
    moment = datetime.fromtimestamp(row.happened_us / 1e6, UTC)
    span = Span(None, moment) if way == "before" else Span(moment - timedelta(days=1), None)
    return msgspec.structs.replace(question, time=span)


def _read(found: Evidence, asking: Asking, memory: Memory) -> list[Hit]:
    """Read the best candidates from the log, as many as the answer and its re-ranking take."""
    hits: list[Hit] = []
    order: list[int] = np.argsort(-found.scores, kind="stable").tolist()
    for at in order:
        if len(hits) >= asking.top_k + READ_AHEAD:
            break
        record = memory.read(found.pool.rows[at].index)
        if (
            record is None
            or not isinstance(record.body, ExperienceBody)
            or not _in_scope(record, asking.where)
        ):
            continue
        if asking.test is not None and not asking.test(record):
            continue
        speaking = {name: float(values[at]) for name, values in found.signals.items()}
        parts = {name: weight * speaking[name] for name, weight in found.weighed.items()}
        hit = _toned(Hit(record, float(found.scores[at]), speaking, parts), asking.tone)
        if hit is not None:
            hits.append(hit)
    return sorted(hits, key=lambda hit: -hit.score)


def _in_scope(record: Record, where: Where) -> bool:
    """Hold what the log says of a record against the scope: the index has no last word."""
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


def _toned(hit: Hit, tone: Tone | None) -> Hit | None:
    """Weigh a hit by tone, only where a tone was asked for; None for one that is too far from it."""
    if tone is None:
        return hit
    body = hit.record.body
    felt = body.affect.vad if isinstance(body, ExperienceBody) and body.affect is not None else None
    if felt is None:
        return None if tone.within is not None else hit
    away = float(np.hypot(np.hypot(felt.v - tone.vad.v, felt.a - tone.vad.a), felt.d - tone.vad.d))
    if tone.within is not None and away > tone.within:
        return None
    return _with(hit, "affect", max(0.0, 1.0 - away / 2), AFFECT_WEIGHT)


def _with(hit: Hit, name: str, value: float, weight: float) -> Hit:
    return msgspec.structs.replace(
        hit,
        score=hit.score + weight * value,
        signals={**hit.signals, name: value},
        parts={**hit.parts, name: weight * value},
    )


def _told_apart(question: Question, hits: list[Hit], asking: Asking) -> tuple[list[Hit], float]:
    scores: Floats = np.array([hit.score for hit in hits])
    answers = [answer_of(question, hit.text, _experience(hit.record)) for hit in hits]
    disagreement = entropy(answers, scores)[0]
    if not asking.uncertainty or not disagreement:
        return hits, disagreement
    rises = discriminative(answers, scores)
    raised = [
        _with(hit, "tells_apart", float(rise), asking.uncertainty)
        for hit, rise in zip(hits, rises, strict=True)
    ]
    return sorted(raised, key=lambda hit: -hit.score), disagreement


def _experience(record: Record) -> ExperienceBody | None:
    return record.body if isinstance(record.body, ExperienceBody) else None


def _crossed(question: Question, hits: list[Hit], asking: Asking, trouble: list[str]) -> list[Hit]:
    """Let the cross-encoder order the hits; when it fails or takes too long, the order before it stays."""
    encoder = asking.cross_encoder
    if encoder is None or not hits:
        return hits
    texts = [hit.text for hit in hits]
    try:
        scores = np.asarray(within(asking.limit_s, lambda: encoder(question.text, texts)), dtype=np.float64)
    except Exception as error:
        trouble.append(f"cross-encoder: {error}")
        return hits
    if scores.shape != (len(hits),) or not np.isfinite(scores).all():
        trouble.append("cross-encoder: it gave something that is no score for each text")
        return hits
    signals: list[Mapping[str, float]] = [
        {**hit.signals, "cross_encoder": float(score)} for hit, score in zip(hits, scores, strict=True)
    ]
    crossed = [
        msgspec.structs.replace(hit, score=float(score), signals=signal)
        for hit, score, signal in zip(hits, scores, signals, strict=True)
    ]
    return sorted(crossed, key=lambda hit: -hit.score)
