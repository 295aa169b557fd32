"""`braid WORDS` in this process, as in one of its own: streams, folder, environment, exit code.

A process for each command costs more than the command. Tests of signals, terminals and pipes still start one, as do
the pages of the documentation (tests/warm.py); tests/system/house/test_warm.py holds both ways to the same answers.
"""

import contextlib
import errno
import functools
import os
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

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
def _streams(*files: IO[bytes]) -> Iterator[None]:
    """Files stand for the streams, down to the descriptors: /dev/stdout and what libraries print go there too."""
    files[0].seek(0)
    before, saved = (sys.stdin, sys.stdout, sys.stderr), [os.dup(number) for number in range(3)]
    for number, file in enumerate(files):
        os.dup2(file.fileno(), number)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    try:
        yield
    finally:
        for stream in (sys.stdin, sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.close()
        sys.stdin, sys.stdout, sys.stderr = before
        for number, descriptor in enumerate(saved):
            os.dup2(descriptor, number)
            os.close(descriptor)


@contextmanager
def _place(cwd: Path, env: Mapping[str, str]) -> Iterator[None]:
    here, surroundings, words, temporary = Path.cwd(), dict(os.environ), sys.argv, tempfile.tempdir
    os.chdir(cwd)
    tempfile.tempdir = None  # it is looked for once, by TMPDIR
    _put(env)
    try:
        yield
    finally:
        sys.argv, tempfile.tempdir = words, temporary
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
