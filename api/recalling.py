"""Recall at the front door: a store as what the pipeline asks, and a caller's words as what it is asked."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

import msgspec

from braid.ledger import asof
from braid.ledger.errors import ErasedError, ForgottenError
from braid.ledger.reader import Reader
from braid.ledger.record import ANSWER, REFLECTION, ExperienceBody, Record, Vad, is_reading
from braid.ledger.standing import Standings
from braid.lens.definitions import lens_named
from braid.log import operations as log
from braid.recall.filters import SCOPES, Test, compiled, speaks_of
from braid.recall.hits import Answer, Hit
from braid.recall.reading import Tone, happened, is_admitted, is_within
from braid.recall.recall import MAX_TOP_K, Asking, Memory, recall
from braid.recall.salience import Lessons
from braid.recall.shelf import Shelf
from braid.recall.tail import MOST
from braid.recall.through import through
from braid.recall.tones import tone_of
from braid.recall.vocabulary import Vocabulary
from braid.recall.within import within
from braid.session import Session
from braid.stance.claims import OWN_METHOD
from braid.stance.wording import wording_of
from braid.views.embedder import Embedder
from braid.views.errors import ViewBusyError, told
from braid.views.glance import Glance
from braid.views.lance.rows import searched_text
from braid.views.search import Index, Row, Where
from braid.views.values import created, microseconds

if TYPE_CHECKING:
    from braid.views.catalog import Catalog
    from braid.views.store import Views

ASK: Final = "ask"
RESULT: Final = "result"
"""The method of what a tool gave to a program: it was asked for one question, and speaks for no other."""
_spoken: Final = compiled({"NOT": {"method": {"in": [ASK, ANSWER, RESULT, REFLECTION, OWN_METHOD]}}})
MARKED: Final = "marked"
"""What `superseded` is asked with."""
LOCK_S: Final = 0.5
"""How long a question waits for another process that is at work on the catalogue, as it does for one at the index."""
RECENT: Final = 2_000
"""How many records at the log's end are searched when there is no index."""


def asking(query: Any, now: datetime, **asked: Any) -> Asking:
    """Return a caller's question; raise ValueError or TypeError for what can't be meant."""
    if not isinstance(query, str):
        raise TypeError(f"a question is text, not {type(query).__name__}")
    top_k = asked.pop("top_k", 10)
    if not is_count(top_k, MAX_TOP_K):
        raise ValueError(f"top_k is 1 to {MAX_TOP_K}, not {top_k!r}")
    scope: dict[str, Any] = {name: _scope(name, asked.pop(name, None)) for name in SCOPES}
    filters = asked.pop("filters", None)
    return Asking(
        text=query,
        where=Where(**scope, below=asked.pop("below", None), until_us=asked.pop("until_us", None)),
        now=now,
        top_k=top_k,
        test=_remembered(filters),
        filtered=bool(filters),
        tone=_tone(asked.pop("affect", None)),
        **{name: value for name, value in asked.items() if value is not None},
    )


def is_count(value: object, most: float = inf) -> bool:
    """Whether a value is a whole number from 1 to `most`. True is none, though Python would count it as 1."""
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most


def _remembered(filters: Mapping[str, Any] | None) -> Test:
    """Return the filters' test, with questions to memory, its own answers and conclusions left out: they say again,
    in the very words of the question, what is remembered. Filters that speak of `method` or `id` may ask for them.
    """
    test = compiled(filters)
    if speaks_of(filters, ("method", "id")):
        return test
    return lambda record: test(record) and _spoken(record)


def _scope(name: str, value: object) -> str | None:
    if value is None or (isinstance(value, str) and value):
        return value
    raise ValueError(f"{name} is text that isn't empty, not {value!r:.60}")


