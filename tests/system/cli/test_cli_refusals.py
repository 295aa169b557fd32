"""What a person meets when something is wrong: one sentence, what to do next, an exit code, and nothing lost."""

from __future__ import annotations

import errno
import json
import pickle
import re
import resource
import shutil
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import braid
from tests.system.ledger.test_open import read_only

if TYPE_CHECKING:
    from tests.system.cli.conftest import Session

UNKNOWN = "exp_2026-01-31T09:30:00Z_0000zzzzzzzz".replace("z", "v")


def size(session: Session) -> int:
    return int(json.loads(session.well("status", "-o", "json").out)["records"])


# -- the store ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ("append", "x"), ("log",), ("show", UNKNOWN), ("status",), ("verify",), ("doctor",), ("sql", "SELECT 1"),
        ("replay",), ("compact",), ("retain",), ("key", "list"), ("erase", UNKNOWN, "--yes"), ("ingest", "-"),
        ("export", "there"),
    ],
    ids=lambda words: words[0],
)  # fmt: skip
def test_no_store_here(empty: Session, words: tuple[str, ...]) -> None:
    said = empty.refused(*words)
    assert "there is no store at memory" in said
    assert "braid init" in said
    assert not empty.store.exists()


def test_a_server_refuses_a_model_that_is_none_before_it_serves(session: Session) -> None:
    said = session.refused("serve", "--port", "0", "--model", "nope")
    assert "'nope' is not one of these" in said
    assert "serving" not in said


