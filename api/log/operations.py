"""What is put into the log, and read back of it verified."""

import re
from collections.abc import Iterator, Mapping, Sequence
from time import monotonic
from typing import Annotated, Final

import msgspec

import braid.log.excerpt_operations  # noqa: F401  # pyright: ignore[reportUnusedImport]  # declares its own
from braid.caller import asking, speaks_for_owner
from braid.errors import InvalidRequestError
from braid.isolation import is_own, of_asker
from braid.ledger.errors import (
    BlobCorruptError,
    BlobMissingError,
    ErasedError,
    ForgottenError,
    IdempotencyConflictError,
    IntegrityError,
    InvalidRecordError,
    KeyRefusedError,
    ReadOnlyError,
    UnknownRecordError,
)
from braid.ledger.read import prefix
from braid.ledger.read.blobs import BlobStore, Readable
from braid.ledger.read.reader import Reader
from braid.ledger.read.trace import TraceNode
from braid.ledger.read.trace import trace as braid_of
from braid.ledger.record.ids import RecordId
from braid.ledger.record.record import (
    CORRECTION,
    Affect,
    Claim,
    Confidence,
    Draft,
    EventBody,
    ExperienceBody,
    Media,
    Record,
    Source,
    Target,
)
from braid.ledger.record.standing import SUPERSEDES
from braid.ledger.write.sequence import Placed
from braid.ledger.write.writer import Writer
from braid.log import drafts
from braid.log.chain import Chain, Kept, kept, memory_of, refuse_gone, setting
from braid.log.content_hash import hashed
from braid.log.lock import refuse_locked
from braid.operation import (
    AsOf,
    Id,
    IdempotencyKey,
    Index,
    Instant,
    Json,
    Name,
    Request,
    Response,
    Scoped,
    operation,
    operation_of,
)
from braid.own_part import own_braid
from braid.session import Session
from braid.taker import wait_unless_gone
from braid.wal.errors import OutcomeUnknownError

_ID: Final = "exp_2025-05-17T09:00:00Z_0000000300ab"
_WRITES: Final = (InvalidRecordError, KeyRefusedError, ReadOnlyError, OutcomeUnknownError)
_READS: Final = (UnknownRecordError, ErasedError, ForgottenError, IntegrityError)
_TAIL_S: Final = 0.1
"""How long a tail waits before it looks again."""
_EARLIER: Final = re.compile(r"\$(\d+)", flags=re.ASCII)


class Append(Scoped, frozen=True, kw_only=True):
    """An experience. `evidence` names records or URIs; links name records, or `$n` the nth of the same transaction."""

    text: str = ""
    type: Name = "occurrence"
    actor: Name = "user"
    method: Name = "capture"
    name: str | None = None
    parents: tuple[Id, ...] = ()
    evidence: tuple[Name, ...] = ()
    supersedes: tuple[Id, ...] = ()
    sources: tuple[Source | str, ...] = ()
    confidence: Confidence | float | None = None
    affect: Affect | None = None
    claims: tuple[Claim, ...] = ()
    structured: dict[str, Json] | None = None
    media: tuple[Media, ...] = ()
    tags: tuple[str, ...] = ()
    external_id: str | None = None
    occurred_at: Instant | None = None
    idempotency_key: IdempotencyKey | None = None
    signer: Name | None = None


class Appended(Response, frozen=True, kw_only=True):
    """Where a record stands in the log. `known`: a key said that it was there already."""

    id: RecordId
    index: int
    known: bool = False


@operation(
    Append,
    Appended,
    access="write",
    cost="record",
    positional=("text",),
    returns="id",
    example=Append(text="Maya moved to Porto.", user_id="maya"),
    errors=(*_WRITES, UnknownRecordError, ErasedError, IdempotencyConflictError),
)
def append(session: Session, asked: Append) -> Appended:
    """Append an experience; when this returns it is as durable as the store's setting says.

    An `idempotency_key` that is in the log names its record, where that says the same. `signer`: the actor whose key
    signs. What it states is read by `learn`, not here.
    """
    _require_modify(session, (asked,))
    return _appended(session.append_drafts([draft_of(asked)], signer=asked.signer, held=1))[0]


