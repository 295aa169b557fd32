"""From valence, arousal and dominance to a word for it. Pure.

Each emotion has a place in the space (after Russell and Mehrabian, 1977, rounded); the nearest one is named. Words that
name an emotion outright draw it nearer. Arousal spans half of what the others do, so it counts double.
"""

import re
from collections.abc import Collection
from typing import Final

from braid.ledger.record.record import Vad

PLACES: Final = {
    "neutral": Vad(v=0.0, a=0.5, d=0.0),
    "joy": Vad(v=0.6, a=0.65, d=0.25),
    "calm": Vad(v=0.3, a=0.3, d=0.15),
    "surprise": Vad(v=0.2, a=0.8, d=-0.1),
    "anger": Vad(v=-0.55, a=0.75, d=0.25),
    "frustration": Vad(v=-0.4, a=0.6, d=-0.05),
    "fear": Vad(v=-0.5, a=0.75, d=-0.4),
    "sadness": Vad(v=-0.5, a=0.35, d=-0.3),
}
DRAW: Final = 0.4
"""How much nearer a word brings the emotion that it names: raters find sad words hardly less stirred than sore ones."""
_NAMED: Final = {
    "joy": r"happy|glad|delight\w*|joy\w*|love|loved|loving|yay|hooray|excited|thrilled|excellent|awesome|wonderful",
    "calm": r"calm|relaxed|peaceful|content|relieved|quiet|serene|at ease",
    "surprise": r"surpris\w*|astonish\w*|wow|omg|whoa|unbelievabl\w*|unexpected\w*|shocked|amazed",
    "anger": r"angry|furious|rage|outrag\w*|hate|hated|disgust\w*|livid|mad at|idiot\w*|unacceptable",
    "frustration": r"frustrat\w*|annoy\w*|fed up|sick of|tired of|stuck|again|still (?:not|broken|fails?)|ugh+|useless",
    "fear": r"afraid|scared|fear\w*|worr(?:y|ied|ies|ying)|anxious|terrif\w*|panic\w*|nervous|dread\w*|frighten\w*",
    "sadness": r"sad|sadly|grief|griev\w*|cried|crying|lonely|miss (?:him|her|them|you)|heartbroken|depress\w*|died",
}  # fmt: skip
_WORDS: Final = {name: re.compile(rf"\b(?:{listed})\b") for name, listed in _NAMED.items()}
_ANY: Final = re.compile(rf"\b(?:{'|'.join(_NAMED.values())})\b")
_GLAD: Final = ("joy", "calm", "surprise")
_SORE: Final = ("anger", "frustration", "fear", "sadness")


def distance(one: Vad, other: Vad) -> float:
    """Return how far two tones lie apart; arousal counts double, as its scale is half as long."""
    return float(((one.v - other.v) ** 2 + (2 * (one.a - other.a)) ** 2 + (one.d - other.d) ** 2) ** 0.5)


def named(text: str) -> tuple[str, ...]:
    """Return the emotions that a text names outright."""
    low = text.lower()
    if _ANY.search(low) is None:
        return ()
    return tuple(name for name, pattern in _WORDS.items() if pattern.search(low))


def emotion(vad: Vad, outright: Collection[str] = ()) -> str:
    """Return the emotion that a tone is nearest to; `outright` are those that the text names.

    A word draws only where valence allows: "not happy at all" is no joy.
    """
    allowed = _GLAD if vad.v > 0 else _SORE

    def away(name: str) -> float:
        drawn = DRAW if name in outright and (name in allowed or name == "surprise") else 0.0
        return distance(vad, PLACES[name]) - drawn

    return min(PLACES, key=away)


def intensity(vad: Vad) -> float:
    """Return how far a tone lies from neutral, in [0, 1]; 1 is reached at a distance of 1."""
    return min(1.0, distance(vad, PLACES["neutral"]))
