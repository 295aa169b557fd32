"""`stance`, `why` and `contradictions` as a person types them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.system.cli.conftest import Session

TURNS = [
    ("2025-03-01T09:00:00Z", "I live in Leeds."),
    ("2025-05-18T09:00:00Z", "I live in Edinburgh now."),
]


@pytest.fixture
def told(session: Session) -> Session:
    """A session whose store has read where Ann lives."""
    turn = {"session": "s", "role": "user", "name": "Ann"}
    lines = "\n".join(json.dumps({**turn, "timestamp": time, "content": text}) for time, text in TURNS)
    (session.folder / "chat.jsonl").write_text(lines)
    session.well("ingest", "chat.jsonl", "--user-id", "ann")
    return session


def test_a_stance_is_decided_once_and_then_stands(told: Session) -> None:
    done = told.well("stance", "Where does Ann live?", "--user-id", "ann")
    assert done.out.splitlines()[0] == "Ann lives in Edinburgh"
    assert "was appended" in done.err
    again = told.well("stance", "Where does Ann live?", "--user-id", "ann", "-o", "json")
    assert "nothing has changed since" in again.err
    sent = json.loads(again.out)
    assert sent["claim"] == "Ann lives in Edinburgh"
    assert sent["id"] in done.err
    assert [one["held"] for one in sent["candidates"]] == [False, True]
    shown = told.well("stances", "Where does Ann live?").out
    assert sent["id"] in shown
    assert len(json.loads(told.well("stances", "-o", "json").out)) == 1
    assert told.well("verify", "--rederive").out.startswith("clean")


def test_a_dry_run_appends_nothing(told: Session) -> None:
    before = told.well("status", "-o", "json").out
    done = told.well("stance", "Where does Ann live?", "--at", "2025-04-01", "--dry-run")
    assert done.out.splitlines()[0] == "Ann lives in Leeds"
    assert "nothing was appended" in done.err
    assert json.loads(told.well("status", "-o", "json").out)["records"] == json.loads(before)["records"]


def test_what_is_not_known_is_undecided(told: Session) -> None:
    done = told.well("stance", "Where does Zoe live?")
    assert done.out.splitlines()[0] == "undecided: nothing is known of it"
    assert "nothing was appended" in done.err


def test_why_goes_down_to_the_turn(told: Session) -> None:
    id = told.well("stance", "Where does Ann live?").err.split()[1]
    out = told.well("why", id).out
    assert "+ Ann lives in Edinburgh" in out
    assert "- Ann lives in Leeds" in out
    sent = json.loads(told.well("why", id, "-o", "json").out)
    assert sent["reasons"][0]["label"] == "in"
    said = sent["reasons"][0]["id"]
    assert "+ Ann lives in Edinburgh" in told.well("why", said).out


def test_contradictions(told: Session) -> None:
    (found,) = json.loads(told.well("contradictions", "-o", "json").out)
    assert (found["one"], found["other"], found["stands"]) == (
        "Ann lives in Leeds", "Ann lives in Edinburgh", "other",
    )  # fmt: skip
    assert json.loads(told.well("contradictions", "--at", "2025-04-01", "-o", "json").out) == []
    assert json.loads(told.well("contradictions", "--user-id", "nobody", "-o", "json").out) == []


def test_of_many_contradictions_the_last_are_shown(told: Session) -> None:
    claim = {"subject": "Kim", "rel": "lives_in"}
    homes = [
        {
            "content": {"text": "x"},
            "occurred_at": f"2025-01-01T00:{k:02d}:00Z",
            "embeddings": {"symbolic": [{**claim, "object": f"Town {k}"}]},
        }
        for k in range(59)
    ]
    (told.folder / "homes.json").write_text(json.dumps(homes))
    told.well("append", "--json", "homes.json")
    done = told.well("contradictions", "-o", "json")
    assert len(json.loads(done.out)) == 50
    assert "59 contradictions, of which 50 are shown: --all" in done.err
    assert len(json.loads(told.well("contradictions", "--all", "-o", "json").out)) == 59


def test_where_nothing_is_claimed_learning_is_named(session: Session) -> None:
    session.well("append", "The launch of Heron is on 12 May.")
    done = session.well("stance", "When is the launch of Heron?")
    assert "`braid learn` reads claims" in done.err


def test_recall_may_say_first_what_is_held(told: Session) -> None:
    done = told.well("recall", "Where does Ann live?", "--stance")
    assert done.out.splitlines()[0].startswith("stance: Ann lives in Edinburgh (")
    sent = json.loads(told.well("recall", "Where does Ann live?", "--stance", "-o", "json").out)
    assert sent["stance"]["claim"] == "Ann lives in Edinburgh"


def test_a_name_in_a_claim_cannot_steer_the_terminal(session: Session) -> None:
    session.well("append", "x", "--type", "observation")
    lines = json.dumps(
        {
            "session": "s",
            "role": "user",
            "name": "\x1b[31mEve",
            "content": "I live in \x1b[2JRome.",
            "timestamp": "2025-03-01T09:00:00Z",
        }
    )
    (session.folder / "chat.jsonl").write_text(lines)
    session.well("ingest", "chat.jsonl")
    for words in (["stance", "Where does \x1b[31mEve live?"], ["contradictions"], ["stances"]):
        assert "\x1b" not in session.well(*words).out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["stance", ""], "question is text that isn't empty"),
        (["stance", "Where does", "Ann live?"], "unexpected extra argument"),
        (["stance", "Where does Ann live?", "--at", "yesterday"], "is not a time"),
        (["stance", "Where does Ann live?", "--as-of", "9999"], "there is no 9999"),
        (["why", "exp_2025-01-01T00:00:00Z_0000000099ab"], "no"),
    ],
)
def test_refusals(told: Session, words: list[str], message: str) -> None:
    assert message in told.refused(*words)


def test_what_claims_nothing_is_explained_too(told: Session) -> None:
    id = told.well("append", "Good morning.").id
    assert "it claims nothing" in told.well("why", id).out
