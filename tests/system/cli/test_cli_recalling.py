"""`recall`, `context` and `evaluate` as a person types them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from braid.models.static import StaticEmbedder
from tests.system.models.model_server import ModelServer

if TYPE_CHECKING:
    from tests.system.cli.conftest import Session


@pytest.fixture
def told(session: Session) -> Session:
    """A session whose store remembers two people."""
    session.well("append", "Her cat is called Miso.", "--user-id", "maya")
    session.well("append", "Maya moved to \x1b[31mPorto.", "--user-id", "maya")
    session.well("append", "Bob's cat is called Rex.", "--user-id", "bob")
    return session


def test_a_question_is_answered(told: Session) -> None:
    done = told.well("recall", "What is Maya's cat called?", "--user-id", "maya")
    first = done.out.splitlines()[0]
    assert "Miso" in first
    assert done.id in first
    assert "Rex" not in done.out
    assert "\x1b" not in done.out


def test_reasons_are_shown_as_a_table(told: Session) -> None:
    out = told.well("recall", "cat", "--explain", "-k", "2").out
    header = next(line for line in out.splitlines() if line.startswith("signal"))
    assert header.split() == ["signal", "#1", "#2"]
    assert any(line.startswith("near_words") for line in out.splitlines())


def test_json_is_the_wire_form(told: Session) -> None:
    sent = json.loads(
        told.well("recall", "cat", "--prove", "-o", "json", "--filter", '{"text": {"contains": "Rex"}}').out
    )
    (hit,) = sent["results"]
    assert hit["text"] == "Bob's cat is called Rex."
    assert hit["proof"].startswith("c2sp.org/tlog-proof@v1")
    assert set(sent) == {"results", "behind_by", "position", "degraded", "disagreement", "proof"}
    told.write("hits.multi-proof", sent["proof"])
    vkey = json.loads(told.well("status", "-o", "json").out)["vkey"]
    shown = json.loads(told.well("check-proof", "hits.multi-proof", "--key", vkey, "-o", "json").out)
    assert shown["ids"] == [hit["id"]]


def test_the_question_may_come_from_stdin(told: Session) -> None:
    assert "Miso" in told.well("recall", "-", "--user-id", "maya", stdin=b"the cat?\xff\x00" * 10_000).out


def test_nothing_fits_an_unknown_scope(told: Session) -> None:
    done = told.well("recall", "cat", "--user-id", "nobody")
    assert done.out == ""
    assert "nothing fits" in done.err


def test_of_nothing_asked_no_stance_is_told(told: Session) -> None:
    assert "stance:" in told.well("recall", "Where is Maya?", "--stance").out
    assert "stance" not in told.refused("recall", " ", "--stance")


def test_the_past_knows_nothing_later(told: Session) -> None:
    sent = json.loads(told.well("recall", "cat", "-o", "json").out)
    first = min(hit["index"] for hit in sent["results"])
    assert "Rex" not in told.well("recall", "cat", "--as-of", str(first)).out


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--valid-at", "soon"), "is not a time"),
        (("--filter", "{"), "--filter is not JSON"),
        (("--filter", "[]"), "--filter is an object"),
        (("--filter", '{"user_id": "bob"}'), "is a scope, not a filter"),
        (("--filter", '{"NOT":' * 9_000 + "{}" + "}" * 9_000), "--filter is not JSON: maximum recursion"),
        (("--filter", '{"NOT":' * 300 + "{}" + "}" * 300), "nested more than 16 deep"),
        (("--affect", '{"v": 2, "x": 1}'), "affect is"),
        (("--affect", '{"v": 0, "a": 0, "d": 0, "within": "near"}'), "affect is"),
        (("--as-of", "99999"), "the log holds records"),
        (("--user-id", ""), "user_id is text"),
    ],
)
def test_what_cannot_be_meant_is_refused(told: Session, words: tuple[str, ...], why: str) -> None:
    assert why in told.refused("recall", "cat", *words)


def test_the_block_is_printed(told: Session) -> None:
    out = told.well("context", "What is the cat called?", "--user-id", "maya", "--probe", "Is Miso well?").out
    assert out.startswith("<experience_context")
    assert "Miso" in out
    assert "<pending_probe>" in out
    assert "no room" in told.refused("context", "cat", "--budget", "5")


def test_context_says_how_many_secrets_it_leaves_out(told: Session) -> None:
    told.well("append", "The door code is 47112, the card 4111 1111 1111 1111.", "--user-id", "maya")
    done = told.well("context", "What is the door code?", "--user-id", "maya")
    assert "REDACTED_CODE_1" in done.out
    assert "47112" not in done.out
    assert "braid: 2 secrets not shown\n  hint: --clear" in done.err
    done = told.well("context", "What is the door code?", "--user-id", "maya", "--clear")
    assert "47112" in done.out
    assert done.err == ""


def test_questions_of_ones_own_are_measured(session: Session) -> None:
    lines = [
        {"id": "a", "speaker": "Maya", "text": "The cat is called Miso."},
        {"id": "b", "speaker": "Owen", "text": "It rains in Cardiff."},
        {"question": "What is the cat called?", "evidence": ["a"], "category": "name"},
        {"question": "Where is it wet?", "evidence": ["nowhere"]},
    ]
    (session.folder / "own.jsonl").write_text("\n".join(json.dumps(line) for line in lines))
    done = session.well("evaluate", "recall", "own.jsonl", "-o", "json")
    found = json.loads(done.out)
    assert found["turn"]["all"]["mrr"] == found["session"]["name"]["recall@1"] == 1.0
    assert (found["questions"], found["unscorable"], found["unresolved_evidence"]) == (1, 1, 1)
    assert found["data"].startswith("sha256:")
    assert "recall@10" in session.well("evaluate", "recall", "own.jsonl").out


def test_data_that_is_none_is_refused(session: Session) -> None:
    (session.folder / "bad.json").write_text("{}")
    said = session.refused("evaluate", "recall", "--kind", "locomo", "bad.json")
    assert "bad.json: not a LoCoMo conversation" in said
    (session.folder / "empty").mkdir()
    assert "there is no *.json in empty" in session.refused("evaluate", "recall", "--kind", "locomo", "empty")
    session.write("none.jsonl", '{"question": "q?", "evidence": ["x"]}')
    assert "nothing to measure" in session.refused("evaluate", "recall", "none.jsonl")


def test_what_had_not_happened_then_is_left_out(told: Session) -> None:
    told.well(
        "append", "The cat Otto came in 2019.", "--user-id", "ann", "--occurred-at", "2019-05-01T10:00:00Z"
    )
    for command in ("recall", "context"):
        out = told.well(command, "Which cat came?", "--valid-at", "2020-01-01").out
        assert "Otto" in out
        assert "Miso" not in out


# -- models -------------------------------------------------------------------------------------------


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    server = ModelServer()
    server.answers_with(StaticEmbedder())
    yield server
    server.stop()


def test_a_remote_model_is_asked_by_fill_alone(told: Session, model_server: ModelServer) -> None:
    model = f"ollama:a-model/256@{model_server.url}"
    assert "Miso" in told.well("--model", model, "recall", "the cat Miso", "-k", "1").out
    asked = len(model_server.asked)  # one for the question, or none: the index holds no vector of it yet
    assert asked <= 1
    done = json.loads(told.well("--model", model, "fill", "-o", "json").out)
    assert done == [{"filled": 3, "pending": 0, "model": "a-model@1"}]
    assert [message["input"] for _, _, message in model_server.asked[asked:]] == [
        ["Her cat is called Miso.", "Maya moved to \x1b[31mPorto.", "Bob's cat is called Rex."]
    ]
    found = json.loads(told.well("recall", "a small feline", "-o", "json", BRAID_MODEL=model).out)
    assert found["results"][0]["signals"]["meaning"] >= 0
    assert found["degraded"] == []


def test_a_key_comes_from_the_surroundings(told: Session, model_server: ModelServer) -> None:
    told.well("--model", f"openai:a-model/256@{model_server.url}/v1", "fill", BRAID_MODEL_KEY="s3cret")
    assert model_server.asked[0][1]["Authorization"] == "Bearer s3cret"


@pytest.mark.soak
def test_a_model_that_is_away_is_told(told: Session) -> None:
    away = "ollama:a-model/256@http://127.0.0.1:9"
    assert "start the model" in told.refused("--model", away, "fill")
    done = told.well("--model", away, "recall", "the cat Miso")
    assert "Miso" in done.out
    assert "no model to ask" in told.refused("--model", "none", "fill")


@pytest.mark.parametrize(
    "named",
    ["", "best", "ollama:x", "openai:x/8", "ollama:x/0", "openai:x/8@ftp://a", "sentence-transformers:"],
)
def test_a_model_that_means_none_is_refused(told: Session, named: str) -> None:
    assert "--model is static, none, onnx" in told.refused("--model", named, "recall", "cat")
