"""Seals: what the vault's holder wrote into the DuckDB projection's folder, and nobody has changed (SPEC §10.12).

    views/duck/seals/<file>    the position and root that a closed file stands at; a MAC over that, its name and bytes

A file is believed while this process has kept it in view: it closed the file, or checked its seal, and the file's
inode, size and times have not changed since. Any other is believed by its seal alone, read through once. What is not
believed is never answered from: it is made again. Without a vault there is no key: only a process's own files count.
"""

import os
import struct
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from hmac import compare_digest
from pathlib import Path
from typing import Final, NamedTuple

from blake3 import blake3

from braid.ledger.read.prefix import root_at
from braid.ledger.read.reader import Reader
from braid.views.duck.schema import VERSION
from braid.views.errors import UnsealedError
from braid.wal.durable import make_folder, sync_folder, write_all

CONTEXT: Final = "braid/v1/projection"
FOLDER: Final = "seals"
SHARE: Final = 20
"""Sealing a file that is written again and again takes at most one part in so many of the time."""
_MAGIC: Final = b"BRAIDSL1"
_HEAD: Final = struct.Struct("<8sIQ32s")
"""Magic, version of the projection, position, root."""
_MAC_BYTES: Final = 32
_CHUNK: Final = 4 << 20
_THREADS: Final = 2


class _Face(NamedTuple):
    """What changes when anybody writes a file: its change time can't be set back, as its modification time can."""

    device: int
    inode: int
    bytes: int
    modified_ns: int
    changed_ns: int


_State = tuple[_Face, _Face | None]
"""A file, and the write-ahead file that DuckDB leaves beside it where it had no room to fold it in."""


