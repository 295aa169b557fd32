"""Affect at the front door: the tone of texts and of records, and snapshots of it in the log.

A snapshot is a record of its own, below the experience that it is of: it goes when that goes, and says nothing that
stance or recall would weigh.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from braid.affect.blend import Felt, of_self
from braid.affect.model import EMBEDDER, weights_name
from braid.affect.vad import ToneReading, read
from braid.ledger.errors import InvalidRecordError
from braid.ledger.read.reader import Reader
from braid.ledger.record.record import AffectBody, Draft, ExperienceBody, Record, Scope, Vad
from braid.recall.hits import Hit
from braid.session import Session
from braid.views.embedder import EmbeddingError, embedded

STAGES: Final = ("input", "draft", "augmented")
MOST_FELT: Final = 20_000
"""Of so many turns the tone is kept from one question to the next."""
RECENT: Final = 500
"""How many records at the log's end are looked through for the agent's own snapshots."""
PAST: Final = timedelta(days=1)


def sense(session: Session, texts: Sequence[str]) -> list[ToneReading]:
    """Return the tone of each text; without the packaged model's vectors the words and marks speak alone."""
    for text in texts:
        if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance] - a caller without types
            raise TypeError(f"a tone is read of text, not of {type(text).__name__}")
    return read(texts, _vectors(session, texts))


def felt(session: Session, hits: Sequence[Hit]) -> list[Felt]:
    """Return the tone of what each hit says. That of a whole turn is read once while all records stand as they do: of a
    turn its numbers are kept, and no word."""
    kept = _kept(session)
    known = {hit.index: kept.by_index[hit.index] for hit in hits if hit.index in kept.by_index}
    new = [hit for hit in hits if hit.part is not None or hit.index not in known]
    texts = [hit.text for hit in new]
    vectors = _vectors(session, texts)
    read_now = [Felt(one.vad, one.confidence) for one in read(texts, vectors)]
    if vectors is not None:  # without them another reading is made, for as long as there are none
        kept.add({hit.index: one for hit, one in zip(new, read_now, strict=True) if hit.part is None})
    fresh = iter(read_now)
    return [
        next(fresh) if hit.part is not None or hit.index not in known else known[hit.index] for hit in hits
    ]


class _FeltTurns:
    """Tones by log index: at most `MOST_FELT`."""

    def __init__(self) -> None:
        self.by_index: dict[int, Felt] = {}

    def add(self, found: Mapping[int, Felt]) -> None:
        if len(self.by_index) + len(found) > MOST_FELT:
            self.by_index = {}
        self.by_index.update(found)


def _kept(session: Session) -> _FeltTurns:
    held = session.reader.standings().kept
    known = held.get(_FeltTurns)
    if not isinstance(known, _FeltTurns):
        known = held[_FeltTurns] = _FeltTurns()
    return known


def _vectors(session: Session, texts: Sequence[str]) -> Any:
    embedder = session.embedding()[0]
    if not texts or embedder is None or f"{embedder.name}@{embedder.version}" != EMBEDDER:
        return None
    try:
        return embedded(embedder, texts)
    except EmbeddingError:
        return None


def drafts(
    session: Session, ids: Sequence[str], stage: str, actor: str | None
) -> list[tuple[Draft, ToneReading]]:
    """Return a snapshot of each experience with what was read; raise InvalidRecordError for what has no words."""
    if stage not in STAGES:
        raise ValueError(f"a stage is one of {', '.join(STAGES)}, not {stage!r}")
    if actor not in (None, "user", "agent"):
        raise ValueError(f"an actor is user or agent, not {actor!r}")
    session.reader.need_vault()
    records = [session.reader.get(id) for id in ids]
    for record in records:
        if not isinstance(record.body, ExperienceBody) or not record.text.strip():
            raise InvalidRecordError(
                f"{record.id} has no words to read a tone from; name experiences with a text"
            )
    readings = sense(session, [record.text for record in records])
    return [
        (_draft(record, reading, stage, actor), reading)
        for record, reading in zip(records, readings, strict=True)
    ]


def _draft(record: Record, reading: ToneReading, stage: str, actor: str | None) -> Draft:
    body = record.body
    said_by = body.provenance.actor if isinstance(body, ExperienceBody) else "user"
    whose = actor or ("agent" if said_by == "agent" else "user")
    made = reading.body(
        whose, stage, scope=body.scope, once=f"affect/{whose}/{stage}/{weights_name()}/{record.id}"
    )
    return Draft(kind="affect", body=made, links=[("experience", record.id)])


def own(session: Session, now: datetime, scope: Scope | None = None) -> Felt | None:
    """Return the agent's own tone by its snapshots of the last day, the newest weighing most; None without any.

    Bodies of snapshots alone are unsealed: what else stands at the log's end is passed over by its envelope.
    """
    found: list[tuple[Felt, datetime]] = []
    for record in session.kept(_Recent, _Recent).snapshots(session.reader, now - PAST):
        body = record.body
        if isinstance(body, AffectBody) and body.actor == "agent" and (scope is None or body.scope == scope):
            vad = Vad(v=body.valence, a=body.arousal, d=body.dominance)
            felt = Felt(vad, 1.0 if body.confidence is None else body.confidence)
            found.append((felt, record.created_at))
    return of_self(found, now)


class _Recent:
    """Where snapshots stand among the newest records: each envelope is looked at once. Safe between threads."""

    def __init__(self) -> None:
        self._seen: tuple[int, tuple[tuple[int, datetime], ...]] = (0, ())
        """Up to where the log was looked at, and the snapshots with when they were written."""

    def snapshots(self, reader: Reader, since: datetime) -> Iterator[Record]:
        """Yield the living snapshots among the newest records that were written since then, oldest first."""
        seen, known = self._seen
        size = reader.size
        first = max(size - RECENT, 0)
        found = [one for one in known if one[0] >= first]
        found += [
            (envelope.index, datetime.fromisoformat(envelope.created_at))
            for envelope, _ in reader.envelopes(max(first, seen), size)
            if envelope.kind == "affect"
        ]
        self._seen = size, tuple(found)
        control = reader.control
        for index, written in found:
            if written >= since and index not in control.erased and index not in control.hidden:
                yield reader.at(index)
