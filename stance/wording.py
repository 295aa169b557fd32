"""When two records say the same once more: the same words, by the same speaker, in the same memory. Pure.

Nothing vaguer will do. What differs in one word of twelve may differ in the one that matters: a rent, a digit of a door
code, a "not". So only case, runs of spaces and the mark at the end are no matter; a question mark is.
"""

import unicodedata
from collections.abc import Hashable
from typing import Final

from braid.ledger.record.record import ExperienceBody, Record
from braid.ledger.record.scope import memory_of

_ENDS: Final = " .!…"
Wording = Hashable


def wording_of(record: Record) -> Wording | None:
    """Return the wording of a record; None for one that is no experience."""
    return wording(record.body) if isinstance(record.body, ExperienceBody) else None


def wording(body: ExperienceBody) -> Wording | None:
    """Return what is equal for records that say the same; None for one without words, which is like no other."""
    words = same_words(body.content.text)
    if not words or body.content.media or body.content.structured.get("media"):
        return None
    scope, by = body.scope, body.provenance
    whose = None if scope is None else memory_of(scope)
    return whose, by.actor, by.name, words


def same_words(text: str) -> str:
    """Return what is equal for texts of the same words."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split()).rstrip(_ENDS)
