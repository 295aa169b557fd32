"""Operators' commands: a signed head to keep, the vault on another disk, a guard adopted, sharing with a service."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.system.cli.conftest import Session


def test_a_signed_head_is_published_and_written_out(session: Session) -> None:
    session.well("append", "x")
    note = session.well("checkpoint").out
    assert note == (session.store / "checkpoint").read_text(encoding="utf-8")
    assert note.splitlines()[1] == "4"
    assert "signed head of 4 records" in session.well("checkpoint", "-O", "head").err
    assert (session.folder / "head").read_text(encoding="utf-8") == note


def test_the_vault_is_moved(session: Session) -> None:
    id = session.well("append", "secret words").id
    assert "vault" in session.well("move-vault", "elsewhere", "--dry-run").err
    assert (session.store / "vault").exists()
    assert session.well("move-vault", "elsewhere").out.strip() == str(session.folder / "elsewhere")
    assert "secret words" in session.well("show", id).out
    session.well("append", "y")
    session.well("verify", "--deep")
    session.write("taken", "mine")
    assert "another file" in session.refused("move-vault", "taken")
    shutil.rmtree(session.store)
    assert "there is no store" in session.refused("move-vault", "x")


def test_durability_is_chosen_by_a_signed_event(session: Session) -> None:
    settings = session.store / "store.json"
    session.well("append", "x")
    assert "from always to none" in session.well("durability", "none", "--dry-run").err
    assert session.well("durability", "none", "--reason", "an import").out.startswith("evt_")
    assert json.loads(session.well("status", "-o", "json").out)["durability"] == "none"
    session.well("durability", "always")
    settings.write_bytes(settings.read_bytes().replace(b"always", b"none"))
    said = session.well("append", "y").err
    assert said.count("no signed record supports: `always` counts") == 1
    assert "`braid durability none` signs it" in session.braid("doctor").out
    session.well("durability", "always")
    assert session.well("doctor").code == 0


def test_a_tile_is_mended_before_a_guard_is_adopted(session: Session) -> None:
    """Both are gone: what opens the store comes behind what mends it, or `doctor --fix` would advise itself."""
    session.well("append", "x")
    shutil.rmtree(session.folder / "guard")
    next(path for path in (session.store / "tile").rglob("*") if path.is_file()).write_bytes(b"")
    assert "`braid doctor --fix`" in session.refused("append", "y")
    mended = session.well("doctor", "--fix", "--adopt")
    assert "tiles: 1 written" in mended.out
    assert "remembers this copy" in mended.err
    session.well("append", "y")


def test_a_guard_is_adopted_by_doctor(session: Session) -> None:
    session.well("append", "x")
    shutil.rmtree(session.folder / "guard")
    shown = session.braid("doctor")
    assert shown.code == 1
    assert "braid doctor --adopt" in shown.out
    assert session.braid("doctor", "--adopt", "--dry-run").code == 1
    assert not (session.folder / "guard").exists()
    assert "4 records" in session.well("doctor", "--adopt").err
    session.well("append", "y")
    assert session.is_clean()


def test_verify_takes_the_pinned_key_from_a_file(session: Session) -> None:
    status = session.well("status", "-o", "csv").out
    session.write("vkey", next(line[5:] for line in status.splitlines() if line.startswith("vkey,")) + "\n")
    session.well("verify", "--key", "vkey")
    session.well("init", "other")
    assert session.braid("--store", "other", "verify", "--key", "vkey").code != 0


def test_what_tends_a_store_may_share_it(session: Session) -> None:
    ids = [session.well("append", text).id for text in ("one", "two")]
    hold = (
        "import braid, sys\n"
        "s = braid.open('memory', shared=True); s.append('held'); print('held', flush=True)\n"
        "sys.stdin.read(); s.append('and goes on'); s.close()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", hold],
        cwd=session.folder, env=session.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        session.well("forget", ids[0], "--shared")
        session.well("recover", ids[0], "--shared")
        session.well("erase", ids[1], "--yes", "--shared")
        session.well("retain", "--shared")
        session.well("compact", "--shared")
        session.well("checkpoint", "--shared")
    finally:
        holder.communicate()
    assert holder.returncode == 0
    session.well("verify", "--deep")


def test_what_to_bring_back_for_a_new_key(session: Session) -> None:
    (root,) = (session.store / "keys").glob("root-*")
    root.rename(session.folder / root.name)
    assert "bring keys/root-….key back" in session.refused("key", "admit", "recorder")
    (recorder,) = (session.store / "keys").glob("recorder-*")
    recorder.unlink()
    assert "braid key admit" in session.refused("append", "x")
    (session.folder / root.name).rename(root)
    session.well("key", "admit", "recorder")
    session.well("append", "x")


def test_what_was_verified_is_kept_though_nobody_reads_the_report(session: Session) -> None:
    session.well("append", "x")
    command = [sys.executable, "-c", "from braid.tools.cli.main import run; run()"]
    with subprocess.Popen(
        [*command, "verify", "--since", "--state", "kept.json"],
        cwd=session.folder, env=session.env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as verifying:  # fmt: skip
        assert verifying.stdout is not None
        verifying.stdout.close()  # as `| head` does
    assert verifying.returncode == 141
    assert (
        "1 records from 4"
        in session.braid("append", "y").out + session.well("verify", "--since", "--state", "kept.json").out
    )


def test_rotating_keys_by_command(session: Session) -> None:
    old = json.loads(session.well("status", "-o", "json").out)["vkey"]
    session.well("append", "before")
    told = session.well("key", "rotate", "log")
    new = told.out.strip()
    assert new != old
    assert "pinned the old one" in told.err
    keys = session.well("key", "list", "-o", "json")
    assert [row["id"] for row in json.loads(keys.out) if row["role"] == "log"] == [old, new]
    assert "two log keys sign heads" in keys.err
    session.well("key", "revoke", old, "--reason", "planned")
    assert json.loads(session.well("status", "-o", "json").out)["vkey"] == new
    for pinned in (old, new):
        assert session.well("verify", "--key", pinned).out.startswith("clean")
    recorder = next(row["id"] for row in json.loads(keys.out) if row["role"] == "recorder")
    other = session.well("key", "rotate", recorder, "--reason", "laptop").out.strip()
    session.well("append", "after")
    rows = {row["id"]: row for row in json.loads(session.well("key", "list", "-o", "json").out)}
    assert rows[recorder]["revoked"] is not None
    assert rows[other]["private"] is True
    assert "--lost goes with" in session.refused("key", "rotate", other, "--lost")
    assert "signs no records" in session.refused("key", "revoke", new, "--compromised-since", "3")
    assert "only one" in session.refused("key", "revoke", new)
    (session.store / "keys" / next(p.name for p in (session.store / "keys").glob("log-*"))).unlink()
    assert "key rotate log --lost" in session.refused("append", "no")
    session.well("key", "rotate", "log", "--lost", "--reason", "disk broke")
    session.well("append", "again")
    assert session.well("verify", "--key", old).out.startswith("clean")


def test_sealing_needs_a_passphrase(session: Session) -> None:
    assert "the vault has no passphrase" in session.refused("key", "seal")