class AppendAll(Request, frozen=True, kw_only=True):
    """Experiences that enter the log together. `signer` of the transaction signs all; the records name none."""

    records: tuple[Append, ...]
    signer: Name | None = None


class AppendedAll(Response, frozen=True, kw_only=True):
    """Where each record stands, in the order of the request."""

    records: tuple[Appended, ...]


@operation(
    AppendAll,
    AppendedAll,
    access="write",
    cost="record",
    positional=("records",),
    example=AppendAll(
        records=(Append(text="It rained."), Append(text="The match was off.", parents=("$0",)))
    ),
    errors=(*_WRITES, UnknownRecordError, ErasedError, IdempotencyConflictError),
)
def append_all(session: Session, asked: AppendAll) -> AppendedAll:
    """Append experiences as one transaction: all or none. A link `$0` names the first of them, `$1` the second."""
    _require_modify(session, asked.records)
    if any(one.signer for one in asked.records):
        raise InvalidRequestError(
            "append_all: one key signs a transaction: name the signer beside the records"
        )
    batch = [draft_of(one, place) for place, one in enumerate(asked.records)]
    return AppendedAll(records=_appended(session.append_drafts(batch, signer=asked.signer, held=len(batch))))


def checked_append(asked: Append, place: int) -> Append:
    """Return a request as record `place` of a transaction: checked, and apart from what its caller still holds.

    Raises InvalidRequestError and InvalidRecordError.
    """
    checked = operation_of(append).checked(asked)
    assert isinstance(checked, Append)  # noqa: S101 - what `append` takes
    draft_of(checked, place)
    return checked


def _require_modify(session: Session, records: Sequence[Append]) -> None:
    """What takes the place of another record changes what is told: it needs the access that `correct` needs."""
    if any(one.supersedes for one in records):
        session.require("append with supersedes", "modify")
        refuse_locked(session, [id for one in records for id in one.supersedes if not id.startswith("$")])


class Earlier(msgspec.Struct, frozen=True):
    """A record that stands earlier in the transaction, as a link names it."""

    place: int


def draft_of(asked: Append, place: int = 0) -> Draft:
    """Return the draft of a request that says something, as record `place` of its transaction.

    Raises InvalidRecordError.
    """
    return drafts.telling(kept_draft(asked, place))


def kept_draft(asked: Append, place: int = 0) -> Draft:
    """Return the draft of a request as it is, one that says nothing too: so are turns kept that were held elsewhere."""
    return drafts.experience(
        asked.text,
        type=asked.type,
        actor=asked.actor,
        method=asked.method,
        name=asked.name,
        parents=_targets(asked.parents, place),
        evidence=_targets(asked.evidence, place),
        supersedes=_targets(asked.supersedes, place),
        sources=asked.sources,
        confidence=asked.confidence,
        affect=asked.affect,
        claims=asked.claims,
        structured=asked.structured,
        media=asked.media,
        within=drafts.scope_of(asked),
        tags=asked.tags,
        external_id=asked.external_id,
        occurred_at=asked.occurred_at,
        once=asked.idempotency_key,
    )


def _targets(names: Sequence[str], place: int) -> list[Target]:
    """Return what links name. Raises InvalidRecordError for a record of the transaction that comes later."""
    found: list[Target] = []
    for name in names:
        match = _EARLIER.fullmatch(name)
        if match and int(match[1]) >= place:
            raise InvalidRecordError(f"{name} is no earlier record of this transaction: this one is ${place}")
        found.append(Earlier(int(match[1])) if match else name)
    return found


def _appended(placed: Sequence[Placed]) -> tuple[Appended, ...]:
    return tuple(Appended(id=one.id, index=one.index, known=one.known) for one in placed)


class Correct(Request, frozen=True, kw_only=True):
    """What is right in place of a record, and why it is said."""

    id: Id
    text: str
    reason: str | None = None
    idempotency_key: IdempotencyKey | None = None


