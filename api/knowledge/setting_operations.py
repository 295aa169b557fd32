"""What learning may keep: claims of health and of money are made only where the store's owner has signed that."""

from braid.ledger.errors import KeyRefusedError, ReadOnlyError
from braid.ledger.record.ids import RecordId
from braid.operation import Request, Response, operation
from braid.session import Session
from braid.wal.errors import OutcomeUnknownError


class SetLearning(Request, frozen=True, kw_only=True):
    """Whether claims of health and of money are made; None leaves it as it is. And why."""

    health: bool | None = None
    finance: bool | None = None
    reason: str | None = None


class LearningSetting(Response, frozen=True, kw_only=True):
    """What is allowed; `record` says so, None where it was never set."""

    health: bool
    finance: bool
    record: RecordId | None = None


@operation(
    SetLearning,
    LearningSetting,
    access="admin",
    cost="log",
    repeatable=True,
    example=SetLearning(health=True, reason="she asked for it"),
    errors=(ReadOnlyError, KeyRefusedError, OutcomeUnknownError),
)
def set_learning(session: Session, asked: SetLearning) -> LearningSetting:
    """Allow or forbid claims of health and of money by a signed event. Both are off until somebody allows them.

    What is forbidden loses its say by one event for each reader, and its words stay quotable; once allowed again, it is
    back. What is allowed is read by the next `learn`, from the beginning of the log; a model reads what comes from now
    on. Raises KeyRefusedError without an operator's key.
    """
    from braid.knowledge.setting import choose, setting
    from braid.learn.gates.outcome import GateSettings

    now = setting(session).allowed
    wanted = GateSettings(
        health=now.health if asked.health is None else asked.health,
        finance=now.finance if asked.finance is None else asked.finance,
    )
    choose(session, wanted, asked.reason)
    return learning_setting(session, AskLearning())


class AskLearning(Request, frozen=True, kw_only=True):
    """The question what learning may keep."""


@operation(AskLearning, LearningSetting, access="read", cost="record", example=AskLearning())
def learning_setting(session: Session, asked: AskLearning) -> LearningSetting:
    """Return whether claims of health and of money are made, and the record that says so."""
    from braid.knowledge.setting import setting

    del asked
    session.refresh()
    found = setting(session)
    record = None if found.index is None else RecordId(session.reader.envelope(found.index).id)
    return LearningSetting(health=found.allowed.health, finance=found.allowed.finance, record=record)
