"""A step that may take too long: its result, or TimeoutError when its time is up."""

from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Generic, TypeVar, cast

T = TypeVar("T")


class Started(Generic[T]):
    """A step under way in a thread of its own, which nobody waits for at the program's end."""

    def __init__(self, step: Callable[[], T]) -> None:
        self._found: SimpleQueue[tuple[T | None, BaseException | None]] = SimpleQueue()
        Thread(target=self._run, args=(step,), name="braid-recall", daemon=True).start()

    def _run(self, step: Callable[[], T]) -> None:
        try:
            self._found.put((step(), None))
        except BaseException as error:
            self._found.put((None, error))

    def result(self, seconds: float) -> T:
        """Return what the step returned, or raise what it raised; TimeoutError when it isn't done by then."""
        try:
            value, error = self._found.get(timeout=max(seconds, 0.0))
        except Empty:
            raise TimeoutError(f"it took longer than {seconds:g} s") from None
        if error is not None:
            raise error
        return cast("T", value)


def within(seconds: float, step: Callable[[], T]) -> T:
    """Return what the step returns; raise TimeoutError when it takes longer, and what it raises."""
    return Started(step).result(seconds)
