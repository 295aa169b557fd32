"""What writes text, as the rooms below the models know it: a protocol, its messages, and how it fails.

Models are built in `tools/` and passed in; nothing here imports one.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Protocol

import msgspec


class ChatMessage(msgspec.Struct, frozen=True):
    """A part of a conversation with a model. A `system` message is a program's own words, and quotes nobody.

    `replaced`: what stands behind the placeholders in the text; it is never sent.
    """

    role: Literal["system", "user", "assistant"]
    text: str
    replaced: Mapping[str, str] = {}


class Completion(msgspec.Struct, frozen=True):
    """What a model said, how many tokens went in and out by its own count, and why it ended.

    `model` is what the server calls it. `length`: it was cut off; `refused`: it, or a filter before it, would not.
    """

    text: str
    tokens_in: int
    tokens_out: int
    model: str
    finish: Literal["stop", "length", "refused"] = "stop"


class Capabilities(msgspec.Struct, frozen=True, kw_only=True):
    """What a provider can do. `max_tokens`: the most it is asked to write; `timeout_s`: the most it is waited for.

    `structured`: `schema` where the server holds an answer to a schema, `tool` where it is given as a tool's input,
    `asked` where the model is only asked for JSON.
    """

    extract: bool = True
    decide: bool = True
    compose: bool = True
    rerank: bool = False
    max_tokens: int = 4_000
    timeout_s: float = 600.0
    structured: Literal["schema", "tool", "asked"] = "asked"


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


def capabilities_of(model: ChatModel) -> Capabilities:
    """Return what a model declares as its `capabilities`; the usual ones where it declares none."""
    found = getattr(model, "capabilities", None)
    return found if isinstance(found, Capabilities) else Capabilities()


def provider_of(model: ChatModel) -> str:
    """Return whose interface a model has: `openai`, `ollama`, `anthropic`; `own` where it doesn't say."""
    found = getattr(model, "provider", None)
    return found if isinstance(found, str) else "own"


def host_of(model: ChatModel) -> str | None:
    """Return the host that a model is asked at, in small letters; None where it doesn't say."""
    found = getattr(model, "host", None)
    return found.lower() if isinstance(found, str) and found else None


class ChatError(Exception):
    """A model gave no answer, or one that can't be read."""

    reason: ClassVar[str] = "failed"
    """The name under which a fallback is told."""


class ChatNotAskedError(ChatError):
    """A model was not asked: asking it again at once would change nothing."""


class ChatLeftOutError(ChatNotAskedError):
    """A model was not asked: it has failed too often, and another has answered."""

    reason: ClassVar[str] = "left_out"


class ChatRefusedError(ChatNotAskedError):
    """A model was not asked: the store's settings don't allow it."""

    reason: ClassVar[str] = "not_allowed"


class ChatBudgetError(ChatNotAskedError):
    """A model was not asked: what may be spent on its tier in a day is spent."""

    reason: ClassVar[str] = "budget_spent"


class ChatTimeoutError(ChatError):
    """A model took longer than it was given."""

    reason: ClassVar[str] = "timed out"
