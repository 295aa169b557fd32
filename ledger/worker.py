"""A worker: a child process that is asked and answers over its pipes (SPEC §11.1).

Plain child processes: nothing of the caller's program is run again, no fork happens under its threads. What may hold
keys goes through the pipe, not through arguments or files. A worker that dies, or can't be had, answers None: whoever
asks does the work itself.
"""

import os
import sys
from collections.abc import Callable
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess


def launch(*arguments: str) -> "subprocess.Popen[bytes] | None":
    """Start this interpreter with pipes to and from it, and this process's paths to look for modules in; None where no
    interpreter can be started (an embedded or a frozen program).
    """
    if not sys.executable or getattr(sys, "frozen", False):
        return None
    import subprocess  # noqa: PLC0415 - those that are started import this module too, and start none

    entries: list[object] = [*sys.path]  # what is no text in it is passed over by imports, too
    path = os.pathsep.join(entry for entry in entries if isinstance(entry, str) and entry)
    try:
        return subprocess.Popen(  # noqa: S603 - this interpreter, our program
            [sys.executable, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
        )
    except OSError:
        return None


class Worker:
    """A child process that runs the module's `serve`; one question at a time."""

    def __init__(self, process: "subprocess.Popen[bytes]", input_: IO[bytes], output: IO[bytes]) -> None:
        """Not for callers: use `start`."""
        self._process, self._input, self._output = process, input_, output

    @classmethod
    def start(cls, module: str, terms: bytes) -> "Worker | None":
        """Start one with what is the same for every question; None where `launch` starts none."""
        process = launch("-P", "-m", module)
        if process is None or process.stdin is None or process.stdout is None:
            return None
        worker = cls(process, process.stdin, process.stdout)
        try:
            _send(worker._input, terms)
        except OSError:
            worker.stop()
            return None
        return worker

    def ask(self, question: bytes) -> bytes | None:
        """Return the answer; None where the worker is no more."""
        try:
            _send(self._input, question)
            return _receive(self._output)
        except (OSError, ValueError):  # ValueError: it was stopped meanwhile
            return None

    def kill(self) -> None:
        """End it at once; who waits for an answer gets None. `stop` is still to be called."""
        self._process.kill()

    def stop(self) -> None:
        """Let it end, and wait for that."""
        try:
            self._input.close()
        except OSError:
            self._process.kill()
        self._output.close()
        self._process.wait()


def serve(begin: Callable[[bytes], Callable[[bytes], bytes]]) -> None:
    """Answer on stdout what is asked on stdin until that ends: a worker's main loop. `begin` takes the terms."""
    input_, output = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a library that prints must not speak in between
    terms = _receive(input_)
    if terms is None:
        return
    answer = begin(terms)
    while (question := _receive(input_)) is not None:
        _send(output, answer(question))


def _send(pipe: IO[bytes], data: bytes) -> None:
    pipe.write(len(data).to_bytes(8, "little"))
    pipe.write(data)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> bytes | None:
    head = pipe.read(8)
    if len(head) < 8:
        return None
    size = int.from_bytes(head, "little")
    data = pipe.read(size)
    return data if len(data) == size else None
