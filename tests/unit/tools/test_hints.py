"""What a refusal says to do next on the command line is true of what was asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import braid
from braid.ledger.errors import UnknownRecordError
from braid.severity import Severity
from braid.tools.cli.errors import explain
from braid.tools.http.problem import problem
from braid.wal.errors import OutcomeUnknownError

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
        (lambda store: store.revoke("k_zz", reason="x"), "`braid key list`", "the store's machine: `braid key list`"),
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


def test_an_unknown_memory_is_looked_for_in_the_log(opened: Store) -> None:
    with pytest.raises(UnknownRecordError) as refused:
        opened.get("exp_zz")
    assert explain(refused.value)[1] == "`braid log` lists what there is"


def test_a_command_without_a_key_is_not_said_to_be_safe_to_repeat() -> None:
    hint = explain(OutcomeUnknownError("x"))[1] or ""
    assert "--key" in hint
    assert "`braid log`" in hint
