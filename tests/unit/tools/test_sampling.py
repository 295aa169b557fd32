"""The harness's own model, by the SDK's client in process: read with, answered with, and kept away; in both ways."""

import json
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from threading import Event
from typing import Any, Final, cast

import anyio
import pytest
from mcp import types
from mcp.client import Client
from mcp.client.context import ClientRequestContext
from mcp.shared.exceptions import MCPError

from braid.caller import Caller, CallerKind, narrowed
from braid.job_state import job_state
from braid.ledger.record.record import Draft, EventBody, ExperienceBody, Scope
from braid.models.chat import MAX_ANSWER_BYTES
from braid.providers.outbound import outbound
from braid.store import Store
from braid.text.chat import ChatError, ChatMessage, Completion
from braid.tools.mcp.sampled import Sampling
from braid.tools.mcp.sampling import HarnessChat
from braid.tools.mcp.server import Memory, application
from braid.work.errors import BreakerOpenError
from tests.unit.api.test_jobs import Clock, opened
from tests.unit.learn.test_extraction import HOME, PARSER, says

BOTH: Final = ("legacy", "2026-07-28")
FACT: Final = says("I live in Porto")
_Answer = types.CreateMessageResult | types.ErrorData


class Harness:
    """A client that samples: `answer` is given what its model would be shown."""

    def __init__(self, answer: Callable[[types.CreateMessageRequestParams], Any]) -> None:
        self._answer = answer
        self.shown: list[types.CreateMessageRequestParams] = []

    async def __call__(
        self, context: ClientRequestContext, params: types.CreateMessageRequestParams
    ) -> _Answer:
        self.shown.append(params)
        answer = self._answer(params)
        if isinstance(answer, Awaitable):
            answer = await cast("Awaitable[_Answer]", answer)
        if isinstance(answer, types.CreateMessageResult | types.ErrorData):
            return answer
        content = types.TextContent(type="text", text=answer)
        return types.CreateMessageResult(
            role="assistant", content=content, model="large-1", stop_reason="endTurn"
        )

    @property
    def words(self) -> list[str]:
        return [text_of(one.messages[-1].content) for one in self.shown]


def text_of(block: object) -> str:
    assert isinstance(block, types.TextContent)
    return block.text


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    with opened(tmp_path, clock) as one:
        one.session.parsing = lambda: PARSER
        allow(one)
        one.change_setting("remember_mode", "sync", reason="for a test")
        yield one


def allow(store: Store, **values: str) -> None:
    for key, value in ({"local_only": "false", "remote_hosts": "harness"} | values).items():
        store.change_setting(key, value, reason="for a test")


def said(store: Store, text: str = HOME, *, user_id: str = "maya", session: str = "s1") -> None:
    turn = {"role": "user", "content": text, "name": "Maya"}
    store.remember([turn], user_id=user_id, session_id=session, learn=False)


def ends(store: Store) -> None:
    scope = Scope(user_id="maya", session_id="s1")
    store.session.append_drafts([Draft(kind="event", body=EventBody(name="session_end", scope=scope))])


def talk(
    store: Store,
    harness: Harness | None,
    calls: Callable[[Client], Any],
    *,
    mode: str = "legacy",
    **ids: str,
) -> None:
    """Let a client that samples hold a conversation with a store's tools."""
    held: dict[str, Any] = {**(ids or {"user_id": "maya"})}
    caller = Caller(name="mcp", kind="agent", allowed=narrowed("agent", None), **held)
    sampling = Sampling(store.session, caller)
    memory = Memory(store.session, caller)

    async def run() -> None:
        server = application(lambda: memory, sampling)
        async with Client(
            server,
            mode=mode,
            sampling_callback=harness,
            client_info=types.Implementation(name="desk", version="1"),
        ) as client:
            await calls(client)

    try:
        anyio.run(run)
    finally:
        sampling.close()


async def stored(client: Client, text: str = "The user likes tea.") -> list[str]:
    result = await client.call_tool("memory_store", {"text": text})
    assert not result.is_error
    assert result.structured_content is not None
    assert result.structured_content["memory_id"]
    return list(result.structured_content["warnings"])


