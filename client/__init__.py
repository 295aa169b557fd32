"""A client: the methods of `Store`, asked of a server; for event loops, those of `AsyncStore`."""

from asyncio import to_thread
from pathlib import Path
from types import TracebackType
from typing import Self

from braid.async_store import AsyncMethods
from braid.client.remote import Remote
from braid.store import Methods


class Client(Remote, Methods):
    """A store that a server holds, with the methods of `Store` and the exceptions that those raise.

    Safe to share between threads; a context manager.
    """


def connect(url: str | Path, *, token: str | None = None, timeout_s: float | None = 60.0) -> Client:
    """Return a client of the server at `url`: a store's folder, or `http(s)://host:port`, for which a token is needed.

    Nothing is sent before something is asked. Raises ValueError for another kind of address.
    """
    return Client(url, token=token, timeout_s=timeout_s)


class AsyncClient(AsyncMethods):
    """A store that a server holds, for event loops: the methods of `AsyncStore`. `sync` is the client itself."""

    def __init__(self, client: Client) -> None:
        self._client = client

    @property
    def sync(self) -> Client:
        """The client itself."""
        return self._client

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close every connection; whatever is asked afterwards raises ValueError."""
        await to_thread(self._client.close)


def connect_async(
    url: str | Path, *, token: str | None = None, timeout_s: float | None = 60.0
) -> AsyncClient:
    """Return a client for event loops of the server at `url`, as `connect` does."""
    return AsyncClient(connect(url, token=token, timeout_s=timeout_s))
