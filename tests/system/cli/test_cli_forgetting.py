"""Hidden, brought back, gone: what each command does to a needle that could be found before."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

import braid
from braid.admin.retention import Overdue
from braid.ledger.erase.cascade import plan
from braid.tools.cli.cascade import put_due

if TYPE_CHECKING:
    from pathlib import Path

    from tests.system.cli.conftest import Session

NEEDLE = "xylophone-4711-quetzal"
FIND = ("sql", f"SELECT count(*) AS n FROM experiences WHERE text LIKE '%{NEEDLE}%'", "-o", "json")


def found(session: Session) -> int:
    return int(json.loads(session.well(*FIND).out)[0]["n"])


def files_with(folder: Path, needle: bytes) -> list[str]:
    return [str(path) for path in folder.rglob("*") if path.is_file() and needle in path.read_bytes()]


def test_forgetting_hides_and_recovering_brings_back(session: Session) -> None:
    id = session.well("append", NEEDLE).id
    assert found(session) == 1
    session.well("forget", id, "--dry-run")
    assert found(session) == 1
    first = session.well("forget", id, "--reason", "asked to")
    assert found(session) == 0
    again = session.well("forget", id)
    assert (again.out, "forgotten already" in again.err) == (first.out, True)
    other = session.well("append", "Another.").id
    assert "is forgotten" in session.refused("forget", id, other)
    assert NEEDLE not in session.well("log").out
    assert "is forgotten" in session.refused("show", id)
    assert NEEDLE in session.well("show", id, "--forgotten").out
    session.well("recover", id, "--dry-run")
    session.refused("show", id)
    back = session.well("recover", id).out
    assert NEEDLE in session.well("show", id).out
    assert found(session) == 1
    assert session.well("recover", id).out == back
    assert "is not forgotten" in session.refused("recover", other)
    assert session.is_clean()


def test_retention_erases_what_is_past_its_window(empty: Session) -> None:
    empty.well("init", "--retention-days", "0")
    id = empty.well("append", NEEDLE).id
    assert "nothing is past" in empty.well("retain").err
    empty.well("forget", id)
    assert id in empty.well("retain", "--dry-run").out
    assert "is forgotten" in empty.refused("show", id)
    empty.well("retain")
    assert "erased" in empty.refused("show", id)
    assert empty.is_clean()


def test_a_dry_run_of_the_sweep_shows_records_and_jobs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with braid.open(tmp_path / "memory") as store:
        ids = [store.append("old"), store.append("wrong")]
        places = [store.reader.index_of(id) for id in ids]
        since = datetime(2025, 1, 1, tzinfo=UTC)
        due = [
            Overdue(what="forgotten", id=ids[0], index=places[0], since=since),
            Overdue(what="history", id=ids[1], index=places[1], since=since),
            Overdue(what="jobs", id="job_1", index=None, since=since),
            Overdue(what="dead", id="job_2", index=None, since=since),
        ]
        put_due(store, due, plan(store.reader, places), "json")
    rows = json.loads(capsys.readouterr().out)
    assert [(row["id"], row["fate"], row["why"]) for row in rows] == [
        (ids[0], "erase", "was forgotten"),
        (ids[1], "erase", "was corrected"),
        ("job_1", "drop", "is done"),
        ("job_2", "drop", "is dead"),
    ]


def test_a_dry_run_shows_the_cascade_and_changes_nothing(session: Session) -> None:
    asked = session.well("append", "asked", "--user-id", "maya").id
    other = session.well("append", "other").id
    derived = session.well("append", "derived", "--type", "inference", "--parent", asked).id
    kept = session.well("append", "kept", "--type", "inference", "--parent", asked, "--parent", other).id
    rows = json.loads(session.well("erase", "--where", "user_id=maya", "--dry-run", "-o", "json").out)
    assert {row["id"]: row["fate"] for row in rows} == {asked: "erase", derived: "erase", kept: "keep"}
    for id in (asked, derived, kept, other):
        session.well("show", id)
    session.well("erase", "--where", "user_id=maya", "--yes")
    for id in (asked, derived):
        assert "erased" in session.refused("show", id)
    tombstone = json.loads(session.well("log", "--kind", "tombstone", "-o", "json").out)[0]
    assert tombstone["target"] == [asked, derived]
    assert tombstone["kept"] == [kept]
    assert json.loads(session.well("show", tombstone["id"], "-o", "json").out) == tombstone
    assert f"rested on was erased by {tombstone['id']}" in session.well("show", kept).err
    assert not session.well("show", other).err
    assert session.is_clean()


def test_what_a_correction_replaced_stands_again_and_is_named(session: Session) -> None:
    old = session.well("append", "The code is 4711.").id
    new = session.well("correct", old, "The code is 8293.").id
    says = f"{old} stands again, since what replaced it goes"
    assert says in session.well("forget", new, "--only", "--dry-run").err
    assert says not in session.well("forget", new, "--dry-run").err
    assert says in session.well("erase", new, "--dry-run").err
    rows = json.loads(session.well("erase", new, "--dry-run", "-o", "json").out)
    assert (old, "again") in {(row["id"], row["fate"]) for row in rows}
    assert says in session.well("forget", new, "--only").err
    session.well("recover", new)
    assert says in session.well("erase", new, "--yes").err
    assert "4711" in session.well("recall", "code").out
    newest = session.well("correct", old, "The code is 8293.").id
    (certificate,) = json.loads(session.well("erase", newest, "--yes", "-o", "json").out)
    assert certificate["stands_again"] == [old]


def test_any_id_of_a_memory_forgets_all_of_it_and_brings_it_back(session: Session) -> None:
    old = session.well("append", "I live in Oslo.", "--user-id", "ana").id
    new = session.well("correct", old, "I live in Bergen.").id
    for one in (old, new):
        done = session.well("forget", one)
        assert "that go with it hidden" in done.err or "that goes with it hidden" in done.err
        assert "stands again" not in done.err
        assert "don't know" in session.well("ask", "Where do I live?", "--user-id", "ana").out
        session.well("recover", one)
        assert "Bergen" in session.well("ask", "Where do I live?", "--user-id", "ana").out
    assert "--only goes with record ids" in session.refused("forget", "--only", "--query", "Oslo")


def test_erasing_what_was_corrected_says_what_stays_of_the_memory(session: Session) -> None:
    old = session.well("append", "The code is 4711.").id
    new = session.well("correct", old, "The code is 8293.").id
    says = f"{new} corrects what goes, and stays: name it too, or give --whole"
    rows = json.loads(session.well("erase", old, "--dry-run", "-o", "json").out)
    assert {(old, "erase"), (new, "stay")} <= {(row["id"], row["fate"]) for row in rows}
    assert "stays" not in session.well("erase", old, new, "--dry-run").err
    assert says in session.well("erase", old, "--yes").err
    assert "8293" in session.well("recall", "code").out
    assert "stays" not in session.well("erase", old, "--whole", "--yes").err
    assert "8293" not in session.well("recall", "code").out
    assert "whole goes with ids" in session.refused("erase", "--where", "user_id=ana", "--whole", "--yes")


def test_a_memory_is_erased_whole_by_its_correction(session: Session) -> None:
    old = session.well("append", "The code is 4711.").id
    new = session.well("correct", old, "The code is 8293.").id
    assert "stands again" not in session.well("erase", new, "--whole", "--dry-run").err
    (certificate,) = json.loads(session.well("erase", new, "--whole", "--yes", "-o", "json").out)
    assert certificate["stands_again"] == []


def test_erasing_leaves_no_byte_of_it(session: Session) -> None:
    id = session.well("append", NEEDLE, "--user-id", "maya", "--session", "s-1").id
    session.well("append", "unrelated")
    assert found(session) == 1
    assert files_with(
        session.store, NEEDLE.encode()
    )  # a projection holds plaintext: so the needle can be found
    proof = session.folder / "p.tlog-proof"
    session.well("prove", id, "-O", proof)
    vkey = json.loads(session.well("status", "-o", "json").out)["vkey"]
    done = session.well("erase", "--session", "s-1", "--reason", "request", "--yes", "-o", "json")
    (certificate,) = json.loads(done.out)
    assert certificate["records"] == 1
    assert {"key", "body", "projections"} <= set(certificate["done"])
    assert found(session) == 0
    assert files_with(session.store, NEEDLE.encode()) == []
    assert "the record is in the log" in session.well("check-proof", proof, "--key", vkey).out
    before = json.loads(session.well("verify", "--deep", "-o", "json").out)["root"]
    assert re.match(r"\d+ bytes would be given back", session.well("compact", "--dry-run").out)
    session.well("compact")
    after = json.loads(session.well("verify", "--deep", "-o", "json").out)["root"]
    assert before == after
    assert session.well("compact", "--dry-run").out.startswith("0 ")


def test_erasing_asks_and_refuses_where_nobody_can_answer(session: Session) -> None:
    id = session.well("append", "x").id
    assert "--yes" in session.refused("erase", id)
    session.well("show", id)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ((), "nothing to erase"),
        (("user_id=a",), "give it as --where user_id=a"),
        (("--user-id", "a"), "given as --where user_id=…"),
        (("--where", "user_id"), "NAME=VALUE"),
        (("--where", "colour=red"), "unknown scope"),
        (("--where", "user_id=a", "--where", "user_id=b"), "nothing is in both"),
    ],
)
def test_what_can_not_be_erased(session: Session, words: tuple[str, ...], reason: str) -> None:
    assert reason in session.refused("erase", *words, "--yes")


def test_only_memories_can_be_erased(session: Session) -> None:
    for record in json.loads(session.well("log", "-n", "0", "-o", "json").out):
        assert "only memories" in session.refused("erase", record["id"], "--yes")
    assert session.is_clean()


def test_a_scope_that_nobody_is_in(session: Session) -> None:
    assert "nothing matches" in session.well("erase", "--where", "user_id=nobody", "--yes").err


def test_ingesting_again_brings_an_erased_turn_back(session: Session) -> None:
    """As the README says: what was erased is not known any more."""
    turn = json.dumps({"role": "user", "content": NEEDLE, "id": "t", "conversation": "c"})
    session.well("ingest", "-", stdin=turn)
    assert found(session) == 1
    (record,) = json.loads(session.well("log", "-n", "1", "-o", "json").out)
    session.well("erase", record["id"], "--yes")
    assert found(session) == 0
    assert "taken          1" in session.well("ingest", "-", stdin=turn).out
    assert found(session) == 1


def test_what_was_corrected_goes_by_a_signed_choice_and_a_certificate_names_it(empty: Session) -> None:
    assert "90 or 180" in empty.refused("init", "--privacy", "strict")
    assert "90 or 180" in empty.refused("init", "--privacy", "strict", "--history-days", "60")
    empty.well("init", "--privacy", "strict", "--history-days", "90")
    status = json.loads(empty.well("status", "-o", "json").out)["retention"]
    assert (status["history_days"], status["jobs_days"], status["dead_days"]) == (90, 14, 30)
    assert "kept for 90 days" in empty.well("status").out
    id = empty.well("append", NEEDLE).id
    empty.well("correct", id, "straw")
    assert "0 records to erase" in empty.well("retain", "--dry-run").err
    assert "nothing is past its retention window" in empty.well("retain").err
    assert json.loads(empty.well("retain", "-o", "json").out) == {
        "forgotten": [], "history": [], "jobs": [], "dead": [],
    }  # fmt: skip
    assert "belongs to no erasure" in empty.refused("certificate", id)
    assert id in empty.well("erase", "--says", NEEDLE.upper(), "--dry-run").out
    assert "nothing matches" in empty.well("erase", "--says", "nobody", "--yes").err
    empty.well("erase", "--says", NEEDLE, "--yes", "--reason", "asked to")
    shown = empty.well("certificate", id)
    assert id in shown.out
    assert "asked to" in shown.err
    assert json.loads(empty.well("certificate", id, "-o", "json").out)["records"][0]["id"] == id
    assert empty.is_clean()
