"""Who changes or forgets too much raises an alarm, and freezes all changes where `freeze_on_alarm` is set.

Each session that writes counts what is asked through it, whatever the face. A process that has just begun, such as one
of the command line, reads from the log what was changed in the minute before. Only a freeze is signed here: without one
an alarm is a line in the log of events, which grows no record.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

import msgspec

from braid.caller import THIS_MACHINE, asked_by, asked_for, asking
from braid.errors import FrozenError
from braid.event_log import note
from braid.ledger.errors import LedgerError
from braid.ledger.record.record import ASKED_BY, CORRECTION, IMPORTED, EventBody, is_reading
from braid.ledger.record.standing import SUPERSEDES
from braid.notices import put_notice
from braid.settings import EVENT, fold_of, settings
from braid.spikes import SPIKE_S, Act, Spikes
from braid.wal.errors import WalError

if TYPE_CHECKING:
    from braid.ledger.record.record import Record
    from braid.operation import Operation, Request
    from braid.session import Session

ALARM: Final = "alarm"
WATCHED: Final = frozenset(("modify", "forget", "recover", "erase"))
"""The accesses of the operations that are counted."""
MOST_READ: Final = 10_000
"""So many of the newest records are looked through at most when a process begins to count."""
_NO_SUCH: Final = frozenset(("UnknownRecordError", "NotInScopeError"))
_MISSING: Final = (LedgerError, WalError, OSError, ValueError, LookupError)


class Alarm(msgspec.Struct, frozen=True, kw_only=True):
    """A spike: who did how much of what within a minute. `token`: the id of the token that they ask with."""

    what: Act
    caller: str
    token: str | None
    count: int

    @property
    def why(self) -> str:
        """What an operator reads as the reason of the freeze."""
        return f"{self.caller}: {self.count} {self.what} within {SPIKE_S:.0f} seconds"

    @property
    def data(self) -> dict[str, Any]:
        """What a signed alarm says."""
        return msgspec.structs.asdict(self)


class MutationWatch:
    """Counts the changes of one session that writes. Safe between threads."""

    def __init__(self, session: "Session") -> None:
        self._session = session
        self._turn = Lock()
        self._spikes = Spikes()
        self._owed: Alarm | None = None
        self.listeners: list[Callable[[Alarm, bool], None]] = []
        """Each is given every alarm, and whether it was signed."""
        self._has_begun = False

    def begin(self, known: "Operation") -> None:
        """Get ready to count an operation, and sign a freeze that no key was here for.

        Raises FrozenError for a change while there is still none.
        """
        with self._turn:
            if not self._has_begun:
                for who, act, count, at_s in _newest(self._session):
                    self._spikes.add(who, act, count, at_s)
            self._has_begun = True
        if self._owed is None:
            return
        owed = self._freeze()
        if owed is not None and known.access in ("modify", "forget"):
            raise FrozenError(
                f"{known.name} would change a memory, and no operator's key is here to sign mutations_frozen"
                f" ({owed.why})"
            )

    def done(self, known: "Operation", asked: "Request", answer: object) -> None:
        """Count what an operation changed, took away, or undid."""
        if not (known.destructive or not known.repeatable or known.access == "modify"):
            return  # a preview
        who, undone = _asker(), Counter[str]()
        try:
            undone.update(_undone(self._session, known, asked, answer))
        except _MISSING as error:  # what was asked is done, whatever can't be read of it
            note("undone_unread", level=logging.WARNING, error=error)
        at_s = _time_of(self._session, self._session.reader.size - 1)
        for act, count in _counted(known, asked, answer):
            self._add(who, act, count, at_s)
        for author, count in undone.items():
            self._add(author, "wrong targets", count, at_s)

    def failed(self, known: "Operation", error: Exception) -> None:
        """Count what named something that isn't there."""
        if isinstance(error, LookupError):
            self._add(_asker(), "wrong targets", 1, self._session.now().timestamp())

    def _add(self, who: str, act: Act, count: int, at_s: float) -> None:
        if not count:
            return
        with self._turn:
            total = self._spikes.add(who, act, count, at_s)
        if total is None:
            return
        caller = asking()
        token = caller.token if caller is not None and who == _asker() else None
        name = who.partition(" ")[2] or THIS_MACHINE
        alarm = Alarm(what=act, caller=name, token=token, count=total)
        note("alarm", level=logging.WARNING, outcome=act.replace(" ", "_"), count=total)
        is_signed = False
        if settings(self._session).freeze_on_alarm:
            self._owed = alarm
            is_signed = self._freeze() is None
        for listener in self.listeners:
            listener(alarm, is_signed)

    def _freeze(self) -> Alarm | None:
        """Sign the freeze that is owed, and its alarm; return what is owed still.

        Where this process dies between the two, the freeze says why.
        """
        session = self._session
        try:
            with asked_by(None), session.writer.turn():
                session.refresh()
                owed, now = self._owed, settings(session)
                if owed is not None and now.freeze_on_alarm and not now.mutations_frozen:
                    put_notice(
                        session, EVENT, {"key": "mutations_frozen", "value": True}, owed.why, "a freeze"
                    )
                    put_notice(session, ALARM, owed.data, owed.why, "an alarm")
                    session.refresh()
                self._owed = None
        except (LedgerError, WalError, OSError, ValueError) as error:  # the request that it is about goes on
            note("freeze_unsigned", level=logging.ERROR, error=error)
        return self._owed


