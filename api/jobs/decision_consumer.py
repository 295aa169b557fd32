"""Decisions as a consumer: what newly learnt claims change is signed, where the settings and the figures let it.

In the phases `shadow` and `add_only` it signs what the rules would do, as counts, and changes nothing: one outcome for
all that came since the last one, once that is `BATCH` records. So a scope is read once for so many of them.

The proposals are made outside every lock. Under the writer's lock it is only looked at what was appended since: where
that may change them, the lock is let go of and they are made again, a few times at most. One that has become another,
or whose target has changed, is stale: nothing is appended for it, and it is decided again.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from time import perf_counter
from typing import Final, Literal, NamedTuple

from braid.caller import GRANTS, Caller, asked_by
from braid.claims.applied import decision_draft, known_decision
from braid.claims.canary import is_in_canary
from braid.claims.decided import DECISION
from braid.claims.decisions import PROPOSING, Steps, Walk, owner_of, walk, walk_about
from braid.claims.demotion import AGAIN_S, lower_if_breached
from braid.claims.protection import protected
from braid.freeze_switch import FreezeSwitch
from braid.ledger.record.record import Draft, EventBody, ExperienceBody, Record, Scope
from braid.ledger.record.scope import memory_of
from braid.log.chain import chain_of
from braid.log.lock import memory_behind
from braid.outcomes import EVENT as WORK
from braid.outcomes import Progress, Seen, Spent, bury, outcomes, settle
from braid.session import Session
from braid.settings import fold_of, settings
from braid.stance.claims import RecordedClaim
from braid.stance.decide import RULES
from braid.stance.proposal import ACTIONS, CHANGES, Proposal
from braid.views.errors import ViewError
from braid.work.errors import NotNowError
from braid.work.job import Batch, Death
from braid.work.spans import Spans, indexes, minus

BATCH: Final = 500
"""How many records of the log are a batch; while nothing is carried out, how many there are at least."""
_LOOKED_AT: Final = 10_000
"""Of a scope the newest so many claims are decided about."""
PROPOSED: Final = 3
"""How often a round's changes are proposed again, at most, since others append about the same memories meanwhile."""
BUSY_S: Final = 1.0
"""After so long a round that was put off is tried again."""
_MOST_SINCE: Final = 500
"""So many records are looked at under the lock, at most: behind more of them, all is proposed again."""
_ITSELF: Final = Caller(name=RULES, kind="autonomous", allowed=GRANTS["autonomous"])


class PlannedChange(NamedTuple):
    """A change that the rules propose; `version`: how often the target's memory had changed by then."""

    winner: RecordedClaim
    target: RecordedClaim
    proposal: Proposal
    version: int

    @property
    def gist(self) -> tuple[object, ...]:
        """What must be the same when it is carried out."""
        made = self.proposal
        return self.winner.node, self.target.node, made.action, made.reason, made.confidence, self.version


class Planned(NamedTuple):
    """The changes that a batch brings, and the milliseconds of deciding by arm.

    `owners`: whose memories were looked at; `size`: how many records the log had when that began.
    """

    changes: Sequence[PlannedChange]
    ms: dict[str, float]
    owners: Sequence[Scope]
    size: int


class Proposed(NamedTuple):
    """What the rules would do with the claims of a batch: counts by action, and the milliseconds that it took."""

    counts: dict[str, int]
    ms: dict[str, float]


NOTHING: Final = Planned((), {}, (), 0)


def arm(session: Session, user_id: str | None) -> str:
    """Return the arm of the canary that a user is in."""
    return "canary" if is_in_canary(session, user_id) else "control"


