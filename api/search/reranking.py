"""The cross-encoder of a session, as recall and answers ask it: in the caller's own thread, within a time limit.

Whatever it fails by costs no answer: the order, or the choice, is then what it was without it, and `degraded` says why.
"""

from collections.abc import Callable, Sequence
from math import isfinite
from time import monotonic
from typing import Final

import numpy as np

from braid.recall.pool import Floats
from braid.session import Session
from braid.text.rerank import AnswerScores, Reranker, RerankError

AT_ONCE: Final = 12
"""So many texts are given to the model before the clock is looked at: it may read them side by side."""


def answers_of(
    session: Session, trouble: list[str], limit_s: float, refuse: Callable[[Reranker], None] | None = None
) -> AnswerScores | None:
    """Return how surely turns answer; None where no cross-encoder is installed, or where `refuse` raises.

    What fails is named in `trouble`. `limit_s`: seconds for all turns that are read for one question, from the first.
    """
    begun: list[float] = []
    try:
        model = session.reranker()
        if model is None:
            return None
        if refuse is not None:
            refuse(model)
    except Exception as error:
        _give_up(trouble, error)
        return None

    def answers(question: str, texts: Sequence[str]) -> Floats | None:
        # Called in this thread, a few at a time: a library of C++ in a thread of ours would outlive the program.
        if not begun:
            begun.append(monotonic())
        until, found = begun[0] + limit_s, list[float]()
        try:
            for first in range(0, len(texts), AT_ONCE):
                some = texts[first : first + AT_ONCE]
                scores = [float(score) for score in model.scores(question, some)]
                if len(scores) != len(some) or not all(map(isfinite, scores)):
                    raise RerankError(f"{model.name} gave no number for each text")
                found += scores
                if monotonic() > until:
                    raise TimeoutError(f"it took longer than {limit_s:g} s")
        except Exception as error:
            _give_up(trouble, error)
            return None
        return np.array(found)

    return answers


def _give_up(trouble: list[str], error: Exception) -> None:
    """Name what the cross-encoder failed by; of what isn't its own only the class: a message may quote."""
    trouble.append(
        f"cross-encoder: {error if isinstance(error, RerankError | TimeoutError) else type(error).__name__}"
    )
