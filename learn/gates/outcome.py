"""What becomes of a candidate: kept, staged or refused, and why, as enumerated values. No words of the talk in"
" any reason."""

from collections import Counter
from typing import Final, Literal, NamedTuple, get_args

import msgspec

from braid.learn.candidate import Candidate, Maker
from braid.ledger.record.record import Claim

Gate = Literal[
    "schema", "evidence", "safety", "ontology", "entailment", "hallucination", "consistency", "confidence"
]
"""In the order in which they stand, but for `hallucination`, which looks at a whole batch."""
Level = Literal["L0", "L1", "L2", "L3", "L4"]
Outcome = Literal[
    # schema
    "wrong_type", "out_of_range", "too_long", "trivial", "field_lacks", "field_of_another_type",
    # evidence
    "no_such_turn", "not_a_speaker", "recalled", "quote_empty", "quote_differs", "quote_absent", "inside_a_word",
    # safety
    "secret", "identity_number", "instruction", "health", "finance", "privilege",
    # ontology
    "endpoint", "object_kind", "self_reference",
    # entailment
    "unparsed", "words_absent", "relation_absent", "subject", "polarity", "tense", "hypothetical", "asked", "planned",
    "possible", "wanted", "reported", "quoted", "code", "sarcasm", "contradicted", "not_entailed",
    # hallucination
    "discarded",
    # consistency
    "outranked",
    # confidence
    "unsure",
    # any gate
    "failed",
]  # fmt: skip
OUTCOMES: Final[tuple[Outcome, ...]] = get_args(Outcome)
WarningClass = Literal["span", "count", "relation", "confidence", "bleed", "repetition", "flat"]


class GateSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What the owner of a store allows; it comes from a signed setting. Both are off by default."""

    health: bool = False
    finance: bool = False


class Refused(msgspec.Struct, frozen=True):
    """A candidate that goes no further: `number` is its place among those given, `turn` the index of a record."""

    outcome: Outcome
    gate: Gate
    maker: Maker
    number: int
    turn: int
    error: str = ""
    """The class of the error, where a gate failed."""


class Staged(msgspec.Struct, frozen=True):
    """A candidate that somebody has to look at before it is known."""

    candidate: Candidate
    outcome: Outcome
    gate: Gate
    p: float
    needs_verification: bool = False
    """It claims a privilege: nothing but a person's word lets it in."""


class Kept(msgspec.Struct, frozen=True):
    """A candidate that every gate let through, with its probability `p`.

    Its claim has the turn's own words as its quote, and `details["privacy"]`.
    """

    candidate: Candidate
    p: float
    level: Level
    also: tuple[Maker, ...] = ()
    """Who else found the same: more derivations of one claim."""
    reinforces: Claim | None = None
    """The claim that was known already and says the same."""
    supersedes: tuple[Claim, ...] = ()
    """What this one ends or replaces: known claims, or earlier ones of the same batch."""
    rivals: tuple[Claim, ...] = ()
    """What contradicts it, where neither replaces the other: to be reviewed."""
    superseded: bool = False
    """A later one of the same batch replaces it."""

    @property
    def claim(self) -> Claim:
        """What is kept of it."""
        return self.candidate.claim


class GateWarning(msgspec.Struct, frozen=True):
    """What is wrong with what one maker found in one turn; `turn` is -1 where it is wrong with all that it found."""

    kind: WarningClass
    maker: Maker
    turn: int
    numbers: tuple[int, ...] = ()
    """The candidates that are meant, by their places among those given."""


class Judged(NamedTuple):
    """What the gates make of candidates. Each of them is in exactly one of `kept`, `staged`, `refused`, or in"
    " `also`."""

    kept: tuple[Kept, ...]
    staged: tuple[Staged, ...]
    refused: tuple[Refused, ...]
    warnings: tuple[GateWarning, ...]

    @property
    def ask_larger(self) -> bool:
        """Whether a model gave figures that tell nothing apart: a larger one is to be asked."""
        return any(warning.kind == "flat" for warning in self.warnings)

    @property
    def failures(self) -> int:
        """How many candidates a gate failed on."""
        return sum(refused.outcome == "failed" for refused in self.refused)

    def counts(self) -> Counter[tuple[str, str, str]]:
        """Return how often which gate said what of whom: (gate, outcome, maker's name); a warning's gate is
        `hallucination`."""
        counted: Counter[tuple[str, str, str]] = Counter()
        for refused in self.refused:
            counted[refused.gate, refused.outcome, refused.maker.name] += 1
        for staged in self.staged:
            counted[staged.gate, staged.outcome, staged.candidate.maker.name] += 1
        for warning in self.warnings:
            counted["hallucination", warning.kind, warning.maker.name] += 1
        return counted


class GateError(Exception):
    """A gate's word against a candidate; within this room alone."""

    def __init__(self, gate: Gate, outcome: Outcome) -> None:
        super().__init__(outcome)
        self.gate: Gate = gate
        self.outcome: Outcome = outcome
