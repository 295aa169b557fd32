"""Questions that are answered in words, and how an answer is known."""

from contextlib import suppress
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Final, Literal

from msgspec.structs import replace

from braid.answers.reply import Reply, reply_of
from braid.ledger.errors import (
    ClockError,
    ErasedError,
    ForgottenError,
    IntegrityError,
    ReadOnlyError,
    UnknownRecordError,
)
from braid.ledger.record.ids import RecordId
from braid.ledger.record.source import BELIEVED, SourceClass
from braid.lenses.errors import UnknownLensError
from braid.log import drafts
from braid.operation import Id, Instant, Name, Request, Response, ScopedAsOf, operation
from braid.search.question import AskedText, Audience, TopK, refuse_empty
from braid.session import Session
from braid.wal.errors import OutcomeUnknownError

if TYPE_CHECKING:
    from collections.abc import Callable

    from braid.agent.answer.pipeline import CitedAnswer
    from braid.agent.composer import Composer
    from braid.answers.mind import StoreMind

THROUGH_LENS: Final = 60
"""Among how many of the best hits a lens looks for what it keeps: an answer is of that alone."""


class Ask(ScopedAsOf, frozen=True, kw_only=True):
    """A question. `now`: what "last month" is relative to. `top_k`: how many records it may draw on (12).

    `lens`: an answer of what this keeps alone. `affect`: let tone shape its manner. `write`: append it; unsaid,
    it is appended where who asks may append. `all`: a list whole, not its last twelve pieces. `after`: the
    record of the answer that the question follows. `caution`: how sure an answer must be to be told, and not only shown
    as near. `trust`: the lowest source class that an answer rests on; what only those beneath it say is quoted as
    theirs. `audience`: before whom it is said (see `recall`).
    """

    question: AskedText
    now: Instant | None = None
    lens: Name | None = None
    affect: bool = True
    top_k: TopK | None = None
    all: bool = False
    after: Id | None = None
    write: bool | None = None
    caution: Literal["careful", "default", "eager"] = "default"
    trust: SourceClass = BELIEVED
    audience: Audience = "owner"


@operation(
    Ask,
    Reply,
    access="read",
    cost="index",
    repeatable=False,
    positional=("question",),
    example=Ask(question="Where does Maya live?", user_id="maya"),
    errors=(
        IntegrityError,
        UnknownLensError,
        UnknownRecordError,
        ErasedError,
        ForgottenError,
        ReadOnlyError,
        ClockError,
        OutcomeUnknownError,
    ),
)
def ask(session: Session, asked: Ask, *, composer: "Composer | None" = None) -> Reply:
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
    with suppress(Exception):  # what it fails by is told where it is asked, and costs no answer
        session.reranker()  # it begins to load, beside all that is imported here
    from braid.agent.answer.pipeline import FOUND, TOP_K, Step, answer
    from braid.answers.after import earlier_answer
    from braid.answers.mind import StoreMind, flagged
    from braid.answers.records import batch_of
    from braid.claims.question import utc

    refuse_empty(asked.question)
    if asked.now is not None:
        utc(asked.now)
    session.refresh()
    gate = None
    if composer is not None:
        from braid.providers.composing import gated

        composer, gate = gated(session, composer, "ask")
    writes = _writes(session, asked)
    top_k = asked.top_k or TOP_K
    scope = drafts.scope_of(asked)
    lens = None
    if asked.lens is not None:
        from braid.lens.definitions import lens_named
        from braid.recall.lens_filter import through

        lens = through(lens_named(session, asked.lens))
    minded = partial(
        StoreMind,
        session,
        scope,
        as_of=asked.as_of,
        as_of_time=asked.as_of_time,
        now=asked.now,
        top_k=max(top_k if asked.top_k else FOUND, THROUGH_LENS if lens is not None else 1),
        audience=asked.audience,
        all_pieces=asked.all,
    )
    mind = minded(trust=asked.trust)
    after = earlier_answer(session, asked.after, scope, mind) if asked.after is not None else None
    put = partial(
        answer,
        composer=composer,
        lens=lens,
        top_k=top_k,
        affect=asked.affect,
        caution=asked.caution,
        after=after,
    )
    mind, given = _answered(asked, mind, put, minded if composer is None else None)
    resolved = mind.resolved(given.held)
    if given.composed.abstained and mind.beneath and lens is None and asked.trust == BELIEVED:
        from braid.answers.outsiders import quoted_answer

        given = quoted_answer(asked.question, given, mind, session, scope, top_k=top_k)
    flags = flagged(session, given, asked.audience)
    if not writes:
        return reply_of(given, resolved, {}, given.steps, flags)
    began = perf_counter()
    batch, names = batch_of(given, resolved, scope, after=asked.after)
    try:
        written = session.append_drafts(batch)
    except ClockError as error:
        return _unkept(reply_of(given, resolved, {}, given.steps, flags), asked, error)
    if gate is not None:
        from braid.providers.composing import keep

        keep(session, gate, [*(one.id for one in given.citations), *(one.id for one in written)])
    placed = {name: written[place].id for name, place in names.items()}
    ms = round(1000 * (perf_counter() - began), 3)
    return reply_of(
        given, resolved, placed, [*given.steps, Step("append", ms, f"{len(placed)} named")], flags
    )


