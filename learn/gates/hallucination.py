"""What shows that a model invents: six signs in what it found in one turn, and figures that tell nothing apart. Pure.

One or two warnings halve the confidence of the candidates they are about; three discard all that it found in that turn.
"""

import re
from collections.abc import Mapping, Sequence
from math import fsum, sqrt
from typing import Final, NamedTuple

from braid.learn.candidate import Candidate, Maker
from braid.learn.gates import wording
from braid.learn.gates.consistency import KnownIndex
from braid.learn.gates.outcome import GateWarning, WarningClass
from braid.learn.turn import Turn
from braid.stance.relations import name_of
from braid.text.words import normal, stem, stems, words

DISCARDED_FROM: Final = 3
"""So many warnings discard a batch."""
FLAT: Final = 0.05
FLAT_FROM: Final = 3
"""Of so many candidates or more, figures that spread less than `FLAT` tell nothing apart."""
SURE: Final = 0.9
"""What a model calls as sure as this should not be vague."""
PER_WORD: Final = 0.5
_LEAST_ENTITIES: Final = 3
_HEDGED: Final = re.compile(wording.HEDGED, re.IGNORECASE)
_SPEAKER: Final = frozenset(("user", "i", "me", "we", "speaker", "customer", "merchant"))

Numbered = tuple[int, Candidate]


class Signs(NamedTuple):
    """What the batches of a call show: the warnings, the candidates to halve, and those that are discarded."""

    warnings: tuple[GateWarning, ...] = ()
    halved: frozenset[int] = frozenset()
    discarded: frozenset[int] = frozenset()


def hallucination(candidates: Sequence[Candidate], turns: Mapping[int, Turn], known: KnownIndex) -> Signs:
    """Return what the signs say of what models found; what rules read and events state is not looked at."""
    batches: dict[tuple[Maker, int], list[Numbered]] = {}
    makers: dict[Maker, list[Candidate]] = {}
    for number, candidate in enumerate(candidates):
        if candidate.maker.name == "model":
            batches.setdefault((candidate.maker, candidate.evidence.turn), []).append((number, candidate))
            makers.setdefault(candidate.maker, []).append(candidate)
    if not batches:
        return Signs()
    warnings: list[GateWarning] = []
    halved: set[int] = set()
    discarded: set[int] = set()
    for (maker, turn), batch in batches.items():
        found = [
            GateWarning(kind, maker, turn, numbers) for kind, numbers in _signs(batch, turns.get(turn), known)
        ]
        warnings += found
        if len(found) >= DISCARDED_FROM:
            discarded.update(number for number, _ in batch)
        else:
            halved.update(number for warning in found for number in warning.numbers)
    warnings += [GateWarning("flat", maker, -1) for maker, made in makers.items() if is_flat(made)]
    return Signs(tuple(warnings), frozenset(halved), frozenset(discarded))


def is_flat(candidates: Sequence[Candidate]) -> bool:
    """Whether the figures of a batch tell nothing apart: confidences, or strengths, of one value."""
    strengths = [candidate.strength for candidate in candidates if candidate.strength is not None]
    return _is_flat([candidate.confidence for candidate in candidates]) or (
        len(strengths) >= FLAT_FROM and len(set(strengths)) == 1
    )


def _is_flat(figures: Sequence[float]) -> bool:
    if len(figures) < FLAT_FROM:
        return False
    mean = fsum(figures) / len(figures)
    return sqrt(fsum((one - mean) ** 2 for one in figures) / len(figures)) < FLAT


def _signs(
    batch: Sequence[Numbered], turn: Turn | None, known: KnownIndex
) -> list[tuple[WarningClass, tuple[int, ...]]]:
    """Return the signs of one batch, each with the candidates it is about; one sign may come several times."""
    text = "" if turn is None else turn.text
    said = stems(text)
    speaker = "" if turn is None else normal(turn.speaker)
    found: list[tuple[WarningClass, tuple[int, ...]]] = []
    named = {normal(one.claim.subject) for _, one in batch if one.type == "entity"}
    seen: dict[tuple[str, str, str, bool], int] = {}
    ends: set[str] = set()
    for number, one in batch:
        claim = one.claim
        names = [claim.subject] if one.type == "entity" else _names(claim.subject, claim.object)
        ends.update(normal(name) for name in names)
        for name in names:
            if _is_speaker(name, speaker) or _is_said(name, said, known):
                continue
            found.append(("bleed" if known.is_known(name) else "span", (number,)))
        if one.type == "relation" and named:
            lacking = [
                end
                for end in (claim.subject, claim.object)
                if not (_is_speaker(end, speaker) or normal(end) in named or known.is_known(end))
            ]
            if lacking:
                found.append(("relation", (number,)))
        if one.confidence >= SURE and _HEDGED.search(one.evidence.quote):
            found.append(("confidence", (number,)))
        key = (normal(claim.subject), name_of(claim.rel), normal(claim.object), claim.polarity)
        if key in seen:
            found.append(("repetition", (seen[key], number)))
        seen.setdefault(key, number)
    if len(ends) >= _LEAST_ENTITIES and len(ends) > PER_WORD * len(text.split()):
        found.append(("count", tuple(number for number, _ in batch)))
    return found


def _is_speaker(name: str, speaker: str) -> bool:
    low = normal(name)
    return low in _SPEAKER or low == speaker or (bool(speaker) and low == speaker.partition(" ")[0])


def _names(subject: str, object: str) -> list[str]:
    """Return what of a claim is a name: its subject, and an object that is written like one."""
    return [subject, *([object] if object[:1].isupper() and len(object.split()) <= 4 else [])]


def _is_said(name: str, said: set[str], known: KnownIndex) -> bool:
    """Whether a word of a name, or of one of its aliases, is in the turn."""
    entity = known.entities.get(normal(name))
    names = (name,) if entity is None else (name, entity.name, *entity.aliases)
    return any(stem(word) in said for one in names for word in words(one))
