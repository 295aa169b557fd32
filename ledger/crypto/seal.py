"""Sealing a record's body under its own key; pure but for the nonce, which a caller may supply (SPEC §4)."""

from typing import Final

import msgspec
from blake3 import blake3
from nacl.utils import random

from braid.ledger.crypto.aead import NONCE_BYTES, TAG_BYTES, decrypt, encrypt
from braid.ledger.errors import BodyTooLargeError, UnsealError

MAX_BODY_BYTES: Final = 16 * 1024 * 1024
MIN_SEALED_BYTES: Final = 256
_LENGTH_BYTES = 4
_OVERHEAD = NONCE_BYTES + _LENGTH_BYTES + TAG_BYTES


class RecordKey(msgspec.Struct, frozen=True, gc=False):
    """What follows from one leaf seed, 32 bytes each: the body's key, its commitment, the view rows' key."""

    sealing: bytes
    commitment: bytes
    row: bytes

    def __repr__(self) -> str:
        return "RecordKey(…)"


def record_key(leaf_seed: bytes) -> RecordKey:
    """Return the three keys of the record whose leaf seed (32 bytes) this is (SPEC §4.1)."""
    out = blake3(b"braid/v1/record", key=leaf_seed).digest(96)
    return RecordKey(out[:32], out[32:64], out[64:])


def padme(length: int) -> int:
    """Return the padded length (bytes): at least 256, else at most 12 % more (Padmé, PURBs 2019, §4)."""
    if length <= MIN_SEALED_BYTES:
        return MIN_SEALED_BYTES
    exponent = length.bit_length() - 1
    mask = (1 << (exponent - exponent.bit_length())) - 1
    return (length + mask) & ~mask


def seal_body(
    key: RecordKey, json_bytes: bytes, *, origin: str, id: str, kind: str, nonce: bytes | None = None
) -> bytes:
    """Return nonce ‖ ciphertext ‖ tag, Padmé-padded as a whole, bound to origin, id and kind (SPEC §4.2).

    `nonce` (24 bytes) is for tests; it is random when left out. Raises BodyTooLargeError above 16 MiB of
    JSON.
    """
    size = len(json_bytes)
    if size > MAX_BODY_BYTES:
        raise BodyTooLargeError(size, MAX_BODY_BYTES)
    nonce = random(NONCE_BYTES) if nonce is None else nonce
    padding = padme(size + _OVERHEAD) - size - _OVERHEAD
    plain = size.to_bytes(_LENGTH_BYTES, "little") + json_bytes + bytes(padding)
    return nonce + encrypt(plain, _associated(origin, id, kind), nonce, key.sealing)


def unseal_body(key: RecordKey, sealed: bytes, *, origin: str, id: str, kind: str) -> bytes:
    """Return the JSON bytes of a sealed body; raise UnsealError for anything that `seal_body` did not write.

    Refused: a body under 256 bytes, a failed tag (an altered byte; another key, origin, id or kind), a length
    that does not lead to this padded size, padding that is not zero (SPEC §4.2).
    """
    if len(sealed) < MIN_SEALED_BYTES:
        raise UnsealError(id, f"{len(sealed)} bytes are too short for a sealed body")
    plain = decrypt(sealed[NONCE_BYTES:], _associated(origin, id, kind), sealed[:NONCE_BYTES], key.sealing)
    if plain is None:
        raise UnsealError(id, "the tag does not match: altered, or sealed under another key or name")
    size = int.from_bytes(plain[:_LENGTH_BYTES], "little")
    if size > MAX_BODY_BYTES or padme(size + _OVERHEAD) != len(sealed):
        raise UnsealError(id, "the length inside does not fit the sealed size")
    end = _LENGTH_BYTES + size
    if plain.count(0, end) != len(plain) - end:
        raise UnsealError(id, "the padding is not zero")
    return plain[_LENGTH_BYTES:end]


def _associated(origin: str, id: str, kind: str) -> bytes:
    return f"braid/v1/body\n{origin}\n{id}\n{kind}\n".encode()