class _AskedTone(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    v: Annotated[float, msgspec.Meta(ge=-1, le=1)]
    a: Annotated[float, msgspec.Meta(ge=0, le=1)]
    d: Annotated[float, msgspec.Meta(ge=-1, le=1)]
    within: Annotated[float, msgspec.Meta(ge=0)] | None = None


def _tone(affect: Mapping[str, Any] | Vad | None) -> Tone | None:
    """Return the tone that is asked for: a Vad, or `{"v": …, "a": …, "d": …}` with, if wanted, `"within"`."""
    if affect is None:
        return None
    try:
        given = msgspec.convert(affect, _AskedTone, from_attributes=True)
    except msgspec.ValidationError as error:
        raise ValueError(f"affect is {{'v': …, 'a': …, 'd': …}} and, if wanted, 'within': {error}") from None
    return Tone(Vad(v=given.v, a=given.a, d=given.d), given.within)


def memory(
    store: Session,
    vocabulary: Vocabulary | None,
    embedder: Embedder | None,
    shelf: Shelf,
    *,
    glance: Glance,
    standings: Standings,
    last: int | None = None,
    marked: bool = False,
) -> Memory:
    """Return a store as the pipeline asks it.

    A record is left out unless it is living; the one that replaced it takes its place. With `marked`, what was replaced
    is read too (SPEC §10.9). `last`: what happened later, in microseconds since 1970, is not quoted.
    """
    reader, views = store.reader, store.views

    def there(index: int) -> Record | None:
        try:
            return reader.at(index)
        except (ErasedError, ForgottenError):  # since the question was begun
            return None

    def read(index: int) -> Record | None:
        standing = standings.of(index)
        if standing.state == "replaced" and not marked:
            index = cast("int", standing.by)
        elif standing.state not in ("living", "replaced"):
            return None
        record = there(index)
        return record if record is None or last is None or happened(record) <= last else None

    def links(index: int) -> Iterator[int]:
        yield from (link.index for link in reader.links(index))
        # What was learned of a record is no cause of it.
        yield from (
            at for at, role in reader.backlinks.of(index) if at < standings.past.size and role != "target"
        )

    def snapshots(record: Record) -> Iterator[Record]:
        under = reader.backlinks.of(record.index)
        yield from (reader.at(at) for at, role in under if role == "experience" and standings.lives(at))

    def naming(index: int, count: int) -> list[int]:
        named = (
            at
            for at, role in reversed(reader.backlinks.of(index))
            if role == "target" and at < standings.past.size
        )
        return list(islice(named, count))

    lessons = Lessons(read=there, naming=naming, lives=standings.lives)
    return Memory(
        index=lambda: _index(views, reader, embedder, shelf),
        read=read,
        recent=lambda where: recent(reader, where),
        size=reader.size,
        links=links,
        sessions=glance,
        embedder=embedder,
        vocabulary=vocabulary,
        tone_of=lambda record: tone_of(record, snapshots(record)),
        wording_of=lambda record: wording_of(record) if standings.lives(record.index) else None,
        salience=lessons.salience,
    )


def _index(views: "Views", reader: Reader, embedder: Embedder | None, shelf: Shelf) -> Index:
    """Return the index, and before it the few records at the log's end that it has not taken in."""
    near = shelf.over(views.search.index_near(MOST))
    return shelf.tail.over(near, reader, embedder) or shelf.over(views.search.index())


def recent(reader: Reader, where: Where) -> Iterator[Row]:
    """Yield the rows of the last records of the log that may be seen, read from the log itself."""
    control = reader.control
    stop = reader.size if where.below is None else where.below
    for entries in reader.entries(max(stop - RECENT, 0), stop):
        for entry in entries:
            record = entry.record
            if (
                record.kind == "experience"
                and record.index not in control.erased
                and record.index not in control.hidden
                and not is_reading(record.body)
            ):
                yield _row(record)


def _row(record: Record) -> Row:
    body, scope = cast("ExperienceBody", record.body), record.body.scope
    actor = body.provenance.actor.partition("(")[0]
    happened = body.occurred_at
    return Row(
        index=record.index,
        id=record.id,
        text=searched_text(body),
        kind=record.kind,
        speaker="assistant" if actor == "agent" else actor,
        name=body.provenance.name,
        user_id=scope.user_id if scope else None,
        agent_id=scope.agent_id if scope else None,
        run_id=scope.run_id if scope else None,
        session_id=scope.session_id if scope else None,
        turn=None,
        happened_us=created(record.envelope.created_at) if happened is None else microseconds(happened),
        salience=1.0,
        label=None,
        pending=True,
    )


def answer(
    store: Session,
    query: str,
    *,
    as_of: int | datetime | None = None,
    valid_at: datetime | None = None,
    prove: bool = False,
    **asked: Any,
) -> Answer:
    """Return what fits a question, as values: hits with their verified records."""
    store.refresh()
    return recalled(store, query, prove=prove, as_of=as_of, valid_at=valid_at, **asked)


def recalled(
    store: Session,
    query: str,
    *,
    prove: bool,
    as_of: int | datetime | None,
    valid_at: datetime | None,
    superseded: str | None = None,
    **asked: Any,
) -> Answer:
    """Return the answer to a question asked of a store."""
    if superseded not in (None, MARKED):
        raise ValueError(f"superseded is {MARKED!r} or left out, not {superseded!r:.40}")
    size = None if as_of is None else asof.size_at(store.reader, as_of)
    given = asked.pop("now", None)
    now = now_of(store, as_of, valid_at) if given is None else asof.zoned(given)
    until = None if valid_at is None else 1 + microseconds(asof.zoned(valid_at))
    last = None if given is None else microseconds(now)
    if isinstance(lens := asked.get("lens"), str):
        asked["lens"] = through(lens_named(store, lens))
    question = asking(query, now, below=size, until_us=until, **asked)
    store.reader.need_vault()
    embedder, vocabulary, shelf = store.embedding()
    with closing(glanced(store.views.catalog, question)) as glance:
        standings = store.reader.standings(size)
        marked = superseded == MARKED
        asked_of = memory(
            store, vocabulary, embedder, shelf, glance=glance, standings=standings, last=last, marked=marked
        )
        answer = recall(question, asked_of)
        for anew in (False, True):
            if not store.views.search.mend(anew=anew):
                break
            answer = recall(question, asked_of)
    answer = msgspec.structs.replace(
        answer,
        degraded=[_placeless(lack, store.reader.path) for lack in (*answer.degraded, *glance.trouble)],
        rebuilt=store.views.search.rebuilt(),
    )
    if marked:
        answer = msgspec.structs.replace(
            answer, results=_beneath(answer.results, standings, question, asked_of.read)
        )
    if not prove or not answer.results:
        return answer
    together = log.prove_many(store, log.ProveMany(ids=tuple(hit.id for hit in answer.results))).proof
    proved: list[Hit] = [
        msgspec.structs.replace(hit, proof=log.prove(store, log.Prove(id=hit.id)).proof)
        for hit in answer.results
    ]
    return msgspec.structs.replace(answer, results=proved, proof=together)


def _beneath(
    hits: Sequence[Hit], standings: Standings, question: Asking, read: Callable[[int], Record | None]
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
        by = read(instead)
        if by is None or not is_within(by, question.where):
            continue
        asked_for = is_admitted(by, question.where, question.test)
        group = placed.setdefault(instead, [Hit(by, hit.score, hit.signals, hit.parts)] if asked_for else [])
        group.append(msgspec.structs.replace(hit, superseded_by=by.id))
    return [hit for group in placed.values() for hit in _once(group)][: question.top_k]


def _once(group: Sequence[Hit]) -> list[Hit]:
    return list({hit.index: hit for hit in reversed(group)}.values())[::-1]


def _placeless(lack: str, store: Path) -> str:
    """Leave out where the store lies, which LanceDB names: answers go to models, and into signed records."""
    return lack.replace(f"{store.absolute()}/", "")


def glanced(catalog: "Catalog", question: Asking) -> Glance:
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


def now_of(store: Session, as_of: int | datetime | None, valid_at: datetime | None) -> datetime:
    """Return what "last month" is relative to: now, or the time that is asked about."""
    if valid_at is not None:
        return valid_at
    if as_of is None:
        return store.now().astimezone(UTC)
    return datetime.fromisoformat(store.reader.envelope(asof.size_at(store.reader, as_of) - 1).created_at)