class DecisionConsumer:
    """Carries out what the rules decide of newly learnt claims. Implements `Consumer`."""

    name = DECISION
    version = RULES
    needs: tuple[str, ...] = ()

    def __init__(self, session: Session) -> None:
        self._session = session
        self._idle: tuple[int, int] = (0, 0)
        """From where to where nothing is to be decided."""

    def plan(self, most: int) -> list[Batch]:
        """Return what was left, else the next range that holds claims or what may undo one; nothing while halted."""
        del most
        if (does := mode(self._session)) == "nothing":
            return []
        progress = outcomes(self._session).progress(self.name, self.version)
        start = progress.upto
        if does == "carry out":
            start = max(start, _promoted_at(self._session))
            progress = Progress(start, minus(progress.left, [(0, _promoted_at(self._session))]))
        if progress.left:
            first, stop = progress.left[0]
            return [Batch(self.name, self.version, ((first, min(stop, first + BATCH)),))]
        size = self._session.reader.size
        begin = max(start, self._idle[1]) if self._idle[0] <= start <= self._idle[1] else start
        if does == "propose":
            return self._to_propose(start, begin, size)
        if self._first_work(begin, size) is None:
            self._idle = (start, size)
            return []
        return [Batch(self.name, self.version, ((start, min(start + BATCH, size)),))]

    def _to_propose(self, start: int, begin: int, size: int) -> list[Batch]:
        """Return all that came since the first claim behind the cursor, where that is enough for an outcome."""
        if size - begin < BATCH:
            return []
        first = self._first_work(begin, size)
        self._idle = (start, size if first is None else first)
        if first is None or size - first < BATCH:
            return []
        return [Batch(self.name, self.version, ((first, size),))]

    def _first_work(self, start: int, stop: int) -> int | None:
        entries = self._session.reader.entries(start, stop) if start < stop else ()
        return next((record.index for some in entries for record, _ in some if _is_work(record)), None)

    def run(self, batch: Batch, attempt: int) -> Planned | Proposed:
        """Return what a batch changes, holding no lock but to lower the phase; of claims nothing is appended.

        While nothing is carried out: what it would change.
        """
        del attempt
        session = self._session
        if mode(session) == "propose":
            return proposed(session, batch.spans)
        with asked_by(_ITSELF), session.writer.turn():
            session.refresh()
            if lower_if_breached(session) == "unsigned":
                raise NotNowError("decisions must stop, and no operator's key is here", "demotion", AGAIN_S)
        return NOTHING if is_halted(session) else planned(session, _since_promotion(session, batch.spans))

    def settle(self, batch: Batch, made: Planned | Proposed, attempt: int, fence: Callable[[], None]) -> bool:
        """Append what holds still with the outcome, as one transaction; False where the log has an outcome already.

        Raises NotNowError where others append about the same memories all the time: nothing is appended then.
        """
        del attempt
        session = self._session
        if isinstance(made, Proposed):
            return settle(
                session,
                batch,
                seen=Seen(max(stop for _, stop in batch.spans), batch.spans),
                spent=Spent(counts=made.counts, ms=made.ms),
                fence=fence,
            )
        newest = made
        for left in range(PROPOSED, -1, -1):
            with asked_by(_ITSELF), session.writer.turn():
                session.refresh()
                if is_halted(session) or lower_if_breached(session) != "stands":
                    return self._settle(batch, made, None, fence)
                if not _may_differ(session, newest):
                    return self._settle(batch, made, newest, fence)
            if left:
                newest = planned(session, _since_promotion(session, batch.spans))
        raise NotNowError("others append about the same memories all the time", "moved", BUSY_S)

    def _settle(self, batch: Batch, made: Planned, newest: Planned | None, fence: Callable[[], None]) -> bool:
        """Append what was proposed and is still, under the lock; without `newest` nothing is carried out or done."""
        session = self._session
        again = newest or NOTHING
        standing = {one.gist for one in again.changes if _stands(session, one)}
        holds = standing & {one.gist for one in made.changes}
        counts, drafts = self._drafts([one for one in again.changes if one.gist in holds])
        stale = [] if newest is None else _differing(made, again, holds)
        spans = () if newest is None else minus(batch.spans, [(at, at + 1) for at in stale])
        is_new = settle(
            session,
            Batch(self.name, self.version, spans),
            seen=Seen(max(stop for _, stop in batch.spans), batch.spans),
            drafts=drafts,
            spent=Spent(counts={**counts, "stale": len(stale)}, ms=made.ms),
            fence=fence,
        )
        lower_if_breached(session)
        return is_new

    def _drafts(self, changes: Iterable[PlannedChange]) -> tuple[dict[str, int], list[Draft]]:
        """Return the decisions to be appended, and how many are carried out, are control's, or are kept from it."""
        session = self._session
        counts = {"applied": 0, "control": 0, "kept": 0}
        drafts: list[Draft] = []
        for one in changes:
            if known_decision(session.reader, one.winner, one.target) is not None:
                continue  # it is there, or somebody undid it
            applied = is_in_canary(session, one.winner.user_id)
            if protected(session, one.target):
                counts["kept"] += 1
                continue
            counts["applied" if applied else "control"] += 1
            scope = session.reader.at(one.winner.index).body.scope
            drafts.append(decision_draft(one.winner, one.target, one.proposal, RULES, scope, applied=applied))
        return counts, drafts

    def bury(self, batch: Batch, died: Death, fence: Callable[[], None]) -> bool:
        """Append that a batch is dead; False where the log has an outcome."""
        return bury(self._session, batch, died, fence=fence)


