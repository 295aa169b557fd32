"""The gate before a composer's model."""

from typing import TYPE_CHECKING

from braid.providers.gate import Gate
from braid.providers.policy import require_allowed
from braid.session import Session
from braid.text.chat import ChatModel

if TYPE_CHECKING:
    from braid.agent.parts import Composer


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
