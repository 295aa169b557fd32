"""Records that come from another store: each checked, each keeping the evidence of where it is from (SPEC §13)."""

import os
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, cast

import msgspec

from braid.ledger.erase.erasure import forget
from braid.ledger.errors import EvidenceError, LedgerError
from braid.ledger.export.evidence import (
    End,
    Examiner,
    ExportHead,
    ExportItem,
    Imported,
    MediaPiece,
    decode_line,
    encode_line,
    keep,
    original_body,
)
from braid.ledger.read.blobs import BlobStore
from braid.ledger.read.scopechain import MEMBER as SCOPE_CHAIN
from braid.ledger.record.ids import index_of
from braid.ledger.record.record import BODY_TYPES, Body, Draft, Record
from braid.ledger.record.source import OUTSIDER
from braid.ledger.tree.note import VerifierKey, parse_vkey
from braid.ledger.write.compose import encode_body
from braid.session import Session

BATCH: Final = 1_000
_SEARCH_LINES: Final = 100
"""How far in the head is looked for."""
_COPIED_KINDS: Final = frozenset(("experience", "view", "stance", "affect", "embedding", "event"))
_NEEDS_ALL_LINKS: Final = frozenset(("view", "stance", "affect", "embedding"))


class Outcome(NamedTuple):
    """What an import did: records added, known from before, refused and links left loose (line, reason)."""

    added: int
    known: int
    refused: list[tuple[int, str]]
    loose: list[tuple[int, str]]
    """Links that lead to records which the export does not bring, and no erasure explains."""


def import_jsonl(
    session: Session, lines: Iterable[bytes], *, vkey: str | None = None, dry_run: bool = False
) -> Outcome:
    """Append the records of an export under new ids, each checked, and its evidence kept in its body.

    Links are carried over to the new ids, the old ones kept. Importing the same lines again adds nothing. What does
    not hold is refused with its line; the rest goes in. `vkey` is the pinned key of the exporting log; without one
    nobody knows whose log it is, and what it brings is an outsider's. Raises EvidenceError where nothing of it can be
    believed.
    """
    return _Import(session, parse_vkey(vkey.strip()) if vkey else None, dry_run=dry_run).run(lines)


class _Place(NamedTuple):
    """A record that goes earlier into the same transaction."""

    place: int


class _Ready(NamedTuple):
    """A record to be appended; `links` name the old ids of those that come along or came before."""

    number: int
    id: str
    draft: Draft
    links: list[tuple[str, str]]


class _Waiting(NamedTuple):
    """A record on its way in; `parts` are its blobs that have yet to come, by name with their sizes."""

    number: int
    item: ExportItem
    record: Record
    parts: dict[str, int]


