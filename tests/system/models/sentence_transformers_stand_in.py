"""What of sentence-transformers 6.2 the embedder touches, with its true signatures, for where torch is not installed.

Texts become the packaged model's vectors, twice as long as they should be: the library promises no unit length.
A text without a token is zeros, and half of a surrogate pair is refused, as by the library.
"""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from braid.models.static import StaticEmbedder


class SentenceTransformer:
    """`sentence_transformers.SentenceTransformer`."""

    def __init__(
        self,
        model_name_or_path: str | None = None,
        *,
        device: str | None = None,
        cache_folder: str | None = None,
        local_files_only: bool = False,
    ) -> None:
        assert device == "cpu"
        assert local_files_only, "nothing may be fetched from the network"
        if not Path(str(model_name_or_path)).is_dir():
            raise OSError(f"{model_name_or_path} is not a local folder and can't be found in the cache")
        self._model = StaticEmbedder(Path(str(model_name_or_path)))

    def get_embedding_dimension(self) -> int | None:
        return self._model.dimensions

    def get_sentence_embedding_dimension(self) -> int | None:
        warnings.warn("renamed to `get_embedding_dimension`", FutureWarning, stacklevel=2)
        return self.get_embedding_dimension()

    def encode(  # noqa: PLR0917 - theirs
        self,
        inputs: Sequence[str] | str,
        prompt_name: str | None = None,
        prompt: str | None = None,
        batch_size: int = 32,
        show_progress_bar: bool | None = None,
        output_value: str | None = "sentence_embedding",
        precision: str = "float32",
        convert_to_numpy: bool = True,
    ) -> Any:
        assert not isinstance(inputs, str)
        assert convert_to_numpy
        assert batch_size > 0
        if not inputs:
            return np.asarray([])
        if any("\ud800" <= char <= "\udfff" for text in inputs for char in text):
            raise TypeError(
                "TextEncodeInput must be Union[TextInputSequence, Tuple[InputSequence, InputSequence]]"
            )
        found = 2 * self._model.embed(list(inputs))
        found[[not text for text in inputs]] = 0.0
        return found
