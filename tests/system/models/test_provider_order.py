"""The order of providers, budgets and placeholders over real sockets: what a server on loopback is sent, and when."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from braid.agent.answer.compose import Extractive
from braid.agent.answer.model_composer import ModelComposer
from braid.ledger.record.record import ExperienceBody
from braid.models.anthropic import AnthropicChat
from braid.models.ollama import OllamaChat
from braid.models.openai import OpenaiChat
from braid.store import Store
from braid.text.chat import ChatModel, capabilities_of, host_of, provider_of
from tests.system.models.chat_server import says, speaks
from tests.system.models.model_server import ModelServer
from tests.unit.api.test_jobs import FACT, Clock, opened, readings, say, work
from tests.unit.learn.test_extraction import HOME

SECRET = "sk-abcdefghijklmnopqrstuvwx"


@pytest.fixture
def servers() -> Iterator[tuple[ModelServer, ModelServer]]:
    made = ModelServer(), ModelServer()
    for one in made:
        one.otherwise = speaks(FACT, tokens=(100, 20))
    yield made
    for one in made:
        one.stop()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    with opened(tmp_path, clock) as one:
        yield one


def chat(server: ModelServer, name: str) -> OpenaiChat:
    return OpenaiChat(f"{server.url}/v1", name, tries=1)


def test_the_second_server_answers_where_the_first_is_broken(
    store: Store, clock: Clock, servers: tuple[ModelServer, ModelServer]
) -> None:
    first, second = servers
    first.otherwise = says(500, b"out of memory")
    say(store, HOME, f"My key is {SECRET}.")
    store.change_setting("redacted_terms", "Porto", reason="to try it")
    second.otherwise = speaks(FACT.replace("Porto", "WITHHELD_1"), tokens=(100, 20))
    done = work(store, clock, chat(first, "one"), second=chat(second, "other"))  # type: ignore[arg-type]
    assert done.done == 1
    for server in servers:
        told = json.dumps(server.asked)
        assert SECRET not in told
        assert "Porto" not in told
        assert "WITHHELD_1" in told
    assert [(one.provider, one.model, one.outcome, one.tokens_in > 0) for one in store.outbound_calls()] == [
        ("openai", "other", "ok", True),
        ("openai", "one", "failed", True),
    ]
    claims = [one.body.symbolic for one in readings(store) if isinstance(one.body, ExperienceBody)]
    assert [claim.object for each in claims for claim in each] == ["Porto"]


def test_a_spent_budget_keeps_a_server_from_being_asked(
    store: Store, clock: Clock, servers: tuple[ModelServer, ModelServer]
) -> None:
    server, _ = servers
    store.change_setting("tokens_small", "120", reason="to try it")
    say(store, HOME, session="s1")
    say(store, HOME, session="s2")
    model = chat(server, "one")
    assert (work(store, clock, model).done, len(server.asked)) == (1, 1)  # type: ignore[arg-type]
    found = store.ask("Where do I live?", user_id="maya", composer=ModelComposer(model, Extractive()))
    assert (str(found.fallback).partition(":")[0], len(server.asked)) == ("budget_spent", 1)


def test_each_provider_declares_what_it_can(servers: tuple[ModelServer, ModelServer]) -> None:
    url = servers[0].url
    made: list[ChatModel] = [
        OpenaiChat(f"{url}/v1", "m"),
        OllamaChat("m", url=url),
        AnthropicChat("m", url=url, key="k"),
    ]
    declared = [(provider_of(one), host_of(one), capabilities_of(one).structured) for one in made]
    assert declared == [
        ("openai", "127.0.0.1", "schema"),
        ("ollama", "127.0.0.1", "schema"),
        ("anthropic", "127.0.0.1", "tool"),
    ]
    assert all(capabilities_of(one).extract and not capabilities_of(one).rerank for one in made)
