"""The best hits read once more, each together with the question, by a cross-encoder where one is asked for. Pure.

Each is read behind the end of the turn before it, where that was found too: "8" says nothing by itself. What the
reading says is added to what spoke for a hit before, by how far each spreads them (`003_` §12.3; Nogueira & Cho 2019,
"Passage Re-ranking with BERT"). What wasn't read gets the least of it.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec
import numpy as np

from braid.recall.hits import Hit, speaker
from braid.recall.passage import passage
from braid.recall.pool import Floats
from braid.text.rerank import AnswerScores
from braid.text.sentences import sentences
from braid.text.words import stem, telling, words

RERANKED: Final = 30
"""How many of the best hits are read once more."""
WEIGHT: Final = 1.5
"""What the reading counts, by how far each spreads the hits: 1 would be as much as all that spoke for them before."""
PART: Final = "reranked"
"""The part of a hit's score, and the signal, that the reading gives."""
MOST: Final = 8.0
"""Beyond these log-odds it makes no difference."""
_SEEMS: Final = -1.0
_CLEARLY_NOT: Final = -2.0
"""From and up to these log-odds a turn seems to answer behind the one before it, and alone clearly doesn't."""
TURN_CHARS: Final = 400
"""So much of a turn is read: of a longer one the stretch that speaks most of the question."""
_LOOKED_AT: Final = 8_000
"""In so much of a turn that stretch is looked for: of a longer one, in the part that the question is about."""
_BEFORE_CHARS: Final = 100
_NAME_CHARS: Final = 40


def reranked(question: str, hits: Sequence[Hit], answers: AnswerScores | None) -> list[Hit]:
    """Return hits in their order by both; as they are without a model, where it failed, or where none stands out."""
    best = hits[:RERANKED]
    if answers is None or len(best) < 2:
        return list(hits)
    found = read_again(question, passages(question, hits)[: len(best)], answers)
    if found is None:
        return list(hits)
    read = np.clip(found, -MOST, MOST)
    if (spread := float(read.std())) < 1e-9:
        return list(hits)
    stretch = float(np.std([hit.score for hit in best])) or 1.0
    gains: list[float] = ((read - read.mean()) * (WEIGHT * stretch / spread)).tolist()
    least, lowest = min(gains), float(read.min())
    placed = [
        _with(hit, gains[at] if at < len(best) else least, float(read[at]) if at < len(best) else lowest)
        for at, hit in enumerate(hits)
    ]
    return sorted(placed, key=lambda hit: -hit.score)


def _with(hit: Hit, gain: float, read: float) -> Hit:
    return msgspec.structs.replace(
        hit,
        score=hit.score + gain,
        signals={**hit.signals, PART: read},
        parts={**hit.parts, PART: gain},
    )


class Passage(NamedTuple):
    """A hit as it is read: who said what, behind the end of the turn before where that was found too."""

    before: str
    turn: str

    @property
    def whole(self) -> str:
        """Both together."""
        return self.before + self.turn


def passages(question: str, hits: Sequence[Hit]) -> list[Passage]:
    """Return each hit as it is read."""
    places = {hit.index: hit for hit in hits}
    found: list[Passage] = []
    for hit in hits:
        before = places.get(next(iter(hit.before), -1))
        led = f"{_name(before)}: {before.text[-_BEFORE_CHARS:]} / " if before is not None else ""
        found.append(Passage(led, f"{_name(hit)}: {stretch(question, hit.text)}"))
    return found


def stretch(question: str, text: str) -> str:
    """Return a turn, or of a long one the whole sentences that speak most of a question: the first where several do."""
    if len(text) <= TURN_CHARS:
        return text
    text = passage(text, telling(question), _LOOKED_AT)
    asked = frozenset(map(stem, telling(question)))
    parts = list(sentences(text[:_LOOKED_AT]))
    said = [asked.intersection(map(stem, words(part.text))) for part in parts]
    best, most = 0, 0
    for first, part in enumerate(parts):
        spoken = set[str]()
        for at in range(first, len(parts)):
            if parts[at].stop - part.start > TURN_CHARS and at > first:
                break
            spoken |= said[at]
        if len(spoken) > most:
            best, most = part.start, len(spoken)
    return text[best : best + TURN_CHARS]


def read_again(question: str, some: Sequence[Passage], answers: AnswerScores) -> Floats | None:
    """Return float64[n]: the log-odds that each answers; None where the model failed.

    What seems to answer is read once more alone, unless a question stands before it: where it then clearly doesn't,
    it was the turn before that answered, which is read by itself.
    """
    found = answers(question, [one.whole for one in some])
    if found is None:
        return None
    led = [at for at, one in enumerate(some) if one.before and "?" not in one.before and found[at] > _SEEMS]
    if not led:
        return found
    alone = answers(question, [some[at].turn for at in led])
    if alone is None:
        return None
    found = found.copy()
    for at, score in zip(led, alone.tolist(), strict=True):
        if score < _CLEARLY_NOT:
            found[at] = score
    return found


def _name(hit: Hit) -> str:
    return speaker(hit)[:_NAME_CHARS]