def test_a_port_that_another_program_has_is_refused_before_it_is_announced(session: Session) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = session.refused("serve", "--port", str(port))
    assert (
        f"port {port} of 127.0.0.1 can't be had (Address already in use): choose another with --port" in said
    )
    assert "serving" not in said
    assert not (session.store / "serve.sock").exists()


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (("append", "x"), "`ask` only read"),
        (("mcp",), "`braid mcp --kind model` only reads"),
        (("serve",), "a server needs to write"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_a_store_that_can_only_be_read_says_what_reads_it(
    session: Session, words: tuple[str, ...], advice: str
) -> None:
    with read_only(session.store):
        said = session.refused(*words)
        assert f"{session.store} can't be written here" in said
        assert advice in said
        with pytest.raises(OSError, match="`read_only=True`") as met:
            braid.open(session.store, guard_dir=session.env["BRAID_GUARD_DIR"])
        assert met.value.errno in (errno.EROFS, errno.EACCES)
        again = pickle.loads(pickle.dumps(met.value))
        assert (type(again), str(again), again.errno) == (type(met.value), str(met.value), met.value.errno)


def test_a_store_that_can_only_be_read_answers_in_every_way_that_reads(session: Session) -> None:
    session.well("append", "The key is under the stone.", "--user-id", "maya")
    shutil.rmtree(session.store / "views", ignore_errors=True)
    with read_only(session.store):
        assert "stone" in session.well("recall", "Where is the key?").out
        for silent in ((), ("--no-write",)):
            answered = session.well("ask", *silent, "Where is the key?", "--user-id", "maya")
            assert "stone" in answered.out
            assert ("the answer is not kept" in answered.err) is (not silent)
        assert "stone" in session.well("context", "Where is the key?").out
        session.well("mcp", "--kind", "model")
        assert session.is_clean()


def test_a_locked_store_is_refused_for_writing_and_open_for_reading(session: Session) -> None:
    id = session.well("append", "before").id
    hold = (
        "import braid, sys; s = braid.open('memory'); print('held', flush=True); sys.stdin.read(); s.close()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", hold],
        cwd=session.folder, env=session.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        said = session.refused("append", "x")
        assert "open for writing elsewhere" in said
        assert "hint:" in said
        assert "before" in session.well("show", id).out
        session.well("verify")
    finally:
        holder.communicate()
    session.well("append", "after")
    assert session.is_clean()


def test_a_missing_guard_needs_adopting_once(session: Session) -> None:
    id = session.well("append", "x").id
    shutil.rmtree(session.folder / "guard")
    read = session.well("show", id)
    assert "is missing" in read.err
    before = size(session)
    said = session.refused("append", "y")
    assert "--adopt" in said
    assert size(session) == before
    session.well("append", "y", "--adopt")
    session.well("append", "z")
    assert session.is_clean()


def test_a_damaged_guard_is_refused(session: Session) -> None:
    (guard,) = (session.folder / "guard").glob("*.guard")
    guard.write_bytes(guard.read_bytes().replace(b'"size":3', b'"size":2'))
    assert "the guard is damaged" in session.refused("append", "x")
    assert "guard" in session.braid("doctor").out


def test_a_store_that_was_rolled_back_is_refused(session: Session) -> None:
    session.well("append", "first")
    shutil.copytree(session.store, session.folder / "old")
    session.well("append", "second")
    shutil.rmtree(session.store)
    (session.folder / "old").rename(session.store)
    said = session.refused("append", "third")
    assert "older copy" in said
    assert "newest" in said
    assert "older copy" in session.well("log").err
    assert session.braid("verify").code == 1


def test_guard_and_store_rolled_back_together_are_not_noticed(session: Session) -> None:
    """What the README says is not promised: only a witness elsewhere, or a kept proof, would tell."""
    session.well("append", "first")
    shutil.copytree(session.store, session.folder / "old")
    shutil.copytree(session.folder / "guard", session.folder / "old-guard")
    session.well("append", "second")
    shutil.rmtree(session.store)
    shutil.rmtree(session.folder / "guard")
    (session.folder / "old").rename(session.store)
    (session.folder / "old-guard").rename(session.folder / "guard")
    session.well("append", "another second")
    assert session.is_clean()


def test_a_missing_vault(session: Session) -> None:
    id = session.well("append", "secret words").id
    (session.store / "vault").rename(session.folder / "vault")
    said = session.refused("append", "x")
    assert "vault" in said
    read = session.well("show", id)
    assert "secret words" not in read.out
    assert "sealed" in read.err
    assert session.is_clean()
    (session.folder / "vault").rename(session.store / "vault")
    assert "secret words" in session.well("show", id).out


def test_a_store_of_a_newer_format(session: Session) -> None:
    path = session.store / "store.json"
    whole = path.read_text(encoding="utf-8")
    path.write_text(whole.replace('"format": 1', '"format": 2'), encoding="utf-8")
    for words in (("append", "x"), ("log",), ("status",)):
        said = session.refused(*words)
        assert "format 2" in said
        assert "upgrade" in said
    path.write_text(whole, encoding="utf-8")
    assert session.is_clean()


def test_damaged_settings(session: Session) -> None:
    (session.store / "store.json").write_text("{", encoding="utf-8")
    assert "store.json" in session.refused("log")


def test_a_full_disk_loses_nothing(session: Session) -> None:
    session.well("append", "before")
    for fault in ("wal.write", "guard.write"):
        before = size(session)
        done = session.braid("append", "x", fault=fault)
        said, grown = {"wal.write": ("disk is full", 0), "guard.write": ("in the log and safe", 1)}[fault]
        assert done.code == 2
        assert said in done.err
        assert bool(done.out) == bool(grown)  # an acknowledged record has an id
        assert size(session) == before + grown
        session.well("append", "after")
        assert session.is_clean()


def test_a_full_disk_names_the_file_and_promises_no_more_than_is_so(session: Session) -> None:
    session.well("append", "before", "--user-id", "maya")
    said = session.braid("append", "x", fault="wal.write").err
    assert "memory/log/000000000000.seg: the disk is full" in said
    assert "`braid erase` works on a full disk" in said
    assert "braid compact" not in said
    session.well("erase", "--where", "user_id=maya", "--yes")
    done = session.braid("compact", fault="compact.write")
    assert done.code == 2
    assert re.search(
        r"000000000000\.seg: to compact it, more than [\d,]+ bytes must be free on its disk", done.err
    )
    assert "views/" in done.err
    assert sorted(path.name for path in (session.store / "log").glob(".*")) == []
    assert session.well("compact").out != "0 bytes given back\n"
    assert session.is_clean()


def test_a_file_that_may_not_grow_is_named(session: Session) -> None:
    before = size(session)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16 << 10, hard))
    try:
        said = session.refused("append", "x" * (64 << 10))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "memory/log/000000000000.seg: the file may not grow any longer" in said
    assert "ulimit -f" in said
    assert size(session) == before
    assert session.is_clean()