def mode(session: Session) -> Literal["carry out", "propose", "nothing"]:
    """Return what is done with newly learnt claims now: `nothing` while programs, mutations or all are frozen."""
    now = settings(session)
    if now.mutations_frozen or now.autonomous_frozen:
        return "nothing"
    if session.kept(FreezeSwitch, lambda: FreezeSwitch(session)).state() is not None:
        return "nothing"
    if now.phase in PROPOSING:
        return "propose"
    return "carry out" if now.allow_update_delete else "nothing"


def is_halted(session: Session) -> bool:
    """Whether nothing is carried out now: by the phase, by what freezes mutations or programs, or the whole store."""
    return mode(session) != "carry out"


def _promoted_at(session: Session) -> int:
    """Return since which record the phase is what it is: what was learnt before is left as it is."""
    return fold_of(session).now()[1].get("phase", 0)


def _since_promotion(session: Session, spans: Spans) -> Spans:
    return minus(spans, [(0, _promoted_at(session))])


def proposed(session: Session, spans: Spans) -> Proposed:
    """Return what the rules would do with the claims of some records, as counts. It reads only, and holds no lock.

    Beside these claims those are read that may exclude them; where no projection says which they are, the newest of
    their scope.
    """
    session.refresh()
    began, counts = perf_counter(), Counter[str]()
    of_owner: dict[Scope, set[int]] = {}
    for index, owner in _owners(session, spans):
        of_owner.setdefault(owner, set()).add(index)
    for owner, own in of_owner.items():
        found = _steps(session, owner, own)
        counts["discarded"] += sum(len(one.warnings) for said, one in found.steps if said.index in own)
        for one in found.made:
            if one.said.index in own:
                counts[one.proposal.action] += 1
                counts["review_needed"] += one.proposal.review_needed
    every = {name: counts[name] for name in (*ACTIONS, "review_needed", "discarded")}
    return Proposed(every, {"proposing": round(1000 * (perf_counter() - began), 1)})


def _steps(session: Session, owner: Scope, records: set[int]) -> Steps | Walk:
    scope = None if owner == Scope() else owner
    try:
        return walk_about(session, records, scope, None)
    except (ViewError, OSError):
        return walk(session, scope, None, _LOOKED_AT)


