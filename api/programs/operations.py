"""Questions that are answered by a plan of steps, which may pause, and go on another day."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Final, Literal

import msgspec

from braid.agent.errors import (
    BrokenProgramError,
    PlanError,
    ProgramStateError,
    ProgramTakenError,
    ToolRefusedError,
)
from braid.agent.program.events import Recorded
from braid.agent.program.plan import MAX_SAMPLES, Plan
from braid.ledger.errors import ErasedError, ForgottenError, IntegrityError, ReadOnlyError, UnknownRecordError
from braid.ledger.record.ids import RecordId
from braid.log import drafts
from braid.operation import Id, IdempotencyKey, Instant, Json, Request, Response, Scoped, operation
from braid.programs.program import Program, ProgramSummary, cited_by
from braid.search.question import refuse_empty
from braid.session import Session

if TYPE_CHECKING:
    from braid.agent.composer import Composer
    from braid.agent.program.tool import Tool

MAX_QUESTION_CHARS: Final = 8_000
_ID: Final = RecordId("evt_2025-06-01T12:00:00Z_0000000a01cd")
_READS: Final = (UnknownRecordError, ErasedError, ForgottenError, IntegrityError)
PlannedText = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_QUESTION_CHARS)]


class RunProgram(Scoped, frozen=True, kw_only=True):
    """A question and its plan: one, its JSON, a default's name (question, multihop, comparison, reckoning), or None.

    None is the default that fits. `allow`: what tools may do; `samples`: the majority of so many answers; `now`: when
    it is asked; `affect`: let tone shape the manner of the answer. An `idempotency_key` makes repeating harmless: the
    program that was begun with it goes on.
    """

    question: PlannedText
    plan: Plan | str | None = None
    allow: tuple[Literal["read", "ask", "write", "network"], ...] = ("read", "ask")
    samples: Annotated[int, msgspec.Meta(ge=1, le=MAX_SAMPLES)] = 1
    now: Instant | None = None
    affect: bool = True
    idempotency_key: IdempotencyKey | None = None


@operation(
    RunProgram,
    Program,
    access="write",
    reads=True,
    cost="index",
    positional=("question",),
    example=RunProgram(question="Where does Ann's brother live?", user_id="ann", plan="multihop"),
    errors=(PlanError, ProgramTakenError, ReadOnlyError, IntegrityError),
)
def run_program(
    session: Session,
    asked: RunProgram,
    *,
    composer: "Composer | None" = None,
    tools: "Iterable[Tool]" = (),
) -> Program:
    """Run a plan for a question until it has answered, or waits: each step is in the log before the next.

    `composer` writes its notes and answers; `tools`: beside those that come with Braid. Raises PlanError before
    anything is written, ProgramTakenError where another run goes on with it, ReadOnlyError. See docs/programs.md.
    """
    from braid.programs.plan import plan_for, toolbox
    from braid.programs.resources import Resources
    from braid.programs.run import Begin, begin
    from braid.providers.composing import gated, keep_of_program

    refuse_empty(asked.question)
    session.refresh()
    _ = session.writer
    scope = drafts.scope_of(asked)
    composer, gate = gated(session, composer, "program")
    size = session.reader.size
    resources = Resources(session, scope, composer, toolbox(tools), affect=asked.affect)
    plan, origin = plan_for(asked.question, asked.plan, samples=asked.samples)
    given = Begin(
        question=asked.question,
        plan=plan,
        origin=origin,
        now=asked.now,
        allowed=frozenset(asked.allow),
        key=asked.idempotency_key,
    )
    done = begin(session, resources, given)
    keep_of_program(session, gate, scope, size, cited_by(done))
    return done


class Resume(Request, frozen=True, kw_only=True):
    """Which program goes on. `result`: what it waits for, an object, or a text alone; `again`: a call that may have
    been made is made again; `take_over`: from a run on another machine.
    """

    id: Id
    result: Json = None
    again: bool = False
    take_over: bool = False
    affect: bool = True


@operation(
    Resume,
    Program,
    access="write",
    reads=True,
    cost="index",
    positional=("id",),
    example=Resume(id=_ID, result={"text": "On Friday."}),
    errors=(
        *_READS,
        ProgramTakenError,
        ProgramStateError,
        BrokenProgramError,
        ToolRefusedError,
        ReadOnlyError,
    ),
)
def resume(
    session: Session,
    asked: Resume,
    *,
    composer: "Composer | None" = None,
    tools: "Iterable[Tool]" = (),
) -> Program:
    """Go on with a program from its records, in this process or any other, on whatever day.

    Raises ProgramTakenError where another runs it, ProgramStateError where what is given doesn't fit how it stands,
    ToolRefusedError where the tool or the result is not what it was paused for, and as `get`.
    """
    from braid.programs import run
    from braid.programs.plan import toolbox
    from braid.programs.resources import Resources
    from braid.providers.composing import gated, keep_of_program

    session.refresh()
    _ = session.writer
    scope = session.reader.get(asked.id).body.scope
    composer, gate = gated(session, composer, "program")
    size = session.reader.size
    resources = Resources(session, scope, composer, toolbox(tools), affect=asked.affect)
    done = run.resume(
        session,
        resources,
        asked.id,
        result={"text": asked.result} if isinstance(asked.result, str) else asked.result,
        again=asked.again,
        take_over=asked.take_over,
    )
    keep_of_program(session, gate, scope, size, cited_by(done))
    return done


class Programs(Scoped, frozen=True, kw_only=True):
    """Those of a scope; without ids, all of them."""


class ProgramList(Response, frozen=True, kw_only=True):
    """The programs, oldest first."""

    programs: tuple[ProgramSummary, ...]


@operation(
    Programs,
    ProgramList,
    access="read",
    cost="index",
    pages="programs",
    page_key=("id",),
    returns="programs",
    example=Programs(),
    errors=(IntegrityError, BrokenProgramError),
)
def programs(session: Session, asked: Programs) -> ProgramList:
    """Return every program of a scope that can be read, oldest first, and how it stands. Raises IntegrityError."""
    from braid.programs.records import listed

    session.refresh()
    return ProgramList(programs=tuple(listed(session, asked)))


class ProgramTrace(Request, frozen=True, kw_only=True):
    """Which program: its first record."""

    id: Id


class ProgramHistory(Response, frozen=True, kw_only=True):
    """What happened, in order."""

    events: tuple[Recorded, ...]


@operation(
    ProgramTrace,
    ProgramHistory,
    access="read",
    cost="index",
    pages="events",
    page_key=("id",),
    positional=("id",),
    returns="events",
    example=ProgramTrace(id=_ID),
    errors=(*_READS, ProgramStateError, BrokenProgramError),
)
def program_trace(session: Session, asked: ProgramTrace) -> ProgramHistory:
    """Return what happened in a program, in order, each with its record and those that it came from.

    Raises ProgramStateError for an id of something else, and as `get`.
    """
    from braid.programs.records import history

    session.refresh()
    return ProgramHistory(events=tuple(history(session, asked.id)))