class _Import:
    """One import: the lines' examiner, the new id of each old one, and what is to be appended together."""

    def __init__(self, session: Session, pinned: VerifierKey | None, *, dry_run: bool) -> None:
        self._session = session
        self._pinned = pinned
        self._dry_run = dry_run
        self._examiner: Examiner | None = None
        self._ids: dict[str, str] = {}
        self._batch: list[_Ready] = []
        self._coming: set[str] = set()
        self._seen: set[str] = set()
        self._hidden: list[str] = []
        self._waiting: _Waiting | None = None
        self._blob = IncomingBlob(session.path / "blobs", keep=not dry_run)
        self._headed = self._ended = False
        self._added = self._known = 0
        self._refused: list[tuple[int, str]] = []
        self._loose: list[tuple[int, str]] = []

    def run(self, lines: Iterable[bytes]) -> Outcome:
        number = 0
        try:
            for number, text in enumerate(lines, 1):
                if not text.strip():
                    continue
                try:
                    self._take(number, text)
                except (EvidenceError, LedgerError, ValueError, KeyError) as error:
                    self._refused.append((number, str(error)))
                    if self._examiner is None and (self._headed or number > _SEARCH_LINES):
                        break
        finally:
            self._blob.drop()
        if self._examiner is None:
            number, why = (
                self._refused[-1] if self._headed or self._refused else (0, "there is nothing in it")
            )
            raise EvidenceError(f"not an export that can be believed: line {number}: {why}")
        self._settle_waiting()
        self._commit()
        self._hide()
        if not self._ended:
            self._refused.append(
                (number, "the export ends early: it was cut off; get it whole and import again")
            )
        return Outcome(self._added, self._known, self._refused, self._unexplained())

    def _take(self, number: int, text: bytes) -> None:
        line = decode_line(text)
        if isinstance(line, MediaPiece):
            self._take_piece(line)
            return
        self._settle_waiting()
        if isinstance(line, ExportHead):
            self._begin(line)
        elif self._examiner is None:
            raise EvidenceError("an export begins with its head")
        elif isinstance(line, End):
            self._ended = True
        elif self._ended:
            raise EvidenceError("a record behind the end of the export")
        else:
            record = _examined(self._examiner, line, text)
            self._seen.add(line.id)
            if record.kind in _COPIED_KINDS and not record.envelope.is_control and record.raw is not None:
                self._waiting = _Waiting(number, line, record, dict(record.envelope.blobs))

    def _begin(self, head: ExportHead) -> None:
        self._headed = True
        if self._examiner is not None:
            raise EvidenceError("a second head: one export at a time")
        if head.origin == self._session.origin:
            raise EvidenceError(
                f"this is an export of this very log ({head.origin}): its records are here; "
                "to restore a store, bring back a backup made with `braid export FOLDER`"
            )
        self._examiner = Examiner(head, self._pinned)

    # Media come behind the record that names them, which bounds what they may be.

    def _take_piece(self, piece: MediaPiece) -> None:
        waiting = self._waiting
        if waiting is None or piece.blob not in waiting.parts:
            raise EvidenceError("media that no record before it names")
        try:
            data = b64decode(piece.data, validate=True)
        except (Base64Error, ValueError):
            self._waiting = None
            raise EvidenceError(f"{waiting.item.id}: its media are not base64") from None
        try:
            whole = self._blob.add(piece.blob, waiting.parts[piece.blob], data)
        except EvidenceError:
            self._waiting = None
            raise
        if whole:
            del waiting.parts[piece.blob]

    def _settle_waiting(self) -> None:
        """Put the record that was waiting for its media with those to be appended."""
        waiting, self._waiting = self._waiting, None
        if waiting is None:
            return
        if waiting.parts:
            self._refused.append((waiting.number, f"{waiting.item.id}: its media are not in the export"))
            return
        try:
            self._add(waiting)
        except (LedgerError, msgspec.MsgspecError, ValueError, KeyError) as error:
            self._refused.append((waiting.number, str(error)))

    def _add(self, waiting: _Waiting) -> None:
        number, item, record, _ = waiting
        if here := self._at_home(record):
            self._ids[item.id] = here
            self._known += 1
            return
        links = [
            (link.role, link.id) for link in record.links if link.id in self._ids or link.id in self._coming
        ]
        if len(links) < len(record.links):
            if record.kind in _NEEDS_ALL_LINKS:
                raise EvidenceError(
                    f"{item.id}: it speaks of records that are not in this export (--forgotten exports those, too)"
                )
            taken = {id for _, id in links}
            self._loose += [(number, link.id) for link in record.links if link.id not in taken]
        assert self._examiner is not None  # noqa: S101 - a record is examined behind a head
        draft = _draft(
            keep(self._examiner, item, record),
            record,
            whole=len(links) == len(record.links),
            pinned=self._pinned is not None or self._is_here(item.id),
        )
        self._batch.append(_Ready(number, item.id, draft, links))
        self._coming.add(item.id)
        if item.forgotten:
            self._hidden.append(item.id)
        if len(self._batch) >= BATCH:
            self._commit()

    def _at_home(self, record: Record) -> str | None:
        """Return the record's id here where it came from this store in the first place, and has come back."""
        kept: Any = record.members.get("imported")
        while isinstance(kept, dict):
            past = cast("dict[str, Any]", kept)
            if past.get("origin") == self._session.origin:
                id = str(past.get("id"))
                stored = self._session.reader.stored_envelope(self._session.reader.index_of(id))
                if stored.decode() == past.get("envelope"):
                    return id
            kept = past.get("imported")
        return None

    def _is_here(self, id: str) -> bool:
        """Whether a record was imported before, when the key of its log was given."""
        return bool(self._session.reader.key_index.find([_key_of(self._origin, id)]))

    def _commit(self) -> None:
        """Append what has gathered, as one transaction; where one record spoils it, each on its own."""
        batch, self._batch, self._coming = self._batch, [], set()
        if not batch:
            return
        if self._dry_run:
            self._ids |= {ready.id: ready.id for ready in batch}
            self._added += len(batch)
            return
        try:
            self._append(batch)
        except LedgerError as error:
            if len(batch) == 1:
                self._refused.append((batch[0].number, f"{batch[0].id}: {error}"))
                return
            for ready in batch:
                self._batch = [ready]
                self._commit()

    def _append(self, batch: list[_Ready]) -> None:
        place = {ready.id: _Place(k) for k, ready in enumerate(batch)}
        drafts: list[Draft] = []
        for ready in batch:
            links = [(role, self._ids.get(id) or place.get(id)) for role, id in ready.links]
            if not all(target for _, target in links):
                raise EvidenceError("a record that it links to was refused")
            drafts.append(msgspec.structs.replace(ready.draft, links=links))
        for ready, there in zip(batch, self._session.append_drafts(drafts), strict=True):
            self._ids[ready.id] = there.id
            self._known, self._added = self._known + there.known, self._added + (not there.known)

    def _hide(self) -> None:
        """Forget here what was forgotten there, once: a second import does not overrule who recovered it here."""
        if self._dry_run:
            return
        children = self._session.views.catalog.children
        control = self._session.reader.control
        new: list[str] = []
        for id in (self._ids[old] for old in self._hidden if old in self._ids):
            index = self._session.reader.index_of(id)
            touched = index in control.hidden or index in control.erased
            if not touched and not any(role == "target" for _, _, role in children(index)):
                new.append(id)
        if new:
            forget(self._session.writer, new, reason=f"forgotten in {self._origin}")

    @property
    def _origin(self) -> str:
        assert self._examiner is not None  # noqa: S101 - asked for behind a head
        return self._examiner.head.origin

    def _unexplained(self) -> list[tuple[int, str]]:
        """Return the loose links that should not be: in a whole export, to what was neither erased nor forgotten."""
        assert self._examiner is not None  # noqa: S101 - asked for behind a head
        if not self._examiner.head.whole:
            return []
        control = self._examiner.control
        gone = control.erased.keys() | control.hidden.keys()
        return [
            (number, f"its link to {id} is kept as evidence only: that record is not in the export")
            for number, id in self._loose
            if id not in self._seen and index_of(id) not in gone
        ]


