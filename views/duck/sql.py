"""Untrusted SQL on a projection's file, in a process of its own that can read that file and nothing else (SPEC §10.7).

DuckDB's own settings forbid writing, files, network, extensions and settings. What they don't bound (one call of
`repeat` takes gigabytes past `memory_limit`, and can't be interrupted) the operating system does: the statement runs
in a child process under resource limits, which is killed when its time is up. The child stays for the next
statement; rows come back through a pipe as Arrow, and tables of the caller's own go there the same way.
"""

import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from threading import RLock
from typing import IO, Any, Final

import msgspec

from braid.views.errors import SqlError, SqlLimitError, SqlStoppedError, SqlTimeoutError

Params = Sequence[Any] | Mapping[str, Any] | None
Tables = Mapping[str, Any] | None
"""Name → pyarrow Table (or what has `__arrow_c_stream__`: a frame of pandas or polars) that a statement may read."""
_GRACE_S: Final = 1.0
_START_S: Final = 30.0
_LOOK_S: Final = 0.2
"""How often it is asked whether a statement is to stop."""
Stop = Callable[[], bool] | None
"""Whether a statement is to stop before its end; asked several times a second by the thread that waits for it."""
_KINDS: Final[dict[str, type[SqlError]]] = {
    "error": SqlError,
    "timeout": SqlTimeoutError,
    "limit": SqlLimitError,
}


class QueryLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How far a statement may go."""

    seconds: float = 30.0
    rows: int = 100_000
    result_bytes: int = 256 << 20
    memory_bytes: int = 512 << 20
    """For DuckDB; the process as a whole may have as much again, and no temporary space at all."""
    threads: int = 2


class QueryRequest(msgspec.Struct, frozen=True):
    """What the child is asked."""

    path: str
    statement: str
    params: list[Any] | dict[str, Any] | None
    limits: QueryLimits
    tables: list[tuple[str, int]] = []
    """Names of the caller's tables, and the sizes of the Arrow streams that follow the request, in that order."""
    variables: dict[str, Any] = {}
    """What views of the file ask for by `getvariable`."""


class QueryReply(msgspec.Struct, frozen=True):
    """How the child's answer begins: `size` bytes of an Arrow stream follow, or an error is told."""

    size: int = 0
    kind: str = ""
    reason: str = ""
    hint: str = ""


def _refuse_no_text(statement: object) -> None:
    if not isinstance(statement, str):
        raise TypeError(f"a statement is text, not {type(statement).__name__}")


