"""Workers inside a server: threads that work off what the log has and no outcome names, while requests are answered."""

import logging
from collections.abc import Callable
from threading import Event, Thread
from time import monotonic
from typing import Final

from braid.event_log import note
from braid.jobs.running import Models, step, worker
from braid.providers.policy import refusal_of
from braid.session import Session
from braid.settings import settings

LOOK_S: Final = 1.0
"""How often a worker looks where nobody wakes it: another process may have appended."""
TROUBLE_S: Final = 5.0
"""How long it rests after something went wrong that isn't the job's: a full disk, a transport that is away."""


class Workers:
    """Some threads over one session. An append wakes them, and never waits for them."""

    def __init__(self, session: Session, count: int, models: Callable[[], Models] = Models) -> None:
        """`count` threads, which begin with `start`; `models` is asked whenever one looks for work."""
        self._session = session
        self._models = models
        self._woken = Event()
        self._stopped = Event()
        self._threads = [
            Thread(target=self._run, name=f"braid-worker-{at}", daemon=True) for at in range(count)
        ]

    def start(self) -> None:
        """Let them begin."""
        for one in self._threads:
            one.start()

    def wake(self) -> None:
        """Tell them that there may be something to do."""
        self._woken.set()

    def stop(self, within_s: float) -> None:
        """Let each end its job, and wait so many seconds for it; what isn't ended is done again by another."""
        self._stopped.set()
        self._woken.set()
        until = monotonic() + within_s
        for one in self._threads:
            one.join(max(0.0, until - monotonic()))

    def _run(self) -> None:
        wait_s = 0.0
        while not self._stopped.is_set():
            if self._woken.wait(wait_s):
                self._woken.clear()
            if self._stopped.is_set():
                return
            try:
                wait_s = self._work()
            except Exception as error:  # what is to be done is in the log: nothing is lost by resting
                note("worker_rests", level=logging.ERROR, error=error)
                wait_s = TROUBLE_S

    def _allowed(self) -> Models:
        """Return the models that may be asked now: one that is kept away must not stop the projections."""
        try:
            now, found = settings(self._session), self._models()
        except ValueError as error:  # a name that means none, or one too far away, was signed meanwhile
            note("model_kept_away", level=logging.WARNING, error=error)
            return Models()
        allowed = {
            name: model if model is None or refusal_of(model, now) is None else None
            for name, model in (("small", found.small), ("second", found.second), ("larger", found.larger))
        }
        if kept := [
            name for name, model in allowed.items() if model is None and getattr(found, name) is not None
        ]:
            note("model_kept_away", level=logging.WARNING, tier=kept[0], outcome="not_allowed")
        if allowed["small"] is None and allowed["second"] is not None:
            allowed |= {"small": allowed["second"], "second": None}
        return Models(**allowed, parser=found.parser)

    def _work(self) -> float:
        """Work until nothing is due; return in how many seconds to look again."""
        self._session.refresh()
        one = worker(self._session, (), self._allowed(), ended_only=True)
        while not self._stopped.is_set() and step(one) is not None:
            pass
        return min(one.idle_s() or LOOK_S, LOOK_S)
