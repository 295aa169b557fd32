"""What turns text into vectors, as the rooms below the models know it: a protocol, and a check of what comes out.

Models are built in `tools/` and passed in; nothing here imports one.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]


class Embedder(Protocol):
    """Texts in, unit vectors out; the same texts always give the same vectors."""

    @property
    def name(self) -> str:
        """The model, as its maker calls it."""
        ...

    @property
    def version(self) -> str:
        """What changes when the same text would give another vector."""
        ...

    @property
    def dimensions(self) -> int:
        """The length of every vector."""
        ...

    @property
    def remote(self) -> bool:
        """Whether embedding leaves this machine or process: a replay then never asks it."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return float32[n, d], one unit vector a text, in their order; raise EmbeddingError."""
        ...


class EmbeddingError(Exception):
    """A model gave no vectors, or vectors that can't be used."""


class ModelTimeoutError(EmbeddingError):
    """A model took longer than it was given."""


def embedded(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """Return what a model gives for n texts, float32[n, d], checked; raise EmbeddingError for what goes wrong in it.

    A caller may pass a model of their own: what that raises must end neither a replay nor a question, and what it gives
    must not enter an index unseen.
    """
    try:
        given = embedder.embed(texts)
    except EmbeddingError:
        raise
    except Exception as error:
        raise EmbeddingError(f"{embedder.name}: {type(error).__name__}: {error}") from error
    return checked(given, len(texts), embedder.dimensions, embedder.name)


def checked(vectors: Any, count: int, dimensions: int, model: str) -> Vectors:
    """Return what a model gave as float32[count, dimensions] of unit vectors; raise EmbeddingError for anything else.

    Lengths are made one here, since models round; a vector without a direction is refused.
    """
    try:
        found = np.asarray(vectors, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise EmbeddingError(f"{model}: it gave something that is no list of vectors: {error}") from None
    if found.ndim != 2 or found.shape[0] != count:
        raise EmbeddingError(
            f"{model}: it was asked for {count} vectors and gave an array of shape {found.shape}"
        )
    if found.shape[1] != dimensions:
        raise EmbeddingError(
            f"{model}: its vectors have {found.shape[1]} dimensions, not {dimensions}: it is another model than"
            " was said; name its dimensions, or the right model"
        )
    if not np.isfinite(found).all():
        raise EmbeddingError(f"{model}: it gave vectors with values that are no numbers (NaN or infinite)")
    lengths = np.linalg.norm(found, axis=1, keepdims=True)
    if count and float(lengths.min()) < 1e-9:
        raise EmbeddingError(f"{model}: it gave a vector of zeros, which has no direction")
    unit: Vectors = (found / lengths).astype(np.float32)
    return unit
