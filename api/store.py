"""An open store: one method for each operation."""

# Written by `make faces` from the registry of operations: change those.

from typing import TYPE_CHECKING

from msgspec import UNSET

from braid.admin import audits as admin_audits
from braid.admin import certificate as admin_certificate
from braid.admin import erasure as admin_erasure
from braid.admin import freeze as admin_freeze
from braid.admin import keys as admin_keys
from braid.admin import projections as admin_projections
from braid.admin import retention as admin_retention
from braid.admin import settings_operations as admin_settings_operations
from braid.admin import status as admin_status
from braid.admin import tokens as admin_tokens
from braid.answers import operations as answers_operations
from braid.claims import decision_operations as claims_decision_operations
from braid.claims import operations as claims_operations
from braid.door import Door
from braid.exchange import capture_operations as exchange_capture_operations
from braid.exchange import operations as exchange_operations
from braid.jobs import operations as jobs_operations
from braid.knowledge import briefing_operations as knowledge_briefing_operations
from braid.knowledge import change_operations as knowledge_change_operations
from braid.knowledge import entity_operations as knowledge_entity_operations
from braid.knowledge import graph_operations as knowledge_graph_operations
from braid.knowledge import operations as knowledge_operations
from braid.knowledge import setting_operations as knowledge_setting_operations
from braid.lens import operations as lens_operations
from braid.log import excerpt_operations as log_excerpt_operations
from braid.log import operations as log_operations
from braid.log.transaction import Pending, Transaction
from braid.memories import list_operations as memories_list_operations
from braid.memories import operations as memories_operations
from braid.memories import remember_operations as memories_remember_operations
from braid.memories import review_operations as memories_review_operations
from braid.operation import given
from braid.programs import operations as programs_operations
from braid.providers import operations as providers_operations
from braid.search import operations as search_operations
from braid.session import Session
from braid.tone import operations as tone_operations

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
    from braid.text.chat import ChatModel
    from braid.text.parse import Parser
    from braid.tone.operations import Tone
    from braid.views.status import Caught, Snapshot
    from braid.work.worker import Step


class Records(Transaction):
    """Records that enter the log together, or not at all where the block ends with an exception."""

    def append(
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
    ) -> "Pending":
        """Append an experience; when this returns it is as durable as the store's setting says.

        An `idempotency_key` that is in the log names its record, where that says the same. `signer`: the actor whose key
        signs. What it states is read by `learn`, not here.
        """
        return self.add(
            log_operations.Append(
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
                parents=given(parents),
                evidence=given(evidence),
                supersedes=given(supersedes),
                sources=given(sources),
                confidence=confidence,
                affect=affect,
                claims=given(claims),
                structured=given(structured),
                media=given(media),
                tags=given(tags),
                external_id=external_id,
                occurred_at=occurred_at,
                idempotency_key=idempotency_key,
            )
        )


