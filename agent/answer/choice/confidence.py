"""How sure it is that memory speaks of what is asked, by what recall found: a small calibrated model. Pure.

By whether what fits was said by whom the question names. A note of a program is taken only where that is likely; which
record answers, and how sure that is, is the ladder's (`chooser`). The weights are fitted by `tools/lab/fit_known.py`.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

import msgspec
import numpy as np

from braid.agent.answer.choice.attribution import SIGNALS as VOICES
from braid.agent.answer.choice.attribution import voices
from braid.agent.answer.question.presupposition import unheard
from braid.agent.answer.turn.spans import best_span
from braid.agent.answer.turn.turn import named_speakers, text_of, when_of
from braid.recall.decompose import Question
from braid.recall.hits import Hit, speaker
from braid.recall.salience import unlearned
from braid.recall.uncertainty import answer_of, entropy
from braid.text.words import stem, words

WEIGHTS: Final = Path(__file__).parent / "weights.json"
MOST_HITS: Final = 12
MOST_WANTED: Final = 3
"""In how many of the own hits the kind of thing that was asked for is looked for."""
SIGNALS: Final = (
    "mass", "own_top", "own_lead", "own_share", "own_near", "near_lead", "own_cover", "cover_lead", "words_lead",
    "one_named", "all_named", "margin", "disagreement", "unheard", "own_wanted", *VOICES,
)  # fmt: skip


class KnownWeights(msgspec.Struct, frozen=True):
    """Logistic weights by signal, with `bias`. Below `limit` lies what is most probably not known."""

    about: str
    known: dict[str, float]
    limit: float


@cache
def weights() -> KnownWeights:
    """Return the weights of this release."""
    return msgspec.json.decode(WEIGHTS.read_bytes(), type=KnownWeights)


def probability(found: Mapping[str, float], given: Mapping[str, float]) -> float:
    """Return the probability, in [0, 1], of a logistic model with a `bias`."""
    total = given["bias"] + math.fsum(
        weight * found[name] for name, weight in given.items() if name != "bias"
    )
    return 1.0 / (1.0 + math.exp(-max(min(total, 40.0), -40.0)))


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


def signals(
    question: Question,
    hits: Sequence[Hit],
    disagreement: float = 0.0,
    *,
    named: Collection[str] | None = None,
) -> dict[str, float]:
    """Return what speaks for an answer being there, by name, in the order of `SIGNALS`; `hits` is not empty.

    "Own" are the hits said by the one person whom the question names (whoever asks, where it says "I"), where that is
    one of those who speak; "lead" is how far the best of these is ahead of the best of the others. Where it names
    nobody, or everybody, all are own and nothing leads. "Unheard" is 1 where the question takes something for granted
    that none of the hits speaks of; `own_wanted` where one of the best own hits says what kind of thing was asked for.
    `named`: who is meant, where the question shall not say.
    """
    some = sorted(hits[:MOST_HITS], key=lambda hit: -hit.score)
    if named is None:
        named = named_speakers(question, some)
    one = len(named) == 1
    own = [hit for hit in some if speaker(hit) in named] if one else some
    others = [hit for hit in some if speaker(hit) not in named] if one else some
    low = some[-1].score
    # Nearness is told among several; a hit that stands alone is near by what it covers.
    near = "near_words" if len(some) > 1 else "cover"
    found = (
        _mass(own, low) - _mass(others, low),
        float(some[0] in own),
        _best(own, low) - _best(others, low),
        sum(hit in own for hit in some[:5]) / len(some[:5]),
        _signal(own, near),
        _signal(own, near) - _signal(others, near),
        _signal(own, "cover"),
        _signal(own, "cover") - _signal(others, "cover"),
        _signal(own, "words") - _signal(others, "words"),
        float(one),
        float(len(named) > 1),
        some[0].score - some[1].score if len(some) > 1 else 1.0,
        disagreement,
        float(bool(missing(question, some))),
        float(any(_is_wanted(question, hit) for hit in own[:MOST_WANTED])),
    )
    names = frozenset(stem(word) for hit in some for word in words(speaker(hit)))
    heard = voices(question, [text_of(hit) for hit in own], [text_of(hit) for hit in others], names)
    return dict(zip(SIGNALS, (*found, *heard.values()), strict=True))


def _is_wanted(question: Question, hit: Hit) -> bool:
    span = best_span(question, text_of(hit), when_of(hit))
    return span is not None and span.wanted


def missing(question: Question, hits: Sequence[Hit]) -> tuple[str, ...]:
    """Return what the question takes for granted and no hit speaks of, its speakers' names aside."""
    texts = [text_of(hit) for hit in hits]
    return unheard(question.text, texts, {word for hit in hits for word in words(speaker(hit))})


def _mass(hits: Sequence[Hit], low: float) -> float:
    """Return the logarithm of what the scores come to together: they are log-odds of a softmax over candidates."""
    if not hits:
        return low - 1.0
    top = max(hit.score for hit in hits)
    return top + math.log(math.fsum(math.exp(hit.score - top) for hit in hits))


def _best(hits: Sequence[Hit], low: float) -> float:
    return max((hit.score for hit in hits), default=low)


def _signal(hits: Sequence[Hit], name: str) -> float:
    return max((hit.signals.get(name, 0.0) for hit in hits), default=0.0)
