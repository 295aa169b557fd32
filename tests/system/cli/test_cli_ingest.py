"""`braid ingest` with the formats of others: what is taken, what a second run takes, and what survives a kill."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from braid.tools.importers.message import Message
from tests.unit.tools.samples import EXPORTS, FILES, write_parquet, zip_of_folder

if TYPE_CHECKING:
    from types import FrameType

    from tests.system.cli.conftest import Session

ENTRY = "from braid.tools.cli.main import run; run()"
MAP = ("--map", "role=speaker,content=body", "--map", "timestamp=when")


def report(session: Session, *words: str | Path, code: int = 0, stdin: str | bytes = b"") -> dict[str, Any]:
    """What ingest says it did."""
    done = session.braid("ingest", *words, "-o", "json", stdin=stdin)
    assert done.code == code, done
    said: dict[str, Any] = json.loads(done.out)
    return said


def sql(session: Session, query: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(session.well("sql", query, "-o", "json").out)
    return rows


def test_every_format_goes_in_and_only_once(session: Session) -> None:
    zip_of_folder(session.folder / "slack.zip", EXPORTS / "slack")
    write_parquet(session.folder / "chat.parquet")
    good = [EXPORTS / file for name, file in FILES.items() if name not in ("csv", "locomo")]
    good += [session.folder / "slack.zip"]
    first = report(session, *good)
    assert first["skipped"] == 0
    assert first["taken"] > 40
    tables = report(session, EXPORTS / "chat.csv", session.folder / "chat.parquet", *MAP)
    assert (tables["taken"], tables["skipped"]) == (4, 0)
    again = report(session, *good)
    assert (again["taken"], again["already known"], again["skipped"]) == (0, first["taken"], 0)
    assert again["root"] == tables["root"]
    assert session.is_clean()


def test_what_is_kept_as_provenance(session: Session) -> None:
    session.well("ingest", EXPORTS / "slack", "--user-id", "maya")
    found = json.loads(session.well("log", "--since-index", "3", "-n", "0", "-o", "json").out)
    answered = found[2]
    (source,) = answered["provenance"]["sources"]
    assert source["uri"] == f"{(EXPORTS / 'slack').as_uri()}/general/2025-04-01.json#1743494520.000200"
    assert source["hash"].startswith("sha256:")
    assert answered["provenance"]["method"] == "import"
    assert answered["provenance"]["name"] == "Owen Black"
    assert answered["scope"] == {"user_id": "maya", "session_id": "C01GEN"}
    assert answered["external_id"] == "1743494520.000200"
    assert answered["occurred_at"].startswith("2025-04-01T08:02:00.0002")
    assert answered["content"]["structured"]["parent"] == found[1]["external_id"]
    assert answered["parents"] == []  # whom it answers is no derivation: erasing a question keeps the answers


def test_what_was_taken_is_told_only_where_something_was(session: Session) -> None:
    session.write("notes.bin", b"dear diary\x00")
    assert session.refused("ingest", "notes.bin").startswith("braid: notes.bin has no known format")
    said = session.refused("ingest", EXPORTS / "claude.json", "notes.bin")
    assert "3 turns taken before this; run the same again: none is added twice" in said


def test_a_dry_run_counts_by_role(session: Session) -> None:
    said = report(session, EXPORTS / "chatgpt.json", "--dry-run")
    assert {name: said[name] for name in said if name.startswith("from")} == {
        "from assistant": 5, "from tool": 1, "from user": 4,
    }  # fmt: skip
    assert said["would be taken"] == 10
    assert len(json.loads(session.well("log", "-n", "0", "-o", "json").out)) == 3


# notes: a re-run takes only what changed


@pytest.fixture
def notes(session: Session) -> Path:
    shutil.copytree(EXPORTS / "notes", session.folder / "notes")
    assert report(session, "notes")["taken"] == 5
    return session.folder / "notes" / "porto.md"


def texts(session: Session) -> list[str]:
    """Sections about prices that nothing has replaced."""
    replaced = "SELECT target_id FROM links WHERE role = 'supersedes'"
    query = f"SELECT text FROM experiences WHERE text LIKE '%euros%' AND id NOT IN ({replaced})"
    return [row["text"].split("\n")[-1] for row in sql(session, query)]


def edit(path: Path, old: str, new: str) -> None:
    path.write_text(path.read_text().replace(old, new))


def test_a_changed_section_replaces_its_former_self(session: Session, notes: Path) -> None:
    edit(notes, "Three euros", "Four euros")
    said = report(session, "notes")
    assert (said["taken"], said["in place of an earlier version"], said["already known"]) == (1, 1, 4)
    assert texts(session) == ["Four euros."]
    assert report(session, "notes")["taken"] == 0


def test_a_section_that_goes_back_and_forth_is_followed(session: Session, notes: Path) -> None:
    for old, new in (("Three", "Four"), ("Four", "Three"), ("Three", "Four"), ("Four", "Five")):
        edit(notes, f"{old} euros", f"{new} euros")
        assert report(session, "notes")["taken"] == 1
        assert texts(session) == [f"{new} euros."]
        assert report(session, "notes")["taken"] == 0
    assert session.is_clean()


def test_a_correction_by_hand_stays(session: Session, notes: Path) -> None:
    (row,) = sql(session, "SELECT id FROM experiences WHERE text LIKE '%euros%'")
    session.well("correct", row["id"], "Two euros.")
    assert report(session, "notes")["taken"] == 0
    assert texts(session) == ["Two euros."]


def test_an_edit_at_the_source_replaces_and_another_text_without_one_is_told(session: Session) -> None:
    shutil.copytree(EXPORTS / "slack", session.folder / "slack")
    session.well("ingest", "slack")
    day = session.folder / "slack/general/2025-04-01.json"
    edit(day, '"Here."', '"Here it is."')
    said = report(session, "slack")
    assert (said["taken"], said["in place of an earlier version"]) == (1, 1)
    edit(day, "Who has the", "Who took the")
    said = report(session, "slack", code=1)
    assert (said["taken"], said["skipped"]) == (0, 1)
    assert said["skipped lines"] == [
        {
            "place": "slack/general/2025-04-01.json#1743494460.123456",
            "reason": "another turn was recorded under this id before; `braid correct` it instead",
        }
    ]


def test_an_edit_that_may_not_replace_the_owners_words_costs_no_other_line(session: Session) -> None:
    shutil.copytree(EXPORTS / "slack", session.folder / "slack")
    session.well("ingest", "slack", "--me", "Owen Black")
    day = session.folder / "slack/general/2025-04-01.json"
    edit(day, '"Here."', '"Here it is."')
    edit(
        day,
        "\n]",
        ',\n  {"type": "message", "ts": "1743494700.000100", "user": "U01MAYA", "text": "Thanks, Owen."}\n]',
    )
    said = report(session, "slack", code=1)
    assert (said["taken"], said["skipped"]) == (1, 1)
    assert "an outsider's words can't take the place of" in said["skipped lines"][0]["reason"]
    there = {row["text"] for row in sql(session, "SELECT text FROM experiences")}
    assert {"Here.", "Thanks, Owen."} <= there
    assert "Here it is." not in there


def slack_with(session: Session, name: str, text: str, edited: str | None) -> str:
    shutil.copytree(EXPORTS / "slack", session.folder / name)
    day = session.folder / name / "general/2025-04-01.json"
    found = json.loads(day.read_bytes())
    found[2] |= {"text": text, "edited": edited and {"user": "U", "ts": edited}}
    day.write_text(json.dumps(found))
    return name


def discord_with(session: Session, name: str, text: str, edited: str | None) -> str:
    found = json.loads((EXPORTS / "discord.json").read_bytes())
    time_ = edited and f"{datetime.fromtimestamp(int(edited[:10]), UTC).isoformat()}"
    found["messages"][1] |= {"content": text, "timestampEdited": time_}
    session.write(name, json.dumps(found))
    return name


@pytest.mark.parametrize(("export", "count"), [(slack_with, 5), (discord_with, 3)])
def test_an_older_edit_takes_no_later_ones_place(session: Session, export: Any, count: int) -> None:
    first = export(session, "first", "One", None)
    second = export(session, "second", "Two", "1743495000.000000")
    third = export(session, "third", "Three", "1743496000.000000")
    assert taken(session, second) == (count, 0)
    assert taken(session, first) == (0, count)
    assert taken(session, third) == (1, count - 1)
    for older in (first, second, third):
        assert taken(session, older) == (0, count)
    replaced = "SELECT target_id FROM links WHERE role = 'supersedes'"
    query = f"SELECT text FROM experiences WHERE text IN ('One', 'Two', 'Three') AND id NOT IN ({replaced})"
    assert sql(session, query) == [{"text": "Three"}]


# what a person says of a source


def test_since_leaves_out_the_older_and_keeps_what_has_no_time(session: Session) -> None:
    said = report(session, EXPORTS / "chatgpt.json", "--since", "2025-05-18")
    assert (said["taken"], said["older"], said["skipped"]) == (3, 7, 0)
    said = report(session, EXPORTS / "chatgpt.json", "--since", "2025-05-17T09:40:00+02:00")
    assert (said["taken"], said["older"], said["already known"]) == (1, 6, 3)


def test_times_without_an_offset_are_taken_where_a_zone_is_named(session: Session) -> None:
    session.write("a.csv", "text,timestamp\nhi,2025-07-01T09:00:00\nho,2025-07-01 23:30:00\n")
    said = report(session, "a.csv", code=1)
    assert (said["taken"], said["skipped"]) == (0, 2)
    assert "--timezone" in said["skipped lines"][0]["reason"]
    session.write("n.md", "---\ndate: 2025-07-01 09:00:00\n---\n# Note\n")
    said = report(session, "a.csv", "n.md", "--timezone", "Europe/Berlin", "--since", "2025-07-01")
    assert (said["taken"], said.get("older"), said["skipped"]) == (3, None, 0)
    found = json.loads(session.well("log", "--since-index", "3", "-n", "0", "-o", "json").out)
    assert [each["occurred_at"] for each in found] == [
        "2025-07-01T09:00:00+02:00", "2025-07-01T23:30:00+02:00", "2025-07-01T09:00:00+02:00",
    ]  # fmt: skip
    said = report(
        session, "a.csv", "--timezone", "Europe/Berlin", "--since", "2025-07-01T09:00:01", "--dry-run"
    )
    assert said["older"] == 1


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--since", "yesterday"), "--since is not RFC 3339: 'yesterday'"),
        (("--since", "2025-05-17T09:40:00"), "--since has no offset"),
        (
            ("--timezone", "Europe/Berln"),
            "--timezone knows no zone 'Europe/Berln': did you mean Europe/Berlin?",
        ),
        (("--timezone", "Europe"), "--timezone knows no zone 'Europe'"),
        (("--timezone", "../etc/passwd"), "--timezone knows no zone"),
        (("--timezone", ""), "--timezone knows no zone ''"),
        (("--map", "content"), "--map takes field=column, not 'content'"),
        (("--map", "mood=x"), "--map knows no field 'mood'"),
        (("--map", "role=a,role=b"), "--map says role twice"),
        (("--map", "content=x"), "--map is for tables (csv, parquet)"),
        (("--format", "slack"), None),
    ],
)
def test_what_can_not_be_said_is_refused(
    session: Session, words: tuple[str, ...], reason: str | None
) -> None:
    path = EXPORTS / "chat.jsonl"
    if reason is None:
        assert report(session, path, *words)["taken"] == 0
    else:
        assert reason in session.refused("ingest", path, *words)


def test_a_table_without_a_content_column_says_what_to_do(session: Session) -> None:
    said = report(session, EXPORTS / "chat.csv", code=1)
    assert said["skipped lines"][0]["reason"].startswith(
        "say which column holds the content: --map content=COLUMN"
    )


def test_a_source_that_breaks_off_keeps_what_came_before(session: Session) -> None:
    path = zip_of_folder(session.folder / "notes.zip", EXPORTS / "notes")
    data = bytearray(path.read_bytes())
    at = data.find(b"travel/lisbon.md") + len("travel/lisbon.md")
    data[at] ^= 0xFF
    path.write_bytes(data)
    said = report(session, "notes.zip", EXPORTS / "prose.txt", code=1)
    assert said["taken"] == 4 + 3
    assert "damaged member of a zip" in said["skipped lines"][0]["reason"]


def test_names_in_a_source_do_not_steer_the_terminal(session: Session) -> None:
    (session.folder / "n").mkdir()
    (session.folder / "n" / "\x1b[31mred.md").write_bytes(b"# x\n\x00")
    done = session.braid("ingest", "n")
    assert done.code == 1
    assert "\x1b" not in done.err
    assert "\\e[31mred.md:1: a NUL byte is not text" in done.err


@pytest.mark.parametrize("line", ['{"role":"user","content":"a\\u0000b"}', '{"role":"user","content":"x","n":1e400}',
                                  '{"role":"user","content":"x","n":' + "9" * 30 + "}",
                                  '{"role":"user","content":"x","n":' + "[" * 150 + "]" * 150 + "}",
                                  '{"role":"user","content":"x","n":' + "[" * 950 + "]" * 950 + "}"])  # fmt: skip
def test_odd_values_are_taken_or_skipped_with_a_reason(session: Session, line: str) -> None:
    done = session.braid("ingest", "-", "-o", "json", stdin=f'{{"role":"user","content":"good"}}\n{line}\n')
    assert done.code in (0, 1), done
    said = json.loads(done.out)
    assert said["taken"] + said["skipped"] == 2
    assert "unexpected" not in done.err


# many lines that are left out


def test_of_many_bad_lines_the_first_are_shown_and_all_are_in_a_file(session: Session) -> None:
    good = '{"role": "user", "content": "good"}\n'
    bad = "".join(f'{{"role": "user", "n\x1b{n}": 1}}\n' for n in range(6_000))
    done = session.braid("ingest", "-", "-o", "json", stdin=good + bad, TMPDIR=str(session.folder))
    assert done.code == 1
    (path,) = session.folder.glob("braid-skipped-*.txt")
    assert path.stat().st_mode & 0o777 == 0o600
    told = path.read_text().splitlines()
    assert (len(told), told[0][:5], told[-1][:8]) == (6_000, "-:2: ", "-:6001: ")
    assert "\x1b" not in path.read_text()
    shown = done.err.splitlines()
    assert len(shown) == 12
    assert [each.removeprefix("braid: ") for each in shown[:10]] == told[:10]
    assert shown[-1] == f"braid: 6000 lines skipped; the rest went in; all of them are in {path}"
    said = json.loads(done.out)
    assert (said["taken"], said["skipped"], len(said["skipped lines"])) == (1, 6_000, 1_000)
    assert said["all skipped lines"] == str(path)


def test_many_bad_lines_at_the_head_are_told_like_any(session: Session) -> None:
    bad = "".join(f'{{"role": "user", "n{n}": 1}}\n' for n in range(6_000))
    good = '{"role": "user", "content": "good"}\n'
    done = session.braid("ingest", "-", "-o", "json", stdin=bad + good, TMPDIR=str(session.folder))
    assert done.code == 1, done
    shown = done.err.splitlines()
    assert len(shown) == 12
    assert shown[0].startswith("braid: -:1: ")
    assert shown[-1].startswith("braid: 6000 lines skipped; the rest went in")
    said = json.loads(done.out)
    assert (said["taken"], said["skipped"]) == (1, 6_000)


def test_where_every_line_is_bad_nothing_is_said_to_have_gone_in(session: Session) -> None:
    done = session.braid("ingest", "-", stdin='{"role": "user", "session_id": "x", "content": "hi"}\n' * 2)
    assert (done.code, done.err.splitlines()[-1]) == (1, "braid: 2 lines skipped; nothing went in")


def test_ten_bad_lines_need_no_file(session: Session) -> None:
    done = session.braid("ingest", "-", "--dry-run", stdin="x\n" * 10, TMPDIR=str(session.folder))
    assert done.code == 2 or not list(session.folder.glob("braid-skipped-*"))
    bad = '{"role": "user", "content": "x"}\n' + "x\n" * 10
    done = session.braid("ingest", "-", "--dry-run", stdin=bad, TMPDIR=str(session.folder))
    assert done.err.splitlines()[-1] == "braid: 10 lines would be skipped"
    assert not list(session.folder.glob("braid-skipped-*"))


def test_a_report_that_has_no_room_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import tempfile

    from braid.tools.cli.rejects import Skips

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    with Skips() as skips:
        for n in range(12):
            skips.tell(f"f:{n}", "bad")
    said = capsys.readouterr().err
    assert (skips.count, skips.path, skips.where()) == (12, None, "")
    assert said.count("f:") == 10
    assert "can't be written down: No such file or directory" in said


def test_a_disk_that_fills_up_takes_the_half_written_report_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import tempfile

    from braid.tools.cli.rejects import Skips

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with Skips() as skips:
        for n in range(12):
            skips.tell(f"f:{n}", "bad")
        full = os.open("/dev/full", os.O_WRONLY)
        assert skips._file is not None
        os.dup2(full, skips._file.fileno())
        os.close(full)
    assert (skips.count, skips.path, list(tmp_path.iterdir())) == (12, None, [])
    assert "can't be written down: No space left on device" in capsys.readouterr().err


# interrupted


@pytest.mark.soak
def test_killed_in_the_middle_it_goes_on_and_takes_nothing_twice(session: Session) -> None:
    turns = 6_000
    path = session.write(
        "many.jsonl", "".join(f'{{"role":"user","content":"turn {n}"}}\n' for n in range(turns))
    )
    command = [sys.executable, "-c", ENTRY, "ingest", str(path)]
    for _ in range(2):
        before = log_bytes(session)
        with subprocess.Popen(
            command, cwd=session.folder, env=session.env, stderr=subprocess.DEVNULL
        ) as process:
            while process.poll() is None and log_bytes(session) < before + 1_000_000:
                time.sleep(0.01)
            process.send_signal(signal.SIGKILL)
        assert process.returncode == -signal.SIGKILL
    said = report(session, path)
    assert 0 < said["already known"] < turns
    assert said["taken"] + said["already known"] == turns
    assert sql(session, "SELECT count(*) AS n, count(DISTINCT text) AS m FROM experiences") == [
        {"n": turns, "m": turns}
    ]
    assert session.is_clean()


def log_bytes(session: Session) -> int:
    return sum(path.stat().st_size for path in (session.store / "log").glob("*.seg"))


def test_what_is_known_is_passed_over_with_less_work_than_it_was_taken(tmp_path: Path) -> None:
    import braid
    from braid.log import drafts
    from braid.tools.cli.intake import Intake
    from braid.tools.cli.progress import Bar
    from braid.tools.cli.sources import open_source

    path = tmp_path / "many.jsonl"
    path.write_text("".join(f'{{"role":"user","content":"turn {n}","id":"{n}"}}\n' for n in range(1_000)))

    def taken_and_calls(memory: str) -> tuple[int, int]:
        calls = 0

        def count(_frame: FrameType, event: str, _arg: object) -> None:
            nonlocal calls
            calls += event == "call"

        with braid.open(tmp_path / memory) as store:
            intake = Intake(store, lambda session: drafts.scope(session_id=session))
            with open_source(str(path), None, {}) as opened:
                sys.setprofile(count)
                try:
                    intake.take(opened, opened.source_id, Bar())
                finally:
                    sys.setprofile(None)
            return intake.taken, calls

    for memory in (
        "warm",
        "measured",
    ):  # what is imported, compiled and cached at the first use counts in neither
        braid.init(tmp_path / memory, durability="none")
    taken_and_calls("warm")
    first, taking = taken_and_calls("measured")
    again, passing = taken_and_calls("measured")
    assert (first, again) == (1_000, 0)
    assert passing < 0.8 * taking, f"{passing} calls against {taking}"


# whose memory it is


def taken(session: Session, *words: str | Path, code: int = 0) -> tuple[int, int]:
    """How many turns were taken, and how many were known."""
    said = report(session, *words, "--no-learn", code=code)
    return said["taken"], said["already known"]


@pytest.mark.parametrize("source", ["chat.jsonl", "slack", "prose.txt"])
def test_what_one_user_has_is_new_to_another(session: Session, source: str) -> None:
    ann, count = (EXPORTS / source, "--user-id", "ann"), 3 if source != "slack" else 5
    bob = (EXPORTS / source, "--user-id", "bob")
    assert taken(session, *ann) == (count, 0)
    assert taken(session, *bob) == (count, 0)
    for again in (ann, bob, ann, bob):
        assert taken(session, *again) == (0, count)
    assert session.is_clean()


def test_a_wider_scope_knows_what_a_narrower_one_took(session: Session) -> None:
    source = EXPORTS / "chat.jsonl"
    assert taken(session, source, "--user-id", "ann", "--project-id", "loft") == (3, 0)
    assert taken(session, source, "--project-id", "loft") == (0, 3)
    assert taken(session, source) == (0, 3)


def test_a_narrower_scope_takes_what_a_wider_one_has(session: Session) -> None:
    source = EXPORTS / "chat.jsonl"
    assert taken(session, source) == (3, 0)
    assert taken(session, source, "--user-id", "ann") == (3, 0)
    assert taken(session, source, "--user-id", "ann", "--project-id", "loft") == (3, 0)
    assert taken(session, source, "--session", "s1") == (0, 3)
    assert taken(session, source, "--user-id", "ann", "--session", "s1") == (0, 3)


def test_an_edit_replaces_the_turn_of_its_own_user(session: Session) -> None:
    shutil.copytree(EXPORTS / "notes", session.folder / "notes")
    for user in ("ann", "bob"):
        assert taken(session, "notes", "--user-id", user) == (5, 0)
    edit(session.folder / "notes" / "porto.md", "Three euros", "Four euros")
    for user in ("bob", "ann"):
        assert taken(session, "notes", "--user-id", user) == (1, 4)
        assert taken(session, "notes", "--user-id", user) == (0, 5)
    assert texts(session) == ["Four euros.", "Four euros."]


# ids without a conversation

ROWS = ("1,I live in Porto.", "2,I have a cat.", "3,I bake on Sundays.")


def table(session: Session, name: str, rows: tuple[str, ...], header: str = "id,text") -> Path:
    return session.write(name, "\n".join([header, *rows]) + "\n")


def test_rows_with_ids_are_known_in_any_order_and_behind_others(session: Session) -> None:
    assert taken(session, table(session, "t.csv", ROWS)) == (3, 0)
    assert taken(session, table(session, "t.csv", ROWS[::-1])) == (0, 3)
    assert taken(session, table(session, "t.csv", ("0,I sing.", *ROWS))) == (1, 3)
    moods = tuple(f"{row},calm" for row in ROWS)
    assert taken(session, table(session, "moods.csv", moods, "id,text,mood")) == (0, 3)
    assert taken(session, table(session, "t.csv", ROWS), "--user-id", "ann") == (3, 0)
    assert taken(session, table(session, "t.csv", ROWS[::-1]), "--user-id", "ann") == (0, 3)


def test_lines_with_ids_are_known_in_any_order(session: Session) -> None:
    lines = [
        json.dumps({"role": "user", "content": f"Day {n}", "id": n, "timestamp": f"2025-05-0{n}T09:00:00Z"})
        for n in (1, 2, 3)
    ]
    assert taken(session, session.write("t.jsonl", "\n".join(lines))) == (3, 0)
    assert taken(session, session.write("u.jsonl", "\n".join(lines[::-1]))) == (0, 3)


def test_the_same_ids_with_other_words_are_other_messages(session: Session) -> None:
    others = ("1,The gig is on Friday.", "2,I have a cat.", "3,Bring the drum.")
    assert taken(session, table(session, "t.csv", ROWS)) == (3, 0)
    assert taken(session, table(session, "u.csv", others)) == (2, 1)
    for again in (ROWS, others, ROWS[::-1], others[::-1]):
        assert taken(session, table(session, "v.csv", again)) == (0, 3)


def test_other_words_in_a_file_that_goes_on_are_reported(session: Session) -> None:
    assert taken(session, table(session, "t.csv", ROWS)) == (3, 0)
    changed = (ROWS[0], "2,I have a dog.", ROWS[2], "4,I sing.")
    assert taken(session, table(session, "t.csv", changed), code=1) == (1, 2)


def test_an_id_that_comes_twice_is_reported_with_its_line(session: Session) -> None:
    path = table(session, "t.csv", ('1,"I live', "in", 'Porto."', '1,"I have', 'a cat."'))
    said = report(session, path, code=1)
    assert said["skipped lines"][0]["place"].endswith("t.csv:6")


def test_a_file_that_an_earlier_release_took_is_known(session: Session) -> None:
    """Such a turn has the key by its file's first line alone."""
    import braid
    from braid.log import drafts
    from braid.tools.cli.sources import draft_of, open_source

    path = table(session, "t.csv", ROWS)
    with (
        braid.open(session.store, guard_dir=session.folder / "guard") as store,
        open_source(str(path), None, {}) as opened,
    ):
        turns = [one for one in opened.importer.read(opened.source) if isinstance(one, Message)]
        store.session.append_drafts(
            [draft_of(one, drafts.scope(), one.key(opened.source_id)) for one in turns]
        )
    assert taken(session, path) == (0, 3)
    assert taken(session, table(session, "t.csv", (*ROWS, "4,I sing."))) == (1, 3)
    assert taken(session, table(session, "t.csv", (ROWS[0], "2,I have a dog.")), code=1) == (0, 1)


