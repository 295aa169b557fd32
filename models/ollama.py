"""A model that Ollama serves, through its `/api/embed`."""

from collections.abc import Callable, Sequence
from time import sleep as _sleep
from typing import Any, cast

import numpy as np

from braid.models.remote import Endpoint
from braid.views.embedder import EmbeddingError, Vectors, checked


class OllamaEmbedder:
    """A model on an Ollama server. Remote, though the server may be on this machine: it may be away at a replay."""

    remote = True

    def __init__(
        self,
        model: str,
        dimensions: int,
        *,
        url: str = "http://127.0.0.1:11434",
        version: str = "1",
        batch: int = 64,
        timeout_s: float = 60.0,
        tries: int = 3,
        sleep: Callable[[float], None] = _sleep,
    ) -> None:
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
