"""What is proposed for a candidate claim: one of four actions, on which living claim, how surely, and why. Pure."""

from typing import Annotated, Final, Literal, get_args

import msgspec
from msgspec import Meta

Action = Literal["ADD", "UPDATE", "DELETE", "NONE"]
ACTIONS: Final[tuple[Action, ...]] = get_args(Action)
CHANGES: Final = ("UPDATE", "DELETE")
"""What supersedes a claim that is known."""


class Proposal(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a decider would do. `target`: the temporary id of a claim that was shown; `confidence`: the candidate's,
    and `target_confidence` the target's where doubt lowers it.
    """

    action: Action
    target: str | None = None
    confidence: Annotated[float, Meta(ge=0, le=1)] = 1.0
    reason: Annotated[str, Meta(max_length=200)] = ""
    review_needed: bool = False
    target_confidence: Annotated[float, Meta(ge=0, le=1)] | None = None
