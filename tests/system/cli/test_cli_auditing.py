"""`verify`, `prove`, `check-proof`: exit codes, formats, and what a forged proof meets."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.system.cli.conftest import Session


@pytest.fixture
def proven(session: Session) -> tuple[Session, str, str, Path]:
    """A session, the log's key, a record's id, and its proof far from the store."""
    session.well("append", "other")
    id = session.well("append", "x").id
    session.well("append", "another")
    path = session.folder / "p.tlog-proof"
    session.well("prove", id, "--out", path)
    return session, json.loads(session.well("status", "-o", "json").out)["vkey"], id, path


def test_a_proof_needs_no_store(
    proven: tuple[Session, str, str, Path], tmp_path_factory: pytest.TempPathFactory
) -> None:
    session, vkey, id, path = proven
    far = tmp_path_factory.mktemp("far")
    (far / "proof").write_bytes(path.read_bytes())
    session.folder = far
    shown = json.loads(session.well("check-proof", "proof", "--key", vkey, "-o", "json").out)
    assert shown["id"] == id
    assert shown["index"] == 4
    assert shown["tree size"] == 6
    assert shown["kind"] == "occurrence"
    (far / "log.vkey").write_text(vkey + "\n", encoding="utf-8")
    session.well("check-proof", "-", "--key", "log.vkey", stdin=path.read_bytes())
    assert list(far.iterdir()) == [far / "log.vkey", far / "proof"] or len(list(far.iterdir())) == 2


def test_a_proof_can_do_without_its_extra(proven: tuple[Session, str, str, Path]) -> None:
    session, vkey, id, path = proven
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    bare = session.write("bare", "".join(line for line in lines if not line.startswith("extra ")))
    assert "--leaf" in session.refused("check-proof", bare, "--key", vkey, code=1)
    session.well("prove", id, "--out", "again", "--envelope", "leaf")
    session.well("check-proof", bare, "--key", vkey, "--leaf", "leaf")
    other = session.well("append", "y").id
    wrong = session.write("wrong", session.well("show", other, "--envelope").out)
    assert "does not hold" in session.refused("check-proof", bare, "--key", vkey, "--leaf", wrong, code=1)


def test_a_proof_with_an_altered_line_does_not_hold(proven: tuple[Session, str, str, Path]) -> None:
    session, vkey, _, path = proven
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    for number, line in enumerate(lines):
        middle = len(line) // 2
        altered = line[:middle] + ("B" if line[middle] != "B" else "C") + line[middle + 1 :]
        session.write("forged", "".join([*lines[:number], altered, *lines[number + 1 :]]))
        assert "does not hold" in session.refused("check-proof", "forged", "--key", vkey, code=1)


def test_one_proof_of_several_records(session: Session) -> None:
    ids = [session.well("append", word).id for word in ("x", "y", "z")]
    vkey = json.loads(session.well("status", "-o", "json").out)["vkey"]
    told = session.well("prove", *ids, "-o", session.folder / "p.multi-proof")
    assert "3 records are in the log" in told.err
    shown = json.loads(session.well("check-proof", "p.multi-proof", "--key", vkey, "-o", "json").out)
    assert shown["ids"] == ids
    assert shown["verdict"] == "3 records are in the log"
    text = (session.folder / "p.multi-proof").read_text(encoding="utf-8")
    assert session.well("prove", *ids).out == text
    session.write("forged", text.replace("\nleaf 4 ", "\nleaf 6 "))
    assert "does not hold" in session.refused("check-proof", "forged", "--key", vkey, code=1)
    assert "one record" in session.refused("prove", *ids, "--original")
    session.refused("prove", ids[0], ids[1][:-4] + "zzzz")


def test_another_logs_key(proven: tuple[Session, str, str, Path]) -> None:
    session, _, _, path = proven
    session.well("init", "other")
    key = json.loads(session.well("--store", "other", "status", "-o", "json").out)["vkey"]
    assert "does not hold" in session.refused("check-proof", path, "--key", key, code=1)
    session.refused("check-proof", path, "--key", "nonsense")
    session.refused("check-proof", "nowhere", "--key", key)


def test_an_audit_in_every_form(session: Session) -> None:
    session.well("append", "x")
    shown = session.well("verify", "--deep", "--report", "audit.html")
    assert shown.out.startswith("clean: all 4 records")
    assert "<html" in (session.folder / "audit.html").read_text(encoding="utf-8")
    said = json.loads(session.well("verify", "-o", "json").out)
    assert (said["exit_code"], said["records"], said["findings"]) == (0, 4, [])
    session.well("verify", "--hash-only")
    session.refused("verify", "--hash-only", "--deep")


def test_a_daily_audit_costs_the_day(session: Session) -> None:
    session.well("append", "x")
    first = session.well("verify", "--since", "-o", "json")
    assert json.loads(first.out)["records"] == 4
    assert "nothing was verified before" in first.err
    session.well("append", "y")
    assert json.loads(session.well("verify", "--since", "-o", "json").out)["records"] == 1
    session.well("verify", "--since", "--state", "mine")
    assert (session.folder / "mine").exists()
    session.write("mine", "nonsense")
    assert "not what an earlier verification left" in session.refused("verify", "--since", "--state", "mine")


def test_a_pinned_key_is_held_against_the_log(session: Session) -> None:
    session.well("append", "x")
    vkey = json.loads(session.well("status", "-o", "json").out)["vkey"]
    session.well("verify", "--key", vkey)
    session.well("init", "other")
    other = json.loads(session.well("--store", "other", "status", "-o", "json").out)["vkey"]
    assert session.braid("verify", "--key", other).code == 1


def test_a_scope_is_checked_for_omissions(session: Session) -> None:
    session.well("init", "chained", "--scope-chains")
    for n in range(3):
        session.well("--store", "chained", "append", f"n {n}", "--user-id", "maya")
    shown = json.loads(
        session.well("--store", "chained", "verify", "--scope", "user_id=maya", "-o", "json").out
    )
    assert (shown["records"], shown["unchained"], shown["problems"]) == (3, 0, [])
    session.well("append", "x", "--user-id", "maya")
    assert "init --scope-chains" in session.well("verify", "--scope", "user_id=maya").err
    assert "NAME=VALUE" in session.refused("verify", "--scope", "maya")
    assert "a scope is" in session.refused("verify", "--scope", "color=red")
    assert "goes alone" in session.refused("verify", "--scope", "user_id=maya", "--deep")
