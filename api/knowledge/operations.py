"""Learning: what was said is read for what it states; what is known of it, and why, or why not."""

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Final, Literal

import msgspec

import braid.knowledge.briefing_operations  # pyright: ignore[reportUnusedImport]  # declares its own
import braid.knowledge.change_operations  # pyright: ignore[reportUnusedImport]  # declares its own
import braid.knowledge.entity_operations  # pyright: ignore[reportUnusedImport]  # declares its own
import braid.knowledge.graph_operations  # pyright: ignore[reportUnusedImport]  # declares its own
import braid.knowledge.setting_operations  # noqa: F401  # pyright: ignore[reportUnusedImport]  # declares its own
from braid.ledger.errors import (
    ErasedError,
    ForgottenError,
    IntegrityError,
    ReadOnlyError,
    UnknownRecordError,
)
from braid.ledger.record.record import Draft, Record
from braid.ledger.record.source import BELIEVED, SourceClass
from braid.log import drafts
from braid.operation import Id, Instant, Request, Response, Scoped, ScopedAsOf, operation
from braid.session import Session
from braid.wal.errors import OutcomeUnknownError

if TYPE_CHECKING:
    from braid.text.chat import ChatModel
    from braid.text.parse import Parser


class Learn(Request, frozen=True, kw_only=True):
    """What hasn't been read yet is read. `dry_run`: nothing is appended.

    `trust`: the lowest source class that is read.
    """

    dry_run: bool = False
    trust: SourceClass = BELIEVED


class Learned(Response, frozen=True, kw_only=True):
    """How many turns were read; how many records, of how many claims, were appended (or would be); how far it got.

    `partly` of the turns state too much, or are too long, to be read whole: `left` characters of them were not read.
    """

    read: int
    records: int
    claims: int
    position: int
    partly: int = 0
    left: int = 0


@operation(
    Learn,
    Learned,
    access="write",
    cost="log",
    repeatable=True,
    example=Learn(dry_run=True),
    errors=(ReadOnlyError, IntegrityError, OutcomeUnknownError),
)
def learn(session: Session, asked: Learn, *, told: Callable[[Record, Draft], None] | None = None) -> Learned:
    """Read what has not been read yet for plain statements; append these as inference records above their turns.

    Follows the log; repeating it adds nothing. `told` is shown each record that states something, and its draft.
    """
    from braid.knowledge.learner import learn as read_on

    session.refresh()
    if not asked.dry_run:
        _ = session.writer  # refuses a store that is open for reading only, before it is read
    return read_on(session, dry_run=asked.dry_run, told=told, trust=asked.trust)


class Extract(Request, frozen=True, kw_only=True):
    """What extractors haven't read yet is read: a session when it ends, and every `turns_each` turns of it.

    `ended_only`: what is left of a session that goes on waits for more. `dry_run`: nothing is appended.
    """

    turns_each: Annotated[
        int, msgspec.Meta(ge=1, le=100, description="How many turns a model is given at once.")
    ] = 10
    ended_only: bool = False
    dry_run: bool = False


class Extracted(Response, frozen=True, kw_only=True):
    """How many portions of sessions, and turns of them, a model read; what was appended (or would be).

    `refused`: how often which gate said what; `warnings`: what was mended or doubted; `failures`: stages that failed.
    `waiting`: turns that are still to be read; `given_up`: turns that failed in three runs; `stopped`: the model failed
    so often that the rest was left, or `budget_spent`: the day's tokens were. Tokens as the model counts them.
    """

    sessions: int
    turns: int
    records: int
    claims: int
    staged: int
    refused: dict[str, int]
    warnings: dict[str, int]
    failures: dict[str, int]
    tokens_in: int
    tokens_out: int
    waiting: int
    given_up: int
    stopped: bool
    position: int
    budget_spent: bool = False


