"""The envelope: what an auditor reads, signed as DSSE from one fixed byte template (SPEC §3.1, §3.2). Pure.

Nothing is ever serialised again to be checked: the payload is cut out of the stored bytes by the template's fixed
prefix and suffix, and its members stand in one order, so that a duplicate can't hide.
"""

import json
import re
from binascii import Error as Base64Error
from binascii import b2a_base64
from hashlib import sha256
from typing import Any, Final, NamedTuple, cast

import msgspec
from pybase64 import b64decode, b64encode

from braid.ledger.errors import EnvelopeError
from braid.ledger.record.ids import MAX_INDEX, parse_id, prefix_of

PAYLOAD_TYPE: Final = b"application/vnd.braid.record+json"
MAX_ENVELOPE_BYTES: Final = 65_535
MAX_INLINE_LINKS: Final = 256
MAX_LINKS: Final = 1_000_000
LINK_ROLES: Final = frozenset(
    ("parent", "evidence", "applied_to", "support", "candidate", "experience", "supersedes", "target", "kept")
)
DERIVATION_ROLES: Final = LINK_ROLES - {"supersedes", "target", "kept"}

_HEAD: Final = b'{"payload":"'
_MIDDLE: Final = b'","payloadType":"' + PAYLOAD_TYPE + b'","signatures":[{"sig":"'
_TAIL: Final = b'"}]}'
_SIG_CHARS: Final = 88
_SIG_BYTES: Final = 64
_URL_SAFE: Final = bytes.maketrans(b"+/", b"-_")
_SUFFIX_LEN: Final = len(_MIDDLE) + _SIG_CHARS + len(_TAIL)
_PAE_HEAD: Final = b"DSSEv1 %d %s " % (len(PAYLOAD_TYPE), PAYLOAD_TYPE)
_REQUIRED_HEAD: Final = ("braid", "origin", "index", "id", "kind")
_REQUIRED_TAIL: Final = ("created_at", "tx", "control", "key", "commit", "body")
_ORDER: Final = (*_REQUIRED_HEAD, "type", *_REQUIRED_TAIL, "links", "blobs", "public")
_OPTIONAL: Final = frozenset(("type", "links", "blobs", "public"))
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", re.ASCII)
_EXACT: Final = (1 << 53) - 1
"""Beyond this, readers whose numbers are doubles read another number (RFC 8259 §6)."""


