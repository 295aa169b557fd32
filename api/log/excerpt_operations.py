"""A long text, part by part: what an answer over HTTP or a model's window is too small for."""

from typing import Annotated, Final

from msgspec import Meta

from braid.ledger.errors import ErasedError, ForgottenError, IntegrityError, UnknownRecordError
from braid.ledger.read import prefix
from braid.ledger.record.ids import RecordId
from braid.operation import AsOf, Id, Response, operation
from braid.session import Session

_ID: Final = RecordId("exp_2025-05-17T09:00:00Z_0000000300ab")


class Excerpt(AsOf, frozen=True, kw_only=True):
    """Which part of a record's text is asked for: `chars` characters from character `start` on, from 0.

    `include_forgotten` needs the access `recover`.
    """

    id: Id
    start: Annotated[int, Meta(ge=0)] = 0
    chars: Annotated[int, Meta(ge=1, le=100_000)] = 10_000
    include_forgotten: bool = False


class Excerpted(Response, frozen=True, kw_only=True):
    """Part of a record's text, which has `whole_chars` characters. `next`: where it goes on; None at its end."""

    id: RecordId
    text: str
    start: int
    whole_chars: int
    next: int | None


@operation(
    Excerpt,
    Excerpted,
    access="read",
    cost="record",
    positional=("id",),
    example=Excerpt(id=_ID, chars=200),
    errors=(UnknownRecordError, ErasedError, ForgottenError, IntegrityError),
)
def excerpt(session: Session, asked: Excerpt) -> Excerpted:
    """Return a part of a record's text, verified, to read a long one part by part.

    Raises UnknownRecordError, ErasedError, ForgottenError, IntegrityError.
    """
    size = session.size_at(asked.as_of, asked.as_of_time)
    if size is None:
        record = session.reader.get(asked.id, include_forgotten=asked.include_forgotten)
    else:
        record = prefix.get_at(session.reader, asked.id, size, include_forgotten=asked.include_forgotten)
    whole, end = record.text, asked.start + asked.chars
    return Excerpted(
        id=RecordId(record.id),
        text=whole[asked.start : end],
        start=asked.start,
        whole_chars=len(whole),
        next=end if end < len(whole) else None,
    )
