"""The child process of `sql`: reads requests from stdin, answers on stdout, and can do little else (SPEC §10.7)."""

import os
import re
import resource
import sys
from collections.abc import Callable
from datetime import datetime
from importlib import import_module
from pathlib import Path
from threading import Event, Thread
from typing import Any, Final

import msgspec

from braid.views.duck import macros
from braid.views.duck.sql import QueryLimits, QueryReply, QueryRequest
from braid.views.errors import SqlError, SqlLimitError, SqlTimeoutError

_SELECT_HINT: Final = "only questions are answered: SELECT, WITH, VALUES, DESCRIBE, SHOW, SUMMARIZE, EXPLAIN"
_EXPLAIN: Final = re.compile(r"(?is)\s*EXPLAIN\s+(?:ANALY[SZ]E\s+)?(?:\([^)]*\)\s*)?(.*)")
_BATCH_ROWS: Final = 8_192
_AGAIN_S: Final = 0.05
_STACK_AND_LIBRARIES: Final = 512 << 20


def serve() -> None:
    """Answer requests until stdin ends."""
    memory = int(sys.argv[1])
    import_module("duckdb")  # before the limits: its libraries are not the statement's
    from braid.views.duck.arrow import pa

    pa.set_cpu_count(1)
    limit = 2 * memory + _STACK_AND_LIBRARIES
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # no file can grow, whatever a statement finds
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    out = os.dup(1)
    os.dup2(2, 1)  # whatever prints must not get between the answers
    _write(out, b"ready")
    with os.fdopen(0, "rb", closefd=False) as requests:
        while head := requests.read(8):
            request = msgspec.msgpack.decode(requests.read(int.from_bytes(head, "little")), type=QueryRequest)
            streams = [requests.read(size) for _, size in request.tables]
            reply, data = _answer(request, streams)
            del streams
            _write(out, msgspec.msgpack.encode(reply))
            view = memoryview(data)
            while view:
                view = view[os.write(out, view) :]


def _write(fd: int, data: bytes) -> None:
    os.write(fd, len(data).to_bytes(8, "little") + data)


def _answer(request: QueryRequest, streams: list[bytes]) -> tuple[QueryReply, bytes]:
    try:
        data = _run(request, streams)
    except SqlTimeoutError as error:
        return QueryReply(0, "timeout", error.reason, error.hint), b""
    except SqlLimitError as error:
        return QueryReply(0, "limit", error.reason, error.hint), b""
    except SqlError as error:
        return QueryReply(0, "error", error.reason, error.hint), b""
    except FileNotFoundError:
        return QueryReply(0, "gone", request.path), b""
    except MemoryError:
        return QueryReply(0, "limit", "the statement needs more memory than it may have", "ask for less"), b""
    return QueryReply(len(data)), data


def _run(request: QueryRequest, streams: list[bytes]) -> bytes:
    import duckdb

    from braid.views.duck.arrow import pa

    limits = request.limits
    try:
        con = duckdb.connect(
            request.path,
            read_only=True,
            config={
                "enable_external_access": "false",
                "allow_community_extensions": "false",
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
                "allow_persistent_secrets": "false",
                "python_enable_replacements": "false",
                "temp_directory": "",
                "max_temp_directory_size": "0KB",
                "memory_limit": f"{limits.memory_bytes}B",
                "threads": str(limits.threads),
                "lock_configuration": "true",
            },
        )
    except duckdb.Error as error:
        if not Path(request.path).exists():
            raise FileNotFoundError(request.path) from None
        raise SqlError(f"the view can't be read: {error}", "`braid replay` rebuilds it") from error
    interrupter = _Interrupter(limits.seconds, con.interrupt)
    try:
        _check(con, request.statement)
        for (name, _), stream in zip(request.tables, streams, strict=True):
            con.register(name, pa.ipc.open_stream(stream).read_all())
        for name, value in request.variables.items():
            con.execute(f"SET VARIABLE {name} = $1", [value])  # the names are ours
        interrupter.start()
        _define(con, macros.needed(request.statement))
        try:
            return _fetch(con, request, limits)
        except duckdb.CatalogException:  # of what is unknown DuckDB says what else there is: it must see all
            _define(con, macros.creation())
            return _fetch(con, request, limits)
    except duckdb.InterruptException:
        raise SqlTimeoutError(
            f"the statement was stopped after {limits.seconds:g} s", "ask for less, or raise the limit"
        ) from None
    except duckdb.OutOfMemoryException as error:
        reason = str(error).partition("\n")[0]
        raise SqlLimitError(
            f"the statement needs more memory than it may have ({reason})", "ask for less"
        ) from None
    except (duckdb.Error, UnicodeError, RuntimeError, ValueError) as error:
        if isinstance(error, SqlError):
            raise
        raise SqlError(str(error), _hint(error)) from None
    finally:
        interrupter.stop()
        con.close()


