"""What is done at a callback: new turns are brought, context is fetched, and what failed is noted.

The same for both paths: the command that a harness starts, and the tool that it calls. Standard library alone.
"""

from collections.abc import Callable
from typing import Any, Final

from braid.tools.hooks import transcript
from braid.tools.hooks.arbitration import turn_of
from braid.tools.hooks.events import COMPACTED, HARNESS, PROMPT, SESSION_START, TELLS, Callback
from braid.tools.hooks.state import BusyError, SessionState, StateFolder
from braid.tools.hooks.troubles import Troubles, said

BUDGET: Final = 800
"""Tokens of context at a callback."""
PIECES: Final = 8
"""How many pieces of a transcript are brought at a callback; the rest at the next."""
PROMPT_CHARS: Final = 2_000
"""So much of a prompt is asked with."""
_MESSAGE_CHARS: Final = 1_500
_WAIT_S: Final = 1.0
Ask = Callable[[dict[str, Any], bytes], dict[str, Any]]
"""Asks the store: a header and lines go in, what was done and the context come out. Raises what says why not."""


class Output:
    """What the harness is given: context for the model, and a message for the person."""

    def __init__(self, context: str = "", message: str = "") -> None:
        self.context = context
        self.message = message


class Lifecycle:
    """One path's way to a store."""

    def __init__(self, folder: StateFolder, path: str, ask: Ask, ids: dict[str, str]) -> None:
        """`ids`: the scope of what is captured and told."""
        self._folder = folder
        self._path = path
        self._ask = ask
        self._ids = ids
        self._troubles = Troubles(folder)

    def answer(self, callback: Callback) -> Output:
        """Do what a callback asks for; what fails is noted, and told at the next start. OSError: it can't be noted."""
        self._folder.make()
        context, caught_up, takes = "", 0, False
        try:
            with self._folder.held(callback.session, _WAIT_S):
                state = self._folder.load(callback.session)
                state.transcript = callback.transcript or state.transcript
                state.ids = self._ids
                state.size = transcript.size_of(state) or state.size
                takes = turn_of(state, self._path, callback).takes
                self._folder.save(state)  # whatever fails from here on, the next start finds the session
                if takes:
                    context = self._bring(state, callback.event, callback.request, callback)
        except BusyError as error:
            self._note(callback.session, callback.event, str(error))
        if not takes or callback.event != SESSION_START:
            return Output(context)
        caught_up = self._catch_up(callback.session)
        return Output(context, self._told(caught_up))

    def _bring(self, state: SessionState, event: str, request: str, callback: Callback | None = None) -> str:
        """Bring what is new in a session's transcript; return the context that was asked for."""
        context = ""
        for number in range(PIECES):
            try:
                after = SessionState(vars(state))
                piece = self._piece(after, event)
                wanted = _wanted(callback) if callback is not None and number == 0 else {}
                if not piece.lines and not wanted and state.reason is None:
                    self._keep(state, after, piece.note, event)
                    break
                header = self._header(state, request, piece.line) | wanted
                reply = self._ask(header, piece.lines)
            except Exception as error:
                self._note(
                    state.session, event, f"{type(error).__name__}: {error}" if str(error) else repr(error)
                )
                break
            context = context or str(reply.get("context") or "")
            self._take_in(state, after, reply, event, piece.note)
            if len(piece.lines) < transcript.PIECE // 2:
                break
        return context

    def _piece(self, after: SessionState, event: str) -> transcript.Piece:
        """Return what is new; nothing where there is no transcript yet. Raises where one that was there is gone."""
        try:
            return transcript.read(after)
        except FileNotFoundError:
            if after.offset == 0 and event in (*TELLS, SESSION_START):
                return transcript.Piece(b"", 0, None)  # a harness makes it with the first turn
            raise

    def _header(self, state: SessionState, request: str, line: int) -> dict[str, Any]:
        return {
            "harness": HARNESS, "session": state.session, "runtime_path": self._path, "request": request,
            "number": state.number, "reason": state.reason, "ids": state.ids,
            "transcript": state.transcript, "line": line, "calls": state.calls,
        }  # fmt: skip

    def _take_in(
        self, state: SessionState, after: SessionState, reply: dict[str, Any], event: str, note: str | None
    ) -> None:
        """Move a session's state behind what is in the log now."""
        after.calls = dict(reply.get("calls") or {})
        after.reason = None
        if reply.get("runtime_path") in ("plugin", "hook"):
            after.path = str(reply["runtime_path"])
        self._keep(state, after, note, event)
        for refused in reply.get("refused") or ():
            self._note(state.session, event, f"not recorded: {refused}")

    def _keep(self, state: SessionState, after: SessionState, note: str | None, event: str) -> None:
        vars(state).update(vars(after))
        self._folder.save(state)
        if note:
            self._note(state.session, event, note)

    def _catch_up(self, session: str) -> int:
        """Bring what other sessions left unread; return of how many something was brought."""
        brought = 0
        for found in self._folder.sessions():
            size = transcript.size_of(found)
            if found.session == session or not found.transcript or (size or found.size) == found.offset:
                continue
            try:
                with self._folder.held(found.session, 0.0):
                    state = self._folder.load(found.session)
                    before = state.offset
                    if size is None:
                        self._give_up(state)
                    else:
                        self._bring(state, SESSION_START, "caught_up")
                        brought += state.offset != before
            except BusyError:
                continue  # it is at work itself
        return brought

    def _give_up(self, state: SessionState) -> None:
        lost = state.size - state.offset
        state.offset = state.size
        self._folder.save(state)
        self._note(
            state.session, SESSION_START, f"{state.transcript} is gone: {lost} bytes were not recorded"
        )

    def _told(self, caught_up: int) -> str:
        """Return what failed before, for the person, and forget it."""
        troubles = self._troubles.take()
        if not troubles:
            return ""
        count = sum(one["times"] for one in troubles)
        failures = "failure" if count == 1 else "failures"
        lines = [f"Braid: {count} {failures} since the last start:", *(said(one) for one in troubles)]
        if caught_up:
            lines.append(f"Turns of {caught_up} earlier sessions were taken in now.")
        text = "\n".join(lines)
        return text if len(text) <= _MESSAGE_CHARS else text[: _MESSAGE_CHARS - 1] + "…"

    def _note(self, session: str, event: str, what: str) -> None:
        self._troubles.add(session, event, what)


def _wanted(callback: Callback) -> dict[str, Any]:
    """Return what of the header asks for context."""
    if callback.event == PROMPT and callback.prompt.strip():
        return {"want": "context", "prompt": callback.prompt[:PROMPT_CHARS], "budget": BUDGET}
    if callback.event in (SESSION_START, COMPACTED) and callback.name != "PostCompact":
        return {"want": "briefing", "budget": BUDGET}
    return {}


def harness_json(callback: Callback, output: Output) -> dict[str, Any]:
    """Return what Claude Code reads: context for the model where the event takes it, a message for the person."""
    told: dict[str, Any] = {}
    if output.message:
        told["systemMessage"] = output.message
    if output.context and callback.event in TELLS and callback.name != "PostCompact":
        name = callback.name or ("UserPromptSubmit" if callback.event == PROMPT else "SessionStart")
        told["hookSpecificOutput"] = {"hookEventName": name, "additionalContext": output.context}
    return told
