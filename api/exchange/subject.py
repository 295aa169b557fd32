"""Everything held about one person, given to that person: a folder, or a zip of it (docs/access.md)."""

import hashlib
import os
import shutil
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import IO, Final, Protocol

import msgspec

from braid.exchange.lines import EVIDENCE, lines_of, stand
from braid.exchange.subject_page import render_page
from braid.ledger.errors import DestinationExistsError
from braid.ledger.export.evidence import (
    Anchor,
    End,
    ExportHead,
    ExportItem,
    MediaPiece,
    encode_line,
    head_of,
    proof_of,
)
from braid.ledger.subject.collection import SubjectRecords, gather, held_record
from braid.ledger.subject.export import counts_of, held_of, media_of, proof_name, summary_of
from braid.ledger.subject.format import (
    Counts,
    FileDigest,
    HeldRecord,
    Manifest,
    MediaFile,
    Summary,
)
from braid.ledger.subject.graphml import to_graphml
from braid.session import Session
from braid.wal.durable import sync_folder

_SAFE_ENDINGS: Final = {
    "image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "audio/mpeg": ".mp3",
    "audio/wav": ".wav", "audio/ogg": ".ogg", "video/mp4": ".mp4", "application/pdf": ".pdf", "text/plain": ".txt",
}  # fmt: skip
"""Endings that a browser shows without running anything; all else is `.bin`."""


def plan_subject(session: Session, subject: Mapping[str, str]) -> Counts:
    """Return how much an export would hold; writes nothing. Raises as `export_subject` does."""
    return counts_of(session.reader, _found(session, subject, stand(session)))


def export_subject(
    session: Session, dest: Path, subject: Mapping[str, str], *, now: datetime | None = None
) -> Counts:
    """Write everything held about a subject into a new folder, or a zip where `dest` ends in `.zip`.

    `subject`: user_id, agent_id, run_id, project_id, session_id, actor; all that are given must hold. It reaches as far
    as the
    signed head. Files are 0600, the folder 0700. Raises ValueError, DestinationExistsError, NoVaultError,
    LedgerError.
    """
    anchor = stand(session)
    found = _found(session, subject, anchor)
    sink = _sink(dest)
    try:
        counts = _Export(session, found, anchor, sink).write(subject, now or session.now())
    except BaseException:
        sink.undo()
        raise
    sink.close()
    return counts


def _found(session: Session, subject: Mapping[str, str], anchor: Anchor) -> SubjectRecords:
    """Return what is held; an empty export would make a slip of the pen look like a complete answer."""
    found = gather(session.reader, subject, anchor.checkpoint.size)
    if not found.belongs:
        named = ", ".join(f"{name}={value}" for name, value in subject.items())
        if beyond := session.reader.size - anchor.checkpoint.size:
            raise ValueError(
                f"no signed checkpoint covers anything about {named}, and {beyond:,} newer records are covered by none"
                " yet: run `braid checkpoint`, then export"
            )
        raise ValueError(f"nothing is held about {named}: is it spelt as it was recorded?")
    return found


class _Export:
    """One export on its way into a folder or an archive."""

    def __init__(self, session: Session, found: SubjectRecords, anchor: Anchor, sink: "_Sink") -> None:
        self._session = session
        self._found = found
        self._anchor = anchor
        self._sink = sink

    def write(self, subject: Mapping[str, str], now: datetime) -> Counts:
        """Write the files, the manifest last: a folder without it is not whole."""
        reader, put = self._session.reader, self._sink.put
        belongs = sorted(self._found.belongs)
        media = {index: list(self._media(index)) for index in belongs}
        summary = summary_of(reader, self._found, self._anchor, subject=subject, now=now)

        def records() -> Iterator[HeldRecord]:
            for index in belongs:
                yield held_of(reader, self._found, index, media[index])

        for index in belongs:
            put(proof_name(index), [proof_of(reader, index, self._anchor)])
        put(EVIDENCE, (encode_line(line) + b"\n" for line in self._evidence()))
        put("records.json", _json(summary, records()))
        put("graph.graphml", to_graphml(records, summary.others))
        put("index.html", (part.encode() for part in render_page(summary, records())))
        put("log.vkey", [f"{self._session.vkey}\n".encode()])
        manifest = Manifest(
            subject=dict(subject),
            origin=self._session.origin,
            vkey=self._session.vkey,
            made_at=summary.made_at,
            checkpoint=summary.checkpoint,
            counts=summary.counts,
            files=sorted(self._sink.files, key=lambda file: file.path),
        )
        put("manifest.json", [msgspec.json.format(msgspec.json.encode(manifest), indent=1)])
        return summary.counts

    def _evidence(self) -> Iterator[ExportHead | ExportItem | MediaPiece | End]:
        """Yield the records as another store imports them, with the envelopes of keys, and of what explains a gap."""
        reader, found = self._session.reader, self._found
        yield head_of(reader, self._anchor, whole=False)
        for index in sorted([*found.keys, *found.explaining, *found.belongs]):
            record = held_record(reader, index)
            yield from lines_of(self._session, record, self._anchor, content=index in found.belongs)
        yield End(len(found.belongs) + len(found.keys) + len(found.explaining))

    def _media(self, index: int) -> Iterator[MediaFile]:
        """Unseal a record's media into files named by us: what a name or type says never becomes a path."""
        for place, one in enumerate(media_of(held_record(self._session.reader, index))):
            path = f"media/{index:012d}-{place}{_SAFE_ENDINGS.get(one.media_type, '.bin')}"
            file = self._sink.put(path, self._session.blob(one))
            yield MediaFile(path, one.media_type, file.sha256, file.size, one.name, one.caption)


