"""Any endpoint that speaks OpenAI's `/v1/embeddings`: theirs, vLLM, LM Studio, llama.cpp, …"""

from collections.abc import Callable, Sequence
from time import sleep as _sleep
from typing import Any

import numpy as np

from braid.models.remote import Endpoint
from braid.views.embedder import EmbeddingError, Vectors, checked


class OpenaiEmbedder:
    """A model behind an OpenAI-compatible endpoint."""

    remote = True

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
