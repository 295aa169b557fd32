"""An append of which nobody knows whether it is on disk: told as such, and safe to repeat under its key."""

import errno
from pathlib import Path

import pytest

import braid
from braid.wal import failpoint

SAID = [{"role": "user", "content": "I drink tea now."}, {"role": "assistant", "content": "Noted."}]


@pytest.mark.parametrize("survived", [True, False])
@pytest.mark.parametrize("shared", [False, True])
def test_it_is_repeated_under_its_key(store: Path, survived: bool, shared: bool) -> None:
    with braid.open(store) as opened:
        opened.append("before")
    segment = store / "log" / "000000000000.seg"
    before = segment.read_bytes()

    def fail(point: str) -> None:
        if point == "wal.sync":
            raise OSError(errno.EIO, "Input/output error")

    with braid.open(store, shared=shared) as opened:
        failpoint.arm(fail)
        try:
            with pytest.raises(braid.OutcomeUnknownError, match="retry with the same idempotency key"):
                opened.remember(SAID, user_id="maya", idempotency_key="chat-1", learn=False)
        finally:
            failpoint.arm(None)
        with pytest.raises(braid.WalError):
            opened.append("after it")
    if not survived:
        segment.write_bytes(before)
    with braid.open(store, shared=shared) as opened:
        known = len(opened)
        ids = opened.remember(SAID, user_id="maya", idempotency_key="chat-1", learn=False)
        assert [opened.get(id).text for id in ids] == ["I drink tea now.", "Noted."]
        assert len(opened) == known + (0 if survived else 2)
        assert opened.remember(SAID, user_id="maya", idempotency_key="chat-1", learn=False) == ids
        assert [record.text for record in opened.read() if record.kind == "experience"].count("Noted.") == 1
        assert opened.verify(deep=True).exit_code == 0
