"""A model that decides over real connections: what is sent, and what comes of answers and of silence."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from braid import Claim
from braid.entry import open as open_store
from braid.models.anthropic import AnthropicChat
from braid.models.ollama import OllamaChat
from braid.models.openai import OpenaiChat
from braid.store import Store
from braid.text.chat import ChatModel
from tests.system.models.chat_server import hang_up, prompt_of, says, speaks
from tests.system.models.model_server import Answer, ModelServer

UPDATE = '{"action": "UPDATE", "target": "m1", "confidence": 0.8, "reason": "she moved"}'
KINDS: dict[str, Callable[[str], ChatModel]] = {
    "openai": lambda url: OpenaiChat(f"{url}/v1", "m", tries=1),
    "ollama": lambda url: OllamaChat("m", url=url, tries=1),
    "anthropic": lambda url: AnthropicChat("m", url=url, key="k-needle", tries=1),
}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    made = ModelServer()
    yield made
    made.stop()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "memory", guard_dir=tmp_path / "guard") as opened:
        for month, place in enumerate(("Porto", "Lisbon"), 1):
            claim = Claim(subject="Maya", rel="lives_in", object=place)
            day = datetime(2025, month, 3, tzinfo=UTC)
            opened.append(place, claims=[claim], actor="user", name="Maya", user_id="maya", occurred_at=day)
        yield opened


def report(store: Store, model: ChatModel) -> Any:
    return store.decision_report(user_id="maya", model=model).model


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", KINDS)
def test_each_provider_decides(kind: str, store: Store, server: ModelServer) -> None:
    server.otherwise = speaks(UPDATE, tokens=(200, 20))
    found = report(store, KINDS[kind](server.url))
    assert (found.asked, found.well_formed, found.agreed) == (1, 1, 1)
    assert (found.tokens_in, found.tokens_out, found.ms_p50 > 0) == (200, 20, True)
    ((_, _, message),) = server.asked
    assert "Maya lives in Porto" in prompt_of(message)
    assert '"enum": ["m1"]' in json.dumps(message)


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("answer", "warning"),
    [
        (speaks("I would rather not."), "malformed_decision"),
        (speaks(UPDATE.replace("m1", "m7")), "unknown_target"),
        (speaks(UPDATE, finish="length"), "cut_off"),
        (says(500, b"out of memory"), "failed"),
        (says(200, b"<html>"), "failed"),
        (says(200, b"[" * 200_000), "failed"),
        (hang_up, "failed"),
    ],
)
def test_what_a_server_does_wrongly_is_one_warning(
    answer: Answer, warning: str, store: Store, server: ModelServer
) -> None:
    server.otherwise = answer
    size = len(store)
    found = report(store, KINDS["openai"](server.url))
    assert (found.well_formed, found.discarded) == (0, {warning: 1})
    assert len(store) == size
