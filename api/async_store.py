"""A store for event loops: what touches the disk runs in a thread, so that the loop goes on."""

# Written by `make faces` from the registry of operations: change those.

from asyncio import to_thread
from typing import TYPE_CHECKING

from msgspec import UNSET

from braid.async_handle import AsyncHandle, AsyncTransaction, stream

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path
    from typing import Literal

    from msgspec import UnsetType

    from braid.admin.certificate import ErasureCertificate, GoneRecord
    from braid.admin.freeze import FreezeState
    from braid.admin.keys import Admitted, Published
    from braid.admin.retention import Overdue, Retained
    from braid.admin.settings_operations import SettingChanged, SettingState
    from braid.admin.status import Status, StatusThen
    from braid.admin.tokens import IssuedToken, TokenView
    from braid.agent.composer import Composer
    from braid.agent.maturity import Stage
    from braid.agent.program.events import Recorded
    from braid.agent.program.plan import Plan
    from braid.agent.program.tool import Tool
    from braid.answers.reply import Reply
    from braid.claims.changed import KnowledgeChange
    from braid.claims.decision_operations import CanaryReport, DecisionReport, JudgedChange
    from braid.claims.operations import Conflict, Explanation, Stance
    from braid.exchange.capture_operations import Captured, PathDecision
    from braid.exchange.operations import Imported
    from braid.jobs.operations import Jobs, JobsChanged, JobShown, ListedJob, Progress, Worked
    from braid.knowledge.change_operations import AuditEntry, ChangeLog
    from braid.knowledge.entity_operations import EntityDecision, EntityList, EntityRow, EntityView
    from braid.knowledge.graph_operations import CentralEntity, KnowledgeGraph
    from braid.knowledge.operations import (
        ClaimDerivation,
        Extracted,
        KnownClaim,
        Learned,
        Playbook,
        ReaderRetired,
        StagedClaim,
        StagedDecision,
    )
    from braid.knowledge.setting_operations import LearningSetting
    from braid.ledger.audit.findings import Report, VerifiedState
    from braid.ledger.backup.backup import Backup
    from braid.ledger.erase.cascade import Cascade
    from braid.ledger.erase.erasure import Certificate
    from braid.ledger.read.blobs import Readable
    from braid.ledger.read.trace import TraceNode
    from braid.ledger.record.ids import RecordId
    from braid.ledger.record.record import Affect, Claim, Confidence, Draft, Media, Record, Source
    from braid.ledger.repair.condition import Problem
    from braid.ledger.subject.format import Counts
    from braid.lens.operations import LensDifference, Lenses, RequestStanding, View, ViewRow
    from braid.log.excerpt_operations import Excerpted
    from braid.log.operations import Append, AppendedAll
    from braid.memories.list_operations import MemoryPage
    from braid.memories.operations import Change, Forgotten, MemoryHistory, Modified, Modify, Outcome, Preview
    from braid.memories.remember_operations import Remembered
    from braid.memories.review_operations import ReviewDecision, ReviewItem
    from braid.operation import ArrowTable, Json
    from braid.programs.program import Program, ProgramSummary
    from braid.providers.operations import Providers
    from braid.providers.outbound import OutboundCall
    from braid.recall.decompose import Decomposer
    from braid.recall.hits import Hit
    from braid.recall.recall import CrossEncoder
    from braid.search.operations import Recalled
    from braid.search.question import AskedTone
    from braid.store import Methods
    from braid.text.chat import ChatModel
    from braid.text.parse import Parser
    from braid.tone.operations import Tone
    from braid.views.status import Caught, Snapshot
    from braid.work.worker import Step