@operation(
    Extract,
    Extracted,
    access="write",
    cost="log",
    repeatable=True,
    example=Extract(dry_run=True),
    errors=(ReadOnlyError, IntegrityError, OutcomeUnknownError),
)
def extract(
    session: Session,
    asked: Extract,
    *,
    model: "ChatModel | None" = None,
    larger: "ChatModel | None" = None,
    second: "ChatModel | None" = None,
    parser: "Parser | None" = None,
    told: Callable[[Record, Draft], None] | None = None,
) -> Extracted:
    """Read preferences that are stated as data, and tools by their use; with a `model`, what sessions state in words.

    What passes the gates is appended, one record a turn and extractor, with what made it; repeating it adds nothing.
    `second` is asked where `model` gives no answer, `larger` where that is unsure. Without a `parser`, what a model
    finds is staged, not known. The embedder of the store chooses the known names that a model is given. `told` is shown
    each record and its draft. Raises RemoteModelError for a model that the settings keep away; where the day's tokens
    are spent the rest waits.
    """
    from braid.knowledge.extraction import extract as read_on

    session.refresh()
    if not asked.dry_run:
        _ = session.writer  # refuses a store that is open for reading only, before a model is asked
    extractor = gate = None
    if model is not None:
        from braid.learn.model.extractor import ModelExtractor
        from braid.providers.gate import Gate, in_order
        from braid.providers.policy import require_allowed

        require_allowed(session, (model, larger, second))
        gate = Gate(session, "extract", "extract", waits=True)
        extractor = ModelExtractor(
            in_order(gate, model, second, with_breakers=False),
            larger=gate.before(larger, "larger") if larger is not None else None,
            embedder=session.embedding()[0],
        )
    return read_on(
        session,
        extractor,
        gate=gate,
        parser=parser,
        turns_each=asked.turns_each,
        ended_only=asked.ended_only,
        dry_run=asked.dry_run,
        told=told,
    )


_GET: Final = (ValueError, UnknownRecordError, ErasedError, ForgottenError, IntegrityError)
_DECIDE: Final = (*_GET, ReadOnlyError, OutcomeUnknownError)
_RECORD: Final = "exp_2025-05-17T09:00:00Z_0000000300ab"
Text = Annotated[str, msgspec.Meta(min_length=1, description="Text that isn't empty.")]
Place = Annotated[int, msgspec.Meta(ge=0, description="Place among what a reading staged, from 0.")]
Method = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^read:[^@\s]+@\S+$",
        description="A reader's method: `read:<name>@<version>`.",
        extra={"refusal": "a reader's method, such as read:plain@1"},
    ),
]


class About(ScopedAsOf, frozen=True, kw_only=True):
    """What something is: a subject or an object of claims. `at`: when they should hold; else now, or then."""

    topic: Text
    at: Instant | None = None


class FormerClaim(msgspec.Struct, frozen=True, kw_only=True):
    """What was known before: the record that claims it, and why it has no say."""

    id: str
    says: str
    since: datetime | None
    why: str


class KnownClaim(msgspec.Struct, frozen=True, kw_only=True):
    """A claim that has a say: the record that makes it, its place there, and the turn that it was read from.

    `since` and `until` are None where it has no beginning or end.
    `at`: from which character of the turn on the quote stands. `p`: what it was worth when it was made. `replaced`:
    what has no say because of it. `also`: other records that claim the same. `source_class`: whose words it is.
    """

    id: str
    place: int
    says: str
    subject: str
    rel: str
    object: str
    polarity: bool
    type: str
    since: datetime | None
    until: datetime | None
    said: datetime
    quote: str | None
    at: int | None
    turn: str
    said_by: str | None
    source_class: SourceClass
    p: float
    replaced: tuple[FormerClaim, ...]
    also: tuple[str, ...]


class KnowledgeAbout(Response, frozen=True, kw_only=True):
    """Claims, by subject, relation and time."""

    claims: tuple[KnownClaim, ...]


@operation(
    About,
    KnowledgeAbout,
    access="read",
    cost="index",
    pages="claims",
    page_key=("id", "place"),
    positional=("topic",),
    returns="claims",
    example=About(topic="Maya", user_id="maya"),
    errors=(ValueError, IntegrityError),
)
def about(session: Session, asked: About) -> KnowledgeAbout:
    """Return what is known about something: the living claims that have a say, with the words that they were read from.

    The rule of stances (SPEC §19) decides who has a say. Each claim names what it stands in place of. Staged claims are
    not among them.
    """
    from braid.knowledge.about import known_about

    session.refresh()
    scope = drafts.scope_of(asked)
    return KnowledgeAbout(claims=known_about(session, asked.topic, scope, at=asked.at, as_of=asked.past))


