"""A language model behind a breaker: while that is open nobody waits for a server that is away."""

from collections.abc import Mapping, Sequence
from typing import Any

from braid.text.chat import ChatLeftOutError, ChatMessage, ChatModel, Completion
from braid.work.breaker import Breaker
from braid.work.errors import BreakerOpenError


class BreakingModel:
    """Implements `ChatModel`. What it answers badly is no failure of the server's."""

    def __init__(self, model: ChatModel, breaker: Breaker, *, is_needed: bool) -> None:
        """`is_needed`: an open breaker is told to the worker; else another model's answer is taken."""
        self._model = model
        self._breaker = breaker
        self._is_needed = is_needed

    @property
    def name(self) -> str:
        """The model, as its maker calls it."""
        return self._model.name

    @property
    def remote(self) -> bool:
        """Whether what it is told leaves this machine."""
        return self._model.remote

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int,
        timeout_s: float,
        schema: Mapping[str, Any] | None = None,
    ) -> Completion:
        """Return what the model says within `timeout_s`. Raises ChatError, BreakerOpenError."""
        try:
            with self._breaker.passing():
                return self._model.complete(
                    messages, max_tokens=max_tokens, timeout_s=timeout_s, schema=schema
                )
        except BreakerOpenError as error:
            if self._is_needed:
                raise
            raise ChatLeftOutError(str(error)) from error
