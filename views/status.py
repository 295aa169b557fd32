"""How projections and their snapshots stand, as values."""

from typing import Final

import msgspec

from braid.views.duck.digest import Digest

KEPT: Final = 2
"""How many stay when another is made: the newest, and one to fall back on."""


class ViewStatus(msgspec.Struct, frozen=True):
    """How a projection stands. `digest` is None where it has none, `unknown` counts records of unknown kinds,
    `pending` those whose meaning waits for `model`.
    """

    name: str
    position: int
    behind_by: int
    bytes: int
    digest: Digest | None = None
    unknown: int = 0
    unreadable: int = 0
    note: str = ""
    model: str = ""
    pending: int = 0


class Caught(msgspec.Struct, frozen=True):
    """What bringing a projection up to the log's end did."""

    name: str
    before: int
    position: int
    rebuilt: str | None
    """Why it was rebuilt from scratch; None when it was not."""
    again: int = 0
    """How many earlier records were made again: forgotten, recovered, their key revoked."""
    snapshot: str = ""
    """The snapshot that the rebuild began from; empty for one that began with nothing."""
    refused: tuple[str, ...] = ()
    """Snapshots that it could not begin from, each with the reason."""
    cleared: tuple[str, ...] = ()
    """What stood in `views/` where a file or folder of ours belongs, and was removed first."""


class Snapshot(msgspec.Struct, frozen=True):
    """A snapshot as a person sees it; `trouble` says why it can't be used, empty where it can."""

    name: str
    size: int
    root: str
    bytes: int
    parts: list[str]
    digest: str = ""
    trouble: str = ""


class Newest(msgspec.Struct, frozen=True, kw_only=True):
    """The newest snapshot: its size and lag in records (None where it can't be read), and why it would not be used."""

    name: str
    size: int | None
    behind: int | None
    made_at: str
    trouble: str
