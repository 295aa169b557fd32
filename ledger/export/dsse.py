"""DSSE envelopes (secure-systems-lab/dsse v1.0.2) as other tools write them, verified with Ed25519 keys.

What is signed is PAE(payload type, payload). The envelope is decoded once, and the payload that is returned
is the one that was verified. A keyid is a hint that nobody vouches for: it is not read. Thresholds count
keys, not signatures.
"""

import binascii
from base64 import b64decode, b64encode
from collections.abc import Collection

import msgspec

from braid.ledger.errors import EnvelopeError
from braid.ledger.tree.note import check_public_key, verify_ed25519

MAX_SIGNATURES = 100


class Verified(msgspec.Struct, frozen=True):
    """A verified payload, its type, and the trusted public keys that signed it."""

    payload_type: str
    payload: bytes
    keys: frozenset[bytes]


class _Signature(msgspec.Struct):
    sig: str


class _Envelope(msgspec.Struct, rename={"payload_type": "payloadType"}):
    payload: str
    payload_type: str
    signatures: list[_Signature]


def pae(payload_type: str, payload: bytes) -> bytes:
    """Return the pre-authentication encoding, which is what is signed; its lengths count bytes."""
    type_ = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(type_), type_, len(payload), payload)


def verify_envelope(envelope: bytes, keys: Collection[bytes], threshold: int = 1) -> Verified:
    """Return the payload of a JSON envelope that at least `threshold` of the Ed25519 keys signed.

    Raises EnvelopeError where it is malformed, has an empty payload type or too few keys signed it;
    ValueError where `threshold` is not 1 … the number of different keys, or a key is unsound.
    """
    trusted = frozenset(keys)
    if not 1 <= threshold <= len(trusted):
        raise ValueError(f"{len(trusted)} different keys can't meet a threshold of {threshold}")
    for key in trusted:
        check_public_key(key)
    read = _decode(envelope)
    payload = _from_base64(read.payload)
    message = pae(read.payload_type, payload)
    signatures = [_from_base64(signature.sig) for signature in read.signatures]
    signed = frozenset(
        key for key in trusted if any(verify_ed25519(key, message, signature) for signature in signatures)
    )
    if len(signed) < threshold:
        raise EnvelopeError(f"{len(signed)} trusted keys signed the envelope, {threshold} are asked for")
    return Verified(read.payload_type, payload, signed)


def _decode(envelope: bytes) -> _Envelope:
    try:
        read = msgspec.json.decode(envelope, type=_Envelope)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise EnvelopeError(f"not a DSSE envelope: {error}") from None
    if not read.payload_type:
        raise EnvelopeError("the envelope has an empty payload type")
    if not 1 <= len(read.signatures) <= MAX_SIGNATURES:
        raise EnvelopeError(f"the envelope has {len(read.signatures)} signatures, not 1 … {MAX_SIGNATURES}")
    return read


def _from_base64(text: str) -> bytes:
    """Return the bytes of padded base64, all in the standard or all in the URL-safe alphabet."""
    altchars = b"-_" if "-" in text or "_" in text else b"+/"
    try:
        data = b64decode(text, altchars, validate=True)
    except (binascii.Error, ValueError):
        data = None
    if data is None or b64encode(data, altchars).decode() != text:
        raise EnvelopeError(f"not base64: {text[:80]!r}")
    return data
