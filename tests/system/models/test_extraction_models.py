"""Extraction over real connections: answers in the shape of larger models, what leaves for them, and the command."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest

from braid.entry import open as open_store
from braid.knowledge.extraction import extract
from braid.learn.model.extractor import ModelExtractor
from braid.learn.model.schema import SCHEMA
from braid.learn.turn import Turn
from braid.models.anthropic import AnthropicChat
from braid.models.ollama import OllamaChat
from braid.models.openai import OpenaiChat
from braid.text.chat import ChatModel
from tests.system.models.chat_server import hang_up, prompt_of, speaks
from tests.system.models.model_server import ModelServer

ANSWERS: Final[list[dict[str, Any]]] = json.loads(
    Path(__file__).with_name("extractions.json").read_text("utf-8")
)
"""As larger models answer, written by hand in their shape, of the talk below (ADR-0013 §12)."""
TALK: Final = (
    ("user", "Hi, I need to change my dispute notification settings.\nI always want email notifications for disputes,"
     " not those in-app\npopups. They're easy to miss."),
    ("assistant", "Got it! I'll update that. Anything else?"),
    ("user", "Yeah, can you set up automatic invoice reminders? I've been using QuickBooks for my bookkeeping and I'd"
     " love if the invoices could sync there automatically."),
    ("assistant", "Have you worked with API integrations before?"),
    ("user", "Oh yeah, I've done a bunch of API integrations for my store. I'm pretty comfortable with that stuff."),
)  # fmt: skip
TURNS: Final = [
    Turn(text, role=role, at=at, when=datetime(2026, 2, 12, tzinfo=UTC))
    for at, (role, text) in enumerate(TALK)
]
KINDS: Final[dict[str, Callable[[str], ChatModel]]] = {
    "openai": lambda url: OpenaiChat(f"{url}/v1", "m", sleep=lambda _: None),
    "anthropic": lambda url: AnthropicChat("m", url=url, key="k-needle", sleep=lambda _: None),
    "ollama": lambda url: OllamaChat("m", url=url, sleep=lambda _: None),
}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    made = ModelServer()
    yield made
    made.stop()


def extractor(kind: str, server: ModelServer) -> ModelExtractor:
    return ModelExtractor(KINDS[kind](server.url), sleep=lambda _: None, timeout_s=5.0)


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("answer", ANSWERS, ids=lambda each: each["name"])
def test_answers_in_the_shape_of_larger_models(
    kind: str, answer: dict[str, Any], server: ModelServer
) -> None:
    server.otherwise = speaks(answer["text"], finish=answer["finish"], tokens=(2_000, 500))
    found = extractor(kind, server).extract(TURNS, [], [], datetime(2026, 2, 12, tzinfo=UTC))
    assert len(found.candidates) == answer["candidates"]
    told = [f"{stage}:{why}" for stage, why in found.warnings if stage != "tier"]
    if kind == "anthropic":  # the input of its tool is JSON by itself: what could be read needed no mending
        told = [one for one in told if one in answer["warnings"]]
        assert set(told) <= set(answer["warnings"])
    else:
        assert told == answer["warnings"]
    assert (found.tokens_in, found.tokens_out, found.failures) == (2_000, 500, ())
    assert {one.maker.model for one in found.candidates} <= {"m-0613"}
    for one in found.candidates:
        text = TALK[one.evidence.turn][1]
        assert text[one.evidence.start :].startswith(one.evidence.quote)


def test_the_example_of_the_design_has_its_table(server: ModelServer) -> None:
    server.otherwise = speaks(ANSWERS[0]["text"])
    found = extractor("openai", server).extract(TURNS, [], [], datetime(2026, 2, 12, tzinfo=UTC))
    rows = {(one.type, one.key or one.claim.object, one.evidence.turn) for one in found.candidates}
    assert rows == {
        ("entity", "service", 2),
        ("fact", "QuickBooks", 2),
        ("preference", "dispute_notification_method", 0),
        ("preference", "in_app_popups", 0),
        ("skill", "API integrations", 4),
    }


def test_a_provider_is_given_the_schema_its_own_way(server: ModelServer) -> None:
    server.otherwise = speaks("{}")
    for kind in KINDS:
        extractor(kind, server).extract(TURNS[:1], [], [], datetime(2026, 2, 12, tzinfo=UTC))
    asked = {path: message for path, _, message in server.asked}
    assert asked["/v1/chat/completions"]["response_format"]["json_schema"]["schema"] == SCHEMA
    assert asked["/v1/messages"]["tools"][0]["input_schema"] == SCHEMA
    assert asked["/v1/messages"]["tool_choice"] == {"type": "tool", "name": "answer"}
    assert asked["/api/chat"]["format"] == SCHEMA


def test_no_secret_leaves_and_none_comes_back(server: ModelServer, tmp_path: Path) -> None:
    said = [
        {
            **json.loads(ANSWERS[0]["text"])["facts"][0],
            "turn": 1,
            "quote": "REDACTED_PASSWORD_1",
            "object": "x",
        }
    ]
    server.otherwise = speaks(json.dumps({"facts": said}))
    with open_store(tmp_path / "memory") as store:
        store.remember("My password is hunter2xyz, don't tell.", learn=False)
        done = store.extract(model=KINDS["openai"](server.url))
        assert done.warnings == {"item:secret": 1}
        assert done.records == 0
    (asked,) = (prompt_of(message) for _, _, message in server.asked)
    assert "hunter2xyz" not in asked
    assert "REDACTED_PASSWORD_1" in asked


def test_where_the_model_is_away_turns_wait(server: ModelServer, tmp_path: Path) -> None:
    server.otherwise = hang_up
    with open_store(tmp_path / "memory") as store:
        store.remember("I live in Porto.", learn=False)
        done = extract(store, extractor("openai", server))
        assert (done.waiting, done.failures) == (1, {"ask:failed": 1})