class Seals:
    """The seals of one folder. Safe to share between threads, of which one at a time writes a file."""

    def __init__(self, reader: Reader) -> None:
        """`reader` has the vault and the log that files are bound to."""
        self._reader = reader
        lookup_key = reader.vault.lookup_key if reader.vault else None
        # Derived, as that of lineage: one key says one thing (ADR 36).
        self._key = None if lookup_key is None else blake3(lookup_key, derive_key_context=CONTEXT).digest()
        self._known: dict[Path, _State] = {}
        self._waiting: dict[Path, int] = {}
        """Closed here and not sealed yet: the position that each stands at."""
        self._next = 0.0

    # -- making -----------------------------------------------------------------------------------

    def closed(self, path: Path, position: int, *, whole: bool = True) -> None:
        """Believe a file that this process has just closed, which stands at `position`; seal it now, or soon.

        Without `whole` it is on its way to another name, and gets no seal under this one.
        """
        state = _state(path)
        if state is None or self._known.get(path) == state:
            return
        self._known[path] = state
        if whole:
            self._waiting[path] = position
            if time.monotonic() >= self._next:
                self.settle()

    def renamed(self, path: Path, to: Path, position: int) -> None:
        """Believe a file under its new name as under the old; seal it."""
        before, now = self._known.pop(path, None), _state(to)
        # Renaming changes nothing but the change time.
        if before is None or now is None or before[0][:4] != now[0][:4] or now[1] is not None:
            return
        self._known[to] = now
        self.seal(to, position)

    @property
    def behind(self) -> bool:
        """Whether a file waits for its seal."""
        return bool(self._waiting)

    def settle(self) -> None:
        """Seal what waits for it. Dying before: the file is not believed, and made again from a generation."""
        waiting, self._waiting = self._waiting, {}
        begun = time.monotonic()
        for path, position in waiting.items():
            with suppress(OSError):  # on a full disk the next who opens it makes it again
                self.seal(path, position)
        self._next = time.monotonic() + SHARE * (time.monotonic() - begun)

    def seal(self, path: Path, position: int, *, durably: bool = False) -> None:
        """Seal a file that is believed; one that was changed since gets none. Raises OSError."""
        self._waiting.pop(path, None)
        known = self._known.get(path)
        if self._key is None or known is None or known[1] is not None:
            return
        with path.open("rb") as file:
            content = _content(file.fileno())
        if _state(path) != known:
            return
        head = _HEAD.pack(_MAGIC, VERSION, position, bytes.fromhex(root_at(self._reader, position)))
        _write(seal_of(path), head + self._mac(head, path.name, content), durably=durably)

    def _mac(self, head: bytes, name: str, content: bytes) -> bytes:
        """Over the head, the content's digest (of one length, both) and the name: a seal fits one name alone."""
        assert self._key is not None  # noqa: S101 - callers have looked
        return blake3(head + content + name.encode(), key=self._key).digest(_MAC_BYTES)

    # -- believing --------------------------------------------------------------------------------

    def state(self, path: Path) -> object:
        """Return what changes when anybody writes a file or puts another in its place; None where there is none."""
        return _state(path)

    def holds(self, path: Path) -> bool:
        """Whether a file is this process's own, untouched, or bears its seal. Reads a file through at first sight."""
        try:
            self.require(path)
        except (UnsealedError, OSError):
            return False
        return True

    def require(self, path: Path) -> None:
        """Raise UnsealedError unless `holds`; OSError where the file can't be read."""
        with self.opened(path):
            pass

    @contextmanager
    def opened(self, path: Path) -> Generator[Path]:
        """Hold open a file that is believed, and yield a path by which DuckDB opens that very file, whatever becomes of
        its name. Raises UnsealedError for any other, and, at the end, where it was changed meanwhile; OSError.
        """
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            before = self._believed(path, fd)
            held = Path(f"/proc/{os.getpid()}/fd/{fd}")
            try:
                yield held if held.exists() else path
            finally:
                if (_face(os.fstat(fd)), _face_at(_wal(path))) != before:
                    raise UnsealedError(f"{path.name} was changed while it was read")
        finally:
            os.close(fd)

    def _believed(self, path: Path, fd: int) -> _State:
        state = (_face(os.fstat(fd)), _face_at(_wal(path)))
        if self._known.get(path) == state:
            return state
        if self._key is None:
            raise UnsealedError(
                f"{path.name} was not made by this process, and without a vault nothing else can be believed"
            )
        if state[1] is not None or not self._fits(path, fd):
            raise UnsealedError(
                f"{path.name} bears no seal that fits it: it was changed, or who wrote it died first"
            )
        if (_face(os.fstat(fd)), _face_at(_wal(path))) != state:
            raise UnsealedError(f"{path.name} was changed while it was read")
        self._known[path] = state
        return state

    def _fits(self, path: Path, fd: int) -> bool:
        try:
            seal = seal_of(path).read_bytes()
        except OSError:
            return False
        if len(seal) != _HEAD.size + _MAC_BYTES:
            return False
        head, mac = seal[: _HEAD.size], seal[_HEAD.size :]
        magic, version, position, root = _HEAD.unpack(head)
        if (magic, version) != (_MAGIC, VERSION) or not self._is_of_this_log(position, root):
            return False
        return compare_digest(self._mac(head, path.name, _content(fd)), mac)

    def _is_of_this_log(self, position: int, root: bytes) -> bool:
        if position > self._reader.size:
            self._reader.refresh()  # another process has gone further than this one has looked
        return position <= self._reader.size and root_at(self._reader, position) == root.hex()


def seal_of(path: Path) -> Path:
    """Return where a file's seal lies."""
    return path.parent / FOLDER / path.name


def _write(path: Path, seal: bytes, *, durably: bool) -> None:
    fresh = path.with_name(f".{path.name}.new")
    make_folder(path.parent)
    try:
        fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            write_all(fd, seal, "views.seal")
            if durably:
                os.fsync(fd)
        finally:
            os.close(fd)
        fresh.replace(path)
    except OSError:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)
        raise
    if durably:
        sync_folder(path.parent)


def _content(fd: int) -> bytes:
    """Return the BLAKE3 of a file, read through in pieces: a map of it would end the process if it were cut."""
    hasher, at = blake3(max_threads=_THREADS), 0
    room = memoryview(bytearray(_CHUNK))
    while read := os.preadv(fd, [room], at):
        hasher.update(room[:read])
        at += read
    return hasher.digest()


def _face(found: os.stat_result) -> _Face:
    return _Face(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _face_at(path: Path) -> _Face | None:
    try:
        return _face(path.stat())
    except FileNotFoundError:
        return None


def _state(path: Path) -> _State | None:
    face = _face_at(path)
    return None if face is None else (face, _face_at(_wal(path)))


def _wal(path: Path) -> Path:
    return path.with_name(f"{path.name}.wal")
