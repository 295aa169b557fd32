"""A store whose server runs on this machine: what the server can take goes there, the rest is read here.

Two programs can't hold one log's writer. So whoever opens a store that a server has gets the same `Store`, and need not
know: `braid.open` and the command line find the server by the socket in the store's folder.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Lock
from typing import Any, Concatenate, ParamSpec, TypeVar

from braid.client.remote import SOCKET, Remote
from braid.entry import Here
from braid.ledger.errors import ReadOnlyError
from braid.ledger.read.reader import Reader
from braid.ledger.write.writer import Writer
from braid.operation import Operation, Request, operation_of
from braid.providers.near import keep_near
from braid.session import Session
from braid.store import Store

_Asked = TypeVar("_Asked", bound=Request)
_Answered = TypeVar("_Answered")
_Local = ParamSpec("_Local")


class ServedStore(Store):
    """A `Store` whose operations a server does. What is no data (a model, a path) stays in this process and only reads.

    `reader` and `views` are opened here when they are first asked for; `writer` is the server's.
    """

    def __init__(self, remote: Remote, path: Path, here: Here) -> None:
        """For `braid.open`."""
        self._begin(None, path, here.clock, here.embedder, here.parser, reranker=here.reranker)
        self._remote = remote
        self._here = here
        self._opening = Lock()
        self._is_closed = False
        keep_near(self)

    @property
    def server(self) -> str:
        """The folder by whose socket the server is asked."""
        return self._remote.url

    def _run(
        self,
        function: Callable[Concatenate[Session, _Asked, _Local], _Answered],
        request: _Asked,
        *args: _Local.args,
        **local: _Local.kwargs,
    ) -> _Answered:
        known = operation_of(function)
        if self._goes_there(known, request, local):
            return self._remote.call(function, request, *args, **local)
        self._reader.refresh()
        return super()._run(function, request, *args, **local)

    def items(
        self, function: Callable[[Session, _Asked], _Answered], request: _Asked, page_size: int
    ) -> Iterator[Any]:
        """Yield the items of an operation's list, as `Session.items` does; the server is asked for a page at a time."""
        known = operation_of(function)
        if not self._goes_there(known, request, {}):
            return super().items(function, request, page_size)
        with self._observed(known, request):
            self._granted(known)
            return self._remote.items(function, request, page_size)

    def _goes_there(self, known: Operation, request: Request, local: dict[str, Any]) -> bool:
        """Whether the server can take it: nothing of it belongs to this process, and whoever only reads does."""
        if not known.remote or any(value is not None and value != () for value in local.values()):
            return False
        return not self._here.only_reads or _only_reads(known, request)

    def _take_in(self) -> None:
        if self._handle is not None:
            self._handle.refresh()

    @property
    def _reader(self) -> Reader:
        with self._opening:
            if self._is_closed:
                raise ValueError(f"the store {self._path} was closed: open it again")
            if self._handle is None:
                self._handle = self._here.reader()
            return self._handle

    @property
    def writer(self) -> Writer:
        """Raises ReadOnlyError: the server has it."""
        raise ReadOnlyError(
            f"a server holds {self.path}, and this can't be sent to it: stop `braid serve`, do this, start it again"
        )

    def refresh(self) -> int:
        """Take in here what the server has appended; return how many records."""
        return self._reader.refresh()

    def __len__(self) -> int:
        self._reader.refresh()
        return self._reader.size

    def close(self) -> None:
        """Close the connections, and what was opened here."""
        self._is_closed = True
        self._remote.close()
        super().close()


def _only_reads(known: Operation, request: Request) -> bool:
    if known.access == "read" and known.repeatable:
        return True
    wanted = {"write": False, "append": False, "dry_run": True}
    return any(getattr(request, name, None) is value for name, value in wanted.items())


def served(path: Path, here: Here) -> ServedStore | None:
    """Return the store at `path` as its server has it; None where no server answers.

    A token in BRAID_TOKEN is sent along: a server may want one at its socket, too.
    """
    if not (path / SOCKET).exists():
        return None
    remote = Remote(path, token=os.environ.get("BRAID_TOKEN"), timeout_s=None)
    if not remote.answers():
        return None
    return ServedStore(remote, path.absolute(), here)
