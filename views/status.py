"""How a projection stands, as a value."""

import msgspec

from braid.views.duck.digest import Digest


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