def warned_of(store: Store, harness: Harness | None, *, mode: str = "legacy", **ids: str) -> list[str]:
    """Return what `memory_store` warns of, which keeps the words in any case."""
    warnings: list[str] = []

    async def calls(client: Client) -> None:
        warnings.extend(await stored(client))

    talk(store, harness, calls, mode=mode, **ids)
    kept = [one for one in store.read() if isinstance(one.body, ExperienceBody)]
    assert "The user likes tea." in [one.text for one in kept]
    return warnings


def readings(store: Store) -> list[str]:
    return [
        one.body.symbolic[0].object
        for one in store.read()
        if isinstance(one.body, ExperienceBody) and one.body.provenance.method == "read:model@1"
    ]


def calls_of(store: Store) -> list[tuple[str, str, str | None, bool, str]]:
    newest = reversed(outbound(store.session).newest(100))
    return [(one.operation, one.model, one.host, one.remote, one.outcome) for one in newest]


# -- it reads -------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", BOTH)
def test_what_people_said_is_read_by_the_harness_s_model(store: Store, mode: str) -> None:
    said(store)
    harness = Harness(lambda _: FACT)
    assert warned_of(store, harness, mode=mode) == []
    assert readings(store) == ["Porto"]
    (asked,) = harness.shown
    assert asked.system_prompt is not None
    assert "Extract only from turns" in asked.system_prompt
    assert (asked.temperature, asked.include_context, HOME in harness.words[0]) == (0.0, None, True)
    assert calls_of(store) == [("extract", "mcp:desk", "harness", True, "ok")]
    (call,) = outbound(store.session).newest(1)
    assert call.tokens_in == call.bytes_out // 4 + 1  # the protocol counts none
    assert warned_of(store, harness, mode=mode) == []
    assert len(harness.shown) == 1  # nothing is left to read


def test_a_secret_and_a_term_stay_here(store: Store) -> None:
    allow(store, redacted_terms="Porto")
    said(store, "My key is sk-abcdefghijklmnopqrstuvwx and I live in Porto.")
    harness = Harness(lambda _: '{"facts": []}')
    warned_of(store, harness)
    assert "sk-abc" not in harness.words[0]
    assert "Porto" not in harness.words[0]
    assert "WITHHELD_1" in harness.words[0]


def test_nothing_of_another_s_scope_is_shown(store: Store) -> None:
    said(store, "I live in Leeds.", user_id="tom", session="s2")
    said(store)
    harness = Harness(lambda _: FACT)
    warned_of(store, harness)
    assert len(harness.shown) == 1
    assert "Leeds" not in harness.words[0]
    other = Harness(lambda _: says("I live in Leeds"))
    warned_of(store, other, user_id="tom")  # what was passed over is read for whom it is
    assert "Leeds" in other.words[0]


def test_a_scope_of_one_session_is_refused(store: Store) -> None:
    said(store)
    harness = Harness(lambda _: FACT)
    (warning,) = warned_of(store, harness, user_id="maya", session_id="s1")
    assert "ValueError" in warning
    assert harness.shown == []


def test_in_mode_auto_a_talk_that_goes_on_waits_for_its_end(store: Store) -> None:
    store.change_setting("remember_mode", "auto", reason="for a test")
    store.change_setting("remember_auto_ms", "60000", reason="for a test on a busy machine")
    said(store)
    harness = Harness(lambda _: FACT)
    assert warned_of(store, harness) == []
    assert harness.shown == []
    ends(store)
    assert warned_of(store, harness) == []
    assert len(harness.shown) == 1


def test_in_mode_async_it_is_left_to_a_job(store: Store) -> None:
    store.change_setting("remember_mode", "async", reason="for a test")
    said(store)
    harness = Harness(lambda _: FACT)
    assert warned_of(store, harness) == []
    assert harness.shown == []


