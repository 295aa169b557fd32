"""What a model must do to say which of some texts answers a question. Pure; models implement it."""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt


class RerankError(Exception):
    """The model can't be had, or gave no figure for each text."""


class Reranker(Protocol):
    """A cross-encoder: it reads a question and a text together."""

    @property
    def name(self) -> str:
        """The model and the beginning of its hash: other weights are another model."""
        ...

    def scores(self, question: str, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return float64[n]: the log-odds that each text answers, against that nothing does. Raises RerankError."""
        ...


Reranking = Callable[[], Reranker | None]
"""Returns the model that is installed, None where there is none."""
AnswerScores = Callable[[str, Sequence[str]], npt.NDArray[np.float64] | None]
"""(question, texts) → float64[n] as `Reranker.scores`; None where the model failed or took too long."""