@pytest.mark.parametrize("blocks", [150, 600])
def test_a_projection_that_may_not_grow_is_named_as_the_limit_it_is(session: Session, blocks: int) -> None:
    """DuckDB keeps the reason to itself: the disk has room, and the process may not use it."""
    session.well("append", "before")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (blocks << 10, hard))
    try:
        said = session.refused("replay", "--from-scratch")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "the file may not grow any longer" in said
    assert "ulimit -f" in said
    session.well("replay", "--from-scratch")


def test_a_folder_in_the_place_of_the_history_of_heads_is_named(session: Session) -> None:
    session.well("append", "before")
    history = session.store / "checkpoints"
    history.rename(session.folder / "kept")
    history.mkdir()
    said = session.refused("append", "is in the log all the same")
    assert "its signed head could not be published" in said
    assert "free some space" not in said
    looked = session.braid("doctor", "-o", "json")
    (problem,) = json.loads(looked.out)
    assert (looked.code, problem["problem"]) == (1, "history")
    audited = session.braid("verify", "--deep")
    assert audited.code == 2
    for told in (said, problem["detail"], audited.out):
        assert "checkpoints: a folder stands where a file belongs" in told
        assert "Errno" not in told
    history.rmdir()
    (session.folder / "kept").rename(history)
    session.well("checkpoint")
    assert session.is_clean()


def test_a_full_disk_while_ingesting_tells_to_run_it_again(session: Session) -> None:
    lines = "\n".join(
        json.dumps({"role": "user", "content": f"turn {n}", "id": n, "conversation": "c"}) for n in range(20)
    )
    done = session.braid("ingest", "-", stdin=lines, fault="wal.write")
    assert done.code == 2
    assert "disk is full" in done.err
    assert "run the same" in done.err
    session.well("ingest", "-", stdin=lines)
    assert size(session) == 23
    assert session.is_clean()


MOUNT = ("unshare", "--map-root-user", "--mount", "sh", "-c")


