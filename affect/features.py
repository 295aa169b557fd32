"""Cues as numbers: what the model is told beside a text's vector. Pure.

`tools/lab/fit_affect.py` fits to these columns.
"""

import re
from math import log1p
from typing import Final

from braid.affect.agency import agency
from braid.affect.cues import Cues
from braid.affect.lexicon import is_negation

_GROUPS: Final = (
    frozenset(("i", "me", "my", "mine", "myself")),
    frozenset(("you", "your", "yours", "yourself")),
    frozenset(("we", "our", "us", "ours")),
    frozenset(("he", "she", "they", "him", "her", "them")),
    frozenset(("the", "a", "an")),
    frozenset(("is", "are", "was", "were", "be", "been", "am", "being")),
    frozenset(("must", "should", "need", "have", "will", "shall")),
    frozenset(("maybe", "perhaps", "might", "could", "may", "would")),
)
_GROUP_OF: Final = {word: at for at, group in enumerate(_GROUPS) for word in group}
_YEAR: Final = re.compile(r"\b[12]\d{3}\b")


def features(cues: Cues) -> list[float]:
    """Return one text's row of numbers, always as many, in one order."""
    return _lexical(cues) + _marks(cues) + _shape(cues) + agency([word.lower() for word in cues.words])


def _lexical(cues: Cues) -> list[float]:
    weights = [weight for _, weight in cues.scores.cues]
    count = max(len(cues.words), 1)
    ups, downs = [w for w in weights if w > 0], [w for w in weights if w < 0]
    total, size = sum(weights), sum(map(abs, weights))
    return [
        cues.scores.compound, total / count, total / count**0.5, size / count**0.5,
        max(ups, default=0.0), min(downs, default=0.0), len(ups), len(downs),
        sum(ups) / (size + 1.0), -sum(downs) / (size + 1.0), len(weights) / count,
    ]  # fmt: skip


def _marks(cues: Cues) -> list[float]:
    text, end = cues.text, cues.text.rstrip()[-1:]
    quotes = text.count('"') + text.count("“") + text.count("”")
    return [
        float(cues.exclamations > 0), min(cues.exclamations, 4), float(cues.questions > 0), min(cues.questions, 4),
        cues.ellipses > 0, min(cues.capitals, 6), cues.drawn > 0, min(quotes, 6), text.count(","), ":" in text,
        "$" in text, text.count("-"), end == ".", end.isalnum(), text[:1].islower(), text[:1] == '"',
        bool(_YEAR.search(text)), "thanks" in cues.discourse, "apology" in cues.discourse, "urgency" in cues.discourse,
        "surprise" in cues.discourse, "command" in cues.discourse, "doubt" in cues.discourse, len(cues.venting),
    ]  # fmt: skip


def _shape(cues: Cues) -> list[float]:
    written, chars = cues.words, max(len(cues.text), 1)
    low = [word.lower() for word in written]
    count = max(len(low), 1)
    groups = [0] * len(_GROUPS)
    past = lasting = 0
    for word in low:
        if (group := _GROUP_OF.get(word)) is not None:
            groups[group] += 1
        elif word.endswith("ed"):
            past += 1
        elif word.endswith("ing"):
            lasting += 1
    return [
        log1p(len(low)), log1p(chars), sum(map(len, low)) / count, len(set(low)) / count,
        sum(not word.islower() for word in written) / count, sum(map(str.isupper, cues.text)) / chars,
        sum(map(str.isdigit, cues.text)) / chars, sum(map(is_negation, low)) / count,
        past / count, lasting / count, *(found / count for found in groups),
    ]  # fmt: skip
