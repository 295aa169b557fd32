"""What a refusal over HTTP hints at can be done over HTTP, or says where; a command line keeps its own commands."""

import errno
import re
import sqlite3
from pathlib import Path
from typing import Final

import msgspec
import pytest

from braid.client.remote import problem_error
from braid.errors import (
    ConfirmationError,
    FrozenError,
    LostPlaceError,
    PinnedError,
    UnknownEntityError,
    VersionConflictError,
)
from braid.ledger.errors import (
    ClockError,
    ErasedError,
    ForgottenError,
    IdempotencyConflictError,
    IntegrityError,
    KeyRefusedError,
    RollbackError,
    UnknownRecordError,
)
from braid.registry import operations
from braid.tools.cli.errors import REFUSED, explain, report
from braid.tools.http.problem import problem
from braid.views.errors import ViewBusyError
from braid.wal.errors import LogLockedError, OutcomeUnknownError
from braid.work.embedded import EmbeddedQueue
from braid.work.errors import FullError, LogAwayError, TransportError


def test_who_holds_the_lock_is_told_of_every_command_that_shares_it() -> None:
    assert "append and ingest" not in str(explain(LogLockedError("x"))[1])


def test_jobs_on_a_full_disk_ask_for_room_and_not_for_another_queue(tmp_path: Path) -> None:
    jobs = EmbeddedQueue(tmp_path / "work.sqlite")
    full = sqlite3.OperationalError("database or disk is full")
    full.sqlite_errorcode = sqlite3.SQLITE_FULL
    with pytest.raises(TransportError) as refused, jobs._changing():
        raise full
    said, hint = explain(refused.value)
    assert "work.sqlite" in said
    assert "free some space" in str(hint)
    assert "--queue" not in str(hint)
    assert "--queue" in str(explain(TransportError("redis: away"))[1])


def test_a_full_disk_is_told_alike_whoever_met_it() -> None:
    told, other = (
        problem(FullError("work.sqlite: the disk is full")),
        problem(OSError(errno.ENOSPC, "no space")),
    )
    assert (told.status, told.title, told.hint) == (other.status, other.title, other.hint)
    assert (told.status, told.title) == (507, "Disk full")


@pytest.mark.parametrize(
    ("error", "title"), [(ValueError("x"), "Refused"), (LookupError("x"), "Not found")], ids=repr
)
def test_what_has_no_class_of_braids_has_a_title_in_words(error: Exception, title: str) -> None:
    assert problem(error).title == title


@pytest.mark.parametrize(
    ("error", "detail"),
    [
        (
            LogLockedError("/home/ana/memory/log is open for writing elsewhere"),
            "log is open for writing elsewhere",
        ),
        (
            ViewBusyError("another process is at work on it", Path("/srv/ana/memory/views")),
            "views: another process",
        ),
        (TransportError("/home/ana/memory/work.sqlite: database or disk is full"), "work.sqlite: database"),
        (OSError(errno.ENOSPC, "no space", "/home/ana/memory/vault/keys"), "keys: the"),
        (
            UnknownRecordError("/notes/2025/may: no record has this id"),
            "/notes/2025/may: no record has this id",
        ),
        (ValueError("https://example.org/a/b is no time"), "https://example.org/a/b is no time"),
    ],
    ids=repr,
)
def test_folders_of_the_servers_machine_are_nobodys_business_elsewhere(error: Exception, detail: str) -> None:
    assert problem(error).detail.startswith(detail)


_CODE: Final = re.compile(r"`([^`]+)`")


@pytest.mark.parametrize(
    "error",
    [
        UnknownRecordError("x"),
        UnknownEntityError("x"),
        ErasedError("x"),
        ForgottenError("x"),
        IdempotencyConflictError("k", "exp_1", ("text",)),
        VersionConflictError("x", 1, 2),
        PinnedError("x"),
        ConfirmationError("x"),
        FrozenError("x"),
        IntegrityError("x"),
        LogLockedError("x"),
        OutcomeUnknownError("x"),
        OSError(errno.ENOSPC, "no space"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_hint_names_operations(error: Exception) -> None:
    hint = problem(error).hint
    assert hint
    assert "braid" not in hint
    assert set(_CODE.findall(hint)) <= set(operations())


@pytest.mark.parametrize("error", [RollbackError("x"), KeyRefusedError("x")], ids=repr)
def test_what_no_operation_does_is_done_where_the_store_is(error: Exception) -> None:
    assert (problem(error).hint or "").startswith("on the store's machine: ")


def test_what_was_noted_of_an_error_stays() -> None:
    error = LostPlaceError("x")
    error.add_note("ask for the first page again")
    assert problem(error).hint == "ask for the first page again"


def test_a_command_beside_a_server_hints_at_commands_once() -> None:
    for error in (UnknownRecordError("x"), ForgottenError("x")):
        again = problem_error(msgspec.json.encode(problem(error)))
        assert explain(again) == explain(error)
        assert again.__notes__ == [f"hint: {problem(error).hint}"]
    lost = LostPlaceError("x")
    lost.add_note("ask for the first page again")
    assert explain(problem_error(msgspec.json.encode(problem(lost))))[1] == "ask for the first page again"


def test_what_an_error_carries_comes_back_with_it() -> None:
    error = IdempotencyConflictError("k", "exp_1", ("text", "tags"))
    again = problem_error(msgspec.json.encode(problem(error)))
    assert isinstance(again, IdempotencyConflictError)
    assert (again.key, again.id, again.unlike) == ("k", "exp_1", ("text", "tags"))
    assert str(again) == str(error)
    bare = problem_error(b'{"title": "x", "status": 409, "detail": "x", "error": "IdempotencyConflictError"}')
    assert isinstance(bare, IdempotencyConflictError)
    assert bare.unlike == ()


def test_an_error_that_is_behind_itself_is_reported_all_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    why = ClockError("the clock went back")
    why.__context__ = LogAwayError(why)
    why.__context__.__cause__ = why
    assert report(why) == REFUSED
    assert "the clock went back" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "members"),
    [
        (
            "LedgerError",
            {"__class__": "x", "__traceback__": "x", "args": "x", "add_note": "x", "__notes__": "x"},
        ),
        ("ExceptionGroup", {}),
        ("StopIteration", {}),
        ("KeyboardInterrupt", {}),
    ],
)
def test_a_server_that_lies_makes_no_error_of_another_kind(name: str, members: dict[str, str]) -> None:
    told = {"title": "x", "status": 409, "detail": "d", "hint": "h", "error": name, "members": members}
    error = problem_error(msgspec.json.encode(told))
    assert type(error).__name__ == (name if members else "RemoteError")
    assert (str(error), error.__notes__, error.__traceback__) == ("d", ["hint: h"], None)
