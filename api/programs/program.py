"""A program as callers get it, and as it stands in a list."""

from datetime import datetime
from typing import Self

import msgspec

from braid.agent.program.state import Standing, State
from braid.answers.reply import Reply
from braid.ledger.record.ids import RecordId
from braid.operation import Response


class Program(Response, frozen=True, kw_only=True):
    """A program as it stands. `id`: its first record. `waits_for`: who answers, where it is paused.

    `state`: its plan, what each step gave and what was spent; `answer`: where it has ended in one just now.
    """

    id: RecordId
    standing: Standing
    waits_for: str | None
    state: State
    answer: Reply | None = None

    @classmethod
    def of(cls, state: State, answer: Reply | None = None) -> Self:
        """Return a program from its state."""
        paused = state.paused
        return cls(
            id=RecordId(state.id),
            standing=state.standing,
            waits_for=paused.asks if paused is not None else None,
            state=state,
            answer=answer,
        )


def cited_by(program: Program) -> list[str]:
    """Return the ids of what a program's answer cites."""
    return [one.id for one in program.answer.citations] if program.answer is not None else []


class ProgramSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A program in a list. `standing`: running, paused, answered, stopped, or broken; `why`: stopped or broken."""

    id: RecordId
    begun_at: datetime
    question: str
    origin: str
    standing: str
    waits_for: str | None = None
    answer: str | None = None
    why: str = ""
