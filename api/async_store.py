"""A store for event loops: what touches the disk runs in a thread, so that the loop goes on."""

# Written by `python -m braid.tools.lab.faces` from the registry of operations; change those.

from asyncio import to_thread
from typing import TYPE_CHECKING

from braid.async_handle import AsyncHandle, stream

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence
    from datetime import datetime

    from braid.ledger.ids import RecordId
    from braid.ledger.record import Affect, Claim, Confidence, Media, Record, Source
    from braid.ledger.trace import TraceNode
    from braid.log.operations import Append, AppendedAll
    from braid.operation import Json


class AsyncStore(AsyncHandle):
    """A store for event loops: concurrent appends share one sync. `sync` is the store itself."""

    async def append(
        self,
        text: str = "",
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        session_id: "str | None" = None,
        type: str = "occurrence",
        actor: str = "user",
        method: str = "capture",
        name: "str | None" = None,
        parents: "Sequence[str]" = (),
        evidence: "Sequence[str]" = (),
        supersedes: "Sequence[str]" = (),
        sources: "Sequence[Source | str]" = (),
        confidence: "Confidence | float | None" = None,
        affect: "Affect | None" = None,
        claims: "Sequence[Claim]" = (),
        structured: "Mapping[str, Json] | None" = None,
        media: "Sequence[Media]" = (),
        tags: "Sequence[str]" = (),
        external_id: "str | None" = None,
        occurred_at: "datetime | None" = None,
        idempotency_key: "str | None" = None,
        signer: "str | None" = None,
    ) -> "RecordId":
        """Append an experience; when this returns it is as durable as the store's setting says.

        An `idempotency_key` that is in the log names its record, where that says the same. `signer`: the actor whose key
        signs. A corrected or told fact is not read here: `learn` reads it.
        """
        return await to_thread(
            lambda: self.sync.append(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                session_id=session_id,
                text=text,
                type=type,
                actor=actor,
                method=method,
                name=name,
                parents=parents,
                evidence=evidence,
                supersedes=supersedes,
                sources=sources,
                confidence=confidence,
                affect=affect,
                claims=claims,
                structured=structured,
                media=media,
                tags=tags,
                external_id=external_id,
                occurred_at=occurred_at,
                idempotency_key=idempotency_key,
                signer=signer,
            )
        )

    async def append_all(self, records: "Sequence[Append]", *, signer: "str | None" = None) -> "AppendedAll":
        """Append experiences as one transaction: all or none. A link `$0` names the first of them, `$1` the second."""
        return await to_thread(lambda: self.sync.append_all(records=records, signer=signer))

    async def remember(
        self,
        messages: "str | Mapping[str, Json] | Sequence[str | Mapping[str, Json]]",
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        session_id: "str | None" = None,
        metadata: "Mapping[str, Json] | None" = None,
        idempotency_key: "str | None" = None,
        learn: bool = True,
    ) -> "tuple[RecordId, ...]":
        """Append chat messages as one transaction; what they state is then read, unless `learn` is false.

        What is the caller's own goes under a message's `metadata`; any other member is refused, and so is a user's message
        that says nothing (InvalidRecordError): then none of them is appended. With an `idempotency_key`, repeating the call
        adds nothing; with other messages it raises IdempotencyConflictError.
        """
        return await to_thread(
            lambda: self.sync.remember(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                session_id=session_id,
                messages=messages,
                metadata=metadata,
                idempotency_key=idempotency_key,
                learn=learn,
            )
        )

    async def correct(self, id: str, text: str, *, reason: "str | None" = None) -> "RecordId":
        """Append what is right in place of a record; the old one stays in the log, superseded.

        Where something was read of the old one, the new one is read too. Raises InvalidRecordError for what is no
        experience, and for a text that says nothing.
        """
        return await to_thread(lambda: self.sync.correct(id=id, text=text, reason=reason))

    async def get(
        self,
        id: str,
        *,
        as_of: "int | None" = None,
        as_of_time: "datetime | None" = None,
        include_forgotten: bool = False,
    ) -> "Record":
        """Return a record, verified against the signed tree.

        In a past, what came later is unknown and what was forgotten then stays so; what is erased by now stays erased.
        Raises UnknownRecordError, ErasedError, ForgottenError, IntegrityError.
        """
        return await to_thread(
            lambda: self.sync.get(
                as_of=as_of, as_of_time=as_of_time, id=id, include_forgotten=include_forgotten
            )
        )

    def read(
        self, start: int = 0, stop: "int | None" = None, *, include_forgotten: bool = False
    ) -> "AsyncIterator[Record]":
        """Yield the records of a stretch of the log, verified; without the erased, and the forgotten unless asked for."""
        return stream(lambda: self.sync.read(start=start, stop=stop, include_forgotten=include_forgotten))

    async def trace(
        self, id: str, *, up: bool = True, down: bool = True, depth: "int | None" = None, text: bool = False
    ) -> "TraceNode":
        """Return the braid of a record: what it descends from, and what descends from it.

        With `text` each record also says who said what; without, all of it comes from envelopes. Raises
        UnknownRecordError.
        """
        return await to_thread(lambda: self.sync.trace(id=id, up=up, down=down, depth=depth, text=text))

    async def prove(self, id: str) -> "bytes":
        """Return a c2sp.org/tlog-proof file that shows offline that a record is in the log."""
        return await to_thread(lambda: self.sync.prove(id=id))

    async def prove_many(self, ids: "Sequence[str]") -> "bytes":
        """Return one proof that shows offline that all of these records are in the log, with their envelopes.

        A node of the tree that several need is in it once; `braid check-proof` checks it. Raises UnknownRecordError, and
        ValueError for no id.
        """
        return await to_thread(lambda: self.sync.prove_many(ids=ids))
