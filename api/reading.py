"""What is in the log, read back verified: records, media, the braid, proofs; and what the projections say of it."""

from datetime import datetime
from typing import TYPE_CHECKING, Any

from braid.session import Session

if TYPE_CHECKING:
    from braid.recall.hits import Answer


class Reading(Session):
    """A store as whoever reads it sees it."""

    def answer(
        self,
        query: str,
        *,
        as_of: int | datetime | None = None,
        valid_at: datetime | None = None,
        prove: bool = False,
        **asked: Any,
    ) -> "Answer":
        """Return what `recall` sends, as values: hits with their verified records."""
        from braid.recalling import recalled

        self.refresh()
        return recalled(self, query, prove=prove, as_of=as_of, valid_at=valid_at, **asked)
