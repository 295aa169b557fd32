"""How to say it: warmth, pace, hedging and urgency from a tone. Pure; what is said is none of its business."""

from typing import Final

import msgspec

from braid.ledger.record.record import Vad

URGENT: Final = 0.6
"""From which arousal on a text is urgent."""
LEAST_WORDS: Final = 4.0


class Base(msgspec.Struct, frozen=True):
    """The manner of speaking that a tone moves away from."""

    sentence_words: float = 18.0
    hedge_rate: float = 0.2
    """Hedges a sentence, in [0, 1]."""
    imperative_rate: float = 0.1


class Style(msgspec.Struct, frozen=True):
    """A manner of speaking."""

    warmth: float
    """In [0, 1]; 0.5 is neither warm nor cold."""
    sentence_words: float
    """The mean number of words a sentence to aim at, at least 4."""
    urgent: bool
    hedge_rate: float
    """Hedges a sentence, in [0, 1]."""
    imperative_rate: float
    """Sentences that tell somebody to do something, in [0, 1]."""

    def words(self) -> str:
        """Return it as an instruction to a writer."""
        warmth = "warm" if self.warmth >= 0.6 else "cool" if self.warmth <= 0.4 else "even"
        hedging = (
            "often" if self.hedge_rate >= 0.35 else "seldom" if self.hedge_rate <= 0.1 else "now and then"
        )
        pace = "urgent, to the point" if self.urgent else "unhurried"
        return f"tone {warmth}; {pace}; about {self.sentence_words:.0f} words a sentence; hedge {hedging}"


def style(vad: Vad, base: Base | None = None) -> Style:
    """Return the manner that fits a tone: warmth 0.5 + 0.5·V, sentences base - 6·A, hedges base - 0.4·D, in range."""
    base = base or Base()
    return Style(
        warmth=_within(0.5 + 0.5 * vad.v, 1.0),
        sentence_words=max(LEAST_WORDS, base.sentence_words - 6.0 * vad.a),
        urgent=vad.a >= URGENT,
        hedge_rate=_within(base.hedge_rate - 0.4 * vad.d, 1.0),
        imperative_rate=_within(base.imperative_rate + 0.4 * vad.d, 1.0),
    )


def _within(value: float, most: float) -> float:
    return min(most, max(0.0, value))
