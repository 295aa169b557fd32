"""What reaches the terminal, the pipe and the program behind it."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from braid.tools.cli.errors import report
from braid.tools.cli.output import cell, clean, in_log, line, many, put_rows, put_table, to_json

if TYPE_CHECKING:
    from tests.system.cli.conftest import Session

ENTRY = "from braid.tools.cli.main import run; run()"
NASTY = "\x1b[31mred\x1b[0m \x9b2J \x07 [bold]x[/bold] \u202egnp.exe \r overwritten"


def on_a_terminal(session: Session, *words: str, **env: str) -> bytes:
    """What a command writes when stdout and stderr are a terminal."""
    master, slave = pty.openpty()
    given = session.env | {"TERM": "xterm-256color", "COLUMNS": "160"} | env
    if "NO_COLOR" not in env:
        given.pop("NO_COLOR")
    process = subprocess.Popen(
        [sys.executable, "-c", ENTRY, *words],
        cwd=session.folder,
        env=given,
        stdin=subprocess.DEVNULL,
        stdout=slave,
        stderr=slave,
    )
    os.close(slave)
    written = b""
    try:
        while piece := os.read(master, 65536):
            written += piece
    except OSError:  # the other end is closed
        pass
    finally:
        os.close(master)
    process.wait()
    return written


@pytest.mark.parametrize(
    "char", [*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0)), "\u202e", "\u2066", "\u200f", "\ud800"]
)
def test_no_control_character_comes_through(char: str) -> None:
    assert char not in line(f"a{char}b")
    if char not in "\n\t":
        assert char not in clean(f"a{char}b")
    text = to_json({"a": f"a{char}b"})
    assert char not in text
    assert json.loads(text) == {"a": f"a{char}b"}


def test_text_stays_as_it_is() -> None:
    text = "Zoë 東京 👩‍🚀 שלום [not markup]"
    assert clean(text) == line(text) == cell(text) == text


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    "words", [("log",), ("show",), ("log", "-o", "json"), ("sql", "SELECT text FROM experiences")]
)
def test_nasty_text_does_not_steer_a_terminal(session: Session, words: tuple[str, ...]) -> None:
    id = session.well("append", NASTY).id
    for shown in (
        on_a_terminal(session, *words, *([id] if words == ("show",) else []), NO_COLOR="1").decode(),
        session.well(*words, *([id] if words == ("show",) else [])).out,
    ):
        assert "\x1b[31m" not in shown
        assert "\x9b" not in shown
        assert "\x07" not in shown
        assert "\u202e" not in shown
        assert "[bold]x[/bold]" in shown


def test_errors_are_cleaned_too(session: Session) -> None:
    done = session.braid("show", "\x1b[31mred")
    assert done.code == 2
    assert "\x1b" not in done.err


def test_tables_are_drawn_on_a_terminal_and_plain_in_a_pipe(session: Session) -> None:
    session.well("append", "hello")
    drawn = on_a_terminal(session, "log").decode()
    assert "─" in drawn
    assert "\x1b[" in drawn
    assert re.search(r"\x1b\[[\d;]*[349]\d", on_a_terminal(session, "log", NO_COLOR="1").decode()) is None
    plain = session.well("log").out
    assert "─" not in plain
    assert plain.splitlines()[0].split() == ["index", "id", "type", "occurred_at", "actor", "text"]


ID = "exp_2026-11-23T15:08:00Z_00000077ul9b"
ROW = (
    "231",
    ID,
    "inference",
    "2024-12-01T18:52:00+01:00",
    "agent",
    "Owen's wedding is on 12 April. " * 6,
    "",
)


@pytest.mark.parametrize("width", [20, 40, 60, 80, 100, 120, 160, 200])
def test_an_id_is_never_wrapped(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    put_table(["index", "id", "type", "occurred_at", "actor", "text", "note"], [ROW, ROW])
    shown = re.sub(r"\x1b\[[\d;]*m", "", capsys.readouterr().out)
    assert shown.count(ID) == 2
    assert " ".join(shown.split()).count("wedding") == 12
    assert ("─" in shown) == (width >= 120)
    assert max(map(len, shown.splitlines())) <= max(width, len(ID) + 2)


def test_a_narrow_table_without_ids_is_drawn(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    put_table(["a", "b"], [["x " * 40, f"see {ID}"]])
    put_table(["a", "id"], [])
    assert "─" in capsys.readouterr().out


def test_progress_is_shown_only_where_somebody_looks(session: Session) -> None:
    assert session.well("verify").err == ""
    assert b"verifying" in on_a_terminal(session, "verify")


def test_every_format_holds_the_same(session: Session) -> None:
    session.well("append", 'a "quoted", text')
    rows = json.loads(session.well("log", "-o", "json").out)
    lines = [json.loads(each) for each in session.well("log", "-o", "jsonl").out.splitlines()]
    table = list(csv.DictReader(io.StringIO(session.well("log", "-o", "csv").out)))
    assert rows == lines
    assert [row["id"] for row in rows] == [row["id"] for row in table]
    assert table[-1]["text"] == 'a "quoted", text'


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("=HYPERLINK(1)", "'=HYPERLINK(1)"),
        ("+1+cmd|' /C calc'!A0", "'+1+cmd|' /C calc'!A0"),
        ("-2+3", "'-2+3"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("\n=1", "'\n=1"),
        ("\uff1d1+1", "'\uff1d1+1"),
        ("\r=1", "\\r=1"),
        ("\x1b[31mred\x07", "\\e[31mred\\x07"),
        ("-5", "-5"),
        ("+3.25e-4", "+3.25e-4"),
        ("-.5", "-.5"),
        ("-5\n", "'-5\n"),
        ("-\u0663", "'-\u0663"),
        ("+351 912", "'+351 912"),
        ("plain = text", "plain = text"),
        ("", ""),
    ],
)
def test_a_cell_of_csv_steers_neither_a_terminal_nor_a_spreadsheet(
    text: str, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    put_rows(["n", "text"], [{"n": -5, "text": text}], "csv")
    put_rows(["n", "text"], [{"n": -5, "text": text}], "csv-raw")
    safe, raw = capsys.readouterr().out.split("n,text\n")[1:]
    assert next(csv.reader(io.StringIO(safe, newline=""))) == ["-5", shown]
    assert next(csv.reader(io.StringIO(raw, newline=""))) == ["-5", text]


def test_a_cell_of_a_table_steers_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    put_table(["kind\x1b"], [["\x1b[31mred\nline"]])
    assert capsys.readouterr().out == "kind\\e\n\\e[31mred\\nline\n"


def test_one_of_something_is_in_the_singular(session: Session) -> None:
    assert (many(0, "record"), many(1, "record"), in_log(1), in_log(2)) == (
        "0 records",
        "1 record",
        "1 record is in the log",
        "2 records are in the log",
    )
    session.well("init", "other", "--retention-days", "1")
    id = session.well("append", "x").id
    assert "1 record is in the log" in session.well("prove", id, id, "-O", "p.multi-proof").err


def test_what_is_no_text_needs_no_apostrophe(capsys: pytest.CaptureFixture[str]) -> None:
    """Base64 may begin with a plus, and JSON with a bracket: neither is a formula, and programs read them."""
    put_rows(["=a"], [{"=a": b"\xfb\xef\xbe"}, {"=a": {"b": "=1"}}, {"=a": -0.5}, {"=a": None}], "csv")
    assert capsys.readouterr().out == '\'=a\n++++\n"{""b"": ""=1""}"\n-0.5\n""\n'


def test_raw_csv_is_a_choice_of_every_command(session: Session) -> None:
    session.well("append", "=1+\x1b[31mred")
    for words in (("log",), ("sql", "SELECT text FROM experiences")):
        assert "'=1+\\e[31mred" in session.well(*words, "-o", "csv").out
        assert ",=1+\x1b[31mred" in "," + session.well(*words, "-o", "csv-raw").out.replace("\n", ",")
    assert "\x1b[31m" not in on_a_terminal(session, "log", "-o", "csv-raw").decode()
    assert session.well("status", "-o", "csv-raw").out.startswith("name,value\n")


@pytest.mark.soak
def test_a_reader_that_goes_away_is_no_error(session: Session) -> None:
    lines = "\n".join(json.dumps({"role": "user", "content": f"turn {n} " + "x" * 200}) for n in range(2_000))
    session.well("ingest", "-", stdin=lines)
    command = f"'{sys.executable}' -c '{ENTRY}' log -n 0 -o jsonl | head -n 1"
    done = subprocess.run(
        ["sh", "-c", command], cwd=session.folder, env=session.env, capture_output=True, check=False
    )
    assert done.stdout.count(b"\n") == 1
    assert done.stderr == b""


def test_an_interruption_is_told_and_loses_nothing(session: Session) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", ENTRY, "ingest", "-", "--source", "s"],
        cwd=session.folder, env=session.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stderr is not None
    for n in range(1_200):
        process.stdin.write(
            json.dumps({"role": "user", "content": f"turn {n} " + "x" * 200}).encode() + b"\n"
        )
    process.stdin.flush()
    deadline = time.monotonic() + 60
    while json.loads(session.well("status", "-o", "json").out)["records"] < 1_003:
        assert process.poll() is None
        assert time.monotonic() < deadline
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    said = process.stderr.read().decode()
    assert "braid: stopped" in said
    assert "Traceback" not in said
    process.stdin.close()
    process.stderr.close()
    if process.stdout:
        process.stdout.close()
    assert session.is_clean()


def test_the_store_may_be_named_before_or_after_the_command_or_by_the_environment(empty: Session) -> None:
    empty.well("init", "a")
    empty.well("init", "b")
    empty.well("--store", "a", "append", "x")
    assert "x" in empty.well("log", "--store", "a").out
    assert "x" in empty.well("log", BRAID_STORE="a").out
    assert "x" not in empty.well("--store", "a", "log", "--store", "b").out.split()
    assert "x" not in empty.well("--store", "b", "log", BRAID_STORE="a").out.split()


def test_an_interruption_within_a_library_is_one_too() -> None:
    for error in (RuntimeError("Query interrupted"), _behind(ValueError("made of it"), KeyboardInterrupt())):
        assert report(error) == 130
    assert report(RuntimeError("something else")) == 2


def _behind(error: Exception, cause: BaseException) -> Exception:
    error.__context__ = cause
    return error
