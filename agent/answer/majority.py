"""Self-consistency (Wang et al., 2023): several answers, each from another part of the evidence; the one most agree on.

It costs as many compositions as there are samples, and changes an answer only where the evidence is not of one mind;
what that is worth is for measuring. Pure, but for the composer that it asks.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

import msgspec

from braid.agent.cite import bare
from braid.agent.composer import Composed, Composer, QuestionContext
from braid.recall.hits import Hit
from braid.text.words import words

UNKNOWN_VOTE: Final = "unknown"
_KEY_CHARS: Final = 120


class Majority:
    """Composes with another composer, several times. `votes`: of the last question, how many said what."""

    version = "1"

    def __init__(self, inner: Composer, samples: int) -> None:
        """`samples` is odd or even, at least 1; the first is the inner composer's own answer."""
        if samples < 1:
            raise ValueError(f"a majority is of at least one answer, not {samples}")
        self.name = f"majority:{samples}:{inner.name}"
        self._inner = inner
        self._samples = samples
        self.votes: dict[str, int] = {}

    def compose(self, asked: QuestionContext) -> Composed:
        """Return the answer that most samples gave, as its first giver put it; of a tie, the earliest."""
        given = [self._inner.compose(one) for one in _samples(asked, self._samples)]
        keys = [_key(one) for one in given]
        counts = Counter(keys)
        self.votes = dict(counts.most_common())
        best = max(counts, key=lambda key: (counts[key], -keys.index(key)))
        chosen = given[keys.index(best)]
        share = counts[best] / len(given)
        return msgspec.structs.replace(
            chosen,
            p=chosen.p * share if not chosen.abstained else chosen.p,
            tokens=(sum(one.tokens[0] for one in given), sum(one.tokens[1] for one in given)),
        )


def _samples(asked: QuestionContext, count: int) -> list[QuestionContext]:
    """Return the question with all its evidence, then each time without another of the best hits."""
    return [asked] + [
        msgspec.structs.replace(asked, hits=_without(asked.hits, at)) for at in range(count - 1)
    ]


def _without(hits: Sequence[Hit], at: int) -> Sequence[Hit]:
    return hits if len(hits) < 2 else [hit for place, hit in enumerate(hits) if place != at % len(hits)]


def _key(composed: Composed) -> str:
    """Return what makes two answers one: the words of their shortest form."""
    if composed.abstained:
        return UNKNOWN_VOTE
    return " ".join(words(composed.short or bare(composed.text)))[:_KEY_CHARS]
