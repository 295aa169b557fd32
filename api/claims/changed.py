"""A change of what is known, as callers get it."""

from datetime import datetime

import msgspec


class ChangedClaim(msgspec.Struct, frozen=True, kw_only=True):
    """A claim before or after: the record that makes it, and the turn and words that it was read from.

    `said_by`: whom the words name as having said so, else the turn's speaker by name, or by role.
    """

    id: str
    says: str
    object: str
    said: datetime
    said_by: str | None
    quote: str | None
    turn: str


class KnowledgeChange(msgspec.Struct, frozen=True, kw_only=True):
    """One change: what was known, what took its place and why. `when`: since when the new one holds, else was said."""

    subject: str
    rel: str
    when: datetime
    was: ChangedClaim
    now: ChangedClaim
    why: str
