"""Author signatures checked by child processes, and by this process beside them (SPEC §11.1).

A child is fed ahead and never waits; parts that none was given this process checks itself, while it would have to wait.
One that dies, or can't be had, costs only time: what it did not answer is checked here.
"""

import fcntl
import marshal
import os
import select
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Final

from braid.ledger import signature
from braid.ledger.audit.signatures import Claim, wrong
from braid.ledger.worker import launch

if TYPE_CHECKING:
    import subprocess

PART: Final = 32
"""Claims that are given together: 1.5 ms of work; at most 64, one for each bit of an answer."""
DEPTH: Final = 4
"""Parts that a child has before it: 5 ms of work, while this process reads or checks for 2 before it comes back."""
_ANSWER_BYTES: Final = 8
_PIPE_BYTES: Final = 1 << 20
"""Room for what a child has before it, so that giving it more does not wait; where it can't be had, giving waits."""
_PROGRAM: Final = signature.__file__


class Ticket:
    """Claims that were handed in together: of `claims`, those of `missing` parts are not judged; `bad` are the places
    of what does not hold.
    """

    __slots__ = ("bad", "claims", "missing")

    def __init__(self) -> None:
        self.claims = self.missing = 0
        self.bad: list[int] = []

    def judge(self, start: int, bad: Iterable[int]) -> None:
        """Take what does not hold of the part whose first claim stands at `start`."""
        self.bad += [start + place for place in bad]
        self.missing -= 1


class _Part:
    __slots__ = ("claims", "start", "ticket")

    def __init__(self, ticket: Ticket, start: int, claims: list[Claim]) -> None:
        self.ticket, self.start, self.claims = ticket, start, claims

    def check(self) -> None:
        self.ticket.judge(self.start, wrong(self.claims))


class _Child:
    """A process that runs `ledger/signature.py`, and the parts that it has not answered, oldest first."""

    def __init__(self, process: "subprocess.Popen[bytes]", input_: IO[bytes], output: IO[bytes]) -> None:
        self._process, self._input, self._output = process, input_, output
        self.answers = output.fileno()
        self.given: deque[_Part] = deque()
        if hasattr(fcntl, "F_SETPIPE_SZ"):
            with suppress(OSError):  # this user's pipes hold all that the system allows
                fcntl.fcntl(input_.fileno(), fcntl.F_SETPIPE_SZ, _PIPE_BYTES)

    @classmethod
    def start(cls) -> "_Child | None":
        # Without `site`, which would take longer than all else; modules are found by the paths that `launch` hands on.
        process = launch("-S", "-P", _PROGRAM)
        if process is None or process.stdin is None or process.stdout is None:
            return None
        return cls(process, process.stdin, process.stdout)

    def give(self, part: _Part) -> bool:
        """Hand over a part; False where the child is no more."""
        data = marshal.dumps(part.claims)
        try:
            self._input.write(len(data).to_bytes(4, "little"))
            self._input.write(data)
            self._input.flush()
        except OSError:
            return False
        self.given.append(part)
        return True

    def take(self) -> bool:
        """Take the next answer, and wait for it; False where the child is no more."""
        answer = os.read(self.answers, _ANSWER_BYTES)
        if len(answer) != _ANSWER_BYTES:
            return False
        part, bits = self.given.popleft(), int.from_bytes(answer, "little")
        part.ticket.judge(part.start, [place for place in range(len(part.claims)) if bits >> place & 1])
        return True

    def stop(self) -> None:
        self._process.kill()  # it is idle, or its answers are no longer wanted
        for pipe in (self._input, self._output):
            with suppress(OSError):  # what it was still to be told
                pipe.close()
        self._process.wait()


class Checkers:
    """Children that check signatures; used by one thread. `stop` it, whatever happens."""

    def __init__(self, count: int) -> None:
        """Start up to `count` children."""
        self._children = [child for _ in range(count) if (child := _Child.start())]
        self._waiting: deque[_Part] = deque()

    def __bool__(self) -> bool:
        return bool(self._children)

    def offer(self, ticket: Ticket, claims: list[Claim]) -> None:
        """Hand in the next claims of a ticket, for `settle` to tell which of them do not hold; waits for none."""
        for start in range(0, len(claims), PART):
            self._waiting.append(_Part(ticket, ticket.claims + start, claims[start : start + PART]))
            ticket.missing += 1
        ticket.claims += len(claims)
        self._feed()

    def settle(self, ticket: Ticket) -> list[int]:
        """Return the places of the claims that do not hold, in order; raise what a check here raises."""
        while ticket.missing:
            self._feed()
            if ticket.missing and self._waiting:
                self._waiting.popleft().check()
            elif ticket.missing:
                self._collect(None)
        return sorted(ticket.bad)

    def stop(self) -> None:
        """End the children."""
        for child in self._children:
            child.stop()

    def _feed(self) -> None:
        self._collect(0)
        for child in list(self._children):
            while self._waiting and len(child.given) < DEPTH:
                if not child.give(self._waiting[0]):
                    self._lose(child)
                    break
                self._waiting.popleft()

    def _collect(self, timeout: float | None) -> None:
        """Take the answers that are there; wait for the first where there is no timeout."""
        while busy := {child.answers: child for child in self._children if child.given}:
            answers = select.poll()
            for file in busy:
                answers.register(file, select.POLLIN)
            ready = answers.poll(timeout)
            if not ready:
                return
            for file, _ in ready:
                if not busy[file].take():
                    self._lose(busy[file])
            timeout = 0

    def _lose(self, child: _Child) -> None:
        self._children.remove(child)
        self._waiting.extendleft(reversed(child.given))
        child.stop()
