"""`braid sql` as a person and a program use it: parameters, files of statements, forms of answers, the prompt."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from braid.tools.cli.shell import History, words

if TYPE_CHECKING:
    from tests.system.cli.conftest import Session

ENTRY = "from braid.tools.cli.main import run; run()"


@pytest.fixture
def asked(empty: Session, study: Path) -> Session:
    """A session that meets the store of examples/study.py."""
    empty.env |= {"BRAID_STORE": str(study), "BRAID_GUARD_DIR": str(study.parent / "guard")}
    return empty


def test_parameters_are_values_and_never_text_of_the_statement(asked: Session) -> None:
    count = "SELECT count(*) AS n FROM experiences WHERE name = $who"
    assert json.loads(asked.well("sql", count, "-o", "json", "--param", "who=Jonas Adeyemi").out) == [
        {"n": 95}
    ]
    for hostile in ("x' OR 'a'='a", "'; DROP TABLE experiences; --", "$who"):
        assert json.loads(asked.well("sql", count, "-o", "json", "-p", f"who={hostile}").out) == [{"n": 0}]
    types = "SELECT typeof($a) AS a, typeof($b) AS b, typeof($c) AS c, typeof($d) AS d, typeof($e) AS e"
    given = [word for each in ("a=7", "b=0.5", "c=true", "d=2025-05-06", "e='7'") for word in ("-p", each)]
    assert list(json.loads(asked.well("sql", types, "-o", "jsonl", *given).out).values()) == [
        "INTEGER", "DOUBLE", "BOOLEAN", "TIMESTAMP", "VARCHAR",
    ]  # fmt: skip
    since = "SELECT external_id FROM experiences WHERE happened_at = $at"
    assert "asst-127" in asked.well("sql", since, "-p", "at=2025-05-18T17:05:00+01:00", "-o", "csv").out


def test_parameters_that_are_missing_wrong_or_idle_are_told(asked: Session) -> None:
    assert "$who" in asked.refused("sql", "SELECT $who") or "who" in asked.refused("sql", "SELECT $who")
    assert "name=value" in asked.refused("sql", "SELECT 1", "--param", "who")
    assert "no statement names $who" in asked.well("sql", "SELECT 1", "-p", "who=1").err


def test_statements_of_a_file_and_of_a_pipe_are_answered_in_order(asked: Session) -> None:
    text = "-- two questions\nSELECT 1 AS a; SELECT $x AS b;\n.schema strands\nSELECT ';' AS c"
    path = asked.write("questions.sql", text)
    from_file = asked.well("sql", "--file", path, "-p", "x=2", "-o", "csv")
    assert from_file.out.splitlines()[:4] == ["a", "1", "b", "2"]
    assert from_file.out.splitlines()[-2:] == ["c", ";"]
    assert "strands,role,VARCHAR" in from_file.out
    for given in ((), ("-",)):
        assert asked.well("sql", *given, "-p", "x=2", "-o", "csv", stdin=text).out == from_file.out


def test_a_statement_that_fails_stops_those_behind_it(asked: Session) -> None:
    done = asked.braid("sql", stdin="SELECT 1 AS a;\n\nSELEC 2;\nSELECT 3 AS c;")
    assert done.code == 2
    assert done.out.split() == ["a", "1"]
    assert "the statement at line 3 failed" in done.err


def test_what_does_not_go_together_is_refused(asked: Session) -> None:
    path = asked.write("q.sql", "SELECT 1; SELECT 2;")
    assert "not both" in asked.refused("sql", "SELECT 1", "--file", path)
    assert "one answer" in asked.refused("sql", "--file", path, "--out", "x.csv")
    assert "no statement" in asked.refused("sql", stdin="-- nothing\n")
    assert "No such file" in asked.refused("sql", "--file", "missing.sql")
    assert "--out FOLDER" in asked.refused("sql", "SELECT 1 AS a, 2 AS b", "--partition-by", "a")
    assert "--out FOLDER" in asked.refused(
        "sql", "FROM keys", "--partition-by", "k", "--out", "x", "-o", "csv"
    )
    asked.refused("sql", "SELECT 1", "-o", "xml")


def test_names_are_listed_and_described(asked: Session) -> None:
    tables = json.loads(asked.well("sql", ".tables", "-o", "json").out)
    assert [row["what"] for row in tables if row["name"] == "timeline(actor)"] == ["macro"]
    assert {row["what"] for row in tables} == {"table", "view", "macro"}
    claims = json.loads(asked.well("sql", ".schema history", "-o", "json").out)
    assert [row["column"] for row in claims[:4]] == ["(subject)", "(rel)", "(user_id)", "said_at"]
    everything = json.loads(asked.well("sql", ".schema", "-o", "json").out)
    assert {row["of"] for row in everything} == {row["name"].partition("(")[0] for row in tables}
    assert ".schema" in asked.well("sql", ".help").out
    assert "there is claims" in asked.refused("sql", ".schema claim")
    assert ".tables" in asked.refused("sql", ".drop everything")


def test_every_form_holds_the_same_rows(asked: Session) -> None:
    query = "SELECT log_index, name, happened_at, tags FROM experiences ORDER BY log_index LIMIT 5"
    expected = [
        (row["log_index"], row["name"]) for row in json.loads(asked.well("sql", query, "-o", "json").out)
    ]
    read = {
        "arrow": lambda path: pa.ipc.open_file(pa.memory_map(str(path))).read_all(),
        "parquet": pq.read_table,
    }
    for form, reader in read.items():
        path = asked.folder / f"answer.{form}"
        asked.well("sql", query, "--out", path)
        assert [(row["log_index"], row["name"]) for row in reader(path).to_pylist()] == expected
        assert path.stat().st_mode & 0o777 == 0o600
    for form in ("csv", "jsonl", "json"):
        asked.well("sql", query, "--out", f"answer.{form}")
        shown = asked.well("sql", query, "-o", form).out
        assert (asked.folder / f"answer.{form}").read_text(encoding="utf-8") == shown
    assert list(asked.folder.glob(".*partial")) == []


def test_arrow_goes_through_a_pipe_as_a_stream(asked: Session) -> None:
    command = f"'{sys.executable}' -c '{ENTRY}' sql 'FROM keys' -o arrow"
    done = subprocess.run(
        ["sh", "-c", command], cwd=asked.folder, env=asked.env, stdout=subprocess.PIPE, check=True
    )
    assert pa.ipc.open_stream(done.stdout).read_all().num_rows == 5


def test_partitions_lie_as_hive_has_them(asked: Session) -> None:
    query = "SELECT user_id, type, text FROM experiences"
    asked.well("sql", query, "--out", "parts", "--partition-by", "user_id,type")
    folder = asked.folder / "parts"
    assert (folder / "user_id=jonas" / "type=inference" / "part-0.parquet").exists()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert all(path.stat().st_mode & 0o077 == 0 for path in folder.rglob("*"))
    counted = json.loads(asked.well("sql", "SELECT count(*) AS n FROM experiences", "-o", "json").out)[0]["n"]
    assert ds.dataset(folder, partitioning="hive").count_rows() == counted
    assert "not an empty folder" in asked.refused("sql", query, "--out", "parts", "--partition-by", "type")
    assert "the answer has the columns" in asked.refused("sql", query, "--out", "p2", "--partition-by", "x")
    asked.well("sql", f"{query} WHERE false", "--out", "none", "--partition-by", "type")
    assert list((asked.folder / "none").iterdir()) == []


def test_a_value_is_no_way_out_of_the_folder(asked: Session) -> None:
    query = "SELECT unnest(['../../x', '/etc', '..', 'a/b', NULL, '']) AS name, 1 AS n"
    asked.well("sql", query, "--out", "deep/parts", "--partition-by", "name")
    assert {path.name for path in asked.folder.iterdir() if path.name not in ("state", "guard")} == {"deep"}
    assert [path.name for path in (asked.folder / "deep").iterdir()] == ["parts"]
    names = {path.name for path in (asked.folder / "deep" / "parts").iterdir()}
    assert len(names) == 6
    assert all(name.startswith("name=") for name in names)


def test_a_file_may_hold_more_than_a_screen(asked: Session) -> None:
    query = "SELECT range AS n FROM range(150000)"
    assert "more than 100000 rows" in asked.refused("sql", query, "-o", "csv")
    asked.well("sql", query, "--out", "n.parquet")
    assert pq.read_metadata(asked.folder / "n.parquet").num_rows == 150_000


def test_spans_of_time_are_shown_and_written(asked: Session) -> None:
    query = "SELECT INTERVAL '14 months 3 days 90 minutes' AS span, INTERVAL '0 s' AS none, -INTERVAL '5 s' AS back"
    shown = json.loads(asked.well("sql", query, "-o", "json").out)
    assert shown == [{"span": "14 months 3 days 1:30:00", "none": "0:00:00", "back": "-0:00:05"}]
    asked.well("sql", query, "--out", "span.parquet")
    assert pq.read_table(asked.folder / "span.parquet").to_pylist() == shown


def test_columns_of_one_name_keep_their_values(asked: Session) -> None:
    query = "SELECT 1 AS a, 2 AS a, 3 AS a_1"
    assert asked.well("sql", query).out.split() == ["a", "a_2", "a_1", "1", "2", "3"]
    assert asked.well("sql", query, "-o", "csv").out == "a,a_2,a_1\n1,2,3\n"
    expected = [{"a": 1, "a_2": 2, "a_1": 3}]
    assert json.loads(asked.well("sql", query, "-o", "json").out) == expected
    asked.well("sql", query, "--out", "twice.parquet")
    assert pq.read_table(asked.folder / "twice.parquet").to_pylist() == expected
    asked.well("sql", query, "--out", "twice", "--partition-by", "a,a_2")
    (file,) = (asked.folder / "twice").rglob("*.parquet")
    assert file.parent == asked.folder / "twice" / "a=1" / "a_2=2"
    joined = "SELECT * FROM experiences AS one JOIN experiences AS other USING (id) LIMIT 1"
    (row,) = json.loads(asked.well("sql", joined, "-o", "json").out)
    assert row["text"] == row["text_1"]


@pytest.mark.parametrize("name", ["../../x", "a\\b", "a=b", "..", ".", "a\x1bb", "a" * 300])
def test_a_column_that_cannot_name_a_folder_is_refused(asked: Session, name: str) -> None:
    said = asked.refused(
        "sql", f'SELECT 1 AS "{name}", 2 AS n', "--out", "deep/parts", "--partition-by", name
    )
    assert "can't name a folder" in said
    assert {path.name for path in asked.folder.iterdir()} <= {"state", "guard"}


@pytest.mark.parametrize("value", ["__HIVE_DEFAULT_PARTITION__", "x" * 300, "é" * 50])
def test_a_value_that_cannot_name_a_folder_is_refused(asked: Session, value: str) -> None:
    query = "SELECT unnest(['fine', NULL, $v]) AS name, 1 AS n"
    said = asked.refused("sql", query, "-p", f"v={value}", "--out", "parts", "--partition-by", "name")
    assert "can't name a folder" in said
    assert {path.name for path in asked.folder.iterdir()} <= {"state", "guard"}


def test_an_answer_that_a_form_cannot_hold_leaves_nothing(asked: Session) -> None:
    query = "SELECT range AS a, 1 AS b FROM range(2000)"
    assert "parquet can't hold" in asked.refused("sql", query, "--out", "many", "--partition-by", "a")
    assert {path.name for path in asked.folder.iterdir()} <= {"state", "guard"}


def test_what_is_no_number_is_null_in_json(asked: Session) -> None:
    query = "SELECT 'nan'::DOUBLE AS a, ['inf'::DOUBLE, 1.5] AS b"
    row = {"a": None, "b": [None, 1.5]}
    for form, told in (("json", [row]), ("jsonl", row)):
        written = asked.well("sql", query, "-o", form).out
        assert json.loads(written, parse_constant=lambda name: f"{name} is no JSON") == told


@pytest.mark.parametrize(
    "day", ["DATE 'infinity'", "'10000-01-01'::DATE", "'4713-01-01 (BC)'::DATE", "TIMESTAMP 'infinity'"]
)
def test_a_time_beyond_the_calendar_is_had_as_text(asked: Session, day: str) -> None:
    assert "CAST it to VARCHAR" in asked.refused("sql", f"SELECT {day} AS day")
    assert json.loads(asked.well("sql", f"SELECT ({day})::VARCHAR AS day", "-o", "json").out)[0]["day"]


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (("SELEC 1",), "syntax error", "docs/sql.md"),
        (("FROM nothing",), "nothing does not exist", "`SHOW TABLES`"),
        (("SELECT nothing FROM experiences",), "nothing", "`DESCRIBE <table>`"),
        (("SELECT range FROM range(200000)",), "more than 100000 rows", "add a LIMIT"),
        (("SELECT $who",), "who", "--param NAME=VALUE"),
        (("FROM experiences WHERE user_id = $u", "-p", "u=123"), "Could not convert", "`u='123'`"),
        (("SELECT error('oh')",), "oh", None),
        (("",), "there is no statement to answer", "SELECT"),
        (("/* nothing */",), "there is no statement to answer", "SELECT"),
    ],
)
def test_each_refusal_has_its_own_hint(
    asked: Session, words: tuple[str, ...], message: str, hint: str | None
) -> None:
    said = asked.refused("sql", *words)
    told, _, hinted = said.partition("\n  hint: ")
    assert message in told
    assert hinted == "" if hint is None else hint in hinted
    assert said.count("SHOW TABLES") == (hint == "`SHOW TABLES`")


@pytest.mark.soak
def test_csv_on_a_terminal_cannot_steer_it(asked: Session) -> None:
    query = "SELECT chr(27) || '[2J' AS \"a\x1b\""
    assert "\x1b[2J" in asked.well("sql", query, "-o", "csv-raw").out
    primary, secondary = pty.openpty()
    subprocess.run(
        [sys.executable, "-c", ENTRY, "sql", query, "-o", "csv-raw"],
        cwd=asked.folder, env=asked.env, stdout=secondary, stderr=subprocess.DEVNULL, check=True,
    )  # fmt: skip
    os.close(secondary)
    shown = os.read(primary, 1_000)
    os.close(primary)
    assert shown.split() == [b"a\\e", b"\\e[2J"]


# -- the prompt -----------------------------------------------------------------------------------


class Prompt:
    """`braid sql` on a terminal."""

    def __init__(self, asked: Session, *, hide: str = "") -> None:
        hidden = f"import sys; sys.modules['{hide}'] = None; " if hide else ""
        self._master, slave = pty.openpty()
        env = asked.env | {
            "TERM": "xterm-256color",
            "COLUMNS": "120",
            "LINES": "40",
            "PROMPT_TOOLKIT_NO_CPR": "1",
        }
        self._process = subprocess.Popen(
            [sys.executable, "-c", hidden + ENTRY, "sql"], cwd=asked.folder, env=env,
            stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - Ctrl-C is a signal
        )  # fmt: skip
        os.close(slave)
        self._shown, self._seen = "", 0

    def until(self, text: str) -> str:
        """Read on until `text` is shown; return what is shown up to there since the last time."""
        end = time.monotonic() + 20
        while (at := self._shown.find(text, self._seen)) < 0:
            assert time.monotonic() < end, (text, self._shown[self._seen :])
            if select.select([self._master], [], [], 0.2)[0]:
                self._shown += os.read(self._master, 65536).decode(errors="replace")
        begun, self._seen = self._seen, at + len(text)
        return self._shown[begun : self._seen]

    def type(self, text: str) -> None:
        """Send keys."""
        os.write(self._master, text.encode())

    def leave(self) -> int:
        """Send Ctrl-D and return the exit code."""
        self.type("\x04")
        code = self._process.wait(timeout=20)
        os.close(self._master)
        return code


@pytest.mark.soak
@pytest.mark.parametrize("hide", ["", "prompt_toolkit"], ids=["prompt_toolkit", "readline"])
def test_a_prompt_answers_goes_on_after_an_error_and_keeps_a_history(asked: Session, hide: str) -> None:
    if not hide:
        pytest.importorskip("prompt_toolkit", reason="prompt_toolkit is the extra `shell`")
    prompt = Prompt(asked, hide=hide)
    prompt.until("braid>")
    prompt.type("SELECT 40 + 2\r")
    prompt.until("...>")
    prompt.type("AS answer;\r")
    assert "42" in prompt.until("level with the log")
    prompt.until("braid>")
    prompt.type("SELEC 1;\r")
    prompt.until("syntax error")
    prompt.until("braid>")
    prompt.type("SELECT 'never")
    prompt.until("never")
    time.sleep(
        0.3
    )  # a signal between readline's look for one and its wait for a key is seen with the next key
    prompt.type("\x03")  # Ctrl-C: that one is dropped
    prompt.until("braid>")
    prompt.type(".tab\t")
    prompt.until(".tables")  # completed
    prompt.type("\r")
    prompt.until("claims_at(instant, user_id)")
    prompt.until("braid>")
    prompt.type(" SELECT 'kept to myself';\r")
    prompt.until("1 row")
    prompt.until("braid>")
    assert prompt.leave() == 0
    history = asked.folder / "state" / "braid" / "sql_history"
    assert history.stat().st_mode & 0o777 == 0o600
    assert history.parent.stat().st_mode & 0o777 == 0o700
    kept = [json.loads(line) for line in history.read_text(encoding="utf-8").splitlines()]
    assert kept == ["SELECT 40 + 2\nAS answer;", "SELEC 1;", ".tables"]
    again = Prompt(asked, hide=hide)
    again.until("braid>")
    again.type("\x1b[A\r")  # the arrow up: what was asked last
    again.until("claims_at(instant, user_id)")
    again.until("braid>")
    assert again.leave() == 0


def test_the_history_is_bounded_and_passes_over_what_it_cannot_read(tmp_path: Path) -> None:
    history = History(tmp_path / "state" / "sql_history")
    assert history.load() == []
    history.add("SELECT 'first';")
    with (tmp_path / "state" / "sql_history").open("ab") as file:
        file.write(b"no json\n\xff\xfe\n")
        file.writelines(b'"SELECT %d;"\n' % n for n in range(1_005))
    history.add("SELECT 'last';\n")
    kept = history.load()
    assert len(kept) == 1_000
    assert kept[-2:] == ["SELECT 1004;", "SELECT 'last';"]
    assert len((tmp_path / "state" / "sql_history").read_bytes().splitlines()) == 1_000


def test_names_are_completed() -> None:
    completions = words()
    assert {"experiences", "happened_at", "timeline(", "SELECT", ".schema"} <= set(completions)
    assert len(set(completions)) == len(completions)
