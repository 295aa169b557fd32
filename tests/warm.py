"""Commands without the cost of their imports: tests/zygote.py forks for each of them.

As a script this stands in for `braid` or `python -c`: a process with the streams, signals and exit status of the one
that it asked for, so a shell or `subprocess` need not know. It starts with `python -IS`, hence the few imports.
"""

from __future__ import annotations

import marshal
import os
import select
import signal
import socket
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Asked:
    """A process that was asked for."""

    def __init__(self, place: str, request: dict[str, Any], streams: tuple[int, int, int]) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(place)
        socket.send_fds(self._socket, [b"!"], streams)
        self._socket.sendall(marshal.dumps(request))
        self._answers = self._socket.makefile("rb")
        self.pid = int(self._answers.readline())

    def wait(self) -> int:
        """Return its exit code, or minus the signal that ended it."""
        with self._socket, self._answers:
            return int(self._answers.readline())

    def abandon(self) -> None:
        """Kill it."""
        self._answers.close()
        self._socket.close()

    def has_ended(self) -> bool:
        """Whether `wait` would return at once."""
        return bool(select.select([self._socket], [], [], 0)[0])


class Sandbox:
    """The process that runs SQL, forked; for whoever thinks that it is a `subprocess.Popen`."""

    def __init__(self, place: str, memory: str) -> None:
        there, mine, back, theirs = *os.pipe(), *os.pipe()
        nowhere = os.open(os.devnull, os.O_RDWR)
        self._asked: Asked | None = Asked(
            place, request("sandbox", [memory], cwd="/"), (there, theirs, nowhere)
        )
        for end in (there, theirs, nowhere):
            os.close(end)
        self.stdin, self.stdout = open(mine, "wb", buffering=0), open(back, "rb", buffering=0)  # noqa: PTH123, SIM115

    def poll(self) -> int | None:
        """Return how it ended, if it did."""
        return self.wait() if self._asked is None or self._asked.has_ended() else None

    def kill(self) -> None:
        """Kill it."""
        if self._asked is not None:
            self._asked.abandon()
            self._asked = None

    def wait(self) -> int:
        """Return how it ended."""
        if self._asked is None:
            return -signal.SIGKILL
        return self._asked.wait()


def request(name: str, words: list[str], **more: Any) -> dict[str, Any]:
    """What to ask for: `braid WORDS` or `python -c WORDS` as from here, but for what is said otherwise."""
    os.umask(mask := os.umask(0o077))
    here = {"cwd": os.getcwd(), "env": dict(os.environ), "umask": mask, "fault": ""}  # noqa: PTH109
    return {"name": name, "words": words, **here, **more}


class Zygote:
    """The process that forks, from its start to its end."""

    def __init__(self) -> None:
        import subprocess
        import tempfile
        from pathlib import Path

        self._folder = tempfile.TemporaryDirectory(prefix="braid-")  # short: a socket's path has 107 bytes
        self._place = f"{self._folder.name}/zygote"
        self.bin = Path(self._folder.name)
        python = f'"{sys.executable}"'
        ask = f'exec {python} -IS "{__file__}" "{self._place}"'
        for name, script in (
            ("braid", f'{ask} braid "$@"'),
            ("python", f'[ "$1" = -c ] || exec {python} "$@"\nshift\n{ask} python "$@"'),
        ):
            (self.bin / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
            (self.bin / name).chmod(0o755)
        self._server = subprocess.Popen(
            [sys.executable, Path(__file__).with_name("zygote.py"), self._place],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        assert self._server.stdout
        assert self._server.stdout.readline() == b"ready\n"

    def ask(self, name: str, words: list[str], streams: tuple[int, int, int], **more: Any) -> Asked:
        """Ask for a process that has these streams."""
        return Asked(self._place, request(name, words, **more), streams)

    def close(self) -> None:
        """End it, and all that it started."""
        self._server.communicate()
        self._folder.cleanup()


def main(place: str, name: str, *words: str) -> None:
    """Stand in for a process, and end as it did."""
    asked = Asked(place, request(name, list(words)), (0, 1, 2))
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: os.kill(asked.pid, number))
    code = asked.wait()
    if code < 0:
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    sys.exit(code)


if __name__ == "__main__":
    main(*sys.argv[1:])
