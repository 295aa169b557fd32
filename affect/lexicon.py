"""What words, emoticons and emoji say by themselves: VADER's lexicon and rules (Hutto and Gilbert, ICWSM 2014). Pure.

The lexicon is a file of the package (`data/lexicon.tsv`), made by `tools/lab/fit_affect.py`; `data/LICENSE.md` names
its origin and licence.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from math import sqrt
from pathlib import Path
from typing import Final

import msgspec

LEXICON: Final = Path(__file__).parent / "data" / "lexicon.tsv"
BOOST: Final = 0.293
CAPITALS: Final = 0.733
NEGATED: Final = -0.74
REACH: Final = 3
"""How many words a negation or a booster reaches."""
_NEGATIONS: Final = """
aint cannot cant couldnt didnt doesnt dont hadnt hardly hasnt havent isnt lack lacks neither never no nobody
none nope nor not nothing nowhere rarely scarcely seldom shouldnt uhuh wasnt werent without wont wouldnt
"""
_BOOSTERS: Final = """
absolutely amazingly awfully completely considerably decidedly deeply enormously entirely especially
exceptionally extremely fabulously flipping freaking frickin fully fucking greatly hella highly hugely
incredibly insanely intensely majorly more most particularly purely quite really remarkably so substantially
terribly thoroughly totally tremendously unbelievably unusually utterly very
"""
_DAMPERS: Final = """
almost barely kind kinda kindof less little marginally occasionally partly scarcely slightly somewhat sort
sorta
"""
NEGATIONS: Final = frozenset(_NEGATIONS.split())
BOOSTERS: Final = frozenset(_BOOSTERS.split())
DAMPERS: Final = frozenset(_DAMPERS.split())
_SHIFTS: Final = NEGATIONS | BOOSTERS | DAMPERS
_MARK: Final = re.compile(r"\S+")


class CueScores(msgspec.Struct, frozen=True):
    """Each cue with its weight after negation, boosters, capitals and "but", in [-5, 5], in the text's order."""

    cues: tuple[tuple[str, float], ...]

    @property
    def total(self) -> float:
        """The sum of the weights."""
        return sum(weight for _, weight in self.cues)

    @property
    def compound(self) -> float:
        """The sum, squeezed into (-1, 1) as VADER does."""
        total = self.total
        return total / sqrt(total * total + 15)


@cache
def lexicon() -> Mapping[str, float]:
    """Return word, emoticon or emoji → valence in [-4, 4]."""
    found: dict[str, float] = {}
    for line in LEXICON.read_text(encoding="utf-8").splitlines():
        name, _, valence = line.partition("\t")
        found[name] = float(valence)
    return found


def is_negation(word: str) -> bool:
    """Whether a lower-case word turns what follows it round."""
    return word.endswith("n't") or word in NEGATIONS


def scores(written: Sequence[str], marks: Sequence[tuple[str, float]] = ()) -> CueScores:
    """Return what the words of a text say (as they are written, in order); `marks` are emoticons and emoji found."""
    known = lexicon()
    low = [word.lower() for word in written]
    turn = low.index("but") if "but" in low else None
    mixed = False
    found: list[tuple[str, float]] = []
    for at, word in enumerate(low):
        valence = known.get(word)
        if valence is None or word in _SHIFTS:
            continue
        if not found:
            mixed = not all(map(str.isupper, written))
        shouted = mixed and len(word) > 1 and written[at].isupper()
        weight = _shifted(valence, low[max(0, at - REACH) : at], shouted=shouted)
        if turn is not None:  # what comes after "but" counts for more (VADER's fourth rule)
            weight *= 0.5 if at < turn else 1.5
        found.append((word, weight))
    return CueScores((*found, *marks))


def _shifted(valence: float, before: Sequence[str], *, shouted: bool) -> float:
    """Return what a word weighs behind the words before it, the nearest last."""
    way = 1.0 if valence > 0 else -1.0
    if shouted:
        valence += way * CAPITALS
    for away, near in enumerate(reversed(before)):
        if near in BOOSTERS:
            valence += way * BOOST * (1 - 0.05 * away)
        elif near in DAMPERS:
            valence -= way * BOOST * (1 - 0.05 * away)
    return valence * NEGATED if any(map(is_negation, before)) else valence


def marks(text: str) -> list[tuple[str, float]]:
    """Return the emoticons and emoji of a text that the lexicon knows, with their valence."""
    known = lexicon()
    found: list[tuple[str, float]] = []
    for match in _MARK.finditer(text):
        token = match[0]
        if token.isalnum():
            continue
        bare = token if token in known else token.rstrip("!?.,\"'")
        if bare in known and not bare.isalpha():
            found.append((bare, known[bare]))
        elif not token.isascii():
            found += [(char, known[char]) for char in token if char in known and not char.isalnum()]
    return found
