"""What `AsyncStore` stands on: it is opened and closed in a thread, and streams come through a bounded queue."""

from asyncio import Queue, get_running_loop, run_coroutine_threadsafe, to_thread
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import TimeoutError as FutureTimeout
from pathlib import Path
from threading import Event, Thread
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from braid.ledger.erase import Certificate
from braid.ledger.ids import RecordId
from braid.session import Session
from braid.store import Store

if TYPE_CHECKING:
    from braid.agent.stage import Stage
    from braid.ledger.audit.findings import Report
    from braid.ledger.backup.backup import Backup
    from braid.views.replay import Caught
    from braid.views.snapshot.folder import Snapshot

_Item = TypeVar("_Item")


class AsyncHandle:
    """A store for event loops. `sync` is the store itself."""

    def __init__(self, store: Store) -> None:
        self.sync = store

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await to_thread(self.sync.__exit__, kind, error, trace)

    async def close(self) -> None:
        """See `Store.close`."""
        await to_thread(self.sync.close)

    async def stage(self) -> "Stage":
        """See `Store.stage`."""
        return await to_thread(self.sync.stage)

    async def forget(self, *ids: str, reason: str | None = None) -> RecordId:
        """See `Store.forget`."""
        return await to_thread(self.sync.forget, *ids, reason=reason)

    async def recover(self, *ids: str, reason: str | None = None) -> RecordId:
        """See `Store.recover`."""
        return await to_thread(self.sync.recover, *ids, reason=reason)

    async def erase(self, *ids: str, reason: str | None = None, **scope: str) -> list[Certificate]:
        """See `Store.erase`."""
        return await to_thread(self.sync.erase, *ids, reason=reason, **scope)

    async def verify(self, **options: Any) -> "Report":
        """See `Store.verify`."""
        return await to_thread(self.sync.verify, **options)

    async def replay(self, view: str | None = None) -> "list[Caught]":
        """See `Store.replay`."""
        return await to_thread(self.sync.replay, view)

    async def sql(self, query: str, parameters: Sequence[Any] | None = None, **limits: Any) -> Any:
        """See `Store.sql`."""
        return await to_thread(self.sync.sql, query, parameters, **limits)

    async def status(self, **options: Any) -> dict[str, Any]:
        """See `Store.status`."""
        return await to_thread(self.sync.status, **options)

    async def retain(self) -> list[Certificate]:
        """See `Store.retain`."""
        return await to_thread(self.sync.retain)

    async def compact(self) -> int:
        """See `Store.compact`."""
        return await to_thread(self.sync.compact)

    async def snapshot(self, *, keep: int = 2) -> "Snapshot":
        """See `Store.snapshot`."""
        return await to_thread(self.sync.snapshot, keep=keep)

    async def backup(self, dest: str | Path, *, with_vault: bool = False) -> "Backup":
        """See `Store.backup`."""
        return await to_thread(self.sync.backup, dest, with_vault=with_vault)

    @property
    def session(self) -> Session:
        """What its operations use."""
        return self.sync.session


AHEAD: Final = 64
"""How many items of a stream may wait for whoever takes them."""
_END: Final = object()


async def stream(begin: Callable[[], Iterator[_Item]]) -> AsyncIterator[_Item]:
    """Yield what an iterator yields, stepped in a thread of its own: what it opens belongs to that thread.

    At most `AHEAD` items are read before they are asked for; whoever stops taking them ends the thread.
    """
    loop = get_running_loop()
    queue: Queue[Any] = Queue(AHEAD)
    stopped = Event()

    def put(item: object) -> bool:
        """Hand an item on; False where nobody takes it any more."""
        handed = run_coroutine_threadsafe(queue.put(item), loop)
        while not stopped.is_set():
            try:
                handed.result(timeout=0.1)
            except FutureTimeout:
                continue
            return True
        handed.cancel()
        return False

    def step() -> None:
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
        while (item := await queue.get()) is not _END:
            if isinstance(item, _Failed):
                raise item.error
            yield item
    finally:
        stopped.set()


class _Failed:
    def __init__(self, error: BaseException) -> None:
        self.error = error
