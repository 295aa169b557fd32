"""Whether somebody still takes a stream: an operation that waits for its next item ends when nobody does."""

from contextvars import ContextVar
from threading import Event
from time import sleep
from typing import Final

_GONE: Final[ContextVar[Event | None]] = ContextVar("braid_taker_gone", default=None)


def stepped_until(gone: Event) -> None:
    """Say, in the thread that steps a stream, what is set once nobody takes it any more."""
    _GONE.set(gone)


def wait_unless_gone(seconds: float) -> bool:
    """Wait for so many seconds, at most until nobody takes the stream; return whether somebody still does."""
    gone = _GONE.get()
    if gone is None:  # a generator that its caller steps: where they are gone, so is it
        sleep(seconds)
        return True
    return not gone.wait(seconds)
