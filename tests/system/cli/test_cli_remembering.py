"""Remembering at the command line: the id on stdout, what became of the words on stderr."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.system.cli.conftest import Session


def test_words_are_remembered_read_and_remembered_once(session: Session) -> None:
    made = session.well("remember", "I live in Porto.", "--user-id", "ana", "--mode", "sync")
    assert made.id.startswith("exp_")
    assert "queued" not in made.err
    assert "Porto" in session.well("why-known", made.id).out
    again = session.well("remember", "i live in PORTO.", "--user-id", "ana", "-o", "json")
    assert json.loads(again.out)["memory_id"] == made.id
    told = json.loads(session.well("history", made.id, "-o", "json").out)["changes"]
    assert [one["change"] for one in told] == ["ADD", "NONE"]


def test_a_job_is_named_and_done(session: Session) -> None:
    later = session.well("remember", "-", "--user-id", "ana", "--mode", "async", stdin="I live in Porto.\n")
    job = later.err.split("queued: ")[1].strip()
    assert job.startswith("job_")
    session.well("work", "--until-idle", "--consumers", "session-extraction")
    assert json.loads(session.well("jobs", "show", job, "-o", "json").out)["job"]["state"] == "done"
    assert "Porto" in session.well("why-known", later.id).out


def test_a_limit_raw_words_and_a_key(session: Session) -> None:
    raw = session.well("remember", "I live in Porto.", "--raw", "--key", "k")
    assert "raw saved" in raw.err
    assert session.well("remember", "I live in Porto.", "--raw", "--key", "k").id == raw.id
    assert "use another key" in session.refused("remember", "I live in Leeds.", "--raw", "--key", "k")
    assert session.well("remember", "I like tea.", "--timeout-ms", "60000").err == ""
    assert "--timeout-ms" in session.refused("remember", "x", "--timeout-ms", "0")
    assert "the text is empty" in session.refused("remember", " ")
