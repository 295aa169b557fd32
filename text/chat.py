"""What writes text, as the rooms below the models know it: a protocol, its messages, and how it fails.

Models are built in `tools/` and passed in; nothing here imports one.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Protocol

import msgspec


class ChatMessage(msgspec.Struct, frozen=True):
    """A part of a conversation with a model."""

    role: Literal["system", "user", "assistant"]
    text: str


class Completion(msgspec.Struct, frozen=True):
    """What a model said, how many tokens went in and out by its own count, and why it ended.

    `model` is what the server calls it. `length`: it was cut off; `refused`: it, or a filter before it, would not.
    """

    text: str
    tokens_in: int
    tokens_out: int
    model: str
    finish: Literal["stop", "length", "refused"] = "stop"


class ChatModel(Protocol):
    """Messages in, text out. What it says is never the same twice for sure: it enters the log as a record."""

    @property
    def name(self) -> str:
        """The model, as its maker calls it."""
        ...

    @property
    def remote(self) -> bool:
        """Whether what it is told leaves this machine and the addresses that were named for it."""
        ...

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int,
        timeout_s: float,
        schema: Mapping[str, Any] | None = None,
    ) -> Completion:
        """Return what the model says, as JSON of `schema` where one is given and the server can hold it to it.

        `timeout_s` bounds all of it, repeats and slow bytes too. Raises ChatError, ChatTimeoutError.
        """
        ...


class ChatError(Exception):
    """A model gave no answer, or one that can't be read."""

    reason: ClassVar[str] = "failed"
    """The name under which a fallback is told."""


class ChatLeftOutError(ChatError):
    """A model was not asked: it has failed too often, and another has answered."""

    reason: ClassVar[str] = "left_out"


class ChatTimeoutError(ChatError):
    """A model took longer than it was given."""

    reason: ClassVar[str] = "timed out"
