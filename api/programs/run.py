"""A run of a program: begun, run step by step, paused, resumed; every step is in the log before the next one.

An event enters the log under the writer's lock, if no other has its number: of two runs of one program the first goes
on, the other is told. What a step did and what it wrote enter in one transaction, so dying between two leaves a program
that any process can go on with; dying while a tool is called leaves one that says that nobody knows (SPEC §23).
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from time import perf_counter
from typing import Any

import msgspec

from braid.agent.errors import ProgramStateError, ProgramTakenError, ToolRefusedError
from braid.agent.program.events import Begun, Called, Did, Ended, Event, Paused, Recorded, Taken
from braid.agent.program.plan import AnswerStep, LensStep, NoteStep, Plan, ToolStep, filled_all
from braid.agent.program.plan_check import check
from braid.agent.program.state import Confirm, State, Stop, apply, following
from braid.agent.program.tool import Tool, accept_args, accept_result
from braid.answers.records import batch_of
from braid.answers.reply import Reply, reply_of
from braid.ledger.record.record import Draft, Target
from braid.ledger.write.sequence import Placed
from braid.lens.definitions import newest
from braid.operation import Json
from braid.programs.conclusion import conclude
from braid.programs.lease import RunLock, lease_of, refuse_taken
from braid.programs.notes import note
from braid.programs.program import Program
from braid.programs.records import draft_of, once, state_of
from braid.programs.resources import Resources, StepResult
from braid.programs.steps import carry_out
from braid.programs.tools import Calling, call, result_of
from braid.session import Session
from braid.stance.review import Earlier
from braid.wal.failpoint import failpoint


class Begin(msgspec.Struct, frozen=True, kw_only=True):
    """What a program is begun with."""

    question: str
    plan: Plan
    origin: str
    now: datetime | None = None
    allowed: Collection[str] = ()
    key: str | None = None
    """Makes repeating harmless: the program that was begun with it is gone on with."""


def begin(session: Session, resources: Resources, given: Begin) -> Program:
    """Begin a program and run it as far as it comes; raise PlanError before anything is written."""
    seen_through = any(isinstance(step, LensStep) for step in given.plan.steps)
    check(given.plan, resources.tools, given.allowed, newest(session) if seen_through else ())
    event = Begun(
        n=0,
        question=given.question,
        plan=given.plan,
        origin=given.origin,
        now=given.now or session.now(),
        dated=given.now is not None,
        allowed=sorted(given.allowed),
        holder=lease_of(session, given.plan),
    )
    placed = session.append_drafts([draft_of(event, None, (), resources.scope, given.key)])[0]
    failpoint("program.begun")
    if placed.known:
        state = state_of(session, placed.id)
        return resume(session, resources, placed.id) if state.standing == "running" else Program.of(state)
    with RunLock(session, placed.id):
        run = _Run(session, resources, apply(None, Recorded(event, placed.id, event.now)))
        return run.forward()


def resume(
    session: Session,
    resources: Resources,
    id: str,
    *,
    result: Json = None,
    again: bool = False,
    take_over: bool = False,
) -> Program:
    """Go on with a program: with the result that it waits for, or, `again`, with a call that may have been made.

    Raises ProgramTakenError where another runs it, ProgramStateError where that doesn't fit how it stands,
    ToolRefusedError where the tool or the result is not what it was paused for.
    """
    given = result is not None
    with RunLock(session, id):
        session.reader.refresh()
        state = state_of(session, id)
        refuse_taken(state, session.now(), take_over=take_over)
        if state.is_over:
            if given or again:
                raise ProgramStateError(f"{id} is over ({state.standing}): nothing more is taken for it")
            return Program.of(state)
        run = _Run(session, resources, state)
        if state.paused is not None:
            return run.unpause(result, again=again)
        if given or again:
            raise ProgramStateError(f"{id} doesn't wait for anything: resume it without a result")
        run.commit([Taken(n=state.n, holder=run.holder)])
        return run.forward()


class _Run:
    """A run of a program in this process."""

    def __init__(self, session: Session, resources: Resources, state: State) -> None:
        self._session = session
        self._resources = resources
        self._state = state
        self._answer: Reply | None = None
        self.holder = lease_of(session, state.plan)

    def forward(self) -> Program:
        """Do what is next until it waits or is over."""
        while (effect := following(self._state)) is not None:
            if isinstance(effect, Stop):
                self.commit([Ended(n=self._state.n, how="stopped", why=effect.why)])
            elif isinstance(effect, Confirm):
                self._confirm(effect.called)
            elif isinstance(effect.step, AnswerStep):
                self._conclude(effect.step)
            elif isinstance(effect.step, ToolStep):
                self._call(effect.step)
            elif isinstance(effect.step, NoteStep):
                step = effect.step
                self._did(lambda step=step: note(self._resources, step, self._state))
            else:
                self._did(lambda: carry_out(self._resources, self._state, self._left_s()))
            failpoint("program.step")
        return Program.of(self._state, self._answer)

    def _left_s(self) -> float:
        return max(self._state.plan.limits.seconds - self._state.spent.ms / 1000, 0.001)

    def _did(self, step: Any, *first: Event) -> None:
        """Carry a step out and record what came of it."""
        began = perf_counter()
        acted: StepResult = step()
        self._record(acted, 1000 * (perf_counter() - began), *first)

    def _record(self, acted: StepResult, ms: float, *first: Event) -> None:
        state = self._state
        told = {name: one for name, one in acted.told.items() if one is not None}
        did = Did(n=state.n + len(first), step=state.step.name, ms=round(ms, 3), **told)
        self.commit([*first, did], before=acted.before, evidence=acted.evidence)

    # -- tools ------------------------------------------------------------------------------------------

    def _call(self, step: ToolStep) -> None:
        """Call a tool, having said so: if this process dies in between, nobody can know whether it did its work."""
        state = self._state
        try:
            tool = self._allowed(step)
            args = accept_args(tool, filled_all(step.args, state.texts))
        except ToolRefusedError as error:
            why = str(error)
            self._did(lambda: StepResult(told={"trouble": [why]}))
            return
        if tool.call is None:
            paused = Paused(n=state.n, step=step.name, tool=tool.name, digest=tool.digest, asks=tool.asks)
            self.commit([paused])
            return
        key = once(state.id, state.n)
        self.commit([Called(n=state.n, step=step.name, tool=tool.name, digest=tool.digest, key=key)])
        failpoint("program.called")
        self._use(step, tool, args, key)

    def _use(self, step: ToolStep, tool: Tool, args: msgspec.Struct, key: str) -> None:
        calling = Calling(args, key, self._left_s())
        self._did(lambda: call(self._resources, step, self._state, tool, calling))

    def _allowed(self, step: ToolStep) -> Tool:
        tool = self._resources.tools.get(step.tool)
        if tool.permission not in self._state.begun.allowed:
            raise ToolRefusedError(f"the tool {tool.name} needs the permission {tool.permission!r}")
        return tool

    def _unchanged(self, name: str, digest: str) -> Tool:
        """Return a tool as it was when its call was recorded."""
        tool = self._resources.tools.get(name)
        if tool.digest != digest:
            raise ToolRefusedError(
                f"the tool {name} is not what it was when {self._state.id} came to it: what it takes or gives has"
                " changed; nothing was done. Install it as it was, or run a program again"
            )
        return tool

    def _confirm(self, called: Called) -> None:
        """Make a call again that was cut off, where that is harmless or was asked for; else wait for a word on it."""
        state, step = self._state, self._state.step
        assert isinstance(step, ToolStep)  # noqa: S101 - only those are called
        tool = self._unchanged(called.tool, called.digest)
        if not (tool.repeatable or state.again):
            paused = Paused(
                n=state.n,
                step=step.name,
                tool=tool.name,
                digest=tool.digest,
                asks="a word on it",
                unsure=True,
            )
            self.commit([paused])
            return
        args = accept_args(tool, filled_all(step.args, state.texts))
        self._use(step, tool, args, called.key)

    def unpause(self, result: Json, *, again: bool) -> Program:
        """Go on from a pause: with a result from elsewhere, or with the call once more."""
        state = self._state
        paused = state.paused
        assert paused is not None  # noqa: S101 - the caller has looked
        if (result is not None) == again:
            raise ProgramStateError(f"{state.id} waits for {paused.asks}: {self._wanted(paused)}")
        tool = self._unchanged(paused.tool, paused.digest)
        taken = Taken(n=state.n, holder=self.holder, again=again)
        if again:
            if not paused.unsure:
                raise ProgramStateError(
                    f"{state.id} waits for {paused.asks}, not for a call to be made again"
                )
            self.commit([taken])
        else:
            assert isinstance(state.step, ToolStep)  # noqa: S101 - only those are waited at
            acted = result_of(self._resources, state.step, state, tool, accept_result(tool, result))
            self._record(acted, 0.0, taken)
        failpoint("program.step")
        return self.forward()

    def _wanted(self, paused: Paused) -> str:
        if paused.unsure:
            return (
                f"whether the tool {paused.tool} did its work before the process died is not known: give what it gave"
                " (--result), or have it called again (--again)"
            )
        return f"give what the tool {paused.tool} is to give (--result)"

    # -- the end ----------------------------------------------------------------------------------------

    def _conclude(self, step: AnswerStep) -> None:
        """Answer, and end: question, answer, tones, reflection and the end enter in one transaction."""
        state = self._state
        began = perf_counter()
        given, votes = conclude(self._resources, step, state)
        batch, names = batch_of(given, None, self._resources.scope)
        ended = Ended(
            n=state.n,
            how="answered",
            step=step.name,
            ms=round(1000 * (perf_counter() - began), 3),
            tokens=sum(given.composed.tokens),
            votes=votes,
            trouble=list(given.degraded),
        )
        keyed = [_keyed(draft, f"{once(state.id, state.n)}/{at}") for at, draft in enumerate(batch)]
        placed = self.commit(
            [ended], before=keyed, evidence=[Earlier(names["answer"]), Earlier(names["question"])]
        )
        ids = {name: placed[at].id for name, at in names.items()}
        answer = reply_of(given, None, ids, given.steps)
        self._answer = msgspec.structs.replace(answer, stance=_stance(state, step))

    # -- recording --------------------------------------------------------------------------------------

    def commit(
        self, events: Sequence[Event], *, before: Sequence[Draft] = (), evidence: Sequence[Target] = ()
    ) -> list[Placed]:
        """Append events, the last of them with what it was made of, if none is there with their numbers.

        All or none. Raises ProgramTakenError where another run has gone on: then nothing was written here.
        """
        state, scope = self._state, self._resources.scope
        own = [
            draft_of(event, state.id, evidence if at == len(events) - 1 else (), scope)
            for at, event in enumerate(events)
        ]
        with self._session.writer.turn():
            self._refuse_overtaken([once(state.id, event.n) for event in events])
            placed = self._session.append_drafts([*before, *own])
        for event, draft, one in zip(events, own, placed[len(before) :], strict=True):
            ids = tuple(_id(target, placed) for role, target in draft.links if role == "evidence")
            self._state = apply(self._state, Recorded(event, one.id, self._session.now(), ids))
        return placed

    def _refuse_overtaken(self, keys: Sequence[str]) -> None:
        if not self._session.reader.key_index.find(keys):
            return
        now = state_of(self._session, self._state.id)
        who = f"by {now.holder}" if now.holder is not None else f"elsewhere; it is {now.standing} now"
        raise ProgramTakenError(f"{self._state.id} has been gone on with {who}; nothing was written here")


def _id(target: Target, placed: Sequence[Placed]) -> str:
    return target if isinstance(target, str) else placed[target.place].id


def _keyed(draft: Draft, key: str) -> Draft:
    return msgspec.structs.replace(draft, body=msgspec.structs.replace(draft.body, once=key))


def _stance(state: State, step: AnswerStep) -> str | None:
    held = state.values.get(step.held or "")
    return held.records[0] if held is not None and held.records else None