def mutation_watch(session: "Session") -> MutationWatch:
    """Return what counts a session's changes, kept while it is open."""
    return session.kept(MutationWatch, lambda: MutationWatch(session))


def _asker() -> str:
    """Return who asks, as a record says it; empty for the process that opened the store."""
    return asked_for().get(ASKED_BY, "")


def _counted(known: "Operation", asked: "Request", answer: object) -> Iterator[tuple[Act, int]]:
    """Yield what an operation did, and of how many memories; a repeated request did nothing."""
    if getattr(answer, "known", False) is True:
        return
    if known.access == "modify":
        outcomes = getattr(answer, "outcomes", None)
        if outcomes is None:
            yield "changes", 1
            return
        yield "changes", sum(one.done is not None and not one.done.known for one in outcomes)
        yield "wrong targets", sum(one.error in _NO_SUCH for one in outcomes)
    elif known.access in ("forget", "erase"):
        gone = getattr(answer, "forgotten", None) or getattr(asked, "ids", None) or ()
        yield "deletes", len(gone) or 1


def _undone(session: "Session", known: "Operation", asked: "Request", answer: object) -> Iterator[str]:
    """Yield who made each change that an operation took back: it stood against the wrong memory, or was wrong."""
    reader = session.reader
    if getattr(answer, "known", False) is True:
        return
    ids: tuple[str, ...] = getattr(asked, "ids", None) or ()
    if known.name == "recover":
        for index in map(reader.index_of, ids):
            hid = [
                at
                for at, role in reader.backlinks.of(index)
                if role == "target" and _op(session, at) == "forget"
            ]
            yield from (_author(session, at) for at in hid[-1:])
    elif known.name == "forget" and getattr(asked, "only", False):
        yield from (_author(session, at) for at in map(reader.index_of, ids) if _replaced(session, at))
    elif known.access == "modify":
        done = (one.done for one in getattr(answer, "outcomes", ()))
        for one in (answer, *done):
            yield from _turned_back(session, getattr(one, "id", None))


def _turned_back(session: "Session", id: str | None) -> Iterator[str]:
    """Yield who wrote what a new record replaces, where the new one says again what that had replaced."""
    if id is None or session.reader.envelope(at := session.reader.index_of(id)).kind != "experience":
        return
    for wrong in _replaced(session, at):
        before = _replaced(session, wrong)
        text = _record(session, at).text if before else None
        if any(_record(session, one).text == text for one in before):
            yield _author(session, wrong)


def _replaced(session: "Session", at: int) -> list[int]:
    return [link.index for link in session.reader.links(at) if link.role == SUPERSEDES]


def _record(session: "Session", at: int) -> "Record":
    return session.reader.at(at, include_forgotten=True)


def _author(session: "Session", at: int) -> str:
    said = _record(session, at).members.get(ASKED_BY)
    return said if isinstance(said, str) else ""


def _op(session: "Session", at: int) -> object:
    envelope = session.reader.envelope(at)
    return envelope.public.get("op") if envelope.kind == "tombstone" else None


def _time_of(session: "Session", at: int) -> float:
    return datetime.fromisoformat(session.reader.envelope(at).created_at).timestamp()


def _newest(session: "Session") -> list[tuple[str, Act, int, float]]:
    """Return who changed how much in the last minute of the log, oldest first: since the freeze was last lifted."""
    reader = session.reader
    session.refresh()
    lifted = fold_of(session).now()[1].get("mutations_frozen", -1)
    found: list[tuple[str, Act, int, float]] = []
    since_s = _time_of(session, reader.size - 1) - SPIKE_S
    for at in range(reader.size - 1, max(lifted, reader.size - 1 - MOST_READ), -1):
        envelope = reader.envelope(at)
        if (at_s := datetime.fromisoformat(envelope.created_at).timestamp()) < since_s:
            break
        try:
            if envelope.kind == "tombstone" and envelope.public.get("op") == "forget":
                found.append((_author(session, at), "deletes", _memories(session, at), at_s))
            elif envelope.kind == "event" and _is_correction(session, at):
                found.append((_author(session, at), "changes", 1, at_s))
        except _MISSING:  # erased since, or of a key that isn't here
            continue
    return found[::-1]


def _is_correction(session: "Session", at: int) -> bool:
    """Whether an event says why a memory was put right here, and not in a log that it was imported from."""
    if not _replaced(session, at):
        return False
    record = _record(session, at)
    is_own = IMPORTED not in record.members
    return is_own and isinstance(record.body, EventBody) and record.body.name == CORRECTION


def _memories(session: "Session", tombstone: int) -> int:
    """Return how many memories a tombstone hides: of each chain the newest, and nothing that was read of one."""
    hidden = {link.index for link in session.reader.links(tombstone) if link.role == "target"}
    hidden = {at for at in hidden if session.reader.envelope(at).kind == "experience"}
    older = {one for at in hidden for one in _replaced(session, at)}
    return sum(not is_reading(_record(session, at).body) for at in hidden - older)
