"""A passphrase stretched into a key, and what one guess at it costs (SPEC §4.3)."""

import unicodedata
from functools import lru_cache
from typing import Final, NamedTuple

from nacl.pwhash import argon2id


class KdfCost(NamedTuple):
    """What one passphrase guess costs: argon2id passes and memory in KiB."""

    operations: int = argon2id.OPSLIMIT_MODERATE
    memory_kib: int = argon2id.MEMLIMIT_MODERATE // 1024

    @property
    def sound(self) -> bool:
        """Whether it may be spent: only somebody out to stall us writes one above the bounds."""
        low, high = argon2id.MEMLIMIT_MIN // 1024, MAX_KDF_COST.memory_kib
        return 1 <= self.operations <= MAX_KDF_COST.operations and low <= self.memory_kib <= high


MAX_KDF_COST: Final = KdfCost(64, 4 * 1024 * 1024)
"""A header that asks for more is refused rather than obeyed."""


@lru_cache(maxsize=1)
def stretch(passphrase: str, cost: KdfCost, salt: bytes) -> bytes:
    """Return the 32-byte key of a passphrase. The last one is kept: vault and key files share it, and it is costly."""
    if not passphrase:
        raise ValueError("a passphrase can't be empty")
    # NFC: the same words typed on two systems must be the same bytes.
    secret = unicodedata.normalize("NFC", passphrase).encode()
    return argon2id.kdf(32, secret, salt, cost.operations, cost.memory_kib * 1024)
