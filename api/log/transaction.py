"""Several records that enter the log together or not at all, built one by one (ADR 54).

The builder is of `append_all` alone: it collects its requests, and gives each a name by which later ones link to it.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Self

import msgspec

from braid.ledger.errors import InvalidRecordError
from braid.ledger.record.ids import RecordId

if TYPE_CHECKING:
    from braid.log.operations import Append, AppendedAll


_LINKS: Final = ("parents", "evidence", "supersedes")


class Pending(str):
    """A record of an open transaction, as later ones of it name it (`$0`); `id` is known once it has been committed."""

    __slots__ = ("_of", "_place")
    _of: "Transaction"
    _place: int

    def __new__(cls, of: "Transaction", place: int) -> Self:
        """Name the record at a place of a transaction."""
        self = super().__new__(cls, f"${place}")
        self._of, self._place = of, place
        return self

    @property
    def id(self) -> RecordId:
        """The record's id; raises ValueError as `Transaction.ids` does."""
        return self._of.ids[self._place]

    def is_of(self, transaction: "Transaction") -> bool:
        """Whether it is a record of this transaction."""
        return self._of is transaction


class Transaction:
    """Collects records and commits them when its block ends without an exception."""

    def __init__(self, commit: "Callable[[tuple[Append, ...]], AppendedAll]") -> None:
        self._commit = commit
        self._is_open = False
        self._is_over = False
        self._records: list[Append] = []
        self._ids: tuple[RecordId, ...] | None = None

    @property
    def ids(self) -> tuple[RecordId, ...]:
        """The ids of its records, in order, once its block has ended.

        Raises ValueError before that, and where the block or the commit ended with an exception.
        """
        if self._ids is not None:
            return self._ids
        if self._is_over:
            raise ValueError("the transaction ended with an exception: it has no ids")
        raise ValueError("the transaction has not been committed: it has its ids when its block has ended")

    def add(self, record: "Append") -> Pending:
        """Add a record, checked and as it is now; later ones may link to what this returns.

        Raises InvalidRequestError and InvalidRecordError for a record that can't be appended, which is left out, and
        ValueError outside of the block.
        """
        from braid.log.operations import checked_append  # it builds on this module

        if not self._is_open:
            raise ValueError("the transaction isn't open: records are added within its block")
        record = checked_append(self._own(record), len(self._records))
        self._records.append(record)
        return Pending(self, len(self._records) - 1)

    def _own(self, record: "Append") -> "Append":
        """Return a record whose links to committed records of other transactions name these by their ids."""
        links = {role: tuple(map(self._named, getattr(record, role))) for role in _LINKS}
        return msgspec.structs.replace(record, **links)

    def _named(self, target: str) -> str:
        if not isinstance(target, Pending) or target.is_of(self):
            return target
        try:
            return target.id
        except ValueError:
            raise InvalidRecordError(
                f"{target} is a record of another transaction, which has not been committed"
            ) from None

    def __enter__(self) -> Self:
        if self._is_open or self._is_over:
            raise ValueError("a transaction is entered once: open another")
        self._is_open = True
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._is_open, self._is_over = False, True
        if kind is not None:
            return
        done = self._commit(tuple(self._records)).records if self._records else ()
        self._ids = tuple(placed.id for placed in done)
