"""`decisions`, `review` and `settings` as a person types them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import braid
from braid import Claim
from tests.system.models.chat_server import speaks
from tests.system.models.model_server import ModelServer

if TYPE_CHECKING:
    from tests.system.cli.conftest import Session


@pytest.fixture
def disputed(session: Session) -> Session:
    """A session whose store has two voices that differ about one home, and one that has moved."""
    with braid.open(session.folder / "memory", guard_dir=session.folder / "guard") as store:
        said = ("Ann Ann Leeds 1", "Ben Ann Hull 2", "Zoe Zoe Bath 3", "Zoe Zoe Wells 4")
        for who, name, where, day in (one.split() for one in said):
            claim = Claim(subject=name, rel="lives_in", object=where)
            when = datetime(2025, 5, int(day), tzinfo=UTC)
            store.append(
                f"{name}: {where}", claims=[claim], actor="user", name=who, user_id="x", occurred_at=when
            )
    return session


def test_a_report_shows_what_would_be_done(disputed: Session) -> None:
    shown = disputed.well("decisions", "report")
    assert "Zoe lives in Wells" in shown.out
    assert "4 claims: 3 ADD, 1 UPDATE, 0 DELETE, 0 NONE; 1 to be reviewed" in shown.err
    told = json.loads(disputed.well("decisions", "report", "--user-id", "x", "-o", "json").out)
    assert (told["claims"], told["review_needed"], told["agreed"]) == (4, 1, 1)


def test_a_change_is_judged_and_the_canary_shown(disputed: Session) -> None:
    found = json.loads(disputed.well("decisions", "report", "-o", "json").out)
    (change,) = [one["id"] for one in found["examples"] if one["action"] == "UPDATE"]
    assert "--reason" in disputed.refused("decisions", "judge", change, "right")
    done = disputed.well("decisions", "judge", change, "right", "--reason", "she moved")
    assert "Zoe lives in Bath" in done.out
    assert "1 change judged, 1 of them right, lower bound 0.21; phase full needs 60 and 0.90" in done.err
    told = disputed.well("decisions", "judge", change, "wrong", "--reason", "no", "-o", "json").out
    assert (json.loads(told)["figures"]["judged"], json.loads(told)["figures"]["right"]) == (1, 0)
    assert "phase shadow, share 0.1: 0 rounds, 0 stale, 0 kept" in disputed.well("decisions", "canary").err
    assert [one["arm"] for one in json.loads(disputed.well("decisions", "canary", "-o", "json").out)["arms"]] == [
        "canary", "control",
    ]  # fmt: skip


def test_settings_are_set_with_a_reason(disputed: Session) -> None:
    assert "shadow" in disputed.well("settings", "list").out
    assert "60 judged changes" in disputed.refused("settings", "set", "phase", "full", "--reason", "now")
    assert "--reason" in disputed.refused("settings", "set", "phase", "add_only")
    done = disputed.well("settings", "set", "phase", "add_only", "--reason", "to try it", "-o", "json")
    assert json.loads(done.out)["value"] == "add_only"
    assert "so before" in disputed.well("settings", "set", "phase", "add_only", "--reason", "again").err
    listed = json.loads(disputed.well("settings", "list", "-o", "json").out)
    assert [one["reason"] for one in listed if one["record"]] == ["to try it"]


def test_a_pair_is_settled_and_asked_about_again(disputed: Session) -> None:
    assert "Ann lives in Hull" in disputed.well("review", "list").out
    (pair,) = json.loads(disputed.well("review", "list", "--user-id", "x", "-o", "json").out)
    shown = disputed.well("review", "show", pair["id"]).out
    assert "Ann lives in Leeds" in shown
    assert "--reason" in disputed.refused("review", "accept", pair["id"], "--keep", "one")
    done = json.loads(
        disputed.well(
            "review", "accept", pair["id"], "--keep", "one", "--reason", "so she says", "-o", "json"
        ).out
    )
    assert "nothing waits" in disputed.well("review", "list").err
    assert "forget that first" in disputed.refused("review", "reject", pair["id"], "--reason", "both")
    disputed.well("forget", done["id"])
    told = json.loads(disputed.well("review", "reject", pair["id"], "--reason", "both", "-o", "json").out)
    assert told["state"] == "rejected"
    assert pair["id"] in disputed.well("review", "list", "--state", "rejected").out


WIDE = Path(__file__).parents[2] / "data" / "decisions" / "wide"


def test_labelled_cases_are_judged_and_shown_without_their_labels(session: Session) -> None:
    shown = session.well("evaluate", "decisions", str(WIDE / "build.jsonl"), "--errors")
    assert "changes that are right" in shown.out
    assert "236 cases, by rules; 0 wrong targets" in shown.err
    told = json.loads(session.well("evaluate", "decisions", str(WIDE / "build.jsonl"), "-o", "json").out)
    assert told["changes"][2] >= 0.95
    assert "errors" not in told
    blind = session.well("evaluate", "decisions", str(WIDE / "held.jsonl"), "--unlabelled").out
    assert len(blind.splitlines()) == 263
    assert '"action"' not in blind
    (session.folder / "none.jsonl").write_text("{}\n")
    assert "line 1" in session.refused("evaluate", "decisions", str(session.folder / "none.jsonl"))


def test_a_report_with_a_model_says_how_far_it_agrees(disputed: Session) -> None:
    server = ModelServer()
    try:
        server.otherwise = speaks('{"action": "UPDATE", "target": "m1", "confidence": 1, "reason": "later"}')
        named = f"openai:{server.url}/v1#small"
        shown = disputed.well("decisions", "report", "--model", named)
        assert "asked about 2 claims, 2 answered, 2 well formed (0 mended); 1 as the rules" in shown.err
        assert "by the rules ADD" in shown.err
        told = json.loads(disputed.well("decisions", "report", "--model", named, "-o", "json").out)
        assert (told["model"]["asked"], told["model"]["agreed"]) == (2, 1)
        far = disputed.refused("decisions", "report", "--model", "openai:https://models.example/v1#m")
        assert "--allow-remote" in far
    finally:
        server.stop()