@operation(
    Correct,
    Appended,
    access="modify",
    cost="index",
    positional=("id", "text"),
    returns="id",
    example=Correct(id=_ID, text="Maya moved to Lisbon.", reason="misheard"),
    errors=(*_WRITES, *_READS, IdempotencyConflictError),
)
def correct(session: Session, asked: Correct) -> Appended:
    """Append what is right in place of a memory, named by any record of it; the old ones stay in the log, superseded.

    Where something was read of them, the new one is read too. An `idempotency_key` that is in the log names its record,
    where that corrects this memory to the same text. Raises InvalidRecordError for what is no experience, for a text
    that says nothing, and for an agent's word in place of a person's; ForgottenError where nothing is living.
    """
    session.reader.need_vault()
    with session.writer.turn():
        session.refresh()
        chain = memory_of(session.reader, asked.id)
        if (done := _corrected(session.reader, asked, chain)) is not None:
            return done
        refuse_gone(chain, asked.id)
        refuse_locked(session, [asked.id])
        old = own_living(session, chain)
        right = keyed(
            drafts.correction(old, asked.text, by_owner=speaks_for_owner(asking())), asked.idempotency_key
        )
        batch = correcting(session.reader, chain, right, asked.reason)
        new = session.append_drafts(batch)
    session.follow([one.id for one in old])
    return _appended(new)[0]


def keyed(draft: Draft, key: str | None) -> Draft:
    """Return a draft that a key stands for."""
    return msgspec.structs.replace(draft, body=msgspec.structs.replace(draft.body, once=key))


def _corrected(reader: Reader, asked: Correct, chain: Chain) -> Appended | None:
    """Return what a key did already, None where it is new; IdempotencyConflictError where it did something else."""
    key = asked.idempotency_key
    at = None if key is None else reader.key_index.find([key]).get(key)
    if key is None or at is None:
        return None
    record = reader.at(at, include_forgotten=True)
    if at not in chain.members or not record.targets(SUPERSEDES):
        raise IdempotencyConflictError(key, record.id, ["memory"])
    if record.text != asked.text:
        raise IdempotencyConflictError(key, record.id, ["text"])
    return Appended(id=record.id, index=at, known=True)


def own_living(session: Session, chain: Chain) -> list[Record]:
    """Return what is living of a memory and the caller's to change, the newest first; ForgottenError for none."""
    caller, reader = asking(), session.reader
    held = caller is not None and bool(caller.scope)
    own = [
        at
        for at in reversed(chain.living)
        if not held or (caller is not None and is_own(session, caller, reader.envelope(at).id))
    ]
    if not own:
        raise ForgottenError("nothing of this memory is living: recover it before it is changed")
    return [reader.at(at) for at in own]


def correcting(
    reader: Reader, chain: Chain, new: Draft, reason: str | None, changed: Mapping[str, object] | None = None
) -> list[Draft]:
    """Return what puts a draft in the place of a memory: it, why, and how the memory is kept, which goes on."""
    replaced = [link for link in new.links if link[0] == SUPERSEDES]
    if any(_is_hashed(reader, at) for at in chain.living):
        new = hashed(reader, new, chain.members)
    event = EventBody(name=CORRECTION, reason=reason, scope=new.body.scope)
    batch = [new, Draft(kind="event", body=event, links=[("evidence", Earlier(0)), *replaced])]
    now = kept(reader, chain)
    said = (
        {} if now == Kept() else {name: value for name, value in now._asdict().items() if value is not None}
    )
    settings = {**said, **(changed or {})}
    if settings:
        batch.append(setting(settings, Earlier(0), new.body.scope, reason))
    return batch


def _is_hashed(reader: Reader, at: int) -> bool:
    body = reader.at(at).body
    return isinstance(body, ExperienceBody) and body.content_hash is not None


class Get(AsOf, frozen=True, kw_only=True):
    """A record by its id, as the log is or was. `include_forgotten`, here and elsewhere, needs the access `recover`."""

    id: Id
    include_forgotten: bool = False


