"""`ask` and `evaluate answers` as a person types them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.system.models.chat_server import hang_up, prompt_of, speaks
from tests.system.models.model_server import ModelServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.system.cli.conftest import Session

TURNS = [
    ("t1", "2025-03-01T09:00:00Z", "I live in Leeds."),
    ("t2", "2025-05-18T09:00:00Z", "I live in Edinburgh now."),
    ("t3", "2025-06-02T09:00:00Z", "Yesterday I bought a red canoe for £320."),
]


def lines(*more: dict[str, object]) -> str:
    turns = [
        {
            "id": id,
            "conversation": "c",
            "session": "s",
            "role": "user",
            "name": "Ann",
            "timestamp": at,
            "content": text,
        }
        for id, at, text in TURNS
    ]
    return "\n".join(json.dumps(each) for each in [*turns, *more]) + "\n"


@pytest.fixture
def told(session: Session) -> Session:
    """A session whose store has read a few turns of Ann's."""
    session.write("chat.jsonl", lines())
    session.well("ingest", "chat.jsonl", "--user-id", "ann")
    return session


def test_an_answer_is_shown_with_numbered_sources(told: Session) -> None:
    done = told.well("ask", "Where does Ann live?", "--user-id", "ann")
    answer, blank, source = done.out.splitlines()
    assert answer.startswith("I can't say for certain; this comes nearest. Ann said on 18 May 2025:")
    assert "“I live in Edinburgh now” [1]" in answer
    assert blank == ""
    assert source.startswith("[1] 2025-05-18  exp_")
    assert source.endswith("  Ann: I live in Edinburgh now.")
    assert "was appended" in done.err
    found = told.well("sql", "SELECT text FROM experiences WHERE method = 'reflect'").out
    assert "the answer rests on 1 record" in found
    assert told.is_clean()


def test_what_is_not_known_is_said_so(told: Session) -> None:
    done = told.well("ask", "Where does Zoe live?", "--user-id", "zoe")
    assert done.out == "I don't know.\n"
    assert "braid: nothing was found" in done.err


def test_json_says_everything_and_no_write_writes_nothing(told: Session) -> None:
    before = json.loads(told.well("status", "-o", "json").out)["records"]
    sent = json.loads(told.well("ask", "What did Ann buy?", "--no-write", "-o", "json").out)
    assert {
        "text",
        "plain",
        "short",
        "citations",
        "stance",
        "residual_uncertainty",
        "degraded",
        "steps",
    } <= set(sent)
    assert sent["answer_id"] is None
    assert [step["name"] for step in sent["steps"]][:2] == ["decompose", "recall"]
    assert json.loads(told.well("status", "-o", "json").out)["records"] == before
    shown = told.well("ask", "What did Ann buy?", "--no-write", "--explain").out
    assert "recall" in shown
    assert "ms" in shown


def test_a_question_from_stdin_and_one_that_is_empty(told: Session) -> None:
    done = told.well("ask", "-", "--no-write", "--no-affect", stdin="Where does Ann live?")
    assert "Edinburgh" in done.out
    assert "question is text that isn't empty" in told.refused("ask", "")


def test_answers_are_measured(empty: Session) -> None:
    questions: list[dict[str, object]] = [
        {
            "conversation": "c",
            "question": "When did Ann buy the canoe?",
            "evidence": ["t3"],
            "answer": "1 June 2025",
        },
        {"conversation": "c", "question": "What did Bob study?", "evidence": [], "answer": None},
    ]
    empty.write("own.jsonl", lines(*questions))
    found = json.loads(empty.well("evaluate", "answers", "own.jsonl", "-o", "json").out)
    assert found["all"]["questions"] == 2
    assert found["all"]["unanswerable"] == 1
    assert found["answers"][0]["short"] == "1 June 2025"
    assert found["all"]["f1"] == found["all"]["exact"] == found["all"]["quotations_borne_out"] == 1.0
    shown = empty.well("evaluate", "answers", "own.jsonl").out
    assert shown.startswith("group")
    assert "braid: name files" in empty.refused("evaluate", "recall")
    assert "there is no .json" in empty.refused("evaluate", "answers")