@pytest.fixture(scope="module")
def may_mount(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Skip where this user can't mount file systems of its own."""
    folder = tmp_path_factory.mktemp("mount")
    try:
        done = subprocess.run([*MOUNT, f"mount -t tmpfs none {folder}"], capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("needs unshare")
    if done.returncode:
        pytest.skip("needs a user who may mount in a namespace of its own")


@pytest.mark.soak
@pytest.mark.usefixtures("may_mount")
def test_a_read_only_store_can_be_read(session: Session, path_with_braid: str) -> None:
    id = session.well("append", "x").id
    script = f"""
        mount --bind memory memory && mount -o remount,ro,bind memory || exit 99
        braid append y; echo "code $?"
        braid show {id}; echo "code $?"
        braid log -n 1; echo "code $?"
        braid verify --deep; echo "code $?"
        braid trace {id}; echo "code $?"
        braid sql "SELECT 1"; echo "code $?"
        braid sql "SELECT 1" --as-of 3; echo "code $?"
    """
    env = session.env | {"PATH": path_with_braid}
    done = subprocess.run(
        [*MOUNT, script], cwd=session.folder, env=env, capture_output=True, text=True, check=False
    )
    codes = re.findall(r"^code (\d+)$", done.stdout, flags=re.MULTILINE)
    assert codes == ["2", "0", "0", "0", "0", "0", "0"], done
    assert "Read-only file system" in done.stderr
    assert "Traceback" not in done.stderr
    assert session.is_clean()


@pytest.mark.soak
@pytest.mark.usefixtures("may_mount")
def test_erasing_works_on_a_disk_that_is_really_full(empty: Session, path_with_braid: str) -> None:
    (empty.folder / "disk").mkdir()
    script = """
        mount -t tmpfs -o size=8m none disk && cd disk || exit 99
        export BRAID_GUARD_DIR=$PWD/guard
        braid init >/dev/null
        id=$(braid append 'secret words')
        braid sql "SELECT text FROM experiences" >/dev/null
        cat /dev/zero > filler
        braid append y; echo "append $?"
        braid erase "$id" --yes; echo "erase $?"
        braid show "$id"; echo "show $?"
        grep -r 'secret words' memory; echo "grep $?"
        rm filler
        braid append z --dry-run; braid append z; echo "again $?"
        braid verify --deep; echo "verify $?"
    """
    env = empty.env | {"PATH": path_with_braid}
    done = subprocess.run(
        [*MOUNT, script], cwd=empty.folder, env=env, capture_output=True, text=True, check=False
    )
    codes = dict(
        re.findall(r"^(append|erase|show|grep|again|verify) (\d+)$", done.stdout, flags=re.MULTILINE)
    )
    assert codes == {"append": "2", "erase": "0", "show": "2", "grep": "1", "again": "0", "verify": "0"}, done
    assert "disk is full" in done.stderr or "No space left" in done.stderr


# -- records --------------------------------------------------------------------------------------


def test_ids_that_name_nothing(session: Session) -> None:
    id = session.well("append", "x").id
    other = id[:-1] + ("0" if id[-1] != "0" else "1")
    for unknown in (UNKNOWN, other, "exp_x", "../store.json", "wal_999999"):
        for words in (("show", unknown), ("trace", unknown), ("prove", unknown)):
            said = session.refused(*words)
            assert "braid log" in said, said
    for words in (("show", ""), ("trace", ""), ("prove", "")):
        assert "id is text that isn't empty" in session.refused(*words)
    for command in ("forget", "recover"):
        session.refused(command, UNKNOWN)
    session.refused("erase", UNKNOWN, "--yes")
    session.refused("correct", UNKNOWN, "y")
    session.refused("append", "y", "--parent", UNKNOWN)
    assert size(session) == 4
    assert session.is_clean()


def test_an_erased_record_is_refused_everywhere(session: Session) -> None:
    id = session.well("append", "x").id
    session.well("erase", id, "--yes")
    for words in (
        ("show", id), ("forget", id), ("erase", id, "--yes"), ("append", "y", "--parent", id), ("correct", id, "y"),
    ):  # fmt: skip
        assert "erased" in session.refused(*words)
    assert "erased" in session.well("trace", id).out
    session.well("prove", id)
    assert session.is_clean()


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--confidence", "1.5"), "lies in [0, 1]"),
        (("--confidence", "nan"), "lies in [0, 1]"),
        (("--confidence", "-inf"), "lies in [0, 1]"),
        (("--confidence", "likely"), "Invalid value"),
        (("--occurred-at", "2025-05-17T10:00:00"), "no time zone"),
        (("--occurred-at", "yesterday"), "not an RFC 3339 time"),
        (("--occurred-at", "2999-01-01T00:00:00Z"), "lies in the future"),
        (("--type", "hunch"), "Invalid value"),
        (("--actor", "robot"), "user, agent, system or tool"),
        (("--signer", "k_aaaaaaaaaaaaaaaaaaaa"), "not a private key of this store"),
        (("--no-such-option",), "No such option"),
    ],
    ids=lambda value: "-".join(value)[:24] if isinstance(value, tuple) else None,
)
def test_bad_fields(session: Session, words: tuple[str, ...], reason: str) -> None:
    assert reason in session.refused("append", "x", *words)
    assert size(session) == 3
    assert session.is_clean()


