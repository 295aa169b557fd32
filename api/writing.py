"""What is put into the log: experiences, chat messages and what they state, corrections, media."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self, cast

from braid import drafts, members
from braid.ledger.blobs import BlobRef, BlobStore, Readable
from braid.ledger.errors import InvalidRecordError
from braid.ledger.ids import RecordId
from braid.ledger.record import Draft, EventBody, ExperienceBody, Media, Target
from braid.ledger.sequence import Placed
from braid.ledger.writer import Writer
from braid.reading import Reading
from braid.views.errors import ViewError

if TYPE_CHECKING:
    from braid.learning import Learned, Learner, Told


class Pending:
    """A record of an open transaction: later records of it may link to it; `id` is known once it has been committed."""

    __slots__ = ("_placed", "place")

    def __init__(self, place: int) -> None:
        self.place = place
        self._placed: Placed | None = None

    def settle(self, placed: Placed) -> None:
        """Note where the commit has put the record."""
        self._placed = placed

    @property
    def id(self) -> RecordId:
        """The record's id; raises ValueError before the commit."""
        if self._placed is None:
            raise ValueError("the transaction has not been committed")
        return self._placed.id


class Transaction:
    """Several records, all or none. Committed when its block ends without an exception."""

    def __init__(self, writer: Writer, signer: str | None) -> None:
        self._writer = writer
        self._signer = signer
        self._drafts: list[Draft] = []
        self._pending: list[Pending] = []

    def append(self, what: str | Draft, **fields: Any) -> Pending:
        """Add a record (see `Store.append`); it may link to what this method returned before."""
        self._drafts.append(as_draft(what, fields))
        self._pending.append(Pending(len(self._drafts) - 1))
        return self._pending[-1]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and self._drafts:
            batch = self._drafts if self._signer else reviewed(self._drafts)
            keys = [draft.body.once for draft in batch]
            done = self._writer.append(batch, keys=keys, signer=self._signer, held=len(self._drafts))
            for pending, placed in zip(self._pending, done, strict=False):
                pending.settle(placed)


def reviewed(batch: Sequence[Draft]) -> Sequence[Draft]:
    """Return a batch, with an event `review` behind it for claims in it that contradict each other undecidedly."""
    if not any(isinstance(draft.body, ExperienceBody) and draft.body.symbolic for draft in batch):
        return batch
    from braid.stance.review import with_reviews

    return with_reviews(batch)


def as_draft(what: str | Draft, fields: dict[str, Any]) -> Draft:
    """Return the draft of an experience from text and fields; a Draft stays as it is."""
    if isinstance(what, Draft):
        if fields:
            raise TypeError("a Draft takes no further fields")
        if what.body.scope is not None:
            drafts.checked_scope(what.body.scope)
        return what
    _refuse_unknown(fields)
    within = drafts.scope(**{name: fields.pop(name, None) for name in drafts.SCOPES})
    if (key := fields.pop("idempotency_key", None)) is not None:
        fields["once"] = drafts.checked_key(key)
    return drafts.telling(drafts.experience(what, within=within, **fields))


