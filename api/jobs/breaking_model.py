"""A language model behind a breaker: while that is open nobody waits for a server that is away."""

from collections.abc import Mapping, Sequence
from typing import Any

from braid.text.chat import ChatError, ChatMessage, ChatModel, Completion
from braid.work.breaker import Breaker
from braid.work.errors import BreakerOpenError


class BreakingModel:
    """Implements `ChatModel`. What it answers badly is no failure of the server's."""

    def __init__(self, model: ChatModel, breaker: Breaker, *, is_needed: bool) -> None:
        """`is_needed`: an open breaker is told to the worker; else it is a failure like others: another may answer."""
        self._model = model
        self._breaker = breaker
        self._is_needed = is_needed

    @property
    def name(self) -> str:
        """See `ChatModel.name`."""
        return self._model.name

    @property
    def remote(self) -> bool:
        """See `ChatModel.remote`."""
        return self._model.remote

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int,
        timeout_s: float,
        schema: Mapping[str, Any] | None = None,
    ) -> Completion:
        """See `ChatModel.complete`. Raises BreakerOpenError too, where this model is needed."""
        try:
            with self._breaker.passing():
                return self._model.complete(
                    messages, max_tokens=max_tokens, timeout_s=timeout_s, schema=schema
                )
        except BreakerOpenError as error:
            if self._is_needed:
                raise
            raise ChatError(str(error)) from error
