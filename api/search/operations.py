"""What fits a question: records, the block that a prompt is given of them, and the vectors they are found by."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Final, Literal

import msgspec

from braid.ledger.errors import ErasedError, ForgottenError, IntegrityError, UnknownRecordError
from braid.ledger.record.ids import RecordId
from braid.ledger.record.record import ExperienceBody, Record, Scope
from braid.ledger.record.source import SourceClass, voice
from braid.lenses.errors import UnknownLensError
from braid.operation import Name, Request, Response, operation
from braid.recall.passage import passage
from braid.search.question import Question, TopK, refuse_empty
from braid.session import Session
from braid.text.words import telling

if TYPE_CHECKING:
    from braid.recall.decompose import Decomposer
    from braid.recall.hits import Hit, RecallResult
    from braid.recall.recall import CrossEncoder

_ERRORS: Final = (IntegrityError, UnknownLensError)


class Flag(msgspec.Struct, frozen=True, kw_only=True):
    """Something personal in what goes out: its kind, the words, and the record that they are of."""

    kind: Literal["name", "birth_date", "address", "email", "phone"]
    text: str
    id: str | None = None


class Recall(Question, frozen=True, kw_only=True):
    """A question. `explain`: also what each signal gave; `prove`: also offline proofs of the hits.

    `text_chars`: of a longer text only the part that the question is about, at most so many characters.
    """

    explain: bool = False
    prove: bool = False
    text_chars: Annotated[int, msgspec.Meta(ge=40)] | None = None


class Repeat(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A record that says the same as a hit, in the same words, by the same speaker in the same scope."""

    id: RecordId
    index: int
    created_at: datetime
    occurred_at: datetime | None = None


