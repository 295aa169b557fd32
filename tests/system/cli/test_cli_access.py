"""`export --subject`, `check-proof` of it, and `import`: what a person is given, checks, and takes elsewhere."""

from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.system.cli.conftest import Session

NEEDLE = "xylophone-4711-quetzal"


@pytest.fixture
def peopled(session: Session) -> Session:
    """A session whose store knows two people."""
    id = session.well("append", "Maya moved to Porto.", "--user-id", "maya").id
    session.well("append", "More of it.", "--type", "inference", "--parent", id)
    session.well("append", f"Jonas, {NEEDLE}.", "--user-id", "jonas")
    return session


def vkey(session: Session) -> str:
    key: str = json.loads(session.well("status", "-o", "json").out)["vkey"]
    return key


def given(session: Session, *words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(session.well("export", "--subject", *words, "-o", "json").out)
    return found


@pytest.mark.parametrize("dest", ["maya", "maya.zip"])
def test_a_person_is_given_all_and_checks_it(peopled: Session, dest: str) -> None:
    counts = given(peopled, "user_id=maya", dest)
    assert (counts["own"], counts["derived"], counts["shared"]) == (1, 1, 0)
    path = peopled.folder / dest
    assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)
    shown = json.loads(peopled.well("check-proof", dest, "--key", vkey(peopled), "-o", "json").out)
    assert (shown["records"], shown["subject"]) == (2, "user_id=maya")
    peopled.refused("export", "--subject", "user_id=maya", dest)


def test_an_own_record_from_somebody_elses_is_counted_and_warned_of(peopled: Session) -> None:
    listed = json.loads(peopled.well("log", "--kind", "experience", "-o", "json").out)
    parents = [word for record in (listed[0], listed[-1]) for word in ("--parent", record["id"])]
    peopled.well("append", "mixed", "--type", "inference", *parents, "--user-id", "maya")
    done = peopled.well("export", "--subject", "user_id=maya", "maya", "-o", "json")
    counts = json.loads(done.out)
    assert (counts["own"], counts["shared"]) == (2, 1)
    assert "1 record of it also derived from other people's" in done.err


def test_nothing_of_others_leaves(peopled: Session) -> None:
    peopled.well("export", "--subject", "user_id=maya", "maya")
    for path in (peopled.folder / "maya").rglob("*"):
        assert path.is_dir() or NEEDLE.encode() not in path.read_bytes()


def test_a_dry_run_writes_nothing(peopled: Session) -> None:
    before = sorted(path.name for path in peopled.folder.iterdir())
    done = peopled.well("export", "--subject", "user_id=maya", "--dry-run", "-o", "json")
    assert json.loads(done.out)["own"] == 1
    assert "nothing was written" in done.err
    assert sorted(path.name for path in peopled.folder.iterdir()) == before


def test_what_was_changed_does_not_hold(peopled: Session) -> None:
    peopled.well("export", "--subject", "user_id=maya", "maya")
    path = peopled.folder / "maya" / "records.json"
    path.write_text(path.read_text(encoding="utf-8").replace("Porto", "Paris"), encoding="utf-8")
    said = peopled.refused("check-proof", "maya", "--key", vkey(peopled), code=1)
    assert "records.json is not the file" in said


def test_it_goes_into_another_store_with_its_evidence(peopled: Session) -> None:
    peopled.well("export", "--subject", "user_id=maya", "maya.zip")
    key = vkey(peopled)
    peopled.well("init", "other")
    done = json.loads(peopled.well("--store", "other", "import", "maya.zip", "--key", key, "-o", "json").out)
    assert (done["added"], done["already known"], done["skipped"]) == (2, 0, 0)
    again = json.loads(peopled.well("--store", "other", "import", "maya.zip", "--key", key, "-o", "json").out)
    assert (again["added"], again["already known"]) == (0, 2)
    listed = json.loads(peopled.well("--store", "other", "log", "--kind", "experience", "-o", "json").out)
    new = listed[-1]["id"]
    shown = json.loads(peopled.well("--store", "other", "show", new, "-o", "json").out)
    assert shown["imported"]["origin"] in key
    assert shown["parents"] == [listed[0]["id"]]
    peopled.well("--store", "other", "prove", "--original", new, "-O", "first.tlog-proof")
    held = json.loads(peopled.well("check-proof", "first.tlog-proof", "--key", key, "-o", "json").out)
    assert held["id"] == shown["imported"]["id"]
    assert peopled.well("--store", "other", "verify", "--deep").code == 0


def test_only_imported_records_have_an_original(peopled: Session) -> None:
    id = peopled.well("append", "x").id
    assert "first log" in peopled.refused("prove", "--original", id)


def test_an_import_is_held_against_the_key_that_was_given(peopled: Session) -> None:
    peopled.well("export", "--jsonl", "out.jsonl")
    assert stat.S_IMODE((peopled.folder / "out.jsonl").stat().st_mode) == 0o600
    peopled.well("init", "other")
    wrong = json.loads(peopled.well("--store", "other", "status", "-o", "json").out)["vkey"]
    said = peopled.refused("--store", "other", "import", "out.jsonl", "--key", wrong)
    assert "the key is of" in said
    assert "the key in the export was believed" in peopled.well("--store", "other", "import", "out.jsonl").err


def test_a_store_does_not_import_itself(peopled: Session) -> None:
    peopled.well("export", "--jsonl", "out.jsonl")
    assert "this very log" in peopled.refused("import", "out.jsonl")


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--subject", "maya", "x"), "NAME=VALUE"),
        (("--subject", "user_id=", "x"), "NAME=VALUE"),
        (("--subject", "colour=red", "x"), "unknown colour"),
        (("--subject", "user_id=a", "--subject", "user_id=b", "x"), "twice"),
        (("--subject", "user_id=a"), "give a new folder"),
        (("--subject", "user_id=a", "--audit", "x"), "alone"),
        (("--dry-run", "x"), "--dry-run goes with --subject"),
        (("--subject", "user_id=nobody", "x"), "nothing is held about user_id=nobody"),
        (("--subject", "user_id=nobody", "--dry-run"), "nothing is held about user_id=nobody"),
    ],
)
def test_what_makes_no_sense_is_refused(peopled: Session, words: tuple[str, ...], said: str) -> None:
    assert said in peopled.refused("export", *words)
    assert not (peopled.folder / "x").exists()
