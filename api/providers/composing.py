"""The gate before a composer's model, and what is kept of what went through it."""

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from braid.ledger.errors import ErasedError, ForgottenError
from braid.ledger.record.record import Record, Scope
from braid.providers import placeholders
from braid.providers.gate import Gate
from braid.providers.policy import require_allowed
from braid.session import Session
from braid.text.chat import ChatModel

if TYPE_CHECKING:
    from braid.agent.composer import Composer


def gated(
    session: Session, composer: "Composer | None", operation: str
) -> "tuple[Composer | None, Gate | None]":
    """Return a composer whose model is asked through a gate, and that gate; one without a model stays as it is.

    Raises RemoteModelError for a model that the settings keep away.
    """
    from braid.agent.answer.model_composer import ModelComposer

    if not isinstance(composer, ModelComposer):
        return composer, None
    gate = Gate(session, operation, "compose")

    def before(model: ChatModel) -> ChatModel:
        require_allowed(session, (model,))
        return gate.before(model, "small")

    return composer.through(before), gate


def keep(session: Session, gate: Gate | None, ids: Iterable[str]) -> None:
    """Keep what a model was shown as placeholders, where one of these records holds it."""
    if gate is None or not (exchanges := gate.taken()):
        return
    records = [one for id in dict.fromkeys(ids) if (one := _living(session, id)) is not None]
    if drafts := placeholders.kept(gate.operation, exchanges, records):
        with suppress(ErasedError, ForgottenError):  # of what was forgotten meanwhile nothing is kept
            session.append_drafts(drafts)


def keep_of_program(
    session: Session, gate: Gate | None, scope: Scope | None, size: int, cited: Iterable[str]
) -> None:
    """Keep what a program's model was shown as placeholders, where what it cites, or appended behind `size`, holds
    it."""
    reader = session.reader
    own = [reader.envelope(at).id for at in range(size, reader.size)]
    told = [id for id in own if (one := _living(session, id)) is not None and one.body.scope == scope]
    keep(session, gate, [*told, *cited])


def _living(session: Session, id: str) -> Record | None:
    """Return a record; None where it was forgotten or erased meanwhile."""
    try:
        return session.reader.at(session.reader.index_of(id))
    except (ErasedError, ForgottenError):
        return None
