"""The pipeline of a question: decompose, retrieve, score, read from the log, re-rank. Never writes.

Whatever fails or takes too long leaves an answer from what remains, which says what it lacks.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final

import msgspec
import numpy as np

from braid.ledger.record.record import ExperienceBody, Record, Vad
from braid.ledger.record.source import SourceClass
from braid.recall.deadline import within
from braid.recall.decompose import Decomposer, Question, decompose
from braid.recall.filters import Test
from braid.recall.hit_reader import ClassAt, HitReader, ToneFilter, happened, is_within, placed, raised
from braid.recall.hits import Hit, RecallResult, beside
from braid.recall.memory import MemoryIndex
from braid.recall.pool import Floats
from braid.recall.rerank import RERANKED, reranked
from braid.recall.retrieve import DEEP, Links, Sessions, depth
from braid.recall.salience import salient
from braid.recall.search import ScoredCandidates, evidence
from braid.recall.tones import tone_of
from braid.recall.uncertainty import WEIGHT, answer_of, discriminative, entropy
from braid.recall.vocabulary import Vocabulary
from braid.stance.wording import Wording, wording_of
from braid.text.calendar import Span
from braid.text.rerank import AnswerScores
from braid.views.embedder import Embedder, EmbeddingError, embedded
from braid.views.errors import ViewError, told
from braid.views.search import Index, Row, Where

READ_AHEAD: Final = 5
"""How many hits beyond those asked for take part in the re-ranking."""
DEEPEST: Final = 6_400
"""How many candidates of words, and of meaning, are looked at for some that a filter lets through."""
DEEPER: Final = 4
CROWDED: Final = 640
"""As many, where outsiders' words take the places."""

CROSS_ENCODER: Final = "cross_encoder"
CrossEncoder = Callable[[str, Sequence[str]], Sequence[float]]
"""(question, texts) → how well each answers; higher is better."""
Lens = Callable[[Sequence[Hit]], Sequence[Hit]]


class RecallQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """A question with everything that bounds and shapes its answer."""

    text: str
    where: Where
    now: datetime
    top_k: int = 10
    test: Test | None = None
    """What a record must satisfy, beyond its scope."""
    filtered: bool = False
    """Whether somebody asked for that: since few are let through, as many are looked at then as for more hits."""
    trust: SourceClass = "outsider"
    """The lowest source class that is told."""
    tone: ToneFilter | None = None
    uncertainty: float = WEIGHT
    """What disagreement weighs; 0 switches it off."""
    answers: AnswerScores | None = None
    """What reads the best hits once more, together with the question; it sees to its own time limit."""
    cross_encoder: CrossEncoder | None = None
    lens: Lens | None = None
    limit_s: float = 5.0
    """How long each of the index's answers, the model and the cross-encoder may take."""
    index_s: float = 60.0
    """How long the index may take to catch up; it goes on meanwhile, the answer doesn't wait."""
    decomposer: Decomposer = decompose


