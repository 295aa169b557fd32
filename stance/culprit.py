"""Which of two claims gives way: the stated order, as ranks for truth maintenance. Pure.

Corrected outranks stated, stated observed, observed inferred; then, for what changes (a home, a job), the newer one;
then the more confident one. Claims that are equal in all three are not told apart: the outcome is undecided.
"""

from typing import Final

from braid.ledger.record.record import SourceType

STANDING: Final[dict[SourceType, int]] = {
    "corrected": 4,
    "explicit": 3,
    "implicit_intentional": 2,
    "implicit_unintentional": 2,
    "inferred": 1,
}
"""`explicit` is what was stated, the two implicit ones what was observed."""
