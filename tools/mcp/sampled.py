"""What the harness's own model does for a store: it reads what people said, and words answers.

Two tools ask it. `memory_store` lets it read the sessions of the caller's scope that wait, once the words are durable.
`memory_ask` lets it word the answer, which is checked as any model's. Without it both do what they do anyway.
"""

from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

import anyio
from mcp import types
from mcp.server.context import ServerRequestContext

from braid.caller import Caller
from braid.ledger.record.record import Scope
from braid.providers.policy import refusal_of
from braid.session import Session
from braid.settings import Mode, settings
from braid.tools.mcp.sampling import HarnessChat, Question, Talk, Talks

if TYPE_CHECKING:
    from braid.tools.mcp.server import Memory
    from braid.work.worker import Step

READS: Final = "memory_store"
ANSWERS: Final = "memory_ask"
_CLOSE_S: Final = 5.0
_LATE: Final = (
    "the harness's model is still reading what was said before: what it finds is kept when it answers"
)
_Result = types.CallToolResult | types.InputRequiredResult


class Sampling:
    """The harness's model beside one store. One reads at a time; many may answer."""

    def __init__(self, session: Session, caller: Caller, *, reads: bool = True) -> None:
        """`caller`: who asks; the model is shown nothing outside of their scope. `reads`: what it finds is appended
        here, so the store must be open for writing in this process.
        """
        self._session = session
        self._reads = reads and "write" in caller.allowed
        self._scope = Scope(**caller.scope) if caller.scope else None
        self._talks = Talks()
        self._reading = Lock()

    def has(self, name: str) -> bool:
        """Whether a tool asks the model."""
        return name == ANSWERS or (name == READS and self._reads)

    async def call(
        self, memory: "Memory", context: ServerRequestContext[Any], asked: types.CallToolRequestParams
    ) -> _Result:
        """Answer a call, or ask for what it needs."""
        again = self._talks.found(asked)
        if again is not None:
            again.take(asked.input_responses)
            return await self._next(again, None, None)
        plain = partial(memory.call, asked.name, asked.arguments or {})
        if asked.request_state is not None:  # it comes again, and nobody knows it: it isn't asked in a circle
            return await anyio.to_thread.run_sync(plain)
        if asked.name == ANSWERS:
            return await self._answer(plain, context, asked)
        return await self._store(plain, context, asked)

    def close(self) -> None:
        """Let what is on its way end: the store is closed next."""
        self._talks.close(_CLOSE_S)

    async def _answer(
        self,
        plain: "partial[types.CallToolResult]",
        context: ServerRequestContext[Any],
        asked: types.CallToolRequestParams,
    ) -> _Result:
        talk = self._talks.begin(asked, context)
        if talk is None:
            return await anyio.to_thread.run_sync(plain)
        talk.start(lambda model: plain(model=model if self._refusal(model) is None else None), _failed())
        return await self._next(talk, None, None)

    async def _store(
        self,
        plain: "partial[types.CallToolResult]",
        context: ServerRequestContext[Any],
        asked: types.CallToolRequestParams,
    ) -> _Result:
        stored = await anyio.to_thread.run_sync(plain)
        now = settings(self._session)
        mode: Mode = now.remember_mode
        talk = None if stored.is_error or mode == "async" else self._talks.begin(asked, context)
        if talk is None:
            return stored
        talk.start(lambda model: self._read(stored, model, mode), stored)
        limit_ms = now.remember_sync_ms if mode == "sync" else now.remember_auto_ms
        return await self._next(talk, limit_ms / 1000 if talk.is_held else None, stored)

    async def _next(
        self, talk: Talk, within_s: float | None, instead: types.CallToolResult | None
    ) -> _Result:
        """Return what a call asks for, or its answer; `instead`, with a warning, where that takes too long."""
        step = await anyio.to_thread.run_sync(talk.next, within_s, abandon_on_cancel=True)
        if isinstance(step, Question):
            return self._talks.put(talk, step)
        if step is not None:
            return step
        return _warned(instead, _LATE) if instead is not None else _failed()

    def _refusal(self, model: HarnessChat) -> str | None:
        """Return why the settings keep the model away; None where they don't. The gate looks again."""
        self._session.refresh()
        return refusal_of(model, settings(self._session))

    def _read(self, stored: types.CallToolResult, model: HarnessChat, mode: Mode) -> types.CallToolResult:
        """Let the model read what waits, in a thread that nobody asks in; return the answer with what went wrong."""
        from braid.jobs.scope_reading import read_scope  # what reads is loaded when it is first needed

        if not self._reading.acquire(blocking=False):
            return stored
        try:
            if (why := self._refusal(model)) is not None:
                return _warned(stored, f"the harness's model is not asked: {why}")
            steps = read_scope(self._session, model, self._scope, ended_only=mode != "sync")
        except Exception as error:
            return _warned(stored, f"the harness's model read nothing ({type(error).__name__})")
        finally:
            self._reading.release()
        return _warned(stored, *map(_why, [one for one in steps if one.ended not in _WELL]))


_WELL: Final = ("done", "settled", "lost")


def _why(step: "Step") -> str:
    why = step.kind or step.stage
    dead = "the job is dead, and `braid jobs list` shows it"
    left = dead if step.ended == "dead" else "a job tries it again later"
    return f"the harness's model gave no reading of what was said before ({why.replace('_', ' ')}): {left}"


def _warned(stored: types.CallToolResult, *warnings: str) -> types.CallToolResult:
    """Return what `memory_store` answers with more warnings."""
    from braid.tools.mcp.server import fenced

    said = stored.structured_content
    if not warnings or said is None:
        return stored
    answer = {**said, "warnings": [*said.get("warnings", ()), *warnings]}
    text = types.TextContent(type="text", text=fenced(answer))
    return types.CallToolResult(content=[text], structured_content=answer)


def _failed() -> types.CallToolResult:
    text = types.TextContent(type="text", text="the question was not answered. What to do: ask memory_search")
    return types.CallToolResult(content=[text], is_error=True)