def test_json_without_a_floor(session: Session) -> None:
    deep = '{"NOT":' * 5_000 + "{}" + "}" * 5_000
    (session.folder / "deep.json").write_text(deep, encoding="utf-8")
    for words in (
        ("append", "--json", "deep.json"),
        ("recall", "x", "--filter", deep),
        ("lens", "apply", "policy", "--params", deep),
    ):
        refused = session.refused(*words)
        assert "not JSON" in refused
        assert "defect" not in refused


def test_text_that_is_not_unicode(session: Session) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from braid.tools.cli.main import run; run()", "append", b"caf\xe9"],
        cwd=session.folder, env=session.env, capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert b"not valid Unicode" in done.stderr
    assert size(session) == 3


def test_a_derivation_downward(session: Session) -> None:
    high = session.well("append", "so it seems", "--type", "inference").id
    said = session.refused("append", "it happened", "--type", "occurrence", "--parent", high)
    assert "derivation goes up" in said
    assert size(session) == 4


def test_a_body_over_the_limit(session: Session) -> None:
    said = session.refused("append", "-", stdin="x" * (16 * 2**20 + 1))
    assert "limit" in said
    assert size(session) == 3
    assert session.is_clean()


def test_keys_that_may_not_sign(session: Session) -> None:
    key = session.well("key", "admit", "agent", "planner").out.strip()
    mine = ("--actor", "agent", "--name", "planner", "--signer", key)
    sound = session.well("append", "mine", *mine).id
    stolen = session.well("append", "mine too?", *mine).id
    assert "signs for planner" in session.refused("append", "not mine", "--actor", "user", "--signer", key)
    session.well("key", "revoke", key, "--compromised-since", "5")
    assert f"{stolen} is disputed: {key} was compromised since 5" in session.well("show", stolen).err
    assert not session.well("show", sound).err
    assert "revoked" in session.refused(
        "append", "late", "--actor", "agent", "--name", "planner", "--signer", key
    )
    assert "never admitted" in session.refused("key", "revoke", "k_aaaaaaaaaaaaaaaaaaaa")
    rows = {row["id"]: row for row in json.loads(session.well("key", "list", "-o", "json").out)}
    assert rows[key]["revoked"]
    assert session.is_clean()


def test_an_index_beyond_the_log_disputes_nothing_and_is_refused(session: Session) -> None:
    key = session.well("key", "admit", "agent", "planner").out.strip()
    for index in ("5", "99999"):
        said = session.refused("key", "revoke", key, "--compromised-since", index)
        assert "the log has 4 records" in said
    session.well("key", "revoke", key, "--compromised-since", "4")
    assert session.is_clean()


def test_the_last_root_key_is_not_revoked_by_a_slip(empty: Session) -> None:
    empty.well("init", "--spare-root")
    roots = [
        row["id"] for row in json.loads(empty.well("key", "list", "-o", "json").out) if row["role"] == "root"
    ]
    empty.well("key", "revoke", roots[0], "--reason", "lost")
    assert "no key can be admitted or revoked any more" in empty.refused("key", "revoke", roots[1])
    empty.well("key", "admit", "agent", "planner")
    empty.well("key", "revoke", roots[1], "--yes")
    assert "was revoked" in empty.refused("key", "admit", "agent", "other")
    assert empty.is_clean()


def test_a_clock_that_is_behind_is_refused_until_it_is_accepted(session: Session) -> None:
    later = (
        "import braid, datetime as d; day = d.timedelta(days=1);"
        "s = braid.open('memory', clock=lambda: d.datetime.now(d.UTC) + day);"
        "s.append('from tomorrow'); s.close()"
    )
    subprocess.run([sys.executable, "-c", later], cwd=session.folder, env=session.env, check=True)
    assert "--accept-clock" in session.refused("append", "x")
    done = session.braid("doctor")
    assert (done.code, "24.0 hours ahead of this machine's clock" in done.out) == (1, True)
    session.well("doctor", "--accept-clock", "--dry-run")
    session.refused("append", "x")
    session.well("doctor", "--accept-clock", "--reason", "the clock was a day ahead")
    session.well("append", "x")
    session.well("doctor")
    assert session.is_clean()


