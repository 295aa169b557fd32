"""What is in the log, read back verified: records, media, the braid, proofs; and what the projections say of it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from braid.handle import Handle
from braid.ledger import asof
from braid.ledger.blobs import BlobRef, BlobStore
from braid.ledger.errors import UnknownRecordError
from braid.ledger.record import Media, Record
from braid.ledger.trace import TraceNode, trace
from braid.ledger.writer import Writer

if TYPE_CHECKING:
    from braid.recall.hits import Answer
    from braid.views.replay import Caught


class Reading(Handle):
    """A store as whoever reads it sees it."""

    def get(self, id: str, *, as_of: int | datetime | None = None, include_forgotten: bool = False) -> Record:
        """Return a record, verified against the signed tree. Raises UnknownRecordError, ErasedError,
        ForgottenError, IntegrityError.

        With `as_of`, as the log was with that record in it or at that time: what came later is unknown, what was
        forgotten then stays so; what is erased by now stays erased.
        """
        if as_of is None:
            return self._reader.get(id, include_forgotten=include_forgotten)
        size = asof.size_at(self._reader, as_of)
        return asof.get_at(self._reader, id, size, include_forgotten=include_forgotten)

    def read(
        self, start: int = 0, stop: int | None = None, *, include_forgotten: bool = False
    ) -> Iterator[Record]:
        """Yield the records from log index `start`, verified; the erased are left out, the forgotten
        unless asked for.
        """
        if start < 0:
            raise ValueError(f"there is no record {start}: the first is 0")
        control = self._reader.control
        for entries in self._reader.entries(start, stop):
            for record, _ in entries:
                if record.index not in control.erased and (
                    include_forgotten or record.index not in control.hidden
                ):
                    yield record

    def media(self, media: Media) -> Iterator[bytes]:
        """Yield the content of attached media in chunks, verified."""
        from base64 import b64decode

        ref = BlobRef(sha256=media.blob, size=media.size, key=b64decode(media.key))
        return BlobStore(self.path / "blobs", writable=False).open(ref)

    def trace(
        self, id: str, *, up: bool = True, down: bool = True, depth: int | None = None, text: bool = False
    ) -> TraceNode:
        """Return the braid of a record: what it descends from, and what descends from it.

        With `text` each record also says who said what; without, all of it comes from envelopes.
        """
        self.refresh()
        return trace(
            self._reader,
            id,
            up=up,
            down=down,
            depth=depth,
            children=self._children(),
            text=text,
        )

    def _children(self) -> Callable[[int], list[tuple[int, str]]] | None:
        """Return what finds the records that link to one; None on read-only media, where no catalogue can be kept."""
        catalog = self.views.catalog
        try:
            catalog.catch_up()
        except OSError:
            return None
        return lambda index: [(at, role) for at, _, role in catalog.children(index)]

    def prove(self, id: str) -> bytes:
        """Return a c2sp.org/tlog-proof file that shows offline that the record is in the log."""
        index = self._reader.index_of(id)
        if self._reader.envelope(index).id != id:
            raise UnknownRecordError(f"{id}: no such record")
        if index >= self._reader.published.size and isinstance(self._reader, Writer):
            self._reader.checkpoint()
        return self._reader.prove(index)

    def prove_many(self, ids: Iterable[str]) -> bytes:
        """Return one proof that shows offline that all of these records are in the log, with their envelopes.

        A node of the tree that several need is in it once. `braid check-proof` checks it, and so does
        `ledger.multiproof.check_multiproof`. Raises UnknownRecordError, and ValueError for no id.
        """
        indexes = {self._reader.index_of(id): id for id in ids}
        for index, id in indexes.items():
            if self._reader.envelope(index).id != id:
                raise UnknownRecordError(f"{id}: no such record")
        if max(indexes, default=0) >= self._reader.published.size and isinstance(self._reader, Writer):
            self._reader.checkpoint()
        return self._reader.prove_many(indexes)

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

    def vector(self, uri: str) -> Any:
        """Return what `vec://role/id` names: a unit vector (float32[d]), None where there is none yet.

        A role may be short: `vec://sem/id`, `vec://temp/id`, `vec://caus/id`. Raises ValueError for another kind of
        address or an unknown role; UnknownRecordError, ErasedError and ForgottenError as for `get`.
        """
        from braid.views.lance.profiles import profile
        from braid.views.search import SEMANTIC, vector_address

        roles, id = vector_address(uri)
        self.refresh()
        record = self.get(id)
        if roles[0] not in SEMANTIC:
            return profile(roles[0], record)
        # By the log: a row may say any id.
        return self.views.search.index(wait_s=10.0).vectors([record.index], roles).get(record.index)
