"""A step that may take too long: its result, or TimeoutError when its time is up."""

import os
from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Final, Generic, TypeVar, cast

T = TypeVar("T")
_IDLE: Final[list["_Worker"]] = []
"""Workers that have nothing to do. Appending and popping are one step each, so no lock is needed."""
_MOST_IDLE: Final = 16
os.register_at_fork(after_in_child=_IDLE.clear)  # a fork takes the list along, and no thread of it


class _Worker:
    """A thread that does one step after another; nobody waits for it at the program's end."""

    def __init__(self) -> None:
        self._steps: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
        Thread(target=self._run, name="braid-recall", daemon=True).start()

    def do(self, step: Callable[[], object]) -> None:
        """Begin a step."""
        self._steps.put(step)

    def _run(self) -> None:
        while (step := self._steps.get()) is not None:
            step()
            if len(_IDLE) >= _MOST_IDLE:
                return
            del step  # what it holds must not live until the next one
            _IDLE.append(self)


def _worker() -> _Worker:
    try:
        return _IDLE.pop()
    except IndexError:  # a thread costs more than a question may: one is made only when none is idle
        return _Worker()


class Started(Generic[T]):
    """A step under way in a thread of its own."""

    def __init__(self, step: Callable[[], T]) -> None:
        self._found: SimpleQueue[tuple[T | None, BaseException | None]] = SimpleQueue()
        found = self._found

        def run() -> None:
            try:
                found.put((step(), None))
            except BaseException as error:
                found.put((None, error))

        _worker().do(run)

    def result(self, seconds: float) -> T:
        """Return what the step returned, or raise what it raised; TimeoutError when it isn't done by then."""
        try:
            value, error = self._found.get(timeout=max(seconds, 0.0))
        except Empty:
            raise TimeoutError(f"it took longer than {max(seconds, 0.0):.3g} s") from None
        if error is not None:
            raise error
        return cast("T", value)


def within(seconds: float, step: Callable[[], T]) -> T:
    """Return what the step returns; raise TimeoutError when it takes longer, and what it raises."""
    return Started(step).result(seconds)
