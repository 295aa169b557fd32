"""Who tells of what a question asks, sentence by sentence: the one it means, or somebody else. Pure.

"What dog did Ann adopt?" isn't answered by Bob's dog. Who speaks of themselves shows in the sentence: an "I" told, not
a "you", and not a question. What somebody asks about is mostly what they don't know.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from braid.agent.answer.question.presupposition import presumed
from braid.recall.decompose import Question
from braid.text.sentences import sentences
from braid.text.words import stem, stems, words

SIGNALS: Final = ("self_lead", "own_asks", "unheard_own")
MAX_CHARS: Final = 4_000
"""How much of a long text is looked through."""
_SELF: Final = re.compile(r"\b(?:i|my|me|mine|we|our|us|myself)\b", re.IGNORECASE)
_OTHER: Final = re.compile(r"\b(?:you|yours?)\b", re.IGNORECASE)


class AttributedSentence(msgspec.Struct, frozen=True):
    """A sentence: which of the words asked for it has, whether it asks, and whether it tells of its speaker."""

    has: frozenset[str]
    asks: bool
    of_self: bool


def voices(
    question: Question, own: Sequence[str], others: Sequence[str], names: frozenset[str]
) -> dict[str, float]:
    """Return the signals of what was said by the one whom a question means, and by others, in the order of `SIGNALS`.

    How far the best that they tell of themselves is ahead of what others do; how much of the question they ask
    themselves; and 1 where it takes for granted what they don't speak of. Words weigh by how few of the texts have
    them; the speakers' `names` (stems) don't.
    """
    asked = frozenset(question.stems) - names
    heard = [stems(text) for text in (*own, *others)]
    weights = {each: math.log(1 + len(heard) / (0.5 + sum(each in one for one in heard))) for each in asked}
    mine, theirs = ([one for text in texts for one in _told(text, asked)] for texts in (own, others))
    theirs_of_self = _most(theirs, weights, _is_of_self)
    known = set[str]().union(*heard[: len(own)], names)
    found = (
        _most(mine, weights, _is_of_self) - theirs_of_self,
        _most(mine, weights, _asks),
        float(any(stem(word) not in known for word in presumed(question.text))),
    )
    return dict(zip(SIGNALS, found, strict=True))


def _told(text: str, asked: frozenset[str]) -> Iterator[AttributedSentence]:
    for part in sentences(text[:MAX_CHARS]):
        of_self = _SELF.search(part.text) is not None and _OTHER.search(part.text) is None
        has = asked.intersection(stem(word) for word in words(part.text))
        yield AttributedSentence(has, "?" in part.mark, of_self)


def _is_of_self(one: AttributedSentence) -> bool:
    return one.of_self and not one.asks


def _asks(one: AttributedSentence) -> bool:
    return one.asks


def _most(
    told: Sequence[AttributedSentence],
    weights: Mapping[str, float],
    kind: Callable[[AttributedSentence], bool],
) -> float:
    """Return the largest share of the question's weight that a sentence of a kind has, in [0, 1]."""
    whole = math.fsum(weights.values()) or 1.0
    shares = (math.fsum(weights[each] for each in one.has) / whole for one in told if kind(one))
    return max(shares, default=0.0)
