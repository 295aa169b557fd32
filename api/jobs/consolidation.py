"""Consolidation as a consumer: what waits in staging is held against what has been said since, every few hours.

A round looks at all that waits, outside every lock. What it decides is appended with its outcome as one transaction,
under the writer's lock, and only where nobody decided it meanwhile and both claims still stand. Jobs past their window
are let go of. No record is erased: that takes a tombstone, which only an operator's key signs.
"""

from collections.abc import Callable, Sequence
from itertools import islice
from time import perf_counter
from typing import Final, NamedTuple

from braid.admin.retention import due_records, release_jobs
from braid.caller import GRANTS, Caller, asked_by
from braid.freeze_switch import FreezeSwitch
from braid.jobs.consolidation_due import Due
from braid.knowledge.staging import accepting, rejecting
from braid.knowledge.waiting import Reviewed, count_waiting, is_open, reviewed
from braid.learn.consolidate import RULES
from braid.ledger.record.record import Draft
from braid.outcomes import Seen, Signed, Spent, bury, outcomes, settle, telling_log_away
from braid.session import Session
from braid.settings import settings
from braid.views.errors import ViewBusyError
from braid.work.errors import NotNowError
from braid.work.job import Batch, Death

CONSOLIDATION: Final = "consolidation"
BUSY_S: Final = 1.0
MOST: Final = 250
"""So many claims are decided in one round: each is looked at again under the writer's lock. What is left of them is
another round's, at once."""
FROZEN_S: Final = 60.0
"""After so long a round is tried again that a freeze has met."""
REASON: Final = "a stated claim says otherwise"
_ITSELF: Final = Caller(name=RULES, kind="autonomous", allowed=GRANTS["autonomous"])


class Round(NamedTuple):
    """What a round found: claims that are accepted or rejected; how many waited; up to where the log was looked at."""

    decided: Sequence[Reviewed]
    waited: int
    size: int
    ms: float


class Consolidation:
    """Reviews what waits in staging, and lets go of jobs that are past their window. Implements `Consumer`."""

    name = CONSOLIDATION
    version = RULES
    needs: tuple[str, ...] = ("duckdb",)

    def __init__(self, session: Session) -> None:
        self._session = session
        self._due = session.kept(Due, lambda: Due(session))

    def plan(self, most: int) -> list[Batch]:
        """Return what was queued again, else the round that is due; nothing while it is stopped."""
        del most
        session = self._session
        if is_stopped(session):
            return []
        last = outcomes(session).newest(self.name, self.version)
        if last is not None and last.outcome.left:
            return [Batch(self.name, self.version, last.outcome.left[:1])]
        start = 0 if last is None else last.outcome.upto
        size = session.reader.size
        if start >= size or not (_was_full(last) or self._due.is_due(start, last)):
            return []
        return [Batch(self.name, self.version, ((start, size),))]

    def run(self, batch: Batch, attempt: int) -> Round:
        """Return what a round decides, holding no lock; nothing is appended."""
        del batch, attempt
        began = perf_counter()
        self._session.refresh()
        size = self._session.reader.size
        try:
            decided = (one for one in reviewed(self._session) if one.finding.by is not None)
            found = list(islice(decided, MOST))
            waited = count_waiting(self._session)
        except ViewBusyError as error:
            raise NotNowError(str(error), "busy", BUSY_S) from error
        return Round(found, waited, size, round(1000 * (perf_counter() - began), 1))

    def settle(self, batch: Batch, made: Round, attempt: int, fence: Callable[[], None]) -> bool:
        """Append what holds still with the outcome, as one transaction; False where the log has an outcome already.

        Raises NotNowError where everything was frozen meanwhile. If the process dies between letting go of jobs and
        the append, the next attempt finds them gone, and decides the rest.
        """
        del attempt
        session = self._session
        with asked_by(_ITSELF), session.writer.turn():
            session.refresh()
            fence()
            if is_stopped(session):
                raise NotNowError("a freeze stops what programs decide", "frozen", FROZEN_S)
            with telling_log_away():
                dead, dropped = release_jobs(session, session.now())
            standing = [one for one in made.decided if _holds(session, one)]
            drafts = [_draft(one) for one in standing]
            accepted = sum(one.finding.verdict == "accepted" for one in standing)
            counts = {
                "accepted": accepted,
                "rejected": len(standing) - accepted,
                "left": made.waited - len(standing),
                "purged": len({*dead, *dropped}),
                "overdue": len(due_records(session, session.now())),
            }
            return settle(
                session,
                batch,
                seen=Seen(max(made.size, *(stop for _, stop in batch.spans)), batch.spans),
                drafts=drafts,
                spent=Spent(counts=counts, ms={"review": made.ms}),
                fence=fence,
                clock=session.now().isoformat(),
            )

    def bury(self, batch: Batch, died: Death, fence: Callable[[], None]) -> bool:
        """Append that a round is dead; False where the log has an outcome."""
        return bury(self._session, batch, died, fence=fence, clock=self._session.now().isoformat())


def is_stopped(session: Session) -> bool:
    """Whether programs decide nothing now: by what freezes mutations or programs, or the whole store."""
    now = settings(session)
    if now.mutations_frozen or now.autonomous_frozen:
        return True
    return session.kept(FreezeSwitch, lambda: FreezeSwitch(session)).state() is not None


def _was_full(last: Signed | None) -> bool:
    """Whether a round decided as many as it may: the next one follows at once."""
    counts = {} if last is None else last.outcome.spent.counts
    return counts.get("accepted", 0) + counts.get("rejected", 0) >= MOST


def _holds(session: Session, one: Reviewed) -> bool:
    """Whether a staged claim may still be decided, by a claim that still stands."""
    by = one.finding.by
    return by is not None and session.reader.standings().lives(by.said.index) and is_open(session, one.staged)


def _draft(one: Reviewed) -> Draft:
    """Return what says what becomes of a staged claim, with both readings as evidence."""
    by = one.finding.by
    ids = [] if by is None or by.said.id == one.staged.record.id else [by.said.id]
    if one.finding.verdict == "accepted":
        return accepting(one.staged, ids)
    return rejecting(one.staged, REASON, ids)
