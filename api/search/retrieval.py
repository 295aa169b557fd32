"""From a question to hits: what a caller asks is handed to the pipeline of recall, over this store.

Each hit was read from the log and verified. Nothing is written.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from braid.ledger.record.record import ANSWER, ASK, REFLECTION, RESULT, Record, Vad
from braid.ledger.record.source import SourceClass, is_least
from braid.ledger.record.standing import Standings
from braid.log import operations as log
from braid.operation import Json
from braid.recall.deadline import within
from braid.recall.decompose import Decomposer, decompose
from braid.recall.filters import Test, compiled, speaks_of
from braid.recall.hit_reader import ToneFilter, is_admitted, is_within
from braid.recall.hits import Hit, RecallResult
from braid.recall.lens_filter import through
from braid.recall.recall import CrossEncoder, Lens, RecallQuestion, RecallSources, recall
from braid.recall.uncertainty import WEIGHT
from braid.search.memory import memory
from braid.search.question import AskedTone, Question
from braid.search.reranking import answers_of
from braid.session import Session
from braid.stance.claims import OWN_METHOD
from braid.views.catalog.lookup import Glance
from braid.views.errors import ViewBusyError, told
from braid.views.search import Where
from braid.views.values import microseconds

if TYPE_CHECKING:
    from braid.views.catalog.projection import Catalog

NOT_OWN: Final[dict[str, Json]] = {"NOT": {"method": {"in": [ASK, ANSWER, RESULT, REFLECTION, OWN_METHOD]}}}
"""The filter that leaves out what a store wrote about itself: questions, their answers, conclusions. They say again, in
the very words of the question, what is remembered."""
_is_told: Final = compiled(NOT_OWN)
LOCK_S: Final = 0.5
"""How long a question waits for another process that is at work on the catalogue, as it does for one at the index."""


def find(
    session: Session,
    asked: Question,
    *,
    cross_encoder: CrossEncoder | None = None,
    hit_lens: Lens | None = None,
    decomposer: Decomposer | None = None,
    records: dict[int, Record] | None = None,
) -> RecallResult:
    """Return what fits a question, as values: hits with their verified records. See `recall`.

    `records`: those that were read for the same answer before, by log index; what is read now is put among them.

    Raises ValueError where `rerank` and a cross-encoder are both given.
    """
    if asked.rerank and cross_encoder is not None:
        raise ValueError("rerank and cross_encoder both order the hits: give one of them")
    session.refresh()
    question = question_of(
        session, asked, cross_encoder=cross_encoder, hit_lens=hit_lens, decomposer=decomposer
    )
    trouble: list[str] = []
    if asked.rerank:
        answers = answers_of(session, trouble, asked.limit_s)
        question = msgspec.structs.replace(question, answers=answers)
    last = None if asked.now is None else microseconds(question.now)
    found = _found(session, question, last, marked=asked.superseded is not None, records=records)
    if not trouble:
        return found
    return msgspec.structs.replace(found, degraded=[*found.degraded, *dict.fromkeys(trouble)])


def question_of(
    session: Session,
    asked: Question,
    *,
    cross_encoder: CrossEncoder | None = None,
    hit_lens: Lens | None = None,
    decomposer: Decomposer | None = None,
) -> RecallQuestion:
    """Return a caller's question as the pipeline takes it. Raises ValueError for filters and a past that are none."""
    return RecallQuestion(
        text=asked.query,
        where=Where(
            user_id=asked.user_id,
            agent_id=asked.agent_id,
            run_id=asked.run_id,
            project_id=asked.project_id,
            session_id=asked.session_id,
            below=session.size_at(asked.as_of, asked.as_of_time),
            until_us=None if asked.valid_at is None else 1 + microseconds(asked.valid_at),
        ),
        now=now_of(session, asked),
        top_k=asked.top_k,
        test=_heard(session, asked, _test(asked.filters)),
        filtered=bool(asked.filters) or asked.audience != "owner",
        trust=asked.trust,
        tone=_tone(asked.affect),
        uncertainty=WEIGHT if asked.uncertainty is None else asked.uncertainty,
        cross_encoder=cross_encoder,
        lens=hit_lens if asked.lens is None else _lens(session, asked.lens),
        limit_s=asked.limit_s,
        index_s=asked.index_s,
        decomposer=decomposer or decompose,
    )


def now_of(session: Session, asked: Question) -> datetime:
    """Return what "last month" is relative to: the time that was given or is asked about, else that of the store."""
    if asked.now is not None:
        return asked.now
    if asked.valid_at is not None:
        return asked.valid_at
    size = session.size_at(asked.as_of, asked.as_of_time)
    if size is None:
        return session.now().astimezone(UTC)
    return datetime.fromisoformat(session.reader.envelope(size - 1).created_at)


