"""What is remembered of a scope, page by page, for who looks over it, puts it right, takes it away and back."""

from datetime import datetime
from typing import Annotated

import msgspec
from msgspec import Meta

from braid.ledger.errors import IntegrityError, NoVaultError
from braid.ledger.record.ids import RecordId
from braid.ledger.record.record import Scope
from braid.ledger.record.source import SourceClass
from braid.operation import Index, Response, ScopedAsOf, operation
from braid.session import Session


class Memories(ScopedAsOf, frozen=True, kw_only=True):
    """Whose memories, and how many of them. `before`: as the page before said; without it the newest.

    `forgotten`: instead, those that were forgotten and can still be recovered; it needs the access `recover`, and has
    no past.
    `derived`: also what the store wrote itself: readings, questions, their answers, reflections, and what tools gave.
    """

    limit: Annotated[int, Meta(ge=1, le=1000, description="How many a page has at most.")] = 100
    before: Index | None = None
    forgotten: bool = False
    derived: bool = False


class ListedMemory(msgspec.Struct, frozen=True, kw_only=True):
    """A memory as it stands. `id`: the record that holds now; any operation takes it. `version`: see `modify`.

    `created_at`: when it was first remembered. `changed_at`: when it was last put right, None where it never was
    (`corrected`). Of a forgotten one, `forgotten_at`, and until when `recover` brings it back.
    """

    id: RecordId
    text: str
    created_at: datetime
    changed_at: datetime | None
    occurred_at: datetime | None
    actor: str
    name: str | None
    type: str
    method: str
    source_class: SourceClass
    scope: Scope | None
    tags: tuple[str, ...]
    pinned: bool
    importance: float
    version: int
    corrected: bool
    forgotten_at: datetime | None = None
    recoverable_until: datetime | None = None


class MemoryPage(Response, frozen=True, kw_only=True):
    """Memories, newest first. `before`: what to ask for the next page with; None where there is no more."""

    memories: tuple[ListedMemory, ...]
    before: int | None


@operation(
    Memories,
    MemoryPage,
    access="read",
    cost="index",
    example=Memories(user_id="maya", limit=50),
    errors=(ValueError, IntegrityError, NoVaultError),
)
def memories(session: Session, asked: Memories) -> MemoryPage:
    """Return a page of the memories of a scope that stand, newest first; each once, with what it says now.

    They are in the order in which they were first remembered: a correction moves none to another page, and what was
    forgotten leaves no gap. Each is read from the log and verified. As of a past (give each page the same) they are
    those that stood then, less what has been forgotten since. A page costs its own records and a question to the
    projection, which looks through one column (.03 s where it has a million records); with `forgotten`, it costs the
    records that are forgotten in the store. Raises ValueError for a past that never was.
    """
    from braid.memories.page import page

    return page(session, asked)
