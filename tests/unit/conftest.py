"""What holds for unit tests: they start no process and do not sleep, so they wait for little but the processor."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.sandboxes import in_process

BARRED = frozenset((
    "subprocess.Popen", "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn",
))  # fmt: skip
"""Events of the interpreter (PEP 578): they come however a function was imported, and by whatever library."""
FONTS = "fc-list"
"""What matplotlib starts where nobody has drawn yet: it keeps what it found at home."""
_barring = False


class BarredError(AssertionError):
    """A unit test did what belongs to tests/system."""


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if _barring and event in BARRED and args[:1] != (FONTS,):
        raise BarredError(f"a unit test may not call {event}: {args!r}")


def _watched(sleep: Callable[[Any], None]) -> Callable[[Any], None]:
    """Wrap `sleep`, of which Python tells by an event only from 3.13 on. Other threads may be those of other tests."""

    def watched(seconds: Any) -> None:
        if _barring and seconds and threading.current_thread() is threading.main_thread():
            raise BarredError(f"a unit test may not sleep: {seconds} s")
        sleep(seconds)

    return watched


sys.addaudithook(_hook)
time.sleep = _watched(time.sleep)


@pytest.fixture(autouse=True)
def nothing_is_waited_for(sealed_surroundings: object) -> Iterator[None]:
    """Refuse processes and sleep; run SQL in this process, under the same settings of DuckDB."""
    global _barring  # noqa: PLW0603 - a hook of the interpreter can't be taken back
    with in_process():
        _barring = True
        try:
            yield
        finally:
            _barring = False
