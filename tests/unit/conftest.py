"""What holds for unit tests: they start no process and never sleep, so nothing but the processor is waited for."""

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.sandboxes import in_process

BARRED = frozenset((
    "subprocess.Popen", "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "time.sleep",
))  # fmt: skip
"""Events of the interpreter (PEP 578): they come however a function was imported, and by whatever library."""
_barring = False


class BarredError(AssertionError):
    """A unit test did what belongs to tests/system."""


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if _barring and event in BARRED and args != (0,):  # `sleep(0)` lets other threads run
        raise BarredError(f"a unit test may not call {event}: {args!r}")


sys.addaudithook(_hook)


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
