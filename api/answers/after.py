"""The answer that a question follows, read from its record: what was asked, what it cites, how sure it was."""

from collections.abc import Iterator, Sequence
from typing import Any, cast

from braid.agent.answer.reflection import METHOD as REFLECT
from braid.agent.composer import EarlierAnswer, Support
from braid.answers.mind import StoreMind, support_of
from braid.ledger.errors import ErasedError, ForgottenError, UnknownRecordError
from braid.ledger.record.record import ANSWER, ASK, ExperienceBody, Record, Scope
from braid.ledger.record.scope import in_scope
from braid.session import Session


def earlier_answer(session: Session, id: str, scope: Scope | None, mind: StoreMind) -> EarlierAnswer:
    """Return the answer of a record, as of the past that `mind` answers in, of what it may tell.

    Raises ValueError for a record that is no answer, or lies outside the scope asked in; UnknownRecordError,
    ErasedError, ForgottenError where there is none that can be read.
    """
    record = session.reader.get(id)
    if mind.size is not None and record.index >= mind.size:
        raise UnknownRecordError(f"{id} was not there yet")
    body = record.body
    told: Any = body.content.structured.get("answer") if isinstance(body, ExperienceBody) else None
    if not isinstance(body, ExperienceBody) or body.provenance.method != ANSWER or not isinstance(told, dict):
        raise ValueError(f"{id} is no answer: name one that ask wrote, its answer_id")
    if not _within(body.scope or Scope(), scope or Scope()):
        raise ValueError(f"{id} is an answer of another scope: ask within the scope that it was asked in")
    given = cast("dict[str, Any]", told)
    cited = [link.index for link in record.targets("evidence")]
    return EarlierAnswer(
        question=_question(session, record),
        citations=list(_told(session, mind, cited)),
        p=float(given.get("p", 0.0)),
        abstained=bool(given.get("abstained")),
        put_right=list(_told(session, mind, list(_put_right(session, cited)))),
    )


def _within(made: Scope, asked: Scope) -> bool:
    """Whether an answer of one scope may be followed in another: where that names a member, both have the same."""
    return in_scope(made, asked)


def _question(session: Session, answer: Record) -> str:
    """Return what was asked, by the reflection above the answer; empty where that can't be read any more."""
    for at, role in session.reader.backlinks.of(answer.index):
        reflection = _read(session, at) if role == "parent" else None
        body = reflection.body if reflection is not None else None
        if reflection is None or not isinstance(body, ExperienceBody) or body.provenance.method != REFLECT:
            continue
        for link in reflection.targets("evidence"):
            asked = _read(session, link.index)
            if (
                asked is not None
                and isinstance(asked.body, ExperienceBody)
                and asked.body.provenance.method == ASK
            ):
                return asked.text
    return ""


def _put_right(session: Session, cited: Sequence[int]) -> Iterator[int]:
    standings = session.reader.standings()
    for at in cited:
        standing = standings.of(at)
        if standing.state == "replaced" and standing.by is not None:
            yield standing.by


def _told(session: Session, mind: StoreMind, indexes: Sequence[int]) -> Iterator[Support]:
    for at in dict.fromkeys(indexes):
        if (record := _read(session, at)) is not None and mind.may_repeat(record):
            yield support_of(record, source=session.reader.source_classes.note(record))


def _read(session: Session, at: int) -> Record | None:
    try:
        return session.reader.at(at)
    except (ErasedError, ForgottenError):
        return None
