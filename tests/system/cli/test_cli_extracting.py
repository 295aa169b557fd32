"""`braid learn --model`: what a named model finds, which models may be asked, and what is said of it."""

import json
from collections.abc import Iterator

import pytest

from tests.system.cli.conftest import Session
from tests.system.models.chat_server import prompt_of, says, speaks
from tests.system.models.model_server import ModelServer

HOME = "I have been using QuickBooks for my bookkeeping."
SAID = {
    "turn": 1, "quote": "I have been using QuickBooks", "relation": "uses", "object": "QuickBooks", "confidence": 0.8,
}  # fmt: skip


@pytest.fixture
def server() -> Iterator[ModelServer]:
    made = ModelServer()
    made.otherwise = speaks(json.dumps({"facts": [SAID]}), tokens=(2_000, 500))
    yield made
    made.stop()


def remembered(session: Session) -> Session:
    session.well(
        "ingest", "-", "--no-learn", "--user-id", "maya", stdin=json.dumps({"role": "user", "content": HOME})
    )
    return session


def test_a_model_that_is_named_reads_and_is_named_in_the_log(session: Session, server: ModelServer) -> None:
    model = f"openai:{server.url}/v1#m"
    done = json.loads(remembered(session).well("learn", "--model", model, "-o", "json").out)
    assert (done["tokens in"], done["tokens out"], done["turns read by the model"]) == (2_000, 500, 1)
    assert done["failures"] == done["turns waiting"] == 0
    again = json.loads(session.well("learn", "--model", model, "-o", "json").out)
    assert (again["tokens in"], len(server.asked)) == (0, 1)
    assert HOME in prompt_of(server.asked[0][2])
    asked = "SELECT count(*) AS n FROM experiences WHERE method = 'read:model@1'"
    assert "1" in session.well("sql", asked, "-o", "csv").out


def test_a_dry_run_shows_and_keeps_nothing(session: Session, server: ModelServer) -> None:
    model = f"openai:{server.url}/v1#m"
    shown = remembered(session).well("learn", "--model", model, "--dry-run", "--show")
    assert "would be appended" in shown.err
    assert (
        json.loads(session.well("learn", "--model", model, "-o", "json").out)["turns read by the model"] == 1
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--model", "openai:https://models.example/v1#m"), "--allow-remote"),
        (("--model", "nobody"), "--model is"),
        (("--larger", "ollama:m"), "--larger is asked where --model is unsure"),
    ],
)
def test_a_model_that_was_not_allowed_is_not_asked(
    session: Session, options: tuple[str, ...], said: str
) -> None:
    done = remembered(session).braid("learn", *options)
    assert done.code != 0
    assert said in done.err


def test_the_settings_name_the_models_where_no_command_does(session: Session, server: ModelServer) -> None:
    remembered(session)
    away = "openai:http://127.0.0.1:9/v1#away"
    for key, value in (
        ("provider_preferred", away),
        ("provider_second", f"openai:{server.url}/v1#second"),
        ("provider_larger", f"openai:{server.url}/v1#larger"),
    ):
        session.well("settings", "set", key, value, "--reason", "to try it")
    server.otherwise = speaks(
        json.dumps({"facts": [{**SAID, "confidence": 0.3}]})
    )  # unsure: the larger is asked
    done = json.loads(session.well("work", "--consumers", "session-extraction", "-o", "json").out)
    assert done["done"] >= 1
    assert [asked[2]["model"] for asked in server.asked] == ["second", "larger"]


def test_a_command_names_another_and_words_keep_to_the_settings(
    session: Session, server: ModelServer
) -> None:
    remembered(session)
    session.well("settings", "set", "provider_preferred", "openai:http://127.0.0.1:9/v1#m", "--reason", "x")
    session.well("settings", "set", "redacted_terms", "bookkeeping", "--reason", "x")
    session.well("learn", "--model", f"openai:{server.url}/v1#m")
    told = prompt_of(server.asked[0][2])
    assert "for my WITHHELD_1." in told
    assert "bookkeeping" not in told


@pytest.mark.parametrize("command", ["learn", "work"])
def test_a_far_model_needs_the_flag_and_the_settings(session: Session, command: str) -> None:
    remembered(session)
    far = "openai:https://models.example/v1#m"
    assert "--allow-remote" in session.refused(command, "--model", far)
    told = session.refused(command, "--model", far, "--allow-remote")
    assert "local_only is set" in told
    assert "braid settings set local_only false" in told
    session.well("settings", "set", "local_only", "false", "--reason", "x")
    assert "remote_hosts" in session.refused(command, "--model", far, "--allow-remote")
    session.well("settings", "set", "provider_preferred", far, "--reason", "x")
    session.well("settings", "set", "remote_hosts", "models.example", "--reason", "x")
    assert "--allow-remote" in session.refused(command)  # the settings alone are nobody's consent


def test_events_are_shown_where_they_are_asked_for(session: Session, server: ModelServer) -> None:
    remembered(session)
    model = f"openai:{server.url}/v1#m"
    server.otherwise = says(500, b"")
    quiet = session.well("work", "--consumers", "session-extraction", "--model", model)
    assert "job\n" not in quiet.err
    session.well("ingest", "-", "--no-learn", stdin=json.dumps({"role": "user", "content": "I like tea."}))
    told = session.well("work", "--model", model, "--log", "json").err
    lines = [json.loads(line) for line in told.splitlines() if line.startswith("{")]
    assert {"job", "model_asked"} <= {one["event"] for one in lines}
    assert HOME not in told