class RecalledHit(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A record that fits, read from the log and verified.

    `signals`: what spoke for it, by name; `parts`: what each added to the score, where `explain` was asked.
    `superseded_by`: the record that stands in its place now. `proof`: a c2sp.org/tlog-proof. `source_class`: whose
    words it is; an outsider's are quoted, and nobody here has said that they are so. `said_by`: the same as people are
    shown it, where that isn't `name` or `actor`, such as "an agent for Maya". `whole_chars`: how long the text is
    where `text_chars` cut it; `get` gives it whole.
    """

    id: RecordId
    index: int
    text: str
    whole_chars: int | None = None
    score: float
    created_at: datetime
    occurred_at: datetime | None = None
    actor: str | None = None
    name: str | None = None
    said_by: str | None = None
    captions: tuple[str, ...] = ()
    scope: Scope | None = None
    superseded_by: str | None = None
    source_class: SourceClass
    signals: Mapping[str, float]
    parts: Mapping[str, float] | None = None
    also: tuple[Repeat, ...] = ()
    proof: str | None = None


class Recalled(Response, frozen=True, kw_only=True, omit_defaults=True):
    """The hits, best first, and how complete they are.

    `position`: how many records the projection had taken in; `behind_by`: how many it hadn't. `degraded`: what could
    not be asked, and so has no say. `rebuilt`: why the projection had to be made again. `disagreement`: the entropy of
    the hits' answers in [0, 1]. `proof`: one proof of all hits (`braid check-proof`).
    `flags`: names, birth dates, addresses in what another than the owner is given.
    """

    results: tuple[RecalledHit, ...]
    behind_by: int
    position: int
    degraded: tuple[str, ...]
    disagreement: float
    rebuilt: str | None = None
    proof: str | None = None
    flags: tuple[Flag, ...] = ()


@operation(
    Recall,
    Recalled,
    access="read",
    cost="index",
    positional=("query",),
    example=Recall(query="What is the cat called?", user_id="maya", top_k=3),
    errors=_ERRORS,
)
def recall(
    session: Session,
    asked: Recall,
    *,
    cross_encoder: "CrossEncoder | None" = None,
    hit_lens: "Callable[[Sequence[Hit]], Sequence[Hit]] | None" = None,
    decomposer: "Decomposer | None" = None,
) -> Recalled:
    """Return the records that fit a question, best first, each read from the log and verified.

    The ids of the scope bind every way in. `cross_encoder`: (question, texts) → how well each answers, higher is
    better; `hit_lens`: what the hits are seen through where `lens` names none; `decomposer`: what takes the question
    apart. Raises InvalidRequestError for an empty question, ValueError for filters that can't be meant and
    for a past that never was, UnknownLensError, IntegrityError. See docs/recall.md.
    """
    from braid.search.retrieval import find, proved

    refuse_empty(asked.query)
    found = find(session, asked, cross_encoder=cross_encoder, hit_lens=hit_lens, decomposer=decomposer)
    return _recalled(proved(session, found) if asked.prove else found, asked, _flags(session, asked, found))


def _flags(session: Session, asked: Question, found: "RecallResult") -> tuple[Flag, ...]:
    """Return what is personal in what goes out to another than the owner."""
    if asked.audience == "owner":
        return ()
    from braid.search.audience import flags_in

    return tuple(flags_in(session, (hit.record for hit in found.results), asked.audience))


def _recalled(found: "RecallResult", asked: Recall, flags: tuple[Flag, ...]) -> Recalled:
    return Recalled(
        results=tuple(_hit(hit, asked) for hit in found.results),
        behind_by=found.behind_by,
        position=found.position,
        degraded=tuple(found.degraded),
        disagreement=round(found.disagreement, 4),
        rebuilt=found.rebuilt,
        proof=found.proof.decode() if found.proof is not None else None,
        flags=flags,
    )


def _hit(hit: "Hit", asked: Recall) -> RecalledHit:
    body = hit.record.body
    experience = body if isinstance(body, ExperienceBody) else None
    text = hit.text if asked.text_chars is None else passage(hit.text, telling(asked.query), asked.text_chars)
    return RecalledHit(
        id=hit.record.id,
        index=hit.index,
        text=text,
        whole_chars=None if text is hit.text else len(hit.text),
        score=round(hit.score, 6),
        created_at=hit.record.created_at,
        occurred_at=body.occurred_at,
        actor=experience.provenance.actor if experience else None,
        name=(experience.provenance.name or None) if experience else None,
        said_by=_said_by(hit.record) if experience else None,
        captions=tuple(media.caption for media in experience.content.media if media.caption)
        if experience
        else (),
        scope=body.scope,
        superseded_by=hit.superseded_by,
        source_class=hit.source,
        signals=_rounded(hit.signals),
        parts=_rounded(hit.parts) if asked.explain else None,
        also=tuple(_repeat(record) for record in hit.also),
        proof=hit.proof.decode() if hit.proof is not None else None,
    )


def _said_by(record: Record) -> str | None:
    """Return whose words a record is, where that is neither its name nor its actor."""
    body, said = record.body, voice(record)
    source = body.provenance if isinstance(body, ExperienceBody) else None
    return None if source is None or said in (source.name, source.actor) else said


def _rounded(values: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 4) for name, value in values.items()}


def _repeat(record: Record) -> Repeat:
    return Repeat(
        id=record.id, index=record.index, created_at=record.created_at, occurred_at=record.body.occurred_at
    )


class Context(Question, frozen=True, kw_only=True):
    """A question that a prompt is given memory for.

    `probe`: a question that waits to be asked, for which room is kept. `clear`: secrets in clear text.
    """

    top_k: TopK = 30
    budget: Annotated[int, msgspec.Meta(ge=1, description="Tokens, by a cautious estimate.")] = 800
    probe: str | None = None
    clear: bool = False


class ContextBlock(Response, frozen=True, kw_only=True):
    """The `<experience_context>` block. `flags`: what is personal in it, where it isn't for the owner."""

    text: str
    flags: tuple[Flag, ...] = ()


@operation(
    Context,
    ContextBlock,
    access="read",
    cost="index",
    positional=("query",),
    returns="text",
    example=Context(query="What shall I cook for Maya?", user_id="maya", budget=300),
    errors=_ERRORS,
)
def context(
    session: Session,
    asked: Context,
    *,
    cross_encoder: "CrossEncoder | None" = None,
    hit_lens: "Callable[[Sequence[Hit]], Sequence[Hit]] | None" = None,
    decomposer: "Decomposer | None" = None,
) -> ContextBlock:
    """Return the `<experience_context>` block for a question, at most `budget` tokens by a cautious estimate.

    Stored text in it is data: escaped, fenced, every line with the id that it comes from. Keys, passwords, codes and
    card numbers are placeholders, unless `clear`. Locals as of `recall`. Raises ValueError for a budget without room
    for the block's frame, and what `recall` raises.
    """
    from braid.recall.context import block
    from braid.recall.decompose import decompose
    from braid.search.retrieval import find, now_of
    from braid.text.redact import Redactor

    refuse_empty(asked.query)
    found = find(session, asked, cross_encoder=cross_encoder, hit_lens=hit_lens, decomposer=decomposer)
    now = now_of(session, asked)
    question = (decomposer or decompose)(asked.query, now)
    redact = str if asked.clear else Redactor().redact
    return ContextBlock(
        text=block(question, found, now, budget=asked.budget, probe=asked.probe, redact=redact),
        flags=_flags(session, asked, found),
    )


class Vector(Request, frozen=True, kw_only=True):
    """Which vector: `vec://role/id`; a role may be short: `vec://sem/id`, `vec://temp/id`, `vec://caus/id`."""

    uri: Name


class FoundVector(Response, frozen=True, kw_only=True):
    """A unit vector (float32 values); None where there is none yet."""

    vector: tuple[float, ...] | None


@operation(
    Vector,
    FoundVector,
    access="read",
    cost="index",
    positional=("uri",),
    returns="vector",
    example=Vector(uri="vec://sem/exp_2025-05-17T09:00:00Z_0000000300ab"),
    errors=(UnknownRecordError, ErasedError, ForgottenError, IntegrityError),
)
def vector(session: Session, asked: Vector) -> FoundVector:
    """Return what `vec://role/id` names: a unit vector, or None where nothing is there yet.

    Raises ValueError for another kind of address or an unknown role; UnknownRecordError, ErasedError and ForgottenError
    as for `get`.
    """
    from braid.views.lance.profiles import profile
    from braid.views.search import SEMANTIC, vector_address

    roles, id = vector_address(asked.uri)
    session.refresh()
    record = session.reader.get(id)
    if roles[0] not in SEMANTIC:
        found = profile(roles[0], record)
    else:  # by the log: a row may say any id
        found = session.views.search.index(wait_s=10.0).vectors([record.index], roles).get(record.index)
    return FoundVector(vector=None if found is None else tuple(found.tolist()))
