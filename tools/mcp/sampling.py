"""The harness's own model, asked by MCP sampling: a `ChatModel` whose answers come from the client that is connected.

It is far away, whatever it says: its host is `harness`, and every question goes through the gate of `api/providers`.

    tool call ──> words are durable ──> thread: read, answer ──question──> way ──> client ──> its model
                                                  ^                                   │
                                                  └──────────────answer───────────────┘

A client of the protocol up to 2025-11-25 is asked while its call is on its way. One of July 2026 is answered with what
is asked, and calls again with what its model said; meanwhile the thread waits. No lock is held while it does.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import CancelledError
from queue import Empty, SimpleQueue
from secrets import token_hex
from threading import Lock, Thread
from time import monotonic
from typing import Any, ClassVar, Final, Protocol

from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from braid.models.chat import MAX_ANSWER_BYTES, outgoing
from braid.text.chat import Capabilities, ChatError, ChatMessage, ChatTimeoutError, Completion

HOST: Final = "harness"
"""What stands in `remote_hosts` where the harness's model may be asked."""
ROUNDS: Final = "2026-07-28"
"""From this version of the protocol on a server asks nothing by itself: a call is answered with what it needs."""
MOST: Final = 8
"""So many calls may ask at once; one more does without."""
_KEY: Final = "model"
_NAME_CHARS: Final = 80
_GRACE_S: Final = 2.0
"""How much longer than the client's time an answer may take to get here."""
Question = types.CreateMessageRequestParams
Answer = types.CreateMessageResult | types.CreateMessageResultWithTools


class Way(Protocol):
    """How a question gets to the client."""

    def ask(self, question: Question, timeout_s: float) -> Answer:
        """Return what the client's model says. Raises ChatError, ChatTimeoutError."""
        ...


class HarnessChat:
    """The model of the harness that is connected. Implements `ChatModel`."""

    provider: ClassVar[str] = "mcp"
    host: ClassVar[str] = HOST
    capabilities: ClassVar[Capabilities] = Capabilities(structured="asked", timeout_s=120.0)

    def __init__(self, client: str, way: Way) -> None:
        """`client`: what the harness calls itself, which nothing vouches for."""
        self.name = f"mcp:{_plain(client)}"
        self._way = way

    @property
    def remote(self) -> bool:
        """Always: where the harness's model is, nobody here knows."""
        return True

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int,
        timeout_s: float,
        schema: Mapping[str, Any] | None = None,
    ) -> Completion:
        """Return what the model says; `schema` is left to the prompt. Raises ChatError, ChatTimeoutError."""
        del schema
        sent = outgoing(messages)
        system = "\n\n".join(each["content"] for each in sent if each["role"] == "system")
        question = Question(
            messages=[_message(each) for each in sent if each["role"] != "system"],
            system_prompt=system or None,
            max_tokens=max_tokens,
            temperature=0.0,
        )
        answer = self._way.ask(question, timeout_s)
        text = _text(answer)
        if len(text.encode(errors="replace")) > MAX_ANSWER_BYTES:
            raise ChatError(f"the harness's answer is larger than {MAX_ANSWER_BYTES} bytes")
        return Completion(
            text=text,
            tokens_in=0,  # the protocol counts none: the gate estimates them
            tokens_out=0,
            model=_plain(answer.model) or self.name,
            finish="length" if answer.stop_reason == "maxTokens" else "stop",
        )


def _message(said: Mapping[str, str]) -> types.SamplingMessage:
    role: types.Role = "assistant" if said["role"] == "assistant" else "user"
    return types.SamplingMessage(role=role, content=types.TextContent(type="text", text=said["content"]))


def _text(answer: Answer) -> str:
    blocks = answer.content if isinstance(answer.content, list) else [answer.content]
    texts = [block.text for block in blocks if isinstance(block, types.TextContent)]
    if not texts:
        raise ChatError("the harness's answer holds no text")
    return "".join(texts)


def _plain(name: str) -> str:
    """Return a name that a client gives as one short line."""
    return "".join(c for c in name if c.isprintable())[:_NAME_CHARS]


# -- ways -----------------------------------------------------------------------------------------


class SessionWay:
    """Asks the client over the session that it has open, while the thread waits (up to 2025-11-25)."""

    def __init__(self, session: ServerSession) -> None:
        """In the loop that serves the session."""
        self._session = session
        self._loop = asyncio.get_running_loop()

    def ask(self, question: Question, timeout_s: float) -> Answer:
        """See `Way`. In another thread than the loop's."""
        sending = self._send(question, timeout_s)
        try:
            future = asyncio.run_coroutine_threadsafe(sending, self._loop)
        except RuntimeError:
            sending.close()
            raise ChatError("the harness has gone away") from None
        try:
            return future.result(timeout_s + _GRACE_S)
        except TimeoutError:
            future.cancel()
            raise ChatTimeoutError(f"the harness gave no answer within {timeout_s:g} s") from None
        except MCPError as error:
            if error.code == types.REQUEST_TIMEOUT:
                raise ChatTimeoutError(f"the harness gave no answer within {timeout_s:g} s") from None
            raise ChatError(f"the harness gave no answer (code {error.code})") from None
        except ValidationError:
            raise ChatError("the harness's answer has another form") from None
        except CancelledError:
            raise ChatError("the harness has gone away") from None
        except Exception as error:  # the pipe is broken: what it says of that is of no use to a job
            raise ChatError(f"the harness gave no answer ({type(error).__name__})") from None

    def _send(self, question: Question, timeout_s: float) -> Coroutine[Any, Any, Answer]:
        asked = types.CreateMessageRequest(params=question)
        return self._session.send_request(
            asked, types.CreateMessageResult, request_read_timeout_seconds=timeout_s
        )


