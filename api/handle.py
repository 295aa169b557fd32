"""What `Store` stands on: the session behind its methods, opened and closed, and what is known of it without asking."""

from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from braid.ledger.reader import Reader
from braid.ledger.writer import Writer
from braid.session import Session

if TYPE_CHECKING:
    from braid.views.store import Views


class Handle:
    """An open store, without its operations. A context manager."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.session.__exit__(kind, error, trace)

    def close(self) -> None:
        """Publish the newest head and close every file; whatever is asked of the store afterwards raises ValueError.

        Raises UnpublishedError where the head can't be published: what was appended is in the log all the same.
        """
        self.session.close()

    def __len__(self) -> int:
        return len(self.session)

    @property
    def path(self) -> Path:
        """The store's folder."""
        return self.session.path

    @property
    def origin(self) -> str:
        """The log's origin."""
        return self.session.origin

    @property
    def vkey(self) -> str:
        """The log's public key, to be pinned by whoever checks proofs."""
        return self.session.vkey

    @property
    def reader(self) -> Reader:
        """The verified reader under this store."""
        return self.session.reader

    @property
    def writer(self) -> Writer:
        """The writer under this store; raises ReadOnlyError where it was opened for reading."""
        return self.session.writer

    @property
    def views(self) -> "Views":
        """The projections, opened when they are first needed."""
        return self.session.views

    @property
    def lag(self) -> int:
        """How many of the newest records were not looked at, because the projections can't be written here."""
        return self.session.lag

    def refresh(self) -> int:
        """Take in what other processes have appended; return how many records."""
        return self.session.refresh()

    def now(self) -> datetime:
        """Return the time by the store's clock."""
        return self.session.now()
