"""What happens in a program, as its records in the log tell it (SPEC §23). Values only."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Literal

import msgspec

from braid.agent.program.plan import Plan
from braid.ledger.record.record import PROGRAM

NAME: Final = PROGRAM
"""The name of a program's events."""


class Lease(msgspec.Struct, frozen=True):
    """Who runs a program: a process on a machine, in a run of its own. `until`: from then on it may be taken over."""

    host: str
    pid: int
    run: str
    until: datetime

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"


class _Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", omit_defaults=True):
    """Base of what happens. `n`: its number in the program, from 0; no two records of a program have one."""

    n: int


class Begun(_Event, frozen=True, tag="begun"):
    """A program was begun. Whose plan it is: a default's name, `given`, or, in older logs, `model`."""

    question: str
    plan: Plan
    origin: str
    now: datetime
    holder: Lease
    dated: bool = False
    """Whether the asker named the time."""
    allowed: Sequence[str] = ()
    refused: str | None = None
    """Of older logs, as the three below: why the plan that a model wrote was not taken."""
    said: str | None = None
    model: str | None = None
    tokens: int = 0


class Taken(_Event, frozen=True, tag="taken"):
    """Another run goes on with it. `again`: a call that may have been made is to be made again."""

    holder: Lease
    again: bool = False


class Did(_Event, frozen=True, tag="did"):
    """A step gave something: of what its record's `evidence` links name, in their order, or a text made of it.

    `scores` and `signals` are those of recall's hits, `p` is a probability, `ms` the milliseconds that it took.
    """

    step: str
    ms: float = 0.0
    scores: Sequence[float] = ()
    signals: Sequence[Mapping[str, float]] = ()
    text: str = ""
    p: float | None = None
    data: Any = None
    tokens: int = 0
    model: str | None = None
    said: str | None = None
    trouble: Sequence[str] = ()


class Called(_Event, frozen=True, tag="called"):
    """A tool is about to be called here: from now on nobody else may, and whether it was, only its result tells."""

    step: str
    tool: str
    digest: str
    key: str


class Paused(_Event, frozen=True, tag="paused"):
    """It waits: for an answer from elsewhere, or for a word on a call of which nobody knows whether it was made."""

    step: str
    tool: str
    digest: str
    asks: str
    unsure: bool = False


class Ended(_Event, frozen=True, tag="ended"):
    """It is over after `ms` milliseconds: answered (its record names the answer, then the question), or stopped."""

    how: Literal["answered", "stopped"]
    why: str = ""
    step: str = ""
    ms: float = 0.0
    tokens: int = 0
    votes: Mapping[str, int] = {}
    """Where several answers were made: how many said what."""
    trouble: Sequence[str] = ()


Event = Begun | Taken | Did | Called | Paused | Ended


class Recorded(msgspec.Struct, frozen=True):
    """An event as it stands in the log: its record's id, when it was written, and the records that it came from."""

    event: Event
    id: str
    at: datetime
    evidence: Sequence[str] = ()