def _json(summary: Summary, records: Iterable[HeldRecord]) -> Iterator[bytes]:
    """Yield a `Holding` as JSON, a record at a time: together they may be more than memory holds."""
    yield (
        msgspec.json.format(msgspec.json.encode(summary), indent=1).removesuffix(b"\n}") + b',\n "records": ['
    )
    between = b"\n"
    for record in records:
        yield between + msgspec.json.format(msgspec.json.encode(record), indent=1)
        between = b",\n"
    yield b"\n ]\n}\n"


# -- where it goes ----------------------------------------------------------------------------------


class _Sink(Protocol):
    """A folder or an archive that is being made; it overwrites nothing."""

    files: list[FileDigest]

    def put(self, path: str, chunks: Iterable[bytes]) -> FileDigest: ...
    def undo(self) -> None: ...
    def close(self) -> None: ...


def _copy(path: str, chunks: Iterable[bytes], file: IO[bytes]) -> FileDigest:
    digest, size = hashlib.sha256(), 0
    for chunk in chunks:
        file.write(chunk)
        digest.update(chunk)
        size += len(chunk)
    return FileDigest(path, digest.hexdigest(), size)


def _sink(dest: Path) -> _Sink:
    """Begin an export. Raises DestinationExistsError where something stands already."""
    try:
        return _Zip(dest) if dest.suffix == ".zip" else _Folder(dest)
    except FileExistsError:
        raise DestinationExistsError(f"{dest} exists; choose another place for the export") from None


def _create(path: Path) -> IO[bytes]:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb")


class _Folder:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.files: list[FileDigest] = []
        folder.mkdir(mode=0o700)

    def put(self, path: str, chunks: Iterable[bytes]) -> FileDigest:
        place = self._folder / path
        place.parent.mkdir(mode=0o700, exist_ok=True)
        with _create(place) as file:
            self.files.append(_copy(path, chunks, file))
            if place.parent == self._folder:
                file.flush()
                os.fsync(file.fileno())
        return self.files[-1]

    def undo(self) -> None:
        shutil.rmtree(self._folder)

    def close(self) -> None:
        """Make the rest durable at once: proofs are many, and a flush of each would cost more than all else.

        `sync` says nothing of a disk that fails. What a proof lacks then, `check-proof` finds, and
        `evidence.jsonl` holds.
        """
        os.sync()
        for folder in (self._folder, *(path for path in self._folder.iterdir() if path.is_dir())):
            sync_folder(folder)


class _Zip:
    def __init__(self, path: Path) -> None:
        self._path = path
        self.files: list[FileDigest] = []
        self._file = _create(path)
        self._archive = zipfile.ZipFile(self._file, "w", zipfile.ZIP_DEFLATED)

    def put(self, path: str, chunks: Iterable[bytes]) -> FileDigest:
        member = zipfile.ZipInfo(f"{self._path.stem}/{path}")
        member.compress_type = zipfile.ZIP_DEFLATED
        member.external_attr = 0o600 << 16
        with self._archive.open(member, "w", force_zip64=True) as file:
            self.files.append(_copy(path, chunks, file))
        return self.files[-1]

    def undo(self) -> None:
        with suppress(OSError, ValueError):  # a full disk has no room for its table of contents, either
            self._archive.close()
        self._file.close()
        self._path.unlink()

    def close(self) -> None:
        self._archive.close()
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
