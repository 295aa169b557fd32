"""Recall at the front door: a store as what the pipeline asks, and a caller's words as what it is asked."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Protocol, cast

import msgspec

from braid.ledger import asof
from braid.ledger.errors import ErasedError, ForgottenError
from braid.ledger.reader import Reader
from braid.ledger.record import REFLECTION, ExperienceBody, Record, Vad, is_reading
from braid.lenses.registry import by_name
from braid.recall.filters import SCOPES, Test, compiled, speaks_of
from braid.recall.hits import Answer, Hit
from braid.recall.reading import Tone
from braid.recall.recall import MAX_TOP_K, Asking, Memory, recall
from braid.recall.salience import Lessons
from braid.recall.shelf import Shelf
from braid.recall.through import through
from braid.recall.vocabulary import Vocabulary
from braid.recall.within import within
from braid.views.embedder import Embedder
from braid.views.errors import ViewBusyError, told
from braid.views.glance import Glance
from braid.views.lance.rows import searched_text
from braid.views.search import Row, Where
from braid.views.values import created, microseconds

if TYPE_CHECKING:
    from braid.views.catalog import Catalog
    from braid.views.store import Views

ASK: Final = "ask"
ANSWER: Final = "answer"
RESULT: Final = "result"
"""The method of what a tool gave to a program: it was asked for one question, and speaks for no other."""
_spoken: Final = compiled({"NOT": {"method": {"in": [ASK, ANSWER, RESULT, REFLECTION]}}})
LOCK_S: Final = 0.5
"""How long a question waits for another process that is at work on the catalogue, as it does for one at the index."""
RECENT: Final = 2_000
"""How many records at the log's end are searched when there is no index."""


class Asked(Protocol):
    """What recall needs of a store."""

    @property
    def reader(self) -> Reader:
        """The log."""
        ...

    @property
    def views(self) -> "Views":
        """The projections."""
        ...

    def embedding(self) -> tuple[Embedder | None, Vocabulary | None, Shelf]:
        """The model, and what is kept of its answers."""
        ...

    def now(self) -> datetime:
        """The time."""
        ...

    def prove(self, id: str) -> bytes:
        """An offline proof of a record."""
        ...

    def prove_many(self, ids: Iterable[str]) -> bytes:
        """One offline proof of many records."""
        ...


def asking(query: Any, now: datetime, **asked: Any) -> Asking:
    """Return a caller's question; raise ValueError or TypeError for what can't be meant."""
    if not isinstance(query, str):
        raise TypeError(f"a question is text, not {type(query).__name__}")
    top_k = asked.pop("top_k", 10)
    if not is_count(top_k, MAX_TOP_K):
        raise ValueError(f"top_k is 1 to {MAX_TOP_K}, not {top_k!r}")
    if isinstance(lens := asked.get("lens"), str):
        asked["lens"] = through(by_name(lens))
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
    """Return the filters' test, with questions to memory and its own answers left out: they say again, in the very
    words of the question, what is remembered. Filters that speak of `method` or `id` may ask for them.
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
    store: Asked,
    size: int | None,
    vocabulary: Vocabulary | None,
    embedder: Embedder | None,
    shelf: Shelf,
    *,
    glance: Glance,
    superseded: bool = True,
) -> Memory:
    """Return a store as the pipeline asks it; `size` is that of the log then, None for now.

    Without `superseded`, a record is left out once another that can be read stands in its place (SPEC §10.9).
    """
    reader, views = store.reader, store.views
    then = asof.control_at(reader, size).hidden if size is not None else {}
    most = reader.size if size is None else size

    def read(index: int) -> Record | None:
        if index in then or index >= most or (not superseded and replaced(index)):
            return None
        try:
            return reader.at(index)
        except (ErasedError, ForgottenError):
            return None

    def replaced(index: int) -> bool:
        control = reader.control
        gone = (control.erased, control.hidden, then)
        return any(
            role == "supersedes"
            and at < most
            and id.startswith("exp_")
            and not any(at in one for one in gone)
            for at, id, role in glance.children(index)
        )

    def links(index: int) -> Iterator[int]:
        yield from (link.index for link in reader.links(index))
        # What was learned of a record is no cause of it.
        yield from (at for at, _, role in glance.children(index) if at < most and role != "target")

    lessons = Lessons(
        read=read,
        naming=lambda index, count: glance.referring(index, "target", count, most),
        lives=lambda index: (
            not any(index in one for one in (reader.control.erased, reader.control.hidden, then))
        ),
    )
    return Memory(
        index=lambda: shelf.over(views.search.index()),
        read=read,
        recent=lambda where: recent(reader, where),
        size=reader.size,
        links=links,
        sessions=glance,
        embedder=embedder,
        vocabulary=vocabulary,
        salience=lessons.salience,
    )


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


def recalled(
    store: Asked,
    query: str,
    *,
    prove: bool,
    as_of: int | datetime | None,
    valid_at: datetime | None,
    **asked: Any,
) -> Answer:
    """Return the answer to a question asked of a store."""
    size = None if as_of is None else asof.size_at(store.reader, as_of)
    until = None if valid_at is None else 1 + microseconds(asof.zoned(valid_at))
    given = asked.pop("now", None)
    now = now_of(store, as_of, valid_at) if given is None else asof.zoned(given)
    question = asking(query, now, below=size, until_us=until, **asked)
    store.reader.need_vault()
    embedder, vocabulary, shelf = store.embedding()
    with closing(glanced(store.views.catalog, question)) as glance:
        asked_of = memory(
            store, size, vocabulary, embedder, shelf, glance=glance, superseded=valid_at is None
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
    if not prove or not answer.results:
        return answer
    together = store.prove_many(hit.id for hit in answer.results)
    proved: list[Hit] = [msgspec.structs.replace(hit, proof=store.prove(hit.id)) for hit in answer.results]
    return msgspec.structs.replace(answer, results=proved, proof=together)


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


def now_of(store: Asked, as_of: int | datetime | None, valid_at: datetime | None) -> datetime:
    """Return what "last month" is relative to: now, or the time that is asked about."""
    if valid_at is not None:
        return valid_at
    if as_of is None:
        return store.now().astimezone(UTC)
    return datetime.fromisoformat(store.reader.envelope(asof.size_at(store.reader, as_of) - 1).created_at)