@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_a_clock_that_is_right_is_not_accepted(session: Session, more: tuple[str, ...]) -> None:
    before = session.well("log", "-o", "jsonl").out
    said = session.well("doctor", "--accept-clock", *more)
    assert "nothing was logged" in said.err
    assert session.well("log", "-o", "jsonl").out == before


def test_an_entity_that_there_is_not_is_refused_with_the_command_that_lists_them(session: Session) -> None:
    assert "`braid entity list`" in session.refused("entity", "show", "Nobody")


# -- the command itself ---------------------------------------------------------------------------


def test_usage_is_told_with_a_hint(empty: Session) -> None:
    assert "braid --help" in empty.refused("rember")
    assert "braid show --help" in empty.refused("show")
    assert "braid log --help" in empty.refused("log", "-n", "many")
    assert "braid key --help" in empty.refused("key", "lend")


def test_a_mistyped_option_names_the_one_that_is_near(empty: Session) -> None:
    near = empty.refused("recall", "--topk", "3", "x")
    assert "No such option: --topk\n" in near
    assert "did you mean --top-k?" in near
    for words in (("recall", "--zzz", "x"), ("staging", "accept", "x", "0", "--quux", "y")):
        assert "dash" not in empty.refused(*words)
    for text in ("-yes I do", "--well, so it is"):
        assert "a text that begins with a dash goes behind --" in empty.refused("ask", text)


def test_a_token_counts_for_ten_years_at_most(session: Session) -> None:
    said = session.refused("token", "create", "laptop", "--days", "999999999")
    assert "'--days': " in said
    assert "3660" in said


def test_an_id_of_no_job_is_told_without_a_pattern(session: Session) -> None:
    said = session.refused("jobs", "retry", "job_nope", "--reason", "again")
    assert "no id of a job" in said
    assert "regex" not in said


