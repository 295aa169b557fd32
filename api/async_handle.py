"""What `AsyncStore` stands on: it is opened and closed in a thread, and streams come through a bounded queue."""

from asyncio import Queue, get_running_loop, run_coroutine_threadsafe, timeout, to_thread
from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import TimeoutError as FutureTimeout
from threading import Event, Thread
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from braid.session import Session
from braid.store import Records, Store
from braid.taker import stepped_until

_Item = TypeVar("_Item")


class AsyncHandle:
    """A store for event loops. `sync` is the store itself."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @property
    def sync(self) -> Store:
        """The store itself."""
        return self._store

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await to_thread(self.sync.__exit__, kind, error, trace)

    async def close(self) -> None:
        await to_thread(self.sync.close)

    @property
    def session(self) -> Session:
        """What its operations use."""
        return self.sync.session


class AsyncTransaction:
    """A transaction for `async with`: the block adds to its records, and they are committed in a thread."""

    def __init__(self, records: Records) -> None:
        self._records = records

    async def __aenter__(self) -> Records:
        return self._records.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await to_thread(self._records.__exit__, kind, error, trace)


CHECK_S: Final = 0.5
"""How often a stream that has nothing to give is checked."""
AHEAD: Final = 64
"""How many items of a stream may wait for whoever takes them."""
_END: Final = object()


async def stream(
    begin: Callable[[], Iterator[_Item]], check: Callable[[], None] = lambda: None
) -> AsyncGenerator[_Item]:
    """Yield what an iterator yields, stepped in a thread of its own: what it opens belongs to that thread.

    At most `AHEAD` items are read before they are asked for; whoever stops taking them ends the thread. What `check`
    raises, while there is nothing to give, ends the stream.
    """
    loop = get_running_loop()
    queue: Queue[Any] = Queue(AHEAD)
    stopped = Event()

    def put(item: object) -> bool:
        """Hand an item on; False where nobody takes it any more."""
        putting = queue.put(item)
        try:
            if stopped.is_set():
                raise RuntimeError("nobody takes it")
            handed = run_coroutine_threadsafe(putting, loop)
        except RuntimeError:  # or the loop has ended
            putting.close()
            return False
        while not stopped.is_set():
            try:
                handed.result(timeout=0.1)
            except FutureTimeout:
                continue
            return True
        handed.cancel()
        return False

    def step() -> None:
        stepped_until(stopped)
        try:
            for item in begin():
                if not put(item):
                    return
        except BaseException as error:
            put(_Failed(error))
        else:
            put(_END)

    thread = Thread(target=step, name="braid-stream", daemon=True)
    thread.start()
    try:
        while (item := await _next(queue, check)) is not _END:
            if isinstance(item, _Failed):
                raise item.error
            yield item
    finally:
        stopped.set()


async def _next(queue: "Queue[Any]", check: Callable[[], None]) -> Any:
    while queue.empty():
        try:
            async with timeout(CHECK_S):
                return await queue.get()
        except TimeoutError:
            check()
    return queue.get_nowait()


class _Failed:
    def __init__(self, error: BaseException) -> None:
        self.error = error