class Writing(Reading):
    """A store as whoever remembers in it sees it."""

    _learner: "Learner | None" = None

    def append(self, what: str | Draft, *, signer: str | None = None, **fields: Any) -> RecordId:
        """Append an experience (text and the fields of `drafts.experience`, scope ids, `idempotency_key`) or a Draft.

        Durable as the store's setting says when this returns. A key that is in the log names its record, where that
        says the same; else IdempotencyConflictError. Raises InvalidRecordError, UnknownRecordError, ErasedError,
        KeyRefusedError, ClockError, OSError, OutcomeUnknownError.
        """
        draft = as_draft(what, fields)
        batch = [draft] if signer else reviewed([draft])
        keys = [one.body.once for one in batch]
        return self.writer.append(batch, keys=keys, signer=signer, held=1)[0].id

    def transaction(self, *, signer: str | None = None) -> Transaction:
        """Return a block whose records enter the log together or not at all."""
        return Transaction(self.writer, signer)

    def remember(
        self,
        messages: str | Mapping[str, Any] | Iterable[Mapping[str, Any] | str],
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        session_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
        learn: bool = True,
    ) -> list[RecordId]:
        """Append chat messages `{role, content, timestamp?, name?, id?}` as one transaction and return their ids.

        What is the caller's own goes under a message's `metadata`; any other member is refused, and so is a user's
        message that says nothing (InvalidRecordError): then none of them is appended.
        With an `idempotency_key`, repeating the call (after OutcomeUnknownError, say) adds nothing; with other messages
        it raises IdempotencyConflictError. What they state is then read (see `learn`).
        """
        _refuse_no_messages(messages)
        several: Iterable[Mapping[str, Any] | str]
        several = [messages] if isinstance(messages, str) else messages
        if isinstance(messages, Mapping):
            several = [cast("Mapping[str, Any]", messages)]
        within = drafts.scope(user_id, agent_id, run_id, session_id)
        if idempotency_key is not None:
            drafts.checked_key(idempotency_key)
        keys: list[str | None] = []
        batch: list[Draft] = []
        for place, said in enumerate(several):
            keys.append(None if idempotency_key is None else f"{idempotency_key}#{place}")
            try:
                batch.append(drafts.message(said, within, metadata or {}, keys[-1]))
            except InvalidRecordError as error:
                if several is messages:
                    raise InvalidRecordError(f"message {place + 1}: {error}") from None
                raise
        placed = self._append(batch, held=len(batch))
        if learn:
            self.learn()
        return [one.id for one in placed]

    def learn(self, *, dry_run: bool = False, told: "Told | None" = None) -> "Learned":
        """Read what has not been read yet for plain statements; append these as inference records above their turns.

        Follows the log; repeating it adds nothing. `told` is shown each record that states something, and the draft.
        """
        from braid.learning import Learner

        self.refresh()
        if dry_run:
            return Learner(self).learn(dry_run=True, told=told)
        self.writer  # noqa: B018 - refuses a store that is open for reading only, before it is read
        with self._learning_turn:  # a learner follows the log: two would trip over each other
            if self._learner is None:
                self._learner = Learner(self)
            return self._learner.learn(told=told)

    def append_all(self, batch: Sequence[Draft]) -> list[Placed]:
        """Append drafts as one transaction; one whose `once` key is in the log already is named, not added, whatever it
        says: for who takes a source in again, and judges by itself what has changed in it.

        Claims in it that contradict each other while nothing says which gives way are all kept, and an event `review`
        is appended with them.
        """
        _refuse_no_drafts(batch)
        return self._append(batch)

    def _append(self, batch: Sequence[Draft], *, held: int = 0) -> list[Placed]:
        together = reviewed(batch)
        keys = [draft.body.once for draft in together]
        return self.writer.append(together, keys=keys, held=held)[: len(batch)]

    def correct(self, id: str, text: str, *, reason: str | None = None) -> RecordId:
        """Append what is right in place of a record; the old one stays, superseded. Returns the new record's id.

        Where something was read of the old one (see `learn`), the new one is read too, or, while another process is at
        work on the catalogue, by the next `learn`.
        """
        from braid.learning import readings_of

        correction = drafts.correction(self.get(id), text)
        event = EventBody(name="correction", reason=reason, scope=correction.body.scope)
        links: list[tuple[str, Target]] = [("evidence", Pending(0)), ("supersedes", id)]
        new = self.append_all([correction, Draft(kind="event", body=event, links=links)])[0]
        with suppress(ViewError):  # the correction is in the log: what is derived of it may follow
            if readings_of(self, [id]):
                self.learn()
        return new.id

    def attach(
        self,
        content: bytes | Readable,
        *,
        media_type: str,
        name: str | None = None,
        caption: str | None = None,
    ) -> Media:
        """Seal media into a blob and return what an experience's `media` takes."""
        from base64 import b64encode

        _refuse_no_media(content)
        ref: BlobRef = BlobStore(self.writer.path / "blobs", writable=False).put(content)
        return Media(
            blob=ref.sha256,
            size=ref.size,
            key=b64encode(ref.key).decode(),
            media_type=media_type,
            name=name,
            caption=caption,
        )


_FIELDS = frozenset((*drafts.SCOPES, "idempotency_key", *(drafts.experience.__kwdefaults__ or ())))


def _refuse_unknown(fields: Iterable[str]) -> None:
    for name in fields:
        if name not in _FIELDS:
            near = members.nearest(name, {each: each for each in sorted(_FIELDS)})
            raise TypeError(f"append takes no {name}" + (f": did you mean {near}?" if near else ""))


def _refuse_no_messages(messages: object) -> None:
    if not isinstance(messages, Iterable):
        raise TypeError(f"what is remembered is text or messages, not {type(messages).__name__}")


def _refuse_no_drafts(batch: Iterable[object]) -> None:
    for draft in batch:
        if not isinstance(draft, Draft):
            raise TypeError(f"a batch takes Drafts, not {type(draft).__name__}")


def _refuse_no_media(content: object) -> None:
    if not isinstance(content, bytes) and not hasattr(content, "read"):
        raise TypeError(f"media is bytes or an open file, not {type(content).__name__}")