# words that no person wrote


def test_nothing_is_learned_of_the_owner_from_what_a_model_wrote(session: Session) -> None:
    marks: tuple[dict[str, bool], ...] = ({"isSidechain": True}, {"isCompactSummary": True}, {"isMeta": True})
    lines = [
        {
            "type": "user", "uuid": f"u{n}", "sessionId": "s1", "timestamp": f"2025-05-0{n + 1}T09:00:00Z", **mark,
            "message": {"role": "user", "content": f"I live in {city}."},
        }
        for n, (mark, city) in enumerate(zip((*marks, {}), ("Lima", "Oslo", "Turin", "Porto"), strict=True))
    ]  # fmt: skip
    session.write("t.jsonl", "\n".join(map(json.dumps, lines)))
    assert report(session, "t.jsonl", "--user-id", "ann")["claims read"] == 1
    assert "Porto" in session.well("ask", "Where do I live?", "--user-id", "ann").out


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("plain", "Great, thanks.\n\nOn Fri, 2 May 2025, Bo <bo@x.org> wrote:\n> I live in Turin.\n"),
        ("html", "<p>Great, thanks.</p><p>Bo wrote:</p><blockquote type=cite>I live in Turin.</blockquote>"),
    ],
)
def test_what_a_mail_quotes_is_not_its_senders(session: Session, kind: str, body: str) -> None:
    session.write(
        "sent.mbox",
        "From ann@x.org Fri May  2 10:00:00 2025\nFrom: Ann <ann@x.org>\nMessage-ID: <1@x.org>\n"
        f"Date: Fri, 2 May 2025 10:00:00 +0000\nSubject: Re: moving\nContent-Type: text/{kind}\n\n{body}\n",
    )
    assert report(session, "sent.mbox", "--sent", "--user-id", "ann")["claims read"] == 0
    assert "Turin" not in session.braid("ask", "Where do I live?", "--user-id", "ann").out


