"""Memories changed and forgotten at the command line: versions, pins, previews and their tokens."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

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


def test_changes_of_a_file_are_made_each_by_itself(session: Session) -> None:
    first = session.well("append", "The code is 4711.", "--user-id", "ana").id
    second = session.well("append", "The bell is broken.", "--user-id", "ana").id
    lines = [
        {"id": first, "text": "The code is 8293.", "reason": "changed", "if_version": 1},
        {"id": first, "text": "The code is 1.", "reason": "too late", "if_version": 1},
        {"id": second, "pinned": True, "reason": "it matters"},
    ]
    changes = "\n\n".join(json.dumps(one) for one in lines)
    done = session.braid("modify", "--batch", "-", "-o", "json", stdin=changes)
    assert done.code == 1, done.err
    told = json.loads(done.out)
    assert [one["asked"] for one in told] == [first, first, second]
    assert [one.get("error") for one in told] == [None, "VersionConflictError", None]
    assert "2 of 3 changes" in done.err
    assert json.loads(session.well("history", first, "-o", "json").out)["version"] == 2
    assert json.loads(session.well("history", second, "-o", "json").out)["pinned"]
    table = session.braid("modify", "--batch", "-", "-o", "csv", stdin=json.dumps(lines[1])).out
    assert table.splitlines()[1].startswith(f"{first},,,VersionConflictError")
    for bad in ("{", json.dumps({"id": first}), json.dumps({"id": first, "reason": "x", "pined": True})):
        assert "changes.jsonl:1" in session.refused("modify", "--batch", _file(session, bad.encode()))
    assert "changes.jsonl:1" in session.refused("modify", "--batch", _file(session, b"\xff\xfe{"))
    assert "--batch" in session.refused("modify", first, "x", "--reason", "y", "--batch", "-")
    assert "--reason" in session.refused("modify", first, "x")
    assert "ID" in session.refused("modify", "--reason", "y")


def _file(session: Session, content: bytes) -> str:
    (session.folder / "changes.jsonl").write_bytes(content)
    return "changes.jsonl"


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
    again = session.well("forget", "--token", token, "--user-id", "ana", "--reason", "asked")
    assert again.out == ""
    assert f"{ids[0]} stays: forgotten" in again.err
    assert "nothing was hidden" in again.err
    assert "brings back" not in again.err
    assert "is forgotten" in session.refused("show", ids[0])
    session.well("show", ids[1])
    assert (
        "nothing would be forgotten" in session.well("forget", "--query", "old flat", "--user-id", "ana").err
    )


def test_the_command_that_goes_on_is_printed_as_it_must_be_run(session: Session) -> None:
    session.well("append", "The old flat.", "--user-id", "ana o'neil", "--session", "s 1")
    shown = session.well("forget", "--query", "old flat", "--user-id", "ana o'neil", "--session", "s 1")
    words = shlex.split(shown.err.partition("within ten minutes: braid ")[2])
    assert words[-1] == "…"
    assert session.well(*words[:-1], "asked").out.startswith("tomb_")


def test_a_token_wants_a_reason_in_plain_words(session: Session) -> None:
    assert "say why with --reason" in session.refused("forget", "--token", "abc")
    assert "not one of this store's" in session.refused("forget", "--token", "abc", "--reason", "asked")


def test_an_id_that_is_given_twice_counts_once(session: Session) -> None:
    id = session.well("append", "The old flat.").id
    assert "braid: 1 record would be" in session.well("forget", id, id, "--dry-run").err
    assert "braid: 1 record hidden" in session.well("forget", id, id).err
    assert session.well("recover", id, id).out.startswith("tomb_")
    session.well("show", id)


def test_forget_wants_one_way_of_naming(session: Session) -> None:
    session.well("append", "x")
    for words in ((), ("exp_x", "--query", "y"), ("--query", "y", "--token", "z")):
        assert "in one way" in session.refused("forget", *words)
    id = session.well("append", "I like tea.", "--user-id", "ana").id
    for of_a_query in (("--user-id", "tom"), ("--session", "s"), ("--meaning",), ("--topic",), ("--filter", "{}"),
                       ("--confirm", "2")):  # fmt: skip
        assert f"{of_a_query[0]} goes with" in session.refused("forget", id, *of_a_query)
        assert f"{of_a_query[0]} goes with" in session.refused("forget", id, "--dry-run", *of_a_query)
    assert "--confirm goes with --token" in session.refused("forget", "--query", "tea", "--confirm", "2")
    assert "--topic goes with --query" in session.refused("forget", "--token", "z", "--topic")
    session.well("show", id)
    assert "is not JSON" in session.refused("forget", "--query", "y", "--filter", "{")


def test_memories_are_listed_page_by_page_and_the_forgotten_by_themselves(session: Session) -> None:
    ids = [session.well("append", f"Thing {place}.", "--user-id", "ana").id for place in range(3)]
    session.well("append", "Tom's thing.", "--user-id", "tom")
    shown = session.well("memories", "--user-id", "ana", "--limit", "2")
    assert "Thing 2." in shown.out
    assert "Thing 0." not in shown.out
    assert "Tom" not in shown.out
    before = shown.err.rpartition("--before ")[2].strip()
    rest = json.loads(session.well("memories", "--user-id", "ana", "--before", before, "-o", "json").out)
    assert [one["id"] for one in rest["memories"]] == ids[:1]
    assert rest["before"] is None
    assert "could come back" in session.well("memories", "--user-id", "ana", "--forgotten").err
    session.well("forget", ids[1])
    gone = session.well("memories", "--user-id", "ana", "--forgotten", "-o", "json").out
    assert [one["id"] for one in json.loads(gone)["memories"]] == ids[1:2]


def test_all_pages_are_listed_one_after_the_other(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("braid.tools.cli.memories._PAGE", 2)
    texts = [f"Thing {number}." for number in range(5)]
    for text in texts:
        session.well("append", text, "--user-id", "ana")
    lines = session.well("memories", "--user-id", "ana", "--all", "-o", "jsonl").out.splitlines()
    assert [json.loads(line)["text"] for line in lines] == texts[::-1]
    whole = json.loads(session.well("memories", "--user-id", "ana", "--all", "-o", "json").out)
    assert ([one["text"] for one in whole["memories"]], whole["before"]) == (texts[::-1], None)
    page = session.well("memories", "--user-id", "ana", "--limit", "2")
    assert "--all" in page.err
    assert "Thing 2." not in page.out


def test_a_dry_run_knows_what_a_key_stands_for(session: Session) -> None:
    session.well("append", "It rained.", "--user-id", "ana", "--key", "k")
    again = session.well("append", "It rained.", "--user-id", "ana", "--key", "k", "--dry-run").err
    assert "0 records would be appended" in again
    assert "1 of 1 are in the log already" in again
    assert "the key 'k' is that of" in session.refused(
        "append", "It snowed.", "--user-id", "ana", "--key", "k", "--dry-run"
    )
    assert (
        "1 record would"
        in session.well("append", "It snowed.", "--user-id", "tom", "--key", "k", "--dry-run").err
    )
    session.well("append", "It snowed.", "--user-id", "tom", "--key", "k")
    assert "1 of 1 were in" in session.well("append", "It snowed.", "--user-id", "tom", "--key", "k").err


def test_a_command_of_another_program_is_answered_by_ours(session: Session) -> None:
    assert "`braid show ID`" in session.refused("get", "exp_x")
    assert "`braid recall QUESTION`" in session.refused("search", "tea")
