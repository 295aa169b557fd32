"""How often a caller may ask, by what is asked: least of all what destroys. Windows move, and are counted in memory.

Whoever comes through the socket in the store's folder is not limited: they have the store anyway.
"""

from typing import Final, Literal

import msgspec
from limits import RateLimitItem, parse
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from braid.admin.projections import SqlCeiling
from braid.caller import Caller
from braid.operation import Operation

Weight = Literal["read", "write", "destroy", "wrong token"]
USUAL: Final[dict[Weight, str]] = {
    "read": "3000/minute",
    "write": "1200/minute",
    "destroy": "30/minute",
    "wrong token": "60/minute",
}
"""What a caller may ask; of wrong tokens, what all strangers together may try before they wait."""

_BY_NAME: Final[dict[str, Weight]] = {str(one): one for one in USUAL}


def weight_of(known: Operation) -> Weight:
    """Return by which limit an operation counts: forgetting takes something away, too."""
    if known.destructive or known.access in ("forget", "erase", "keys"):
        return "destroy"
    return "read" if known.access == "read" else "write"


class Limits:
    """Who has asked how often. Safe between threads."""

    def __init__(self, rates: dict[Weight, str] | None = None) -> None:
        """`rates` replaces some of the usual ones; ValueError for one that is none, such as `30/minute`."""
        self._items: dict[Weight, RateLimitItem] = {
            weight: parse(rate) for weight, rate in (USUAL | (rates or {})).items()
        }
        self._windows = MovingWindowRateLimiter(MemoryStorage())

    def wait_s(self, who: str, weight: Weight) -> int | None:
        """Count one request; return how many seconds to wait where it is one too many, None where it may go on."""
        item = self._items[weight]
        if self._windows.hit(item, who, weight):
            return None
        return item.get_expiry()

    def is_spent(self, who: str, weight: Weight) -> bool:
        """Whether the next request would be one too many."""
        return not self._windows.test(self._items[weight], who, weight)


def name_of(caller: Caller) -> str | None:
    """Return under which name a caller is counted; None for who is not limited."""
    return caller.token


def read_rates(text: str) -> dict[Weight, str]:
    """Return the rates of `read=3000/minute,destroy=30/minute`. Raises ValueError, which says what would be right."""
    found: dict[Weight, str] = {}
    for part in filter(None, text.split(",")):
        name, _, rate = part.strip().partition("=")
        weight = _BY_NAME.get(name)
        if weight is None or not rate:
            raise ValueError(f"{part!r} is no limit: write {', '.join(f'{n}={r}' for n, r in USUAL.items())}")
        try:
            parse(rate)
        except ValueError:
            raise ValueError(f"{rate!r} is no rate: write 30/minute, 2/second or 1000/hour") from None
        found[weight] = rate
    return found


def read_ceiling(text: str) -> SqlCeiling:
    """Return how far statements may go, of `seconds=60,rows=1000`. Raises ValueError, which says what is right."""
    usual = SqlCeiling()
    found: dict[str, str] = {}
    for part in filter(None, text.split(",")):
        name, _, value = part.strip().partition("=")
        found[name] = value
    try:
        return msgspec.convert(found, SqlCeiling, strict=False)
    except msgspec.ValidationError as error:
        known = ", ".join(f"{one}={getattr(usual, one)}" for one in usual.__struct_fields__)
        raise ValueError(f"{text!r} is no limit of statements ({error}): write {known}") from None