class WhyKnown(Request, frozen=True, kw_only=True):
    """A record that claims something, or a turn that something was read from."""

    id: Id


class GateOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What a gate said."""

    gate: str
    outcome: str


class ClaimDerivation(msgspec.Struct, frozen=True, kw_only=True):
    """How a claim was come by.

    `maker` and `version` are those of the method; of a model, its prompt's. The quote stands from character `starts`
    up to before `ends` of the turn's text. `standing_by`: what replaced or retired it. `staged`: the reading that had
    it staged, where somebody accepted it.
    """

    id: str
    place: int
    says: str
    method: str
    maker: str
    version: str
    model: str | None
    turn: str
    turn_index: int
    quote: str | None
    starts: int | None
    ends: int | None
    p: float | None
    confidence_method: str | None
    standing: str
    standing_by: str | None
    staged: str | None
    gates: tuple[GateOutcome, ...]


class Derivations(Response, frozen=True, kw_only=True):
    """How each claim was come by."""

    derivations: tuple[ClaimDerivation, ...]


@operation(
    WhyKnown,
    Derivations,
    access="read",
    cost="index",
    positional=("id",),
    returns="derivations",
    example=WhyKnown(id=_RECORD),
    errors=_GET,
)
def why_known(session: Session, asked: WhyKnown) -> Derivations:
    """Return how each claim of a record, or of what was read from it, came to be known.

    Whether the quote stands in the turn is looked at again, in the log. None for a turn that claims nothing and of
    which nothing was read. Raises ValueError for what is no experience, and as `get`.
    """
    from braid.knowledge.derivation import derivations

    session.refresh()
    return Derivations(derivations=derivations(session, asked.id))


class WhyNotKnown(Scoped, frozen=True, kw_only=True):
    """What should be known, in plain words. `top_k`: how many records recall would be asked for."""

    text: Text
    top_k: Annotated[int, msgspec.Meta(ge=1, le=1_000)] = 10


Outcome = Literal["yes", "no", "unknown"]


class PlaybookStep(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was looked at, what came of it, and the records that it is about.

    `step`: said, forgotten, erased, read, gates, retired, superseded, ended, decayed, ranked.
    """

    step: str
    outcome: Outcome
    detail: str
    ids: tuple[str, ...] = ()


class Playbook(Response, frozen=True, kw_only=True):
    """What was looked at, in order, and where it ended."""

    steps: tuple[PlaybookStep, ...]
    conclusion: str


@operation(
    WhyNotKnown,
    Playbook,
    access="read",
    cost="index",
    positional=("text",),
    example=WhyNotKnown(text="Maya lives in Porto", user_id="maya"),
    errors=(ValueError, IntegrityError),
)
def why_not_known(session: Session, asked: WhyNotKnown) -> Playbook:
    """Return why something isn't known: whether it was said, read, held back, forgotten, superseded, or ranked out.

    A record says it, and a claim means it, where the most of its words stand there, the rarer the more, and each
    name and number. What was forgotten is named by its id alone; of erasures, who is held to a scope learns
    nothing. Raises ValueError for a text without a word that says anything.
    """
    from braid.knowledge.absence import playbook

    session.refresh()
    scope = drafts.scope_of(asked)
    steps, conclusion = playbook(session, asked.text, scope, asked.top_k)
    return Playbook(steps=steps, conclusion=conclusion)


class ListStaged(Scoped, frozen=True, kw_only=True):
    """Of which scope; `state`: only what waits, or was decided so."""

    state: Literal["waiting", "accepted", "rejected"] | None = "waiting"


class StagedClaim(msgspec.Struct, frozen=True, kw_only=True):
    """A claim that a gate let wait: the reading that holds it, and its place there. `decided`: what decided it."""

    id: str
    place: int
    type: str
    says: str
    why: str
    quote: str | None
    at: int | None
    turn: str | None
    state: str
    decided: str | None


