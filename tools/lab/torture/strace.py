"""Faults in system calls, by strace(1): the n-th `fdatasync` fails, the third `rename` is where the process dies.

strace attaches to a process that waits for it, so that nothing of the interpreter's start is counted or harmed.
Occurrences are counted for each thread and each system call by itself, as strace counts them when it injects.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

ERRORS: Final = ("EIO", "ENOSPC")
KILL: Final = "SIGKILL"
_SPARED: Final = frozenset(("close", "mmap", "lseek", "poll", "epoll_wait", "execve"))
"""Calls that fail in no such way (an injected error would leave the descriptor open): they are places to die at."""
_CALL: Final = re.compile(r"(\d+) +(\w+)\((.*)")
_INJECTED: Final = re.compile(r"^\d+ +(?:(\w+)\(|<\.\.\. (\w+) resumed>).*\(INJECTED\)$", re.MULTILINE)
_DIED: Final = "+++ killed by SIGKILL +++"
_WAIT_S: Final = 20.0


class Call(NamedTuple):
    """A system call that touched the world: its name, its place among those of its thread, the file."""

    name: str
    nth: int
    file: str


class Harm(NamedTuple):
    """One system call to be made to fail, or to be the last one, at its n-th occurrence in each thread."""

    call: str
    nth: int
    fault: str

    @property
    def option(self) -> str:
        """How strace is told."""
        how = f"signal={self.fault}" if self.fault == KILL else f"error={self.fault}"
        return f"inject={self.call}:{how}:when={self.nth}"


def why_not() -> str | None:
    """Return why no system call can be harmed here; None where it can."""
    if not sys.platform.startswith("linux"):
        return "strace is of Linux"
    if (strace := shutil.which("strace")) is None:
        return "strace is not installed (Debian: apt install strace)"
    tried = subprocess.run(
        [strace, "-f", "-qq", "-o", os.devnull, "-e", "inject=chdir:error=EIO:when=1", "true"],
        capture_output=True, check=False,
    )  # fmt: skip
    return None if tried.returncode == 0 else "no process may be traced here (ptrace)"


def faults_of(name: str) -> tuple[str, ...]:
    """Return what can go wrong in a system call."""
    return (KILL,) if name in _SPARED else (*ERRORS, KILL)


class Trace:
    """strace attached to one stopped process; it is let go by `go`."""

    def __init__(self, pid: int, log: Path, harms: Sequence[Harm] = ()) -> None:
        """Attach, and do these harms; without any, only tell what is called. Raises OSError where it can't."""
        self._pid, self._log = pid, log
        injected = [word for harm in harms for word in ("-e", harm.option)]
        # Descriptors are shown with their paths (-y); of what is written no byte (-s 0).
        traced = ["-e", f"trace={','.join(harm.call for harm in harms) or '%file,%desc'}"]
        argv = ["strace", "-f", "-y", "-s", "0", "-p", str(pid), "-o", str(log), *traced, *injected]
        self._strace = subprocess.Popen(argv, stderr=subprocess.PIPE, text=True)
        assert self._strace.stderr is not None  # noqa: S101 - it is a pipe
        said = self._strace.stderr.readline()
        if "attached" not in said:
            self._strace.kill()
            self._strace.communicate()
            raise OSError(f"strace did not attach: {said.strip()}")

    def go(self) -> None:
        """Let the process run."""
        os.kill(self._pid, signal.SIGCONT)

    def end(self) -> str:
        """Wait until the process is gone, and return what strace wrote."""
        self._strace.communicate(timeout=_WAIT_S)
        return self._log.read_text("utf-8", errors="replace")


def calls(log: str, world: Path) -> list[Call]:
    """Return the system calls in a log that name a file of this world, each once for every place it had."""
    counted: Counter[tuple[str, str]] = Counter()
    found: dict[tuple[str, int], Call] = {}
    place = re.compile(re.escape(str(world)) + r"/([^>\"]*)")
    for line in log.splitlines():
        if (match := _CALL.match(line)) is None:
            continue
        thread, name, rest = match.groups()
        counted[thread, name] += 1
        if file := place.search(rest):
            nth = counted[thread, name]
            found.setdefault((name, nth), Call(name, nth, kind_of(file[1])))
    return list(found.values())


def harmed(log: str, harms: Sequence[Harm]) -> set[str]:
    """Return which calls were harmed, as a log tells: which failed, and at which the process died."""
    failed = {one or other for one, other in _INJECTED.findall(log)}
    return failed | ({harm.call for harm in harms if harm.fault == KILL} if _DIED in log else set())


def kind_of(path: str) -> str:
    """Return which file of a world this is, numbers and digests left out, so that one kind has one name."""
    return re.sub(r"[0-9a-z]{16,}|(?<=blobs/)..|\d+", "N", path)
