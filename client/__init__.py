"""A client: the methods of `Store`, asked of a server."""

from pathlib import Path

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
