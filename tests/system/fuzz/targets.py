"""What is fuzzed: each parser of Braid against those that share no line with it, over the same bytes.

A target turns bytes into verdicts: what was read, as plain values, or None where it was refused. Two readers that do
not agree are a finding, and so is any exception but the refusals that are promised. Where a checksum or a signature
would turn every mutation away, the bytes are also tried resealed: then what lies behind it is reached.
"""

import base64
import struct
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from blake3 import blake3

from braid.ledger.errors import LedgerError
from braid.ledger.record.envelope import LinkSummary, check_structure, decode_payload, unwrap, wrap
from braid.ledger.tree.checkpoint import Checkpoint, open_checkpoint, sign_checkpoint
from braid.ledger.tree.merkle import leaf_hash
from braid.ledger.tree.multiproof import check_multiproof, is_multiproof
from braid.ledger.tree.note import format_note, parse_note, sign_note, signing_key
from braid.ledger.tree.proof import check_proof, format_proof, parse_proof
from braid.ledger.tree.tiles import (
    entries_path,
    pack_entries,
    parse_entries_path,
    parse_tile_path,
    tile_path,
    unpack_entries,
)
from braid.wal.frame import HEADER_BYTES, Frame, FrameError, parse_header
from tests.system.spec.auditors import python_auditor

ORIGIN: Final = "log.example/fuzz"
KEY: Final = signing_key(ORIGIN, bytes(range(32)))
VKEY: Final = str(KEY.verifier)
Read = Callable[[bytes], Any]


class Target(NamedTuple):
    """A parser of Braid, the others, and what makes whole what a mutation broke."""

    braid: Read
    others: dict[str, Read]
    variants: Callable[[bytes], Iterator[bytes]]


class DisagreementError(AssertionError):
    """Two readers of the same bytes do not say the same."""


def run(name: str, data: bytes) -> Any:
    """Read the bytes, and each variant of them, with every reader; return what was read, or raise DisagreementError."""
    target = TARGETS[name]
    found: Any = None
    for variant in target.variants(data):
        verdict = target.braid(variant)
        for other, read in target.others.items():
            if (said := read(variant)) != verdict:
                raise DisagreementError(
                    f"{name}: Braid says {verdict!r}, {other} says {said!r} of {variant!r}"
                )
        found = found or verdict
    return found


def refusing(read: Read, *refusals: type[Exception]) -> Read:
    """Let the promised refusals be None."""

    def reading(data: bytes) -> Any:
        try:
            return read(data)
        except refusals:
            return None

    return reading


# -- notes and heads --------------------------------------------------------------------------------------------------


def _note(data: bytes) -> Any:
    text, signatures = parse_note(data)
    assert format_note(text, signatures) == data, "a note is written in one way alone"
    return text, [(one.name, one.id, one.blob) for one in signatures]


def _stranger_note(data: bytes) -> Any:
    return python_auditor().read_note(data)


def _head(data: bytes) -> Any:
    checkpoint, _ = open_checkpoint(data, [KEY.verifier], ORIGIN)
    return checkpoint.size, checkpoint.root


def _stranger_head(data: bytes) -> Any:
    auditor = python_auditor()
    head = auditor.open_head(data, [auditor.LogKey.parse(VKEY)], ORIGIN)
    return head.size, head.root


def _signed(data: bytes) -> Iterator[bytes]:
    yield data
    try:
        yield sign_note(data.decode(), [KEY])
    except (UnicodeDecodeError, LedgerError):
        return


# -- envelopes --------------------------------------------------------------------------------------------------------


def _envelope(data: bytes) -> Any:
    signed = unwrap(data)
    envelope = decode_payload(signed.payload)
    check_structure(envelope, ORIGIN)
    links = (
        []
        if isinstance(envelope.links, LinkSummary)
        else [(one.role, one.index, one.id) for one in envelope.links]
    )
    return signed.payload, signed.signature, envelope.index, envelope.id, envelope.kind, envelope.key, links


def _stranger_envelope(data: bytes) -> Any:
    found = python_auditor().Envelope.parse(data)
    if found.problem(ORIGIN) is not None:
        return None
    links = [(one.role, one.index, one.id) for one in found.links]
    return found.payload, found.signature, found.index, found.id, found.kind, found.key, links


def _wrapped(data: bytes) -> Iterator[bytes]:
    """As an envelope, and as the payload of one."""
    yield data
    yield wrap(data, bytes(64))


# -- frames -----------------------------------------------------------------------------------------------------------


def _frame(data: bytes) -> Any:
    header = parse_header(data)
    if header.length > len(data):
        raise FrameError("the frame is incomplete")
    body_at = HEADER_BYTES + header.head_len
    frame = Frame(header, 0, data[HEADER_BYTES:body_at], data[body_at : header.length])
    return header.first, header.tx, header.group, [tuple(one) for one in frame.records()], frame.end_offset


def _stranger_frame(data: bytes) -> Any:
    auditor = python_auditor()
    found = auditor.read_frame(data, 0)
    if isinstance(found, auditor.Gap) or not found.whole:
        return None
    return found.first, found.tx, found.group, [part[:3] for part in found.records], found.end