def _examined(examiner: Examiner, item: ExportItem, text: bytes) -> Record:
    """Examine a record; where it doesn't hold, say so if its line isn't as exports are written: bytes were signed."""
    try:
        return examiner.examine(item)
    except EvidenceError as error:
        if encode_line(item) == text.rstrip():
            raise
        raise EvidenceError(
            f"{error}; its line was written again by another program: get the file again, and keep it byte for byte"
        ) from error


class IncomingBlob:
    """The sealed blob that is coming in, under a temporary name until it is whole and the one that was signed."""

    def __init__(self, folder: Path, *, keep: bool) -> None:
        self._session = BlobStore(folder, writable=False)
        self._folder = folder
        self._keep = keep
        self._path = folder
        self._reset()

    def _reset(self) -> None:
        self._name, self._size, self._digest = "", 0, sha256()
        self._file: IO[bytes] | None = None

    def add(self, name: str, size: int, data: bytes) -> bool:
        """Take the next bytes of a blob; return whether it is whole. Raises EvidenceError, and then drops it."""
        if name != self._name:
            self.drop()
            self._name = name
        self._size += len(data)
        self._digest.update(data)
        if self._size > size or (self._size == size and self._digest.hexdigest() != name):
            self.drop()
            raise EvidenceError(f"media {name[:16]}… are not what was signed")
        if self._keep:
            if self._file is None:
                self._file = self._open()
            self._file.write(data)
        if self._size < size:
            return False
        self._settle()
        return True

    def _open(self) -> IO[bytes]:
        self._folder.mkdir(mode=0o700, exist_ok=True)
        self._path = self._folder / f".put-{os.urandom(8).hex()}"
        return os.fdopen(
            os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb"
        )

    def _settle(self) -> None:
        if self._file is not None:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            self._session.adopt(self._path, self._name)
        self._reset()

    def drop(self) -> None:
        """Let go of what has come so far."""
        if self._file is not None:
            self._file.close()
            self._path.unlink(missing_ok=True)
        self._reset()


def _key_of(origin: str, id: str, *, pinned: bool = True) -> str:
    """Return under which key a record is imported once; what came without a pinned key may come again with one."""
    return f"import:{origin}:{id}" if pinned else f"import:{origin}:{id}:unpinned"


def _draft(kept: Imported, record: Record, *, whole: bool, pinned: bool) -> Draft:
    """Return the record as it is appended here, but for its links, of which `whole` says that all come along.

    What was recorded elsewhere occurred, as seen from here, when it was first recorded. Unless the key of that log was
    pinned, it is an outsider's: anybody may make a log in which a person says anything.
    """
    raw = record.raw or b"{}"
    was: dict[str, Any] = {}
    members = record.members

    def change(name: str, value: Any) -> Any:
        was[name] = members.get(name)
        return value

    body: Body = msgspec.json.decode(raw, type=BODY_TYPES[record.kind])
    body = msgspec.structs.replace(body, once=change("once", _key_of(kept.origin, kept.id, pinned=pinned)))
    if not pinned and OUTSIDER not in body.tags:
        body = msgspec.structs.replace(body, tags=change("tags", [*body.tags, OUTSIDER]))
    if body.occurred_at is None:
        body = msgspec.structs.replace(body, occurred_at=change("occurred_at", record.created_at))
    if body.diffs and not whole:
        body = msgspec.structs.replace(body, diffs=change("diffs", []))
    known = {field.encode_name for field in msgspec.structs.fields(body)}
    if SCOPE_CHAIN in members:  # of the other log's records; here it is the writer's own to give
        was[SCOPE_CHAIN] = members[SCOPE_CHAIN]
    known |= {"imported", SCOPE_CHAIN}
    extra = {name: value for name, value in members.items() if name not in known}

    def drafted(kept: Imported) -> Draft:
        return Draft(
            kind=record.kind,
            type=record.type,
            body=body,
            public=record.envelope.public,
            blobs=record.envelope.blobs,
            extra={**extra, "imported": msgspec.to_builtins(kept)},
        )

    kept = msgspec.structs.replace(kept, was=was)
    draft = drafted(kept)
    if original_body(msgspec.json.decode(encode_body(draft))) != raw:
        draft = drafted(msgspec.structs.replace(kept, was={}, body=raw.decode()))
    return draft
