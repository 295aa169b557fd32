"""The embedder that comes with Braid: a static model, 29,525 tokens × 256 dimensions in 8 MB, run by model2vec.

No network, no torch: token vectors are looked up and averaged, some ten thousand short texts a second on one core.
`tools/lab/distill.py` makes its files anew; their README names origins and licences.
"""

import logging
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any, Final

import numpy as np

from braid.views.embedder import EmbeddingError, Vectors, checked

FOLDER: Final = Path(__file__).parent / "data" / "static-minilm-256-int8"
NAME: Final = "static-minilm-256-int8"
VERSION: Final = "1"
DIMENSIONS: Final = 256
_ROWS: Final = 1024


class StaticEmbedder:
    """The packaged model, read from disk when it is first asked. Safe to share between threads."""

    name = NAME
    version = VERSION
    dimensions = DIMENSIONS
    remote = False

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder
        self._turn = Lock()
        self._model: Any = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return float32[n, 256]; a text without a known token gets the one direction that stands for none."""
        model = self._loaded()
        found = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
        for at in range(0, len(texts), _ROWS):  # model2vec starts processes for many texts unless told not to
            some = [readable(text) for text in texts[at : at + _ROWS]]
            found[at : at + _ROWS] = model.encode(some, use_multiprocessing=False, batch_size=_ROWS)
        found[~found.any(axis=1)] = 1.0
        return checked(found, len(texts), DIMENSIONS, self.name)

    def _loaded(self) -> Any:
        with self._turn:
            if self._model is None:
                self._model = _load(self._folder)
            return self._model


def _load(folder: Path) -> Any:
    from model2vec import StaticModel

    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
    try:
        model = StaticModel.from_pretrained(folder, force_download=False)
    except Exception as error:
        raise EmbeddingError(
            f"{NAME}: its files in {folder} can't be read ({error}); reinstall braid-store"
        ) from error
    if model.dim != DIMENSIONS:
        raise EmbeddingError(f"{NAME}: the files in {folder} hold another model ({model.dim} dimensions)")
    return model


def readable(text: str) -> str:
    """Return text as the tokenizer takes it: halves of surrogate pairs are no text."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