class Link(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A reference from one record to an earlier one."""

    role: str
    index: int
    id: str


class LinkSummary(msgspec.Struct, frozen=True):
    """Stands for more than 256 links, which lie behind the envelope (SPEC §3.6)."""

    count: int
    root: str
    bytes: int


class Envelope(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """A record's payload: everything about it but its content. Its members stand in the order of `_ORDER`."""

    braid: int
    origin: str
    index: int
    id: str
    kind: str
    type: str = ""
    created_at: str
    tx: tuple[int, int, int]
    control: int
    key: str
    commit: str
    body: tuple[str, int]
    links: list[Link] | LinkSummary = []
    blobs: list[tuple[str, int]] = []
    public: dict[str, Any] = {}

    @property
    def is_control(self) -> bool:
        """Whether the record changes keys, tombstones or the clock's acceptance (SPEC §3.5)."""
        return "op" in self.public


class SignedPayload(NamedTuple):
    """The two halves of a DSSE envelope."""

    payload: bytes
    signature: bytes


_SIGNATURE = slice(-_SIG_CHARS - len(_TAIL), -len(_TAIL))
_decode, _encode = msgspec.json.Decoder(Envelope).decode, msgspec.json.Encoder().encode


def pae(payload: bytes) -> bytes:
    """Return the bytes that are signed (DSSE v1 pre-authentication encoding)."""
    return _PAE_HEAD + b"%d " % len(payload) + payload


def wrap(payload: bytes, signature: bytes) -> bytes:
    """Return the envelope's stored bytes."""
    return _HEAD + b64encode(payload) + _MIDDLE + b64encode(signature) + _TAIL


def unwrap(envelope: bytes) -> SignedPayload:
    """Cut payload and signature out of the stored bytes; raise EnvelopeError for any byte off the template."""
    return SignedPayload(payload_of(envelope), signature_of(envelope))


def signature_of(envelope: bytes) -> bytes:
    """Cut the signature out of stored bytes whose template `payload_of` has seen to; errors as for `unwrap`."""
    signature = _from_base64(envelope[_SIGNATURE])
    if len(signature) != _SIG_BYTES:  # as many characters hold 65 or 66 bytes too
        raise EnvelopeError(f"the envelope's signature has {len(signature)} bytes, not {_SIG_BYTES}")
    return signature


def payload_of(envelope: bytes) -> bytes:
    """Cut the payload alone out of the stored bytes, for readers who trust the leaf; raise EnvelopeError."""
    cut = len(envelope) - _SUFFIX_LEN
    if (
        len(envelope) > MAX_ENVELOPE_BYTES
        or cut < len(_HEAD)
        or not envelope.startswith(_HEAD)
        or not envelope.startswith(_MIDDLE, cut)
        or not envelope.endswith(_TAIL)
    ):
        raise EnvelopeError("the envelope is not of the signed template")
    return _from_base64(envelope[len(_HEAD) : cut])


def _from_base64(text: bytes) -> bytes:
    """Return the bytes of canonical base64: what a lenient decoder passes over does not come back when encoded."""
    try:
        data = b64decode(text)
    except Base64Error as error:
        raise EnvelopeError(f"the envelope's base64 is malformed: {error}") from error
    if b64encode(data) != text:
        raise EnvelopeError("the envelope's base64 is not canonical")
    return data


def digest_text(data: bytes) -> str:
    """Return the SHA-256 of `data` as the envelope writes digests: base64url without padding."""
    return text_of(sha256(data).digest())


def text_of(digest: bytes) -> str:
    """Return 32 bytes as the envelope writes them."""
    return b2a_base64(digest, newline=False).translate(_URL_SAFE)[:43].decode()


def decode_payload(payload: bytes) -> Envelope:
    """Read a payload; raise EnvelopeError unless its members stand once each and in order."""
    try:
        envelope = _decode(payload)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        _check_members(payload)
        raise EnvelopeError(f"the payload is not a record: {error}") from error
    if not _is_plain(envelope, payload):
        _check_members(payload)
    if envelope.braid != 1:
        raise EnvelopeError(f"the record has format {envelope.braid}; this release reads format 1")
    return envelope


def _is_plain(envelope: Envelope, payload: bytes) -> bool:
    """Whether the payload is to the byte what its known members make: so none is repeated, none out of order."""
    if envelope.public:
        return False  # numbers in it may have been written in another way
    try:
        return _encode(envelope) == payload
    except OverflowError:  # a number that no place in a log can have
        return False


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise EnvelopeError("the payload repeats a member")
    return members


def _check_members(payload: bytes) -> None:
    try:
        members: object = json.loads(payload, object_pairs_hook=_refuse_duplicates)
    except (ValueError, RecursionError) as error:
        if isinstance(error, EnvelopeError):
            raise
        raise EnvelopeError(f"the payload is not JSON: {error}") from error
    if not isinstance(members, dict):
        raise EnvelopeError("the payload is not an object")
    expected = [name for name in _ORDER if name in members or name not in _OPTIONAL]
    if list(cast("dict[str, object]", members))[: len(expected)] != expected:
        raise EnvelopeError("the payload's members are not those of a record, or not in order")


def check_structure(envelope: Envelope, origin: str) -> None:
    """Raise EnvelopeError unless id, time, place and links agree with each other and belong to this log."""
    try:
        parts = parse_id(envelope.id)
    except ValueError as error:
        raise EnvelopeError(str(error)) from error
    tx, place, count = envelope.tx
    problem = (
        (envelope.origin != origin and f"it belongs to {envelope.origin}, not to {origin}")
        or (not 0 <= envelope.index <= MAX_INDEX and "its index is out of range")
        or (parts.index != envelope.index and "its id names another index")
        or (parts.prefix != prefix_of(envelope.kind) and "its id names another kind")
        or (not _TIME.fullmatch(envelope.created_at) and "its time is malformed")
        or (parts.second[:-1] != envelope.created_at[:19] and "its id names another time")
        or (not (0 <= place < count and tx >= 0) and "its place in the transaction is impossible")
        or (envelope.control > max(envelope.index - 1, 0) and "its control record comes later")
        or (envelope.index > 0 and envelope.control == envelope.index and "it is its own control record")
        or (_is_inexact(envelope) and f"it has a number beyond {_EXACT}")
        or _link_problem(envelope)
    )
    if problem:
        raise EnvelopeError(f"{envelope.id}: {problem}")


def _is_inexact(envelope: Envelope) -> bool:
    """Whether a number that nothing else bounds is none for every reader."""
    numbers = [*envelope.tx, envelope.control, envelope.body[1], *(size for _, size in envelope.blobs)]
    if isinstance(envelope.links, LinkSummary):
        numbers.append(envelope.links.bytes)
    return max(map(abs, numbers)) > _EXACT


def _link_problem(envelope: Envelope) -> str | None:
    links = envelope.links
    if isinstance(links, LinkSummary):
        return (
            None if MAX_INLINE_LINKS < links.count <= MAX_LINKS else "its link list has an impossible length"
        )
    if len(links) > MAX_INLINE_LINKS:
        return "it holds too many links inline"
    return next((problem for link in links if (problem := link_problem(link, envelope.index))), None)


def link_problem(link: Link, index: int) -> str | None:
    """Return what is wrong with a link of the record at `index`, or None."""
    if link.role not in LINK_ROLES:
        return f"a link has the unknown role {link.role}"
    if not 0 <= link.index < index:
        return "a link points forward"
    try:
        named = parse_id(link.id).index
    except ValueError as error:
        return str(error)
    return None if named == link.index else "a link's id names another index"


def encode_links(links: list[Link]) -> list[bytes]:
    """Return the lines of a link list, each with its line feed (SPEC §3.6)."""
    return [f"{link.role} {link.index} {link.id}\n".encode() for link in links]


def decode_links(data: bytes) -> list[Link]:
    """Read a link list; raise EnvelopeError for a malformed line."""
    links: list[Link] = []
    for line in data.split(b"\n")[:-1]:
        try:
            role, index, target = line.decode("ascii").split(" ")
            links.append(Link(role, int(index), target))
        except ValueError as error:
            raise EnvelopeError(f"the link list has a malformed line: {line[:80]!r}") from error
        if line != f"{role} {links[-1].index} {target}".encode():
            raise EnvelopeError(f"the link list has a non-canonical line: {line[:80]!r}")
    return links