def planned(session: Session, spans: Spans) -> Planned:
    """Return what the claims of some records change, by what is living now. It reads only, and holds no lock.

    The projection is brought up to date before the time is taken.
    """
    session.refresh()
    size = session.reader.size
    with suppress(ViewError, OSError), session.views.tables():
        pass
    wanted = set(indexes(spans))
    owners = tuple(dict.fromkeys(owner for _, owner in _owners(session, spans)))
    changes: list[PlannedChange] = []
    ms: dict[str, float] = {}
    for owner in owners:
        began = perf_counter()
        changes += _changes_of(session, owner, wanted)
        name = arm(session, owner.user_id)
        ms[name] = round(ms.get(name, 0.0) + 1000 * (perf_counter() - began), 1)
    return Planned(changes, ms, owners, size)


def _may_differ(session: Session, made: Planned) -> bool:
    """Whether what was appended since some changes were proposed may change them; called under the writer's lock.

    It errs to yes: then they are proposed again, outside the lock.
    """
    reader = session.reader
    if reader.size - made.size > _MOST_SINCE:
        return True
    since = (record for some in reader.entries(made.size, reader.size) for record, _ in some)
    return any(_concerns(record, made.owners) for record in since)


def _concerns(record: Record, owners: Iterable[Scope]) -> bool:
    """Whether a record may say something of what is known of one of some owners."""
    if record.envelope.public.get("name") == WORK:
        return False
    body = record.body if record.raw is not None else None
    if isinstance(body, ExperienceBody) and not body.symbolic and not record.targets("supersedes"):
        return False  # words, of which nothing is read yet
    if isinstance(body, ExperienceBody | EventBody):
        return any(_overlap(body.scope, owner) for owner in owners)
    return True  # something is hidden, comes back, or is erased; or a key is admitted


def _overlap(one: Scope | None, other: Scope) -> bool:
    """Whether something can be of both: no id says otherwise."""
    return all(
        mine is None or theirs is None or mine == theirs
        for mine, theirs in zip(memory_of(one), memory_of(other), strict=True)
    )


def _stands(session: Session, one: PlannedChange) -> bool:
    """Whether both claims of a change live, and the target's memory has the version that was looked at."""
    lives = session.reader.standings().lives
    both = lives(one.winner.index) and lives(one.target.index)
    return both and _version(session, one.target) == one.version


def _version(session: Session, target: RecordedClaim) -> int:
    return chain_of(session.reader, memory_behind(session.reader, target.index)).version


def _owners(session: Session, spans: Spans) -> Iterable[tuple[int, Scope]]:
    """Yield the living records with claims among some, and whose they are: a scope without its session."""
    standings = session.reader.standings()
    for index in indexes(spans):
        if session.reader.envelope(index).kind != "experience" or not standings.lives(index):
            continue
        body = session.reader.at(index).body
        if isinstance(body, ExperienceBody) and body.symbolic:
            yield index, owner_of(body.scope)


def _changes_of(session: Session, owner: Scope, wanted: set[int]) -> Iterable[PlannedChange]:
    """Yield the changes that claims of an owner among some records bring, each to a claim of the same owner."""
    reader = session.reader
    for one in walk(session, None if owner == Scope() else owner, None, _LOOKED_AT).made:
        target = one.target
        if one.said.index not in wanted or one.proposal.action not in CHANGES or target is None:
            continue
        both = (reader.at(said.index).body.scope for said in (one.candidate, target))
        if all(owner_of(scope) == owner for scope in both):
            yield PlannedChange(one.candidate, target, one.proposal, _version(session, target))


def _differing(made: Planned, again: Planned, holds: set[tuple[object, ...]]) -> list[int]:
    """Return the records of which another thing is proposed by now, by log index."""
    every = (*made.changes, *again.changes)
    return sorted({one.winner.index for one in every if one.gist not in holds})


def _is_work(record: Record) -> bool:
    """Whether a record may bring a change, or undo one."""
    if record.kind == "tombstone":
        return True
    body = record.body if record.raw is not None and record.kind == "experience" else None
    return isinstance(body, ExperienceBody) and bool(body.symbolic or record.targets("supersedes"))
