"""Records that leave with the evidence of where they are from, as lines of JSON (SPEC §13)."""

import os
import zipfile
import zlib
from base64 import b64encode
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from braid.ledger.errors import EvidenceError, NoVaultError
from braid.ledger.export.evidence import (
    Anchor,
    End,
    ExportItem,
    MediaPiece,
    anchor_of,
    decode_line,
    encode_line,
    head_of,
    item_of,
)
from braid.ledger.read.blobs import BlobStore
from braid.ledger.record.record import Record
from braid.ledger.write.writer import Writer
from braid.log.operations import Read, read
from braid.session import Session
from braid.wal.regular import open_regular

MAX_LINE_BYTES: Final = 128 * 2**20
"""A body of 16 MiB stands in its line twice, beside up to a million links."""
EVIDENCE: Final = "evidence.jsonl"
"""The file of an export's folder that holds its lines."""
_MAX_RATIO: Final = 200
_PIECE_BYTES: Final = 48 * 1024


# -- out ------------------------------------------------------------------------------------------


def export_jsonl(session: Session, out: IO[str], *, include_forgotten: bool = False) -> int:
    """Write the lines of an export; return of how many records."""
    last = ""
    for last in lines(session, include_forgotten=include_forgotten):
        out.write(f"{last}\n")
    return count_of(last)


def lines(session: Session, *, include_forgotten: bool = False) -> Iterator[str]:
    """Yield the records under the signed head as JSON lines with their evidence; the last says how many.

    Control records go along as envelopes at least, so that a reader can tell which keys were in force.
    """
    if session.reader.vault is None:
        raise NoVaultError("there is no vault here: an auditor's copy has nothing to export but --audit")
    anchor = stand(session)
    yield encode_line(head_of(session.reader, anchor, whole=True)).decode()
    count = 0
    for record in read(session, Read(stop=anchor.checkpoint.size, include_forgotten=True)):
        hidden = record.index in session.reader.control.hidden
        if hidden and not include_forgotten:
            continue
        for line in lines_of(session, record, anchor):
            yield encode_line(line).decode()
        count += 1
    yield encode_line(End(count)).decode()


def count_of(last: str) -> int:
    """Return how many records an export holds, by its last line."""
    end = decode_line(last.encode())
    return end.records if isinstance(end, End) else 0


def stand(session: Session) -> Anchor:
    """Return the signed head that an export stands on; a writer publishes its newest first."""
    if isinstance(session.reader, Writer):
        session.reader.checkpoint()
    return anchor_of(session.reader)


def lines_of(
    session: Session, record: Record, anchor: Anchor, *, content: bool = True
) -> Iterator[ExportItem | MediaPiece]:
    """Yield a record's line and those of its media, sealed as they are."""
    yield item_of(session.reader, record, anchor, content=content)
    if not content:
        return
    blobs = BlobStore(session.path / "blobs", writable=False)
    for name in dict(record.envelope.blobs):
        with os.fdopen(open_regular(blobs.path(name)), "rb") as file:
            while piece := file.read(_PIECE_BYTES):
                yield MediaPiece(name, b64encode(piece).decode())


# -- in -------------------------------------------------------------------------------------------


@contextmanager
def open_lines(path: Path) -> Generator[Iterator[bytes]]:
    """Open an export for reading: its file, its folder, or a zip of that folder, of which one member is read.

    Nothing is unpacked, so that names within an archive lead nowhere. Raises EvidenceError for an archive that is
    none, or that would swell, ObstructedError for a link in the folder.
    """
    if path.is_dir():
        if not os.path.lexists(path / EVIDENCE):
            raise EvidenceError(
                f"{path}: no {EVIDENCE} is in it: what `export --jsonl` or `--subject` wrote can be taken in; a whole "
                "store is opened where it is"
            )
        path /= EVIDENCE
        os.close(open_regular(path))  # others made the folder: no link out of it, no pipe that never ends
    if zipfile.is_zipfile(path):
        try:
            with zipfile.ZipFile(path) as archive, archive.open(_member(archive, path)) as stream:
                yield read_lines(stream)
        except (zipfile.BadZipFile, zlib.error, NotImplementedError) as error:
            raise EvidenceError(f"{path}: the archive is damaged: {error}") from error
        return
    with path.open("rb") as file:
        yield read_lines(file)


def _member(archive: zipfile.ZipFile, path: Path) -> zipfile.ZipInfo:
    found = [member for member in archive.infolist() if Path(member.filename).name == EVIDENCE]
    if len(found) != 1 or found[0].flag_bits & 1:
        raise EvidenceError(f"{path}: an export's archive holds one {EVIDENCE}, and no password")
    (member,) = found
    if member.file_size > _MAX_RATIO * max(member.compress_size, 2**16):
        raise EvidenceError(
            f"{path}: {member.filename} would swell to {member.file_size} bytes; it is refused"
        )
    return member


def read_lines(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield the lines of a stream; raise EvidenceError for one that is longer than any record can be."""
    while line := stream.readline(MAX_LINE_BYTES + 1):
        if len(line) > MAX_LINE_BYTES:
            raise EvidenceError(f"a line of more than {MAX_LINE_BYTES} bytes: no record is that long")
        yield line
