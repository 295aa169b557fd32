"""What a refusal says to do next on the command line is true of what was asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import braid
from braid.ledger.errors import UnknownRecordError
from braid.tools.cli.errors import explain
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
    ("ask", "listed"),
    [
        (lambda store: store.revoke_token("nobody"), "`braid token list`"),
        (lambda store: store.revoke("k_zz", reason="x"), "`braid key list`"),
    ],
    ids=["token", "key"],
)
def test_an_unknown_token_or_key_is_not_looked_for_among_the_records(
    opened: Store, ask: Callable[[Store], object], listed: str
) -> None:
    with pytest.raises(UnknownRecordError) as refused:
        ask(opened)
    said, hint = explain(refused.value)
    assert listed in said
    assert hint is None


def test_an_unknown_memory_is_looked_for_in_the_log(opened: Store) -> None:
    with pytest.raises(UnknownRecordError) as refused:
        opened.get("exp_zz")
    assert explain(refused.value)[1] == "`braid log` lists what there is"


def test_a_command_without_a_key_is_not_said_to_be_safe_to_repeat() -> None:
    hint = explain(OutcomeUnknownError("x"))[1] or ""
    assert "--key" in hint
    assert "`braid log`" in hint
