"""How sure a reading by rules is: how often claims of its kind were what the sentence says, counted once. Pure data.

    certainty(claim).p

Counted on 130 claims drawn at random from utterances that no rule was made by (`tests/unit/learn/judged.jsonl`,
judged one by one by a second reader), and, for what the table of relations reads, on the 193 sentences `held` of
`sentences.jsonl` by their labels. The p of a kind is the mean of what is believed after its counts, from Jeffreys'
prior: ten of ten is .95, one of one is .75. Other readers are other counts, and another `COUNTED`.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from braid.ledger.record.record import Claim, Confidence, SourceType
from braid.stance.relations import relation

COUNTED: Final = "counted-2"
RULE: Final = "rule"
BY_RULE: Final = (RULE, "counted-1", COUNTED)
"""Methods of a confidence that is the reader's, and no model's own."""


OWN_WORDS: Final = frozenset(
    [
        "did", "does", "is", "was", "has", "can", "plans_to", "goal", "has_to", "used_to", "wants", "needs",
        "decided_on",
    ]
)  # fmt: skip
"""Relations that say it in the speaker's own words: no row of the table knows what was said."""


class Count(NamedTuple):
    """How many claims of a kind were read, and how many of them rightly."""

    right: int
    read: int

    @property
    def p(self) -> float:
        """The probability that the next one is right."""
        return round((self.right + 0.5) / (self.read + 1), 4)


COUNTS: Final[Mapping[str, Count]] = {
    "own words": Count(78, 104),
    "state": Count(65, 83),
    "trait": Count(21, 22),
    "episode": Count(7, 7),
    "denied": Count(12, 13),
    "corrected": Count(2, 2),
    "hedged": Count(2, 4),
    "reported": Count(2, 4),
}
"""By kind (`kind_of`)."""
SOFTENED: Final = 0.7
"""What a claim keeps that its speaker was not sure of, however rightly it was read; set by hand."""
UNCOUNTED: Final[Mapping[SourceType, float]] = {
    "implicit_intentional": 0.6,
    "implicit_unintentional": 0.5,
    "inferred": 0.4,
}
"""What is too rare among the sentences to be counted; set by hand, and said so by the method `RULE`."""


def kind_of(claim: Claim) -> str:
    """Return of which kind a reading is: reported, hedged, corrected, own words, denied, else how long it lasts."""
    if claim.said_by is not None:
        return "reported"
    if claim.hedge is not None:
        return "hedged"
    if claim.source_type == "corrected":
        return "corrected"
    if claim.rel in OWN_WORDS:
        return "own words"
    return relation(claim.rel).temporal if claim.polarity else "denied"


def certainty(claim: Claim) -> Confidence:
    """Return how sure a claim is that rules have read, and whether that was counted."""
    softened = SOFTENED if claim.hedge is not None else 1.0
    if (by_hand := UNCOUNTED.get(claim.source_type)) is not None:
        return Confidence(p=round(by_hand * softened, 4), method=RULE)
    return Confidence(p=round(COUNTS[kind_of(claim)].p * softened, 4), method=COUNTED)
