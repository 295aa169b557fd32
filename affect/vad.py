"""A text's tone: valence, arousal and dominance, a word for it, how strong, how sure, and by what signs. Pure.

    read(["I love it!"], vectors)[0].vad

Vectors are those of the packaged embedder (`affect.model.EMBEDDER`); without them the words and marks speak alone.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from braid.affect import emotions
from braid.affect.confidence import STRANGE, Votes, band, calibrated, columns, ruled, votes
from braid.affect.cues import Cues, read_cues
from braid.affect.features import features
from braid.affect.model import MIDDLE, Floats, model
from braid.ledger.record.record import Affect, AffectBody, Scope, Vad


class ToneReading(msgspec.Struct, frozen=True):
    """What a text's tone is taken to be. Low confidence gates nothing: whoever uses it may weigh by it."""

    vad: Vad
    emotion: str
    """neutral, joy, calm, surprise, anger, frustration, fear or sadness."""
    intensity: float
    """In [0, 1]: the distance from neutral."""
    confidence: float
    """In [0, 1]: see `affect.confidence`."""
    notes: str
    signals: dict[str, Any]

    def affect(self) -> Affect:
        """Return it as an experience carries it."""
        return Affect(
            vad=self.vad, labels=[self.emotion], intensity=self.intensity, confidence=self.confidence
        )

    def body(
        self, actor: str, stage: str, *, scope: Scope | None = None, once: str | None = None
    ) -> AffectBody:
        """Return it as a snapshot of its own."""
        return AffectBody(
            actor=actor, stage=stage, valence=self.vad.v, arousal=self.vad.a, dominance=self.vad.d,
            primary_emotion=self.emotion, intensity=self.intensity, confidence=self.confidence, notes=self.notes,
            signals=self.signals, scope=scope, once=once,
        )  # fmt: skip


def read(texts: Sequence[str], vectors: Floats | None = None) -> list[ToneReading]:
    """Return the tone of each text, in order; `vectors` is float[n, 256], one a text, or None."""
    if not texts:
        return []
    found = [read_cues(text) for text in texts]
    rows = np.array([features(cues) for cues in found], dtype=np.float64)
    rated = model().rate([cues.text for cues in found], rows, vectors)
    share = np.array([_known(cues, float(own)) for cues, own in zip(found, rated.known, strict=True)])
    vads = MIDDLE + (rated.vad - MIDDLE) * np.minimum(1.0, share / STRANGE)[:, None]
    voted = [votes(float(vad[0]), cues) for vad, cues in zip(vads, found, strict=True)]
    sure = calibrated(columns(vads, rated.spread, share, voted, found), model().confidence)
    return [
        _reading(vad, cues, each, float(p), float(known))
        for vad, cues, each, p, known in zip(vads, found, voted, sure, share, strict=True)
    ]


def _known(cues: Cues, share: float) -> float:
    """Return how much of a text is in words that the model knows: all of one that is marks and emoji alone."""
    wordless = not cues.words and not any(map(str.isalpha, cues.text))
    return float(bool(cues.text.strip())) if wordless else share


def _reading(vad: Floats, cues: Cues, voted: Votes, sure: float, known: float) -> ToneReading:
    tone = clamped(float(vad[0]), float(vad[1]), float(vad[2]))
    confidence = round(ruled(sure, voted, cues, known), 4)
    signals = cues.signals() | {"agreeing": list(voted.agreeing), "opposed": list(voted.opposed)}
    return ToneReading(
        vad=tone,
        emotion=emotions.emotion(tone, emotions.named(cues.text)),
        intensity=round(emotions.intensity(tone), 4),
        confidence=confidence,
        notes=_notes(confidence, cues, voted, known),
        signals={name: value for name, value in signals.items() if value},
    )


def clamped(v: float, a: float, d: float) -> Vad:
    """Return a tone within the record's ranges, to four places."""
    return Vad(
        v=round(min(1.0, max(-1.0, v)), 4),
        a=round(min(1.0, max(0.0, a)), 4),
        d=round(min(1.0, max(-1.0, d)), 4),
    )


def _notes(confidence: float, cues: Cues, voted: Votes, known: float) -> str:
    """Say in words why the reading is as sure as it is."""
    if not cues.text.strip():
        return "low confidence: there is nothing to read"
    said = [f"{band(confidence)} confidence: {', '.join(voted.agreeing)} agree"]
    if len(voted.agreeing) == 1:
        said = [f"{band(confidence)} confidence: no second signal speaks for it"]
    if voted.opposed:
        said.append(f"{', '.join(voted.opposed)} against")
    if cues.sarcasm:
        said.append(f"may be sarcasm ({', '.join(cues.sarcasm)})")
    if cues.venting:
        said.append(f"venting ({', '.join(cues.venting)})")
    if known < STRANGE:
        said.append("few of its words are known: perhaps another language")
    return "; ".join(said)
