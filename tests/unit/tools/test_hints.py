"""What a refusal says to do next on the command line is true of what was asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

import braid
from braid.client.remote import problem_error
from braid.ledger.errors import RestoreRefusedError, UnknownRecordError
from braid.severity import Severity
from braid.tools.cli.errors import explain
from braid.tools.cli.main import run
from braid.tools.http.problem import problem
from braid.wal.errors import CorruptLogError, OutcomeUnknownError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from braid.store import Store


@pytest.fixture
def opened(store: Path) -> Iterator[Store]:
    with braid.open(store) as one:
        yield one


@pytest.mark.parametrize(
    ("ask", "command", "operation"),
    [
        (lambda store: store.revoke_token("nobody"), "`braid token list`", "`tokens`"),
        (
            lambda store: store.revoke("k_zz", reason="x"),
            "`braid key list`",
            "the store's machine: `braid key list`",
        ),
        (lambda store: store.views.snapshots.find("at-nowhere"), "`braid snapshot list`", "`snapshots`"),
        (lambda store: store.job("job_0123456789abcdef"), "`braid jobs list`", "`jobs`"),
    ],
    ids=["token", "key", "snapshot", "job"],
)
def test_what_has_no_such_id_is_looked_for_where_its_kind_is_listed(
    opened: Store, ask: Callable[[Store], object], command: str, operation: str
) -> None:
    with pytest.raises(LookupError) as refused:
        ask(opened)
    assert "braid" not in str(refused.value)
    assert command in (explain(refused.value)[1] or "")
    told = problem(refused.value)
    assert operation in (told.hint or "")
    assert (told.status, told.severity) == (404, Severity.SILENT)


@pytest.mark.parametrize(
    ("ask", "command", "operation"),
    [
        (lambda store, id: store.review("rev_0123456789ab"), "`braid review list`", "`reviews`"),
        (lambda store, id: store.accept_staged(id, 7), "`braid staging list`", "`staging`"),
        (lambda store, id: store.program_trace(id), "`braid program list`", "`programs`"),
        (
            lambda store, id: store.judge_decision(id, "right", reason="x"),
            "`braid decisions report`",
            "`decision_report`",
        ),
        (lambda store, id: store.refresh_lenses(id), "`braid lens list --views`", "`lens_views`"),
    ],
    ids=["review", "staging", "program", "decision", "view"],
)
def test_what_is_not_in_a_list_is_answered_with_how_the_list_is_asked_for(
    opened: Store, ask: Callable[[Store, str], object], command: str, operation: str
) -> None:
    id = opened.append("I live in Porto.", user_id="maya")
    with pytest.raises(Exception, match=id + "|rev_") as refused:
        ask(opened, id)
    assert "braid" not in str(refused.value)
    assert explain(refused.value)[1] == f"{command} shows what there is"
    assert problem(refused.value).hint == f"{operation} shows what there is"
    again = problem_error(msgspec.json.encode(problem(refused.value)))
    assert explain(again) == explain(refused.value)


def test_an_unknown_memory_is_looked_for_in_the_log(opened: Store) -> None:
    with pytest.raises(UnknownRecordError) as refused:
        opened.get("exp_zz")
    assert explain(refused.value)[1] == "`braid log` lists what there is"


def test_a_damaged_log_is_told_once_and_what_to_do_once() -> None:
    error = CorruptLogError("log/000000000000.seg", 24, "the frame's checksum is wrong")
    said, hint = explain(error)
    assert "log/000000000000.seg, offset 24: the frame's checksum is wrong" in said
    assert "verify" not in said
    assert "backup" not in said
    assert "`braid verify`" in (hint or "")
    assert "`verify`" in (problem(error).hint or "")


def test_a_refused_restore_does_not_send_to_a_store_that_is_not_there() -> None:
    said, hint = explain(RestoreRefusedError("it is an older copy"))
    assert said == "it is an older copy"
    assert "doctor" not in (hint or "")
    assert "docs/operate.md" in (hint or "")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["review", "accept", "rev_1", "--reason", "x"], "Missing option '--keep'. Choose from: one, other"),
        (["decisions", "judge", "exp_1"], "Missing argument 'verdict'. Choose from: right, wrong"),
    ],
)
def test_a_missing_choice_is_told_in_one_line(
    words: list[str], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["braid", *words])
    with pytest.raises(SystemExit) as ended:
        run()
    assert ended.value.code == 2
    assert capsys.readouterr().err == f"braid: {said}\n  hint: braid {words[0]} {words[1]} --help\n"


def test_a_command_without_a_key_is_not_said_to_be_safe_to_repeat() -> None:
    hint = explain(OutcomeUnknownError("x"))[1] or ""
    assert "--key" in hint
    assert "`braid log`" in hint
