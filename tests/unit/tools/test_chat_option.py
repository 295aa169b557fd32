"""`--model` for answers, as people type it: what it makes, what it refuses, and that no refusal holds a secret."""

import pytest

from braid.tools.cli.models import chat_model


@pytest.mark.parametrize(
    ("named", "name", "remote"),
    [
        ("openai:http://127.0.0.1:8080/v1#qwen3 4b", "qwen3 4b", False),
        ("openai:https://api.example.test/v1#gpt", "gpt", True),
        ("ollama:llama3.2:3b", "llama3.2:3b", False),
        ("ollama:hf.co/bartowski/x:Q4@http://192.168.1.9:11434", "hf.co/bartowski/x:Q4", False),
        ("anthropic:claude-sonnet", "claude-sonnet", True),
    ],
)
def test_what_is_named(named: str, name: str, remote: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRAID_CHAT_KEY", "k")
    model = chat_model(named, allow_remote=True)
    assert (model.name, model.remote) == (name, remote)
    if remote:
        with pytest.raises(ValueError, match="--allow-remote"):
            chat_model(named)


@pytest.mark.parametrize(
    "named",
    [
        "",
        "gpt",
        "openai:gpt",
        "openai:http://127.0.0.1/v1",
        "openai:#x",
        "ollama:",
        "anthropic:",
        "openai:ftp://x#y",
    ],
)
def test_a_name_that_means_none(named: str) -> None:
    with pytest.raises(ValueError, match="--model is openai:URL#NAME, ollama:NAME"):
        chat_model(named, allow_remote=True)


def test_a_password_in_an_address_is_not_repeated() -> None:
    for named in ("openai:http://u:hunter2@127.0.0.1/v1#x", "openai:http://u:hunter2@127.0.0.1/v1"):
        with pytest.raises(ValueError, match=r"--model|no name or password") as raised:
            chat_model(named)
        assert "hunter2" not in str(raised.value)


def test_anthropic_needs_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(ValueError, match="ANTHROPIC_API_KEY"):
        chat_model("anthropic:x", allow_remote=True)
