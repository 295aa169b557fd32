"""Whether an ed25519 signature holds, by libsodium's strict rules; as a program, for an audit (SPEC §11.1).

Imports libsodium and nothing of Braid: so a process that runs this file checks its first signature within 10 ms.
"""

import os
import sys
from importlib import import_module

PUBLIC_BYTES = 32
SIGNATURE_BYTES = 64
# Without PyNaCl's wrapper, as the cipher is (aead.py): it copies the message twice, 2-3 µs of some 45.
_sodium = import_module("nacl._sodium")
_open, _NULL = _sodium.lib.crypto_sign_open, _sodium.ffi.NULL
if _sodium.lib.sodium_init() < 0:
    raise ImportError("libsodium can't be initialised on this machine")


def verify_signature(public: bytes, message: bytes, signature: bytes) -> bool:
    """Whether `signature` (64 bytes) over `message` is this key's; lengths, which C trusts, are checked here."""
    if len(signature) != SIGNATURE_BYTES or len(public) != PUBLIC_BYTES:
        return False
    signed = signature + message
    return not _open(_NULL, _NULL, signed, len(signed), public)


def _serve() -> None:
    """Answer each list of at most 32 claims on stdin: eight bytes on stdout, the number that came with it and the bits
    of those that do not hold. A claim is (public key, message, signature), as in `ledger/audit/checkers.py`.
    """
    import gc  # noqa: PLC0415 - here alone
    import marshal  # noqa: PLC0415 - from the process that started this one; a library would take 13 ms to import

    gc.disable()  # nothing here refers to itself
    read = sys.stdin.buffer.read
    while len(head := read(8)) == 8:
        claims: list[tuple[bytes, bytes, bytes]] = marshal.loads(read(int.from_bytes(head[4:], "little")))  # noqa: S302
        bits = sum([1 << place for place, claim in enumerate(claims) if not verify_signature(*claim)])
        os.write(1, head[:4] + bits.to_bytes(4, "little"))


if __name__ == "__main__":
    _serve()
