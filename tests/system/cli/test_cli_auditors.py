"""`publish`, `mirror`, `monitor`, `cosign`, `witness`: what they refuse and how they end."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from tests.system.cli.conftest import ENTRY

if TYPE_CHECKING:
    from pathlib import Path

    from tests.system.cli.conftest import Session


@pytest.fixture
def published(session: Session) -> Session:
    """A session with a record, its key in `log.vkey`, its log in `log`."""
    session.well("append", "x")
    session.write("log.vkey", json.loads(session.well("status", "-o", "json").out)["vkey"])
    session.write("nobody.policy", "quorum none\n")
    session.well("publish", "log")
    return session


def test_a_store_is_no_place_to_publish_to(published: Session) -> None:
    assert "lies in the store" in published.refused("publish", "memory/log")
    assert "which no published log has" in published.refused("publish", ".")


def test_a_mirror_of_a_folder_is_the_folder(published: Session) -> None:
    published.well("mirror", "log", "copy", "--key", "log.vkey")
    for path in ("checkpoint", "tile/0/000.p/4", "tile/entries/000.p/4"):
        assert (published.folder / "copy" / path).read_bytes() == (
            published.folder / "log" / path
        ).read_bytes()


def test_what_is_refused_is_named(published: Session) -> None:
    shutil.copytree(published.folder / "log", published.folder / "bad")
    entry = published.folder / "bad" / "tile" / "entries" / "000.p" / "4"
    entry.write_bytes(entry.read_bytes().replace(b"payload", b"paylaod", 1))
    assert "entry: entry 0" in published.refused("mirror", "bad", "copy", "--key", "log.vkey")
    assert not (published.folder / "copy" / "checkpoint").exists()
    assert "there is no log" in published.refused("mirror", "nowhere", "copy", "--key", "log.vkey")


def test_a_witness_reads_its_keys_again(published: Session) -> None:
    """A real process and a log whose key changes: both keys, then the new one; a file of no keys changes nothing."""
    old = (published.folder / "log.vkey").read_text("utf-8").strip()
    witness_key = published.well("witness", "w", "--name", "w.example/1", "--show-key").out.strip()
    keys, talk = published.write("log.keys", f"{old}\n"), published.folder / "talk"
    argv = [sys.executable, "-c", ENTRY, "witness", "w", "--log", "log.keys", "--listen", "127.0.0.1:0"]
    with (
        talk.open("wb") as err,
        subprocess.Popen(argv, cwd=published.folder, stderr=err, env=published.env) as witness,
    ):
        try:
            url = _told(talk, r" at (http[^;]+);")
            published.write("p", f"witness w {witness_key} {url}\nquorum w\n")
            published.well("publish", "log", "--policy", "p")
            new = published.well("key", "rotate", "log").out.strip()
            published.well("key", "revoke", old)
            assert "w did not cosign" in published.refused("publish", "log", "--policy", "p")
            for held, said in (
                (f"{old}\n{new}\n", "read again"),
                ("none\n", "stay what they were"),
                ("\n", "stay what they were: log.keys holds no key"),
                (f"{new}\n", r"(?s)read again.*read again"),
            ):
                keys.write_text(held, "utf-8")
                witness.send_signal(signal.SIGHUP)
                _told(talk, said)
                published.well("append", "y")
                assert "w cosigned" in published.well("publish", "log", "--policy", "p").err
        finally:
            witness.terminate()


def _told(talk: Path, pattern: str) -> str:
    """Wait until a process has said something, and return the part that was asked for."""
    end = time.monotonic() + 20
    while (found := re.search(pattern, talk.read_text("utf-8"))) is None:
        assert time.monotonic() < end, talk.read_text("utf-8")
        time.sleep(0.02)
    return found[found.re.groups]


def test_publishing_waits_for_a_quorum(published: Session) -> None:
    key = published.well("witness", "w", "--name", "w.example/1", "--show-key").out.strip()
    assert published.well("witness", "w", "--show-key").out.strip() == key
    assert "keeps its name" in published.refused("witness", "w", "--name", "other", "--show-key")
    published.write("p", f"witness w {key} http://127.0.0.1:1\nquorum w\n")
    before = (published.folder / "log" / "checkpoint").read_bytes()
    published.well("append", "y")
    said = published.refused("publish", "log", "--policy", "p")
    assert "w did not cosign: unreachable" in said
    assert "quorum: the head of 5 records lacks" in said
    assert (published.folder / "log" / "checkpoint").read_bytes() == before
    published.well("publish", "log", "--policy", "nobody.policy")
    assert (published.folder / "log" / "checkpoint").read_bytes() != before


def test_a_policy_that_is_none_is_refused(published: Session) -> None:
    published.write("p", "quorum w\n")
    assert "line 1: the quorum names" in published.refused("publish", "log", "--policy", "p")


def test_a_proof_under_a_policy(published: Session) -> None:
    id = published.well("append", "y").id
    published.well("cosign", "--policy", "nobody.policy", "-O", "head")
    published.well("append", "z")
    published.well("prove", "--under", "head", id, "-O", "proof")
    vkey = (published.folder / "log.vkey").read_text(encoding="utf-8")
    key = published.well("witness", "w", "--show-key").out.strip()
    published.write("known", f"log {vkey}\nquorum none\n")
    assert (
        json.loads(published.well("check-proof", "proof", "--policy", "known", "-o", "json").out)["tree size"]
        == 5
    )
    published.write("asked", f"log {vkey}\nwitness w {key}\nquorum w\n")
    assert "lacks the quorum" in published.refused("check-proof", "proof", "--policy", "asked", code=1)
    assert "which log" in published.refused("check-proof", "proof", "--policy", "nobody.policy")
    published.write("early", (published.folder / "log" / "checkpoint").read_bytes())
    assert "not under" in published.refused("prove", "--under", "early", id)


def test_a_monitor_ends_as_cron_needs_it(published: Session) -> None:
    assert "--key" in published.refused("monitor", "log", "--state", "seen")
    published.well("monitor", "log", "--state", "seen", "--key", "log.vkey")
    quiet = json.loads(published.well("monitor", "log", "--state", "seen", "-o", "json").out)
    assert quiet == {"alarms": [], "size": 4, "new": 0}
    shutil.copytree(published.folder / "log", published.folder / "older")
    published.well("append", "y")
    published.well("publish", "log")
    published.well("monitor", "log", "--state", "seen")
    assert published.braid("monitor", "older", "--state", "seen").out.startswith("rollback: ")
    assert published.braid("monitor", "older", "--state", "seen").code == 1
    assert published.braid("monitor", "http://127.0.0.1:1", "--state", "seen").code == 2
    assert published.braid("monitor", "nowhere", "--state", "seen").code == 2


def test_states_are_compared_offline(published: Session) -> None:
    published.well("monitor", "log", "--state", "a", "--key", "log.vkey")
    published.well("monitor", "memory", "--state", "b", "--key", "log.vkey")
    assert "the first 4 records" in published.well("monitor", "compare", "a", "b").out
    assert "no state" in published.refused("monitor", "compare", "a", "c")
    published.write("c", "{}")
    assert "not the state of a monitor" in published.refused("monitor", "compare", "a", "c")
    assert "compare takes" in published.refused("monitor", "compare", "a")


def test_addresses_and_keys_that_are_none_are_refused(published: Session) -> None:
    assert "host:port" in published.refused("serve-log", "log", "--listen", "8380")
    assert "--log" in published.refused("witness", "w")
