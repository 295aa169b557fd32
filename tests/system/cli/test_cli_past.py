"""`--as-of`, `--valid-at`, `--include-forgotten`: what the log held, and what held, at another time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.system.cli.conftest import Session

MOVED = "2025-07-01T00:00:00Z"


@pytest.fixture
def moved(session: Session) -> Session:
    """A store in which Maya lived in Rome, then in Oslo; and a remark that was forgotten."""
    rome = {"subject": "Maya", "rel": "lives in", "object": "Rome", "valid_to": MOVED}
    oslo = {"subject": "Maya", "rel": "lives in", "object": "Oslo", "valid_from": MOVED}
    for text, at, claim in (("in Rome", "2025-06-01T00:00:00Z", rome), ("in Oslo", MOVED, oslo)):
        record: dict[str, Any] = {
            "type": "occurrence",
            "content": {"text": text},
            "occurred_at": at,
            "embeddings": {"symbolic": [claim]},
        }
        session.well("append", "--json", "-", stdin=json.dumps(record))
    remark = session.well("append", "a remark").out.strip()
    session.well("forget", remark)
    return session


def texts(session: Session, *options: str) -> list[str]:
    answer = session.well("sql", "SELECT text FROM experiences ORDER BY log_index", "-o", "json", *options)
    return [row["text"] for row in json.loads(answer.out)]


def test_sql_as_the_log_was(moved: Session) -> None:
    assert texts(moved) == ["in Rome", "in Oslo"]
    assert texts(moved, "--as-of", "3") == ["in Rome"]
    assert texts(moved, "--as-of", "3", "--include-forgotten") == ["in Rome"]
    assert texts(moved, "--as-of", "5") == ["in Rome", "in Oslo"]
    assert texts(moved, "--as-of", "5", "--include-forgotten") == ["in Rome", "in Oslo", "a remark"]
    assert texts(moved, "--include-forgotten") == ["in Rome", "in Oslo", "a remark"]
    assert texts(moved, "--as-of", "2999-01-01") == ["in Rome", "in Oslo"]
    told = moved.well("sql", "SELECT 1", "--as-of", "3").err
    assert "as the log was with 4 records, 3 fewer than now" in told


def test_sql_as_things_were(moved: Session) -> None:
    def lives(at: str) -> list[str]:
        answer = moved.well("sql", "SELECT object FROM claims", "-o", "json", "--valid-at", at)
        return [row["object"] for row in json.loads(answer.out)]

    assert lives("2025-05-01") == []
    assert lives("2025-06-15") == ["Rome"]
    assert lives("2025-07-01T02:00:00+02:00") == ["Oslo"]
    assert texts(moved, "--valid-at", "2025-06-15", "--as-of", "5") == ["in Rome"]


def test_show_as_of_and_valid_at(moved: Session) -> None:
    rome, oslo = (row["id"] for row in json.loads(moved.well("log", "-o", "json").out) if "content" in row)
    assert "Rome" in moved.well("show", rome, "--as-of", "3").out
    assert "did not hold it yet" in moved.refused("show", oslo, "--as-of", "3")
    assert "happened at 2025-07-01" in moved.refused("show", oslo, "--valid-at", "2025-06-15")
    assert "lives in" in moved.well("show", rome, "--valid-at", "2025-06-15").out
    assert "lives in" not in moved.well("show", rome, "--valid-at", "2025-08-01").out
    right = moved.well("correct", rome, "in Pisa").out.strip()
    assert f"{right} stands in its place" in moved.well("show", rome, "--valid-at", "2025-06-15").err
    assert "in its place" not in moved.well("show", rome, "--valid-at", "2025-06-15", "--as-of", "6").err


def test_status_as_of(moved: Session) -> None:
    then = json.loads(moved.well("status", "--as-of", "3", "-o", "json").out)
    assert (then["records"], then["since_then"], then["forgotten"]) == (4, 3, 0)
    assert then["rows"]["experiences"] == then["rows"]["claims"] == 1
    now = json.loads(moved.well("status", "--valid-at", "2025-08-01", "-o", "json").out)
    assert (now["records"], now["forgotten"], now["rows"]["claims"]) == (7, 1, 1)
    assert "experiences" in moved.well("status", "--as-of", "3").out


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("99", "there is no 99"),
        ("1999-01-01", "the log begins at"),
        ("2025-06-01T10:00:00", "no time zone"),
        ("0001-01-01T00:00:00+14:00", "the log begins at"),
        ("2026-W47", "is not a time"),
        ("2025-02-30", "is not a time"),
        ("yesterday", "is not a time"),
        ("-1", "is not a time"),
    ],
)
def test_a_past_that_there_was_not(moved: Session, said: str, message: str) -> None:
    for words in (("sql", "SELECT 1"), ("status",)):
        assert message in moved.refused(*words, f"--as-of={said}")