def test_talks_are_judged_by_kind(empty: Session) -> None:
    turn = {
        "id": "t1",
        "speaker": "Ida",
        "role": "user",
        "at": "2026-03-02T18:04:00Z",
        "text": "I live in Leeds.",
    }
    question = {"id": "q1", "asks": "place", "answer": "Leeds", "accept": ["leeds"], "turns": ["t1"]}
    talk = {
        "kind": "messenger", "name": "m", "user_id": "ida", "turns": [turn],
        "questions": [question | {"question": "Where does Ida live?"}],
    }  # fmt: skip
    empty.write("m.json", json.dumps(talk))
    found = json.loads(empty.well("evaluate", "answers", "--talks", "m.json", "--details", "-o", "json").out)
    assert found["kinds"]["messenger"]["right"]["of"] == 1
    assert [one["id"] for one in found["questions"]] == ["q1"]
    shown = empty.well("evaluate", "answers", "--talks", ".", "--details").out
    assert shown.startswith("kind ")
    assert "Where does Ida live?" in shown
    assert "there is no talk" in empty.refused("evaluate", "answers", "--talks")
    assert "goes with --talks" in empty.refused("evaluate", "answers", "--details")


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    server = ModelServer()
    yield server
    server.stop()


def answered_by(message: dict[str, Any]) -> str:
    """What a model says that reads its memories: the canoe, and a scooter that nobody spoke of."""
    ids = re.findall(r'<memory id="([^"]+)"', prompt_of(message))
    told = "bought a red canoe" if "canoe?" in prompt_of(message) else "rides green scooters in Rome"
    said = [{"text": f"Ann {told}.", "cites": ids}]
    return json.dumps({"draft": "", "known": True, "sentences": said})


def test_a_models_answers_are_measured_too(empty: Session, model_server: ModelServer) -> None:
    questions: list[dict[str, object]] = [
        {"conversation": "c", "question": "What about the canoe?", "evidence": ["t3"], "answer": "red"},
        {"conversation": "c", "question": "What about the bicycle?", "evidence": [], "answer": None},
    ]
    empty.write("own.jsonl", lines(*questions))
    model_server.planned = [speaks(answered_by), speaks(answered_by)]
    model = f"openai:{model_server.url}/v1#m"
    done = empty.well("evaluate", "answers", "own.jsonl", "--model", model, "-o", "json")
    found = json.loads(done.out)
    first, second = found["answers"]
    assert "Ann bought a red canoe" in first["text"]
    assert first["fallback"] is None
    assert second["fallback"].startswith("not borne out")
    assert found["fallbacks"] == {"not borne out": 1}
    assert found["tokens"] == {"compose": {"in": {"all": 240, "p50": 120}, "out": {"all": 60, "p50": 30}}}
    assert {"recall", "stance", "compose", "all"} <= set(found["latency_ms"])
    model_server.planned = [hang_up, hang_up, hang_up, hang_up]
    shown = empty.well("evaluate", "answers", "own.jsonl", BRAID_CHAT_MODEL=model)
    assert "2 answers of the model not taken: failed 2" in shown.err
    far = "openai:https://models.example/v1#m"
    assert "is not on this machine" in empty.refused("evaluate", "answers", "own.jsonl", "--model", far)


def test_extraction_is_measured(empty: Session) -> None:
    label = {
        "id": "u1", "domain": "home", "case": "plain", "turns": [{"text": "I live in Porto."}],
        "claims": [{"subject": "user", "words": ["live", "porto"]}], "never": [{"subject": "user", "words": ["leeds"]}],
    }  # fmt: skip
    empty.write("labels.jsonl", json.dumps(label))
    found = json.loads(empty.well("evaluate", "extraction", ".", "--details", "-o", "json").out)
    assert found["observations"] is None
    assert found["labels"]["all"]["recall"] | {"low": 0} == {"share": 1.0, "low": 0, "high": 1.0, "of": 1}
    assert found["labels"]["details"] == []
    assert found["speed"]["of_parser_alone"] > 0
    done = empty.well("evaluate", "extraction", "labels.jsonl", "--most-per-turn", "2", "--plot", "drawn.svg")
    assert done.out.startswith("group")
    assert "turns a second" in done.err
    assert "<svg" in (empty.folder / "drawn.svg").read_text(encoding="utf-8")
    assert "there is no .json" in empty.refused("evaluate", "extraction")
    empty.write("bad.jsonl", "{}\n")
    assert "bad.jsonl: line 1" in empty.refused("evaluate", "extraction", "bad.jsonl")
    empty.write("none.jsonl", "\n")
    assert "nothing to measure by" in empty.refused("evaluate", "extraction", "none.jsonl")
