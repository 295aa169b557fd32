"""Any endpoint that speaks OpenAI's `/v1/embeddings` or `/v1/chat/completions`: theirs, vLLM, LM Studio, …"""

from collections.abc import Callable, Mapping, Sequence
from time import sleep as _sleep
from typing import Any, ClassVar
from urllib.parse import urlsplit

import numpy as np

from braid.models.chat import ChatEndpoint, counted, finish_of, outgoing
from braid.models.egress import is_near
from braid.models.remote import Endpoint
from braid.text.chat import Capabilities, ChatError, ChatMessage, Completion
from braid.views.embedder import EmbeddingError, Vectors, checked


class OpenaiEmbedder:
    """A model behind an OpenAI-compatible endpoint."""

    remote = True
    provider: ClassVar[str] = "openai"

    def __init__(
        self,
        url: str,
        model: str,
        dimensions: int,
        *,
        key: str | None = None,
        version: str = "1",
        shorten: bool = False,
        batch: int = 128,
        timeout_s: float = 30.0,
        tries: int = 4,
        sleep: Callable[[float], None] = _sleep,
    ) -> None:
        """`url` is the endpoint's root (`https://api.openai.com/v1`); `shorten` asks it for `dimensions` of them."""
        self.host = urlsplit(url).hostname or ""
        self.leaves = not is_near(url)
        self.name = model
        self.version = version
        self.dimensions = dimensions
        self._shorten = shorten
        self._batch = batch
        self._endpoint = Endpoint(
            f"{url.rstrip('/')}/embeddings", key=key, timeout_s=timeout_s, tries=tries, sleep=sleep
        )

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return float32[n, dimensions]; raise EmbeddingError, ModelTimeoutError."""
        found: list[Any] = []
        for at in range(0, len(texts), self._batch):
            found += self._ask(
                [text or " " for text in texts[at : at + self._batch]]
            )  # they refuse empty text
        return checked(found or np.empty((0, self.dimensions)), len(texts), self.dimensions, self.name)

    def _ask(self, texts: list[str]) -> list[Any]:
        message: dict[str, Any] = {"model": self.name, "input": texts, "encoding_format": "float"}
        if self._shorten:
            message["dimensions"] = self.dimensions
        answer = self._endpoint.post(message)
        try:
            placed = {int(one["index"]): one["embedding"] for one in answer["data"]}
            return [placed[place] for place in range(len(texts))]
        except (KeyError, TypeError, ValueError):
            raise EmbeddingError(
                f"{self._endpoint.url}: its answer holds no embedding for each of {len(texts)} texts; "
                "is it an OpenAI-compatible endpoint?"
            ) from None


class OpenaiChat:
    """A language model behind an OpenAI-compatible endpoint."""

    provider: ClassVar[str] = "openai"
    capabilities: ClassVar[Capabilities] = Capabilities(structured="schema")

    def __init__(
        self,
        url: str,
        model: str,
        *,
        key: str | None = None,
        allow_remote: bool = False,
        tries: int = 2,
        sleep: Callable[[float], None] = _sleep,
    ) -> None:
        """`url` is the endpoint's root (`http://127.0.0.1:8080/v1`). ValueError where it may not be asked (`Talk`)."""
        self.name = model
        self._talk = ChatEndpoint(
            f"{url.rstrip('/')}/chat/completions",
            key=key,
            allow_remote=allow_remote,
            tries=tries,
            sleep=sleep,
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
            "max_tokens": max_tokens,
            "temperature": 0,
            "stream": False,
        }
        if schema is not None:
            held = {"name": "answer", "strict": True, "schema": schema}
            message["response_format"] = {"type": "json_schema", "json_schema": held}
        answer = self._talk.post(message, timeout_s)
        try:
            choice = answer["choices"][0]
            said: dict[str, Any] = choice["message"]
            text = said.get("content") or ""
            if not isinstance(text, str):
                raise TypeError
        except (KeyError, IndexError, TypeError, AttributeError):
            raise ChatError(
                f"{self._talk.url}: its answer holds no message; is it an OpenAI-compatible endpoint?"
            ) from None
        refused = bool(said.get("refusal"))
        return Completion(
            text=str(said["refusal"]) if refused else text,
            tokens_in=counted(answer, "usage", "prompt_tokens"),
            tokens_out=counted(answer, "usage", "completion_tokens"),
            model=str(answer.get("model") or self.name),
            finish="refused" if refused else finish_of(choice.get("finish_reason")),
        )