def test_a_defect_is_told_without_a_traceback_but_with_one_for_debugging(session: Session) -> None:
    code = (
        "import braid.tools.cli.access as a\n"
        "def broken(*_): raise ZeroDivisionError('oops')\n"
        "a.where = broken\n"
        "from braid.tools.cli.main import run; run()"
    )
    for debug in ("", "1"):
        done = subprocess.run(
            [sys.executable, "-c", code, "log"], cwd=session.folder, env=session.env | {"BRAID_DEBUG": debug},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 2
        assert "braid: unexpected ZeroDivisionError: oops" in done.stderr
        assert ("Traceback" in done.stderr) == bool(debug)


def test_a_guard_that_has_no_place_names_the_way_out(empty: Session) -> None:
    empty.write("a-file", "")
    said = empty.refused("init", "other", BRAID_GUARD_DIR=str(empty.folder / "a-file" / "guards"))
    assert "the fork guard is kept there" in said
    assert "BRAID_GUARD_DIR" in said
    assert not (empty.folder / "other").exists()


# -- what was typed, and where it goes ------------------------------------------------------------


def test_nothing_to_remember_is_refused(session: Session) -> None:
    before = size(session)
    for words, given in ((("append", ""), ""), (("append", "-"), "\n")):
        assert "the text is empty" in session.refused(*words, stdin=given)
    assert size(session) == before


def test_a_question_that_says_nothing_is_refused_alike(session: Session) -> None:
    before = size(session)
    for command in ("recall", "context", "ask"):
        for question in ("", " \n"):
            assert "question is text that isn't empty" in session.refused(command, question)
    assert "question is text that isn't empty" in session.refused(
        "forget", "--query", "  ", "--user-id", "maya"
    )
    assert size(session) == before


def test_an_empty_tag_and_a_nul_are_refused(session: Session) -> None:
    before = size(session)
    for command in ("append", "remember"):
        assert "is text that isn't empty" in session.refused(command, "x", "--tag", "")
        assert "NUL character" in session.refused(command, "-", stdin="a\0b")
    draft = json.dumps({"content": {"text": "x"}, "tags": [""]})
    assert "a tag is text that isn't empty" in session.refused("append", "--json", "-", stdin=draft)
    assert "a tag is text that isn't empty" in session.refused("append", "Tea.", "--tag", " ")
    assert size(session) == before
    session.well("ingest", "-", stdin=json.dumps({"role": "user", "content": "a\0b"}))
    assert size(session) == before + 1


def test_a_mistyped_key_is_misuse_and_no_finding(session: Session) -> None:
    proof = session.write("r.proof", "")
    for words in (("verify",), ("check-proof", str(proof)), ("restore", "backup")):
        said = session.refused(*words, "--key", "foo")
        assert "--key: not a key: 'foo'" in said
        assert "braid doctor" not in said


def test_an_unknown_format_is_refused_in_plain_words(session: Session) -> None:
    said = session.refused("log", "-o", "xml")
    assert "'xml' is not one of" in said
    assert "Value error" not in said


def test_a_file_is_no_store(empty: Session) -> None:
    file = empty.write("notes.txt", "x")
    for words in (("status",), ("init",)):
        assert "notes.txt is no folder, and a store is one" in empty.refused("--store", file, *words)


def test_a_source_that_is_not_there(session: Session) -> None:
    assert "nowhere.jsonl: No such file" in session.refused("ingest", "nowhere.jsonl")


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_no_room_for_the_output_is_not_the_stores_trouble(session: Session, unbuffered: str) -> None:
    run = "from braid.tools.cli.main import run; run()"
    with open("/dev/full", "wb") as full:  # noqa: PTH123 - a device
        done = subprocess.run(
            [sys.executable, "-c", run, "status"], cwd=session.folder, check=False,
            env=session.env | {"PYTHONUNBUFFERED": unbuffered}, stdout=full, stderr=subprocess.PIPE,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith(b"braid: there is no room where the output goes\n")
    assert b"the log" not in done.stderr
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr


def test_a_question_to_a_locked_store_may_go_without_writing(session: Session) -> None:
    import fcntl

    with (session.store / "lock").open("a+b") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert "--no-write" in session.refused("ask", "Who?")
        assert "--no-write" not in session.refused("append", "x")


def test_the_last_row_needs_no_more_of_the_log_than_itself(session: Session) -> None:
    first = session.well("append", "the first").id
    for number in range(3):
        session.well("append", f"later {number}")
    (segment,) = (session.store / "log").glob("*.seg")
    index = json.loads(session.well("show", first, "-o", "json").out)["index"]
    entry = segment.with_suffix(".idx").read_bytes()[index * 24 : index * 24 + 24]
    data = bytearray(segment.read_bytes())
    data[int.from_bytes(entry[8:16], "little")] ^= 1  # the first's body
    segment.write_bytes(data)
    assert "later 2" in session.well("log", "-n", "1").out
    session.refused("log", "-n", "4")


@pytest.mark.parametrize(
    ("place", "kind", "words"),
    [
        ("lock", "folder", ("append", "x")),
        ("views/catalog.lock", "folder", ("recall", "Where?")),
        ("views/duck/lock", "folder", ("sql", "SELECT 1")),
        ("views", "file", ("recall", "Where?")),
        ("views", "file", ("status",)),
        ("views/lance", "file", ("recall", "Where?")),
    ],
)
def test_what_stands_in_the_way_is_named_and_left(
    session: Session, place: str, kind: str, words: tuple[str, ...]
) -> None:
    session.well("append", "I live in Porto.")
    path = session.store / place
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "folder":
        path.mkdir()
    else:
        path.write_text("mine")
    said = session.refused(*words)
    assert f"{place}: a {kind} stands where" in said
    assert "move it away" in said
    assert "Errno" not in said
    assert path.exists()
    session.well("verify")


def test_a_replay_removes_what_stands_in_its_way_and_says_so(session: Session) -> None:
    session.well("append", "I live in Porto.")
    session.well("recall", "Where?")
    (session.store / "views" / "catalog.lock").unlink()
    (session.store / "views" / "catalog.lock").mkdir()
    assert "removed views/catalog.lock" in session.well("replay").err
    session.well("recall", "Where?")


def test_an_erasure_that_waits_for_views_is_told_and_others_write(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    from braid.views.store import Views

    def refused(views: Views) -> list[str]:
        raise PermissionError(13, "Permission denied", "views")

    id = session.well("append", "I live in Porto.").id
    session.well("recall", "Where?")
    with monkeypatch.context() as patched:
        patched.setattr(Views, "purge", refused)
        said = session.refused("erase", id, "--yes")
        assert "is not finished: its keys and bodies are gone, but views/ could not be purged" in said
        assert "`braid retain` finishes it" in said
        assert "is not finished" in session.well("append", "Meanwhile.").err
    assert "is not finished" not in session.well("append", "Later.").err
    session.well("verify", "--deep")


@pytest.mark.parametrize("words", [("recall", "Where?"), ("replay",), ("verify",), ("append", "More.")])
def test_projections_that_are_a_link_are_refused_and_what_they_lead_to_stays(
    session: Session, words: tuple[str, ...]
) -> None:
    session.well("append", "I live in Porto.")
    elsewhere = session.folder / "elsewhere"
    (elsewhere / "duck").mkdir(parents=True)
    (elsewhere / "catalog.sqlite").write_text("somebody's")
    (elsewhere / "duck" / "work.duckdb").write_text("somebody's")
    shutil.rmtree(session.store / "views")
    (session.store / "views").symlink_to(elsewhere)
    done = session.braid(*words)
    assert done.code == 2
    assert "memory/views: a link stands where a file or folder of the store belongs" in done.out + done.err
    assert "remove it, and projections are made again" in done.out + done.err
    assert sorted(path.name for path in elsewhere.rglob("*")) == ["catalog.sqlite", "duck", "work.duckdb"]
    assert (elsewhere / "catalog.sqlite").read_text() == "somebody's"
    (session.store / "views").unlink()
    assert "Porto" in session.well("recall", "Where do I live?").out


def test_a_file_in_place_of_the_projections_keeps_no_record_out(session: Session) -> None:
    shutil.rmtree(session.store / "views")
    (session.store / "views").write_text("mine")
    id = session.well("append", "I live in Porto.").id
    assert "Porto" in session.well("show", id).out
    (session.store / "views").unlink()
    assert "Porto" in session.well("recall", "Where do I live?").out


@pytest.mark.sample(3)
@pytest.mark.parametrize("option", ["--user-id", "--agent-id", "--run-id", "--project-id", "--session"])
def test_an_empty_scope_is_refused(session: Session, option: str) -> None:
    name = option.removeprefix("--").replace("-", "_").replace("session", "session_id")
    session.write("chat.jsonl", '{"role": "user", "content": "I live in Porto."}\n')
    session.write("record.json", json.dumps({"kind": "event", "name": "x", "scope": {name: ""}}))
    before = size(session)
    for words in (
        ("append", "x", option, ""),
        ("append", "--json", "record.json"),
        ("ingest", "chat.jsonl", option, ""),
        ("recall", "x", option, ""),
        ("ask", "x", option, ""),
    ):
        assert f"{name} is text that isn't empty" in session.refused(*words)
    assert size(session) == before


def test_a_deep_look_at_a_log_that_was_cut_short_has_its_findings(session: Session) -> None:
    session.well("append", "I live in Porto.")
    session.well("append", "The bins go out on Monday.")
    (segment,) = (session.store / "log").glob("*.seg")
    segment.write_bytes(segment.read_bytes()[:-300])
    plain, deep = session.braid("verify"), session.braid("verify", "--deep", "--rederive")
    assert (plain.code, deep.code) == (1, 1)
    assert set(plain.out.splitlines()) <= {*deep.out.splitlines()}
    assert "could not look: projections: log/" in deep.out
    assert "\nchecked    projections" not in deep.out
    assert "could not look: what was derived: log/" in deep.out
