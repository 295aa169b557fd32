"""The DuckDB projection: what its rows say, and that replay and catch-up make the same."""

import shutil
import subprocess
import sys
from base64 import b64encode
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest
from nacl.utils import random

from braid.affect.turn import METHOD, tone
from braid.ledger.keys.author_key import ROLE_KINDS, Signer
from braid.ledger.read.reader import Reader
from braid.ledger.record import validate
from braid.ledger.record.record import KINDS, Draft, EventBody, KeyBody
from braid.ledger.write import compose
from braid.ledger.write.create import admission
from braid.tools.lab.schema_doc import schema_page
from braid.views import replay as driver
from braid.views.duck import projection as duck
from braid.views.duck.macros import VIEWS
from braid.views.duck.schema import CHECKPOINTS, TABLES, VERSION, Table
from braid.views.errors import DamagedViewError
from braid.views.store import Views
from braid.wal import failpoint


class DeathError(Exception):
    """Stands for the process dying at a failpoint."""


def only(rows: list[dict[str, Any]]) -> dict[str, Any]:
    assert len(rows) == 1
    return rows[0]


def test_a_file_that_is_followed_is_opened_with_what_was_kept(bench: Any) -> None:
    duck._IDLE.clear()
    bench.say("one")
    bench.views.catch_up()
    bench.say("two")
    bench.views.catch_up()
    (kept,) = duck._IDLE
    bench.say("three")
    bench.views.catch_up()
    assert [kept] == duck._IDLE
    assert [name for (name,) in kept.execute("SHOW DATABASES").fetchall()] == ["memory"]
    assert len(bench.rows("SELECT text FROM experiences")) == 3


def test_two_files_are_followed_at_once(bench: Any, tmp_path: Path) -> None:
    """Of what is kept one has the use, the other begins its own."""
    bench.say("one")
    bench.views.catch_up()
    other = tmp_path / "other.duckdb"
    shutil.copy(bench.work, other)
    first = duck.DuckView.open(bench.work, tmp_path / "checkpoints")
    second = duck.DuckView.open(other, tmp_path / "checkpoints")
    assert first.stamp == second.stamp
    first.close()
    second.close()
    assert len(duck._IDLE) == 1


def test_what_failed_is_not_kept(bench: Any, tmp_path: Path) -> None:
    """A transaction that was not ended goes with its connection: the next file is not followed inside it."""
    bench.say("one")
    bench.views.catch_up()
    view = duck.DuckView.open(bench.work, tmp_path / "checkpoints")
    view._con.execute("BEGIN; DELETE FROM view_state.meta")
    view.close()
    assert view._con not in duck._IDLE
    with pytest.raises(duckdb.ConnectionException, match="closed"):
        view._con.execute("SELECT 1")
    bench.say("two")
    bench.views.catch_up()
    assert len(bench.rows("SELECT text FROM experiences")) == 2