class AsyncMethods:
    """One method for each operation, asked in a thread, so that the event loop goes on."""

    @property
    def sync(self) -> "Methods":
        """What is asked in that thread."""
        raise NotImplementedError

    def transaction(self, *, signer: "str | None" = None) -> AsyncTransaction:
        """Return a block for `async with`, whose records enter the log together or not at all.

        Later ones may link to earlier ones. Behind the block its `ids` are those of the records, in order.
        """
        return AsyncTransaction(self.sync.transaction(signer=signer))

    async def excerpt(
        self,
        id: str,
        *,
        as_of: "int | None" = None,
        as_of_time: "datetime | None" = None,
        start: int = 0,
        chars: int = 10000,
        include_forgotten: bool = False,
    ) -> "Excerpted":
        """Return a part of a record's text, verified, to read a long one part by part.

        Raises UnknownRecordError, ErasedError, ForgottenError, IntegrityError.
        """
        return await to_thread(
            lambda: self.sync.excerpt(
                as_of=as_of,
                as_of_time=as_of_time,
                id=id,
                start=start,
                chars=chars,
                include_forgotten=include_forgotten,
            )
        )

    async def append(
        self,
        text: str = "",
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
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
        signs. What it states is read by `learn`, not here.
        """
        return await to_thread(
            lambda: self.sync.append(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
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

    async def correct(
        self, id: str, text: str, *, reason: "str | None" = None, idempotency_key: "str | None" = None
    ) -> "RecordId":
        """Append what is right in place of a memory, named by any record of it; the old ones stay in the log, superseded.

        Where something was read of them, the new one is read too. An `idempotency_key` that is in the log names its record,
        where that corrects this memory to the same text. Raises InvalidRecordError for what is no experience, for a text
        that says nothing, and for an agent's word in place of a person's; ForgottenError where nothing is living.
        """
        return await to_thread(
            lambda: self.sync.correct(id=id, text=text, reason=reason, idempotency_key=idempotency_key)
        )

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

    def tail(
        self, start: int = 0, *, seconds: float = 30.0, include_forgotten: bool = False
    ) -> "AsyncIterator[Record]":
        """Yield the records from `start` on, then each that is appended, verified, until `seconds` have passed.

        Go on behind the last index that you saw: none is left out, and none comes twice.
        """
        return stream(
            lambda: self.sync.tail(start=start, seconds=seconds, include_forgotten=include_forgotten)
        )

    async def trace(
        self, id: str, *, up: bool = True, down: bool = True, depth: "int | None" = None, text: bool = False
    ) -> "TraceNode":
        """Return the braid of a record: what it descends from, and what descends from it.

        With `text` each record also says who said what; without, all of it comes from envelopes. Who is held to a scope is
        shown no records of others. Raises UnknownRecordError.
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

    async def attach(
        self,
        content: "bytes | None" = None,
        *,
        media_type: str,
        name: "str | None" = None,
        caption: "str | None" = None,
        file: "Readable | None" = None,
    ) -> "Media":
        """Seal media into a blob and return what an experience's `media` takes.

        `file`: an open file, read to its end, in place of the content. Raises InvalidRequestError where neither or both are
        given, ReadOnlyError, OSError. SPEC §4.5.
        """
        return await to_thread(
            lambda: self.sync.attach(
                content=content, media_type=media_type, name=name, caption=caption, file=file
            )
        )

    def media(self, media: "Media") -> "AsyncIterator[bytes]":
        """Yield the content of attached media in chunks of at most 65,532 bytes, verified before the first.

        Raises BlobMissingError, BlobCorruptError. SPEC §4.5.
        """
        return stream(lambda: self.sync.media(media=media))

    async def sense(self, text: str) -> "Tone":
        """Return a text's tone: valence, arousal, dominance, a word for it, how sure and why. Writes nothing."""
        return await to_thread(lambda: self.sync.sense(text=text))

    async def tones(self, *ids: "str") -> "tuple[Tone, ...]":
        """Return the tone of experiences. Raises InvalidRecordError for a record without words, and as `get`."""
        return await to_thread(lambda: self.sync.tones(*ids))

    async def feel(
        self,
        *ids: "str",
        stage: "Literal['input', 'draft', 'augmented']" = "input",
        actor: "Literal['user', 'agent'] | None" = None,
    ) -> "tuple[RecordId, ...]":
        """Append a snapshot of the tone of each experience, as one transaction; repeating it adds nothing.

        Raises InvalidRecordError for a record without words, and what `get` and `append` raise.
        """
        return await to_thread(lambda: self.sync.feel(*ids, stage=stage, actor=actor))

    async def apply_lens(
        self,
        name: str,
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
        ids: "Sequence[str] | None" = None,
        version: "str | None" = None,
        params: "Mapping[str, Json] | None" = None,
        limit_s: float = 60.0,
    ) -> "View":
        """Return a lens's view of a scope's records (of all without one, or of those with these ids), and keep it.

        Where nothing has changed since the last one, that is returned and nothing is written; else what came since is
        read, and the new view supersedes it. Raises UnknownLensError, LensFailedError (nothing was written), ValueError.
        """
        return await to_thread(
            lambda: self.sync.apply_lens(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                name=name,
                ids=ids,
                version=version,
                params=params,
                limit_s=limit_s,
            )
        )

    async def define_lens(self, definition: str) -> "RecordId":
        """Keep a lens that a TOML text defines, as a signed record; the same text again writes nothing.

        A change needs a version above the newest. Raises DefinitionError (nothing was written), and what appending raises.
        """
        return await to_thread(lambda: self.sync.define_lens(definition=definition))

    async def lenses(self) -> "Lenses":
        """Return every lens that can be applied here: installed ones, and the newest version of those defined here."""
        return await to_thread(self.sync.lenses)

    async def lens_views(self) -> "tuple[ViewRow, ...]":
        """Return every view that a lens made, oldest first, of all versions, with why it is stale."""
        return await to_thread(self.sync.lens_views)

    async def lens_view(self, id: str, *, include_forgotten: bool = False) -> "View":
        """Return a view in full, with what it stands on, and why it is stale.

        Raises ViewUnreadableError, and as `get`; ForgottenError also when something that it rests on is forgotten.
        """
        return await to_thread(lambda: self.sync.lens_view(id=id, include_forgotten=include_forgotten))

    async def lens_standings(self) -> "tuple[RequestStanding, ...]":
        """Return how each thing that was asked of a lens stands: its newest view, and why that is stale."""
        return await to_thread(self.sync.lens_standings)

    async def refresh_lenses(self, *ids: "str", limit_s: float = 60.0) -> "tuple[View, ...]":
        """Make these views again (or all that are stale); return those that were appended. Raises as `apply_lens`."""
        return await to_thread(lambda: self.sync.refresh_lenses(*ids, limit_s=limit_s))

    async def lens_difference(self, one: str, other: str) -> "LensDifference":
        """Return what makes one view of another: items added and removed, records, weights. Raises as `lens_view`."""
        return await to_thread(lambda: self.sync.lens_difference(one=one, other=other))

    async def recall(
        self,
        query: str,
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
        as_of: "int | None" = None,
        as_of_time: "datetime | None" = None,
        top_k: int = 10,
        filters: "Mapping[str, Json] | None" = None,
        valid_at: "datetime | None" = None,
        now: "datetime | None" = None,
        superseded: "Literal['marked'] | None" = None,
        affect: "AskedTone | None" = None,
        uncertainty: "float | None" = None,
        lens: "str | None" = None,
        limit_s: float = 5.0,
        index_s: float = 60.0,
        trust: "Literal['owner', 'agent', 'tool', 'outsider']" = "outsider",
        audience: "Literal['owner', 'group', 'third_party']" = "owner",
        rerank: bool = False,
        explain: bool = False,
        prove: bool = False,
        text_chars: "int | None" = None,
        cross_encoder: "CrossEncoder | None" = None,
        hit_lens: "Callable[[Sequence[Hit]], Sequence[Hit]] | None" = None,
        decomposer: "Decomposer | None" = None,
    ) -> "Recalled":
        """Return the records that fit a question, best first, each read from the log and verified.

        The ids of the scope bind every way in. `cross_encoder`: (question, texts) → how well each answers, higher is
        better; `hit_lens`: what the hits are seen through where `lens` names none; `decomposer`: what takes the question
        apart. Raises InvalidRequestError for an empty question, ValueError for filters that can't be meant and
        for a past that never was, UnknownLensError, IntegrityError. See docs/recall.md.
        """
        return await to_thread(
            lambda: self.sync.recall(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                as_of=as_of,
                as_of_time=as_of_time,
                query=query,
                top_k=top_k,
                filters=filters,
                valid_at=valid_at,
                now=now,
                superseded=superseded,
                affect=affect,
                uncertainty=uncertainty,
                lens=lens,
                limit_s=limit_s,
                index_s=index_s,
                trust=trust,
                audience=audience,
                rerank=rerank,
                explain=explain,
                prove=prove,
                text_chars=text_chars,
                cross_encoder=cross_encoder,
                hit_lens=hit_lens,
                decomposer=decomposer,
            )
        )

    async def context(
        self,
        query: str,
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
        as_of: "int | None" = None,
        as_of_time: "datetime | None" = None,
        top_k: int = 30,
        filters: "Mapping[str, Json] | None" = None,
        valid_at: "datetime | None" = None,
        now: "datetime | None" = None,
        superseded: "Literal['marked'] | None" = None,
        affect: "AskedTone | None" = None,
        uncertainty: "float | None" = None,
        lens: "str | None" = None,
        limit_s: float = 5.0,
        index_s: float = 60.0,
        trust: "Literal['owner', 'agent', 'tool', 'outsider']" = "outsider",
        audience: "Literal['owner', 'group', 'third_party']" = "owner",
        rerank: bool = False,
        budget: int = 800,
        probe: "str | None" = None,
        clear: bool = False,
        cross_encoder: "CrossEncoder | None" = None,
        hit_lens: "Callable[[Sequence[Hit]], Sequence[Hit]] | None" = None,
        decomposer: "Decomposer | None" = None,
    ) -> "str":
        """Return the `<experience_context>` block for a question, at most `budget` tokens by a cautious estimate.

        Stored text in it is data: escaped, fenced, every line with the id that it comes from. Keys, passwords, codes and
        card numbers are placeholders, unless `clear`. Locals as of `recall`. Raises ValueError for a budget without room
        for the block's frame, and what `recall` raises.
        """
        return await to_thread(
            lambda: self.sync.context(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                as_of=as_of,
                as_of_time=as_of_time,
                query=query,
                top_k=top_k,
                filters=filters,
                valid_at=valid_at,
                now=now,
                superseded=superseded,
                affect=affect,
                uncertainty=uncertainty,
                lens=lens,
                limit_s=limit_s,
                index_s=index_s,
                trust=trust,
                audience=audience,
                rerank=rerank,
                budget=budget,
                probe=probe,
                clear=clear,
                cross_encoder=cross_encoder,
                hit_lens=hit_lens,
                decomposer=decomposer,
            )
        )

    async def vector(self, uri: str) -> "tuple[float, ...] | None":
        """Return what `vec://role/id` names: a unit vector, or None where nothing is there yet.

        Raises ValueError for another kind of address or an unknown role; UnknownRecordError, ErasedError and ForgottenError
        as for `get`.
        """
        return await to_thread(lambda: self.sync.vector(uri=uri))

    async def decision_report(
        self,
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
        as_of: "int | None" = None,
        as_of_time: "datetime | None" = None,
        limit: int = 2000,
        examples: int = 3,
        model: "ChatModel | None" = None,
    ) -> "DecisionReport":
        """Return what the rules would do with each living claim, given those before it: add, update, delete, or nothing.

        It reads only, and nothing of it is carried out. The same log, scope and limit give the same report. With a `model`
        that one is asked the same of each claim that has a living one beside it, and held against the rules. Raises
        RemoteModelError for a model that the settings keep away.
        """
        return await to_thread(
            lambda: self.sync.decision_report(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                as_of=as_of,
                as_of_time=as_of_time,
                limit=limit,
                examples=examples,
                model=model,
            )
        )

    async def judge_decision(
        self,
        id: str,
        verdict: "Literal['right', 'wrong']",
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
        reason: str,
        place: "int | None" = None,
    ) -> "JudgedChange":
        """Say by a signed event whether a change that the rules propose is right; the newest word on a change counts.

        The phase `full` is offered by these figures alone. Raises ValueError where nothing is proposed by this claim, or
        several changes are; AccessDeniedError where a program asks.
        """
        return await to_thread(
            lambda: self.sync.judge_decision(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                id=id,
                verdict=verdict,
                reason=reason,
                place=place,
            )
        )

    async def canary_report(self) -> "CanaryReport":
        """Return what was decided since the phase was set, for users whose decisions are carried out and for the others.

        It reads only: the signed outcomes of deciding, and what people did since.
        """
        return await to_thread(self.sync.canary_report)

    async def stance(
        self,
        question: str,
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
        as_of: "int | None" = None,
        as_of_time: "datetime | None" = None,
        at: "datetime | None" = None,
        append: bool = True,
        trust: "Literal['owner', 'agent', 'tool', 'outsider']" = "tool",
    ) -> "Stance":
        """Return what is held of a question: one claim, or undecided, with what was weighed and what would change it.

        Appends the stance and the reconciliation that it is, superseding the stance before; where nothing that was weighed
        has changed, returns that one. With `append` false nothing is written. Method: justified truth maintenance and a
        Bayesian pool over independent sources (SPEC §11). Raises ValueError for a question that says nothing.
        """
        return await to_thread(
            lambda: self.sync.stance(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                as_of=as_of,
                as_of_time=as_of_time,
                question=question,
                at=at,
                append=append,
                trust=trust,
            )
        )

    async def stances(
        self,
        question: "str | None" = None,
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
    ) -> "tuple[Stance, ...]":
        """Return the stances on a question, or on every one, oldest first, each with what superseded it."""
        return await to_thread(
            lambda: self.sync.stances(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                question=question,
            )
        )

    async def why(self, id: str) -> "Explanation":
        """Return why a stance holds what it holds, or why what a record claims stands or doesn't, down to records.

        Of a record that claims nothing it says so (`unclaimed`). Raises ValueError for one that can't claim anything, such
        as a tombstone, and as `get`.
        """
        return await to_thread(lambda: self.sync.why(id=id))

    async def contradictions(
        self,
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
        as_of: "int | None" = None,
        as_of_time: "datetime | None" = None,
        at: "datetime | None" = None,
    ) -> "tuple[Conflict, ...]":
        """Return claims that exclude another while both hold, each with the one that came next: a chain, not every pair.

        With `at`, only those that both hold at that time. Without a scope all that is known is compared, of all
        memories; the view of SQL with this name compares what is of one owner and project.
        """
        return await to_thread(
            lambda: self.sync.contradictions(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                as_of=as_of,
                as_of_time=as_of_time,
                at=at,
            )
        )

    async def ask(
        self,
        question: str,
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
        as_of: "int | None" = None,
        as_of_time: "datetime | None" = None,
        now: "datetime | None" = None,
        lens: "str | None" = None,
        affect: bool = True,
        top_k: "int | None" = None,
        all: bool = False,
        after: "str | None" = None,
        write: "bool | None" = None,
        caution: "Literal['careful', 'default', 'eager']" = "default",
        trust: "Literal['owner', 'agent', 'tool', 'outsider']" = "tool",
        audience: "Literal['owner', 'group', 'third_party']" = "owner",
        composer: "Composer | None" = None,
    ) -> "Reply":
        """Return an answer that cites the records it rests on, or says that it doesn't know.

        Without a `composer` it is put together from what is held and what was said; with one, that one writes it and this
        is what it falls back to. Tone shapes its manner alone. Question, answer, tones, a new stance and a reflection enter
        the log in one transaction. `write=False` writes nothing. Nor does a question without the access `write`, or to a
        store that is frozen, or open for reading only, or whose clock went back (`degraded` says so); `write=True` is
        refused there. "And when?", "who said that?", "how sure are you?" and "and her sister?" are read with the answer
        `after`. Raises ValueError where that is no answer, or of another scope, UnknownRecordError, ErasedError,
        ForgottenError where it can't be read, UnknownLensError, IntegrityError, AccessDeniedError for `write=True` without
        that access, and what appending raises. RemoteModelError for a model that the settings keep away. See
        docs/answers.md.
        """
        return await to_thread(
            lambda: self.sync.ask(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                as_of=as_of,
                as_of_time=as_of_time,
                question=question,
                now=now,
                lens=lens,
                affect=affect,
                top_k=top_k,
                all=all,
                after=after,
                write=write,
                caution=caution,
                trust=trust,
                audience=audience,
                composer=composer,
            )
        )

    async def explain_provenance(self, id: str) -> "str":
        """Return in two or three sentences how an answer, a stance or what a record says is known, by its links alone.

        Raises ValueError for another kind of record; UnknownRecordError, ErasedError, ForgottenError, IntegrityError.
        """
        return await to_thread(lambda: self.sync.explain_provenance(id=id))

    async def briefing(
        self,
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
        budget: int = 800,
        besides: "str | None" = None,
        audience: "Literal['owner', 'group', 'third_party']" = "owner",
    ) -> "str":
        """Return an `<experience_context>` block to begin with: what is known of the user, preferences, the sentences
        that stand for the last day, recent words.

        At most `budget` tokens by a cautious estimate, fenced and with secrets as placeholders, as `context` does. An empty
        text where nothing is remembered. Raises IntegrityError.
        """
        return await to_thread(
            lambda: self.sync.briefing(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                budget=budget,
                besides=besides,
                audience=audience,
            )
        )

    async def changes(
        self,
        topic: "str | None" = None,
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
        as_of: "int | None" = None,
        as_of_time: "datetime | None" = None,
        since: "datetime | None" = None,
        limit: int = 100,
    ) -> "ChangeLog":
        """Return how what is known has changed: each claim that lost its say, the next that took it, and whose words did.

        A later word of the same voice, a correction and what outranks a guess change what is known (SPEC §19); two people
        who differ change nothing: see `contradictions`. What was forgotten or erased is in no change.
        """
        return await to_thread(
            lambda: self.sync.changes(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                as_of=as_of,
                as_of_time=as_of_time,
                topic=topic,
                since=since,
                limit=limit,
            )
        )

    async def why_changed(self, id: str) -> "tuple[AuditEntry, ...]":
        """Return what happened to a memory and what was read of it: learnt, repeated, contradicted, corrected, forgotten.

        By the table `audit_trail`, which follows from the log; `history` has every change of the memory's words. Raises
        UnknownRecordError, and ViewError where the tables can't be asked.
        """
        return await to_thread(lambda: self.sync.why_changed(id=id))

    async def entities(
        self,
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
        as_of: "int | None" = None,
        as_of_time: "datetime | None" = None,
        type: "Literal['person', 'organisation', 'product', 'place', 'thing'] | None" = None,
        named: "str | None" = None,
        meanings: bool = False,
        limit: int = 100,
    ) -> "EntityList":
        """Return who and what is spoken of: names that mean one thing are one entity, and what stays open is proposed.

        Made of the claims of living records: by what people and models decided, by names, aliases and statements, then by
        close names that what was said supports. Entities of two people's memories are never one.
        """
        return await to_thread(
            lambda: self.sync.entities(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                as_of=as_of,
                as_of_time=as_of_time,
                type=type,
                named=named,
                meanings=meanings,
                limit=limit,
            )
        )

    async def entity(
        self,
        entity: str,
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
        as_of: "int | None" = None,
        as_of_time: "datetime | None" = None,
    ) -> "EntityView":
        """Return an entity: its names, where it is mentioned, what it is related to, what is claimed of it.

        Raises ValueError for what no entity is called, and for a name that several have.
        """
        return await to_thread(
            lambda: self.sync.entity(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                as_of=as_of,
                as_of_time=as_of_time,
                entity=entity,
            )
        )

    async def merge_entities(
        self,
        one: str,
        other: str,
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
        by: "str | None" = None,
        reason: "str | None" = None,
    ) -> "EntityDecision":
        """Record that two entities are one. Splitting them, or forgetting the record, gives both back.

        It is written also where only a rule says so; nothing is where it was decided already. Raises ValueError for what
        no entity is called, for a name that several have, and for entities of two people's memories.
        """
        return await to_thread(
            lambda: self.sync.merge_entities(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                by=by,
                reason=reason,
                one=one,
                other=other,
            )
        )

    async def split_entity(
        self,
        entity: str,
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
        by: "str | None" = None,
        reason: "str | None" = None,
        names: "Sequence[str]" = (),
        turns: "Sequence[str]" = (),
    ) -> "EntityDecision":
        """Record that an entity is two: some of its names are another's, or its names mean another in some turns.

        Without names and turns, takes back the decisions that joined its names, so that each is what it was. Raises
        ValueError where there is nothing to part, and as `merge_entities`.
        """
        return await to_thread(
            lambda: self.sync.split_entity(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                by=by,
                reason=reason,
                entity=entity,
                names=names,
                turns=turns,
            )
        )

    async def alias_entity(
        self,
        entity: str,
        aliases: "Sequence[str]",
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
        by: "str | None" = None,
        reason: "str | None" = None,
    ) -> "EntityDecision":
        """Record other names of an entity: who is called so, now or later, is the same. Repeating it writes nothing.

        Raises ValueError for a name that several entities have.
        """
        return await to_thread(
            lambda: self.sync.alias_entity(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                by=by,
                reason=reason,
                entity=entity,
                aliases=aliases,
            )
        )

    async def knowledge_graph(
        self,
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
        as_of: "int | None" = None,
        as_of_time: "datetime | None" = None,
        about: "str | None" = None,
        trust: "Literal['owner', 'agent', 'tool', 'outsider']" = "tool",
    ) -> "KnowledgeGraph":
        """Return what is known as a graph: who and what is spoken of, what is claimed, and the words each claim stands on.

        Claims of living records, contradicting ones too, each with its record, turn and quote. What is forgotten, erased or
        of a lower source class is not in it. Raises ValueError for `about` what no entity, or several, are called.
        """
        return await to_thread(
            lambda: self.sync.knowledge_graph(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                as_of=as_of,
                as_of_time=as_of_time,
                about=about,
                trust=trust,
            )
        )

    async def knowledge_graphml(
        self,
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
        as_of: "int | None" = None,
        as_of_time: "datetime | None" = None,
        about: "str | None" = None,
        trust: "Literal['owner', 'agent', 'tool', 'outsider']" = "tool",
    ) -> "str":
        """Return what `knowledge_graph` does as GraphML. What XML can't say in a text is replaced by U+FFFD."""
        return await to_thread(
            lambda: self.sync.knowledge_graphml(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                as_of=as_of,
                as_of_time=as_of_time,
                about=about,
                trust=trust,
            )
        )

    async def centrality(
        self,
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
        as_of: "int | None" = None,
        as_of_time: "datetime | None" = None,
        trust: "Literal['owner', 'agent', 'tool', 'outsider']" = "tool",
        limit: int = 20,
    ) -> "tuple[CentralEntity, ...]":
        """Return which entities stand in the middle of what is known: by PageRank, with degree and betweenness.

        Of the claims that relate two entities and don't deny it. Raises ValueError where rustworkx isn't installed.
        """
        return await to_thread(
            lambda: self.sync.centrality(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                as_of=as_of,
                as_of_time=as_of_time,
                trust=trust,
                limit=limit,
            )
        )

    async def learn(
        self,
        *,
        dry_run: bool = False,
        trust: "Literal['owner', 'agent', 'tool', 'outsider']" = "tool",
        told: "Callable[[Record, Draft], None] | None" = None,
    ) -> "Learned":
        """Read what has not been read yet for plain statements; append these as inference records above their turns.

        Follows the log; repeating it adds nothing. `told` is shown each record that states something, and its draft.
        """
        return await to_thread(lambda: self.sync.learn(dry_run=dry_run, trust=trust, told=told))

    async def extract(
        self,
        *,
        turns_each: int = 10,
        ended_only: bool = False,
        dry_run: bool = False,
        model: "ChatModel | None" = None,
        larger: "ChatModel | None" = None,
        second: "ChatModel | None" = None,
        parser: "Parser | None" = None,
        told: "Callable[[Record, Draft], None] | None" = None,
    ) -> "Extracted":
        """Read preferences that are stated as data, and tools by their use; with a `model`, what sessions state in words.

        What passes the gates is appended, one record a turn and extractor, with what made it; repeating it adds nothing.
        `second` is asked where `model` gives no answer, `larger` where that is unsure. Without a `parser`, what a model
        finds is staged, not known. The embedder of the store chooses the known names that a model is given. `told` is shown
        each record and its draft. Raises RemoteModelError for a model that the settings keep away; where the day's tokens
        are spent the rest waits.
        """
        return await to_thread(
            lambda: self.sync.extract(
                turns_each=turns_each,
                ended_only=ended_only,
                dry_run=dry_run,
                model=model,
                larger=larger,
                second=second,
                parser=parser,
                told=told,
            )
        )

    async def about(
        self,
        topic: str,
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
        as_of: "int | None" = None,
        as_of_time: "datetime | None" = None,
        at: "datetime | None" = None,
    ) -> "tuple[KnownClaim, ...]":
        """Return what is known about something: the living claims that have a say, with the words that they were read from.

        The rule of stances (SPEC §19) decides who has a say. Each claim names what it stands in place of. Staged claims are
        not among them.
        """
        return await to_thread(
            lambda: self.sync.about(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                as_of=as_of,
                as_of_time=as_of_time,
                topic=topic,
                at=at,
            )
        )

    async def why_known(self, id: str) -> "tuple[ClaimDerivation, ...]":
        """Return how each claim of a record, or of what was read from it, came to be known.

        Whether the quote stands in the turn is looked at again, in the log. None for a turn that claims nothing and of
        which nothing was read. Raises ValueError for what is no experience, and as `get`.
        """
        return await to_thread(lambda: self.sync.why_known(id=id))

    async def why_not_known(
        self,
        text: str,
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
        top_k: int = 10,
    ) -> "Playbook":
        """Return why something isn't known: whether it was said, read, held back, forgotten, superseded, or ranked out.

        A record says it, and a claim means it, where the most of its words stand there, the rarer the more, and each
        name and number. What was forgotten is named by its id alone; of erasures, who is held to a scope learns
        nothing. Raises ValueError for a text without a word that says anything.
        """
        return await to_thread(
            lambda: self.sync.why_not_known(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                text=text,
                top_k=top_k,
            )
        )

    async def staging(
        self,
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
        state: "Literal['waiting', 'accepted', 'rejected'] | None" = "waiting",
    ) -> "tuple[StagedClaim, ...]":
        """Return the claims that gates let wait: they have no say in anything until somebody accepts them."""
        return await to_thread(
            lambda: self.sync.staging(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                state=state,
            )
        )

    async def accept_staged(self, id: str, place: int = 0) -> "StagedDecision":
        """Append a staged claim as a signed reading of its turn, with the reading that staged it as evidence.

        It goes with its turn. Again it appends nothing. Raises ValueError where nothing is staged there, or it was
        rejected, ForgottenError where the claim was accepted and then forgotten, and as `get`.
        """
        return await to_thread(lambda: self.sync.accept_staged(id=id, place=place))

    async def reject_staged(
        self, id: str, place: int = 0, *, reason: "str | None" = None
    ) -> "StagedDecision":
        """Append the signed event that rejects a staged claim; again it appends nothing.

        Raises ValueError where nothing is staged there, or it was accepted, and as `get`.
        """
        return await to_thread(lambda: self.sync.reject_staged(id=id, place=place, reason=reason))

    async def retire_reader(self, method: str, *, reason: "str | None" = None) -> "ReaderRetired":
        """Append one signed event by which all readings of a method lose their say: SPEC §9.7.

        Earlier pasts still show them, and forgetting the event gives it back. Again it appends nothing.
        """
        return await to_thread(lambda: self.sync.retire_reader(method=method, reason=reason))

    async def set_learning(
        self, *, health: "bool | None" = None, finance: "bool | None" = None, reason: "str | None" = None
    ) -> "LearningSetting":
        """Allow or forbid claims of health and of money by a signed event. Both are off until somebody allows them.

        What is forbidden loses its say by one event for each reader, and its words stay quotable; once allowed again, it is
        back. What is allowed is read by the next `learn`, from the beginning of the log; a model reads what comes from now
        on. Raises KeyRefusedError without an operator's key.
        """
        return await to_thread(lambda: self.sync.set_learning(health=health, finance=finance, reason=reason))

    async def learning_setting(self) -> "LearningSetting":
        """Return whether claims of health and of money are made, and the record that says so."""
        return await to_thread(self.sync.learning_setting)

    async def capture(
        self,
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
        harness: str,
        session: str,
        runtime_path: "Literal['plugin', 'hook']",
        request: str,
        decision: "PathDecision | None" = None,
        number: int = 0,
        turns: "Sequence[Append]" = (),
    ) -> "Captured":
        """Append turns that a harness holds, as one transaction; one whose key is in the log is there already.

        Each says which path brought it. A turn that can't be a record is refused by its place, and the others go in. Raises
        InvalidRequestError for a turn without a key, or with a signer or a record that it would replace.
        """
        return await to_thread(
            lambda: self.sync.capture(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                harness=harness,
                session=session,
                runtime_path=runtime_path,
                request=request,
                decision=decision,
                number=number,
                turns=turns,
            )
        )

    def export_records(self, *, include_forgotten: bool = False) -> "AsyncIterator[str]":
        """Yield the records under the signed head as lines of JSON, each with the evidence of where it is from.

        Control records go along as envelopes at least, so that a reader can tell which keys were in force. Raises
        NoVaultError. Form: SPEC §13.
        """
        return stream(lambda: self.sync.export_records(include_forgotten=include_forgotten))

    async def import_records(
        self,
        path: "Path | str | None" = None,
        *,
        vkey: "str | None" = None,
        dry_run: bool = False,
        lines: "Iterable[bytes] | None" = None,
    ) -> "Imported":
        """Append the records of another store's export under new ids, each checked, its evidence kept in its body.

        Importing the same lines again adds nothing. What doesn't hold is refused with its line; the rest goes in. `lines`:
        those of an export, in place of a path. Raises EvidenceError where nothing of it can be believed.
        """
        return await to_thread(
            lambda: self.sync.import_records(path=path, vkey=vkey, dry_run=dry_run, lines=lines)
        )

    async def export_copy(self, path: "Path | str", *, audit: bool = False) -> "tuple[str, ...]":
        """Copy the log as far as its published head into a new folder.

        With `audit` the copy can be verified, traced and proved, and not one memory can be read from it; without, vault and
        keys go along. Raises DestinationExistsError, LedgerError.
        """
        return await to_thread(lambda: self.sync.export_copy(path=path, audit=audit))

    async def export_subject(
        self,
        path: "Path | str | None" = None,
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
        actor: "str | None" = None,
    ) -> "Counts":
        """Write everything held about a subject into a new folder or zip, as far as the signed head (docs/access.md).

        Files are 0600, the folder 0700. Raises ValueError where nothing is held: a slip of the pen must not look like a
        complete answer; DestinationExistsError, NoVaultError.
        """
        return await to_thread(
            lambda: self.sync.export_subject(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                path=path,
                actor=actor,
            )
        )

    async def verify(
        self,
        *,
        deep: bool = False,
        rederive: bool = False,
        hash_only: bool = False,
        since: "VerifiedState | None" = None,
        workers: "int | None" = None,
        vkey: "str | None" = None,
        progress: "Callable[[int, int], None] | None" = None,
    ) -> "Report":
        """Verify the whole log from its files, and return all that is wrong, with positions.

        `progress` is called with how many bytes of how many were read. Raises ValueError for options that exclude each
        other, and NoVaultError for `rederive` where bodies can't be read. SPEC §11.
        """
        return await to_thread(
            lambda: self.sync.verify(
                deep=deep,
                rederive=rederive,
                hash_only=hash_only,
                since=since,
                workers=workers,
                vkey=vkey,
                progress=progress,
            )
        )

    async def doctor(self) -> "tuple[Problem, ...]":
        """Return what is wrong with the store's files, keys, vault, guard, snapshots, projections, and room.

        Nothing is changed. What the log says is for `verify`. A store that can't be opened is examined by `braid doctor`.
        """
        return await to_thread(self.sync.doctor)

    async def backup(self, dest: "Path | str", *, with_vault: bool = False) -> "Backup":
        """Bring the backup in `dest` to this store's published head, copying what is new; `braid.restore` reads it.

        Neither vault nor private keys go along unless `with_vault`. Raises BackupError. SPEC §13.1.
        """
        return await to_thread(lambda: self.sync.backup(dest=dest, with_vault=with_vault))

    async def certificate(self, id: str) -> "ErasureCertificate":
        """Return what an erasure took, by id and digest, from signed records alone.

        Raises UnknownRecordError for an id that the log has not, InvalidRecordError for one that belongs to no erasure.
        """
        return await to_thread(lambda: self.sync.certificate(id=id))

    async def forget(
        self, *ids: "str", reason: "str | None" = None, force: bool = False, only: bool = False
    ) -> "RecordId":
        """Hide memories and what falls with them (see `plan_forget`), until they are recovered or erased by `retain`.

        With `only`, a correction alone is taken back, and what it corrected stands again. Returns the tombstone's id: where
        all of them are forgotten already, the id of the one that says so, so a forget can be repeated. Raises
        UnknownRecordError, ErasedError, ForgottenError where some are forgotten already and others aren't;
        InvalidRecordError for what is no memory, PinnedError for a pinned one without `force`.
        """
        return await to_thread(lambda: self.sync.forget(*ids, reason=reason, force=force, only=only))

    async def plan_forget(self, *ids: "str", only: bool = False) -> "tuple[RecordId, ...]":
        """Return what would be hidden with these: the rest of their memories, and what rests on them alone or quotes them.

        What rests on them are answers, stances and views. Who is held to a scope is shown no records of others, which fall
        as well. Raises UnknownRecordError, ForgottenError, ErasedError.
        """
        return await to_thread(lambda: self.sync.plan_forget(*ids, only=only))

    async def recover(self, *ids: "str", reason: "str | None" = None) -> "RecordId":
        """Bring forgotten records, and what fell with them, back within the retention window; return the tombstone's id.

        Where all of them came back already, it is the id of the tombstone that says so. Raises InvalidRecordError for what
        was not forgotten, is past its window, or rests on what stays forgotten.
        """
        return await to_thread(lambda: self.sync.recover(*ids, reason=reason))

    async def plan_recover(self, *ids: "str") -> "tuple[RecordId, ...]":
        """Return what fell with these forgotten records and would come back with them: not what is past its window.

        A memory that was forgotten as a whole comes back as a whole, by any of its ids: else its old words would stand.

        Who is held to a scope is shown no records of others, which come back as well. Raises InvalidRecordError for a
        record of which all that it rests on stays forgotten.
        """
        return await to_thread(lambda: self.sync.plan_recover(*ids))

    async def plan_erase(
        self,
        *ids: "str",
        user_id: "str | UnsetType" = UNSET,
        agent_id: "str | UnsetType" = UNSET,
        run_id: "str | UnsetType" = UNSET,
        project_id: "str | UnsetType" = UNSET,
        session_id: "str | UnsetType" = UNSET,
        says: "Sequence[str]" = (),
        whole: bool = False,
    ) -> "Cascade":
        """Return what erasing these records, or everything of a scope or of a name, would take and weaken.

        Who is held to a scope is shown no records of others, of which what rests on these alone goes as well.
        Raises InvalidRequestError for ids together with a scope or a name; UnknownRecordError, ErasedError;
        InvalidRecordError for what is no memory; NoVaultError for a scope or a name where bodies can't be read.
        """
        return await to_thread(
            lambda: self.sync.plan_erase(
                *ids,
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                says=says,
                whole=whole,
            )
        )

    async def erase(
        self,
        *ids: "str",
        user_id: "str | UnsetType" = UNSET,
        agent_id: "str | UnsetType" = UNSET,
        run_id: "str | UnsetType" = UNSET,
        project_id: "str | UnsetType" = UNSET,
        session_id: "str | UnsetType" = UNSET,
        says: "Sequence[str]" = (),
        whole: bool = False,
        reason: "str | None" = None,
    ) -> "tuple[Certificate, ...]":
        """Erase records and what is derived from them alone; signed certificates say what was done.

        Keys are destroyed, bodies blanked, projections rebuilt. What was derived meanwhile goes too: the cascade
        is planned in one turn with the tombstone. Without `whole`, what an erased correction had corrected stands again,
        and a correction of what is erased stays. Raises ValueError where neither a record, a scope nor a name is
        given, and as `plan_erase` does. SPEC §9.
        """
        return await to_thread(
            lambda: self.sync.erase(
                *ids,
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                says=says,
                whole=whole,
                reason=reason,
            )
        )

    async def compact(self) -> "int":
        """Give back the disk space of erased bodies; return how many bytes. Raises NoRoomError where it has no room."""
        return await to_thread(self.sync.compact)

    async def freeze(self, *, reason: "str | None" = None) -> "FreezeState":
        """Freeze the store by a signed event: until `unfreeze`, who is no operator can only read.

        It holds for every caller of a server and of an agent's tools, from the next request on. One that is frozen already
        stays so by its first event.
        """
        return await to_thread(lambda: self.sync.freeze(reason=reason))

    async def unfreeze(self, *, reason: "str | None" = None) -> "FreezeState":
        """End a freeze by a signed event; without a freeze nothing is added."""
        return await to_thread(lambda: self.sync.unfreeze(reason=reason))

    async def frozen(self) -> "FreezeState":
        """Return whether the store is frozen, and what says so."""
        return await to_thread(self.sync.frozen)

    async def admit(self, role: str, actor: "str | None" = None) -> "Admitted":
        """Make a key for one role and actor, admit it to the log and keep its private half in `keys/`.

        Raises ValueError for an unknown role, KeyRefusedError where the root key is not here.
        """
        return await to_thread(lambda: self.sync.admit(role=role, actor=actor))

    async def revoke(
        self, id: str, *, compromised_since: "int | None" = None, reason: "str | None" = None
    ) -> "RecordId":
        """Revoke a key from here on; return the id of the record that says so.

        Raises UnknownKeyError for a key that was never admitted, ValueError for an index that the log doesn't have.
        """
        return await to_thread(
            lambda: self.sync.revoke(id=id, compromised_since=compromised_since, reason=reason)
        )

    async def set_durability(
        self, mode: "Literal['always', 'interval', 'none']", *, reason: "str | None" = None
    ) -> "RecordId":
        """Choose when an append is on disk (`always`, `interval`, `none`) by a signed event; return its id.

        It counts here at once, in other handles when they are opened again. Raises KeyRefusedError without an operator's
        key.
        """
        return await to_thread(lambda: self.sync.set_durability(mode=mode, reason=reason))

    async def checkpoint(self) -> "Published":
        """Sign and publish the present head now. Raises UnpublishedError where it can't be."""
        return await to_thread(self.sync.checkpoint)

    async def sql(
        self,
        query: str,
        parameters: "Sequence[Json] | Mapping[str, Json] | None" = None,
        *,
        as_of: "int | None" = None,
        as_of_time: "datetime | None" = None,
        valid_at: "datetime | None" = None,
        include_forgotten: bool = False,
        seconds: float = 30.0,
        rows: int = 100000,
        result_bytes: int = 268435456,
        memory_bytes: int = 536870912,
        tables: "Mapping[str, object] | None" = None,
        stop: "Callable[[], bool] | None" = None,
    ) -> "ArrowTable":
        """Return a SELECT over the DuckDB projection, caught up, as a pyarrow Table.

        `tables`: pyarrow Tables, or frames of pandas or polars, by the names under which the query may join them. In a
        past: as the log was, less what is erased by now. Untrusted SQL can't write, read files or reach the network.
        `stop` is asked several times a second whether the statement shall end. Raises SqlError, SqlTimeoutError,
        SqlLimitError, SqlStoppedError; ViewBusyError while too many long statements run. SPEC §10.7.
        """
        return await to_thread(
            lambda: self.sync.sql(
                as_of=as_of,
                as_of_time=as_of_time,
                query=query,
                parameters=parameters,
                valid_at=valid_at,
                include_forgotten=include_forgotten,
                seconds=seconds,
                rows=rows,
                result_bytes=result_bytes,
                memory_bytes=memory_bytes,
                tables=tables,
                stop=stop,
            )
        )

    async def replay(
        self,
        view: "str | None" = None,
        *,
        from_scratch: bool = False,
        progress: "Callable[[int, int], None] | None" = None,
    ) -> "tuple[Caught, ...]":
        """Rebuild the projections (or the one named) into fresh files and swap them in.

        From the newest snapshot that fits and what came after it; else, or `from_scratch`, from the log alone. Raises
        ViewBusyError while another process is at work on them. `progress` is called with how many records of how many.
        """
        return await to_thread(
            lambda: self.sync.replay(view=view, from_scratch=from_scratch, progress=progress)
        )

    async def snapshot(self, *, keep: int = 2) -> "Snapshot":
        """Write down what the projections hold, signed and bound to the log's size and root; the `keep` newest stay.

        Raises KeyRefusedError where no operator's key is here, ViewBusyError.
        """
        return await to_thread(lambda: self.sync.snapshot(keep=keep))

    async def snapshots(self) -> "tuple[Snapshot, ...]":
        """Return every snapshot, the newest first; `trouble` says why one would not be used."""
        return await to_thread(self.sync.snapshots)

    async def retain(self) -> "Retained":
        """Erase what was forgotten, then what was corrected, longer ago than its window; then let go of jobs that ended.

        A signed event says at what time each sweep looked. What was corrected goes only where `history_days` is set.
        Raises TransportError where what carries the jobs gives no answer; the records are erased by then.
        """
        return await to_thread(self.sync.retain)

    async def retention_due(self) -> "tuple[Overdue, ...]":
        """Return what the next `retain` would take; what is derived from it alone goes with it (`plan_erase`)."""
        return await to_thread(self.sync.retention_due)

    async def list_settings(self) -> "tuple[SettingState, ...]":
        """Return every setting with its value, its default, and the signed record that set it."""
        return await to_thread(self.sync.list_settings)

    async def change_setting(self, key: str, value: str, *, reason: str) -> "SettingChanged":
        """Set a key by a signed event; what is set so already adds nothing.

        Raises InvalidRequestError for an unknown key, a value that isn't of its type, and the phase `full` where people
        have not judged enough changes to be right; KeyRefusedError without an operator's key.
        """
        return await to_thread(lambda: self.sync.change_setting(key=key, value=value, reason=reason))

    async def status(self) -> "Status":
        """Return size, head, lag of the projections, what is forgotten and due, and the space used; nothing is caught up.

        `torn`: what was cut from the log's end when this handle opened it.
        """
        return await to_thread(self.sync.status)

    async def status_at(
        self,
        *,
        as_of: "int | None" = None,
        as_of_time: "datetime | None" = None,
        valid_at: "datetime | None" = None,
    ) -> "StatusThen":
        """Return what the log held in a past: its size, root and keys, and how many rows its projection has.

        `erased` counts what is erased by now. Raises ValueError for a past that never was.
        """
        return await to_thread(
            lambda: self.sync.status_at(as_of=as_of, as_of_time=as_of_time, valid_at=valid_at)
        )

    async def stage(self) -> "Stage":
        """Return how far the memory has come, from empty to expert, and what it lacks to the next stage.

        Counted in the projection, which is caught up. Raises as `sql`; NoVaultError without a vault.
        """
        return await to_thread(self.sync.stage)

    async def issue_token(
        self,
        name: str,
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
        kind: "Literal['operator', 'person', 'agent', 'autonomous', 'model']" = "person",
        allowed: "Sequence[Literal['read', 'write', 'modify', 'forget', 'recover', 'erase', 'keys', 'operate', 'admin']] | None" = None,
        operations: "Sequence[str] | None" = None,
        expires_s: "float | None" = None,
    ) -> "IssuedToken":
        """Issue a token by a signed event, and return it: it can't be shown again.

        It is given what its kind may do (`braid.caller.GRANTS`) or less. Who asks with a token issues none that may do more
        than that one, or lives longer; it falls with that one. Raises AccessDeniedError for more, and InvalidRequestError
        for an operation without that name.
        """
        return await to_thread(
            lambda: self.sync.issue_token(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                name=name,
                kind=kind,
                allowed=allowed,
                operations=operations,
                expires_s=expires_s,
            )
        )

    async def revoke_token(self, id: str, *, reason: "str | None" = None) -> "RecordId":
        """Revoke a token, and all that were issued with it, by a signed event, and return the event's id.

        It counts from the next request on, and ends streams that are open.

        Raises UnknownTokenError for a token that was never issued, InvalidRequestError for one that was revoked before.
        """
        return await to_thread(lambda: self.sync.revoke_token(id=id, reason=reason))

    async def tokens(self) -> "tuple[TokenView, ...]":
        """Return every token that was issued, oldest first, and whether it still counts. Secrets are nowhere kept."""
        return await to_thread(self.sync.tokens)

    async def memories(
        self,
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
        as_of: "int | None" = None,
        as_of_time: "datetime | None" = None,
        limit: int = 100,
        before: "int | None" = None,
        forgotten: bool = False,
        derived: bool = False,
    ) -> "MemoryPage":
        """Return a page of the memories of a scope that stand, newest first; each once, with what it says now.

        They are in the order in which they were first remembered: a correction moves none to another page, and what was
        forgotten leaves no gap. Each is read from the log and verified. As of a past (give each page the same) they are
        those that stood then, less what has been forgotten since. A page costs its own records and a question to the
        projection, which looks through one column (.03 s where it has a million records); with `forgotten`, it costs the
        records that are forgotten in the store. Raises ValueError for a past that never was.
        """
        return await to_thread(
            lambda: self.sync.memories(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                as_of=as_of,
                as_of_time=as_of_time,
                limit=limit,
                before=before,
                forgotten=forgotten,
                derived=derived,
            )
        )

    async def modify(
        self,
        id: str,
        *,
        reason: str,
        text: "str | None" = None,
        tags: "Sequence[str] | None" = None,
        pinned: "bool | None" = None,
        importance: "float | None" = None,
        lock_days: "int | None" = None,
        if_version: "int | None" = None,
        idempotency_key: "str | None" = None,
    ) -> "Modified":
        """Change a memory: another text or other tags are a record in its place, all else an event that targets it.

        Checked and appended in one turn of the writer. Raises VersionConflictError where it has changed since `if_version`,
        ForgottenError where nothing of it is living, InvalidRecordError where nothing would change.
        """
        return await to_thread(
            lambda: self.sync.modify(
                id=id,
                reason=reason,
                text=text,
                tags=tags,
                pinned=pinned,
                importance=importance,
                lock_days=lock_days,
                if_version=if_version,
                idempotency_key=idempotency_key,
            )
        )

    async def modify_all(self, changes: "Sequence[Modify]") -> "tuple[Outcome, ...]":
        """Change several memories, each wholly or not at all; one that can't be changed stops no other."""
        return await to_thread(lambda: self.sync.modify_all(changes=changes))

    async def history(self, id: str, *, as_of: "int | None" = None) -> "MemoryHistory":
        """Return every change of a memory in the order of the log: added, updated, deleted, recovered, erased.

        `MERGE` is what was decided of a name that it says; of a name that more than 200 turns had said by then, only the
        newest have the row. `NONE` is a time that nothing was added, since it says the same already. In the phases `shadow`
        and `add_only` there is a row `NONE`, too, for what the rules would do about what it claims: `proposed` says what.

        It follows from signed records alone, so it can't be incomplete. What is forgotten or erased has no text here.
        Raises InvalidRecordError for what is no memory, UnknownRecordError.
        """
        return await to_thread(lambda: self.sync.history(id=id, as_of=as_of))

    async def preview_forget(
        self,
        query: str,
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
        match: "Literal['words', 'topic', 'meaning']" = "words",
        filters: "Mapping[str, Json] | None" = None,
        limit: int = 20,
    ) -> "Preview":
        """Return which memories would be forgotten, each with its version, and a token that forgets just these.

        Nothing is changed. Only an operator may leave every scope id out. Raises AccessDeniedError, and InvalidRequestError
        for an empty query.
        """
        return await to_thread(
            lambda: self.sync.preview_forget(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                query=query,
                match=match,
                filters=filters,
                limit=limit,
            )
        )

    async def forget_previewed(
        self,
        token: str,
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
        reason: str,
        ids: "Sequence[str] | None" = None,
        confirm: "int | None" = None,
    ) -> "Forgotten":
        """Forget the memories that a preview has shown and that are still what was shown; name those that are not.

        What a correction replaced is forgotten with it, so nothing of the memory stands again. Raises ConfirmationError for
        a token that is not this caller's, of another scope, expired or altered, and where more than ten, or what only
        comes near, are forgotten without saying how many.
        """
        return await to_thread(
            lambda: self.sync.forget_previewed(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                token=token,
                reason=reason,
                ids=ids,
                confirm=confirm,
            )
        )

    async def remember(
        self,
        messages: "str | Mapping[str, Json] | Sequence[str | Mapping[str, Json]]",
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
        metadata: "Mapping[str, Json] | None" = None,
        tags: "Sequence[str]" = (),
        idempotency_key: "str | None" = None,
        learn: bool = True,
        mode: "Literal['sync', 'async', 'auto'] | None" = None,
        pipeline_timeout_ms: "int | None" = None,
        raw: bool = False,
    ) -> "Remembered":
        """Append chat messages as one transaction; what they state is then read, outside every lock, or queued.

        One message outside a session is a memory: where a living one of the same scope says the same, that is answered, and
        its history has a `NONE`. Turns of a session stay apart. An unknown member of a message, and a user's message that
        says nothing, are refused (InvalidRecordError): then none is appended. With an `idempotency_key`, repeating the call
        adds nothing; with other messages it raises IdempotencyConflictError.
        """
        return await to_thread(
            lambda: self.sync.remember(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                messages=messages,
                metadata=metadata,
                tags=tags,
                idempotency_key=idempotency_key,
                learn=learn,
                mode=mode,
                pipeline_timeout_ms=pipeline_timeout_ms,
                raw=raw,
            )
        )

    async def reviews(
        self,
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
        state: "Literal['waiting', 'accepted', 'rejected'] | None" = "waiting",
    ) -> "tuple[ReviewItem, ...]":
        """Return the living claims that exclude each other where neither source, time nor all voices decide.

        What a later word, a correction or a forget has settled is not among them.
        """
        return await to_thread(
            lambda: self.sync.reviews(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                state=state,
            )
        )

    async def review(
        self,
        id: str,
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
    ) -> "ReviewItem":
        """Return one pair of claims, whatever became of it. Raises ValueError where the scope has none of this id."""
        return await to_thread(
            lambda: self.sync.review(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                id=id,
            )
        )

    async def accept_review(
        self,
        id: str,
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
        keep: "Literal['one', 'other']",
        reason: str,
    ) -> "ReviewDecision":
        """Say which of two claims is right: a signed correction that rests on it and takes the other's say.

        Again appends nothing; forgetting the record asks again. Raises ValueError for what was rejected, and for a claim
        that is an agent's word, which corrects nobody; AccessDeniedError where a program asks.
        """
        return await to_thread(
            lambda: self.sync.accept_review(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                id=id,
                keep=keep,
                reason=reason,
            )
        )

    async def reject_review(
        self,
        id: str,
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
        reason: str,
    ) -> "ReviewDecision":
        """Say that a pair is not to be asked about again, by a signed event: both claims stay as they are.

        Again appends nothing; forgetting the event asks again. Raises ValueError for what was accepted;
        AccessDeniedError where a program asks.
        """
        return await to_thread(
            lambda: self.sync.reject_review(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                id=id,
                reason=reason,
            )
        )

    async def run_program(
        self,
        question: str,
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
        plan: "Plan | str | None" = None,
        allow: "Sequence[Literal['read', 'ask', 'write', 'network']]" = ("read", "ask"),
        samples: int = 1,
        now: "datetime | None" = None,
        affect: bool = True,
        idempotency_key: "str | None" = None,
        composer: "Composer | None" = None,
        tools: "Iterable[Tool]" = (),
    ) -> "Program":
        """Run a plan for a question until it has answered, or waits: each step is in the log before the next.

        `composer` writes its notes and answers; `tools`: beside those that come with Braid. Raises PlanError before
        anything is written, ProgramTakenError where another run goes on with it, ReadOnlyError. See docs/programs.md.
        """
        return await to_thread(
            lambda: self.sync.run_program(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                question=question,
                plan=plan,
                allow=allow,
                samples=samples,
                now=now,
                affect=affect,
                idempotency_key=idempotency_key,
                composer=composer,
                tools=tools,
            )
        )

    async def resume(
        self,
        id: str,
        *,
        result: "Json" = None,
        again: bool = False,
        take_over: bool = False,
        affect: bool = True,
        composer: "Composer | None" = None,
        tools: "Iterable[Tool]" = (),
    ) -> "Program":
        """Go on with a program from its records, in this process or any other, on whatever day.

        Raises ProgramTakenError where another runs it, ProgramStateError where what is given doesn't fit how it stands,
        ToolRefusedError where the tool or the result is not what it was paused for, and as `get`.
        """
        return await to_thread(
            lambda: self.sync.resume(
                id=id,
                result=result,
                again=again,
                take_over=take_over,
                affect=affect,
                composer=composer,
                tools=tools,
            )
        )

    async def programs(
        self,
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
    ) -> "tuple[ProgramSummary, ...]":
        """Return every program of a scope that can be read, oldest first, and how it stands. Raises IntegrityError."""
        return await to_thread(
            lambda: self.sync.programs(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
            )
        )

    async def program_trace(self, id: str) -> "tuple[Recorded, ...]":
        """Return what happened in a program, in order, each with its record and those that it came from.

        Raises ProgramStateError for an id of something else, and as `get`.
        """
        return await to_thread(lambda: self.sync.program_trace(id=id))

    async def work(
        self,
        *,
        consumers: "Sequence[Literal['session-extraction', 'decision', 'consolidation', 'projection', 'enrichment']]" = (),
        until_idle: bool = False,
        ended_only: bool = False,
        most: "int | None" = None,
        model: "ChatModel | None" = None,
        larger: "ChatModel | None" = None,
        second: "ChatModel | None" = None,
        parser: "Parser | None" = None,
        wait: "Callable[[float], None] | None" = None,
        told: "Callable[[Step], None] | None" = None,
    ) -> "Worked":
        """Work off what the log has and no outcome names: read sessions, decide, bring projections and meanings up to date.

        Each outcome is signed with what was found, as one transaction. What fails is tried again after 1, 5 and 30 seconds,
        each time with less context; then it is dead, and `jobs` lists it. With a `model`, sessions are read by it, too, by
        `second` where that fails, and by `larger` where it is unsure. Raises RemoteModelError for one that may not be
        asked. `told` is shown what became of each job; `wait` waits so many seconds.
        """
        return await to_thread(
            lambda: self.sync.work(
                consumers=consumers,
                until_idle=until_idle,
                ended_only=ended_only,
                most=most,
                model=model,
                larger=larger,
                second=second,
                parser=parser,
                wait=wait,
                told=told,
            )
        )

    async def jobs(
        self,
        *,
        state: "Literal['pending', 'leased', 'retry_scheduled', 'done', 'dead'] | None" = None,
        consumer: "Literal['session-extraction', 'decision', 'consolidation', 'projection', 'enrichment'] | None" = None,
        limit: int = 100,
    ) -> "Jobs":
        """Return the jobs: what the log has and no outcome names, what is leased, and what is dead by a signed record.

        What is done is listed until `retain` drops it, after 14 days or less, and follows from the log after that.
        """
        return await to_thread(lambda: self.sync.jobs(state=state, consumer=consumer, limit=limit))

    async def job(self, id: str) -> "JobShown":
        """Return how a job stands and what became of it, by signed records. Raises UnknownJobError."""
        return await to_thread(lambda: self.sync.job(id=id))

    async def job_progress(
        self,
        id: str,
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
    ) -> "Progress":
        """Return how a job stands that `remember` named, to the caller who remembered.

        Raises UnknownJobError, in the same words for one that is about no record of the scope.
        """
        return await to_thread(
            lambda: self.sync.job_progress(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                id=id,
            )
        )

    async def retry_job(self, id: str, *, reason: str) -> "JobsChanged":
        """Let a job that waits or is dead be done now, from its first attempt on; a signed record says who and why.

        A worker that is at it loses its lease. Raises UnknownJobError, InvalidRequestError for one that is done.
        """
        return await to_thread(lambda: self.sync.retry_job(id=id, reason=reason))

    async def discard_job(self, id: str, *, reason: str) -> "JobsChanged":
        """Let a job that waits or is dead never be done; a signed record says who and why. `retry_job` brings it back.

        The records stay, unread. Raises UnknownJobError, InvalidRequestError for one that is done.
        """
        return await to_thread(lambda: self.sync.discard_job(id=id, reason=reason))

    async def replay_dead(
        self,
        *,
        reason: str,
        consumer: "Literal['session-extraction', 'decision', 'consolidation', 'projection', 'enrichment'] | None" = None,
    ) -> "JobsChanged":
        """Let all dead jobs be done again, from their first attempt on; signed records say who and why."""
        return await to_thread(lambda: self.sync.replay_dead(reason=reason, consumer=consumer))

    async def providers(self) -> "Providers":
        """Return which models are set, which are left in peace, what they were asked today, and what is left of the day."""
        return await to_thread(self.sync.providers)

    async def outbound_calls(self, *, limit: int = 100) -> "tuple[OutboundCall, ...]":
        """Return what left for models: when, which model, how many tokens and bytes, how it ended, and no word of it.

        A row is kept for 90 days at least. Raises OSError where the file can't be read.
        """
        return await to_thread(lambda: self.sync.outbound_calls(limit=limit))

    def iter_lens_views(self, *, page_size: int = 100) -> "AsyncIterator[ViewRow]":
        """Yield all that `lens_views` lists: the views, one by one.

        A server is asked for `page_size` at a time. Raises as `lens_views`;
        LostPlaceError where too much has gone from the list meanwhile.
        """
        return stream(lambda: self.sync.iter_lens_views(page_size=page_size))

    def iter_lens_standings(self, *, page_size: int = 100) -> "AsyncIterator[RequestStanding]":
        """Yield all that `lens_standings` lists: the standings, one by one.

        A server is asked for `page_size` at a time. Raises as `lens_standings`;
        LostPlaceError where too much has gone from the list meanwhile.
        """
        return stream(lambda: self.sync.iter_lens_standings(page_size=page_size))

    def iter_stances(
        self,
        question: "str | None" = None,
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
        page_size: int = 100,
    ) -> "AsyncIterator[Stance]":
        """Yield all that `stances` lists: the stances, one by one.

        A server is asked for `page_size` at a time. Raises as `stances`;
        LostPlaceError where too much has gone from the list meanwhile.
        """
        return stream(
            lambda: self.sync.iter_stances(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                question=question,
                page_size=page_size,
            )
        )

    def iter_contradictions(
        self,
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
        as_of: "int | None" = None,
        as_of_time: "datetime | None" = None,
        at: "datetime | None" = None,
        page_size: int = 100,
    ) -> "AsyncIterator[Conflict]":
        """Yield all that `contradictions` lists: the conflicts, one by one.

        A server is asked for `page_size` at a time. Raises as `contradictions`;
        LostPlaceError where too much has gone from the list meanwhile.
        """
        return stream(
            lambda: self.sync.iter_contradictions(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                as_of=as_of,
                as_of_time=as_of_time,
                at=at,
                page_size=page_size,
            )
        )

    def iter_changes(
        self,
        topic: "str | None" = None,
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
        as_of: "int | None" = None,
        as_of_time: "datetime | None" = None,
        since: "datetime | None" = None,
        limit: "int | None" = None,
        page_size: int = 100,
    ) -> "AsyncIterator[KnowledgeChange]":
        """Yield all that `changes` lists: the changes, one by one.

        A server is asked for `page_size` at a time. Without `limit` it lists all. Raises as `changes`;
        LostPlaceError where too much has gone from the list meanwhile.
        """
        return stream(
            lambda: self.sync.iter_changes(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                as_of=as_of,
                as_of_time=as_of_time,
                topic=topic,
                since=since,
                limit=limit,
                page_size=page_size,
            )
        )

    def iter_entities(
        self,
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
        as_of: "int | None" = None,
        as_of_time: "datetime | None" = None,
        type: "Literal['person', 'organisation', 'product', 'place', 'thing'] | None" = None,
        named: "str | None" = None,
        meanings: bool = False,
        limit: "int | None" = None,
        page_size: int = 100,
    ) -> "AsyncIterator[EntityRow]":
        """Yield all that `entities` lists: the entities, one by one.

        A server is asked for `page_size` at a time. Without `limit` it lists all. Raises as `entities`;
        LostPlaceError where too much has gone from the list meanwhile.
        """
        return stream(
            lambda: self.sync.iter_entities(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                as_of=as_of,
                as_of_time=as_of_time,
                type=type,
                named=named,
                meanings=meanings,
                limit=limit,
                page_size=page_size,
            )
        )

    def iter_centrality(
        self,
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
        as_of: "int | None" = None,
        as_of_time: "datetime | None" = None,
        trust: "Literal['owner', 'agent', 'tool', 'outsider']" = "tool",
        limit: "int | None" = None,
        page_size: int = 100,
    ) -> "AsyncIterator[CentralEntity]":
        """Yield all that `centrality` lists: the entities, one by one.

        A server is asked for `page_size` at a time. Without `limit` it lists all. Raises as `centrality`;
        LostPlaceError where too much has gone from the list meanwhile.
        """
        return stream(
            lambda: self.sync.iter_centrality(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                as_of=as_of,
                as_of_time=as_of_time,
                trust=trust,
                limit=limit,
                page_size=page_size,
            )
        )

    def iter_about(
        self,
        topic: str,
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
        as_of: "int | None" = None,
        as_of_time: "datetime | None" = None,
        at: "datetime | None" = None,
        page_size: int = 100,
    ) -> "AsyncIterator[KnownClaim]":
        """Yield all that `about` lists: the claims, one by one.

        A server is asked for `page_size` at a time. Raises as `about`;
        LostPlaceError where too much has gone from the list meanwhile.
        """
        return stream(
            lambda: self.sync.iter_about(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                as_of=as_of,
                as_of_time=as_of_time,
                topic=topic,
                at=at,
                page_size=page_size,
            )
        )

    def iter_staging(
        self,
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
        state: "Literal['waiting', 'accepted', 'rejected'] | None" = "waiting",
        page_size: int = 100,
    ) -> "AsyncIterator[StagedClaim]":
        """Yield all that `staging` lists: the staged, one by one.

        A server is asked for `page_size` at a time. Raises as `staging`;
        LostPlaceError where too much has gone from the list meanwhile.
        """
        return stream(
            lambda: self.sync.iter_staging(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                state=state,
                page_size=page_size,
            )
        )

    def iter_certificate(self, id: str, *, page_size: int = 100) -> "AsyncIterator[GoneRecord]":
        """Yield all that `certificate` lists: the records, one by one.

        A server is asked for `page_size` at a time. Raises as `certificate`;
        LostPlaceError where too much has gone from the list meanwhile.
        """
        return stream(lambda: self.sync.iter_certificate(id=id, page_size=page_size))

    def iter_sql(
        self,
        query: str,
        parameters: "Sequence[Json] | Mapping[str, Json] | None" = None,
        *,
        as_of: "int | None" = None,
        as_of_time: "datetime | None" = None,
        valid_at: "datetime | None" = None,
        include_forgotten: bool = False,
        seconds: float = 30.0,
        rows: int = 100000,
        result_bytes: int = 268435456,
        memory_bytes: int = 536870912,
        page_size: int = 100,
    ) -> "AsyncIterator[ArrowTable]":
        """Yield all that `sql` lists: the rows, in tables of at most `page_size`.

        A server is asked for `page_size` at a time. Raises as `sql`;
        LostPlaceError where too much has gone from the list meanwhile.
        """
        return stream(
            lambda: self.sync.iter_sql(
                as_of=as_of,
                as_of_time=as_of_time,
                query=query,
                parameters=parameters,
                valid_at=valid_at,
                include_forgotten=include_forgotten,
                seconds=seconds,
                rows=rows,
                result_bytes=result_bytes,
                memory_bytes=memory_bytes,
                page_size=page_size,
            )
        )

    def iter_retention_due(self, *, page_size: int = 100) -> "AsyncIterator[Overdue]":
        """Yield all that `retention_due` lists: the due, one by one.

        A server is asked for `page_size` at a time. Raises as `retention_due`;
        LostPlaceError where too much has gone from the list meanwhile.
        """
        return stream(lambda: self.sync.iter_retention_due(page_size=page_size))

    def iter_tokens(self, *, page_size: int = 100) -> "AsyncIterator[TokenView]":
        """Yield all that `tokens` lists: the tokens, one by one.

        A server is asked for `page_size` at a time. Raises as `tokens`;
        LostPlaceError where too much has gone from the list meanwhile.
        """
        return stream(lambda: self.sync.iter_tokens(page_size=page_size))

    def iter_history(
        self, id: str, *, as_of: "int | None" = None, page_size: int = 100
    ) -> "AsyncIterator[Change]":
        """Yield all that `history` lists: the changes, one by one.

        A server is asked for `page_size` at a time. Raises as `history`;
        LostPlaceError where too much has gone from the list meanwhile.
        """
        return stream(lambda: self.sync.iter_history(id=id, as_of=as_of, page_size=page_size))

    def iter_reviews(
        self,
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
        state: "Literal['waiting', 'accepted', 'rejected'] | None" = "waiting",
        page_size: int = 100,
    ) -> "AsyncIterator[ReviewItem]":
        """Yield all that `reviews` lists: the reviews, one by one.

        A server is asked for `page_size` at a time. Raises as `reviews`;
        LostPlaceError where too much has gone from the list meanwhile.
        """
        return stream(
            lambda: self.sync.iter_reviews(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                state=state,
                page_size=page_size,
            )
        )

    def iter_programs(
        self,
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
        page_size: int = 100,
    ) -> "AsyncIterator[ProgramSummary]":
        """Yield all that `programs` lists: the programs, one by one.

        A server is asked for `page_size` at a time. Raises as `programs`;
        LostPlaceError where too much has gone from the list meanwhile.
        """
        return stream(
            lambda: self.sync.iter_programs(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                page_size=page_size,
            )
        )

    def iter_program_trace(self, id: str, *, page_size: int = 100) -> "AsyncIterator[Recorded]":
        """Yield all that `program_trace` lists: the events, one by one.

        A server is asked for `page_size` at a time. Raises as `program_trace`;
        LostPlaceError where too much has gone from the list meanwhile.
        """
        return stream(lambda: self.sync.iter_program_trace(id=id, page_size=page_size))

    def iter_jobs(
        self,
        *,
        state: "Literal['pending', 'leased', 'retry_scheduled', 'done', 'dead'] | None" = None,
        consumer: "Literal['session-extraction', 'decision', 'consolidation', 'projection', 'enrichment'] | None" = None,
        limit: "int | None" = None,
        page_size: int = 100,
    ) -> "AsyncIterator[ListedJob]":
        """Yield all that `jobs` lists: the jobs, one by one.

        A server is asked for `page_size` at a time. Without `limit` it lists all. Raises as `jobs`;
        LostPlaceError where too much has gone from the list meanwhile.
        """
        return stream(
            lambda: self.sync.iter_jobs(state=state, consumer=consumer, limit=limit, page_size=page_size)
        )


class AsyncStore(AsyncHandle, AsyncMethods):
    """A store for event loops: concurrent appends share one sync. `sync` is the store itself."""
