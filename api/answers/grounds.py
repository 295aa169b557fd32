"""What a record rests on, gathered from its links for `agent.answer.provenance` to tell: turns, claims, stances."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, cast

from braid.agent.answer.wording.provenance import Drawn, GroundingRecord, Grounds
from braid.agent.answer.wording.report import addressed, spoken_by
from braid.ledger.errors import ErasedError, ForgottenError
from braid.ledger.record.record import READING, ExperienceBody, Record, Scope, StanceBody
from braid.ledger.record.source import voice
from braid.session import Session
from braid.stance.words import words_of


def ground(session: Session, id: str) -> Grounds:
    """Return what a record rests on: an answer on what it cites, a stance on its support, a turn on itself.

    Raises what `get` raises, and ValueError for a record that nobody could know anything by.
    """
    session.reader.need_vault()
    session.views.catalog.catch_up()
    record = session.reader.get(id)
    if isinstance(record.body, StanceBody):
        return _of_stance(session, record)
    if not isinstance(record.body, ExperienceBody):
        raise ValueError(f"{id} is a {record.kind}: ask of an answer, a stance, or an experience")
    told: Any = record.body.content.structured.get("answer")
    if record.body.provenance.method == "answer" and isinstance(told, dict):
        return _of_answer(session, record, cast("dict[str, Any]", told))
    firsts = _firsts(session, [record.index])
    drawn = [*_drawn(record), *_readings(session, [record.index], None)]
    return Grounds(sources=_sources(session, firsts), drawn=list(dict.fromkeys(drawn)))


def _of_answer(session: Session, record: Record, told: dict[str, Any]) -> Grounds:
    if told.get("abstained"):
        return Grounds(unanswered=str(told.get("reason") or "too little is known"))
    cited = [link.index for link in record.targets("evidence")]
    firsts = _firsts(session, cited)
    held = _stance_of(session, record)
    return Grounds(
        sources=_sources(session, firsts), drawn=list(_readings(session, firsts, record.text)), held=held
    )


def _of_stance(session: Session, record: Record) -> Grounds:
    decision = record.body.decision if isinstance(record.body, StanceBody) else None
    if decision is None or not decision.claim:
        reason = decision.undecided if decision is not None else None
        return Grounds(unanswered=reason or "it is undecided")
    support = [link.index for link in record.targets("support")]
    drawn = [one for at in support if (found := _read(session, at)) is not None for one in _drawn(found)]
    firsts = _firsts(session, support)
    return Grounds(sources=_sources(session, firsts), drawn=drawn, held=(record.id, decision.claim))


def _firsts(session: Session, indexes: Sequence[int]) -> list[int]:
    """Return the records at first hand that these were drawn from: what has no parent; each once."""
    found: dict[int, None] = {}
    seen: set[int] = set()
    stack = list(reversed(indexes))
    while stack:
        at = stack.pop()
        if at in seen:
            continue
        seen.add(at)
        parents = [link.index for link in session.reader.links(at) if link.role == "parent"]
        if parents:
            stack += reversed(parents)
        else:
            found[at] = None
    return list(found)


def _sources(session: Session, indexes: Sequence[int]) -> list[GroundingRecord]:
    return [_source(session, at) for at in indexes]


def _source(session: Session, at: int) -> GroundingRecord:
    control, envelope = session.reader.control, session.reader.envelope(at)
    record = _read(session, at)
    if record is None:
        gone = "erased" if at in control.erased else "forgotten"
        return GroundingRecord(
            id=envelope.id, speaker="", when=datetime.fromisoformat(envelope.created_at), text="", gone=gone
        )
    body, scope = record.body, record.body.scope or Scope()
    speaker = spoken_by(voice(record))
    return GroundingRecord(
        id=record.id,
        speaker=speaker,
        when=body.occurred_at or record.created_at,
        text=record.text,
        session=scope.session_id,
        corrected_by=_corrected_by(session, at),
    )


def _corrected_by(session: Session, at: int) -> str | None:
    standing = session.reader.standings().of(at)
    return (
        session.reader.envelope(standing.by).id
        if standing.state == "replaced" and standing.by is not None
        else None
    )


def _readings(session: Session, firsts: Sequence[int], said: str | None) -> Iterator[Drawn]:
    """Yield what was read of records by rules; with `said`, only what this speaks of."""
    for at in firsts:
        for child, _, role in session.views.catalog.children(at):
            record = _read(session, child) if role == "parent" else None
            if record is not None:
                yield from (one for one in _drawn(record, said) if one.method.startswith(READING))


def _drawn(record: Record, said: str | None = None) -> list[Drawn]:
    """Return the claims of a record that was drawn from others; with `said`, those whose object stands in it."""
    body = record.body
    if not isinstance(body, ExperienceBody) or not record.targets("parent"):
        return []
    told = [words_of(one) for one in body.symbolic if said is None or one.object.lower() in said.lower()]
    return [Drawn(record.id, text, body.provenance.method) for text in dict.fromkeys(told)]


def _stance_of(session: Session, answer: Record) -> tuple[str, str] | None:
    """Return the stance that an answer states: one of its question, not younger than it, with what it cites as ground.

    An answer says its claim word for word, unless tone or date have touched it: then none is named.
    """
    for link in answer.targets("evidence"):
        for at, _, role in session.views.catalog.children(link.index):
            if role != "parent":
                continue
            for stance, id, way in session.views.catalog.children(at):
                record = _read(session, stance) if way == "support" and stance <= answer.index else None
                decided = record.body.decision if record and isinstance(record.body, StanceBody) else None
                if decided is not None and decided.claim and _says(answer.text, decided.claim):
                    return id, decided.claim
    return None


def _says(text: str, claim: str) -> bool:
    return claim in text or addressed(claim).lower() in text.lower()


def _read(session: Session, at: int) -> Record | None:
    try:
        return session.reader.at(at)
    except (ErasedError, ForgottenError):
        return None
