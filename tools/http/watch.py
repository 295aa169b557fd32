"""What a server refuses, and what looks wrong: counted as it happens, signed once a window.

A stranger must not be able to grow an immutable log. So refusals are counted in memory, under at most `MOST` names, and
one event an hour says how many there were; an alarm is one event an hour, too, however long it goes on.
"""

import logging
from collections import Counter
from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import Any, Final

from braid.caller import Caller
from braid.errors import AccessDeniedError
from braid.event_log import note
from braid.ledger.errors import LedgerError
from braid.mutation_watch import ALARM, Alarm, mutation_watch
from braid.notices import put_notice
from braid.operation import Operation
from braid.session import Session
from braid.wal.errors import WalError

WINDOW_S: Final = 3600.0
"""How often a summary may be signed."""
MOST: Final = 50
"""How many kinds of refusal a summary names; the rest is one number."""
DENIED: Final = "denied"


class Watch:
    """Counts for one server. Safe between threads."""

    def __init__(self, session: Session, clock: Callable[[], float] = monotonic) -> None:
        self._session = session
        self._clock = clock
        self._turn = Lock()
        self._denied: Counter[tuple[str, str, str]] = Counter()
        self._others = 0
        self._signed_at: dict[str, float] = {DENIED: clock()}
        mutation_watch(session).listeners.append(self.alarmed)

    def refused(self, who: str, what: str, why: str) -> None:
        """Count a refusal: under whose name, of which operation, for which reason."""
        with self._turn:
            key = (who, what, why)
            if key in self._denied or len(self._denied) < MOST:
                self._denied[key] += 1
            else:
                self._others += 1
        self.sign()

    def failed(self, caller: Caller, known: Operation, error: Exception) -> None:
        """Take notice of a failure: what was not allowed is counted."""
        if isinstance(error, AccessDeniedError):
            self.refused(caller.name, known.name, type(error).__name__)

    def alarmed(self, alarm: Alarm, is_signed: bool) -> None:
        """Sign an alarm that no freeze has signed, once a window."""
        now = self._clock()
        with self._turn:
            if is_signed or not self._is_due(ALARM, now):
                return
            self._signed_at[ALARM] = now
        self._sign(ALARM, alarm.data)

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
            note("notice_unsigned", level=logging.ERROR, stage=name, error=error)
