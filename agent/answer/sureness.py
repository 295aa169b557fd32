"""The signals that say how sure it is that memory answers a question, over what was found. Pure."""

from collections.abc import Collection, Sequence

import numpy as np

from braid.agent.answer.confidence import signals
from braid.recall.decompose import Question
from braid.recall.hits import Hit
from braid.recall.salience import unlearned
from braid.recall.uncertainty import answer_of, entropy


def speaking(
    question: Question, found: Sequence[Hit], *, named: Collection[str] | None = None
) -> dict[str, float]:
    """Return the signals that say how sure an answer is; `found`, best first, is not empty. `named` as for `signals`.

    That a record helped before may bring it forward, but makes nothing surer: no answer bears out the next.
    """
    hits = [unlearned(hit) for hit in found]
    answers = [answer_of(question, hit.text) for hit in hits]
    disagreement, _ = entropy(answers, np.array([hit.score for hit in hits]))
    return signals(question, hits, disagreement, named=named)
