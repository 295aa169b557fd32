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
_MIX: Final = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)
"""Three words make a shingle: odd multipliers, one for each place."""
_WORDS: Final = re.compile(r"\w+")
_MAX_WORDS: Final = 4_096


def fingerprint_key(lookup_key: bytes) -> bytes:
    """Return the key of fingerprints that follows from the vault's lookup key."""
    return blake3(b"braid/v1/fingerprint", key=lookup_key).digest()


def fingerprints(texts: Sequence[str], key: bytes) -> list[bytes | None]:
    """Return a fingerprint (128 bytes) for each text, None for one without a word."""
    minhash: Any = import_module("rensa").RMinHash
    known: dict[str, int] = {}
    sets = [_shingles(text, key, known) for text in texts]
    full = [one for one in sets if one]
    if not full:
        return [None] * len(sets)
    digests = iter(minhash.digest_matrix_from_token_hash_sets(full, PERMUTATIONS, _SEED).to_rows())
    return [np.array(next(digests), dtype="<u4").tobytes() if one else None for one in sets]


def likeness(one: bytes, other: bytes) -> float:
    """Return the estimated share of common three-word shingles (Jaccard), in [0, 1]."""
    same: Any = np.frombuffer(one, dtype="<u4") == np.frombuffer(other, dtype="<u4")
    return float(same.mean())


def _shingles(text: str, key: bytes, known: dict[str, int]) -> list[int]:
    """Return a number for each run of three words, once; `known` keeps the hashes of words, which come again."""
    words = _WORDS.findall(text.lower())[:_MAX_WORDS]
    if not words:
        return []
    for word in words:
        if word not in known:
            known[word] = int.from_bytes(blake3(word.encode(), key=key).digest(8), "little")
    hashed = np.array([known[word] for word in words], dtype=np.uint64)
    run = min(len(_MIX), len(words))
    last = len(words) - run + 1
    mixed = sum(
        (hashed[place : place + last] * np.uint64(_MIX[place]) for place in range(run)),
        np.zeros(last, np.uint64),
    )
    return list(set[int](mixed.tolist()))  # MinHash asks for no order
