"""Which of the turns that were found are of a topic, and how surely: by words, weighed by how rare they are. Pure."""

import math
from collections.abc import Sequence
from typing import Final

import msgspec

from braid.agent.answer.turn.turn import when_of
from braid.recall.hits import Hit, speaker
from braid.text.sentences import sentences
from braid.text.words import stem, words

BESIDE: Final = 0.5
"""What a word of the topic counts that stands in a turn before which asks, and which this one may answer."""
NEAR: Final = 2
"""How many turns further on a reply may stand."""
BEHIND: Final = 2
"""How many sentences behind one with a word of the topic still speak of it."""
_PREFIX: Final = 4


class TopicTurn(msgspec.Struct, frozen=True):
    """A turn that was found. `cover`: which share of the topic's weight its words have, in [0, 1]; `beside`: the same
    with the turns before it that ask, at half; `meaning`: how near it is in meaning, in [0, 1], 1 the nearest."""

    hit: Hit
    cover: float
    beside: float
    meaning: float
    own: frozenset[str]

    @property
    def spot(self) -> str:
        """What of its text speaks of the topic: from each sentence with a word of it on; all where none has one."""
        parts = [self.hit.text[part.start : part.stop] for part in sentences(self.hit.text)]
        near: dict[int, None] = {}
        for at, part in enumerate(parts):
            heard = frozenset(stem(word) for word in words(part))
            if any(_stands(each, heard) for each in self.own):
                near |= dict.fromkeys(range(at, min(at + 1 + BEHIND, len(parts))))
        return " ".join(parts[at] for at in near) if near else self.hit.text

    @property
    def asks(self) -> bool:
        """Whether it only asks."""
        text = self.hit.text.strip()
        return text.endswith("?") and "." not in text[:-1] and "!" not in text


def of_topic(topic: Sequence[str], hits: Sequence[Hit]) -> list[TopicTurn]:
    """Return the hits in the order in which they were said, each with how far it is of a topic (stems)."""
    said = sorted(
        (hit for hit in hits if hit.superseded_by is None), key=lambda hit: (when_of(hit), hit.index)
    )
    heard = [frozenset(stem(word) for word in words(f"{hit.text} {speaker(hit)}")) for hit in said]
    has = [frozenset(each for each in topic if _stands(each, one)) for one in heard]
    weights = {each: math.log(1 + len(said) / (0.5 + sum(each in one for one in has))) for each in topic}
    whole = math.fsum(weights.values()) or 1.0
    found: list[TopicTurn] = []
    for at, hit in enumerate(said):
        cover = math.fsum(weights[each] for each in has[at])
        asked = (has[by] for by in range(max(0, at - NEAR), at) if "?" in said[by].text)
        before = frozenset[str]().union(*asked) - has[at]
        beside = cover + BESIDE * math.fsum(weights[each] for each in before)
        meaning = hit.signals.get("meaning", 0.0)
        found.append(TopicTurn(hit, cover / whole, beside / whole, meaning, has[at]))
    return found


def _stands(wanted: str, heard: frozenset[str]) -> bool:
    """Whether a stem is among some, or begins one: "xmas" and "xmass", "sideboard" and "sideboards"."""
    return wanted in heard or (len(wanted) >= _PREFIX and any(each.startswith(wanted) for each in heard))