# a folder of several formats


def test_files_of_another_format_in_a_folder_are_named(session: Session) -> None:
    (session.folder / "mixed").mkdir()
    session.write("mixed/n.md", "# Tea\nI drink tea.\n")
    for name in ("mail.mbox", "l.jsonl", "t.csv"):
        session.write(f"mixed/{name}", "x\n")
    done = session.well("ingest", "mixed", "-o", "json")
    said = json.loads(done.out)
    assert (said["taken"], said["skipped"], said["files passed over"]) == (1, 0, 3)
    assert "mixed: read as markdown; 3 files of it passed over: l.jsonl, mail.mbox, t.csv" in done.err
    for number in range(30):
        session.write(f"mixed/{number:02}.csv", "x\n")
    zip_of_folder(session.folder / "mixed.zip", session.folder / "mixed")
    done = session.well("ingest", "mixed.zip")
    assert "33 files of it passed over: 00.csv, " in done.err
    assert "09.csv and 23 more" in done.err


def test_a_member_of_ones_own_says_nothing_of_edits(session: Session) -> None:
    done = [
        session.braid("ingest", "a.csv")
        for pet, when in (("cat", "2025-01-01T00:00:00Z"), ("dog", "2025-06-01T00:00:00Z"))
        if (session.folder / "a.csv").write_text(
            f"id,text,edited_at\n1,I live in Porto.,2025-01-01T00:00:00Z\n2,I have a {pet}.,{when}\n"
        )
    ]
    assert "skipped        1" in done[1].out, done[1]
