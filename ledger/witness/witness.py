"""A witness (C2SP tlog-witness v1.0.0): it cosigns a head only when it continues the last one that it cosigned.

`Witness.add_checkpoint` is the whole protocol as a function of the request's body; sockets are elsewhere. A head is on
disk before its cosignature leaves, and between the look at the last head and the new one nobody else comes.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Final, NamedTuple

from braid.ledger.errors import NoteError, ProofError
from braid.ledger.tree.checkpoint import Checkpoint, parse_checkpoint
from braid.ledger.tree.merkle import EMPTY_ROOT, HASH_BYTES, check_consistency
from braid.ledger.tree.note import (
    COSIGNATURE,
    ED25519,
    SignedNote,
    SigningKey,
    VerifierKey,
    cosign,
    format_note,
    from_base64,
    open_note,
    parse_note,
    to_base64,
)
from braid.wal.durable import make_folder, replace_file
from braid.wal.lock import FileLock

MAX_PROOF_LINES: Final = 63
SIZE_TYPE: Final = "text/x.tlog.size"
_TEXT: Final = "text/plain; charset=utf-8"
_OLD: Final = re.compile(rb"old (0|[1-9][0-9]{0,18})")


class Submission(NamedTuple):
    """The body of `add-checkpoint`: where the witness is thought to stand, the proof from there, the head."""

    old: int
    proof: tuple[bytes, ...]
    note: bytes


class WitnessResponse(NamedTuple):
    """What a witness answers: HTTP status, content type, body."""

    status: int
    kind: str
    body: bytes

    @classmethod
    def refusal(cls, status: int, why: str) -> "WitnessResponse":
        """Return an answer that says why there is no cosignature."""
        return cls(status, _TEXT, f"{why}\n".encode())


class WitnessRefusedError(Exception):
    """Carries the answer of a request that is not granted."""

    def __init__(self, status: int, why: str) -> None:
        self.answer = WitnessResponse.refusal(status, why)
        super().__init__(why)


def format_submission(old: int, proof: Sequence[bytes], note: bytes) -> bytes:
    """Return the body of an `add-checkpoint` request."""
    lines = [f"old {old}", *map(to_base64, proof), "", ""]
    return "\n".join(lines).encode() + note


def parse_submission(body: bytes) -> Submission:
    """Return what an `add-checkpoint` request says; ValueError where it isn't well-formed."""
    head, gap, note = body.partition(b"\n\n")
    first, *lines = head.split(b"\n")
    match = _OLD.fullmatch(first)
    if not gap or not match or int(match[1]) >= 1 << 63:
        raise ValueError("a request begins with `old <size>`, the proof's lines and an empty line")
    if len(lines) > MAX_PROOF_LINES:
        raise ValueError(f"a proof has at most {MAX_PROOF_LINES} lines")
    hashes = [from_base64(line.decode("ascii", "replace")) for line in lines]
    proof = tuple(one for one in hashes if one is not None and len(one) == HASH_BYTES)
    if len(proof) < len(hashes):
        raise ValueError("a line of the proof is not a hash in base64")
    return Submission(int(match[1]), proof, note)


