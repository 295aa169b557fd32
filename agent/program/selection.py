"""Which of the things that were found is meant: each is weighed by where it stands, and shares what all weigh. Pure.

For notes, which later steps of a plan build on: the name, the amount or the day in the records, and how sure that is.
An answer quotes what was said; a note has to be the thing itself. The weights were set by hand.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from braid.agent.answer.choice.confidence import missing, probability, speaking, weights
from braid.agent.answer.question.asker import is_of_asker, own_text
from braid.agent.answer.turn.turn import named_speakers, when_of
from braid.learn.moods import states_nothing
from braid.recall.decompose import Question
from braid.recall.hits import Hit, speaker
from braid.text.sentences import TextPart, readable, sentences
from braid.text.verbs import base
from braid.text.words import stem, words

_JOIN: Final = re.compile(r"[,;:–—]\s+(?!\d{4}\b)|\s(?:and|but)\s")
LOOKED_AT: Final = 8
LEAST_KNOWN: Final = 0.5
"""Below this, what was found isn't about what is asked."""
OWN: Final = 1.0
"""What it weighs that the one whom the question names said it."""
COVERED: Final = 3.0
"""What it weighs that the sentence has the words of the question."""
FITTING: Final = 2.0
"""What it weighs that it is just of the kind that is wanted."""
SUREST: Final = 0.95
"""What was picked by rules is never beyond doubt."""
UNSPOKEN: Final = 0.25
"""How much less sure it is where the sentence has none of the question's words."""
NEAR: Final = 1.0
"""How much less another record weighs at most that says it too: one that only mentions it does not bear it out."""
BESIDE: Final = 0.75
"""What a word of the question counts that stands in another piece of the sentence."""
ELSEWHERE: Final = 0.5
"""What a word of the question counts that stands in another sentence of the record."""


class Stated(msgspec.Struct, frozen=True):
    """A sentence that states something, the record that it stands in, and what share of the question's words it has."""

    hit: Hit
    part: TextPart
    cover: float
    own: bool

    def candidate(self, text: str, key: str, fit: float, start: int = 0) -> "NoteCandidate":
        """Return something that the sentence says, `start` of its characters in, as what may be meant; `fit` in [0, 1]:
        how well it is of the kind wanted."""
        worth = self.hit.score + OWN * self.own + COVERED * self.cover + FITTING * fit
        return NoteCandidate(text, key, self.hit.id, worth, self.cover, self.part.start + start)


class NoteCandidate(msgspec.Struct, frozen=True):
    """What may be meant. Those of one `key` are one; `worth` is on the scale of hits' scores, log-odds."""

    text: str
    key: str
    id: str
    worth: float
    cover: float
    at: int = 0
    """Where in its record it stands."""


class Picked(msgspec.Struct, frozen=True):
    """What is meant, how sure that is, in [0, 1], and the records that bear it out, the best first."""

    text: str
    p: float
    ids: Sequence[str]


def known(question: Question, hits: Sequence[Hit], idle: Sequence[str] = ()) -> float:
    """Return how sure it is that what was found is about what is asked, in [0, 1]; 0 where that is too little, or where
    it takes something for granted that nobody speaks of. `idle` words say which one, not what: nobody need use them."""
    if not hits or set(missing(question, hits)) - set(idle):
        return 0.0
    given = weights()
    sure = probability(speaking(question, hits), given.known)
    return 0.0 if sure < LEAST_KNOWN else min(1.0, sure / given.limit)


def stated(
    question: Question,
    hits: Sequence[Hit],
    idle: Sequence[str] = (),
    sorts: Sequence[str] = (),
    *,
    split: bool = False,
) -> Iterator[Stated]:
    """Yield the sentences of the best hits that state something of this world; `split`: their pieces.

    Words of the question that are `idle` say nothing of where it is answered; those for `sorts` of things do where a
    sentence has them, and are not missed where it doesn't.
    """
    none = {_stem(word) for word in idle}
    asked = list(dict.fromkeys(_stem(word) for word in question.words if _stem(word) not in none))
    rest = {_stem(word) for word in sorts}
    named = named_speakers(question, hits)
    of_asker = is_of_asker(question)
    for hit in hits[:LOOKED_AT]:
        own = len(named) == 1 and speaker(hit) in named
        there = _stems(f"{hit.text} {speaker(hit)}")
        for part in sentences(readable(own_text(hit) if of_asker else hit.text)):
            if not states_nothing(part):
                said = _stems(f"{part.text} {speaker(hit)}")
                wanted = [each for each in asked if each not in rest or each in said]
                for piece in _pieces(part) if split else (part,):
                    near = _stems(f"{piece.text} {speaker(hit)}")
                    yield Stated(hit, piece, _cover(wanted, (near, said, there)), own)


def _pieces(sentence: TextPart) -> Iterator[TextPart]:
    """Yield what stands between the commas and joining words of a sentence; a year stays with its day."""
    at = 0
    for stop, behind in [
        *((match.start(), match.end()) for match in _JOIN.finditer(sentence.text)),
        (None, 0),
    ]:
        text = sentence.text[at:stop]
        if text.strip():
            yield TextPart(text, sentence.start + at, sentence.start + at + len(text), sentence.mark)
        at = behind


def _cover(asked: Sequence[str], around: tuple[set[str], set[str], set[str]]) -> float:
    """Return the share of words that stand near, those of the sentence counting less, of the record least."""
    if not asked:
        return ELSEWHERE
    near, said, there = around
    worth = {each: 1.0 if each in near else BESIDE if each in said else ELSEWHERE for each in asked}
    return sum(worth[each] for each in asked if each in there) / len(asked)


def _stems(text: str) -> set[str]:
    return {_stem(word) for word in words(text)}


def _stem(word: str) -> str:
    """Return the stem of a word, of a verb that of its plain form: "took" is "take"."""
    return stem(base(word) or word)


def pick(candidates: Sequence[NoteCandidate], sure: float) -> Picked | None:
    """Return what is meant, None of nothing. `sure`: that it is among them at all."""
    if not candidates:
        return None
    top = max(one.worth for one in candidates)
    masses: defaultdict[str, float] = defaultdict(float)
    for one in candidates:
        masses[one.key] += math.exp(one.worth - top)
    key = max(masses, key=lambda each: masses[each])
    same = sorted((one for one in candidates if one.key == key), key=lambda one: -one.worth)
    best = same[0]
    share = masses[key] / sum(masses.values())
    p = SUREST * sure * share * (1.0 - UNSPOKEN * (1.0 - best.cover))
    return Picked(best.text, p, list(dict.fromkeys(one.id for one in same if best.worth - one.worth < NEAR)))


def said_on(one: Stated) -> str:
    """Return the day on which a sentence was said, as ISO text."""
    return when_of(one.hit).date().isoformat()
