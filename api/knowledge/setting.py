"""The signed setting of learning: whether claims of health and of money are made. Both are off by default.

It is a notice in the log (SPEC §3.5), the newest counts. Such claims have readers of their own, so that turning a kind
off is one event a reader: it retires them (ADR 58). Turned on again, that event is forgotten, and they are back.
"""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from braid.knowledge.retirement import retire
from braid.learn.gates.outcome import EVERY_SENSITIVITY, GateSettings, Sensitivity, kinds_of
from braid.ledger.erase import erasure
from braid.notices import notice_count, notices, put_notice
from braid.session import Session

EVENT: Final = "learning"


class Setting(msgspec.Struct, frozen=True):
    """What is allowed, and the record that says so: None where nobody has set it."""

    allowed: GateSettings = GateSettings()
    index: int | None = None


class SettingFold:
    """The setting of one store; looks again when the log has more that may say so. Safe between threads."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._known: tuple[int, Setting] = (-1, Setting())

    def now(self) -> Setting:
        """Return what is set."""
        count, known = self._known
        if (held := notice_count(self._session)) != count:
            known = Setting()
            for index, body in notices(self._session, EVENT):
                said: dict[str, Any] = body.data
                allowed = GateSettings(health=said.get("health") is True, finance=said.get("finance") is True)
                known = Setting(allowed, index)
            self._known = (held, known)
        return known


def setting(session: Session) -> Setting:
    """Return what is set in the log as the session has followed it."""
    return session.kept(SettingFold, lambda: SettingFold(session)).now()


def readers(session: Session) -> list[Sensitivity]:
    """Return of what claims are made, a reader each; first those that are neither of health nor of money."""
    allowed = setting(session).allowed.allowed
    return [kinds for kinds in EVERY_SENSITIVITY if kinds <= allowed]


def choose(session: Session, wanted: GateSettings, reason: str | None) -> Setting:
    """Sign the setting where it isn't so already, then retire what it forbids, and give back what it allows.

    If the process dies between, the setting stands and nothing new is made; repeating it does the rest. Raises
    KeyRefusedError without an operator's key.
    """
    with session.writer.turn():
        session.refresh()
        if setting(session).allowed != wanted:
            data = {"health": wanted.health, "finance": wanted.finance}
            put_notice(session, EVENT, data, reason, "a setting of learning")
        reader = session.reader
        methods = {method for method in reader.retirements.methods(reader.size) if kinds_of(method)}
        for method in sorted(methods):
            if not kinds_of(method) <= wanted.allowed:
                retire(session, method, reason)
        back = [
            id for id, method in _retired(session) if method in methods and kinds_of(method) <= wanted.allowed
        ]
        if back:
            erasure.forget(session.writer, back, reason)
    session.refresh()
    return setting(session)


def _retired(session: Session) -> Iterator[tuple[str, str]]:
    """Yield the living retirements: the id of the event, and the method."""
    reader, control = session.reader, session.reader.control
    for index, method in reader.retirements.events():
        if index not in control.hidden and index not in control.erased:
            yield reader.envelope(index).id, method
