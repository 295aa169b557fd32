"""Memories changed and forgotten at the command line: versions, pins, previews and their tokens."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.system.cli.conftest import Session


def test_a_memory_is_changed_and_tells_how(session: Session) -> None:
    id = session.well("append", "The code is 4711.", "--user-id", "ana").id
    assert "version 2" in session.well("modify", id, "The code is 8293.", "--reason", "changed").err
    assert "version 2, not 1" in session.refused("modify", id, "x", "--reason", "y", "--if-version", "1")
    assert "nothing of" in session.refused("modify", id, "The code is 8293.", "--reason", "y")
    held = json.loads(session.well("history", id, "-o", "json").out)
    assert [one["change"] for one in held["changes"]] == ["ADD", "UPDATE"]
    table = session.well("history", id)
    assert "4711" in table.out
    assert "version 2" in table.err


def test_a_pinned_memory_is_forgotten_by_force_alone(session: Session) -> None:
    id = session.well("append", "Nuts make Ana ill.", "--user-id", "ana").id
    session.well("modify", id, "--pin", "--reason", "an allergy")
    assert "--unpin" in session.refused("forget", id)
    session.well("forget", id, "--force")
    assert "is forgotten" in session.refused("show", id)


def test_what_was_shown_is_forgotten_and_nothing_else(session: Session) -> None:
    ids = [session.well("append", text, "--user-id", "ana").id for text in ("The old flat.", "A new flat.")]
    shown = session.well("forget", "--query", "old flat", "--user-id", "ana")
    assert ids[0] in shown.out
    assert ids[1] not in shown.out
    token = json.loads(session.well("forget", "--query", "old flat", "--user-id", "ana", "-o", "json").out)[
        "token"
    ]
    assert token not in shown.out
    assert "another scope" in session.refused("forget", "--token", token, "--reason", "x")
    done = session.well("forget", "--token", token, "--user-id", "ana", "--reason", "asked")
    assert done.out.startswith("tomb_")
    assert "is forgotten" in session.refused("show", ids[0])
    session.well("show", ids[1])
    assert (
        "nothing would be forgotten" in session.well("forget", "--query", "old flat", "--user-id", "ana").err
    )


def test_forget_wants_one_way_of_naming(session: Session) -> None:
    session.well("append", "x")
    for words in ((), ("exp_x", "--query", "y"), ("--query", "y", "--token", "z")):
        assert "in one way" in session.refused("forget", *words)
    assert "is not JSON" in session.refused("forget", "--query", "y", "--filter", "{")
