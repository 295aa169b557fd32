"""The keys that a log admits, gathered before the audit so that workers can check signatures (SPEC §11.1).

Nothing here is believed: an id is its key's hash; whether it was admitted, when and by whom, is judged by the audit's
own fold. What is overlooked because the log is damaged is found by that fold, and the audit starts again with it.
"""

import os
from base64 import b64decode
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from braid.ledger.audit.facts import KeyFacts
from braid.ledger.audit.plan import SegmentFile
from braid.ledger.audit.scan import SEGMENT_HEADER_BYTES, Broken, Window, look
from braid.ledger.crypto.seal import unseal_body
from braid.ledger.errors import LedgerError
from braid.ledger.keys.author_key import check_public_key, key_id
from braid.ledger.keys.control import ControlState
from braid.ledger.keys.vault import Vault
from braid.ledger.record.envelope import Envelope, decode_payload, unwrap
from braid.wal.regular import open_regular
from braid.wal.segment import ENTRY, segment_path


def genesis_vkey(log: Path) -> str:
    """Return the log key that the first record claims; empty when it can't be read."""
    try:
        fd = open_regular(segment_path(log, 0))
    except FileNotFoundError:
        return ""
    try:
        seen = look(Window(fd, os.fstat(fd).st_size, stop=0), SEGMENT_HEADER_BYTES)
    finally:
        os.close(fd)
    if isinstance(seen, Broken):
        return ""
    at = 12 * seen.header.count
    try:
        public = decode_payload(unwrap(seen.section[at : at + seen.lengths[0]]).payload).public
    except ValueError:  # EnvelopeError, or text that is no UTF-8
        return ""
    return str(public.get("log_vkey", ""))


Chain = list[tuple[Envelope, bytes]]
"""Control records about keys, with their bodies, from the newest back, unverified."""
_ABOUT_KEYS = frozenset(("genesis", "admit", "log_key"))


def read_chain(log: Path) -> Chain:
    """Return what the chain of control records says about keys, as far as the place index leads."""
    segments = [
        SegmentFile(path, path.name, int(path.stem), path.stat().st_size)
        for path in sorted(log.glob("*.seg"))
        if path.stem.isdigit()
    ]
    return [
        (envelope, body) for envelope, body in _chain(segments) if envelope.public.get("op") in _ABOUT_KEYS
    ]


def claimed_log_keys(log: Path, chain: Chain) -> list[str]:
    """Return the log keys that genesis and the chain of control records name, unverified: candidates to open heads."""
    named = [genesis_vkey(log)]
    named += [
        str(envelope.public.get("vkey")) for envelope, _ in chain if envelope.public.get("op") == "log_key"
    ]
    return [text for text in dict.fromkeys(named) if text]


def gather_keys(chain: Chain, vault: Vault | None) -> dict[str, KeyFacts]:
    """Return the keys along the chain of control records, by id; with a vault also the actors they were made for."""
    keys: dict[str, KeyFacts] = {}
    for envelope, body in chain:
        public = envelope.public
        with suppress(KeyError, TypeError, ValueError):
            if public.get("op") == "genesis":
                for text in public["root_keys"]:
                    _add(keys, b64decode(text, validate=True), "root", None)
            elif public.get("op") == "admit":
                actor = _actor(envelope, body, vault) if vault else None
                _add(keys, b64decode(public["key"], validate=True), str(public["role"]), actor)
    return keys


def keys_of(control: ControlState, known: dict[str, KeyFacts]) -> dict[str, KeyFacts]:
    """Return `known` and all that the fold has admitted."""
    return {**{id: KeyFacts(life.public, life.role) for id, life in control.keys.items()}, **known}


def _add(keys: dict[str, KeyFacts], public: bytes, role: str, actor: str | None) -> None:
    check_public_key(public)
    keys[key_id(public)] = KeyFacts(public, role, actor)


def _actor(envelope: Envelope, body: bytes, vault: Vault) -> str | None:
    try:
        raw = unseal_body(
            vault.key(envelope.index), body, origin=envelope.origin, id=envelope.id, kind=envelope.kind
        )
        actor = msgspec.json.decode(raw).get("actor")
    except (LedgerError, msgspec.MsgspecError, AttributeError):
        return None
    return actor if isinstance(actor, str) else None


def _chain(segments: list[SegmentFile]) -> Iterator[tuple[Envelope, bytes]]:
    """Yield the last record, then the control records from the newest back."""
    if not segments:
        return
    last = segments[-1]
    with suppress(OSError, ValueError):
        count = last.path.with_suffix(".idx").stat().st_size // ENTRY.size
        index = max(last.first + count - 1, 0)
        while True:
            envelope, body = _at(segments, index)
            yield envelope, body
            if (
                envelope.control >= index
            ):  # its place counts, not what it says: else a forgery could lead in circles
                return
            index = envelope.control


def _at(segments: list[SegmentFile], index: int) -> tuple[Envelope, bytes]:
    segment = segments[max(bisect_right([segment.first for segment in segments], index) - 1, 0)]
    row = _read(segment.path.with_suffix(".idx"), (index - segment.first) * ENTRY.size, ENTRY.size)
    if len(row) != ENTRY.size:
        raise FileNotFoundError(f"{segment.name}: the place index lacks record {index}")
    offset, body_at, length, body_len = ENTRY.unpack(row)
    envelope = decode_payload(unwrap(_read(segment.path, offset, min(length, 65_536))).payload)
    return envelope, _read(segment.path, body_at, body_len) if envelope.kind == "key" else b""


def _read(path: Path, offset: int, length: int) -> bytes:
    fd = open_regular(path)
    try:
        return os.pread(fd, length, offset) if 0 <= offset < 1 << 62 else b""
    finally:
        os.close(fd)
