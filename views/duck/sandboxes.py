"""Where statements run: short ones in a process that is kept, long ones in a few others, of a copy and under no lock.

Nobody knows before which is which. So each is tried for `QUICK_S`, in which it may hold up those who wait for the
working file; what takes longer begins again beside them. An erasure ends all that run long.
"""

import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from threading import Condition
from typing import Any, Final, NamedTuple

import msgspec

from braid.views.duck.sql import Params, QueryLimits, Sandbox, Stop, Tables
from braid.views.errors import SqlError, SqlStoppedError, SqlTimeoutError, ViewBusyError

QUICK_S: Final = 0.5
"""How long a statement may hold up who waits for the working file."""
TOGETHER: Final = 3
"""How many long statements run at once."""
_LOOK_S: Final = 0.2


class EndedError(Exception):
    """An erasure has ended a statement: what it read may have shown what is erased. It can be asked again."""


class Statement(NamedTuple):
    """What is asked, and how far it may go."""

    text: str
    params: Params
    limits: QueryLimits
    tables: Tables
    variables: dict[str, Any]
    stop: Stop

    @property
    def may_take_long(self) -> bool:
        """Whether it may go on where it isn't answered quickly."""
        return self.limits.seconds > QUICK_S

    def within(self, sandbox: Sandbox, path: Path, limits: QueryLimits, stop: Stop) -> Any:
        """Return its answer of a file, as a pyarrow Table. Raises as `Sandbox.run`."""
        return sandbox.run(
            path, statement=self.text, params=self.params, limits=limits, tables=self.tables,
            variables=self.variables, stop=stop,
        )  # fmt: skip


class Sandboxes:
    """The processes of one store's projections. Safe to share between threads."""

    def __init__(self) -> None:
        self.kept = Sandbox()
        """Answers short statements, one at a time."""
        self.ended = 0
        """How often all long statements were ended."""
        self._places = TOGETHER
        self._turn = Condition()

    def quickly(self, asked: Statement, path: Path) -> Any:
        """Return the answer to a statement of a file, if it comes quickly. Raises SqlTimeoutError, SqlError."""
        seconds = min(asked.limits.seconds, QUICK_S)
        return asked.within(
            self.kept, path, msgspec.structs.replace(asked.limits, seconds=seconds), asked.stop
        )

    def patiently(self, asked: Statement, path: Path, *, since: int) -> Any:
        """Return the answer to a statement of a file that nobody writes to, for which there is a place.

        `since`: how often all were `ended` when the file was opened. Raises EndedError where they were again since.
        """
        stop = lambda: self.ended != since or (asked.stop is not None and asked.stop())  # noqa: E731
        sandbox = Sandbox()
        try:
            found = asked.within(sandbox, path, asked.limits, stop)
        except (SqlError, FileNotFoundError):
            if self.ended != since:
                raise EndedError from None
            raise
        finally:
            sandbox.close()
        if self.ended != since:
            raise EndedError
        return found

    def anyhow(self, asked: Statement, path: Path, *, since: int) -> Any:
        """Return the answer to a statement of a file that nobody writes to: quickly, or else patiently."""
        try:
            return self.quickly(asked, path)
        except SqlTimeoutError:
            if not asked.may_take_long:
                raise
        with self.place(asked):
            return self.patiently(asked, path, since=since)

    @contextmanager
    def place(self, asked: Statement) -> Generator[None]:
        """Have one of the places for long statements. Raises ViewBusyError where none gets free in its time."""
        until = time.monotonic() + asked.limits.seconds
        with self._turn:
            while not self._places:
                if asked.stop is not None and asked.stop():
                    raise SqlStoppedError("the statement was stopped: nobody waits for its answer any more")
                if time.monotonic() >= until:
                    raise ViewBusyError(f"{TOGETHER} long statements are running already; try again shortly")
                self._turn.wait(_LOOK_S)
            self._places -= 1
        try:
            yield
        finally:
            with self._turn:
                self._places += 1
                self._turn.notify()

    def end(self) -> None:
        """End every long statement, and the process that is kept: what they read is to be erased."""
        with self._turn:
            self.ended += 1
        self.kept.close()
