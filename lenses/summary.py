"""The summary lens: the sentences that stand for the others, taken as they were said; no model.

Records are taken in blocks of 64, by place, so that a longer log changes only the block that is still open. In a
block a sentence scores by the words that it shares with the others (a centroid), and less for what a chosen one
says already. Only additions, multiplications and divisions, in a fixed order: the same on every machine, to the
last bit.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final, NamedTuple

from braid.lenses.entry import Entry
from braid.lenses.form import Form, Item
from braid.lenses.lens import Lens, lines
from braid.text.sentences import gist, statements
from braid.text.words import spoken

BLOCK: Final = 64
PICKS: Final = 3
LEAST_WORDS: Final = 4
_OPEN: Final = "~open"
_DAMPING: Final = 5
"""What keeps a short sentence of common words from winning: it counts as so many words that nobody shares."""


class Sentence(NamedTuple):
    """A sentence that may be chosen."""

    place: int
    who: str
    at: str
    text: str


class SummaryLens(Lens):
    """Keeps the records whose sentences were chosen, weighed by how much they stand for; the open block's stay until it
    is full. `sentences`: how many are shown."""

    name: ClassVar[str] = "summary"
    version: ClassVar[str] = "1"
    about: ClassVar[str] = "the sentences that stand for the others, as they were said"
    params: ClassVar[Mapping[str, Any]] = {"sentences": 12}

    def fold(self, form: Form, entries: Sequence[Entry], params: Mapping[str, Any]) -> Form:
        del params
        weights, items = dict(form.weights), dict(form.items)
        held = items.pop(_OPEN, None)
        block = [Sentence(*one) for one in held.data["sentences"]] if held is not None else []
        first = held.data["first"] if held is not None else 0
        for key in [key for key in items if int(key.partition("/")[0]) >= first]:
            del items[key]  # chosen of the open block as it was
        for entry in entries:
            block += _sentences(entry)
            if entry.place % BLOCK == BLOCK - 1:
                chosen = _choose(items, block)
                weights = {at: one for at, one in weights.items() if at < first or at > entry.place} | chosen
                first, block = entry.place + 1, []
        chosen = _choose(items, block)
        weights |= {at: chosen.get(at, 1.0) for at in weights if at >= first}
        items[_OPEN] = Item(data={"first": first, "sentences": [list(one) for one in block]})
        return Form(dict(sorted(weights.items())), items)

    def order(self, form: Form) -> list[str]:
        """Return the chosen sentences in the order of the records."""
        return sorted(key for key in form.items if key != _OPEN)

    def render(self, form: Form, params: Mapping[str, Any]) -> str:
        """Return the best of the chosen sentences, in the order in which they were said."""
        keys = sorted(self.order(form), key=lambda key: -form.items[key].data["score"])
        return lines([form.items[key] for key in sorted(keys[: params["sentences"]])])


def _sentences(entry: Entry) -> list[Sentence]:
    at = entry.at.date().isoformat()
    return [
        Sentence(entry.place, entry.who, at, gist(text, 300))
        for text in statements(entry.text)
        if len(spoken(text)) >= LEAST_WORDS and not text.endswith("?")
    ]


def _choose(items: dict[str, Item], block: Sequence[Sentence]) -> dict[int, float]:
    """Put the chosen sentences of a block among the items; return each chosen record's weight."""
    bags = [frozenset(spoken(one.text)) for one in block]
    held = Counter(word for bag in bags for word in bag)
    scores = [sum(held[word] - 1 for word in sorted(bag)) / (len(bag) + _DAMPING) for bag in bags]
    chosen: list[int] = []
    weights: dict[int, float] = {}
    while len(chosen) < min(PICKS, len(block)):
        left = [at for at in range(len(block)) if at not in chosen]
        fresh = {
            at: scores[at] * (1 - max((_alike(bags[at], bags[to]) for to in chosen), default=0))
            for at in left
        }
        best = max(left, key=lambda at: (fresh[at], -at))
        chosen.append(best)
        one, score = block[best], round(1 + fresh[best], 6)
        weights[one.place] = max(weights.get(one.place, 0.0), score)
        key = f"{one.place:07d}/{sum(block[at].place == one.place for at in chosen):03d}"
        items[key] = Item(
            text=f"{one.who}: {one.text}", places=(one.place,), at=one.at, data={"score": score}
        )
    return weights


def _alike(one: frozenset[str], other: frozenset[str]) -> float:
    """Return which share of the smaller one's words is in the other, in [0, 1]."""
    return len(one & other) / min(len(one), len(other))
