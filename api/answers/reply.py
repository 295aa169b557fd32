"""An answer as callers get it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal

import msgspec

from braid.ledger.record.ids import RecordId
from braid.ledger.record.source import SourceClass
from braid.operation import Response
from braid.search.operations import Flag

if TYPE_CHECKING:
    from braid.agent.answer.pipeline import CitedAnswer, Step
    from braid.claims.decision import Resolved


class Citation(msgspec.Struct, frozen=True, kw_only=True):
    """A record that an answer rests on; `when` it happened; `quote`: what of its text bears on the question."""

    id: RecordId
    index: int
    text: str
    when: datetime
    speaker: str
    quote: str = ""
    source_class: SourceClass


class Stage(msgspec.Struct, frozen=True, kw_only=True):
    """A stage of an answer, how many milliseconds it took, and what it came to, in a few words."""

    name: str
    ms: float
    what: str = ""


class Reply(Response, frozen=True, kw_only=True):
    """An answer. `text` is what is said, in its manner, `plain` the same without it; both cite ids in brackets.

    `rung`: it tells what is held, or quotes what was said; it only shows what comes near; it knows nothing; None for a
    model's. `short`: the answer in the fewest words, empty where there is
    none, as of what is only near. `abstained`: too little is
    known to say anything, and `reason` says why. Uncertainty in [0, 1], of what was decided or of what was quoted; it
    is for programs, never shown. `tokens`: into a model, out of it. The ids are None where
    nothing was written. `quoted`: it only quotes what outsiders say; nobody who owns this memory says that it is so.
    `flags`: what is personal in what it cites, where it is said before another than the owner.
    """

    question: str
    text: str
    plain: str
    short: str
    citations: tuple[Citation, ...]
    abstained: bool
    rung: Literal["held", "said", "near", "silent"] | None
    reason: str | None
    stance: RecordId | None
    residual_uncertainty: float
    degraded: tuple[str, ...]
    steps: tuple[Stage, ...]
    tokens: tuple[int, int]
    model: str | None
    fallback: str | None
    unsupported: tuple[str, ...]
    reflection_text: str
    quoted: bool = False
    flags: tuple[Flag, ...] = ()
    question_id: RecordId | None = None
    answer_id: RecordId | None = None
    reflection: RecordId | None = None


def reply_of(
    given: "CitedAnswer",
    resolved: "Resolved | None",
    placed: Mapping[str, RecordId],
    steps: "Sequence[Step]",
    flags: tuple[Flag, ...] = (),
) -> Reply:
    """Return an answer as callers get it; `placed`: the ids of what was written."""
    composed = given.composed
    standing = resolved.stance.id if resolved is not None else None
    return Reply(
        question=given.question,
        text=given.text,
        plain=composed.text,
        short=composed.short if composed.claims else "",
        citations=tuple(
            Citation(
                id=RecordId(one.id),
                index=one.index,
                text=one.text,
                when=one.when,
                speaker=one.speaker,
                quote=one.quote,
                source_class=one.source,
            )
            for one in given.citations
        ),
        abstained=composed.abstained,
        rung=composed.rung,
        reason=composed.reason,
        stance=placed.get("stance") or (RecordId(standing) if standing is not None else None),
        residual_uncertainty=round(1.0 - composed.p, 6),
        degraded=tuple(given.degraded),
        steps=tuple(Stage(name=one.name, ms=one.ms, what=one.what) for one in steps),
        tokens=composed.tokens,
        model=composed.model,
        fallback=composed.fallback,
        unsupported=tuple(composed.unsupported),
        quoted=composed.quoted,
        flags=flags,
        reflection_text=given.reflection.text,
        question_id=placed.get("question"),
        answer_id=placed.get("answer"),
        reflection=placed.get("reflection"),
    )
