"""Several records that enter the log together or not at all, built one by one (ADR 54).

The builder is of `append_all` alone: it collects its requests, and gives each a name by which later ones link to it.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Self

from braid.ledger.record.ids import RecordId

if TYPE_CHECKING:
    from braid.log.operations import Append, AppendedAll


class Pending(str):
    """A record of an open transaction, as later ones of it name it (`$0`); `id` is known once it has been committed."""

    __slots__ = ("_id",)
    _id: RecordId

    @property
    def id(self) -> RecordId:
        """The record's id; raises ValueError before the commit."""
        try:
            return self._id
        except AttributeError:
            raise ValueError("the transaction has not been committed") from None

    def settle(self, id: RecordId) -> None:
        """Note the id that the commit has given the record."""
        self._id = id


class Transaction:
    """Collects records and commits them when its block ends without an exception."""

    def __init__(self, commit: "Callable[[tuple[Append, ...]], AppendedAll]") -> None:
        self._commit = commit
        self._records: list[Append] = []
        self._pending: list[Pending] = []

    def add(self, record: "Append") -> Pending:
        """Add a record; later ones may link to what this returns."""
        self._records.append(record)
        self._pending.append(Pending(f"${len(self._pending)}"))
        return self._pending[-1]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and self._records:
            done = self._commit(tuple(self._records))
            for pending, placed in zip(self._pending, done.records, strict=True):
                pending.settle(placed.id)