class Sandbox:
    """Runs statements, one at a time, in a child process that is started when first needed."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._memory = 0
        self._turn = RLock()

    def run(
        self,
        path: Path,
        statement: str,
        params: Params,
        limits: QueryLimits,
        tables: Tables = None,
        *,
        variables: Mapping[str, Any] | None = None,
        stop: Stop = None,
    ) -> Any:
        """Return the statement's result as a pyarrow Table. `variables` are what views of the file ask for.

        Raises SqlError, SqlTimeoutError or SqlLimitError; SqlStoppedError where `stop` says so; FileNotFoundError when
        the file has gone.
        """
        from braid.views.duck.arrow import pa, to_streams

        _refuse_no_text(statement)
        streams = to_streams(tables or {}, limits.memory_bytes)
        sizes = [(name, stream.size) for name, stream in streams]
        try:
            request = msgspec.msgpack.encode(
                QueryRequest(str(path), statement, _in_utc(params), limits, sizes, dict(variables or {}))
            )
        except (TypeError, UnicodeEncodeError, OverflowError) as error:
            raise SqlError(
                f"a parameter can't be passed on: {error}", "pass text, numbers, times, bytes, None"
            ) from error
        with self._turn:
            reply, data = self._ask(request, [stream for _, stream in streams], limits, stop)
        if reply.kind == "gone":
            raise FileNotFoundError(f"{path} was replaced by a newer one")
        if reply.kind:
            raise _KINDS[reply.kind](reply.reason, reply.hint)
        table = pa.ipc.open_stream(data).read_all()
        return table.rename_columns(_unique(table.column_names))

    def _ask(
        self, request: bytes, streams: Sequence[Any], limits: QueryLimits, stop: Stop
    ) -> tuple[QueryReply, bytes]:
        child = self._started(limits)
        assert child.stdin is not None and child.stdout is not None  # noqa: S101, PT018 - both are pipes
        try:
            _send(child.stdin, len(request).to_bytes(8, "little") + request)
            for stream in streams:
                _send(child.stdin, stream)
            deadline = time.monotonic() + limits.seconds + _GRACE_S
            reply = msgspec.msgpack.decode(_receive(child.stdout, deadline, stop), type=QueryReply)
            if reply.size > limits.result_bytes + (1 << 20):
                raise SqlLimitError("the result is larger than it may be")
            return reply, _read(child.stdout, reply.size, deadline + _GRACE_S) if reply.size else b""
        except TimeoutError:
            self.close()
            raise SqlTimeoutError(
                f"the statement was stopped after {limits.seconds:g} s", "ask for less, or raise the limit"
            ) from None
        except (EOFError, BrokenPipeError, msgspec.MsgspecError):
            self.close()
            raise SqlLimitError(
                "the statement brought its process down: it needs more memory than it may have",
                "ask for less, or raise the limit",
            ) from None
        except BaseException:
            self.close()  # half an answer may be under way
            raise

    def _started(self, limits: QueryLimits) -> subprocess.Popen[bytes]:
        child = self._child
        if child is not None and child.poll() is None and self._memory == limits.memory_bytes:
            return child
        self.close()
        child = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            [sys.executable, "-m", "braid.views.duck.sandbox", str(limits.memory_bytes)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            cwd="/",
            process_group=0,  # Ctrl-C on a terminal is for the one who asks, who then ends the child
            env={
                key: value
                for key, value in os.environ.items()
                if key in ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH")
            }
            | {"ARROW_DEFAULT_MEMORY_POOL": "system"},  # mimalloc reserves 1 GiB, and RLIMIT_DATA counts it
        )
        self._child, self._memory = child, limits.memory_bytes
        assert child.stdout is not None  # noqa: S101 - it is a pipe
        try:
            _receive(child.stdout, time.monotonic() + _START_S)
        except (TimeoutError, EOFError):
            self.close()
            raise SqlError("the process that runs statements did not start") from None
        return child

    def close(self) -> None:
        """End the child."""
        with self._turn:
            child, self._child = self._child, None
            if child is None:
                return
            child.kill()
            for pipe in (child.stdin, child.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()
            child.wait()


def _unique(names: Sequence[str]) -> list[str]:
    """Return names of which none is there twice (`a`, `a` → `a`, `a_1`): a row that is a dict would lose a value."""
    taken, unique = set(names), list[str]()
    for name in names:
        free = name
        if name in unique:
            free = next(other for other in (f"{name}_{n}" for n in count(1)) if other not in taken)
        taken.add(free)
        unique.append(free)
    return unique


def _in_utc(params: Params) -> list[Any] | dict[str, Any] | None:
    """Return parameters with their times in UTC, as the columns are; one without a zone is taken for UTC."""
    if params is None:
        return None
    if isinstance(params, Mapping):
        return {name: _utc(value) for name, value in params.items()}
    return [_utc(value) for value in params]


def _utc(value: Any) -> Any:
    if not isinstance(value, datetime):
        return value
    return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)


def _send(pipe: IO[bytes], data: Any) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(pipe.fileno(), view) :]


def _receive(pipe: IO[bytes], deadline: float, stop: Stop = None) -> bytes:
    return _read(pipe, int.from_bytes(_read(pipe, 8, deadline, stop), "little"), deadline)


def _read(pipe: IO[bytes], size: int, deadline: float, stop: Stop = None) -> bytes:
    data = bytearray()
    while len(data) < size:
        _await(pipe, deadline, stop)
        some = os.read(pipe.fileno(), min(size - len(data), 1 << 20))
        if not some:
            raise EOFError
        data += some
    return bytes(data)


def _await(pipe: IO[bytes], deadline: float, stop: Stop) -> None:
    """Wait until a pipe can be read. Raises TimeoutError, and SqlStoppedError where `stop` says so before."""
    while True:
        if stop is not None and stop():
            raise SqlStoppedError("the statement was stopped: nobody waits for its answer any more")
        left = max(deadline - time.monotonic(), 0)
        if select.select([pipe], [], [], left if stop is None else min(left, _LOOK_S))[0]:
            return
        if time.monotonic() >= deadline:
            raise TimeoutError