def test_no_lock_is_held_while_it_is_asked(store: Store) -> None:
    """What answers may use the store: another append gets through meanwhile."""
    said(store)

    def answer(_: object) -> str:
        store.append("Meanwhile.", user_id="maya")
        return FACT

    assert warned_of(store, Harness(answer)) == []
    assert readings(store) == ["Porto"]


# -- it is not asked ------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", BOTH)
def test_a_client_that_samples_nothing_is_not_asked(store: Store, mode: str) -> None:
    said(store)
    assert warned_of(store, None, mode=mode) == []
    assert (readings(store), calls_of(store)) == ([], [])


@pytest.mark.parametrize("mode", BOTH)
@pytest.mark.parametrize(
    ("settings", "why"),
    [({"local_only": "true"}, "local_only"), ({"remote_hosts": "models.example"}, "remote_hosts")],
)
def test_settings_that_keep_it_away(store: Store, mode: str, settings: dict[str, str], why: str) -> None:
    allow(store, **settings)
    said(store)
    harness = Harness(lambda _: FACT)
    (warning,) = warned_of(store, harness, mode=mode)
    assert why in warning
    assert (harness.shown, job_state(store.session).transport.jobs()) == ([], [])


def test_a_spent_budget_puts_the_job_off(store: Store) -> None:
    allow(store, tokens_small="0")
    said(store)
    harness = Harness(lambda _: FACT)
    assert "harness's model gave no reading of what was said before (budget)" in warned_of(store, harness)[-1]
    assert harness.shown == []
    (job,) = job_state(store.session).transport.jobs()
    assert (job.state, job.attempts) == ("pending", 0)
    (spent,) = warned_of(store, harness)  # it isn't looked at again until it is due
    assert "tokens" in spent


@pytest.mark.parametrize(("kind", "reads"), [("agent", True), ("autonomous", True), ("model", False)])
def test_who_only_reads_lets_nothing_be_read(store: Store, kind: CallerKind, reads: bool) -> None:
    caller = Caller(name="mcp", kind=kind, allowed=narrowed(kind, None))
    tools = ("memory_store", "memory_ask", "memory_get")
    assert [Sampling(store.session, caller).has(one) for one in tools] == [reads, True, False]
    assert not Sampling(store.session, caller, reads=False).has("memory_store")  # a server has the store


# -- it fails -------------------------------------------------------------------------------------


async def _never(_: object = None) -> Any:
    await anyio.sleep_forever()


def _picture(_: object) -> types.CreateMessageResult:
    picture = types.ImageContent(type="image", data="AAAA", mime_type="image/png")
    return types.CreateMessageResult(role="assistant", content=picture, model="m")


_REFUSED: Final = types.ErrorData(code=-1, message="the person said no")


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (lambda _: _REFUSED, "failed"),
        (lambda _: "Of course! What a nice day.", "unreadable"),
        (_picture, "failed"),
        (lambda _: _never(), "timed out"),
    ],
    ids=["refuses", "nonsense", "picture", "hangs"],
)
def test_what_fails_is_kept_and_tried_again(
    store: Store, clock: Clock, answer: Callable[[Any], Any], kind: str
) -> None:
    store.change_setting("model_timeout_s", "1", reason="for a test")
    said(store)
    harness = Harness(answer)
    (warning,) = warned_of(store, harness)
    assert kind in warning
    (job,) = job_state(store.session).transport.jobs()
    assert (job.state, job.attempts, job.error.replace("_", " ")) == ("retry_scheduled", 1, kind)
    assert readings(store) == []
    assert warned_of(store, harness) == []  # it isn't due yet
    assert len(harness.shown) == 1
    clock.wait(10.0)
    assert warned_of(store, Harness(lambda _: FACT)) == []
    assert readings(store) == ["Porto"]


def test_one_that_fails_again_and_again_is_left_in_peace(store: Store, clock: Clock) -> None:
    for at in range(4):
        said(store, session=f"s{at}")
    harness = Harness(lambda _: _REFUSED)
    for _ in range(4):
        warned_of(store, harness)
    assert len(harness.shown) == 3  # then its breaker is open
    with pytest.raises(BreakerOpenError), job_state(store.session).breakers["chat_small"].passing():
        pass
    assert {one[-1] for one in calls_of(store)} == {"failed"}


