"""What is known of a session between two calls: how far its transcript was read, and which path has it.

A file a session, written whole and at once, for its owner alone. A lock beside it: two calls of a session take turns.
Standard library alone.
"""

import fcntl
import json
import os
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, cast

KEPT_DAYS: Final = 40
"""How long a session that is read to its end is remembered: a harness keeps transcripts about a month."""
MOST: Final = 200
"""How many sessions are looked through at a start, the newest first."""


class BusyError(Exception):
    """Another call of the same session is still at work."""


class SessionState:
    """How far one session's transcript was read, and who has the session."""

    def __init__(self, found: dict[str, Any]) -> None:
        """From a file's JSON; what isn't there begins at its beginning."""
        self.session = str(found.get("session", ""))
        self.transcript = str(found.get("transcript", ""))
        self.offset = _count(found, "offset")
        self.line = _count(found, "line")
        self.size = _count(found, "size")
        self.mark = _count(found, "mark")
        self.calls: dict[str, str] = as_object(found.get("calls")) or {}
        self.ids: dict[str, str] = as_object(found.get("ids")) or {}
        self.path: str | None = found.get("path")
        self.number = _count(found, "number")
        self.reason: str | None = found.get("reason")
        self.turn = _count(found, "turn")
        self.seen = _count(found, "seen", -1)
        self.misses = _count(found, "misses")
        self.last = str(found.get("last", ""))
        self.last_path = str(found.get("last_path", ""))

    def encoded(self) -> bytes:
        """Return the file's content."""
        return json.dumps(vars(self)).encode()


def _count(found: dict[str, Any], name: str, default: int = 0) -> int:
    value = found.get(name)
    return value if isinstance(value, int) else default


class StateFolder:
    """The sessions of one store's harness, in the user's state folder."""

    def __init__(self, store: str, folder: str | None = None) -> None:
        """`store`: the store's path, or a server's address. `folder`: where guards are kept, if it is named."""
        named = folder or os.environ.get("BRAID_GUARD_DIR")
        state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
        base = Path(named) if named else Path(state) / "braid"
        place = store if "://" in store else str(Path(store).resolve())
        self.path = base / "hooks" / sha256(os.fsencode(place)).hexdigest()[:16]

    def make(self) -> None:
        """Make the folder, for its owner alone. OSError is left alone."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)

    def file(self, session: str) -> Path:
        """Return the path of a session's file, whatever its id is."""
        plain = "".join(c for c in session if c.isascii() and (c.isalnum() or c in "-_"))
        if plain != session or len(plain) > 80:
            plain = sha256(session.encode("utf-8", "replace")).hexdigest()[:40]
        return self.path / f"{plain}.json"

    def load(self, session: str) -> SessionState:
        """Return what is known of a session; of an unknown one, and of a damaged file, that nothing was read."""
        state = SessionState(as_object(read_json(self.file(session))) or {})
        state.session = session
        return state

    def save(self, state: SessionState) -> None:
        """Replace a session's file at once. OSError is left alone."""
        replace(self.file(state.session), state.encoded())

    @contextmanager
    def held(self, session: str, wait_s: float) -> Generator[None]:
        """Hold a session. Raises BusyError where another call has it for longer."""
        with locked(_lock_of(self.file(session)), wait_s):
            yield

    def sessions(self) -> list[SessionState]:
        """Return what is known of the newest sessions; files that are old and read to the end are deleted."""
        now = time.time()
        newest = sorted(_stamped(self.path), reverse=True)
        found: list[SessionState] = []
        for at, path in newest:
            raw = as_object(read_json(path))
            if raw is None or "session" not in raw:
                continue
            state = SessionState(raw)
            if now - at > KEPT_DAYS * 86_400:
                for name in (path, _lock_of(path)):
                    name.unlink(missing_ok=True)
            elif len(found) < MOST:
                found.append(state)
        return found


def _stamped(folder: Path) -> list[tuple[float, Path]]:
    try:
        with os.scandir(folder) as entries:
            return [(one.stat().st_mtime, Path(one.path)) for one in entries if one.name.endswith(".json")]
    except OSError:
        return []


def _lock_of(path: Path) -> Path:
    return path.with_suffix(".lock")


def as_object(value: Any) -> dict[str, Any] | None:
    """Return a JSON value as the object that it is; None for another."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def as_list(value: Any) -> list[Any] | None:
    """Return a JSON value as the list that it is; None for another."""
    return list(cast("Iterable[Any]", value)) if isinstance(value, list) else None


def read_json(path: Path) -> Any:
    """Return a file's JSON; None where it is missing or damaged."""
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None


def replace(path: Path, content: bytes) -> None:
    """Replace a file at once by one that its owner alone can read. OSError is left alone."""
    new = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(content)
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


@contextmanager
def locked(path: Path, wait_s: float = 1.0) -> Generator[None]:
    """Hold a lock file. Raises BusyError where it is held for longer."""
    until = time.monotonic() + wait_s
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                if time.monotonic() > until:
                    raise BusyError("another call of this session is still at work") from None
                time.sleep(0.005)
        yield
    finally:
        os.close(descriptor)
