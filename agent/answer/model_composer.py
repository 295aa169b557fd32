"""The composer that asks a language model, checks what it says, and falls back to another composer otherwise."""

from collections.abc import Callable
from typing import Final

import msgspec

from braid.agent.answer.ladder import UNKNOWN
from braid.agent.cite import marks
from braid.agent.composer import Composed, Composer, QuestionContext
from braid.agent.guard.check import Checked, SupportedSentence, check
from braid.agent.guard.prompt import SCHEMA, Prompt, prompt, surely
from braid.text.chat import ChatError, ChatModel, Completion
from braid.text.redact import Redactor

VERSION: Final = "1"
MAX_TOKENS: Final = 700
TIMEOUT_S: Final = 30.0
UNCHECKED: Final = " (unchecked)"
"""Stands behind a sentence that its citations neither bear out nor contradict."""
MAX_SAID_CHARS: Final = 16_000
"""What of a model's words is kept for the log."""
_DETAIL_CHARS: Final = 300


class ModelComposer:
    """A model's answer where it can be borne out, else that of `fallback`, with the reason.

    Secrets are placeholders on the way out and in what is kept of the model's words; the answer has them again.
    """

    version = VERSION

    def __init__(
        self,
        model: ChatModel,
        fallback: Composer,
        *,
        max_tokens: int = MAX_TOKENS,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        if max_tokens < 1 or timeout_s <= 0:
            raise ValueError("a model is given at least one token, and more than 0 s")
        self.name = f"model:{model.name}"
        self._model = model
        self._fallback = fallback
        self._max_tokens = max_tokens
        self._timeout_s = timeout_s

    def through(self, gate: Callable[[ChatModel], ChatModel]) -> "ModelComposer":
        """Return this composer with a gate before its model."""
        return ModelComposer(
            gate(self._model), self._fallback, max_tokens=self._max_tokens, timeout_s=self._timeout_s
        )

    def compose(self, asked: QuestionContext) -> Composed:
        """Return an answer; what a model does never raises."""
        if not (asked.hits or asked.support):
            return self._fallback.compose(asked)
        redactor = Redactor()
        told = prompt(asked, redactor)
        try:
            completion = self._model.complete(
                told.messages, max_tokens=self._max_tokens, timeout_s=self._timeout_s, schema=SCHEMA
            )
        except ChatError as error:
            return self._instead(asked, f"{error.reason}: {error}", None)
        return self._taken(asked, told, completion, redactor)

    def _taken(
        self, asked: QuestionContext, told: Prompt, completion: Completion, redactor: Redactor
    ) -> Composed:
        checked = check(completion, told, asked)
        if checked.reason is not None:
            return self._instead(asked, _told(checked), completion)
        if not checked.known and asked.stance is not None and asked.stance.decision.claim:
            return self._instead(asked, "did not know: though an answer is held", completion)
        text = " ".join(_written(one) for one in checked.kept) if checked.known else UNKNOWN
        return Composed(
            text=redactor.restore(text),
            citations=list(dict.fromkeys(id for one in checked.kept for id in one.citations)),
            p=surely(asked) if checked.known else 0.0,
            abstained=not checked.known,
            reason=None if checked.known else "the model found no answer in what was recalled",
            unsupported=[one.text for one in checked.dropped],
            tokens=(completion.tokens_in, completion.tokens_out),
            model=completion.model,
            said=completion.text[:MAX_SAID_CHARS],
        )

    def _instead(self, asked: QuestionContext, why: str, completion: Completion | None) -> Composed:
        """Return the other composer's answer, with why, and with what the model said, if it said anything."""
        composed = msgspec.structs.replace(
            self._fallback.compose(asked), fallback=why[:_DETAIL_CHARS], model=self._model.name
        )
        if completion is None:
            return composed
        return msgspec.structs.replace(
            composed,
            tokens=(completion.tokens_in, completion.tokens_out),
            model=completion.model,
            said=completion.text[:MAX_SAID_CHARS],
        )


def _written(one: SupportedSentence) -> str:
    """Return a sentence with the ids that it cites, before its full stop; one that nothing bears out is marked."""
    bare = one.text.rstrip(".!? ")
    unchecked = "" if one.checked else UNCHECKED
    return f"{bare}{unchecked}{marks(one.citations)}{one.text[len(bare) :].strip() or '.'}"


def _told(checked: Checked) -> str:
    return f"{checked.reason}: {checked.detail}" if checked.detail else str(checked.reason)