def test_what_fails_four_times_is_dead_and_an_operator_has_it_done_again(store: Store, clock: Clock) -> None:
    said(store)
    harness = Harness(lambda _: _REFUSED)
    warnings: list[str] = []
    for _ in range(5):
        warnings += warned_of(store, harness)
        clock.wait(60.0)
    assert [("tries it again" in one, "jobs list" in one) for one in warnings] == 3 * [(True, False)] + [
        (False, True)
    ]
    (job,) = store.jobs(state="dead").jobs
    store.retry_job(job.id, reason="they say yes now")
    assert warned_of(store, Harness(lambda _: FACT)) == []
    assert readings(store) == ["Porto"]


@pytest.mark.parametrize("mode", BOTH)
def test_a_client_that_goes_away_leaves_the_words_and_the_job(store: Store, mode: str) -> None:
    said(store)
    is_asked = anyio.Event()

    async def answer() -> Any:
        is_asked.set()
        await anyio.sleep_forever()

    async def calls(client: Client) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "memory_store", {"text": "The user likes tea."})
            await is_asked.wait()
            group.cancel_scope.cancel()

    talk(store, Harness(lambda _: answer()), calls, mode=mode)
    assert "The user likes tea." in [one.text for one in store.read()]
    (job,) = job_state(store.session).transport.jobs()
    assert (job.state, job.attempts) == ("retry_scheduled", 1)


def test_one_of_the_new_protocol_that_refuses_hears_so_itself(store: Store) -> None:
    """Its SDK ends the call; the words are durable by then, and the same call again adds nothing."""
    said(store)

    async def calls(client: Client) -> None:
        with pytest.raises(MCPError, match="said no"):
            await client.call_tool("memory_store", {"text": "The user likes tea."})

    size = len(store)
    talk(store, Harness(lambda _: _REFUSED), calls, mode="2026-07-28")
    assert [one.text for one in store.read()].count("The user likes tea.") == 1
    assert len(store) > size
    (job,) = job_state(store.session).transport.jobs()
    assert job.state == "retry_scheduled"


def test_in_mode_auto_nobody_waits_for_a_slow_model_and_its_answer_counts(store: Store) -> None:
    store.change_setting("remember_mode", "auto", reason="for a test")
    store.change_setting("remember_auto_ms", "50", reason="for a test")
    said(store)
    ends(store)
    goes_on, done = anyio.Event(), Event()

    async def answer() -> Any:
        await goes_on.wait()
        content = types.TextContent(type="text", text=FACT)
        return types.CreateMessageResult(role="assistant", content=content, model="large-1")

    async def calls(client: Client) -> None:
        assert "still reading" in (await stored(client))[-1]
        assert readings(store) == []
        goes_on.set()
        with anyio.fail_after(30):
            while not readings(store):
                await anyio.sleep(0.01)
        done.set()

    talk(store, Harness(lambda _: answer()), calls)
    assert done.is_set()


class _Said:
    """A way that always brings the same."""

    def __init__(self, answer: types.CreateMessageResult) -> None:
        self._answer = answer
        self.asked: list[types.CreateMessageRequestParams] = []

    def ask(self, question: types.CreateMessageRequestParams, timeout_s: float) -> types.CreateMessageResult:
        assert timeout_s == 9.0
        self.asked.append(question)
        return self._answer


def _completed(text: str, *, client: str = "desk", **more: Any) -> tuple[Completion, _Said]:
    content = types.TextContent(type="text", text=text)
    way = _Said(types.CreateMessageResult(role="assistant", content=content, **{"model": "m\n1"} | more))
    told = [ChatMessage("system", "Rules."), ChatMessage("user", "Hello"), ChatMessage("assistant", "Hi")]
    return HarnessChat(client, way).complete(told, max_tokens=7, timeout_s=9.0), way


