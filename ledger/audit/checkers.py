"""Author signatures checked by child processes, and by this process beside them (SPEC §11.1).

A child is fed ahead and never waits; parts that none was given this process checks itself, while it would have to wait.
One that dies, hangs, answers anything but what was asked, or can't be had, costs only time: what it did not answer is
checked here. That nothing is wrong is said by bits that are 0, so a child must first show that it finds what is wrong.
"""

import fcntl
import marshal
import os
import select
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Final

from braid.ledger.audit.signatures import Claim, wrong
from braid.ledger.crypto import signature
from braid.ledger.worker import launch

if TYPE_CHECKING:
    import subprocess

PART: Final = 32
"""Claims that are given together: 1.5 ms of work, and one bit each of an answer."""
DEPTH: Final = 4
"""Parts that a child has before it: 5 ms of work, while this process reads or checks for 2 before it comes back."""
PATIENCE_S = 30.0
"""How long a child may take for what takes 5 ms, before it is held to be no more."""
_ANSWER_BYTES: Final = 8
_PIPE_BYTES: Final = 1 << 20
"""Room for what a child has before it, so that giving it more does not wait; where it can't be had, giving waits."""
_PROGRAM: Final = signature.__file__
_KEY: Final = bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
_SIGNED: Final = bytes.fromhex(
    "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24"
    "655141438e7a100b"
)
_PROBE: Final[list[Claim]] = [(_KEY, b"", _SIGNED), (_KEY, b"another message", _SIGNED), (_KEY, b"", _SIGNED)]
"""RFC 8032 §7.1, test 1: it holds; over another message it does not."""
_PROBED: Final = [1]


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
    """A process that runs `ledger/crypto/signature.py`, and the parts that it has not answered, oldest first."""

    def __init__(self, process: "subprocess.Popen[bytes]", input_: IO[bytes], output: IO[bytes]) -> None:
        self._process, self._input, self._output = process, input_, output
        self.answers, self._questions = output.fileno(), input_.fileno()
        self.given: deque[_Part] = deque()
        self._probe = Ticket()
        self._asked = self._answered = 0
        os.set_blocking(self._questions, False)
        if hasattr(fcntl, "F_SETPIPE_SZ"):
            with suppress(OSError):  # this user's pipes hold all that the system allows
                fcntl.fcntl(self._questions, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)

    @classmethod
    def start(cls) -> "_Child | None":
        # Without `site`, which would take longer than all else; modules are found by the paths that `launch` hands on.
        process = launch("-S", "-P", _PROGRAM)
        if process is None or process.stdin is None or process.stdout is None:
            return None
        child = cls(process, process.stdin, process.stdout)
        child.give(_Part(child._probe, 0, _PROBE))
        return child

    def give(self, part: _Part) -> bool:
        """Hand over a part; False where the child is no more, or doesn't read."""
        data = marshal.dumps(part.claims)
        question = memoryview(self._asked.to_bytes(4, "little") + len(data).to_bytes(4, "little") + data)
        room = select.poll()
        room.register(self._questions, select.POLLOUT)
        try:
            while question:
                if [event for _, event in room.poll(PATIENCE_S * 1000)] != [select.POLLOUT]:
                    return False  # nobody reads at the other end, or not in time
                question = question[os.write(self._questions, question) :]
        except OSError:
            return False
        self._asked += 1
        self.given.append(part)
        return True

    def take(self) -> bool:
        """Take the next answer, and wait for it; False where the child is no more, or says what it was not asked."""
        answer = os.read(self.answers, _ANSWER_BYTES)
        part, bits = self.given[0], int.from_bytes(answer[4:], "little")
        if len(answer) != _ANSWER_BYTES or answer[:4] != self._answered.to_bytes(4, "little"):
            return False
        bad = [place for place in range(len(part.claims)) if bits >> place & 1]
        if bits >> len(part.claims) or (part.ticket is self._probe and bad != _PROBED):
            return False
        self._answered += 1
        self.given.popleft()
        part.ticket.judge(part.start, bad)
        return True

    def stop(self) -> list[_Part]:
        """End it; return the parts that it was given and did not answer."""
        self._process.kill()  # it is idle, or its answers are no longer wanted
        for pipe in (self._input, self._output):
            pipe.close()
        self._process.wait()
        return [part for part in self.given if part.ticket is not self._probe]


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
                self._collect(PATIENCE_S)
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

    def _collect(self, timeout_s: float) -> None:
        """Take the answers that are there; wait for the first, where there is a timeout. Who is late is no more."""
        while busy := {child.answers: child for child in self._children if child.given}:
            answers = select.poll()
            for file in busy:
                answers.register(file, select.POLLIN)
            ready = answers.poll(timeout_s * 1000)
            late = [] if ready or not timeout_s else [*busy.values()]
            lost = [busy[file] for file, _ in ready if not busy[file].take()]
            for child in late + lost:
                self._lose(child)
            if not ready:
                return
            timeout_s = 0

    def _lose(self, child: _Child) -> None:
        self._children.remove(child)
        self._waiting.extendleft(reversed(child.stop()))
