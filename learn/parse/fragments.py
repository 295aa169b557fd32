"""Idioms, and sentences without a verb that say something: "No more coffee for me", "Broken wrist." Pure."""

import re
from collections.abc import Iterable
from typing import Final

from braid.learn import dates
from braid.learn.page import Page
from braid.learn.parse.clauses import Clause
from braid.learn.parse.sorts import is_drink
from braid.learn.voice import Voice
from braid.learn.words import LIMBS
from braid.text.sentences import TextPart

_NO_MORE: Final = re.compile(
    r"^no more (?P<what>[a-z][a-z ]{1,30}?) for (?:me|us)\b(?P<rest>.*)$", re.IGNORECASE
)
_SACRED: Final = re.compile(
    r"^(?P<what>[a-z]+) is (?:sacred|life|my fuel|non-negotiable|everything to me)\b", re.IGNORECASE
)
_BROKEN: Final = re.compile(
    r"^(?:a )?(?P<what>(?:broken|sprained|fractured|torn) (?:left |right )?(?P<limb>[a-z]+))$", re.IGNORECASE
)


def read(page: Page, sentence: TextPart, clauses: Iterable[Clause]) -> bool:
    """Claim what a sentence without a verb of its own says; True where it did."""
    name = page.turn.speaker
    if (match := _SACRED.match(sentence.text)) is not None and is_drink(match["what"]):
        page.claim(sentence, Voice(), name, "drinks", match["what"].lower(), type="preference")
        return True
    if any(clause.subject is not None for clause in clauses):
        return False
    if (match := _NO_MORE.match(sentence.text)) is not None and is_drink(match["what"]):
        held = dates.bounds(match["rest"], page.turn.when)
        page.claim(
            sentence, Voice(), name, "drinks", match["what"], polarity=False, held=held, type="preference"
        )
        return True
    if (match := _BROKEN.match(sentence.text)) is not None and match["limb"].lower() in LIMBS:
        page.claim(sentence, Voice(), name, "has_condition", match["what"].lower(), type="health")
        return True
    return False
