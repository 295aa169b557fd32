"""Amounts that a sentence lists, each with what it is of: "bathroom 5k, kitchen 12k". Pure."""

import re
from typing import Final, NamedTuple

from braid.text.words import stem, telling, telling_stems

_SEPARATOR: Final = re.compile(r"[,;]\s+|\s+and\s+|\s+/\s+|\.\s+", re.IGNORECASE)
_ITEM: Final = re.compile(
    r"(?P<label>[^\d£$€]*?[^\W\d_])\s*(?::|=|–|-)?\s+"
    r"(?P<amount>[£$€]?\d[\d.,]*(?:\s?(?:k|m|%|€|euros?|pounds?|quid|dollars?|kg|km|mg|ml|g|l|cm|cups?|tins?|bags?))?)"
    r"(?: (?:a|an|per|each|every) \w+| each)?\W*",
    re.IGNORECASE,
)
_MOST_WORDS: Final = 5
_OF_NOTHING: Final = frozenset(
    map(stem, ("cost", "costs", "price", "pay", "paid", "takes", "worth", "total", "about"))
)
"""Words beside an amount that say nothing of what it is of."""


class ListedAmount(NamedTuple):
    """What an amount is of, in stems, and the amount as it is written."""

    label: frozenset[str]
    amount: str


def listed_amounts(sentence: str) -> list[ListedAmount]:
    """Return the amounts of a sentence that is made of such pairs; empty where it isn't."""
    found: list[ListedAmount] = []
    for piece in _SEPARATOR.split(sentence.strip().rstrip(".!")):
        item = _ITEM.fullmatch(piece)
        if item is None or len(item["label"].split()) > _MOST_WORDS:
            return []
        found.append(
            ListedAmount(
                frozenset(map(stem, telling(item["label"]))) - _OF_NOTHING, item["amount"].strip(" ,.")
            )
        )
    return found if len(found) > 1 and all(one.label for one in found) else []


def amount_of(question: str, sentence: str) -> str | None:
    """Return the one amount of a list that is of what a question names; None where it names none, or several."""
    asked = telling_stems(question) - _OF_NOTHING
    shared = [(len(asked & one.label), one.amount) for one in listed_amounts(sentence)]
    best = max((count for count, _ in shared), default=0)
    meant = [amount for count, amount in shared if count == best]
    return meant[0] if best and len(meant) == 1 else None