def test_what_is_asked_and_answered_by_the_protocol_s_words() -> None:
    done, way = _completed("Well", stop_reason="maxTokens")
    assert done == Completion("Well", 0, 0, "m1", "length")
    (asked,) = way.asked
    assert (asked.system_prompt, asked.max_tokens) == ("Rules.", 7)
    assert [(one.role, text_of(one.content)) for one in asked.messages] == [
        ("user", "Hello"),
        ("assistant", "Hi"),
    ]


def test_an_answer_beyond_all_measure_is_none() -> None:
    with pytest.raises(ChatError, match="larger"):
        _completed("x" * (MAX_ANSWER_BYTES + 1))


def test_a_client_s_name_is_one_short_line() -> None:
    done, _ = _completed("Well", client="a\x1b[2J" + "b" * 200, model="")
    assert done.model == f"mcp:a[2J{'b' * 76}"


# -- rounds ---------------------------------------------------------------------------------------


def _rounds(store: Store, calls: Callable[[Client], Any]) -> None:
    talk(store, Harness(lambda _: FACT), calls, mode="2026-07-28")


async def _asked(client: Client, **more: Any) -> Any:
    return await client.session.call_tool(
        "memory_store", {"text": "The user likes tea."}, allow_input_required=True, **more
    )


def test_a_call_that_comes_again_without_an_answer_goes_on_without_one(store: Store) -> None:
    said(store)

    async def calls(client: Client) -> None:
        first = await _asked(client)
        assert first.result_type == "input_required"
        again = await _asked(client, request_state=first.request_state)
        assert "failed" in again.structured_content["warnings"][0]
        stranger = await _asked(client, request_state="0" * 32)
        assert not stranger.is_error  # and it isn't asked in a circle
        assert stranger.result_type != "input_required"

    _rounds(store, calls)


def test_a_call_that_is_another_gets_no_answer_of_this_one(store: Store) -> None:
    said(store)

    async def calls(client: Client) -> None:
        first = await _asked(client)
        other = await client.session.call_tool(
            "memory_ask",
            {"question": "Where?"},
            request_state=first.request_state,
            allow_input_required=True,
        )
        assert other.result_type != "input_required"

    _rounds(store, calls)


# -- it answers -----------------------------------------------------------------------------------


def _answers(asked: types.CreateMessageRequestParams) -> str:
    text = text_of(asked.messages[-1].content)
    id = next(word for word in text.replace('"', " ").split() if word.startswith("exp_"))
    return json.dumps({"known": True, "sentences": [{"text": "Maya lives in Porto.", "cites": [id]}]})


@pytest.mark.parametrize("mode", BOTH)
def test_an_answer_is_worded_by_the_harness_s_model(store: Store, mode: str) -> None:
    store.append("Maya lives in Porto.", user_id="maya")
    harness = Harness(_answers)
    reply: dict[str, Any] = {}

    async def calls(client: Client) -> None:
        result = await client.call_tool("memory_ask", {"question": "Where does Maya live?"})
        assert result.structured_content is not None
        reply.update(result.structured_content)

    talk(store, harness, calls, mode=mode)
    assert len(harness.shown) == 1
    assert "Porto" in reply["text"]
    assert calls_of(store)[0][:4] == ("ask", "mcp:desk", "harness", True)


@pytest.mark.parametrize("way", ["refuses", "local_only", "nonsense"])
def test_without_the_model_the_answer_is_what_it_was(store: Store, way: str) -> None:
    store.append("Maya lives in Porto.", user_id="maya")
    if way == "local_only":
        allow(store, local_only="true")
    harness = Harness(lambda _: _REFUSED if way == "refuses" else "Hm?")

    async def calls(client: Client) -> None:
        result = await client.call_tool("memory_ask", {"question": "Where does Maya live?"})
        assert not result.is_error
        assert result.structured_content is not None
        assert "Porto" in result.structured_content["text"]

    talk(store, harness, calls)
    assert len(harness.shown) == (0 if way == "local_only" else 1)
