"""Any model of sentence-transformers, where that library (and torch) is installed."""

from collections.abc import Sequence
from importlib import import_module
from threading import Lock
from typing import Any

import numpy as np

from braid.models.static import readable
from braid.views.embedder import EmbeddingError, Vectors, checked


class SentenceTransformersEmbedder:
    """A model that sentence-transformers loads, from a folder or from what it has fetched before."""

    remote = False

    def __init__(self, model: str, *, version: str = "1", device: str = "cpu", batch: int = 32) -> None:
        """Raises EmbeddingError where the library or the model is missing; nothing is fetched from the network."""
        try:
            load: Any = import_module("sentence_transformers").SentenceTransformer
        except ImportError as error:
            raise EmbeddingError(
                "sentence-transformers is not installed: `pip install sentence-transformers`"
            ) from error
        try:
            self._model: Any = load(model, device=device, local_files_only=True)
        except (
            OSError,
            ValueError,
            RuntimeError,
        ) as error:  # torch refuses weights of some kinds by RuntimeError
            raise EmbeddingError(f"{model}: sentence-transformers can't load it ({error})") from error
        self.name = model.rstrip("/").rpartition("/")[2]
        self.version = version
        self.dimensions = self._length()
        self._batch = batch
        self._turn = Lock()

    def _length(self) -> int:
        """Return how long its vectors are. The method's name changed in 6.0; some models don't say."""
        ask = (
            getattr(self._model, "get_embedding_dimension", None)
            or self._model.get_sentence_embedding_dimension
        )
        given = ask()
        if not isinstance(given, int):
            raise EmbeddingError(f"{self.name}: it doesn't say how long its vectors are")
        return given

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return float32[n, dimensions]; raise EmbeddingError.

        A text of which the model knows no token gets the one direction that stands for none: it mustn't keep the rest.
        """
        if not texts:  # it gives an array of one dimension for none
            return np.empty((0, self.dimensions), dtype=np.float32)
        with self._turn:
            try:
                found = self._model.encode(
                    [readable(text) for text in texts],
                    batch_size=self._batch,
                    convert_to_numpy=True,
                    show_progress_bar=False,
                )
            except RuntimeError as error:  # as when memory is short
                raise EmbeddingError(f"{self.name}: sentence-transformers failed ({error})") from error
        found = np.array(found)
        found[~found.any(axis=1)] = 1.0
        return checked(found, len(texts), self.dimensions, self.name)
