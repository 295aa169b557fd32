"""A store as the pipeline of recall asks it: the index, the log behind it, and the model that searches by meaning."""

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Final, cast

from braid.ledger.errors import ErasedError, ForgottenError
from braid.ledger.read.reader import Reader
from braid.ledger.record.record import ExperienceBody, Record, is_reading
from braid.ledger.record.scope import SCOPES, ids_of
from braid.ledger.record.source import SourceClass, corrected_at
from braid.ledger.record.standing import Standings
from braid.recall.cache import RowCache
from braid.recall.hit_reader import happened
from braid.recall.recall import RecallSources
from braid.recall.salience import Lessons
from braid.recall.tail import MOST
from braid.recall.tones import tone_of
from braid.recall.vocabulary import Vocabulary
from braid.session import Session
from braid.stance.wording import wording_of
from braid.views.catalog.lookup import Glance
from braid.views.embedder import Embedder
from braid.views.lance.rows import searched_text
from braid.views.search import Index, Row, Where
from braid.views.values import created, microseconds

if TYPE_CHECKING:
    from braid.views.store import Views

MOST_HELD: Final = 2_000
"""So many records that were read for a question are at hand until it is answered; of more, each is read again."""
RECENT: Final = 2_000
"""How many records at the log's end are searched when there is no index."""


def memory(
    session: Session,
    vocabulary: Vocabulary | None,
    embedder: Embedder | None,
    shelf: RowCache,
    *,
    glance: Glance,
    standings: Standings,
    last: int | None = None,
    marked: bool = False,
    records: dict[int, Record] | None = None,
) -> RecallSources:
    """Return a store as the pipeline asks it.

    A record is left out unless it is living; the one that replaced it takes its place. With `marked`, what was replaced
    is read too (SPEC §10.9). `last`: what happened later, in microseconds since 1970, is not quoted. `records`: those
    that were read for the same question already; what is read here is put among them.
    """
    reader, views = session.reader, session.views
    classes = reader.source_classes
    held = records if records is not None else {}

    def there(index: int) -> Record | None:
        if index in held:
            return held[index]
        try:
            record = reader.at(index)
        except (ErasedError, ForgottenError):  # since the question was begun
            return None
        if len(held) < MOST_HELD:
            held[index] = record
        return record

    def stands_for(index: int) -> int | None:
        standing = standings.of(index)
        if standing.state == "replaced" and not marked:
            return cast("int", standing.by)
        return index if standing.state in ("living", "replaced") else None

    def read(index: int) -> Record | None:
        at = stands_for(index)
        record = None if at is None else there(at)
        return record if record is None or last is None or _said(record) <= last else None

    def class_at(index: int) -> tuple[int, SourceClass] | None:
        at = stands_for(index)
        if at is None:
            return None
        if not classes.knows(at) and (record := there(at)) is not None:
            return at, classes.note(record)  # it may be a hit, and is read once then
        return at, classes.of(at)

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
    return RecallSources(
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
        source_of=classes.note,
        class_at=class_at,
    )


def _said(record: Record) -> int:
    """Return when somebody said a record, in microseconds since 1970: nobody knew a correction before it was made."""
    corrected = corrected_at(record)
    return happened(record) if corrected is None else microseconds(corrected)


def _index(views: "Views", reader: Reader, embedder: Embedder | None, shelf: RowCache) -> Index:
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
        **dict(zip(SCOPES, ids_of(scope), strict=True)),
        turn=None,
        happened_us=created(record.envelope.created_at) if happened is None else microseconds(happened),
        salience=1.0,
        label=None,
        pending=True,
    )
