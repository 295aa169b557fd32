"""A model of natural language inference of your own, run by onnxruntime, the extra `onnx`: any graph with three logits.

None is packaged. A cross-encoder that was exported from its makers' weights (`model.onnx`, `tokenizer.json`) will do.
"""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any, Final, Literal

import numpy as np

from braid.learn.gates.entailment import Judgement
from braid.models.onnx_runtime import onnx_session, onnxruntime

Label = Literal["entailment", "neutral", "contradiction"]
MAX_TOKENS: Final = 256
"""More of a premise is left out."""
_BATCH: Final = 16
_KNOWN_INPUTS: Final = ("input_ids", "attention_mask", "token_type_ids")


class NliError(Exception):
    """The model can't be had, or gives no three figures a pair."""


class OnnxNli:
    """Judges whether a premise entails a hypothesis. Loaded when it is first asked; safe to share between threads."""

    remote = False

    def __init__(
        self,
        weights: Path,
        tokenizer: Path,
        labels: tuple[Label, Label, Label] = ("contradiction", "entailment", "neutral"),
        threads: int = 1,
    ) -> None:
        """`labels`: what the three logits are of, in their order. Raises ValueError where one of them is lacking."""
        if sorted(labels) != ["contradiction", "entailment", "neutral"]:
            raise ValueError(f"labels are {labels}: entailment, neutral and contradiction, each once")
        self._weights = weights
        self._tokenizer = tokenizer
        self._order = [labels.index(label) for label in ("entailment", "neutral", "contradiction")]
        self._threads = threads
        self._turn = Lock()
        self._loaded: tuple[Any, Any] | None = None
        self._name: str | None = None

    @property
    def name(self) -> str:
        """The file's name and the beginning of its hash: other weights are another model."""
        if self._name is None:
            self._name = f"{self._weights.stem}-{sha256(self._weights.read_bytes()).hexdigest()[:12]}"
        return self._name

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[Judgement]:
        """Return what each premise says of its hypothesis; raise NliError where the extra isn't installed."""
        with self._turn:
            if self._loaded is None:
                self._loaded = self._load()
            found: list[Judgement] = []
            for at in range(0, len(pairs), _BATCH):
                found += self._run(*self._loaded, list(pairs[at : at + _BATCH]))
        return found

    def _load(self) -> tuple[Any, Any]:
        try:
            onnxruntime()
        except ImportError as error:
            raise NliError(f"{error.name} is not installed: `pip install 'braid-store[onnx]'`") from error
        from tokenizers import Tokenizer

        session = onnx_session(self._weights.read_bytes(), self._threads)
        tokenizer: Any = Tokenizer.from_file(str(self._tokenizer))
        tokenizer.enable_truncation(MAX_TOKENS, strategy="only_first")
        tokenizer.enable_padding()
        return tokenizer, session

    def _run(self, tokenizer: Any, session: Any, pairs: list[tuple[str, str]]) -> list[Judgement]:
        encoded = tokenizer.encode_batch(pairs)
        arrays = {
            "input_ids": [one.ids for one in encoded],
            "attention_mask": [one.attention_mask for one in encoded],
            "token_type_ids": [one.type_ids for one in encoded],
        }
        wanted = {one.name for one in session.get_inputs()}
        given = {name: np.array(arrays[name], dtype=np.int64) for name in _KNOWN_INPUTS if name in wanted}
        logits = np.asarray(session.run(None, given)[0], dtype=np.float64)
        if logits.shape != (len(pairs), len(self._order)) or not np.isfinite(logits).all():
            raise NliError(
                f"{self.name} gives figures of shape {logits.shape} for {len(pairs)} pairs, not three each"
            )
        raised = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares = (raised / raised.sum(axis=1, keepdims=True))[:, self._order]
        return [Judgement(*map(float, row)) for row in shares]
