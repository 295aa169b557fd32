"""One line of a table: which verb, in which tense, with what behind it, states which relation of what."""

import re
from typing import Final, Literal, NamedTuple

from braid.learn.phrases import Chunk
from braid.ledger.record.record import SourceType

Dated = Literal["", "state", "past", "ahead"]
"""Whether a claim takes the bounds of a state, the time of what happened, or the time of what is to come."""


class Rule(NamedTuple):
    """A rule of the tables. `behind` must match where the verb ends; `chunk` reads the object from there."""

    verbs: frozenset[str]
    tenses: frozenset[str]
    behind: re.Pattern[str]
    rel: str
    chunk: Chunk
    polarity: bool
    denied: bool
    """Whether a denial is stated too; else a denied clause states nothing."""
    dated: Dated
    first_only: bool
    """Only of the speaker: of others it would be guesswork."""
    source_type: SourceType


NOW: Final = "present perfect can"


def rule(
    verbs: str,
    behind: str,
    rel: str,
    chunk: Chunk,
    *,
    tenses: str = "present perfect",
    polarity: bool = True,
    denied: bool = True,
    dated: Dated = "state",
    first_only: bool = False,
    source_type: SourceType = "explicit",
) -> Rule:
    """Return a rule; `verbs` and `tenses` are words with spaces between, `behind` a regular expression."""
    return Rule(
        frozenset(verbs.split()),
        frozenset(tenses.split()),
        re.compile(behind, flags=re.IGNORECASE),
        rel,
        chunk,
        polarity,
        denied,
        dated,
        first_only,
        source_type,
    )
