"""Signed notes (C2SP signed-note v1.0.0) and Ed25519 cosignatures (C2SP tlog-cosignature v1.0.1).

A note is a text that ends in a newline, an empty line, and one line for each signature:
`— <key name> base64(key ID, 4 bytes ‖ signature)`. A reader brings the keys it trusts, as verifier keys
(`<name>+<hex key ID>+base64(type ‖ public key)`). Signatures of other keys are ignored; a signature under the
name and ID of a trusted key must hold.
"""

import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Mapping, Sequence
from hashlib import sha256

import msgspec
from nacl import bindings
from nacl.exceptions import BadSignatureError

from braid.ledger.crypto.point import KEY_BYTES, is_sound
from braid.ledger.errors import NoteError

ED25519 = 0x01
ECDSA = 0x02
COSIGNATURE = 0x04
"""Types of keys. Others are parsed too, but nothing they sign can be verified here."""

MAX_NOTE_BYTES = 1_000_000
MAX_SIGNATURES = 100

SIGNATURE_BYTES = 64
_ID_BYTES = 4
_TIME_BYTES = 8
_SKEY_PREFIX = "PRIVATE+KEY+"
_NAME = re.compile(r"[^\s+\x00-\x1f\ud800-\udfff]+")
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f]")
_HEX_ID = re.compile(r"[0-9a-f]{8}")


class VerifierKey(msgspec.Struct, frozen=True):
    """A public key under a name: `id` is its 4-byte key ID, `type` says how `public` is to be read."""

    name: str
    id: bytes
    type: int
    public: bytes

    def __str__(self) -> str:
        """Return the vkey text, which `parse_vkey` reads."""
        return f"{self.name}+{self.id.hex()}+{to_base64(bytes([self.type]) + self.public)}"


class SigningKey(msgspec.Struct, frozen=True, repr_omit_defaults=True):
    """A private key under a name: `seed` is the 32-byte Ed25519 seed, `type` is ED25519 or COSIGNATURE."""

    name: str
    type: int
    seed: bytes

    def __repr__(self) -> str:
        """Return a text without the seed."""
        return f"SigningKey(name={self.name!r}, type={self.type})"

    @property
    def verifier(self) -> VerifierKey:
        """The public half."""
        return verifier_key(self.name, bindings.crypto_sign_seed_keypair(self.seed)[0], self.type)


class NoteSignature(msgspec.Struct, frozen=True):
    """One signature line: the name and key ID it claims, and the bytes after the ID."""

    name: str
    id: bytes
    blob: bytes

    def __str__(self) -> str:
        """Return the signature line, newline included."""
        return f"— {self.name} {to_base64(self.id + self.blob)}\n"


class SignedNote(msgspec.Struct, frozen=True):
    """A note that was opened: its text, the signatures verified, and those of keys that aren't trusted."""

    text: str
    verified: tuple[NoteSignature, ...]
    unknown: tuple[NoteSignature, ...]


def key_id(name: str, type_: int, public: bytes) -> bytes:
    """Return the 4-byte key ID, from SHA-256 of name, newline, type, key; for ECDSA of the key alone."""
    hashed = public if type_ == ECDSA else name.encode() + b"\n" + bytes([type_]) + public
    return sha256(hashed).digest()[:_ID_BYTES]


def verifier_key(name: str, public: bytes, type_: int = ED25519) -> VerifierKey:
    """Return the verifier key of an Ed25519 public key; NoteError for a bad name or a weak key."""
    _check_name(name)
    check_public_key(public)
    return VerifierKey(name, key_id(name, type_, public), type_, public)


def signing_key(name: str, seed: bytes, type_: int = ED25519) -> SigningKey:
    """Return the signing key of a 32-byte Ed25519 seed; NoteError for a bad name, type or length."""
    _check_name(name)
    if type_ not in (ED25519, COSIGNATURE):
        raise NoteError(f"nothing is signed here with a key of type 0x{type_:02x}")
    if len(seed) != KEY_BYTES:
        raise NoteError(f"an Ed25519 seed has {KEY_BYTES} bytes, not {len(seed)}")
    return SigningKey(name, type_, seed)


