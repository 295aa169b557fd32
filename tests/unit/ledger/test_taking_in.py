"""What was written and could not be taken in: nothing more is written by who doesn't know the log's control state."""

import errno
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from braid.ledger.audit.verify import verify
from braid.ledger.read.reader import Reader
from braid.ledger.record.record import Draft, EventBody
from braid.ledger.write.writer import Writer
from braid.wal.errors import WriterPoisonedError

SAID = Draft(kind="event", body=EventBody(name="said"))


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "no space"), KeyboardInterrupt()])
def test_after_a_control_record_that_could_not_be_read_back_the_writer_writes_nothing(
    store: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    """Else the next control record names another as the newest than the log has, and no reader accepts it."""

    def failing(*_: Any, **__: Any) -> Any:
        raise error

    with closing(Writer(store)) as writer:
        with monkeypatch.context() as patch:
            patch.setattr(writer, "envelope", failing)
            with pytest.raises(type(error)):
                writer.accept_clock("a reading that fails")
        size = writer.log.next_index
        for again in (lambda: writer.append([SAID]), lambda: writer.accept_clock("again")):
            with pytest.raises(WriterPoisonedError):
                again()
        assert writer.log.next_index == size
    with closing(Writer(store)) as writer:
        writer.accept_clock("once more")
        writer.append([SAID])
    with closing(Reader(store)) as reader:
        assert reader.size == size + 2
    report = verify(store)
    assert report.findings == []