def _test(filters: Mapping[str, Any] | None) -> Test:
    """Return the filters' test, without what the store wrote itself; filters that speak of `method` or `id` may ask
    for that.
    """
    test = compiled(filters)
    if speaks_of(filters, ("method", "id")):
        return test
    return lambda record: test(record) and _is_told(record)


def _heard(session: Session, asked: Question, test: Test) -> Test:
    """Return a test that also leaves out what isn't for the audience."""
    if asked.audience == "owner":
        return test
    from braid.search.audience import may_hear

    return lambda record: test(record) and may_hear(session, record, asked.audience)


def _tone(asked: AskedTone | None) -> ToneFilter | None:
    return None if asked is None else ToneFilter(Vad(v=asked.v, a=asked.a, d=asked.d), asked.within)


def _lens(session: Session, name: str) -> Lens:
    from braid.lens.definitions import lens_named

    return through(lens_named(session, name))


def _found(
    session: Session,
    question: RecallQuestion,
    last: int | None,
    *,
    marked: bool,
    records: dict[int, Record] | None,
) -> RecallResult:
    """Return the answer of the pipeline; `last`: what happened later, in microseconds since 1970, is not quoted."""
    session.reader.need_vault()
    embedder, vocabulary, shelf = session.embedding()
    search = session.views.search
    with closing(glanced(session.views.catalog, question)) as glance:
        standings = session.reader.standings(question.where.below)
        asked_of = memory(
            session, vocabulary, embedder, shelf,
            glance=glance, standings=standings, last=last, marked=marked, records=records,
        )  # fmt: skip
        answer = recall(question, asked_of)
        for again in (False, True):
            if not search.mend(again=again):
                break
            answer = recall(question, asked_of)
    answer = msgspec.structs.replace(
        answer,
        degraded=[_placeless(lack, session.path) for lack in (*answer.degraded, *glance.trouble)],
        rebuilt=search.rebuilt(),
    )
    if not marked:
        return answer
    return msgspec.structs.replace(answer, results=_beneath(answer.results, standings, question, asked_of))


def proved(session: Session, answer: RecallResult) -> RecallResult:
    """Return an answer with an offline proof of each hit, and one of all."""
    if not answer.results:
        return answer
    together = log.prove_many(session, log.ProveMany(ids=tuple(hit.id for hit in answer.results))).proof
    hits = [
        msgspec.structs.replace(hit, proof=log.prove(session, log.Prove(id=hit.id)).proof)
        for hit in answer.results
    ]
    return msgspec.structs.replace(answer, results=hits, proof=together)


def _beneath(
    hits: Sequence[Hit], standings: Standings, question: RecallQuestion, sources: RecallSources
) -> list[Hit]:
    """Return hits with each that was replaced marked, beneath what replaced it, which is put in where it is missing;
    not where a filter leaves that out. What another scope, or a later time, replaced is left out.
    """
    placed: dict[int, list[Hit]] = {}
    for hit in hits:
        instead = standings.of(hit.index).by
        if instead is None:
            placed.setdefault(hit.index, []).insert(0, hit)
            continue
        by = sources.read(instead)
        if by is None or not is_within(by, question.where):
            continue
        asked_for = is_admitted(by, question.where, question.test) and _is_trusted(sources, by, question)
        group = placed.setdefault(instead, [_in_place(hit, by, sources.source_of)] if asked_for else [])
        group.append(msgspec.structs.replace(hit, superseded_by=by.id))
    return [hit for group in placed.values() for hit in _once(group)][: question.top_k]


def _is_trusted(sources: RecallSources, record: Record, question: RecallQuestion) -> bool:
    return sources.source_of is None or is_least(sources.source_of(record), question.trust)


def _in_place(hit: Hit, by: Record, source_of: Callable[[Record], SourceClass] | None) -> Hit:
    """Return what replaced a hit, as a hit."""
    return Hit(by, hit.score, hit.signals, hit.parts, source="owner" if source_of is None else source_of(by))


def _once(group: Sequence[Hit]) -> list[Hit]:
    return list({hit.index: hit for hit in reversed(group)}.values())[::-1]


def _placeless(lack: str, store: Path) -> str:
    """Leave out where the store lies, which LanceDB names: answers go to models, and into signed records."""
    return lack.replace(f"{store.absolute()}/", "")


def glanced(catalog: "Catalog", question: RecallQuestion) -> Glance:
    """Return the catalogue for one question: at the log's end, or as it stands where it can't be brought there in time.

    What this process has to do for that itself is given as long as the index is, and goes on behind the answer.
    """
    if catalog.is_followed:  # most questions: no thread is asked for nothing
        return Glance(catalog, question.limit_s)
    lock_s = min(LOCK_S, question.limit_s)
    try:
        within(question.index_s, partial(catalog.follow_within, question.limit_s, lock_s))
    except (ViewBusyError, TimeoutError) as error:
        return Glance(catalog, question.limit_s, told(error))
    return Glance(catalog, question.limit_s)