def parse_vkey(text: str) -> VerifierKey:
    """Return the key of a vkey text; NoteError where a part, the key ID or the key itself is wrong.

    A key of a type other than ED25519 and COSIGNATURE is returned as it stands and verifies nothing.
    """
    name, hex_id, encoded = _split_key(text, text)
    data = _from_base64(encoded, text)
    if len(data) < 1 + 1:
        raise NoteError(f"no public key in {text!r}")
    key = VerifierKey(name, bytes.fromhex(hex_id), data[0], data[1:])
    if key.type in _VERIFY:
        check_public_key(key.public)
    if key.type in (*_VERIFY, ECDSA) and key.id != key_id(name, key.type, key.public):
        raise NoteError(f"the key ID of {text!r} isn't that of its key")
    return key


def parse_skey(text: str) -> SigningKey:
    """Return the key of a `PRIVATE+KEY+…` text; NoteError, which doesn't show the text, where it is wrong."""
    shown = "the private key"
    if not text.startswith(_SKEY_PREFIX):
        raise NoteError(f"{shown} doesn't begin with {_SKEY_PREFIX}")
    name, hex_id, encoded = _split_key(text.removeprefix(_SKEY_PREFIX), shown)
    data = _from_base64(encoded, shown)
    if not data:
        raise NoteError(f"{shown} is empty")
    key = signing_key(name, data[1:], data[0])
    if key.verifier.id.hex() != hex_id:
        raise NoteError(f"the key ID of {shown} isn't that of its key")
    return key


def format_skey(key: SigningKey) -> str:
    """Return the `PRIVATE+KEY+…` text of a signing key, a secret."""
    return f"{_SKEY_PREFIX}{key.name}+{key.verifier.id.hex()}+{to_base64(bytes([key.type]) + key.seed)}"


def sign_note(text: str, signers: Sequence[SigningKey]) -> bytes:
    """Return the note of `text` signed by each Ed25519 key, in order.

    Raises ValueError for no signer or one of another type, NoteError for a text that no note can hold.
    """
    if not signers or any(signer.type != ED25519 for signer in signers):
        raise ValueError("a note is signed by one Ed25519 key or more; cosignatures are added to it")
    return format_note(text, [_sign(signer, text.encode(), b"") for signer in signers])


def cosign(text: str, signer: SigningKey, time_s: int) -> NoteSignature:
    """Return the `cosignature/v1` of a checkpoint's text at a Unix time; ValueError for another key type."""
    if signer.type != COSIGNATURE:
        raise ValueError(f"a key of type 0x{signer.type:02x} doesn't cosign")
    time = time_s.to_bytes(_TIME_BYTES, "big")
    return _sign(signer, _cosigned(text.encode(), time_s), time)


def cosignature_time(signature: NoteSignature) -> int:
    """Return the Unix time, in seconds, that a cosignature states; NoteError where its length is wrong."""
    if len(signature.blob) != _TIME_BYTES + SIGNATURE_BYTES:
        raise NoteError(
            f"the signature of {signature.name} isn't a cosignature: it has {len(signature.blob)} bytes"
        )
    return int.from_bytes(signature.blob[:_TIME_BYTES], "big")


def format_note(text: str, signatures: Sequence[NoteSignature]) -> bytes:
    """Return the note of `text` with these signatures; NoteError for what `parse_note` would refuse."""
    note = f"{text}\n{''.join(map(str, signatures))}".encode()
    if parse_note(note) != (text, tuple(signatures)):
        raise NoteError("the text has no newline at its end, or the signatures can't be parted from it")
    return note


def parse_note(note: bytes) -> tuple[str, tuple[NoteSignature, ...]]:
    """Return a note's text and signatures, none of them verified; NoteError where it isn't well-formed.

    Refused: more than 1,000,000 bytes or 100 signatures, control characters, two signatures by one key.
    """
    if len(note) > MAX_NOTE_BYTES:
        raise NoteError(f"the note has {len(note)} bytes, more than {MAX_NOTE_BYTES}")
    text, gap, block = _decode(note).rpartition("\n\n")
    if not gap or not block.endswith("\n"):
        raise NoteError("the note doesn't end in an empty line and signature lines")
    lines = block[:-1].split("\n")
    if len(lines) > MAX_SIGNATURES:
        raise NoteError(f"the note has {len(lines)} signatures, more than {MAX_SIGNATURES}")
    signatures = tuple(map(parse_signature, lines))
    if len({(signature.name, signature.id) for signature in signatures}) < len(signatures):
        raise NoteError("the note has two signatures by one key")
    return text + "\n", signatures


