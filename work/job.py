"""What a job is: which records, which consumer, which version of its rules. It holds indexes of the log, never words.

offered ──> pending ──lease──> leased ──> done
               ^                 │  │
               └──release────────┘  ├──> retry_scheduled ──lease──> leased
                                    └──> dead
"""

from hashlib import sha256
from typing import Literal

import msgspec

from braid.work.spans import Spans

State = Literal["pending", "leased", "retry_scheduled", "done", "dead"]
ACTIVE: tuple[State, ...] = ("pending", "leased", "retry_scheduled")
"""States of a job that is still to be done: of one batch there is one such job."""

WAITING: tuple[State, ...] = ("pending", "retry_scheduled")


class Batch(msgspec.Struct, frozen=True):
    """Records that one consumer takes in together, under one version of its rules."""

    consumer: str
    version: str
    spans: Spans

    @property
    def kind(self) -> str:
        """Which consumer under which version: only a worker that has both can do it."""
        return f"{self.consumer}@{self.version}"

    @property
    def id(self) -> str:
        """The job's id: the same batch has the same one on every transport."""
        said = msgspec.json.encode((self.consumer, self.version, self.spans))
        return "job_" + sha256(said).hexdigest()[:16]


class Lease(msgspec.Struct, frozen=True, kw_only=True):
    """The right to do a job until `expires_at`, in seconds. `token` rises with each lease: an older one is refused."""

    batch: Batch
    attempt: int
    """Which attempt this is, from 1."""
    token: int
    owner: str
    expires_at: float


class Death(msgspec.Struct, frozen=True):
    """Of what a job died: where its last attempt failed, the class of the error; after how many attempts."""

    stage: str
    error: str
    attempts: int


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A job as a transport knows it. `due_at`, `expires_at` and `changed_at` are seconds since 1970."""

    batch: Batch
    state: State
    attempts: int = 0
    due_at: float = 0.0
    owner: str = ""
    expires_at: float = 0.0
    stage: str = ""
    """Where the last attempt failed."""
    error: str = ""
    """The class of what it failed of."""
    changed_at: float = 0.0
