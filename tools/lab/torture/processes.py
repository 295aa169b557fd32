"""Processes on one store: started together, listened to, killed or told to end."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Final

from braid.tools.lab.torture.errors import TortureError
from braid.tools.lab.torture.told import Told

START_S: Final = 60.0
END_S: Final = 120.0
"""A process that is told to end may be in the middle of an erasure, on a slow disk, behind others."""


class Process:
    """One process under torture, and the thread that hears it."""

    def __init__(
        self, argv: list[str], surroundings: Mapping[str, str], said: Path, told: Told, turn: Lock
    ) -> None:
        self._said = said
        self.ready = Event()
        with said.open("wb") as complaints:
            self.popen = subprocess.Popen(
                argv, stdout=subprocess.PIPE, stderr=complaints, text=True, env=surroundings
            )
        self._told, self._turn = told, turn
        self._listener = Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        assert self.popen.stdout is not None  # noqa: S101 - it is a pipe
        for line in self.popen.stdout:
            if line == "ready\n":
                self.ready.set()
            with self._turn:
                self._told.hear([line])
        self.ready.set()  # or never to be

    def join(self) -> None:
        """Wait until the process is gone and all it said is heard."""
        self.popen.wait()
        self._listener.join()
        if self.popen.stdout is not None:
            self.popen.stdout.close()

    def complaint(self) -> str:
        """Return what it wrote on stderr."""
        return self._said.read_text("utf-8", errors="replace").strip()


@contextmanager
def running(
    roles: list[str],
    path: Path,
    guard: Path,
    told: Told,
    *,
    chance: random.Random,
    each: Sequence[Mapping[str, str]],
) -> Generator[list[Process]]:
    """Start one process a role, with its own environment from `each`; all are gone when the block ends.

    Raises TortureError when one has ended by itself otherwise than in good order.
    """
    turn = Lock()
    processes: list[Process] = []
    try:
        for k, (role, own) in enumerate(zip(roles, each, strict=True)):
            argv = [
                sys.executable,
                "-m",
                "braid.tools.lab.torture.child",
                role,
                str(path),
                str(chance.getrandbits(32)),
            ]
            surroundings = {**os.environ, "BRAID_GUARD_DIR": str(guard), **own}
            processes.append(Process(argv, surroundings, guard.parent / f"said-{k}", told, turn))
        for one in processes:
            one.ready.wait(START_S)
        yield processes
    finally:
        for one in processes:
            one.popen.kill()
            one.join()
        told.counts["killed"] += sum(one.popen.returncode == -signal.SIGKILL for one in processes)
    for role, one in zip(roles, processes, strict=True):
        if one.popen.returncode not in (0, -signal.SIGKILL):
            raise TortureError(
                f"a process ended by itself ({role}, {one.popen.returncode}):\n{one.complaint()}"
            )


def let_run(processes: list[Process], seconds: float) -> None:
    """Wait that long, or until the first of them is gone."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and all(one.popen.poll() is None for one in processes):
        time.sleep(0.01)


def tell_to_end(processes: list[Process]) -> None:
    """Let them all close in good order; raise TortureError for one that does not end."""
    for one in processes:
        one.popen.send_signal(signal.SIGTERM)
    for one in processes:
        try:
            one.popen.wait(END_S)
        except subprocess.TimeoutExpired:
            raise TortureError(f"a process that was told to end was still there after {END_S:g} s") from None
