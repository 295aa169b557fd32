"""The embedder that comes with Braid: a static model, 29,525 tokens × 256 dimensions in 8 MB.

No network, no torch: token vectors are looked up and averaged, some ten thousand short texts a second on one core.
`tools/lab/distill.py` makes its files; their README names origins and licences. The vectors are those of model2vec, bit
for bit (tests/system/models/test_static.py); that package takes a quarter of a second to import.
"""

import json
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
MOST_TOKENS: Final = 512
MOST_CHARS: Final = MOST_TOKENS * 6
"""Of a longer text no more is read: so many tokens of the vocabulary's median length."""
_TENSOR: Final = "embeddings"


class StaticEmbedder:
    """The packaged model, read from disk when it is first asked. Safe to share between threads."""

    name = NAME
    version = VERSION
    dimensions = DIMENSIONS
    remote = False

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder
        self._turn = Lock()
        self._model: _Model | None = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return float32[n, 256]; a text without a known token gets the one direction that stands for none.

        Raises EmbeddingError where the model's files are missing or damaged.
        """
        model = self._loaded()
        found = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
        for at in range(0, len(texts), _ROWS):  # a batch's tokens are in memory at once
            found[at : at + _ROWS] = model.means([readable(text) for text in texts[at : at + _ROWS]])
        found[~found.any(axis=1)] = 1.0
        return checked(found, len(texts), DIMENSIONS, self.name)

    def _loaded(self) -> "_Model":
        with self._turn:
            if self._model is None:
                self._model = _load(self._folder)
            return self._model


class _Model:
    """A vocabulary and a vector for each of its tokens. Safe to share between threads: nothing in it changes."""

    def __init__(self, vectors: Any, tokenizer: Any, unknown: int) -> None:
        """`vectors`: int8[tokens, d]; `unknown`: the token that stands for what isn't in the vocabulary."""
        self._vectors = vectors
        self._tokenizer = tokenizer
        self._unknown = unknown

    def means(self, texts: Sequence[str]) -> Any:
        """Return float32[n, d]: the unit vector of each text's mean; zeros for one without a known token."""
        read = self._tokenizer.encode_batch_fast(
            [text[:MOST_CHARS] for text in texts], add_special_tokens=False
        )
        known = [[token for token in each.ids if token != self._unknown] for each in read]
        found = np.zeros((len(texts), self._vectors.shape[1]), dtype=np.float32)
        alike: dict[int, list[int]] = {}
        for at, tokens in enumerate(known):
            if tokens:
                alike.setdefault(len(tokens), []).append(at)
        for places in alike.values():  # texts of as many tokens are averaged together
            matrix = np.array([known[at] for at in places], dtype=np.int64)
            found[places] = self._vectors[matrix].mean(axis=1)
        return found / (np.linalg.norm(found, axis=1, keepdims=True) + 1e-32)


def _load(folder: Path) -> _Model:
    from tokenizers import Tokenizer

    try:
        vectors = _tensor(folder / "model.safetensors")
        tokenizer: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.enable_truncation(MOST_TOKENS)
        unknown: int | None = tokenizer.token_to_id(tokenizer.model.unk_token)
        size: int = tokenizer.get_vocab_size()
    except Exception as error:  # the tokenizer's errors are plain Exceptions
        raise EmbeddingError(
            f"{NAME}: its files in {folder} can't be read ({error}); reinstall braid-store"
        ) from error
    if vectors.shape != (size, DIMENSIONS) or vectors.dtype != np.int8 or unknown is None:
        raise EmbeddingError(
            f"{NAME}: the files in {folder} hold another model ({vectors.shape[-1]} dimensions)"
        )
    return _Model(vectors, tokenizer, unknown)


def _tensor(path: Path) -> Any:
    """Return the one tensor of vectors in a file of the format safetensors: a length, a header in JSON, the data."""
    data = path.read_bytes()
    begin = 8 + int.from_bytes(data[:8], "little")
    told = json.loads(data[8:begin])[_TENSOR]
    first, end = told["data_offsets"]
    types = {"I8": np.int8, "F16": np.float16, "F32": np.float32, "F64": np.float64}
    return np.frombuffer(data[begin + first : begin + end], dtype=types[told["dtype"]]).reshape(told["shape"])


def readable(text: str) -> str:
    """Return text as the tokenizer takes it: halves of surrogate pairs are no text."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
