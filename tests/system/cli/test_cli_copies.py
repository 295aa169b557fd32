"""`braid snapshot`, `backup` and `restore` as they are typed: what they print, refuse, and end with."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.system.cli.conftest import Session


def test_snapshots_are_made_used_refused_and_dropped(session: Session) -> None:
    session.well("append", "one")
    made = json.loads(session.well("snapshot", "-o", "json").out)
    assert (made["size"], made["parts"], made["trouble"]) == (4, ["duck", "catalog"], "")
    session.well("append", "two")
    assert f"begun from the snapshot {made['name']}" in session.well("replay").err
    assert "begun from" not in session.well("replay", "--from-scratch").err
    assert "1 snapshot: what the log gives" in session.well("verify", "--snapshot").err
    assert json.loads(session.well("verify", "--snapshot", "-o", "json").out) == []
    shown = json.loads(session.well("snapshot", "show", made["name"], "-o", "json").out)
    assert {part["name"] for part in shown["parts"]} == {"duck", "catalog"}
    folder = session.store / "views" / "snapshots" / made["name"]
    with (folder / "duck" / "claims.parquet").open("ab") as file:
        file.write(b"x")
    said = f"the snapshot {made['name']}: duck/claims.parquet holds other bytes than were signed; it was not used"
    assert said in session.well("replay").err
    found = session.braid("verify", "--snapshot")
    assert found.code == 1
    assert "holds other bytes than were signed" in found.out
    session.refused("snapshot", "show", "at-nowhere")
    session.refused("snapshot", "drop")
    session.refused("snapshot", "drop", made["name"], "--all")
    session.refused("verify", "--snapshot", "--deep")
    assert session.well("snapshot", "drop", "--all").out.split() == [made["name"]]
    assert "there is no snapshot" in session.well("verify", "--snapshot").err


def test_a_backup_and_coming_back(session: Session) -> None:
    session.well("append", "one")
    first = json.loads(session.well("backup", "backup", "-o", "json").out)
    assert (first["size"], first["before"], first["vault"]) == (4, 0, False)
    assert json.loads(session.well("backup", "backup", "-o", "json").out)["copied_bytes"] == 0
    assert "lies in the store" in session.refused("backup", session.store / "backup")
    shutil.copytree(session.store / "keys", session.folder / "keys")
    shutil.copy(session.store / "vault", session.folder / "vault")
    assert "exists and is not empty" in session.refused("restore", "backup")
    session.store.rename(session.folder / "lost")
    bare = session.well("--store", "bare", "restore", "backup")
    assert "without its vault nothing can be read" in bare.err
    assert "fork" not in bare.out
    secrets = ("--vault", "vault", "--keys", "keys")
    done = session.well("restore", "backup", *secrets, "-o", "json")
    assert json.loads(done.out)["guarded"]
    session.well("append", "two")
    assert session.is_clean()
    session.store.rename(session.folder / "newest")
    said = session.refused("restore", "backup", *secrets)
    assert "it is an older copy" in said
    forked = session.well("restore", "backup", *secrets, "--fork", "the disk died", "-o", "json")
    id = json.loads(forked.out)["fork"]
    assert f"the note of a fork, {id}" in forked.err
    assert "the disk died" in session.well("show", id).out
    session.well("append", "another two")
    assert session.is_clean()
    assert "older copy" in session.refused("--store", "newest", "append", "x")


def test_what_is_no_backup_is_refused(session: Session) -> None:
    assert "is no backup" in session.refused("--store", "new", "restore", session.store)
    file = session.write("big.jsonl", "{}")
    said = session.refused("--store", "new", "restore", file)
    assert "big.jsonl is a file: a backup is a folder" in said
    (session.folder / "full").mkdir()
    session.write("full/letter", "dear")
    assert "holds something else than a backup" in session.refused("backup", "full")
