"""Programs of before that a question resembles: found by recall among the questions that programs have answered.

Only those count that ended in an answer which says something, is still there, and was not corrected.
"""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from braid import recalling
from braid.agent.errors import BrokenProgramError, ProgramStateError
from braid.agent.events import Ended
from braid.agent.planner import Exemplar
from braid.ledger.errors import ErasedError, ForgottenError
from braid.ledger.record import ExperienceBody, Record, Scope
from braid.programs import OF, recorded, state_of
from braid.recalling import ASK
from braid.session import Session

MOST: Final = 3
LOOKED_AT: Final = 20
_ASKED: Final = {"method": {"eq": ASK}}


def exemplars(store: Session, question: str, scope: Scope | None, most: int = MOST) -> list[Exemplar]:
    """Return the best exemplars for a question, the likest first."""
    within = msgspec.structs.asdict(scope) if scope is not None else {}
    asked: dict[str, Any] = {"top_k": LOOKED_AT, "filters": _ASKED, **within}
    found: list[Exemplar] = []
    for hit in recalling.answer(store, question, **asked).results:
        if len(found) == most:
            break
        found += _answered(store, hit.record)
    return found[:most]


def _answered(store: Session, question: Record) -> Iterator[Exemplar]:
    """Yield the program that a question was asked of, where it ended well."""
    for child, id, role in store.views.catalog.children(question.index):
        if role != "evidence" or not id.startswith("evt_"):
            continue
        try:
            record = store.reader.at(child)
            if not record.targets(OF) or not isinstance(recorded(record).event, Ended):
                continue
            state = state_of(store, record.targets(OF)[0].id)
            if state.answer is not None and _stands(store, store.reader.get(state.answer)):
                yield Exemplar(state.id, state.begun.question, state.plan)
        except (ErasedError, ForgottenError, BrokenProgramError, ProgramStateError):
            continue


def _stands(store: Session, answer: Record) -> bool:
    """Whether an answer says something and nothing stands in its place."""
    body = answer.body
    if not isinstance(body, ExperienceBody) or body.content.structured.get("answer", {}).get("abstained"):
        return False
    return store.reader.standings().lives(answer.index)
