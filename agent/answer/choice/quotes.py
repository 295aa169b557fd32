"""What of each of the best hits answers, and what speaks for it: who said it, its kind, how much it speaks of. Pure."""

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from braid.agent.answer.change.wording import of_another
from braid.agent.answer.turn.spans import AnswerSpan, best_span
from braid.agent.answer.turn.turn import named_speakers, text_of, when_of
from braid.recall.decompose import Question
from braid.recall.hits import Hit, is_soon_after, speaker
from braid.text.words import stems

LOOKED_AT: Final = 8
"""Among how many of the best hits the answering sentence is looked for."""
OWN: Final = 1.0
"""What it adds to a hit's score that the one whom the question names said it, once there is thought to be an answer."""
WANTED: Final = 2.0
"""What it adds that it says what kind of thing was asked for: a date, a number, a name."""
SPOKEN: Final = 2.0
"""What it adds that it speaks of all of the question, with what it replies to."""
ANOTHER: Final = 6.0
"""What it takes away that it speaks of somebody else's."""
REPLIES: Final = 2
"""How many turns further on a question is still replied to."""
PAST: Final = re.compile(
    r"\b(?:did|was|were|had|used to|ever|first|originally|before|ago|until|last)\b", re.IGNORECASE
)
"""What asks of the past."""


class QuoteChoice(msgspec.Struct, frozen=True):
    """A hit, what of it answers, and what speaks for it."""

    hit: Hit
    span: AnswerSpan
    worth: float
    spoken: frozenset[str]
    """The question's stems that it has, with what it replies to."""

    def has_all(self, question: Question) -> bool:
        """Whether it speaks of all that the question does."""
        return self.spoken >= frozenset(question.stems)


def choices(question: Question, hits: Sequence[Hit]) -> list[QuoteChoice]:
    """Return what of each of the best hits answers, in their order; those that state nothing are left out."""
    named = named_speakers(question, hits)
    found: list[QuoteChoice] = []
    for hit in hits[:LOOKED_AT]:
        span = best_span(question, hit.text, when_of(hit))
        if span is None or not span.short:
            continue
        before = (stems(text_of(one)) for one in hits if _asks_for(one, hit))
        spoken = stems(text_of(hit)).union(*before)
        has = frozenset(question.stems) & spoken
        worth = hit.score + OWN * (len(named) == 1 and speaker(hit) in named) + WANTED * span.wanted
        worth += SPOKEN * len(has) / max(len(question.stems), 1)
        worth -= ANOTHER * of_another(question, speaker(hit), span.sentence)
        found.append(QuoteChoice(hit, span, worth, has))
    return found


def _asks_for(one: Hit, hit: Hit) -> bool:
    """Whether a hit is a question right before another, which may be its reply."""
    return is_soon_after(hit, one, REPLIES) and "?" in one.text
