"""Copies that leave and records that come: an auditor's copy holds no word, a backup holds all."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.system.cli.conftest import Session

NEEDLE = "xylophone-4711-quetzal"


def texts(session: Session, *words: str) -> list[str]:
    shown: list[dict[str, Any]] = json.loads(
        session.well(*words, "log", "-n", "0", "--kind", "experience", "-o", "json").out
    )
    return [record["content"]["text"] for record in shown]


def test_an_auditors_copy_is_verified_without_a_word(session: Session) -> None:
    said = session.well("append", "said").id
    words = ("append", NEEDLE, "--type", "inference", "--actor", "agent", "--parent", said)
    id = session.well(*words, "--user-id", "maya", "--session", "s-1").id
    session.well("sql", "SELECT 1")
    session.well("export", "--audit", "copy")
    files = [path for path in (session.folder / "copy").rglob("*") if path.is_file()]
    for secret in (NEEDLE.encode(), b"maya", b's-1"'):
        assert [path for path in files if secret in path.read_bytes()] == []
    assert not (session.folder / "copy" / "vault").exists()
    assert not list((session.folder / "copy").rglob("*.key"))
    session.well("--store", "copy", "verify")
    session.well("--store", "copy", "trace", id)
    session.well("--store", "copy", "prove", id)
    shown = json.loads(session.well("--store", "copy", "show", id, "-o", "json").out)
    assert (shown["kind"], shown["type"], shown["parent"]) == ("experience", "inference", [said])
    assert shown["sealed"]
    assert not {"content", "provenance", "confidence"} & set(shown)  # whose word it is, is sealed too
    session.refused("--store", "copy", "append", "x")


def test_a_log_holds_no_plaintext(session: Session) -> None:
    session.well("append", NEEDLE, "--user-id", "maya")
    for path in session.store.rglob("*"):
        if path.is_file() and "views" not in path.parts:
            assert NEEDLE.encode() not in path.read_bytes()
            assert b"maya" not in path.read_bytes()


def test_a_backup_is_a_store(session: Session) -> None:
    session.well("append", NEEDLE)
    assert "guard it well" in session.well("export", "backup").err
    shutil.rmtree(session.store)
    (session.folder / "backup").rename(session.store)
    assert texts(session) == [NEEDLE]
    session.well("append", "it goes on")
    assert session.is_clean()


def test_json_lines_go_into_another_store_once(session: Session) -> None:
    a = session.well("append", "a", "--tag", "t").id
    session.well("append", "b", "--type", "inference", "--parent", a)
    session.well("export", "--jsonl", "out.jsonl")
    session.well("init", "other")
    dry = json.loads(session.well("--store", "other", "import", "out.jsonl", "--dry-run", "-o", "json").out)
    assert (dry["would be added"], texts(session, "--store", "other")) == (2, [])
    done = json.loads(session.well("--store", "other", "import", "out.jsonl", "-o", "json").out)
    assert (done["added"], done["already known"]) == (2, 0)
    assert texts(session, "--store", "other") == ["a", "b"]
    again = json.loads(session.well("--store", "other", "import", "out.jsonl", "-o", "json").out)
    assert (again["added"], again["already known"]) == (0, 2)
    session.well("--store", "other", "verify")


def test_a_bad_line_of_an_import_is_named(session: Session) -> None:
    session.well("append", "a")
    lines = session.well("export", "--jsonl", "-").out
    session.well("init", "other")
    done = session.braid("--store", "other", "import", "-", stdin="not json\n" + lines)
    assert done.code == 1
    assert "-:1: " in done.err
    assert texts(session, "--store", "other") == ["a"]


def test_a_copy_of_a_store_is_no_export_to_import_and_no_zip(session: Session) -> None:
    session.well("append", "a")
    assert "--subject alone writes a zip" in session.refused("export", "all.zip")
    assert "--subject alone writes a zip" in session.refused("export", "--audit", "all.zip")
    assert not (session.folder / "all.zip").exists()
    session.well("export", "copy")
    session.well("init", "other")
    said = session.refused("--store", "other", "import", "copy")
    assert "copy: no evidence.jsonl is in it" in said
    assert "--jsonl" in said
    assert "No such file" not in said


@pytest.mark.parametrize("words", [(), ("there", "--jsonl", "x")])
def test_export_goes_to_one_place(session: Session, words: tuple[str, ...]) -> None:
    assert "--jsonl" in session.refused("export", *words)


def test_export_overwrites_nothing(session: Session) -> None:
    session.write("taken.jsonl", "mine")
    session.refused("export", "--jsonl", "taken.jsonl")
    assert (session.folder / "taken.jsonl").read_text(encoding="utf-8") == "mine"
    assert "choose another place" in session.refused("export", "memory")
    assert "not an empty folder" in session.refused("export", "guard")
    assert session.is_clean()


def test_an_export_that_fails_leaves_no_part_of_itself(session: Session) -> None:
    for word in ("one", "two", "three"):
        session.well("append", word)
    segment = next((session.store / "log").glob("*.seg"))
    data = bytearray(segment.read_bytes())
    data[-5] ^= 1  # the last body
    segment.write_bytes(data)
    session.refused("export", "--jsonl", "out.jsonl")
    assert [
        path.name for path in session.folder.iterdir() if "out" in path.name or "partial" in path.name
    ] == []


def test_one_record_for_other_tools(session: Session) -> None:
    id = session.well("append", "x").id
    shown = json.loads(session.well("export", "--dsse", id).out)
    assert shown["payloadType"] == "application/vnd.braid.record+json"
    session.well("export", "--in-toto", id, "statement.json")
    read = json.loads((session.folder / "statement.json").read_text(encoding="utf-8"))
    assert read["payloadType"] == "application/vnd.in-toto+json"
    assert "one record" in session.refused("export", "--dsse", id, "--in-toto", id)
    assert "one record" in session.refused("export", "--dsse", id, "--audit", "copy")
    session.refused("export", "--dsse", id[:-4] + "zzzz")
