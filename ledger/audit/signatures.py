"""The author signatures of a stretch, checked together at its end (SPEC §11.1)."""

from collections.abc import Callable

from braid.ledger.crypto.signature import verify_signature

Claim = tuple[bytes, bytes, bytes]
"""Public key, message, signature: that the key's owner signed the message. A plain tuple: each record makes one."""
Check = Callable[[list[Claim]], list[int]]
"""Claims to the places of those that do not hold, in order."""


def wrong(claims: list[Claim]) -> list[int]:
    """Return the places of the claims that do not hold."""
    return [place for place, claim in enumerate(claims) if not verify_signature(*claim)]
