"""The tone of a text or of records, read or kept as snapshots. It bears on manner alone, never on what is held."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from braid.ledger.errors import (
    ErasedError,
    ForgottenError,
    InvalidRecordError,
    ReadOnlyError,
    UnknownRecordError,
)
from braid.ledger.record.ids import RecordId
from braid.ledger.record.record import Vad
from braid.operation import Id, Json, Request, Response, operation
from braid.session import Session
from braid.wal.errors import OutcomeUnknownError

if TYPE_CHECKING:
    from braid.affect.vad import ToneReading

_ID = "exp_2025-05-17T09:00:00Z_0000000300ab"
_READS = (UnknownRecordError, ErasedError, ForgottenError, InvalidRecordError)


class Sense(Request, frozen=True, kw_only=True):
    """A text whose tone is read."""

    text: str


class Tone(Response, frozen=True, kw_only=True):
    """A tone: valence in [-1, 1], arousal in [0, 1], dominance in [-1, 1]; intensity and confidence in [0, 1].

    `emotion`: neutral, joy, calm, surprise, anger, frustration, fear or sadness. `signals`: what spoke for it.
    """

    vad: Vad
    emotion: str
    intensity: float
    confidence: float
    notes: str
    signals: dict[str, Json]


@operation(
    Sense,
    Tone,
    access="read",
    cost="record",
    positional=("text",),
    example=Sense(text="I love it, thank you!"),
)
def sense(session: Session, asked: Sense) -> Tone:
    """Return a text's tone: valence, arousal, dominance, a word for it, how sure and why. Writes nothing."""
    from braid.tone.snapshots import sense as read

    return _tones(read(session, [asked.text]))[0]


class Tones(Request, frozen=True, kw_only=True):
    """Records whose tone is read."""

    ids: tuple[Id, ...]


class TonesOf(Response, frozen=True, kw_only=True):
    """The tone of each record, in the order of the request."""

    tones: tuple[Tone, ...]


@operation(
    Tones,
    TonesOf,
    access="read",
    cost="record",
    positional=("*ids",),
    returns="tones",
    example=Tones(ids=(_ID,)),
    errors=_READS,
)
def tones(session: Session, asked: Tones) -> TonesOf:
    """Return the tone of experiences. Raises InvalidRecordError for a record without words, and as `get`."""
    from braid.tone.snapshots import drafts

    return TonesOf(tones=_tones(tone for _, tone in drafts(session, asked.ids, "input", None)))


class Feel(Request, frozen=True, kw_only=True):
    """Experiences of whose tone a snapshot is kept. `actor`: whose tone; by default who the experience is from."""

    ids: tuple[Id, ...]
    stage: Literal["input", "draft", "augmented"] = "input"
    actor: Literal["user", "agent"] | None = None


class Snapshots(Response, frozen=True, kw_only=True):
    """The ids of the snapshots, in the order of the request."""

    ids: tuple[RecordId, ...]


@operation(
    Feel,
    Snapshots,
    access="write",
    cost="record",
    repeatable=True,
    positional=("*ids",),
    returns="ids",
    example=Feel(ids=(_ID,)),
    errors=(*_READS, ReadOnlyError, OutcomeUnknownError),
)
def feel(session: Session, asked: Feel) -> Snapshots:
    """Append a snapshot of the tone of each experience, as one transaction; repeating it adds nothing.

    Raises InvalidRecordError for a record without words, and what `get` and `append` raise.
    """
    from braid.tone.snapshots import drafts

    session.refresh()
    batch = [draft for draft, _ in drafts(session, asked.ids, asked.stage, asked.actor)]
    return Snapshots(ids=tuple(one.id for one in session.append_drafts(batch)) if batch else ())


def _tones(readings: "Iterable[ToneReading]") -> tuple[Tone, ...]:
    return tuple(
        Tone(
            vad=one.vad,
            emotion=one.emotion,
            intensity=one.intensity,
            confidence=one.confidence,
            notes=one.notes,
            signals=one.signals,
        )
        for one in readings
    )