def _define(con: Any, definitions: list[str]) -> None:
    """Make views and macros for this connection alone."""
    if definitions:
        con.execute(";".join(definitions))


class _Interrupter:
    """Interrupts a statement when its time is up, again and again until it has ended."""

    def __init__(self, seconds: float, interrupt: Callable[[], None]) -> None:
        self._seconds = seconds
        self._interrupt = interrupt
        self._ended = Event()
        self._thread = Thread(target=self._watch, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def _watch(self) -> None:
        wait_s = self._seconds
        while not self._ended.wait(wait_s):
            self._interrupt()
            wait_s = _AGAIN_S

    def stop(self) -> None:
        self._ended.set()
        if self._thread.ident is not None:
            self._thread.join()  # from Python 3.13 on, a thread that isn't keeps its stack: 8 MiB a statement


def _check(con: Any, statement: str) -> None:
    """Raise SqlError unless the text is one statement that only asks."""
    from duckdb import ParserException, StatementType

    explained = _EXPLAIN.fullmatch(statement)
    try:
        found = con.extract_statements(statement)
        inner = con.extract_statements(explained[1]) if explained else found
    except ParserException as error:
        raise SqlError(str(error), _hint(error)) from None
    if not found:
        raise SqlError("there is no statement to answer", _SELECT_HINT)
    if len(found) != 1 or len(inner) != 1:
        raise SqlError(f"{len(found)} statements where one is expected", "send them one by one")
    if (
        found[0].type not in (StatementType.SELECT, StatementType.EXPLAIN)
        or inner[0].type != StatementType.SELECT
    ):
        raise SqlError(f"a statement of type {inner[0].type.name} is refused", _SELECT_HINT)


def _fetch(con: Any, request: QueryRequest, limits: QueryLimits) -> bytes:
    """Run the statement and return its rows as an Arrow stream, within the limits."""
    from braid.views.duck.arrow import pa

    params = _without_zone(request.params)
    relation = con.sql(request.statement, params=params) if params else con.sql(request.statement)
    sink = pa.BufferOutputStream()
    rows = 0
    reader = relation.to_arrow_reader(_BATCH_ROWS)
    try:
        with pa.ipc.new_stream(sink, reader.schema) as stream:
            for batch in reader:
                rows += batch.num_rows
                if rows > limits.rows:
                    raise SqlLimitError(
                        f"the result has more than {limits.rows} rows", "add a LIMIT, or aggregate"
                    )
                stream.write_batch(batch)
                if sink.tell() > limits.result_bytes:
                    raise SqlLimitError(
                        f"the result is larger than {limits.result_bytes} bytes",
                        "select fewer columns or rows",
                    )
        return bytes(sink.getvalue())
    finally:
        del reader, relation  # an open result would keep the connection from closing


def _without_zone(params: list[Any] | dict[str, Any] | None) -> list[Any] | dict[str, Any] | None:
    """Return parameters with their times, which come in UTC, of the type that the columns have."""
    if isinstance(params, dict):
        return {name: _plain_time(value) for name, value in params.items()}
    return None if params is None else [_plain_time(value) for value in params]


def _plain_time(value: Any) -> Any:
    return value.replace(tzinfo=None) if isinstance(value, datetime) else value


def _hint(error: Exception) -> str:
    name = type(error).__name__
    if name == "InvalidInputException":
        return _VALUES_HINT if "parameter" in str(error) else ""
    return _HINTS.get(name, "")


_VALUES_HINT: Final = (
    "give each $name a value: `params`, over HTTP `parameters`, in a shell --param NAME=VALUE"
)
_HINTS: Final = {
    "ParserException": "docs/sql.md shows what can be asked, and how",
    "CatalogException": "`SHOW TABLES` and `DESCRIBE experiences` say what there is",
    "BinderException": "`DESCRIBE <table>` lists its columns",
    "PermissionException": "files, network, extensions and settings are out of reach here",
    "ConversionException": "a value has another type than its column: in quotes, `u='123'`, a parameter is text",
}


if __name__ == "__main__":
    serve()