def _checked(data: bytes) -> Iterator[bytes]:
    yield data
    if len(data) < HEADER_BYTES:
        return
    fresh = bytearray(data)
    fresh[:4] = b"BRF1"
    fresh[48:64] = blake3(fresh[:48]).digest(length=16)
    (head,) = struct.unpack_from("<Q", fresh, 32)
    if head <= len(fresh):
        fresh[64:96] = blake3(bytes(fresh[:64]) + bytes(fresh[96 : 96 + head])).digest()
    yield bytes(fresh)


# -- tiles and bundles ------------------------------------------------------------------------------------------------


def _path(data: bytes) -> Any:
    text = data.decode("latin-1")
    for parse in (parse_tile_path, parse_entries_path):
        try:
            found = parse(text)
        except ValueError:
            continue
        path = tile_path(*found) if len(found) == 3 else entries_path(*found)
        assert path == text, "a path is written in one way alone"
        return tuple(found)
    return None


def _stranger_path(data: bytes) -> Any:
    """A path taken apart by hand: up to seven groups of three digits, all but the last behind an x."""
    words = data.decode("latin-1").split("/")
    entries = words[:2] == ["tile", "entries"]
    level, numbers, width = words[1] if len(words) > 2 else "", words[2:], 0
    if words[0] != "tile" or not numbers:
        return None
    if len(numbers) > 1 and numbers[-2].endswith(".p"):
        if not _plain(numbers[-1]) or not 0 < int(numbers[-1]) < 256:
            return None
        width, numbers = int(numbers[-1]), [*numbers[:-2], numbers[-2][:-2]]
    groups = [*(one.removeprefix("x") for one in numbers[:-1]), numbers[-1]]
    if any(not one.startswith("x") for one in numbers[:-1]) or any(
        len(one) != 3 or any(digit not in "0123456789" for digit in one) for one in groups
    ):
        return None
    if len(groups) > 7 or (len(groups) > 1 and groups[0] == "000"):
        return None
    n = int("".join(groups))
    if entries:
        return n, width
    return (int(level), n, width) if _plain(level) and len(level) < 3 and int(level) < 64 else None


def _plain(text: str) -> bool:
    return bool(text) and all(digit in "0123456789" for digit in text) and (text == "0" or text[0] != "0")


def _bundle(data: bytes) -> Any:
    entries = unpack_entries(data)
    assert pack_entries(entries) == data, "a bundle is written in one way alone"
    return entries


def _stranger_bundle(data: bytes) -> Any:
    entries: list[bytes] = []
    while data:
        if len(data) < 2 or len(data) < 2 + int.from_bytes(data[:2], "big"):
            return None
        size = int.from_bytes(data[:2], "big")
        entries.append(data[2 : 2 + size])
        data = data[2 + size :]
    return entries if 1 <= len(entries) <= 256 else None


# -- proofs -----------------------------------------------------------------------------------------------------------


def _proof(data: bytes) -> Any:
    if is_multiproof(data):
        many = check_multiproof(data, KEY.verifier)
        return list(many.ids.values()), many.checkpoint.size, many.checkpoint.root.hex()
    extra = parse_proof(data).extra
    if extra is None:
        return None
    proven = check_proof(data, leaf_hash(extra), KEY.verifier)
    envelope = decode_payload(unwrap(extra).payload)
    check_structure(envelope, ORIGIN)
    if envelope.index != proven.index:
        return None
    return [envelope.id], proven.checkpoint.size, proven.checkpoint.root.hex()


def _stranger_proof(data: bytes) -> Any:
    shown = python_auditor().check_proof(data, VKEY)
    return shown.get("ids") or [shown["id"]], shown["size"], shown["root"]


def _proved(data: bytes) -> Iterator[bytes]:
    """As it is; and with its first envelope alone in a log of one record that the key has signed."""
    yield data
    line = next((line for line in data.split(b"\n") if line.startswith((b"extra ", b"leaf "))), None)
    if line is None:
        return
    try:
        stored = base64.b64decode(line.split(b" ")[-1], validate=True)
        note = sign_checkpoint(Checkpoint(ORIGIN, 1, leaf_hash(stored)), [KEY])
        yield format_proof(0, [], note, stored)
    except (ValueError, LedgerError):
        return


def _itself(data: bytes) -> Iterator[bytes]:
    yield data


_BAD: Final = (LedgerError, FrameError)
_STRANGER: Final = python_auditor().BadDataError
TARGETS: Final[dict[str, Target]] = {
    "note": Target(refusing(_note, *_BAD), {"braid_audit": refusing(_stranger_note, _STRANGER)}, _signed),
    "head": Target(refusing(_head, *_BAD), {"braid_audit": refusing(_stranger_head, _STRANGER)}, _signed),
    "envelope": Target(
        refusing(_envelope, *_BAD), {"braid_audit": refusing(_stranger_envelope, _STRANGER)}, _wrapped
    ),
    "frame": Target(refusing(_frame, *_BAD), {"braid_audit": refusing(_stranger_frame, _STRANGER)}, _checked),
    "path": Target(_path, {"by hand": _stranger_path}, _itself),
    "bundle": Target(refusing(_bundle, ValueError), {"by hand": _stranger_bundle}, _itself),
    "proof": Target(refusing(_proof, *_BAD), {"braid_audit": refusing(_stranger_proof, _STRANGER)}, _proved),
}
