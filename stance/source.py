"""Whose words a claim is: the class of the span that it cites (SPEC §4.9). Pure.

One record may hold the words of several. A sentence of a summary needs those of its sources that have its words: what
the owner said remains as it is beside what an outsider said, and what only an outsider said is an outsider's.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from braid.ledger.record.record import Claim, ExperienceBody, Record, is_reading
from braid.ledger.record.source import CLASSES, RANK, SourceClass, SourceClasses, at_first_hand, lowest
from braid.stance.words import words_of
from braid.text.words import STOP, stem, words

_DENIES: Final = re.compile(
    r"\b(?:not|no|never|nor|none|nobody|nothing|without|cannot|\w+n['’]t)\b", re.IGNORECASE
)
_DENIED: Final = "not"
MOST_DEEP: Final = 8
"""How many summaries of summaries are looked through; deeper ones are taken whole."""


def span_class(span: str, own: SourceClass, sources: Sequence[tuple[SourceClass, str]]) -> SourceClass:
    """Return the class of some words that were made of sources, each with its class and text: the highest of which the
    sources at or above it have all of these words; where not even all of them have, the lowest. Never above `own`.
    """
    if not sources:
        return own
    missing = telling(span)
    for one in CLASSES:
        missing = missing - {each for at, text in sources if at == one for each in telling(text)}
        if not missing and any(RANK[at] >= RANK[one] for at, _ in sources):
            return lowest((own, one))
    return lowest((own, *(at for at, _ in sources)))


def telling(text: str) -> frozenset[str]:
    """Return what a text says by its words: their stems, numbers, and whether it denies."""
    found = {stem(word) for word in words(text) if word not in STOP}
    return frozenset(found | {_DENIED} if _DENIES.search(text) else found)


class ClaimSources:
    """The classes of what records claim, over one log."""

    def __init__(
        self, classes: SourceClasses, read: Callable[[int], Record | None], role: Callable[[str], str]
    ) -> None:
        """`read` and `role` as for `SourceClasses`."""
        self._classes = classes
        self._read = read
        self._role = role

    def of(self, record: Record, claim: Claim) -> SourceClass:
        """Return the class of a claim of a record: of a reading, that of the span of its parent that it quotes."""
        body = record.body
        span = claim.quote or words_of(claim)
        if is_reading(body) and (above := record.targets("parent")):
            return lowest(self._span(link.index, span, 0) for link in above)
        return self._span_of(record, span, 0)

    def of_all(self, record: Record, claims: Iterable[Claim]) -> list[SourceClass]:
        """Return the class of each claim of a record."""
        return [self.of(record, claim) for claim in claims]

    def _span(self, index: int, span: str, deep: int) -> SourceClass:
        whole = self._classes.of(index)
        if whole == "owner" or deep >= MOST_DEEP:
            return whole
        record = self._read(index)
        return whole if record is None else self._span_of(record, span, deep)

    def _span_of(self, record: Record, span: str, deep: int) -> SourceClass:
        whole = self._classes.note(record)
        above = self._classes.sources(record)
        body = record.body
        if whole == "owner" or len(above) < 2 or not isinstance(body, ExperienceBody) or is_reading(body):
            return whole
        sources: list[tuple[SourceClass, str]] = [
            (self._span(at, span, deep + 1), self._said(at)) for at in above
        ]
        return span_class(span, at_first_hand(self._role(record.envelope.key), body), sources)

    def _said(self, index: int) -> str:
        """Return what a record says, with the name of who says it: "I live in Porto" says where Ida lives."""
        record = self._read(index)
        body = record.body if record is not None else None
        if not isinstance(body, ExperienceBody):
            return ""
        return f"{body.provenance.name or ''} {body.content.text}"
