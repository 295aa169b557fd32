"""Near-duplicate hashes: MinHash (Broder 1997; rensa's) over words, keyed by the vault.

Whoever holds the projection alone can't test a guess against a fingerprint: its words went through BLAKE3 under a key
that only the vault's holder has. A fingerprint leaves with its row.
"""

import re
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

import numpy as np
from blake3 import blake3

PERMUTATIONS: Final = 32
_SEED: Final = 1
_SHINGLE: Final = 3
_WORDS: Final = re.compile(r"\w+")
_MAX_WORDS: Final = 4_096


def fingerprint_key(lookup_key: bytes) -> bytes:
    """Return the key of fingerprints that follows from the vault's lookup key."""
    return blake3(b"braid/v1/fingerprint", key=lookup_key).digest()


def fingerprints(texts: Sequence[str], key: bytes) -> list[bytes | None]:
    """Return a fingerprint (128 bytes) for each text, None for one without a word."""
    minhash: Any = import_module("rensa").RMinHash
    sets = [_shingles(text, key) for text in texts]
    full = [one for one in sets if one]
    if not full:
        return [None] * len(sets)
    digests = iter(minhash.digest_matrix_from_token_hash_sets(full, PERMUTATIONS, _SEED).to_rows())
    return [np.array(next(digests), dtype="<u4").tobytes() if one else None for one in sets]


def likeness(one: bytes, other: bytes) -> float:
    """Return the estimated share of common three-word shingles (Jaccard), in [0, 1]."""
    same: Any = np.frombuffer(one, dtype="<u4") == np.frombuffer(other, dtype="<u4")
    return float(same.mean())


def _shingles(text: str, key: bytes) -> list[int]:
    words = _WORDS.findall(text.lower())[:_MAX_WORDS]
    last = max(1, len(words) - _SHINGLE + 1) if words else 0
    parts = {" ".join(words[at : at + _SHINGLE]) for at in range(last)}
    return sorted(int.from_bytes(blake3(part.encode(), key=key).digest(8), "little") for part in parts)