class RoundsWay:
    """Leaves the question to the call, which is answered with it, and waits for the call that brings the answer."""

    def __init__(self, asks: Callable[[Question], None]) -> None:
        """`asks`: hands on what is asked."""
        self._asks = asks
        self._answers: SimpleQueue[Answer | None] = SimpleQueue()

    def ask(self, question: Question, timeout_s: float) -> Answer:
        """See `Way`."""
        self._asks(question)
        try:
            answer = self._answers.get(timeout=timeout_s)
        except Empty:
            raise ChatTimeoutError(f"the harness gave no answer within {timeout_s:g} s") from None
        if answer is None:
            raise ChatError("the harness called again without an answer")
        return answer

    def answer(self, answer: Answer | None) -> None:
        """Take what the call brought: None for nothing that is an answer."""
        self._answers.put(answer)


# -- calls ----------------------------------------------------------------------------------------

Work = Callable[[HarnessChat], types.CallToolResult]


class Talk:
    """A tool call in a thread of its own, which may ask the harness's model on its way."""

    def __init__(
        self, asked: types.CallToolRequestParams, client: str, session: ServerSession | None
    ) -> None:
        """`session`: over which the client is asked; None where the call is answered with the question."""
        self.asked = asked
        self._steps: SimpleQueue[Question | types.CallToolResult] = SimpleQueue()
        self._rounds = RoundsWay(self._steps.put) if session is None else None
        way: Way = self._rounds or SessionWay(_given(session))
        self._model = HarnessChat(client, way)
        self._thread: Thread | None = None

    def start(self, work: Work, failed: types.CallToolResult) -> None:
        """Let `work` begin; where it raises, `failed` is answered."""

        def run() -> None:
            answer = failed
            try:
                answer = work(self._model)
            finally:
                self._steps.put(answer)

        self._thread = Thread(target=run, name="braid-sampling", daemon=True)
        self._thread.start()

    def next(self, within_s: float | None) -> Question | types.CallToolResult | None:
        """Return what is asked, or the answer of the call; None where there is neither within so many seconds."""
        try:
            return self._steps.get(timeout=within_s)
        except Empty:
            return None

    def take(self, answers: Mapping[str, object] | None) -> None:
        """Hand on what the client's model said."""
        found = (answers or {}).get(_KEY)
        if self._rounds is not None:
            self._rounds.answer(found if isinstance(found, Answer) else None)

    @property
    def is_held(self) -> bool:
        """Whether the client waits for the call while its model is asked."""
        return self._rounds is None

    def is_same(self, asked: types.CallToolRequestParams) -> bool:
        """Whether a call is this one again."""
        return (asked.name, asked.arguments) == (self.asked.name, self.asked.arguments)

    def is_alive(self) -> bool:
        """Whether its thread is at it."""
        return self._thread is not None and self._thread.is_alive()

    def join(self, within_s: float) -> None:
        """Wait until its thread has ended, for so many seconds at most."""
        if self._thread is not None:
            self._thread.join(within_s)


def _given(session: ServerSession | None) -> ServerSession:
    if session is None:
        raise ValueError("a session is asked over, or none")
    return session


class Talks:
    """The calls of one connection that ask, or wait to be brought an answer. Safe to share between threads."""

    def __init__(self) -> None:
        self._turn = Lock()
        self._waiting: dict[str, Talk] = {}
        self._begun: list[Talk] = []

    def begin(self, asked: types.CallToolRequestParams, context: ServerRequestContext[Any]) -> Talk | None:
        """Return a call that may ask; None where the client samples nothing, and where too many are on their way."""
        session = context.session
        declared = session.client_capabilities
        if declared is None or declared.sampling is None:
            return None
        with self._turn:
            self._begun = [one for one in self._begun if one.is_alive()]
            if len(self._begun) >= MOST:
                return None
            known = session.client_params
            client = known.client_info.name if known is not None else ""
            rounds = context.protocol_version >= ROUNDS  # they are dates
            talk = Talk(asked, client, None if rounds else session)
            self._begun.append(talk)
        return talk

    def put(self, talk: Talk, question: Question) -> types.InputRequiredResult:
        """Return the answer that asks: the client's model answers, and the call comes again."""
        ticket = token_hex(16)
        with self._turn:
            self._waiting = dict([*self._waiting.items(), (ticket, talk)][-MOST:])
        request = types.CreateMessageRequest(params=question)
        return types.InputRequiredResult(input_requests={_KEY: request}, request_state=ticket)

    def found(self, asked: types.CallToolRequestParams) -> Talk | None:
        """Return the call that comes again; None where it is another, or one that is no longer known.

        One that comes too late finds the answer that was made without it.
        """
        ticket = asked.request_state or ""
        with self._turn:
            talk = self._waiting.get(ticket)
            if talk is None or not talk.is_same(asked):
                return None
            return self._waiting.pop(ticket)

    def close(self, within_s: float) -> None:
        """Let what waits for an answer go on without one, and wait for it: the store is closed next."""
        with self._turn:
            begun = list(self._begun)
        for one in begun:
            one.take(None)
        ends = monotonic() + within_s
        for one in begun:
            one.join(max(0.0, ends - monotonic()))