def _answered(
    asked: Ask,
    mind: "StoreMind",
    put: "Callable[..., CitedAnswer]",
    minded: "Callable[..., StoreMind] | None",
) -> "tuple[StoreMind, CitedAnswer]":
    """Return an answer, and what it was drawn from. `minded`: gives a mind of less trust, where one may be asked."""
    from braid.agent.answer.question.asker import of_user

    given = put(asked.question, mind, now=mind.now)
    if mind.lower and minded is not None and given.composed.claims and not _is_owners(given):
        own = minded(trust="owner")
        alone = put(asked.question, own, now=own.now)
        if alone.composed.claims or (not alone.composed.abstained and _speaks_of(asked.question, alone)):
            return own, alone  # what the owner said is not outdone by what others say of it
    if not given.composed.claims and (of_whom := of_user(asked.question, asked.user_id)) is not None:
        again = put(of_whom, mind, now=mind.now)
        if again.composed.claims:
            return mind, replace(again, question=asked.question)
    return mind, given


def _unkept(answered: Reply, asked: Ask, error: ClockError) -> Reply:
    """Return an answer that says why it was not kept. Raises the error where keeping it was asked for."""
    if asked.write:
        raise error
    return replace(answered, degraded=(*answered.degraded, f"the answer is not kept: {error}"))


def _writes(session: Session, asked: Ask) -> bool:
    """Whether the answer is appended. Raises AccessDeniedError and ReadOnlyError where it is to be and can't."""
    if asked.write:
        _ = session.writer
        session.require("ask with write", "write")
    return session.may_append() if asked.write is None else asked.write


def _speaks_of(question: str, given: "CitedAnswer") -> bool:
    """Whether one of the turns that are shown has half of the question's words, so that no other need answer it."""
    from braid.text.words import STOP, stem, words

    asked = {stem(word) for word in words(question) if word not in STOP}
    said = [{stem(word) for word in words(one.text)} for one in given.citations]
    return any(2 * len(asked & each) >= len(asked) for each in said)


def _is_owners(given: "CitedAnswer") -> bool:
    """Whether an answer rests on the owner's words alone."""
    return given.composed.claims and all(one.source == "owner" for one in given.citations)


class ExplainProvenance(Request, frozen=True, kw_only=True):
    """Of which answer, stance or experience it is asked how it is known."""

    id: Id


class Provenance(Response, frozen=True, kw_only=True):
    """Two or three sentences; ids stand in brackets behind what they bear out."""

    text: str


@operation(
    ExplainProvenance,
    Provenance,
    access="read",
    cost="index",
    positional=("id",),
    returns="text",
    example=ExplainProvenance(id=RecordId("exp_2025-05-17T09:00:00Z_0000000300ab")),
    errors=(UnknownRecordError, ErasedError, ForgottenError, IntegrityError),
)
def explain_provenance(session: Session, asked: ExplainProvenance) -> Provenance:
    """Return in two or three sentences how an answer, a stance or what a record says is known, by its links alone.

    Raises ValueError for another kind of record; UnknownRecordError, ErasedError, ForgottenError, IntegrityError.
    """
    from braid.agent.answer.wording.provenance import tell
    from braid.answers.grounds import ground

    session.refresh()
    return Provenance(text=tell(ground(session, asked.id)))
