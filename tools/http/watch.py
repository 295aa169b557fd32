"""What a server refuses, and what looks wrong: counted as it happens, signed once a window.

A stranger must not be able to grow an immutable log. So refusals are counted in memory, under at most `MOST` names, and
one event an hour says how many there were; an alarm is one event an hour, too, however long it goes on.
"""

import logging
from collections import Counter, deque
from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import Any, Final

from braid.caller import Caller
from braid.errors import AccessDeniedError
from braid.event_log import note
from braid.ledger.errors import LedgerError
from braid.notices import put_notice
from braid.operation import Operation
from braid.session import Session
from braid.tools.http.limits import weight_of
from braid.wal.errors import WalError

WINDOW_S: Final = 3600.0
"""How often a summary may be signed."""
MOST: Final = 50
"""How many kinds of refusal a summary names; the rest is one number."""
SPIKE: Final = 20
"""How many records one caller may take away, or aim at in vain, within a minute before it is an alarm."""
SPIKE_S: Final = 60.0
DENIED, ALARM = "denied", "alarm"


class Watch:
    """Counts for one server. Safe between threads."""

    def __init__(self, session: Session, clock: Callable[[], float] = monotonic) -> None:
        self._session = session
        self._clock = clock
        self._turn = Lock()
        self._denied: Counter[tuple[str, str, str]] = Counter()
        self._others = 0
        self._signed_at: dict[str, float] = {DENIED: clock()}
        self._acts: dict[tuple[str, str], deque[tuple[float, int]]] = {}

    def refused(self, who: str, what: str, why: str) -> None:
        """Count a refusal: under whose name, of which operation, for which reason."""
        with self._turn:
            key = (who, what, why)
            if key in self._denied or len(self._denied) < MOST:
                self._denied[key] += 1
            else:
                self._others += 1
        self.sign()

    def done(self, caller: Caller, known: Operation, asked: object, answer: object) -> None:
        """Take notice of what took something away; many in a minute are an alarm."""
        if (
            weight_of(known) == "destroy"
            and known.access in ("forget", "erase")
            and (known.destructive or not known.repeatable)
        ):
            gone = getattr(answer, "forgotten", None) or getattr(asked, "ids", None) or ()
            self._act(caller, "deletes", len(gone) or 1)

    def failed(self, caller: Caller, known: Operation, error: Exception) -> None:
        """Take notice of a failure: a refusal is counted; changes that name what isn't there are an alarm."""
        if isinstance(error, AccessDeniedError):
            self.refused(caller.name, known.name, type(error).__name__)
        elif known.access in ("modify", "forget", "recover", "erase") and isinstance(error, LookupError):
            self._act(caller, "wrong targets", 1)

    def _act(self, caller: Caller, what: str, count: int) -> None:
        now = self._clock()
        with self._turn:
            acts = self._acts.setdefault((caller.token or caller.name, what), deque())
            acts.append((now, count))
            while acts and acts[0][0] < now - SPIKE_S:
                acts.popleft()
            total = sum(each for _, each in acts)
            if total <= SPIKE:
                return
            acts.clear()
            if is_due := self._is_due(ALARM, now):
                self._signed_at[ALARM] = now
        note("alarm", level=logging.WARNING, outcome=what.replace(" ", "_"), count=total)
        if is_due:
            self._sign(ALARM, {"what": what, "caller": caller.name, "token": caller.token, "count": total})

    def sign(self, *, ending: bool = False) -> None:
        """Sign what was refused since the last summary, where the window has passed or the server ends."""
        now = self._clock()
        with self._turn:
            if not self._denied or not (ending or self._is_due(DENIED, now)):
                return
            self._signed_at[DENIED] = now
            rows = [
                {"caller": who, "operation": what, "why": why, "count": count}
                for (who, what, why), count in self._denied.most_common()
            ]
            data = {"refused": rows, "others": self._others}
            self._denied.clear()
            self._others = 0
        self._sign(DENIED, data)

    def _is_due(self, name: str, now: float) -> bool:
        before = self._signed_at.get(name)
        return before is None or now - before >= WINDOW_S

    def _sign(self, name: str, data: dict[str, Any]) -> None:
        try:
            put_notice(self._session, name, data, None, f"a notice {name}")
        except (LedgerError, WalError, OSError, ValueError) as error:  # the request that it is about goes on
            note("notice_unsigned", level=logging.ERROR, stage=name, outcome=type(error).__name__)
