"""A model that Ollama serves, through its `/api/embed` or `/api/chat`."""

from collections.abc import Callable, Mapping, Sequence
from time import sleep as _sleep
from typing import Any, ClassVar, Final, cast
from urllib.parse import urlsplit

import numpy as np

from braid.models.chat import ChatEndpoint, counted, finish_of, outgoing
from braid.models.egress import is_near
from braid.models.remote import Endpoint
from braid.text.chat import Capabilities, ChatError, ChatMessage, Completion
from braid.views.embedder import EmbeddingError, Vectors, checked

HERE: Final = "http://127.0.0.1:11434"
"""Where Ollama listens unless it is told otherwise."""


class OllamaEmbedder:
    """A model on an Ollama server. Remote, though the server may be on this machine: it may be away at a replay."""

    remote = True
    provider: ClassVar[str] = "ollama"

    def __init__(
        self,
        model: str,
        dimensions: int,
        *,
        url: str = HERE,
        version: str = "1",
        batch: int = 64,
        timeout_s: float = 60.0,
        tries: int = 3,
        sleep: Callable[[float], None] = _sleep,
    ) -> None:
        self.host = urlsplit(url).hostname or ""
        self.leaves = not is_near(url)
        self.name = model
        self.version = version
        self.dimensions = dimensions
        self._batch = batch
        self._endpoint = Endpoint(
            f"{url.rstrip('/')}/api/embed", timeout_s=timeout_s, tries=tries, sleep=sleep
        )

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return float32[n, dimensions]; raise EmbeddingError, ModelTimeoutError."""
        found: list[Any] = []
        for at in range(0, len(texts), self._batch):
            some = [text or " " for text in texts[at : at + self._batch]]
            answer = self._endpoint.post({"model": self.name, "input": some, "truncate": True})
            given = cast("dict[str, object]", answer).get("embeddings") if isinstance(answer, dict) else None
            vectors: Sequence[Any] = cast("Sequence[Any]", given) if isinstance(given, list) else ()
            if len(vectors) != len(some):
                raise EmbeddingError(
                    f"{self._endpoint.url}: its answer holds no embedding for each of {len(some)} texts"
                )
            found += vectors
        return checked(found or np.empty((0, self.dimensions)), len(texts), self.dimensions, self.name)


class OllamaChat:
    """A language model on an Ollama server."""

    provider: ClassVar[str] = "ollama"
    capabilities: ClassVar[Capabilities] = Capabilities(structured="schema")

    def __init__(
        self,
        model: str,
        *,
        url: str = HERE,
        allow_remote: bool = False,
        tries: int = 2,
        sleep: Callable[[float], None] = _sleep,
    ) -> None:
        """Raise ValueError for an address that may not be asked: see `Talk`."""
        self.name = model
        self._talk = ChatEndpoint(
            f"{url.rstrip('/')}/api/chat", allow_remote=allow_remote, tries=tries, sleep=sleep
        )
        self.remote = self._talk.remote
        self.host = self._talk.host

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int,
        timeout_s: float,
        schema: Mapping[str, Any] | None = None,
    ) -> Completion:
        """Return what the model says; raise ChatError, ChatTimeoutError."""
        message: dict[str, Any] = {
            "model": self.name,
            "messages": outgoing(messages),
            "stream": False,
            "options": {"temperature": 0, "num_predict": max_tokens},
        }
        if schema is not None:
            message["format"] = schema
        answer = self._talk.post(message, timeout_s)
        try:
            text = answer["message"]["content"]
            if not isinstance(text, str):
                raise TypeError
        except (KeyError, TypeError):
            raise ChatError(f"{self._talk.url}: its answer holds no message; is it Ollama?") from None
        return Completion(
            text=text,
            tokens_in=counted(answer, "prompt_eval_count"),
            tokens_out=counted(answer, "eval_count"),
            model=str(answer.get("model") or self.name),
            finish=finish_of(answer.get("done_reason")),
        )