class Got(Response, frozen=True, kw_only=True):
    """A record, verified; as JSON in the schema's shape (SPEC §4.7)."""

    record: Record


@operation(
    Get,
    Got,
    access="read",
    cost="record",
    positional=("id",),
    returns="record",
    example=Get(id=_ID),
    errors=_READS,
)
def get(session: Session, asked: Get) -> Got:
    """Return a record, verified against the signed tree.

    In a past, what came later is unknown and what was forgotten then stays so; what is erased by now stays erased.
    Raises UnknownRecordError, ErasedError, ForgottenError, IntegrityError.
    """
    size = session.size_at(asked.as_of, asked.as_of_time)
    if size is None:
        return Got(record=session.reader.get(asked.id, include_forgotten=asked.include_forgotten))
    return Got(
        record=prefix.get_at(session.reader, asked.id, size, include_forgotten=asked.include_forgotten)
    )


class Read(Request, frozen=True, kw_only=True):
    """Records from index `start` to before `stop`."""

    start: Index = 0
    stop: Index | None = None
    include_forgotten: bool = False


@operation(
    Read,
    Record,
    access="read",
    cost="log",
    streams=True,
    positional=("start", "stop"),
    example=Read(start=0, stop=10),
    errors=(IntegrityError,),
)
def read(session: Session, asked: Read) -> Iterator[Record]:
    """Yield the records of a stretch of the log, verified; without the erased, and the forgotten unless asked for."""
    control = session.reader.control
    for entries in session.reader.entries(asked.start, asked.stop):
        for record, _ in entries:
            if record.index not in control.erased and (
                asked.include_forgotten or record.index not in control.hidden
            ):
                yield record


class Tail(Request, frozen=True, kw_only=True):
    """Records from index `start` on, and those to come, for so many seconds."""

    start: Index = 0
    seconds: Annotated[float, msgspec.Meta(ge=0, le=300)] = 30.0
    include_forgotten: bool = False


@operation(
    Tail,
    Record,
    access="read",
    cost="log",
    streams=True,
    positional=("start",),
    example=Tail(start=0, seconds=0.0),
    errors=(IntegrityError,),
)
def tail(session: Session, asked: Tail) -> Iterator[Record]:
    """Yield the records from `start` on, then each that is appended, verified, until `seconds` have passed.

    Go on behind the last index that you saw: none is left out, and none comes twice.
    """
    ends = monotonic() + asked.seconds
    at = asked.start
    while True:
        session.refresh()
        size = len(session)
        if at < size:
            yield from read(session, Read(start=at, stop=size, include_forgotten=asked.include_forgotten))
            at = size
        if (left := ends - monotonic()) <= 0:
            return
        if not wait_unless_gone(min(left, _TAIL_S)):
            return


class Trace(Request, frozen=True, kw_only=True):
    """Whose braid is asked for, in which directions, and how deep. `text`: also who said what."""

    id: Id
    up: bool = True
    down: bool = True
    depth: Annotated[int, msgspec.Meta(ge=0)] | None = None
    text: bool = False


@operation(
    Trace,
    TraceNode,
    access="read",
    cost="index",
    positional=("id",),
    example=Trace(id=_ID, depth=2),
    errors=_READS,
)
def trace(session: Session, asked: Trace) -> TraceNode:
    """Return the braid of a record: what it descends from, and what descends from it.

    With `text` each record also says who said what; without, all of it comes from envelopes. Who is held to a scope is
    shown no records of others. Raises UnknownRecordError.
    """
    session.refresh()
    backlinks = session.reader.backlinks
    found = braid_of(
        session.reader,
        asked.id,
        up=asked.up,
        down=asked.down,
        depth=asked.depth,
        children=lambda index: list(backlinks.of(index)),
        text=asked.text,
    )
    return own_braid(found, of_asker(session))


class Prove(Request, frozen=True, kw_only=True):
    """Of which record a proof is asked for."""

    id: Id


class Proof(Response, frozen=True, kw_only=True):
    """A proof that needs no store to be checked."""

    proof: bytes


