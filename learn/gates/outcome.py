"""What becomes of a candidate: kept, staged or refused, and why, as enumerated values. No words of the talk in
any reason."""

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
SensitiveKind = Literal["health", "finance"]
"""What a claim may be of that is known only where a signed setting allows it."""
Sensitivity = frozenset[SensitiveKind]
WarningClass = Literal["span", "count", "relation", "confidence", "bleed", "repetition", "flat"]


def sensitivity(*, health: bool, finance: bool) -> Sensitivity:
    """Return the kinds for which it is so."""
    pairs: tuple[tuple[SensitiveKind, bool], ...] = (("health", health), ("finance", finance))
    return frozenset(kind for kind, is_so in pairs if is_so)


class GateSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What the owner of a store allows; it comes from a signed setting. Both are off by default."""

    health: bool = False
    finance: bool = False

    @property
    def allowed(self) -> Sensitivity:
        """The kinds of claims that may be known."""
        return sensitivity(health=self.health, finance=self.finance)


def suffix_of(kinds: Sensitivity) -> str:
    """Return what the version of a reader of such claims alone has, `+health`; nothing for the reader of the rest."""
    return "".join(f"+{kind}" for kind in sorted(kinds))


def kinds_of(method: str) -> Sensitivity:
    """Return of what the claims of a method's readings are: `read:parse@15+health+…` → health."""
    parts = method.partition("@")[2].split("+")
    return frozenset(kind for kind in get_args(SensitiveKind) if kind in parts[1:])


EVERY_SENSITIVITY: Final[tuple[Sensitivity, ...]] = (
    frozenset(),
    frozenset({"health"}),
    frozenset({"finance"}),
    frozenset({"health", "finance"}),
)
"""What claims may be of, each by a reader of its own: what is of both needs both settings."""


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
    kinds: Sensitivity = frozenset()
    needs_verification: bool = False
    """It claims a privilege: nothing but a person's word lets it in."""


class Kept(msgspec.Struct, frozen=True):
    """A candidate that every gate let through, with its probability `p`.

    Its claim has the turn's own words as its quote, and `details["privacy"]`.
    """

    candidate: Candidate
    p: float
    level: Level
    kinds: Sensitivity = frozenset()
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
    """What the gates make of candidates. Each of them is in exactly one of `kept`, `staged`, `refused`, or in
    `also`."""

    kept: tuple[Kept, ...]
    staged: tuple[Staged, ...]
    refused: tuple[Refused, ...]
    warnings: tuple[GateWarning, ...]

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