class RecallSources(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked: the index, the log behind it, and the model."""

    index: Callable[[], Index]
    read: Callable[[int], Record | None]
    """A record of the log by index, verified; None for one that is forgotten or gone."""
    recent: Callable[[Where], Iterator[Row]]
    """Rows of the log's end, read without an index: what remains when there is none."""
    size: int
    links: Links | None = None
    sessions: Sessions | None = None
    embedder: Embedder | None = None
    vocabulary: Vocabulary | None = None
    tone_of: Callable[[Record], Vad | None] = tone_of
    """A record's tone, asked for only where the question asks for one; None for a record without."""
    wording_of: Callable[[Record], Wording | None] = wording_of
    """What is equal for records that say the same, which then stand once; None for one that stands alone."""
    source_of: Callable[[Record], SourceClass] | None = None
    """Whose words a record is, by class; without it all are the owner's."""
    class_at: ClassAt | None = None
    """The same of a candidate that nobody has read; without it each is read."""
    salience: Callable[[int], float] | None = None
    """What was learned of a record by log index, in [-1, 1]; 0 where nothing was."""


def recall(asking: RecallQuestion, memory: RecallSources) -> RecallResult:
    """Return what fits the question. Raises what reading the log raises: damage is never an empty answer."""
    trouble: list[str] = []
    question = asking.decomposer(asking.text, asking.now)
    index = _index(asking, memory, trouble)
    query, topic = _vectors(question, index, asking, memory, trouble)
    vocabulary = memory.vocabulary if query is not None else None
    question = _anchored(question, index, asking, memory, trouble)
    reading = HitReader(
        memory.read, asking.where, asking.test, asking.tone,
        tone_of=memory.tone_of, wording_of=memory.wording_of, source_of=memory.source_of, class_at=memory.class_at,
        trust=asking.trust,
    )  # fmt: skip
    ask = partial(
        evidence,
        question,
        where=asking.where,
        topic=topic,
        links=memory.links,
        sessions=memory.sessions,
        limit_s=asking.limit_s,
        keeps=reading.is_trusted if asking.trust != "outsider" else None,
    )
    found, hits = _hits(partial(ask, index=index, query=query, vocabulary=vocabulary), asking, reading)
    trouble += found
    if hits is None:
        trouble.append(
            "index: nothing could be had of it; only the newest records were searched, by their words"
        )
        hits = _hits(partial(ask, index=_newest(asking, memory), query=None), asking, reading)[1] or []
    hits = salient(hits, memory.salience)
    if memory.sessions is not None:
        hits = beside(hits, memory.sessions.before)
    hits, disagreement = _told_apart(question, hits, asking)
    hits = reranked(asking.text, hits, asking.answers)
    hits = placed(_crossed(question, hits, asking, trouble), asking.top_k)
    if asking.lens is not None:
        hits = list(asking.lens(hits))
    behind = max(memory.size - index.position, 0)
    return RecallResult(
        results=hits,
        position=index.position,
        behind_by=behind,
        degraded=trouble,
        disagreement=disagreement,
        beneath=reading.beneath,
    )


def _index(asking: RecallQuestion, memory: RecallSources, trouble: list[str]) -> Index:
    """Return the index; where there is none to be had, the end of the log, searched by words."""
    try:
        return within(asking.index_s, memory.index)
    except (ViewError, TimeoutError) as error:
        trouble.append(f"index: {told(error)}; only the newest records were searched, by their words")
    return _newest(asking, memory)


def _newest(asking: RecallQuestion, memory: RecallSources) -> Index:
    return MemoryIndex(list(memory.recent(asking.where)), {}, position=memory.size)


def _vectors(
    question: Question, index: Index, asking: RecallQuestion, memory: RecallSources, trouble: list[str]
) -> tuple[Any | None, Any | None]:
    """Return the vectors of the question and of its topic, had in one call; None where meaning can't be asked for."""
    embedder = memory.embedder
    if embedder is None or not question.text:
        return None, None
    if index.model != f"{embedder.name}@{embedder.version}":
        if not isinstance(index, MemoryIndex):
            trouble.append(
                f"meaning: the index holds vectors of {index.model or 'no model'}, not of {embedder.name}: they are"
                " being made again"
            )
        return None, None
    try:
        about = " ".join(question.topic) or question.text
        query, topic = within(asking.limit_s, lambda: embedded(embedder, [question.text, about]))
    except (EmbeddingError, TimeoutError) as error:
        trouble.append(f"meaning: {error}")
        return None, None
    if index.pending:
        trouble.append(
            f"meaning: {index.pending:,} of the store's records pending, which only words find until `braid fill`"
        )
    return query, topic


def _anchored(
    question: Question, index: Index, asking: RecallQuestion, memory: RecallSources, trouble: list[str]
) -> Question:
    """Give "before we moved" its time: that of the record which fits the event best, where there is one."""
    if question.event is None or question.time is not None:
        return question
    way, event = question.event

    try:
        best = within(asking.limit_s, lambda: index.words(event, 1, asking.where))
    except (ViewError, TimeoutError) as error:
        trouble.append(f"event: {error}")
        return question
    record = memory.read(best[0].index) if best else None
    if record is None or not is_within(record, asking.where):
        return question
    moment = datetime.fromtimestamp(happened(record) / 1e6, UTC)
    span = Span(None, moment) if way == "before" else Span(moment - timedelta(days=1), None)
    return msgspec.structs.replace(question, time=span)


def _hits(
    ask: Callable[..., ScoredCandidates], asking: RecallQuestion, reading: HitReader
) -> tuple[Sequence[str], list[Hit] | None]:
    """Return the best candidates that may be shown, more of them looked at while too few are let through; and what
    couldn't be asked. None instead of hits where the index gave nothing.

    Reading goes on from step to step: no record is read twice.
    """
    few = asking.filtered or asking.tone is not None
    most = asking.top_k + READ_AHEAD
    if asking.answers is not None:
        most = max(most, RERANKED)
    deep, before = max(depth(asking.top_k), DEEP if few else 0), 0
    while True:
        found = ask(deep=deep)
        hits = reading.hits(found, most)
        brought = found.found.brought
        if found.found.lost:
            return found.trouble, None
        if reading.is_crowded and CROWDED > found.found.brought > before and deep < CROWDED:
            before, deep = found.found.brought, min(deep * DEEPER, CROWDED)
            continue
        # Twins count: a store full of one sentence is not searched through for others.
        let_through = sum(1 + len(hit.also) for hit in hits)
        if let_through >= asking.top_k or brought <= before or 2 * brought < deep or found.trouble:
            why = reading.why_few()
            return (found.trouble if why is None else (*found.trouble, why)), hits
        if deep >= DEEPEST:
            told = (
                f"filters: they let {let_through} of the {reading.count:,} best candidates through, and no more were"
                " looked at; narrow the scope or the time"
            )
            return [told], hits
        before, deep = brought, min(deep * DEEPER, DEEPEST)


def _told_apart(question: Question, hits: list[Hit], asking: RecallQuestion) -> tuple[list[Hit], float]:
    scores: Floats = np.array([hit.score for hit in hits])
    answers = [answer_of(question, hit.text, _experience(hit.record)) for hit in hits]
    disagreement = entropy(answers, scores)[0]
    if not asking.uncertainty or not disagreement:
        return hits, disagreement
    rises = discriminative(answers, scores)
    risen = [
        raised(hit, "tells_apart", float(rise), asking.uncertainty)
        for hit, rise in zip(hits, rises, strict=True)
    ]
    return sorted(risen, key=lambda hit: -hit.score), disagreement


def _experience(record: Record) -> ExperienceBody | None:
    return record.body if isinstance(record.body, ExperienceBody) else None


def _crossed(question: Question, hits: list[Hit], asking: RecallQuestion, trouble: list[str]) -> list[Hit]:
    """Let the cross-encoder order the hits; when it fails or takes too long, the order before it stays.

    Its score takes the place of the sum, and is its only part then: what spoke for a hit before stays in `signals`.
    """
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
    crossed = [
        msgspec.structs.replace(
            hit, score=score, signals={**hit.signals, CROSS_ENCODER: score}, parts={CROSS_ENCODER: score}
        )
        for hit, score in zip(hits, scores.tolist(), strict=True)
    ]
    return sorted(crossed, key=lambda hit: -hit.score)
