"""Who runs a program: one run of this machine at a time, by a lock; of another machine, as its last record says."""

import os
from datetime import datetime, timedelta
from pathlib import Path
from secrets import token_hex
from time import sleep
from typing import Final

from braid.agent.errors import ProgramTakenError
from braid.agent.program.events import Lease
from braid.agent.program.plan import Plan
from braid.agent.program.state import State
from braid.session import Session
from braid.wal.durable import make_folder
from braid.wal.errors import LogLockedError
from braid.wal.lock import FileLock

GRACE: Final = timedelta(seconds=30)
"""How long beyond its limit of time a run on another machine is waited for."""

_LOOKS: Final = 40
_LOOK_S: Final = 0.005


class RunLock:
    """Keeps a program to one run of this machine while it runs: the kernel lets go of it when the process dies.

    A courtesy, so that who comes second is told at once; what keeps a step from being done twice is the log.
    """

    def __init__(self, session: Session, id: str) -> None:
        folder = Path(session.reader.path) / "views" / "programs"
        make_folder(folder)
        self._path = folder / f"{id}.lock"
        self._lock = FileLock(self._path)
        self._id = id

    def __enter__(self) -> None:
        try:
            self._lock.acquire()
        except LogLockedError:
            raise ProgramTakenError(
                f"{self._id} is being run by {self._who()}; nothing was done here"
            ) from None
        self._path.write_text(f"process {os.getpid()} on {os.uname().nodename}", "utf-8")

    def _who(self) -> str:
        """Return who has the lock; it says so right behind taking it."""
        for _ in range(_LOOKS):
            if who := self._path.read_text("utf-8"):
                return who
            sleep(_LOOK_S)
        return "another process"

    def __exit__(self, *_: object) -> None:
        self._path.write_text("", "utf-8")
        self._lock.release()  # the file stays: were it removed, who waits for it would lock another than who comes next


def lease_of(session: Session, plan: Plan) -> Lease:
    """Return this process as who runs a program, until its limit of time and a grace are over."""
    until = session.now() + timedelta(seconds=plan.limits.seconds) + GRACE
    return Lease(os.uname().nodename, os.getpid(), token_hex(8), until)


def refuse_taken(state: State, now: datetime, *, take_over: bool) -> None:
    """Refuse a program that a run on another machine has, as far as anybody knows here; one of this machine has died:
    its lock was to be had."""
    holder = state.holder
    if holder is None or holder.host == os.uname().nodename or take_over:
        return
    if now < holder.until:
        raise ProgramTakenError(
            f"{state.id} is being run by {holder} until {holder.until:%Y-%m-%d %H:%M:%S %Z}; where that has died,"
            " take it over (--take-over)"
        )
