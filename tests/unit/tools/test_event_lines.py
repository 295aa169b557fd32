"""The log of events: one line each, fields of a known set, and no word that anybody has written."""

import io
import json
import logging
import re
from pathlib import Path
from typing import Any

import pytest

from braid.event_log import COMPONENTS, FIELDS, current_request, name_session, note, request, within
from braid.tools.event_lines import Form, shown

ROOT = Path(__file__).parents[3]
MARK = "my password is hunter2"


def lines(form: Form = "json") -> tuple[io.StringIO, Any]:
    stream = io.StringIO()
    return stream, shown(form, stream=stream)


def test_an_event_is_one_line_of_json() -> None:
    stream, showing = lines()
    with showing, request("req_0123456789abcdef"):
        note("job", job_id="job_0123456789abcdef", stage="ask", outcome="retried:ChatError", latency_ms=12.5)
    told = json.loads(stream.getvalue())
    assert told.pop("time").endswith("Z")
    assert told == {
        "level": "info",
        "service": "braid",
        "event": "job",
        "component": "jobs",
        "request_id": "req_0123456789abcdef",
        "job_id": "job_0123456789abcdef",
        "stage": "ask",
        "outcome": "retried:ChatError",
        "latency_ms": 12.5,
    }


def test_as_text_it_is_one_line_too() -> None:
    stream, showing = lines("text")
    with showing:
        note("remembered", level=logging.WARNING, outcome="queued", count=2)
    (line,) = stream.getvalue().splitlines()
    assert line.split(" ", 1)[1] == "warning remembered component=remember outcome=queued count=2"


def test_a_session_is_named_by_its_id_and_never_by_words() -> None:
    stream, showing = lines()
    id = "0b0e7a8e-7a55-4d58-9c58-1f6f3f0e3c8a"
    with showing:
        with within(id):
            note("operation")
            with within():
                note("job", outcome="begun")
                name_session(id)
                note("job", outcome="done")
            name_session("hunter2zebra")
            note("operation")
        name_session(id)
        note("operation")
        with within("hunter2zebra"):
            note("operation")
    told = [json.loads(line).get("session_id") for line in stream.getvalue().splitlines()]
    assert told == [id, None, id, None, None, None]


def test_each_event_is_of_a_component() -> None:
    noted = re.compile(r"\bself\._note\(\s*\"([a-z_]+)\"|(?<![\w.])note\(\s*\"([a-z_]+)\"")
    names = {
        next(filter(None, found.groups()))
        for room in ("api", "models", "tools")
        for path in (ROOT / room).rglob("*.py")
        if "event_log import" in (text := path.read_text())
        for found in noted.finditer(text)
    }
    assert len(names) > 10
    assert names <= COMPONENTS.keys()


def test_words_never_come_in() -> None:
    stream, showing = lines()
    with showing, request(MARK):
        note("job", stage=MARK, outcome=f"{MARK}\n", model="a" * 500)
        with pytest.raises(ValueError, match="no field"):
            note("job", text=MARK)
        assert current_request() != MARK
    told = json.loads(stream.getvalue())
    assert (told["stage"], told["outcome"], told["model"]) == ("?", "?", "?")
    assert "hunter2" not in stream.getvalue()


def test_of_what_a_library_logs_only_the_class_of_an_error_is_shown() -> None:
    stream, showing = lines()
    with showing:
        try:
            raise KeyError(MARK)
        except KeyError:
            logging.getLogger("uvicorn.error").exception("failed with %s", MARK)
    told = json.loads(stream.getvalue())
    assert (told["event"], told["logger"], told["level"], told["outcome"]) == (
        "log",
        "uvicorn.error",
        "error",
        "KeyError",
    )
    assert "hunter2" not in stream.getvalue()


def test_who_looks_for_a_mistake_is_shown_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRAID_DEBUG", "1")
    stream, showing = lines()
    with showing:
        logging.getLogger("braid.http").error("failed with %s", MARK)
        note("job", outcome="done")
    first, second = stream.getvalue().splitlines()
    assert first == f"failed with {MARK}"
    assert json.loads(second)["event"] == "job"


def test_ids_of_callers_are_taken_only_where_they_are_ids() -> None:
    for given in ("0b0e7a8e-7a55-4d58-9c58-1f6f3f0e3c8a", "corr_0123456789ab", "deadbeef"):
        with request(given) as id:
            assert id == given
    for given in ("hunter2", "sk-abcdefghijklmnopqrst", "deadbeef\n", "a" * 37, ""):
        with request(given) as id:
            assert id != given
    assert current_request() is None


def test_logging_is_as_before_behind_the_block() -> None:
    root, before = logging.getLogger(), logging.getLogger().handlers[:]
    _, showing = lines()
    with showing:
        assert root.handlers != before
    assert root.handlers == before
    assert "text" not in FIELDS
