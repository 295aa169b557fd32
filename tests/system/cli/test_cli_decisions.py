"""`decisions`, `review` and `settings` as a person types them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

import braid
from braid import Claim

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


def test_settings_are_set_with_a_reason(disputed: Session) -> None:
    assert "shadow" in disputed.well("settings", "list").out
    assert "not offered yet" in disputed.refused("settings", "set", "phase", "full", "--reason", "now")
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