class Witness:
    """A witness with its folder: one file for each log, `<sha256 of the origin>/checkpoint`, the last head cosigned."""

    def __init__(self, folder: Path, signer: SigningKey, logs: Iterable[VerifierKey]) -> None:
        """Take the folder's lock. Raises ValueError for keys of the wrong type, LogLockedError where another runs."""
        if signer.type != COSIGNATURE:
            raise ValueError("a witness signs with a cosignature key (type 0x04), which signs nothing else")
        self._logs = _by_origin(logs)
        self._folder = folder.absolute()
        self._signer = signer
        self._turn = Lock()
        make_folder(self._folder)
        self._lock = FileLock(self._folder / ".lock")
        self._lock.acquire()

    def close(self) -> None:
        """Give the lock back."""
        self._lock.release()

    def know(self, logs: Iterable[VerifierKey]) -> None:
        """Take other keys from the next request on; where it stands with each log stays. ValueError as at the start.

        Keys are told, never learned: a head is signed line by line, and whoever passes one on can add a line. That an
        old key's line stands beside another's does not say that the old key's holder knows of the other.
        """
        self._logs = _by_origin(logs)

    @property
    def logs(self) -> Mapping[str, Sequence[VerifierKey]]:
        """The keys of the logs that it knows, by origin."""
        return self._logs

    def add_checkpoint(self, body: bytes, now_s: int) -> WitnessResponse:
        """Judge a submission and cosign its head at a Unix time, in seconds; raise ValueError unless it is above 0.

        200 cosigned · 400 malformed, or `old` above the head's size · 403 no trusted signature, or one that is wrong ·
        404 another log · 409 `old` is not where this witness stands: the body says where · 422 not proved consistent.
        """
        if now_s <= 0:
            raise ValueError("a cosignature has a time")
        try:
            submission = parse_submission(body)
            checkpoint, note = self._opened(submission.note)
            if submission.old > checkpoint.size:
                raise WitnessRefusedError(400, "the old size is above the head's")
            with self._turn:
                return self._advance(submission, checkpoint, note, now_s)
        except WitnessRefusedError as refused:
            return refused.answer
        except ValueError as error:
            return WitnessResponse.refusal(400, str(error))

    def latest(self, origin_hash: str) -> bytes | None:
        """Return the last head cosigned of the log whose origin has this SHA-256 (hex), for monitors."""
        known = {sha256(origin.encode()).hexdigest(): origin for origin in self._logs}
        return self._stored(known[origin_hash]) if origin_hash in known else None

    def standing(self, origin: str) -> Checkpoint | None:
        """Return where the witness stands with a log; NoteError where its own file is not what it signed."""
        stored = self._stored(origin)
        if stored is None:
            return None
        # Its own cosignature vouches for the file: a log's key may have been changed since.
        checkpoint = parse_checkpoint(open_note(stored, [self._signer.verifier]).text)
        if checkpoint.origin != origin:
            raise NoteError(f"{self._path(origin)} holds a head of {checkpoint.origin!r}")
        return checkpoint

    def _opened(self, note: bytes) -> tuple[Checkpoint, SignedNote]:
        text, _ = parse_note(note)
        checkpoint = parse_checkpoint(text, any_empty_root=True)
        keys = self._logs.get(checkpoint.origin)
        if keys is None:
            raise WitnessRefusedError(404, "this witness does not know the log")
        try:
            return checkpoint, open_note(note, keys)
        except NoteError as error:
            raise WitnessRefusedError(403, str(error)) from error

    def _advance(
        self, submission: Submission, checkpoint: Checkpoint, note: SignedNote, now_s: int
    ) -> WitnessResponse:
        """Compare with the last head and store the new one: dying before the answer loses a cosignature only."""
        last = self.standing(checkpoint.origin)
        stands = last.size if last else 0
        if submission.old != stands:
            return WitnessResponse(409, SIZE_TYPE, b"%d\n" % stands)
        _check_growth(submission, last, checkpoint)
        cosignature = cosign(note.text, self._signer, now_s)
        # Only what was verified is kept: lines of other keys, even under this witness's own name, stay outside.
        stored = format_note(note.text, [*note.verified, cosignature])
        path = self._path(checkpoint.origin)
        make_folder(path.parent)
        replace_file(path, stored, "witness.write")
        return WitnessResponse(200, _TEXT, str(cosignature).encode())

    def _path(self, origin: str) -> Path:
        return self._folder / sha256(origin.encode()).hexdigest() / "checkpoint"

    def _stored(self, origin: str) -> bytes | None:
        try:
            return self._path(origin).read_bytes()
        except FileNotFoundError:
            return None


def _by_origin(logs: Iterable[VerifierKey]) -> dict[str, list[VerifierKey]]:
    known: dict[str, list[VerifierKey]] = {}
    for vkey in logs:
        if vkey.type != ED25519:
            raise ValueError(f"a log signs with Ed25519; {vkey} is a key of another type")
        known.setdefault(vkey.name, []).append(vkey)
    return known


def _check_growth(submission: Submission, last: Checkpoint | None, head: Checkpoint) -> None:
    """Raise Refused (422) unless the head is shown to continue the last one."""
    if head.size == 0 and head.root != EMPTY_ROOT:
        raise WitnessRefusedError(422, "a tree of no records has the root of the empty tree")
    if last is None or last.size == 0:
        if submission.proof:
            raise WitnessRefusedError(422, "nothing can be proved from size 0: the proof must be empty")
        return
    try:
        check_consistency(last.size, head.size, submission.proof, last.root, head.root)
    except ProofError as error:
        raise WitnessRefusedError(422, str(error)) from error
