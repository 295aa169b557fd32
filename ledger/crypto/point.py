"""Whether 32 bytes are a sound ed25519 public key (SPEC §3.4)."""

from functools import lru_cache

from nacl.bindings import crypto_core_ed25519_is_valid_point

KEY_BYTES = 32


@lru_cache(maxsize=1024)
def is_sound(public: bytes) -> bool:
    """Whether a key is canonical, of the main subgroup and not of small order.

    Remembered, since it costs as much as checking a signature and the same few keys are met again and again.
    """
    return len(public) == KEY_BYTES and crypto_core_ed25519_is_valid_point(public)
