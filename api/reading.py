"""What is in the log, read back verified: records, media, the braid, proofs; and what the projections say of it."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from braid.ledger.blobs import BlobRef, BlobStore
from braid.ledger.record import Media
from braid.session import Session

if TYPE_CHECKING:
    from braid.views.replay import Caught


class Reading(Session):
    """A store as whoever reads it sees it."""

    def media(self, media: Media) -> Iterator[bytes]:
        """Yield the content of attached media in chunks, verified."""
        from base64 import b64decode

        ref = BlobRef(sha256=media.blob, size=media.size, key=b64decode(media.key))
        return BlobStore(self.path / "blobs", writable=False).open(ref)

    def replay(self, view: str | None = None, *, from_scratch: bool = False) -> "list[Caught]":
        """Rebuild the projections (or the one named) into fresh files and swap them in.

        From the newest snapshot that fits and what came after it; else, or `from_scratch`, from the log alone.
        """
        return self.views.replay(view, from_scratch=from_scratch)

    def sql(
        self,
        query: str,
        parameters: Sequence[Any] | Mapping[str, Any] | None = None,
        *,
        tables: Mapping[str, Any] | None = None,
        as_of: int | datetime | None = None,
        valid_at: datetime | None = None,
        include_forgotten: bool = False,
        **limits: Any,
    ) -> Any:
        """Return a SELECT over the DuckDB projection, caught up, as a pyarrow Table.

        `tables`: name → pyarrow Table, or frame of pandas or polars, which the query may join.
        `as_of`: as the log was with that record in it, or at that time, less what is erased by now.
        `valid_at`: only what had happened and held at that time. `include_forgotten`: the forgotten too.
        `limits`: seconds, rows, result_bytes, memory_bytes. Untrusted SQL can't write, read files or reach the network.
        Raises SqlError, SqlTimeoutError, SqlLimitError.
        """
        from braid.views.sql import Limits

        self.refresh()
        past = self.past(as_of, valid_at, include_forgotten=include_forgotten)
        return self.views.sql(query, parameters, tables=tables, past=past, limits=Limits(**limits)).table
