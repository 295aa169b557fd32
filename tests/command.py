"""`braid WORDS` in this process, as in one of its own: streams, folder, environment, exit code.

A process for each command costs more than the command. Tests of signals, terminals and pipes still start one, as do
the pages of the documentation (tests/warm.py); tests/house/test_warm.py holds both ways to the same answers.
"""

import contextlib
import errno
import functools
import os
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from braid.wal import failpoint


def run(
    words: Sequence[str], *, cwd: Path, env: Mapping[str, str], stdin: bytes = b"", fault: str = ""
) -> tuple[int, bytes, bytes]:
    """Return the exit code and what came on stdout and stderr; `fault`: a failpoint at which the disk is full."""
    with TemporaryFile() as given, TemporaryFile() as out, TemporaryFile() as err:
        given.write(stdin)
        with ExitStack() as held:
            held.enter_context(_streams(given, out, err))
            held.enter_context(_place(cwd, env))
            held.enter_context(_fault(fault))
            code = _ending(words)
        out.seek(0)
        err.seek(0)
        return code, out.read(), err.read()


def full_disk_at(point: str) -> Callable[[str], None]:
    """Return a hook that lets the disk be full whenever the failpoint is passed."""

    def hook(name: str) -> None:
        if name == point:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    return hook


@functools.cache
def _prepare() -> None:
    """Build the tree of commands once: it is built anew for each call, which a process makes once."""
    import typer.main

    typer.main.get_command = functools.cache(typer.main.get_command)


@contextmanager
def _streams(given: IO[bytes], out: IO[bytes], err: IO[bytes]) -> Iterator[None]:
    """Files stand for the streams, with descriptors of their own, as where a shell redirects them."""
    given.seek(0)
    before = sys.stdin, sys.stdout, sys.stderr
    with ExitStack() as held:

        def opened(file: IO[bytes], mode: str, **how: Any) -> Any:
            stream = open(os.dup(file.fileno()), mode, encoding="utf-8", **how)  # noqa: PTH123, SIM115
            held.callback(_close, stream)
            return stream

        sys.stdin, sys.stdout = opened(given, "r"), opened(out, "w")
        sys.stderr = opened(err, "w", buffering=1, errors="backslashreplace")
        try:
            yield
        finally:
            sys.stdin, sys.stdout, sys.stderr = before


def _close(stream: IO[str]) -> None:
    with contextlib.suppress(OSError, ValueError):
        stream.close()


@contextmanager
def _place(cwd: Path, env: Mapping[str, str]) -> Iterator[None]:
    here, surroundings, words = Path.cwd(), dict(os.environ), sys.argv
    os.chdir(cwd)
    _put(env)
    try:
        yield
    finally:
        sys.argv = words
        _put(surroundings)
        os.chdir(here)


def _put(env: Mapping[str, str]) -> None:
    for name in os.environ.keys() - env.keys():
        del os.environ[name]
    os.environ.update(env)
    time.tzset()


@contextmanager
def _fault(point: str) -> Iterator[None]:
    before = failpoint._hook
    if point:
        failpoint.arm(full_disk_at(point))
    try:
        yield
    finally:
        failpoint.arm(before)


def _ending(words: Sequence[str]) -> int:
    """Run, and return the exit code that an interpreter would end with."""
    from braid.tools.cli.main import run as command

    _prepare()
    sys.argv = ["braid", *words]
    try:
        with warnings.catch_warnings():
            command()
    except SystemExit as leaving:
        if isinstance(leaving.code, str):
            sys.stderr.write(f"{leaving.code}\n")
        return leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0