class Methods:
    """One method for each operation, asked through a door: the session of an open store, or a server's."""

    @property
    def session(self) -> Door:
        """What the operations are asked through."""
        raise NotImplementedError

    def transaction(self, *, signer: "str | None" = None) -> Records:
        """Return a block whose records enter the log together or not at all; later ones may link to earlier ones.

        Behind the block its `ids` are those of the records, in order.
        """
        return Records(
            lambda records: self.session.call(
                log_operations.append_all, log_operations.AppendAll(records=records, signer=signer)
            )
        )

    def excerpt(
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
        return self.session.call(
            log_excerpt_operations.excerpt,
            log_excerpt_operations.Excerpt(
                as_of=as_of,
                as_of_time=as_of_time,
                id=id,
                start=start,
                chars=chars,
                include_forgotten=include_forgotten,
            ),
        )

    def append(
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
        return self.session.call(
            log_operations.append,
            log_operations.Append(
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
                parents=given(parents),
                evidence=given(evidence),
                supersedes=given(supersedes),
                sources=given(sources),
                confidence=confidence,
                affect=affect,
                claims=given(claims),
                structured=given(structured),
                media=given(media),
                tags=given(tags),
                external_id=external_id,
                occurred_at=occurred_at,
                idempotency_key=idempotency_key,
                signer=signer,
            ),
        ).id

    def append_all(self, records: "Sequence[Append]", *, signer: "str | None" = None) -> "AppendedAll":
        """Append experiences as one transaction: all or none. A link `$0` names the first of them, `$1` the second."""
        return self.session.call(
            log_operations.append_all, log_operations.AppendAll(records=given(records), signer=signer)
        )

    def correct(
        self, id: str, text: str, *, reason: "str | None" = None, idempotency_key: "str | None" = None
    ) -> "RecordId":
        """Append what is right in place of a memory, named by any record of it; the old ones stay in the log, superseded.

        Where something was read of them, the new one is read too. An `idempotency_key` that is in the log names its record,
        where that corrects this memory to the same text. Raises InvalidRecordError for what is no experience, for a text
        that says nothing, and for an agent's word in place of a person's; ForgottenError where nothing is living.
        """
        return self.session.call(
            log_operations.correct,
            log_operations.Correct(id=id, text=text, reason=reason, idempotency_key=idempotency_key),
        ).id

    def get(
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
        return self.session.call(
            log_operations.get,
            log_operations.Get(
                as_of=as_of, as_of_time=as_of_time, id=id, include_forgotten=include_forgotten
            ),
        ).record

    def read(
        self, start: int = 0, stop: "int | None" = None, *, include_forgotten: bool = False
    ) -> "Iterator[Record]":
        """Yield the records of a stretch of the log, verified; without the erased, and the forgotten unless asked for."""
        return self.session.call(
            log_operations.read,
            log_operations.Read(start=start, stop=stop, include_forgotten=include_forgotten),
        )

    def tail(
        self, start: int = 0, *, seconds: float = 30.0, include_forgotten: bool = False
    ) -> "Iterator[Record]":
        """Yield the records from `start` on, then each that is appended, verified, until `seconds` have passed.

        Go on behind the last index that you saw: none is left out, and none comes twice.
        """
        return self.session.call(
            log_operations.tail,
            log_operations.Tail(start=start, seconds=seconds, include_forgotten=include_forgotten),
        )

    def trace(
        self, id: str, *, up: bool = True, down: bool = True, depth: "int | None" = None, text: bool = False
    ) -> "TraceNode":
        """Return the braid of a record: what it descends from, and what descends from it.

        With `text` each record also says who said what; without, all of it comes from envelopes. Who is held to a scope is
        shown no records of others. Raises UnknownRecordError.
        """
        return self.session.call(
            log_operations.trace, log_operations.Trace(id=id, up=up, down=down, depth=depth, text=text)
        )

    def prove(self, id: str) -> "bytes":
        """Return a c2sp.org/tlog-proof file that shows offline that a record is in the log."""
        return self.session.call(log_operations.prove, log_operations.Prove(id=id)).proof

    def prove_many(self, ids: "Sequence[str]") -> "bytes":
        """Return one proof that shows offline that all of these records are in the log, with their envelopes.

        A node of the tree that several need is in it once; `braid check-proof` checks it. Raises UnknownRecordError, and
        ValueError for no id.
        """
        return self.session.call(log_operations.prove_many, log_operations.ProveMany(ids=given(ids))).proof

    def attach(
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
        return self.session.call(
            log_operations.attach,
            log_operations.Attach(content=content, media_type=media_type, name=name, caption=caption),
            file=file,
        )

    def media(self, media: "Media") -> "Iterator[bytes]":
        """Yield the content of attached media in chunks of at most 65,532 bytes, verified before the first.

        Raises BlobMissingError, BlobCorruptError. SPEC §4.5.
        """
        return self.session.call(log_operations.media, log_operations.ReadMedia(media=media))

    def sense(self, text: str) -> "Tone":
        """Return a text's tone: valence, arousal, dominance, a word for it, how sure and why. Writes nothing."""
        return self.session.call(tone_operations.sense, tone_operations.Sense(text=text))

    def tones(self, *ids: "str") -> "tuple[Tone, ...]":
        """Return the tone of experiences. Raises InvalidRecordError for a record without words, and as `get`."""
        return self.session.call(tone_operations.tones, tone_operations.Tones(ids=ids)).tones

    def feel(
        self,
        *ids: "str",
        stage: "Literal['input', 'draft', 'augmented']" = "input",
        actor: "Literal['user', 'agent'] | None" = None,
    ) -> "tuple[RecordId, ...]":
        """Append a snapshot of the tone of each experience, as one transaction; repeating it adds nothing.

        Raises InvalidRecordError for a record without words, and what `get` and `append` raise.
        """
        return self.session.call(
            tone_operations.feel, tone_operations.Feel(ids=ids, stage=stage, actor=actor)
        ).ids

    def apply_lens(
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
        return self.session.call(
            lens_operations.apply_lens,
            lens_operations.ApplyLens(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                name=name,
                ids=given(ids),
                version=version,
                params=given(params),
                limit_s=limit_s,
            ),
        )

    def define_lens(self, definition: str) -> "RecordId":
        """Keep a lens that a TOML text defines, as a signed record; the same text again writes nothing.

        A change needs a version above the newest. Raises DefinitionError (nothing was written), and what appending raises.
        """
        return self.session.call(
            lens_operations.define_lens, lens_operations.DefineLens(definition=definition)
        ).id

    def lenses(self) -> "Lenses":
        """Return every lens that can be applied here: installed ones, and the newest version of those defined here."""
        return self.session.call(lens_operations.lenses, lens_operations.ListLenses())

    def lens_views(self) -> "tuple[ViewRow, ...]":
        """Return every view that a lens made, oldest first, of all versions, with why it is stale."""
        return self.session.call(lens_operations.lens_views, lens_operations.ListViews()).views

    def lens_view(self, id: str, *, include_forgotten: bool = False) -> "View":
        """Return a view in full, with what it stands on, and why it is stale.

        Raises ViewUnreadableError, and as `get`; ForgottenError also when something that it rests on is forgotten.
        """
        return self.session.call(
            lens_operations.lens_view, lens_operations.ShowView(id=id, include_forgotten=include_forgotten)
        )

    def lens_standings(self) -> "tuple[RequestStanding, ...]":
        """Return how each thing that was asked of a lens stands: its newest view, and why that is stale."""
        return self.session.call(lens_operations.lens_standings, lens_operations.ListRequests()).standings

    def refresh_lenses(self, *ids: "str", limit_s: float = 60.0) -> "tuple[View, ...]":
        """Make these views again (or all that are stale); return those that were appended. Raises as `apply_lens`."""
        return self.session.call(
            lens_operations.refresh_lenses, lens_operations.RefreshLenses(ids=ids, limit_s=limit_s)
        ).views

    def lens_difference(self, one: str, other: str) -> "LensDifference":
        """Return what makes one view of another: items added and removed, records, weights. Raises as `lens_view`."""
        return self.session.call(
            lens_operations.lens_difference, lens_operations.CompareViews(one=one, other=other)
        )

    def recall(
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
        return self.session.call(
            search_operations.recall,
            search_operations.Recall(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                as_of=as_of,
                as_of_time=as_of_time,
                query=query,
                top_k=top_k,
                filters=given(filters),
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
            ),
            cross_encoder=cross_encoder,
            hit_lens=hit_lens,
            decomposer=decomposer,
        )

    def context(
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
        return self.session.call(
            search_operations.context,
            search_operations.Context(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                as_of=as_of,
                as_of_time=as_of_time,
                query=query,
                top_k=top_k,
                filters=given(filters),
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
            ),
            cross_encoder=cross_encoder,
            hit_lens=hit_lens,
            decomposer=decomposer,
        ).text

    def vector(self, uri: str) -> "tuple[float, ...] | None":
        """Return what `vec://role/id` names: a unit vector, or None where nothing is there yet.

        Raises ValueError for another kind of address or an unknown role; UnknownRecordError, ErasedError and ForgottenError
        as for `get`.
        """
        return self.session.call(search_operations.vector, search_operations.Vector(uri=uri)).vector

    def decision_report(
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
        return self.session.call(
            claims_decision_operations.decision_report,
            claims_decision_operations.ReportDecisions(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                as_of=as_of,
                as_of_time=as_of_time,
                limit=limit,
                examples=examples,
            ),
            model=model,
        )

    def judge_decision(
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
        return self.session.call(
            claims_decision_operations.judge_decision,
            claims_decision_operations.JudgeDecision(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                id=id,
                verdict=verdict,
                reason=reason,
                place=place,
            ),
        )

    def canary_report(self) -> "CanaryReport":
        """Return what was decided since the phase was set, for users whose decisions are carried out and for the others.

        It reads only: the signed outcomes of deciding, and what people did since.
        """
        return self.session.call(
            claims_decision_operations.canary_report, claims_decision_operations.AskCanary()
        )

    def stance(
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
        return self.session.call(
            claims_operations.stance,
            claims_operations.AskStance(
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
            ),
        )

    def stances(
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
        return self.session.call(
            claims_operations.stances,
            claims_operations.StanceHistory(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                question=question,
            ),
        ).stances

    def why(self, id: str) -> "Explanation":
        """Return why a stance holds what it holds, or why what a record claims stands or doesn't, down to records.

        Of a record that claims nothing it says so (`unclaimed`). Raises ValueError for one that can't claim anything, such
        as a tombstone, and as `get`.
        """
        return self.session.call(claims_operations.why, claims_operations.Why(id=id))

    def contradictions(
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
        return self.session.call(
            claims_operations.contradictions,
            claims_operations.FindContradictions(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                as_of=as_of,
                as_of_time=as_of_time,
                at=at,
            ),
        ).conflicts

    def ask(
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
        return self.session.call(
            answers_operations.ask,
            answers_operations.Ask(
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
            ),
            composer=composer,
        )

    def explain_provenance(self, id: str) -> "str":
        """Return in two or three sentences how an answer, a stance or what a record says is known, by its links alone.

        Raises ValueError for another kind of record; UnknownRecordError, ErasedError, ForgottenError, IntegrityError.
        """
        return self.session.call(
            answers_operations.explain_provenance, answers_operations.ExplainProvenance(id=id)
        ).text

    def briefing(
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
        return self.session.call(
            knowledge_briefing_operations.briefing,
            knowledge_briefing_operations.Briefing(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                budget=budget,
                besides=besides,
                audience=audience,
            ),
        ).text

    def changes(
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
        return self.session.call(
            knowledge_change_operations.changes,
            knowledge_change_operations.Changes(
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
            ),
        )

    def why_changed(self, id: str) -> "tuple[AuditEntry, ...]":
        """Return what happened to a memory and what was read of it: learnt, repeated, contradicted, corrected, forgotten.

        By the table `audit_trail`, which follows from the log; `history` has every change of the memory's words. Raises
        UnknownRecordError, and ViewError where the tables can't be asked.
        """
        return self.session.call(
            knowledge_change_operations.why_changed, knowledge_change_operations.WhyChanged(id=id)
        ).entries

    def entities(
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
        return self.session.call(
            knowledge_entity_operations.entities,
            knowledge_entity_operations.ListEntities(
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
            ),
        )

    def entity(
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
        return self.session.call(
            knowledge_entity_operations.entity,
            knowledge_entity_operations.ShowEntity(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                as_of=as_of,
                as_of_time=as_of_time,
                entity=entity,
            ),
        )

    def merge_entities(
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
        return self.session.call(
            knowledge_entity_operations.merge_entities,
            knowledge_entity_operations.MergeEntities(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                by=by,
                reason=reason,
                one=one,
                other=other,
            ),
        )

    def split_entity(
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
        return self.session.call(
            knowledge_entity_operations.split_entity,
            knowledge_entity_operations.SplitEntity(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                by=by,
                reason=reason,
                entity=entity,
                names=given(names),
                turns=given(turns),
            ),
        )

    def alias_entity(
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
        return self.session.call(
            knowledge_entity_operations.alias_entity,
            knowledge_entity_operations.AliasEntity(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                by=by,
                reason=reason,
                entity=entity,
                aliases=given(aliases),
            ),
        )

    def knowledge_graph(
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
        return self.session.call(
            knowledge_graph_operations.knowledge_graph,
            knowledge_graph_operations.AskGraph(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                as_of=as_of,
                as_of_time=as_of_time,
                about=about,
                trust=trust,
            ),
        )

    def knowledge_graphml(
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
        return self.session.call(
            knowledge_graph_operations.knowledge_graphml,
            knowledge_graph_operations.AskGraph(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                as_of=as_of,
                as_of_time=as_of_time,
                about=about,
                trust=trust,
            ),
        ).graphml

    def centrality(
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
        return self.session.call(
            knowledge_graph_operations.centrality,
            knowledge_graph_operations.AskCentrality(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                as_of=as_of,
                as_of_time=as_of_time,
                trust=trust,
                limit=limit,
            ),
        ).entities

    def learn(
        self,
        *,
        dry_run: bool = False,
        trust: "Literal['owner', 'agent', 'tool', 'outsider']" = "tool",
        told: "Callable[[Record, Draft], None] | None" = None,
    ) -> "Learned":
        """Read what has not been read yet for plain statements; append these as inference records above their turns.

        Follows the log; repeating it adds nothing. `told` is shown each record that states something, and its draft.
        """
        return self.session.call(
            knowledge_operations.learn, knowledge_operations.Learn(dry_run=dry_run, trust=trust), told=told
        )

    def extract(
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
        return self.session.call(
            knowledge_operations.extract,
            knowledge_operations.Extract(turns_each=turns_each, ended_only=ended_only, dry_run=dry_run),
            model=model,
            larger=larger,
            second=second,
            parser=parser,
            told=told,
        )

    def about(
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
        return self.session.call(
            knowledge_operations.about,
            knowledge_operations.About(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                as_of=as_of,
                as_of_time=as_of_time,
                topic=topic,
                at=at,
            ),
        ).claims

    def why_known(self, id: str) -> "tuple[ClaimDerivation, ...]":
        """Return how each claim of a record, or of what was read from it, came to be known.

        Whether the quote stands in the turn is looked at again, in the log. None for a turn that claims nothing and of
        which nothing was read. Raises ValueError for what is no experience, and as `get`.
        """
        return self.session.call(
            knowledge_operations.why_known, knowledge_operations.WhyKnown(id=id)
        ).derivations

    def why_not_known(
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
        return self.session.call(
            knowledge_operations.why_not_known,
            knowledge_operations.WhyNotKnown(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                text=text,
                top_k=top_k,
            ),
        )

    def staging(
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
        return self.session.call(
            knowledge_operations.staging,
            knowledge_operations.ListStaged(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                state=state,
            ),
        ).staged

    def accept_staged(self, id: str, place: int = 0) -> "StagedDecision":
        """Append a staged claim as a signed reading of its turn, with the reading that staged it as evidence.

        It goes with its turn. Again it appends nothing. Raises ValueError where nothing is staged there, or it was
        rejected, ForgottenError where the claim was accepted and then forgotten, and as `get`.
        """
        return self.session.call(
            knowledge_operations.accept_staged, knowledge_operations.AcceptStaged(id=id, place=place)
        )

    def reject_staged(self, id: str, place: int = 0, *, reason: "str | None" = None) -> "StagedDecision":
        """Append the signed event that rejects a staged claim; again it appends nothing.

        Raises ValueError where nothing is staged there, or it was accepted, and as `get`.
        """
        return self.session.call(
            knowledge_operations.reject_staged,
            knowledge_operations.RejectStaged(id=id, place=place, reason=reason),
        )

    def retire_reader(self, method: str, *, reason: "str | None" = None) -> "ReaderRetired":
        """Append one signed event by which all readings of a method lose their say: SPEC §9.7.

        Earlier pasts still show them, and forgetting the event gives it back. Again it appends nothing.
        """
        return self.session.call(
            knowledge_operations.retire_reader,
            knowledge_operations.RetireReader(method=method, reason=reason),
        )

    def set_learning(
        self, *, health: "bool | None" = None, finance: "bool | None" = None, reason: "str | None" = None
    ) -> "LearningSetting":
        """Allow or forbid claims of health and of money by a signed event. Both are off until somebody allows them.

        What is forbidden loses its say by one event for each reader, and its words stay quotable; once allowed again, it is
        back. What is allowed is read by the next `learn`, from the beginning of the log; a model reads what comes from now
        on. Raises KeyRefusedError without an operator's key.
        """
        return self.session.call(
            knowledge_setting_operations.set_learning,
            knowledge_setting_operations.SetLearning(health=health, finance=finance, reason=reason),
        )

    def learning_setting(self) -> "LearningSetting":
        """Return whether claims of health and of money are made, and the record that says so."""
        return self.session.call(
            knowledge_setting_operations.learning_setting, knowledge_setting_operations.AskLearning()
        )

    def capture(
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
        return self.session.call(
            exchange_capture_operations.capture,
            exchange_capture_operations.Capture(
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
                turns=given(turns),
            ),
        )

    def export_records(self, *, include_forgotten: bool = False) -> "Iterator[str]":
        """Yield the records under the signed head as lines of JSON, each with the evidence of where it is from.

        Control records go along as envelopes at least, so that a reader can tell which keys were in force. Raises
        NoVaultError. Form: SPEC §13.
        """
        return self.session.call(
            exchange_operations.export_records,
            exchange_operations.ExportRecords(include_forgotten=include_forgotten),
        )

    def import_records(
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
        return self.session.call(
            exchange_operations.import_records,
            exchange_operations.ImportRecords(path=given(path), vkey=vkey, dry_run=dry_run),
            lines=lines,
        )

    def export_copy(self, path: "Path | str", *, audit: bool = False) -> "tuple[str, ...]":
        """Copy the log as far as its published head into a new folder.

        With `audit` the copy can be verified, traced and proved, and not one memory can be read from it; without, vault and
        keys go along. Raises DestinationExistsError, LedgerError.
        """
        return self.session.call(
            exchange_operations.export_copy, exchange_operations.ExportCopy(path=given(path), audit=audit)
        ).files

    def export_subject(
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
        return self.session.call(
            exchange_operations.export_subject,
            exchange_operations.ExportSubject(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                path=given(path),
                actor=actor,
            ),
        )

    def verify(
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
        return self.session.call(
            admin_audits.verify,
            admin_audits.Verify(
                deep=deep, rederive=rederive, hash_only=hash_only, since=since, workers=workers, vkey=vkey
            ),
            progress=progress,
        ).report

    def doctor(self) -> "tuple[Problem, ...]":
        """Return what is wrong with the store's files, keys, vault, guard, snapshots, projections, and room.

        Nothing is changed. What the log says is for `verify`. A store that can't be opened is examined by `braid doctor`.
        """
        return self.session.call(admin_audits.doctor, admin_audits.Doctor()).problems

    def backup(self, dest: "Path | str", *, with_vault: bool = False) -> "Backup":
        """Bring the backup in `dest` to this store's published head, copying what is new; `braid.restore` reads it.

        Neither vault nor private keys go along unless `with_vault`. Raises BackupError. SPEC §13.1.
        """
        return self.session.call(
            admin_audits.backup, admin_audits.MakeBackup(dest=given(dest), with_vault=with_vault)
        )

    def certificate(self, id: str) -> "ErasureCertificate":
        """Return what an erasure took, by id and digest, from signed records alone.

        Raises UnknownRecordError for an id that the log has not, InvalidRecordError for one that belongs to no erasure.
        """
        return self.session.call(admin_certificate.certificate, admin_certificate.AskCertificate(id=id))

    def forget(
        self, *ids: "str", reason: "str | None" = None, force: bool = False, only: bool = False
    ) -> "RecordId":
        """Hide memories and what falls with them (see `plan_forget`), until they are recovered or erased by `retain`.

        With `only`, a correction alone is taken back, and what it corrected stands again. Returns the tombstone's id: where
        all of them are forgotten already, the id of the one that says so, so a forget can be repeated. Raises
        UnknownRecordError, ErasedError, ForgottenError where some are forgotten already and others aren't;
        InvalidRecordError for what is no memory, PinnedError for a pinned one without `force`.
        """
        return self.session.call(
            admin_erasure.forget, admin_erasure.Forget(ids=ids, reason=reason, force=force, only=only)
        ).id

    def plan_forget(self, *ids: "str", only: bool = False) -> "tuple[RecordId, ...]":
        """Return what would be hidden with these: the rest of their memories, and what rests on them alone or quotes them.

        What rests on them are answers, stances and views. Who is held to a scope is shown no records of others, which fall
        as well. Raises UnknownRecordError, ForgottenError, ErasedError.
        """
        return self.session.call(admin_erasure.plan_forget, admin_erasure.PlanForget(ids=ids, only=only)).ids

    def recover(self, *ids: "str", reason: "str | None" = None) -> "RecordId":
        """Bring forgotten records, and what fell with them, back within the retention window; return the tombstone's id.

        Where all of them came back already, it is the id of the tombstone that says so. Raises InvalidRecordError for what
        was not forgotten, is past its window, or rests on what stays forgotten.
        """
        return self.session.call(admin_erasure.recover, admin_erasure.Recover(ids=ids, reason=reason)).id

    def plan_recover(self, *ids: "str") -> "tuple[RecordId, ...]":
        """Return what fell with these forgotten records and would come back with them: not what is past its window.

        A memory that was forgotten as a whole comes back as a whole, by any of its ids: else its old words would stand.

        Who is held to a scope is shown no records of others, which come back as well. Raises InvalidRecordError for a
        record of which all that it rests on stays forgotten.
        """
        return self.session.call(admin_erasure.plan_recover, admin_erasure.PlanRecover(ids=ids)).ids

    def plan_erase(
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
        return self.session.call(
            admin_erasure.plan_erase,
            admin_erasure.PlanErase(
                ids=ids,
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                says=given(says),
                whole=whole,
            ),
        )

    def erase(
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
        return self.session.call(
            admin_erasure.erase,
            admin_erasure.Erase(
                ids=ids,
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                says=given(says),
                whole=whole,
                reason=reason,
            ),
        ).certificates

    def compact(self) -> "int":
        """Give back the disk space of erased bodies; return how many bytes. Raises NoRoomError where it has no room."""
        return self.session.call(admin_erasure.compact, admin_erasure.Compact()).freed_bytes

    def freeze(self, *, reason: "str | None" = None) -> "FreezeState":
        """Freeze the store by a signed event: until `unfreeze`, who is no operator can only read.

        It holds for every caller of a server and of an agent's tools, from the next request on. One that is frozen already
        stays so by its first event.
        """
        return self.session.call(admin_freeze.freeze, admin_freeze.FreezeStore(reason=reason))

    def unfreeze(self, *, reason: "str | None" = None) -> "FreezeState":
        """End a freeze by a signed event; without a freeze nothing is added."""
        return self.session.call(admin_freeze.unfreeze, admin_freeze.UnfreezeStore(reason=reason))

    def frozen(self) -> "FreezeState":
        """Return whether the store is frozen, and what says so."""
        return self.session.call(admin_freeze.frozen, admin_freeze.AskFrozen())

    def admit(self, role: str, actor: "str | None" = None) -> "Admitted":
        """Make a key for one role and actor, admit it to the log and keep its private half in `keys/`.

        Raises ValueError for an unknown role, KeyRefusedError where the root key is not here.
        """
        return self.session.call(admin_keys.admit, admin_keys.Admit(role=role, actor=actor))

    def revoke(
        self, id: str, *, compromised_since: "int | None" = None, reason: "str | None" = None
    ) -> "RecordId":
        """Revoke a key from here on; return the id of the record that says so.

        Raises UnknownKeyError for a key that was never admitted, ValueError for an index that the log doesn't have.
        """
        return self.session.call(
            admin_keys.revoke, admin_keys.Revoke(id=id, compromised_since=compromised_since, reason=reason)
        ).id

    def set_durability(
        self, mode: "Literal['always', 'interval', 'none']", *, reason: "str | None" = None
    ) -> "RecordId":
        """Choose when an append is on disk (`always`, `interval`, `none`) by a signed event; return its id.

        It counts here at once, in other handles when they are opened again. Raises KeyRefusedError without an operator's
        key.
        """
        return self.session.call(
            admin_keys.set_durability, admin_keys.SetDurability(mode=mode, reason=reason)
        ).id

    def checkpoint(self) -> "Published":
        """Sign and publish the present head now. Raises UnpublishedError where it can't be."""
        return self.session.call(admin_keys.checkpoint, admin_keys.Checkpoint())

    def sql(
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
        return self.session.call(
            admin_projections.sql,
            admin_projections.Sql(
                as_of=as_of,
                as_of_time=as_of_time,
                query=query,
                parameters=given(parameters),
                valid_at=valid_at,
                include_forgotten=include_forgotten,
                seconds=seconds,
                rows=rows,
                result_bytes=result_bytes,
                memory_bytes=memory_bytes,
            ),
            tables=tables,
            stop=stop,
        ).table

    def replay(
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
        return self.session.call(
            admin_projections.replay,
            admin_projections.Replay(view=view, from_scratch=from_scratch),
            progress=progress,
        ).projections

    def snapshot(self, *, keep: int = 2) -> "Snapshot":
        """Write down what the projections hold, signed and bound to the log's size and root; the `keep` newest stay.

        Raises KeyRefusedError where no operator's key is here, ViewBusyError.
        """
        return self.session.call(admin_projections.snapshot, admin_projections.MakeSnapshot(keep=keep))

    def snapshots(self) -> "tuple[Snapshot, ...]":
        """Return every snapshot, the newest first; `trouble` says why one would not be used."""
        return self.session.call(admin_projections.snapshots, admin_projections.ListSnapshots()).snapshots

    def retain(self) -> "Retained":
        """Erase what was forgotten, then what was corrected, longer ago than its window; then let go of jobs that ended.

        A signed event says at what time each sweep looked. What was corrected goes only where `history_days` is set.
        Raises TransportError where what carries the jobs gives no answer; the records are erased by then.
        """
        return self.session.call(admin_retention.retain, admin_retention.Retain())

    def retention_due(self) -> "tuple[Overdue, ...]":
        """Return what the next `retain` would take; what is derived from it alone goes with it (`plan_erase`)."""
        return self.session.call(admin_retention.retention_due, admin_retention.RetentionDue()).due

    def list_settings(self) -> "tuple[SettingState, ...]":
        """Return every setting with its value, its default, and the signed record that set it."""
        return self.session.call(
            admin_settings_operations.list_settings, admin_settings_operations.AskSettings()
        ).settings

    def change_setting(self, key: str, value: str, *, reason: str) -> "SettingChanged":
        """Set a key by a signed event; what is set so already adds nothing.

        Raises InvalidRequestError for an unknown key, a value that isn't of its type, and the phase `full` where people
        have not judged enough changes to be right; KeyRefusedError without an operator's key.
        """
        return self.session.call(
            admin_settings_operations.change_setting,
            admin_settings_operations.ChangeSetting(key=key, value=value, reason=reason),
        )

    def status(self) -> "Status":
        """Return size, head, lag of the projections, what is forgotten and due, and the space used; nothing is caught up.

        `torn`: what was cut from the log's end when this handle opened it.
        """
        return self.session.call(admin_status.status, admin_status.AskStatus())

    def status_at(
        self,
        *,
        as_of: "int | None" = None,
        as_of_time: "datetime | None" = None,
        valid_at: "datetime | None" = None,
    ) -> "StatusThen":
        """Return what the log held in a past: its size, root and keys, and how many rows its projection has.

        `erased` counts what is erased by now. Raises ValueError for a past that never was.
        """
        return self.session.call(
            admin_status.status_at,
            admin_status.StatusAt(as_of=as_of, as_of_time=as_of_time, valid_at=valid_at),
        )

    def stage(self) -> "Stage":
        """Return how far the memory has come, from empty to expert, and what it lacks to the next stage.

        Counted in the projection, which is caught up. Raises as `sql`; NoVaultError without a vault.
        """
        return self.session.call(admin_status.stage, admin_status.AskStage())

    def issue_token(
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
        return self.session.call(
            admin_tokens.issue_token,
            admin_tokens.IssueToken(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                name=name,
                kind=kind,
                allowed=given(allowed),
                operations=given(operations),
                expires_s=expires_s,
            ),
        )

    def revoke_token(self, id: str, *, reason: "str | None" = None) -> "RecordId":
        """Revoke a token, and all that were issued with it, by a signed event, and return the event's id.

        It counts from the next request on, and ends streams that are open.

        Raises UnknownTokenError for a token that was never issued, InvalidRequestError for one that was revoked before.
        """
        return self.session.call(admin_tokens.revoke_token, admin_tokens.RevokeToken(id=id, reason=reason)).id

    def tokens(self) -> "tuple[TokenView, ...]":
        """Return every token that was issued, oldest first, and whether it still counts. Secrets are nowhere kept."""
        return self.session.call(admin_tokens.tokens, admin_tokens.ListTokens()).tokens

    def memories(
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
        return self.session.call(
            memories_list_operations.memories,
            memories_list_operations.Memories(
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
            ),
        )

    def modify(
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
        return self.session.call(
            memories_operations.modify,
            memories_operations.Modify(
                id=id,
                reason=reason,
                text=text,
                tags=given(tags),
                pinned=pinned,
                importance=importance,
                lock_days=lock_days,
                if_version=if_version,
                idempotency_key=idempotency_key,
            ),
        )

    def modify_all(self, changes: "Sequence[Modify]") -> "tuple[Outcome, ...]":
        """Change several memories, each wholly or not at all; one that can't be changed stops no other."""
        return self.session.call(
            memories_operations.modify_all, memories_operations.ModifyAll(changes=given(changes))
        ).outcomes

    def history(self, id: str, *, as_of: "int | None" = None) -> "MemoryHistory":
        """Return every change of a memory in the order of the log: added, updated, deleted, recovered, erased.

        `MERGE` is what was decided of a name that it says; of a name that more than 200 turns had said by then, only the
        newest have the row. `NONE` is a time that nothing was added, since it says the same already. In the phases `shadow`
        and `add_only` there is a row `NONE`, too, for what the rules would do about what it claims: `proposed` says what.

        It follows from signed records alone, so it can't be incomplete. What is forgotten or erased has no text here.
        Raises InvalidRecordError for what is no memory, UnknownRecordError.
        """
        return self.session.call(memories_operations.history, memories_operations.History(id=id, as_of=as_of))

    def preview_forget(
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
        return self.session.call(
            memories_operations.preview_forget,
            memories_operations.PreviewForget(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                query=query,
                match=match,
                filters=given(filters),
                limit=limit,
            ),
        )

    def forget_previewed(
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
        return self.session.call(
            memories_operations.forget_previewed,
            memories_operations.ForgetPreviewed(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                token=token,
                reason=reason,
                ids=given(ids),
                confirm=confirm,
            ),
        )

    def remember(
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
        return self.session.call(
            memories_remember_operations.remember,
            memories_remember_operations.Remember(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                messages=given(messages),
                metadata=given(metadata),
                tags=given(tags),
                idempotency_key=idempotency_key,
                learn=learn,
                mode=mode,
                pipeline_timeout_ms=pipeline_timeout_ms,
                raw=raw,
            ),
        )

    def reviews(
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
        return self.session.call(
            memories_review_operations.reviews,
            memories_review_operations.ListReviews(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                state=state,
            ),
        ).reviews

    def review(
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
        return self.session.call(
            memories_review_operations.review,
            memories_review_operations.AskReview(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                id=id,
            ),
        )

    def accept_review(
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
        return self.session.call(
            memories_review_operations.accept_review,
            memories_review_operations.AcceptReview(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                id=id,
                keep=keep,
                reason=reason,
            ),
        )

    def reject_review(
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
        return self.session.call(
            memories_review_operations.reject_review,
            memories_review_operations.RejectReview(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                id=id,
                reason=reason,
            ),
        )

    def run_program(
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
        return self.session.call(
            programs_operations.run_program,
            programs_operations.RunProgram(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                question=question,
                plan=plan,
                allow=given(allow),
                samples=samples,
                now=now,
                affect=affect,
                idempotency_key=idempotency_key,
            ),
            composer=composer,
            tools=tools,
        )

    def resume(
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
        return self.session.call(
            programs_operations.resume,
            programs_operations.Resume(id=id, result=result, again=again, take_over=take_over, affect=affect),
            composer=composer,
            tools=tools,
        )

    def programs(
        self,
        *,
        user_id: "str | None" = None,
        agent_id: "str | None" = None,
        run_id: "str | None" = None,
        project_id: "str | None" = None,
        session_id: "str | None" = None,
    ) -> "tuple[ProgramSummary, ...]":
        """Return every program of a scope that can be read, oldest first, and how it stands. Raises IntegrityError."""
        return self.session.call(
            programs_operations.programs,
            programs_operations.Programs(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
            ),
        ).programs

    def program_trace(self, id: str) -> "tuple[Recorded, ...]":
        """Return what happened in a program, in order, each with its record and those that it came from.

        Raises ProgramStateError for an id of something else, and as `get`.
        """
        return self.session.call(
            programs_operations.program_trace, programs_operations.ProgramTrace(id=id)
        ).events

    def work(
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
        return self.session.call(
            jobs_operations.work,
            jobs_operations.Work(
                consumers=given(consumers), until_idle=until_idle, ended_only=ended_only, most=most
            ),
            model=model,
            larger=larger,
            second=second,
            parser=parser,
            wait=wait,
            told=told,
        )

    def jobs(
        self,
        *,
        state: "Literal['pending', 'leased', 'retry_scheduled', 'done', 'dead'] | None" = None,
        consumer: "Literal['session-extraction', 'decision', 'consolidation', 'projection', 'enrichment'] | None" = None,
        limit: int = 100,
    ) -> "Jobs":
        """Return the jobs: what the log has and no outcome names, what is leased, and what is dead by a signed record.

        What is done is listed until `retain` drops it, after 14 days or less, and follows from the log after that.
        """
        return self.session.call(
            jobs_operations.jobs, jobs_operations.AskJobs(state=state, consumer=consumer, limit=limit)
        )

    def job(self, id: str) -> "JobShown":
        """Return how a job stands and what became of it, by signed records. Raises UnknownJobError."""
        return self.session.call(jobs_operations.job, jobs_operations.AskJob(id=id))

    def job_progress(
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
        return self.session.call(
            jobs_operations.job_progress,
            jobs_operations.AskProgress(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                id=id,
            ),
        )

    def retry_job(self, id: str, *, reason: str) -> "JobsChanged":
        """Let a job that waits or is dead be done now, from its first attempt on; a signed record says who and why.

        A worker that is at it loses its lease. Raises UnknownJobError, InvalidRequestError for one that is done.
        """
        return self.session.call(jobs_operations.retry_job, jobs_operations.ChangeJob(id=id, reason=reason))

    def discard_job(self, id: str, *, reason: str) -> "JobsChanged":
        """Let a job that waits or is dead never be done; a signed record says who and why. `retry_job` brings it back.

        The records stay, unread. Raises UnknownJobError, InvalidRequestError for one that is done.
        """
        return self.session.call(jobs_operations.discard_job, jobs_operations.ChangeJob(id=id, reason=reason))

    def replay_dead(
        self,
        *,
        reason: str,
        consumer: "Literal['session-extraction', 'decision', 'consolidation', 'projection', 'enrichment'] | None" = None,
    ) -> "JobsChanged":
        """Let all dead jobs be done again, from their first attempt on; signed records say who and why."""
        return self.session.call(
            jobs_operations.replay_dead, jobs_operations.ReplayDead(reason=reason, consumer=consumer)
        )

    def providers(self) -> "Providers":
        """Return which models are set, which are left in peace, what they were asked today, and what is left of the day."""
        return self.session.call(providers_operations.providers, providers_operations.AskProviders())

    def outbound_calls(self, *, limit: int = 100) -> "tuple[OutboundCall, ...]":
        """Return what left for models: when, which model, how many tokens and bytes, how it ended, and no word of it.

        A row is kept for 90 days at least. Raises OSError where the file can't be read.
        """
        return self.session.call(
            providers_operations.outbound_calls, providers_operations.AskOutbound(limit=limit)
        ).calls

    def iter_lens_views(self, *, page_size: int = 100) -> "Iterator[ViewRow]":
        """Yield all that `lens_views` lists: the views, one by one.

        A server is asked for `page_size` at a time. Raises as `lens_views`;
        LostPlaceError where too much has gone from the list meanwhile.
        """
        return self.session.items(lens_operations.lens_views, lens_operations.ListViews(), page_size)

    def iter_lens_standings(self, *, page_size: int = 100) -> "Iterator[RequestStanding]":
        """Yield all that `lens_standings` lists: the standings, one by one.

        A server is asked for `page_size` at a time. Raises as `lens_standings`;
        LostPlaceError where too much has gone from the list meanwhile.
        """
        return self.session.items(lens_operations.lens_standings, lens_operations.ListRequests(), page_size)

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
    ) -> "Iterator[Stance]":
        """Yield all that `stances` lists: the stances, one by one.

        A server is asked for `page_size` at a time. Raises as `stances`;
        LostPlaceError where too much has gone from the list meanwhile.
        """
        return self.session.items(
            claims_operations.stances,
            claims_operations.StanceHistory(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                question=question,
            ),
            page_size,
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
    ) -> "Iterator[Conflict]":
        """Yield all that `contradictions` lists: the conflicts, one by one.

        A server is asked for `page_size` at a time. Raises as `contradictions`;
        LostPlaceError where too much has gone from the list meanwhile.
        """
        return self.session.items(
            claims_operations.contradictions,
            claims_operations.FindContradictions(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                as_of=as_of,
                as_of_time=as_of_time,
                at=at,
            ),
            page_size,
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
    ) -> "Iterator[KnowledgeChange]":
        """Yield all that `changes` lists: the changes, one by one.

        A server is asked for `page_size` at a time. Without `limit` it lists all. Raises as `changes`;
        LostPlaceError where too much has gone from the list meanwhile.
        """
        return self.session.items(
            knowledge_change_operations.changes,
            knowledge_change_operations.Changes(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                as_of=as_of,
                as_of_time=as_of_time,
                topic=topic,
                since=since,
                limit=100000 if limit is None else limit,
            ),
            page_size,
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
    ) -> "Iterator[EntityRow]":
        """Yield all that `entities` lists: the entities, one by one.

        A server is asked for `page_size` at a time. Without `limit` it lists all. Raises as `entities`;
        LostPlaceError where too much has gone from the list meanwhile.
        """
        return self.session.items(
            knowledge_entity_operations.entities,
            knowledge_entity_operations.ListEntities(
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
                limit=100000 if limit is None else limit,
            ),
            page_size,
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
    ) -> "Iterator[CentralEntity]":
        """Yield all that `centrality` lists: the entities, one by one.

        A server is asked for `page_size` at a time. Without `limit` it lists all. Raises as `centrality`;
        LostPlaceError where too much has gone from the list meanwhile.
        """
        return self.session.items(
            knowledge_graph_operations.centrality,
            knowledge_graph_operations.AskCentrality(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                as_of=as_of,
                as_of_time=as_of_time,
                trust=trust,
                limit=100000 if limit is None else limit,
            ),
            page_size,
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
    ) -> "Iterator[KnownClaim]":
        """Yield all that `about` lists: the claims, one by one.

        A server is asked for `page_size` at a time. Raises as `about`;
        LostPlaceError where too much has gone from the list meanwhile.
        """
        return self.session.items(
            knowledge_operations.about,
            knowledge_operations.About(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                as_of=as_of,
                as_of_time=as_of_time,
                topic=topic,
                at=at,
            ),
            page_size,
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
    ) -> "Iterator[StagedClaim]":
        """Yield all that `staging` lists: the staged, one by one.

        A server is asked for `page_size` at a time. Raises as `staging`;
        LostPlaceError where too much has gone from the list meanwhile.
        """
        return self.session.items(
            knowledge_operations.staging,
            knowledge_operations.ListStaged(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                state=state,
            ),
            page_size,
        )

    def iter_certificate(self, id: str, *, page_size: int = 100) -> "Iterator[GoneRecord]":
        """Yield all that `certificate` lists: the records, one by one.

        A server is asked for `page_size` at a time. Raises as `certificate`;
        LostPlaceError where too much has gone from the list meanwhile.
        """
        return self.session.items(
            admin_certificate.certificate, admin_certificate.AskCertificate(id=id), page_size
        )

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
    ) -> "Iterator[ArrowTable]":
        """Yield all that `sql` lists: the rows, in tables of at most `page_size`.

        A server is asked for `page_size` at a time. Raises as `sql`;
        LostPlaceError where too much has gone from the list meanwhile.
        """
        return self.session.items(
            admin_projections.sql,
            admin_projections.Sql(
                as_of=as_of,
                as_of_time=as_of_time,
                query=query,
                parameters=given(parameters),
                valid_at=valid_at,
                include_forgotten=include_forgotten,
                seconds=seconds,
                rows=rows,
                result_bytes=result_bytes,
                memory_bytes=memory_bytes,
            ),
            page_size,
        )

    def iter_retention_due(self, *, page_size: int = 100) -> "Iterator[Overdue]":
        """Yield all that `retention_due` lists: the due, one by one.

        A server is asked for `page_size` at a time. Raises as `retention_due`;
        LostPlaceError where too much has gone from the list meanwhile.
        """
        return self.session.items(admin_retention.retention_due, admin_retention.RetentionDue(), page_size)

    def iter_tokens(self, *, page_size: int = 100) -> "Iterator[TokenView]":
        """Yield all that `tokens` lists: the tokens, one by one.

        A server is asked for `page_size` at a time. Raises as `tokens`;
        LostPlaceError where too much has gone from the list meanwhile.
        """
        return self.session.items(admin_tokens.tokens, admin_tokens.ListTokens(), page_size)

    def iter_history(
        self, id: str, *, as_of: "int | None" = None, page_size: int = 100
    ) -> "Iterator[Change]":
        """Yield all that `history` lists: the changes, one by one.

        A server is asked for `page_size` at a time. Raises as `history`;
        LostPlaceError where too much has gone from the list meanwhile.
        """
        return self.session.items(
            memories_operations.history, memories_operations.History(id=id, as_of=as_of), page_size
        )

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
    ) -> "Iterator[ReviewItem]":
        """Yield all that `reviews` lists: the reviews, one by one.

        A server is asked for `page_size` at a time. Raises as `reviews`;
        LostPlaceError where too much has gone from the list meanwhile.
        """
        return self.session.items(
            memories_review_operations.reviews,
            memories_review_operations.ListReviews(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                state=state,
            ),
            page_size,
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
    ) -> "Iterator[ProgramSummary]":
        """Yield all that `programs` lists: the programs, one by one.

        A server is asked for `page_size` at a time. Raises as `programs`;
        LostPlaceError where too much has gone from the list meanwhile.
        """
        return self.session.items(
            programs_operations.programs,
            programs_operations.Programs(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
            ),
            page_size,
        )

    def iter_program_trace(self, id: str, *, page_size: int = 100) -> "Iterator[Recorded]":
        """Yield all that `program_trace` lists: the events, one by one.

        A server is asked for `page_size` at a time. Raises as `program_trace`;
        LostPlaceError where too much has gone from the list meanwhile.
        """
        return self.session.items(
            programs_operations.program_trace, programs_operations.ProgramTrace(id=id), page_size
        )

    def iter_jobs(
        self,
        *,
        state: "Literal['pending', 'leased', 'retry_scheduled', 'done', 'dead'] | None" = None,
        consumer: "Literal['session-extraction', 'decision', 'consolidation', 'projection', 'enrichment'] | None" = None,
        limit: "int | None" = None,
        page_size: int = 100,
    ) -> "Iterator[ListedJob]":
        """Yield all that `jobs` lists: the jobs, one by one.

        A server is asked for `page_size` at a time. Without `limit` it lists all. Raises as `jobs`;
        LostPlaceError where too much has gone from the list meanwhile.
        """
        return self.session.items(
            jobs_operations.jobs,
            jobs_operations.AskJobs(state=state, consumer=consumer, limit=100000 if limit is None else limit),
            page_size,
        )


class Store(Session, Methods):
    """An open store: to remember in, to read, correct, forget and erase, to prove, replay and ask.

    Safe to share between threads; a context manager.
    """