def test_a_batch_that_failed_is_made_again(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It dies inside its transaction; the file that is followed next stands where it stood before."""
    bench.say("one")
    bench.views.catch_up()
    bench.say("two")
    before = bench.work.stat().st_ino
    with monkeypatch.context() as patch:
        patch.setattr(duck, "read_history", lambda *_: (_ for _ in ()).throw(DeathError))
        with pytest.raises(DeathError):
            bench.views.catch_up()
    bench.views.catch_up()
    assert bench.work.stat().st_ino == before
    assert len(bench.rows("SELECT text FROM experiences")) == 2


def test_every_member_of_an_experience_has_its_column(bench: Any, one_of_each: Any) -> None:
    ids = one_of_each(bench)
    row = only(bench.rows("FROM experiences WHERE id = ?", [ids["inferred"]]))
    record = bench.writer.get(ids["inferred"])
    assert row.pop("created_at").isoformat() + "Z" == record.envelope.created_at
    assert row == {
        "log_index": record.index,
        "id": record.id,
        "type": "inference",
        "key_id": record.envelope.key,
        "tx": record.envelope.tx[0],
        "sealed_bytes": record.envelope.body[1],
        "disputed": False,
        "support_erased": False,
        "standing": "living",
        "superseded_by": None,
        "occurred_at": datetime(2024, 5, 6, 7, 8, 9, 10),  # noqa: DTZ001 - the column is UTC without a zone
        "happened_at": datetime(2024, 5, 6, 7, 8, 9, 10),  # noqa: DTZ001
        "user_id": "u",
        "agent_id": "a",
        "run_id": "r",
        "project_id": "p",
        "session_id": "s",
        "external_id": "x1",
        "once": "once-1",
        "tags": ["t1", "t2"],
        "reason": "because",
        "text": "full ✓ 'quoted'",
        "structured": '{"b":[1,2.5,null],"a":{"x":"y"}}',
        "media": '[{"blob":"'
        + "ab" * 32
        + '","size":512,"media_type":"image/png","name":"a.png","caption":null}]',
        "actor": "tool(search)",
        "source_class": "tool",
        "name": "Finder",
        "method": "import",
        "sources": '[{"uri":"https://a.example","hash":"sha256:0"}]',
        "evidence_uris": ["uri:1", "uri:2"],
        "confidence_p": 0.5,
        "confidence_method": "calibrated",
        "valence": -0.25,
        "arousal": 0.5,
        "dominance": 0.125,
        "affect_labels": ["calm", "wry"],
        "affect_intensity": 1.0,
        "affect_confidence": 0.0,
        "affect_method": "stated",
        "embeddings": '{"semantic":"vec://1"}',
    }


def test_the_key_of_a_blob_is_never_shown(bench: Any, one_of_each: Any) -> None:
    one_of_each(bench)
    bench.views.catch_up()
    assert "c2VjcmV0" not in repr(bench.contents())


def test_other_kinds(bench: Any, one_of_each: Any) -> None:
    ids = one_of_each(bench)
    claims = bench.rows(
        "SELECT subject, rel, object, polarity, valid_from, source_type, quote FROM claims ORDER BY k"
    )
    assert [tuple(claim.values()) for claim in claims] == [
        ("Ann", "lives in", "Rome", True, datetime(2020, 1, 2), "explicit", "I moved"),  # noqa: DTZ001
        ("Ann", "likes", "rain", False, None, "inferred", None),
    ]
    links = bench.rows("SELECT role, target_id, diff FROM links WHERE id = ? ORDER BY k", [ids["inferred"]])
    assert [link["role"] for link in links] == ["parent", "evidence"]
    assert [link["target_id"] for link in links] == [ids["first"], ids["second"]]
    assert links[0]["diff"] is None
    assert '"added":"more"' in links[1]["diff"]
    view = only(bench.rows("SELECT lens, version, added, removed, text FROM views"))
    assert view == {
        "lens": "causal",
        "version": "2",
        "added": '{"why":1}',
        "removed": '"noise"',
        "text": "seen",
    }
    stance = only(bench.rows("SELECT question, decision, residual_uncertainty u FROM stances"))
    assert stance == {"question": "which?", "decision": "this", "u": 0.125}
    candidates = bench.rows("SELECT target_id, claim, p FROM candidates ORDER BY k")
    assert candidates[1] == {"target_id": ids["second"], "claim": "that", "p": 0.25}
    affect = only(bench.rows("SELECT experience_id, stage, valence, signals FROM affect_snapshots"))
    assert affect == {"experience_id": ids["first"], "stage": "input", "valence": 0.5, "signals": '{"!":2}'}
    signatures = bench.rows("SELECT experience_id, model, label, metadata FROM signatures ORDER BY k")
    assert signatures[1] == {
        "experience_id": ids["second"],
        "model": "m1",
        "label": "l",
        "metadata": '{"k":1}',
    }
    event = only(bench.rows("SELECT name, data, op FROM events"))
    assert event == {"name": "review", "data": '{"n":1}', "op": None}


def test_a_captured_turn_has_its_tone_and_the_worth_of_its_word_from_the_start(bench: Any) -> None:
    said, asked = bench.say("I love it, thank you so much!", "Это")
    row = only(bench.rows("SELECT * FROM affect"))
    assert (row["id"], row["experience_id"], row["actor"], row["stage"]) == (
        said.id,
        said.id,
        "user",
        "input",
    )
    read = tone("I love it, thank you so much!")
    assert read is not None
    assert (row["valence"], row["arousal"], row["dominance"]) == read[:3]
    assert (row["primary_emotion"], row["confidence"], row["method"]) == ("joy", read.confidence, METHOD)
    worth = bench.rows("SELECT id, confidence_p, confidence_method FROM experiences ORDER BY log_index")
    assert [tuple(one.values()) for one in worth] == [(said.id, 0.7, "prior"), (asked.id, 0.7, "prior")]
    bench.tombstone("forget", said.id)
    bench.views.catch_up()
    assert bench.rows("SELECT id FROM affect") == []
    same_as_replay(bench)


def test_a_snapshot_of_a_turn_stands_in_the_place_of_what_was_read_of_it(
    bench: Any, one_of_each: Any
) -> None:
    ids = one_of_each(bench)
    rows = bench.rows("SELECT id, method FROM affect WHERE experience_id = ?", [ids["first"]])
    assert rows == [{"id": ids["affect"], "method": "snapshot"}]


def test_transactions_keys_and_checkpoints(bench: Any) -> None:
    bench.say("one", "two")
    bench.writer.checkpoint()
    found = bench.rows("SELECT tx, name, first_index, records FROM transactions ORDER BY tx")
    assert found == [
        {"tx": 0, "name": "wal_000000", "first_index": 0, "records": 3},
        {"tx": 1, "name": "wal_000001", "first_index": 3, "records": 2},
    ]
    keys = bench.rows("SELECT role, log_index, revoked_index FROM keys ORDER BY log_index")
    assert [tuple(key.values()) for key in keys] == [
        ("root", 0, None),
        ("operator", 1, None),
        ("recorder", 2, None),
    ]
    heads = bench.rows("SELECT size, root, log_index, note FROM checkpoints ORDER BY size")
    assert heads[-1]["size"] == 5
    assert heads[-1]["root"] == b64encode(bench.writer.published.root).decode()
    assert heads[-1]["note"].encode() == bench.writer.checkpoint_note
    assert bench.rows("SELECT count(DISTINCT size) = count(*) ok FROM checkpoints") == [{"ok": True}]


def test_every_table_and_column_has_its_comment(bench: Any) -> None:
    assert (
        bench.rows("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main' AND comment IS NULL")
        == []
    )
    assert (
        bench.rows(
            "SELECT * FROM duckdb_columns() WHERE schema_name = 'main' AND comment IS NULL AND NOT internal"
        )
        == []
    )
    named = {row["name"] for row in bench.rows("SHOW TABLES")}
    assert named == {each.name for each in (*TABLES, CHECKPOINTS, *VIEWS)}
    for table in (*TABLES, CHECKPOINTS):
        assert [column.name for column in table.columns][:2] == ["log_index", "id"]


def test_a_file_begun_from_another_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duck, "_EMPTY", [])
    definitions: list[list[Any]] = []
    for name in ("defined", "copied"):
        path = tmp_path / f"{name}.duckdb"
        view = duck.DuckView.create(path, tmp_path / "checkpoints")
        assert view.stamp is None
        view.close()
        assert path.stat().st_mode & 0o777 == 0o600
        con = duck.connect(path, read_only=True)
        definitions.append([
            con.execute(f"FROM {what}() WHERE database_name = 'projection' ORDER BY ALL").fetchall()
            for what in ("duckdb_tables", "duckdb_columns")
        ])  # fmt: skip
        assert con.execute("SELECT sum(estimated_size) FROM duckdb_tables()").fetchall() == [(0,)]
        con.close()
    assert len(duck._EMPTY) == 1
    assert (tmp_path / "copied.duckdb").read_bytes() == duck._EMPTY[0]
    assert all(definitions[0])
    assert definitions[0] == definitions[1]


def test_the_page_of_the_schema_is_up_to_date() -> None:
    page = Path(__file__).parents[3] / "docs" / "schema.md"
    assert page.read_text("utf-8") == schema_page(), (
        "run: python -m braid.tools.lab.schema_doc > docs/schema.md"
    )


def same_as_replay(bench: Any) -> None:
    """Catching up has made what a replay makes, and both what they say."""
    caught = bench.contents()
    assert bench.views.check() == []
    bench.views.replay("duck")
    assert bench.contents() == caught


def test_forgetting_hides_and_recovering_shows(bench: Any, one_of_each: Any) -> None:
    ids = one_of_each(bench)
    assert bench.views.catch_up()[0].rebuilt is not None
    bench.tombstone("forget", *ids.values())
    caught = bench.views.catch_up()[0]
    assert (caught.rebuilt, caught.again) == (None, len(ids))
    for table in (
        "experiences",
        "claims",
        "views",
        "stances",
        "candidates",
        "justifications",
        "affect",
        "affect_snapshots",
        "signatures",
        "events",
    ):
        assert bench.rows(f"SELECT id FROM {table}") == []
    assert {row["role"] for row in bench.rows("SELECT role FROM links")} == {"target"}
    named = bench.rows("SELECT op, target_id, reason FROM tombstones")
    assert {row["target_id"] for row in named} == set(ids.values())
    assert {(row["op"], row["reason"]) for row in named} == {("forget", "why not")}
    assert len(bench.rows("FROM transactions")) == 5
    same_as_replay(bench)
    bench.tombstone("recover", ids["inferred"], ids["stance"])
    bench.views.catch_up()
    assert bench.rows("SELECT text FROM experiences") == [{"text": "full ✓ 'quoted'"}]
    assert len(bench.rows("FROM candidates")) == 2
    same_as_replay(bench)


def test_forgotten_and_recovered_between_two_looks(bench: Any) -> None:
    (one, two) = bench.say("one", "two")
    bench.views.catch_up()
    bench.tombstone("forget", one.id, two.id)
    bench.tombstone("recover", one.id)
    (three,) = bench.say("three")
    bench.tombstone("forget", three.id)
    assert bench.rows("SELECT text FROM experiences") == [{"text": "one"}]
    same_as_replay(bench)


def test_erasing_rebuilds(bench: Any) -> None:
    one, two, three = bench.say("needle one", "two", "three")
    bench.views.catch_up()
    inode = bench.work.stat().st_ino
    erased = bench.tombstone("erase", one.id, kept=[two.id])
    caught = bench.views.catch_up()[0]
    assert caught.rebuilt == "records were erased"
    assert bench.work.stat().st_ino != inode
    assert bench.rows("SELECT text, support_erased FROM experiences ORDER BY log_index") == [
        {"text": "two", "support_erased": True},
        {"text": "three", "support_erased": False},
    ]
    assert bench.rows("SELECT log_index, target_id, role, epoch FROM tombstones ORDER BY k") == [
        {"log_index": erased, "target_id": one.id, "role": "target", "epoch": 1},
        {"log_index": erased, "target_id": two.id, "role": "kept", "epoch": 1},
    ]
    assert len(bench.rows("FROM transactions WHERE log_index = ?", [one.index])) == 1
    assert three.index < erased
    same_as_replay(bench)
    assert bench.views.catch_up()[0].rebuilt is None


def test_a_compromised_key_disputes_what_it_signed(bench: Any) -> None:
    signer = Signer.fresh("agent")
    bench.writer.append([admission(bench.writer.origin, signer)])
    one, two = bench.say("one", "two")
    recorder = bench.writer.envelope(two.index).key
    bench.views.catch_up()
    bench.writer.append(
        [
            Draft(
                kind="key",
                body=KeyBody(),
                public={"op": "revoke", "id": signer.id, "compromised_since": None},
            )
        ]
    )
    caught = bench.views.catch_up()[0]
    assert (caught.rebuilt, caught.again) == (None, 1)
    revoked = only(bench.rows("SELECT revoked_index FROM keys WHERE key_id = ?", [signer.id]))
    assert revoked["revoked_index"] == bench.writer.size - 1
    same_as_replay(bench)
    bench.writer.append(
        [
            Draft(
                kind="key",
                body=KeyBody(),
                public={"op": "revoke", "id": recorder, "compromised_since": two.index},
            )
        ]
    )
    assert bench.views.catch_up()[0].rebuilt == "a key was reported compromised"
    assert bench.rows("SELECT id, disputed FROM experiences ORDER BY log_index") == [
        {"id": one.id, "disputed": False},
        {"id": two.id, "disputed": True},
    ]
    same_as_replay(bench)


def test_an_auditors_copy_has_the_rows_of_its_envelopes(bench: Any, one_of_each: Any, tmp_path: Path) -> None:
    ids = one_of_each(bench)
    bench.writer.checkpoint()
    copy = tmp_path / "copy"
    shutil.copytree(bench.path, copy, ignore=shutil.ignore_patterns("vault", "views", "keys"))
    reader = Reader(copy)
    views = Views(copy / "views", reader)
    try:
        row = views.sql("FROM experiences WHERE id = ?", [ids["inferred"]]).table.to_pylist()[0]
        assert row["text"] is None
        assert row["type"] == "inference"
        assert len(views.sql("FROM candidates").table) == 2
        assert len(views.sql("FROM claims").table) == 0
        assert views.check() == []
        shutil.copy(bench.path / "vault", copy / "vault")
        with_vault = Reader(copy)
        again = Views(copy / "views", with_vault)
        assert again.catch_up()[0].rebuilt is not None
        assert len(again.sql("FROM claims").table) == 2
        again.close()
        with_vault.close()
    finally:
        views.close()
        reader.close()


@pytest.mark.soak
def test_small_batches_give_the_same(bench: Any, one_of_each: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = list(one_of_each(bench).values())
    said = [one.id for k in range(40) for one in bench.say(*(f"{k} {n}" for n in range(20)))]
    bench.views.catch_up()
    bench.tombstone("forget", *ids, *said[::3])
    bench.say("more")
    monkeypatch.setattr(driver, "BATCH_RECORDS", 1)
    monkeypatch.setattr(driver, "AGAIN_RECORDS", 7)
    bench.views.catch_up()
    small = bench.contents()
    assert bench.views.check() == []
    bench.views.replay("duck")
    assert bench.contents() == small
    monkeypatch.undo()
    bench.views.replay("duck")
    assert bench.contents() == small


@pytest.mark.soak
def test_what_is_made_again_and_again_takes_no_more_room(bench: Any) -> None:
    said = [one.id for _ in range(10) for one in bench.say(*(f"{n} " + "word " * 200 for n in range(40)))]
    bench.views.catch_up()
    size = bench.work.stat().st_size
    for k in range(12):
        bench.tombstone("forget" if k % 2 == 0 else "recover", *said[:20])
        bench.views.catch_up()
    assert bench.work.stat().st_size < 4 * size


@pytest.mark.sample(20)
@pytest.mark.parametrize(
    ("change", "found"),
    [
        ("UPDATE experiences SET text = 'two!' WHERE log_index = 4", "not those that were made"),
        (
            "UPDATE experiences SET happened_at = happened_at + INTERVAL 1 MICROSECOND WHERE log_index = 4",
            "not those that were made",
        ),
        ("DELETE FROM experiences WHERE log_index = 4", "rows were removed"),
        ("INSERT INTO claims (log_index, k, subject) VALUES (4, 0, 'I')", "claims: rows were added"),
        ("INSERT INTO claims (log_index, k, subject) VALUES (400, 0, 'I')", "rows of no record"),
        ("UPDATE transactions SET records = 9 WHERE tx = 1", "not those that were made"),
        ("UPDATE tombstones SET reason = 'x'", "not those that were made"),
        ("DELETE FROM view_state.row_digests WHERE log_index = 4", "stored hash"),
        ("UPDATE experiences SET text = 'x' WHERE log_index = 4", "experiences: its rows are not those"),
        ("DELETE FROM links", "links: rows were removed"),
        ("DELETE FROM checkpoints", "history of signed heads"),
        ("UPDATE checkpoints SET size = 9", "history of signed heads"),
        (
            "UPDATE view_state.row_digests SET hash = '\\x00'::BLOB WHERE log_index = 4",
            "stored hash",
        ),
        ("UPDATE view_state.bucket_roots SET root = '\\x00'::BLOB", "roots of the buckets"),
        ("UPDATE view_state.meta SET digest = 'x'", "content digest"),
        ("DELETE FROM view_state.meta", "never finished"),
        ("DROP TABLE claims", "can't be read"),
    ],
)
def test_an_edit_is_found(bench: Any, change: str, found: str) -> None:
    _, two, three = bench.say("one", "two", "three")
    assert two.index == 4
    bench.tombstone("forget", three.id)
    bench.views.catch_up()
    assert bench.views.check() == []
    with duckdb.connect(bench.work) as con:
        con.execute(change)
    findings = bench.views.check()
    assert any(found in finding.message for finding in findings), findings
    assert all(finding.kind == "projection" for finding in findings)
    bench.views.replay("duck")
    assert bench.views.check() == []


def test_an_edit_whose_hashes_were_redone_is_found(bench: Any) -> None:
    bench.say("one", "two")
    bench.views.catch_up()
    with duckdb.connect(bench.work) as con:  # removed without a trace inside the file
        con.execute("DELETE FROM experiences WHERE log_index = 4")
        con.execute("DELETE FROM view_state.row_digests WHERE log_index = 4")
    messages = [(finding.index, finding.message) for finding in bench.views.check()]
    assert (4, "view_state.row_digests: its stored hash is not that of the record's rows") in messages


def damage(bench: Any, how: str) -> None:
    if how == "garbage":
        bench.work.write_bytes(random(50_000))
    elif how == "empty":
        bench.work.write_bytes(b"")
    elif how == "cut":
        bench.work.write_bytes(bench.work.read_bytes()[:20_000])
    elif how == "missing":
        bench.work.unlink()
    else:
        with duckdb.connect(bench.work) as con:
            con.execute(how)


@pytest.mark.sample(12)
@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("garbage", "can't be read"),
        ("empty", "finished|can't be read"),
        ("cut", "can't be read|written"),
        ("missing", "none yet"),
        ("DROP SCHEMA view_state CASCADE", "can't be read"),
        ("DELETE FROM view_state.meta", "never finished"),
        ("UPDATE view_state.meta SET stamp = '{}'", "stamp can't be read"),
        (
            f"UPDATE view_state.meta SET stamp = replace(stamp, '\"version\":{VERSION}', '\"version\":0')",
            "of version 0",
        ),
        ("UPDATE view_state.meta SET stamp = replace(stamp, 'braid.local', 'elsewhere')", "belongs to"),
        (
            "UPDATE view_state.meta SET stamp = replace(stamp, '\"position\":5', '\"position\":50')",
            "ahead of the log",
        ),
        (
            "UPDATE view_state.meta SET stamp = replace(stamp, '\"position\":5', '\"position\":4')",
            "another log",
        ),
        ("DROP TABLE claims", "could not be written"),
    ],
)
def test_a_working_file_that_cant_be_used_is_rebuilt(bench: Any, how: str, why: str) -> None:
    bench.say("one", "two")
    bench.views.catch_up()
    whole = bench.contents()
    damage(bench, how)
    bench.forge()
    if how.startswith("DROP TABLE"):
        bench.writer.append([three_claims()])
    bench.reopen()
    caught = bench.views.catch_up()[0]
    assert caught.rebuilt is not None
    assert any(part in caught.rebuilt for part in why.split("|")), caught.rebuilt
    if not how.startswith("DROP TABLE"):
        assert bench.contents() == whole
    assert bench.views.check() == []


def three_claims() -> Draft:
    from braid.ledger.record.record import Claim, ExperienceBody

    claim = Claim(subject="a", rel="b", object="c")
    return Draft(kind="experience", type="occurrence", body=ExperienceBody(symbolic=[claim, claim, claim]))


def die_at(name: str, nth: int = 1) -> None:
    left = nth

    def hook(passed: str) -> None:
        nonlocal left
        if passed == name:
            left -= 1
            if left == 0:
                raise DeathError(name)

    failpoint.arm(hook)


STEPS = [
    "views.commit",
    "views.commit.done",
    "views.fresh.sync",
    "views.fresh.sync.done",
    "views.swap",
    "views.swap.done",
    "views.generation.copy",
    "views.generation.copy.done",
    "views.current",
    "views.current.done",
    "views.current.renamed",
    "views.generation.drop",
    "views.generation.drop.done",
    "views.catalog.commit",
    "views.catalog.commit.done",
    "views.catalog.sync",
    "views.catalog.swap",
    "views.catalog.swap.done",
]


@pytest.mark.sample(36)
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("act", ["catch_up", "replay", "purge"])
def test_dying_at_each_step(bench: Any, act: str, step: str) -> None:
    one, _ = bench.say("needle", "two")
    bench.views.catch_up()
    bench.say("three", "four")
    if act == "purge":
        bench.tombstone("erase", one.id)
    die_at(step)
    try:
        getattr(bench.views, act)()
    except DeathError:
        pass
    finally:
        failpoint.arm(None)
    bench.reopen()
    bench.views.catch_up()
    same_as_replay(bench)
    assert bench.views.catalog.children(one.index) == (
        [(bench.writer.size - 1, bench.writer.envelope(bench.writer.size - 1).id, "target")]
        if act == "purge"
        else []
    )
    assert len(list(bench.duck.glob("gen-*"))) == 1
    if act == "purge":
        assert {row["text"] for row in bench.rows("SELECT text FROM experiences")} == {"two", "three", "four"}
        assert bench.views.purge()
        assert not [path for path in bench.duck.glob("*.duckdb*") if b"needle" in path.read_bytes()]


def test_projections_load_nothing_until_they_are_used() -> None:
    code = (
        "import sys, braid.views.store; "
        "assert not {'duckdb', 'pyarrow', 'lancedb'} & set(sys.modules), sorted(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_status(bench: Any) -> None:
    bench.say("one")
    duck, catalog = bench.views.status()
    assert (duck.position, duck.behind_by, duck.note) == (0, 4, "there is none yet")
    assert catalog.behind_by == 4
    bench.views.catch_up()
    bench.say("two")
    duck, catalog = bench.views.status()
    assert (duck.position, duck.behind_by, duck.unknown, duck.unreadable) == (4, 1, 0, 0)
    assert duck.digest.size == 4
    assert duck.digest.origin == bench.writer.origin
    assert duck.bytes > 0
    assert (catalog.position, catalog.behind_by) == (4, 1)


def test_a_kind_of_a_later_release_is_skipped_and_counted(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = bench.say("one")[0]
    with monkeypatch.context() as later:
        later.setattr(validate, "KINDS", (*KINDS, "weather"))
        later.setitem(compose._DECODE, "weather", compose._DECODE["event"])
        later.setitem(ROLE_KINDS, "recorder", ROLE_KINDS["recorder"] | {"weather"})
        storm = Draft(kind="weather", body=EventBody(name="storm"), links=[("evidence", one.id)])
        weather = bench.writer.append([storm])[0]
    bench.say("two")
    bench.views.catch_up()
    assert bench.views.status()[0].unknown == 1
    assert [row["text"] for row in bench.rows("SELECT text FROM experiences ORDER BY log_index")] == [
        "one",
        "two",
    ]
    assert bench.rows("FROM events") == []
    bench.tombstone("forget", weather.id)
    bench.views.catch_up()
    followed = bench.contents()
    assert bench.views.check() == []
    bench.views.replay()
    assert bench.contents() == followed
    assert bench.views.status()[0].unknown == 1


def test_dropping_and_replaying_by_name(bench: Any) -> None:
    bench.say("one")
    bench.views.catch_up()
    files = bench.views.drop()
    assert "views/duck/work.duckdb" in files
    assert "views/catalog.sqlite" in files
    assert not list(bench.duck.glob("*.duckdb*"))
    assert [caught.name for caught in bench.views.replay("catalog")] == ["catalog"]
    with pytest.raises(ValueError, match="no projection"):
        bench.views.replay("parrot")
    assert bench.rows("SELECT text FROM experiences") == [{"text": "one"}]


@pytest.mark.soak
def test_records_of_many_bytes_are_rebuilt_and_followed_in_little_memory(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row group is held whole when it is written again: with DuckDB's own size, one of 10,000 records of 100 kB was
    more than the limit, and nothing could be asked of such a store any more."""
    monkeypatch.setattr(duck, "_IDLE", [])  # an instance that is kept has the limit it was made with
    monkeypatch.setitem(duck.CONFIG, "memory_limit", "80MB")
    for first in range(0, 6_000, 1_000):
        bench.say(*(f"{first + k} {'x' * 10_000}" for k in range(1_000)))
        if first == 3_000:
            bench.views.replay()
    asked = "SELECT count(*) AS n, min(length(text)) > 10000 AS long FROM experiences"
    assert bench.rows(asked) == [{"n": 6_000, "long": True}]
    bench.views.close()
    with duckdb.connect(bench.work, read_only=True) as con:
        groups = con.execute(
            "SELECT DISTINCT row_group_id FROM pragma_storage_info('experiences')"
        ).fetchall()
    assert len(groups) == 3  # catching up fills groups of the same size as the rebuild


def test_records_too_long_for_its_memory_are_told(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duck, "_IDLE", [])  # an instance that is kept has the limit it was made with
    monkeypatch.setitem(duck.CONFIG, "memory_limit", "20MB")
    for first in range(0, 1_000, 500):
        bench.say(*(f"{first + k} {'x' * 30_000}" for k in range(500)))
    with pytest.raises(DamagedViewError, match="too long for the 20MB of memory"):
        bench.views.catch_up()


def test_a_copy_that_failed_leaves_no_file_attached(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """An erasure copies what lives out of a file that holds the erased: no instance that is kept may read it."""
    bench.say("one", "two")
    bench.views.catch_up()
    monkeypatch.setattr(duck, "_IDLE", [])
    other = Table("no_such_table", "", CHECKPOINTS.columns)
    with monkeypatch.context() as patch:
        patch.setattr("braid.views.duck.projection.TABLES", (*TABLES, other))
        with pytest.raises(DamagedViewError, match="could not be copied"):
            bench.views._duck.fresh_without([0])
    attached = [con.execute("SELECT database_name FROM duckdb_databases()").fetchall() for con in duck._IDLE]
    assert all({name for (name,) in one} <= {"memory", "system", "temp"} for one in attached)
    bench.views.catch_up()  # and what is kept, if anything is, serves on
