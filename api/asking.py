"""Asking at the front door: an answer composed of what a store remembers, and written back in one transaction.

The question is appended as the user's words, the answer as the agent's, above the records that it cites; then the tones
of both, a reflection, and below it what retrieval shall learn; in front of them the stance, where a new one was taken.
All or none: if the process dies before the commit, nothing of it is in the log.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

import msgspec

from braid import recalling
from braid.affect.blend import Felt
from braid.affect.vad import Reading
from braid.agent import former
from braid.agent.answer import TOP_K, Answered, Held, Step, answer
from braid.agent.lesson import lesson
from braid.agent.parts import Composer, Support
from braid.agent.reflect import METHOD as REFLECT
from braid.claims.decision import Resolved, resolve
from braid.claims.finder import ClaimFinder
from braid.claims.question import size_of, utc
from braid.ledger.record import ANSWER, READING, Draft, EventBody, ExperienceBody, Record, Scope
from braid.lens.definitions import lens_named
from braid.log import drafts
from braid.recall.hits import Answer as Found
from braid.recall.recall import MAX_TOP_K, Lens
from braid.recall.salience import NAME as SALIENCE
from braid.recall.salience import taught
from braid.recall.through import through
from braid.recalling import ASK, MARKED, RESULT, is_count
from braid.session import Session
from braid.stance.claims import OWN_METHOD
from braid.stance.reconcile import Outcome
from braid.stance.review import Earlier
from braid.tone import snapshots as feeling

if TYPE_CHECKING:
    pass

OWN: Final[Mapping[str, Any]] = {
    "NOT": {
        "OR": [
            {"method": {"in": [ASK, ANSWER, REFLECT, OWN_METHOD, RESULT]}},
            {"method": {"contains": READING}},
        ]
    }
}
"""What no answer may rest on: earlier questions and answers, what tools gave for them, and what was only read out of
turns; the turns themselves are found beside it."""


THROUGH_LENS: Final = 60
"""Among how many of the best hits a lens looks for what it keeps: an answer is of that alone."""


class Citation(msgspec.Struct, frozen=True):
    """A record that an answer rests on; `when` it happened."""

    id: str
    index: int
    text: str
    when: datetime
    speaker: str
    quote: str = ""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """An answer. `text` is what is said, in its manner, `plain` the same without it; both cite ids in brackets.

    `abstained`: too little is known to say anything, and `reason` says why. Uncertainty in [0, 1], of what was decided
    or of what was quoted; it is for programs, never shown. The ids are None where nothing was written.
    """

    question: str
    text: str
    plain: str
    short: str
    citations: Sequence[Citation]
    abstained: bool
    reason: str | None
    stance: str | None
    residual_uncertainty: float
    degraded: Sequence[str]
    steps: Sequence[Step]
    tokens: tuple[int, int]
    model: str | None
    fallback: str | None
    unsupported: Sequence[str]
    reflection_text: str
    question_id: str | None = None
    answer_id: str | None = None
    reflection: str | None = None

    def wire(self) -> dict[str, Any]:
        """Return the answer as it is sent."""
        sent: dict[str, Any] = msgspec.to_builtins(self)
        return sent


def ask(
    store: Session,
    question: str,
    scope: Scope | None,
    *,
    as_of: int | datetime | None = None,
    now: datetime | None = None,
    composer: Composer | None = None,
    lens: str | None = None,
    affect: bool = True,
    top_k: int = TOP_K,
    write: bool = True,
) -> Answer:
    """Return the answer to a question; see `Store.ask`."""
    _refuse(question, top_k, now)
    through_lens: Lens | None = through(lens_named(store, lens)) if lens is not None else None
    mind = _Memory(store, scope, as_of, now, top_k if lens is None else max(top_k, THROUGH_LENS))
    given = answer(
        question, mind, now=mind.now, composer=composer, lens=through_lens, top_k=top_k, affect=affect
    )
    began = perf_counter()
    placed = dict[str, str]()
    resolved = mind.resolved if lens is None or given.held is not None else None
    if write:
        batch, names = batch_of(given, resolved, scope)
        written = store.append_drafts(batch)
        placed = {name: written[place].id for name, place in names.items()}
    step = Step("append", round(1000 * (perf_counter() - began), 3), f"{len(placed)} named")
    return shown(given, resolved, placed, [*given.steps, step] if write else given.steps)


def _refuse(question: object, top_k: object, now: datetime | None) -> None:
    if not isinstance(question, str):
        raise TypeError(f"a question is text, not {type(question).__name__}")
    if not question.strip():
        raise ValueError("a question is text that isn't empty")
    if not is_count(top_k, MAX_TOP_K):
        raise ValueError(f"top_k is 1 to {MAX_TOP_K}, not {top_k!r}")
    if now is not None:
        utc(now)


class _Memory:
    """A store as the pipeline asks it, for one question."""

    def __init__(
        self,
        store: Session,
        scope: Scope | None,
        as_of: int | datetime | None,
        now: datetime | None,
        top_k: int,
    ) -> None:
        self._store = store
        self._scope = scope
        self._as_of = as_of
        self._given_now = now
        self._top_k = top_k
        self._size = size_of(store, as_of)
        self.now = now or self._then()
        self.resolved: Resolved | None = None

    def _then(self) -> datetime:
        if self._size is None:
            return self._store.now()
        return datetime.fromisoformat(self._store.reader.envelope(self._size - 1).created_at)

    def find(self, question: str) -> Found:
        """See `Mind.find`."""
        scope = msgspec.structs.asdict(self._scope) if self._scope else {}
        return recalling.answer(
            self._store,
            question,
            as_of=self._as_of,
            superseded=MARKED if former.wanted(question) else None,
            now=self._given_now,  # what happened later is not known yet
            top_k=self._top_k,
            filters=OWN,
            **scope,
        )

    def hold(self, question: str) -> Held:
        """See `Mind.hold`."""
        given = self._given_now
        self.resolved = resolve(self._store, question, self._scope, as_of=self._as_of, now=given)
        outcome = self.resolved.outcome
        return Held(
            outcome,
            tuple(grounds_of(outcome, ClaimFinder(self._store, self._scope, self._size), self._store)),
        )

    def feel(self, texts: Sequence[str]) -> list[Reading]:
        """See `Mind.feel`."""
        return feeling.sense(self._store, texts)

    def own_tone(self) -> Felt | None:
        """See `Mind.own_tone`."""
        return feeling.own(self._store, self._store.now(), self._scope)


def grounds_of(outcome: Outcome, known: ClaimFinder, store: Session) -> Iterator[Support]:
    """Yield the turns that the support was read from, each once; a record that was drawn from none is its own."""
    seen: set[int] = set()
    for said in outcome.support:
        above = [at for at in known.source(said.index).parents if known.lives(at)] or [said.index]
        for at in above:
            if at not in seen:
                seen.add(at)
                yield support_of(store.reader.at(at), said.claim.quote or "")


def support_of(record: Record, quote: str = "") -> Support:
    """Return a record as what an answer rests on."""
    body = record.body
    source = body.provenance if isinstance(body, ExperienceBody) else None
    return Support(
        id=record.id,
        index=record.index,
        text=record.text,
        quote=quote,
        when=body.occurred_at or record.created_at,
        speaker=(source.name or source.actor) if source is not None else record.kind,
    )


def batch_of(
    given: Answered, resolved: Resolved | None, scope: Scope | None
) -> tuple[list[Draft], dict[str, int]]:
    """Return the transaction, and the places in it of what the caller is told of."""
    batch = list(resolved.batch) if resolved is not None else []
    names = {"stance": 0} if batch else {}

    def add(name: str, draft: Draft) -> Earlier:
        names[name] = len(batch)
        batch.append(draft)
        return Earlier(names[name])

    asked = add("question", drafts.experience(given.question, method=ASK, within=scope))
    cited = [one.id for one in given.citations]
    answered = add(
        "answer",
        drafts.experience(
            given.text,
            actor="agent",
            method=ANSWER,
            within=scope,
            evidence=cited,
            parents=[] if cited else [asked],
            structured={"answer": _told(given, cited)},
        ),
    )
    if given.tone is not None:
        for name, record, actor, reading in (
            ("input", asked, "user", given.tone.input),
            ("draft", answered, "agent", given.tone.draft),
            ("augmented", answered, "agent", given.tone.augmented),
        ):
            body = reading.body(actor, name, scope=scope)
            add(name, Draft(kind="affect", body=body, links=[("experience", record)]))
    reflected = add(
        "reflection",
        drafts.experience(
            given.reflection.text,
            type="observation",
            actor="agent",
            method=REFLECT,
            within=scope,
            parents=[answered],
            evidence=[asked, *cited],
            structured=given.reflection.structured(),
        ),
    )
    if steps := lesson(given.reflection, given.composed):
        add("lesson", _lesson(steps, reflected, scope))
    return batch, names


def _lesson(steps: Mapping[str, float], reflected: Earlier, scope: Scope | None) -> Draft:
    """Return what retrieval shall learn, below the reflection: its links after the first are the records."""
    body = EventBody(name=SALIENCE, data=taught(enumerate(steps.values(), 1)), scope=scope)
    return Draft(kind="event", body=body, links=[("parent", reflected), *(("target", id) for id in steps)])


def _told(given: Answered, cited: Sequence[str]) -> dict[str, Any]:
    """Return what a program may want to know of an answer later."""
    composed = given.composed
    told = {
        "plain": composed.text if composed.text != given.text else None,
        "citations": list(cited),
        "abstained": composed.abstained,
        "reason": composed.reason,
        "model": composed.model,
        "said": composed.said,
        "fallback": composed.fallback,
        "unsupported": list(composed.unsupported),
    }
    return {name: value for name, value in told.items() if value not in (None, [])}


def shown(
    given: Answered, resolved: Resolved | None, placed: Mapping[str, str], steps: Sequence[Step]
) -> Answer:
    """Return an answer as callers get it; `placed`: the ids of what was written."""
    composed = given.composed
    standing = resolved.stance.id if resolved is not None else None
    return Answer(
        question=given.question,
        text=given.text,
        plain=composed.text,
        short=composed.short,
        citations=[
            Citation(one.id, one.index, one.text, one.when, one.speaker, one.quote) for one in given.citations
        ],
        abstained=composed.abstained,
        reason=composed.reason,
        stance=placed.get("stance") or standing,
        residual_uncertainty=round(1.0 - composed.p, 6),
        degraded=list(given.degraded),
        steps=list(steps),
        tokens=composed.tokens,
        model=composed.model,
        fallback=composed.fallback,
        unsupported=list(composed.unsupported),
        reflection_text=given.reflection.text,
        question_id=placed.get("question"),
        answer_id=placed.get("answer"),
        reflection=placed.get("reflection"),
    )
