"""What a run of extractors has done, counted."""

from collections import Counter
from collections.abc import Iterable
from typing import cast

from braid.learn.candidate import Extraction
from braid.learn.gates.outcome import Judged
from braid.ledger.record.record import Draft, ExperienceBody


class Tally:
    """Counts of one run."""

    def __init__(self) -> None:
        self.sessions = self.turns = self.records = self.claims = self.staged = 0
        self.tokens_in = self.tokens_out = 0
        self.refused: Counter[str] = Counter()
        self.warnings: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()

    def judged(self, judged: Judged) -> None:
        """Count what the gates let through, held back and refused."""
        self.staged += len(judged.staged)
        self.refused.update(f"{one.gate}:{one.outcome}" for one in judged.refused)
        self.warnings.update(f"hallucination:{one.kind}" for one in judged.warnings)

    def extracted(self, found: Extraction) -> None:
        """Count what an extractor took, mended and failed at."""
        self.tokens_in += found.tokens_in
        self.tokens_out += found.tokens_out
        self.warnings.update(f"{stage}:{kind}" for stage, kind in found.warnings)
        self.failures.update(f"{stage}:{kind}" for stage, kind in found.failures)

    def appended(self, drafts: Iterable[Draft]) -> None:
        """Count what is new in the log, or would be."""
        for draft in drafts:
            self.records += 1
            self.claims += len(cast("ExperienceBody", draft.body).symbolic)

    def counts(self) -> dict[str, int]:
        """Return what was found, by name, for an outcome; what is 0 is left out."""
        every = {
            "turns": self.turns,
            "records": self.records,
            "claims": self.claims,
            "staged": self.staged,
            "refused": self.refused.total(),
        }
        return {name: count for name, count in every.items() if count}

    def add(self, other: "Tally") -> None:
        """Count all that another has counted."""
        for name in ("sessions", "turns", "records", "claims", "staged", "tokens_in", "tokens_out"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.refused.update(other.refused)
        self.warnings.update(other.warnings)
        self.failures.update(other.failures)