class StagedClaims(Response, frozen=True, kw_only=True):
    """Staged claims, in the order of the log."""

    staged: tuple[StagedClaim, ...]


@operation(
    ListStaged,
    StagedClaims,
    access="read",
    cost="index",
    pages="staged",
    table="staging",
    page_key=("id", "place"),
    returns="staged",
    example=ListStaged(user_id="maya"),
    errors=(IntegrityError,),
)
def staging(session: Session, asked: ListStaged) -> StagedClaims:
    """Return the claims that gates let wait: they have no say in anything until somebody accepts them."""
    from braid.knowledge.staging import staged

    session.refresh()
    scope = drafts.scope_of(asked)
    return StagedClaims(staged=tuple(staged(session, scope, asked.state)))


class AcceptStaged(Request, frozen=True, kw_only=True):
    """The reading that holds a staged claim, and its place there."""

    id: Id
    place: Place = 0


class RejectStaged(Request, frozen=True, kw_only=True):
    """The reading that holds a staged claim, and its place there; why, which is sealed with the event."""

    id: Id
    place: Place = 0
    reason: str | None = None


class StagedDecision(Response, frozen=True, kw_only=True):
    """What was decided of a staged claim: `id` is the record that says so. `is_new`: whether it was appended now."""

    id: str
    staged: str
    place: int
    says: str
    state: str
    is_new: bool


@operation(
    AcceptStaged,
    StagedDecision,
    access="modify",
    cost="index",
    repeatable=True,
    positional=("id", "place"),
    example=AcceptStaged(id=_RECORD),
    errors=_DECIDE,
)
def accept_staged(session: Session, asked: AcceptStaged) -> StagedDecision:
    """Append a staged claim as a signed reading of its turn, with the reading that staged it as evidence.

    It goes with its turn. Again it appends nothing. Raises ValueError where nothing is staged there, or it was
    rejected, ForgottenError where the claim was accepted and then forgotten, and as `get`.
    """
    from braid.knowledge.staging import accept

    session.refresh()
    _ = session.writer
    return accept(session, asked.id, asked.place)


@operation(
    RejectStaged,
    StagedDecision,
    access="modify",
    cost="index",
    repeatable=True,
    positional=("id", "place"),
    example=RejectStaged(id=_RECORD),
    errors=_DECIDE,
)
def reject_staged(session: Session, asked: RejectStaged) -> StagedDecision:
    """Append the signed event that rejects a staged claim; again it appends nothing.

    Raises ValueError where nothing is staged there, or it was accepted, and as `get`.
    """
    from braid.knowledge.staging import reject

    session.refresh()
    _ = session.writer
    return reject(session, asked.id, asked.place, asked.reason)


class RetireReader(Request, frozen=True, kw_only=True):
    """Whose readings have no say from now on; why, which is sealed with the event."""

    method: Method
    reason: str | None = None


class ReaderRetired(Response, frozen=True, kw_only=True):
    """The event that retires a reader, how many readings it has here, and whether it was appended now."""

    id: str
    method: str
    readings: int
    is_new: bool


@operation(
    RetireReader,
    ReaderRetired,
    access="operate",
    cost="log",
    repeatable=True,
    positional=("method",),
    example=RetireReader(method="read:plain@1"),
    errors=(ForgottenError, ReadOnlyError, IntegrityError, OutcomeUnknownError),
)
def retire_reader(session: Session, asked: RetireReader) -> ReaderRetired:
    """Append one signed event by which all readings of a method lose their say: SPEC §9.7.

    Earlier pasts still show them, and forgetting the event gives it back. Again it appends nothing.
    """
    from braid.knowledge.retirement import retire

    _ = session.writer
    placed = retire(session, asked.method, asked.reason)
    reader = session.reader
    count = sum(1 for _ in reader.retirements.readings(asked.method, reader.size))
    return ReaderRetired(id=placed.id, method=asked.method, readings=count, is_new=not placed.known)