@operation(
    Prove,
    Proof,
    access="read",
    cost="record",
    payload="bytes",
    positional=("id",),
    returns="proof",
    example=Prove(id=_ID),
    errors=(UnknownRecordError, IntegrityError),
)
def prove(session: Session, asked: Prove) -> Proof:
    """Return a c2sp.org/tlog-proof file that shows offline that a record is in the log."""
    index = _published(session, [asked.id])[0]
    return Proof(proof=session.reader.prove(index))


class ProveMany(Request, frozen=True, kw_only=True):
    """Of which records one proof is asked for."""

    ids: Annotated[tuple[Id, ...], msgspec.Meta(min_length=1)]


@operation(
    ProveMany,
    Proof,
    access="read",
    cost="record",
    payload="bytes",
    positional=("ids",),
    returns="proof",
    example=ProveMany(ids=(_ID,)),
    errors=(UnknownRecordError, IntegrityError),
)
def prove_many(session: Session, asked: ProveMany) -> Proof:
    """Return one proof that shows offline that all of these records are in the log, with their envelopes.

    A node of the tree that several need is in it once; `braid check-proof` checks it. Raises UnknownRecordError, and
    ValueError for no id.
    """
    return Proof(proof=session.reader.prove_many(_published(session, asked.ids)))


def _published(session: Session, ids: Sequence[str]) -> list[int]:
    """Return the indexes of records, with a head published that holds them all, where one can be signed here."""
    reader = session.reader
    indexes = [reader.index_of(id) for id in ids]
    for id, index in zip(ids, indexes, strict=True):
        if reader.envelope(index).id != id:
            raise UnknownRecordError(f"{id}: no such record")
    if max(indexes, default=0) >= reader.published.size and isinstance(reader, Writer):
        reader.checkpoint()
    return indexes


class Attach(Request, frozen=True, kw_only=True):
    """Media: its content (base64 in JSON), and what is said of it."""

    content: bytes | None = None
    media_type: Name
    name: str | None = None
    caption: str | None = None


@operation(
    Attach,
    Media,
    access="write",
    cost="record",
    positional=("content",),
    example=Attach(content=b"\x89PNG", media_type="image/png", name="cot.png"),
    errors=(ReadOnlyError, OSError),
)
def attach(session: Session, asked: Attach, *, file: Readable | None = None) -> Media:
    """Seal media into a blob and return what an experience's `media` takes.

    `file`: an open file, read to its end, in place of the content. Raises InvalidRequestError where neither or both are
    given, ReadOnlyError, OSError. SPEC §4.5.
    """
    from base64 import b64encode

    given = asked.content if file is None else file
    if given is None or (file is not None and asked.content is not None):
        raise InvalidRequestError("attach: give the content as bytes, or an open file")
    ref = BlobStore(session.writer.path / "blobs", writable=False).put(given)
    return Media(
        blob=ref.sha256,
        size=ref.size,
        key=b64encode(ref.key).decode(),
        media_type=asked.media_type,
        name=asked.name,
        caption=asked.caption,
    )


class ReadMedia(Request, frozen=True, kw_only=True):
    """Media as a record names it."""

    media: Media


@operation(
    ReadMedia,
    bytes,
    access="read",
    cost="record",
    streams=True,
    payload="bytes",
    positional=("media",),
    example=ReadMedia(
        media=Media(
            blob="6b1c2f0e6f0d0e0b7f0b9f0a5d3c2b1a6b1c2f0e6f0d0e0b7f0b9f0a5d3c2b1a",
            size=48,
            key="ZGVtb2RlbW9kZW1vZGVtb2RlbW9kZW1vZGVtb2RlbW8=",
            media_type="image/png",
        )
    ),
    errors=(BlobMissingError, BlobCorruptError),
)
def media(session: Session, asked: ReadMedia) -> Iterator[bytes]:
    """Yield the content of attached media in chunks of at most 65,532 bytes, verified before the first.

    Raises BlobMissingError, BlobCorruptError. SPEC §4.5.
    """
    return session.blob(asked.media)