def parse_signature(line: str) -> NoteSignature:
    """Return the signature of one line, given without its newline; NoteError where it isn't well-formed."""
    dash, _, rest = line.partition(" ")
    name, _, encoded = rest.partition(" ")
    if dash != "—":
        raise NoteError(f"not a signature line: {line!r}")
    _check_name(name)
    data = _from_base64(encoded, line)
    if len(data) <= _ID_BYTES:
        raise NoteError(f"no signature in the line {line!r}")
    return NoteSignature(name, data[:_ID_BYTES], data[_ID_BYTES:])


def open_note(note: bytes, keys: Collection[VerifierKey]) -> SignedNote:
    """Return the note if a key of `keys` signed it and no signature under such a key is wrong (signed-note).

    Raises NoteError otherwise, ValueError where two different keys have the same name and ID.
    """
    trusted = {(key.name, key.id): key for key in keys}
    if any(trusted[key.name, key.id] != key for key in keys):
        raise ValueError("two different keys have the same name and key ID")
    text, signatures = parse_note(note)
    verified: list[NoteSignature] = []
    unknown: list[NoteSignature] = []
    for signature in signatures:
        key = trusted.get((signature.name, signature.id))
        verify = _VERIFY.get(key.type) if key else None
        if key is None or verify is None:
            unknown.append(signature)
        elif verify(key.public, text.encode(), signature.blob):
            verified.append(signature)
        else:
            raise NoteError(f"the signature by {key.name} (key {key.id.hex()}) is wrong")
    if not verified:
        raise NoteError("no trusted key signed the note")
    return SignedNote(text, tuple(verified), tuple(unknown))


def check_public_key(public: bytes) -> None:
    """Return if an Ed25519 public key is canonical and of the main subgroup, else NoteError (SPEC §3.4)."""
    if len(public) != KEY_BYTES:
        raise NoteError(f"an Ed25519 public key has {KEY_BYTES} bytes, not {len(public)}")
    if not is_sound(public):
        raise NoteError(f"not a sound Ed25519 public key: {public.hex()}")


def verify_ed25519(public: bytes, message: bytes, signature: bytes) -> bool:
    """Return whether `signature` is the Ed25519 signature of `message` by a key that was checked before."""
    if len(signature) != SIGNATURE_BYTES:
        return False
    try:
        bindings.crypto_sign_open(signature + message, public)
    except BadSignatureError:
        return False
    return True


def to_base64(data: bytes) -> str:
    """Return padded base64 (RFC 4648 §4), as notes, checkpoints and proofs have it."""
    return b64encode(data).decode()


def from_base64(text: str) -> bytes | None:
    """Return the bytes that `to_base64` writes as `text`, None where it writes no such text."""
    try:
        data = b64decode(text, validate=True)
    except ValueError:
        return None
    return data if to_base64(data) == text else None


def _verify_cosignature(public: bytes, text: bytes, blob: bytes) -> bool:
    time_s = int.from_bytes(blob[:_TIME_BYTES], "big")
    return verify_ed25519(public, _cosigned(text, time_s), blob[_TIME_BYTES:])


_VERIFY: Mapping[int, Callable[[bytes, bytes, bytes], bool]] = {
    ED25519: verify_ed25519,
    COSIGNATURE: _verify_cosignature,
}
"""By type of key: (public key, text, bytes after the key ID) to whether the signature holds."""


def _cosigned(text: bytes, time_s: int) -> bytes:
    return b"cosignature/v1\ntime %d\n%b" % (time_s, text)


def _sign(signer: SigningKey, message: bytes, before: bytes) -> NoteSignature:
    private = bindings.crypto_sign_seed_keypair(signer.seed)[1]
    signature = bindings.crypto_sign(message, private)[:SIGNATURE_BYTES]
    return NoteSignature(signer.name, signer.verifier.id, before + signature)


def _decode(note: bytes) -> str:
    try:
        text = note.decode()
    except UnicodeDecodeError as error:
        raise NoteError(f"the note isn't UTF-8: {error}") from None
    if _CONTROL.search(text):
        raise NoteError("the note has a control character")
    return text


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise NoteError(f"not the name of a key: {name!r}")


def _split_key(text: str, shown: str) -> tuple[str, str, str]:
    name, _, rest = text.partition("+")
    hex_id, _, encoded = rest.partition("+")
    _check_name(name)
    if not _HEX_ID.fullmatch(hex_id):
        raise NoteError(f"not a key: {shown!r}")
    return name, hex_id, encoded


def _from_base64(text: str, shown: str) -> bytes:
    data = from_base64(text)
    if data is None:
        raise NoteError(f"not canonical base64 in {shown!r}")
    return data
