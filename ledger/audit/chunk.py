"""One stretch of a segment, record by record: what a worker checks, and the facts that it hands up (SPEC §11.1).

A worker checks all that needs no other stretch: frames, envelopes, ids, signatures, digests, lists of links. What
depends on order (keys in force, control chain, links' targets, tree) it reports as compact columns for the parent.
"""

import os
import re
import struct
from array import array
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Final, Literal, NamedTuple

from braid.ledger.audit.facts import (
    DIGITS,
    NO_SIGNER,
    ROLES,
    UNREAD,
    AuditTerms,
    Chunk,
    StretchFacts,
    index_text,
    kind_code,
    stretches,
)
from braid.ledger.audit.findings import Finding, FindingKind
from braid.ledger.audit.scan import Broken, SeenFrame, Window, walk
from braid.ledger.audit.signatures import Check, Claim, wrong
from braid.ledger.crypto.signature import verify_signature
from braid.ledger.errors import EnvelopeError
from braid.ledger.record.envelope import (
    Envelope,
    Link,
    LinkSummary,
    check_structure,
    decode_links,
    decode_payload,
    digest_text,
    link_problem,
    pae,
    payload_of,
    signature_of,
    text_of,
)
from braid.ledger.record.ids import MAX_INDEX, PREFIXES
from braid.ledger.tree.merkle import leaf_hash, leaf_hashes, root_of
from braid.wal.frame import HEADER_BYTES
from braid.wal.regular import open_regular

_ROLE_CODE: Final = {role: code for code, role in enumerate(ROLES)}
_DIGIT_SET: Final = frozenset(DIGITS)
_BLOB: Final = re.compile("[0-9a-f]{64}")
_MICROSECONDS: Final = re.compile(r"\.[0-9]{6}Z")
_ENTRY: Final = struct.Struct("<QQII")
BodyState = Literal["blank", "absent", "altered"]
HandOn = Callable[[list[Claim]], object]
"""Takes the next signatures that are to be checked, in order."""
TOGETHER: Final = 256
"""Signatures that are handed on at once: 2 ms of reading."""


def examine(chunk: Chunk, terms: AuditTerms, check: Check = wrong) -> StretchFacts:
    """Check a stretch, its signatures together at the end by `check`; raise OSError when the file can't be read."""
    claims: list[Claim] = []
    read = examine_unsigned(chunk, terms, claims.extend)
    return read.judged(check(claims))


class UnsignedStretch(NamedTuple):
    """A stretch of which all was checked but its signatures; `claimed` has one row for each of these."""

    facts: StretchFacts
    claimed: list[tuple[int, str, str, int]]
    """Index, id, id of the key, how many findings there were before: no envelopes, which a collector would trace."""
    name: str

    def judged(self, bad: list[int]) -> StretchFacts:
        """Return the facts; a signature that does not hold (`bad`: places in `claimed`, in order) is named where its
        record's findings begin.
        """
        for place in reversed(bad):
            index, id, key, at = self.claimed[place]
            message = f"the signature by {key} does not hold"
            self.facts.findings.insert(at, Finding("signature", message, index, id, self.name))
        return self.facts


def examine_unsigned(chunk: Chunk, terms: AuditTerms, hand_on: HandOn) -> UnsignedStretch:
    """Check all of a stretch but its signatures, which are handed on while it is read; errors as for `examine`."""
    fd = open_regular(chunk.path)
    try:
        examiner = _Examiner(chunk, terms, fd, hand_on)
        return UnsignedStretch(examiner.run(), examiner.claimed, chunk.name)
    finally:
        os.close(fd)


class _Examiner:
    def __init__(self, chunk: Chunk, terms: AuditTerms, fd: int, hand_on: HandOn) -> None:
        self.chunk, self.terms, self.hand_on = chunk, terms, hand_on
        self.facts = StretchFacts()
        self.heads = Window(fd, chunk.end, chunk.stop)
        self.leaves: list[bytes] = []
        self.ids: list[bytes] = []
        self.kinds = bytearray()
        self.signed = array("I")
        self.signers: dict[tuple[str, str, bool], int] = {}
        self.known: dict[tuple[str, str, str, bool], tuple[int, int]] = {}
        self.links = array("Q")
        self.unknown_keys: set[str] = set()
        self.claims: list[Claim] = []
        self.claimed: list[tuple[int, str, str, int]] = []
        self.rows: list[bytes] = []
        self.next: int | None = chunk.due
        self.tx: int | None = None
        self.time = self.second = self.exact = ""
        self.due: str | None = None
        self.pointer = -1

    def run(self) -> StretchFacts:
        facts = self.facts
        facts.stopped = self.chunk.start
        for seen in walk(self.heads, self.chunk.start, self.chunk.stop):
            if isinstance(seen, Broken):
                self._find(
                    "frame",
                    f"{seen.reason}; {seen.resume - seen.offset} bytes passed over",
                    offset=seen.offset,
                )
                facts.stopped = seen.resume
                continue
            facts.stopped = seen.offset + seen.header.length
            if not seen.whole:
                reason = "the checksum over the frame's envelopes does not hold"
                self._find(
                    "frame", reason, index=seen.header.first, offset=seen.offset, count=seen.header.count
                )
            if self._in_place(seen):
                self._frame(seen)
        self.hand_on(self.claims)
        facts.leaves = b"".join(self.leaves)
        facts.ids = b"".join(self.ids)
        facts.kinds = bytes(self.kinds)
        facts.signers = list(self.signers)
        facts.signed = self.signed.tobytes()
        facts.link_rows = self.links.tobytes()
        facts.unknown_keys = sorted(self.unknown_keys)
        if not self.terms.hash_only:
            self._compare_index()
        return facts

    def _compare_index(self) -> None:
        """Compare the place index with the frames; the parent leaves out what a crash may have left unwritten."""
        name = Path(self.chunk.path).with_suffix(".idx")
        try:
            fd = open_regular(name)
        except FileNotFoundError:
            fd = -1
        at = 0
        for first, count in self.facts.runs:
            expected = b"".join(self.rows[at : at + count])
            at += count
            offset = (first - self.chunk.segment_first) * _ENTRY.size
            stored = os.pread(fd, len(expected), offset) if fd >= 0 and 0 <= offset < 1 << 62 else b""
            if stored != expected:
                self._name_entries(name, first, expected, stored)
        if fd >= 0:
            os.close(fd)

    def _name_entries(self, name: Path, first: int, expected: bytes, stored: bytes) -> None:
        size = _ENTRY.size
        wrong = [
            k
            for k in range(len(expected) // size)
            if stored[k * size : k * size + size] != expected[k * size : k * size + size]
        ]
        for start, count in stretches(wrong):
            offset = (first + start - self.chunk.segment_first) * size
            message = "the place index does not agree with the frames: `braid doctor --fix` derives it again"
            finding = Finding(
                "idx",
                message,
                first + start,
                None,
                f"{Path(self.chunk.name).parent}/{name.name}",
                offset,
                count,
            )
            self.facts.findings.append(finding)

    def _find(
        self,
        kind: FindingKind,
        message: str,
        *,
        index: int | None = None,
        id: str | None = None,
        offset: int | None = None,
        count: int = 1,
    ) -> None:
        self.facts.findings.append(Finding(kind, message, index, id, self.chunk.name, offset, count))

    # -- frames -----------------------------------------------------------------------------------

    def _in_place(self, seen: SeenFrame) -> bool:
        """Whether the frame continues this stretch, perhaps with a gap; one that goes back is named and passed over."""
        header, facts = seen.header, self.facts
        if self.next is None:
            self.next = header.first
        if header.first < self.next or header.first - self.next > self.chunk.end:
            reason = (
                f"the frame begins with record {header.first}, {self.next} was due: it was repeated or moved"
            )
            self._find("frame", reason, index=header.first, offset=seen.offset, count=header.count)
            return False
        if header.first > self.next:
            missing = header.first - self.next
            reason = f"{missing} records are missing before this frame"
            self._find("frame", reason, index=self.next, offset=seen.offset, count=missing)
            facts.runs.append((header.first, 0))
            facts.pointers.append((self.next, -1))
            self.pointer = -1
        if self.tx is not None and header.first == self.next and header.tx != self.tx + 1:
            reason = f"transaction {header.tx} follows {self.tx}"
            self._find("frame", reason, index=header.first, offset=seen.offset, count=header.count)
        if not facts.runs:
            facts.tx = (header.tx, header.tx)
            facts.runs.append((header.first, 0))
        first, count = facts.runs[-1]
        facts.runs[-1] = (first, count + header.count)
        facts.tx = (facts.tx[0], header.tx)
        self.next, self.tx = header.first + header.count, header.tx
        return True

    def _frame(self, seen: SeenFrame) -> None:
        header, section, lengths = seen.header, seen.section, seen.lengths
        if self.terms.hash_only:
            self.leaves += leaf_hashes(seen.envelopes())
            return
        self.due = None
        base = seen.offset + HEADER_BYTES
        index, at, body_at = header.first, 12 * header.count, seen.bodies_at
        for length, listed, body in zip(lengths[0::3], lengths[1::3], lengths[2::3], strict=True):
            end = at + length
            self.rows.append(_ENTRY.pack(base + at, body_at, length, body))
            envelope = self._envelope(index, section[at:end], base + at)
            if envelope is None:
                if listed:
                    self._find(
                        "link",
                        "its list of links belongs to no readable record",
                        index=index,
                        offset=base + end,
                    )
            else:
                if len(self.claims) >= TOGETHER:
                    self.hand_on(self.claims)
                    self.claims = []
                tx = (header.tx, index - header.first, header.count)
                self._record(index, tx, envelope, section[end : end + listed], base + at)
                self._body(index, envelope, body_at, body)
            index += 1
            at = end + listed
            body_at += body

    # -- envelopes --------------------------------------------------------------------------------

    def _envelope(self, index: int, data: bytes, offset: int) -> Envelope | None:
        """Decode an envelope and lay its signature by; None when it can't be read. Fills the columns."""
        self.leaves.append(sha256(b"\x00" + data).digest())
        try:
            payload, signature = payload_of(data), signature_of(data)
            envelope = decode_payload(payload)
        except ValueError as error:  # EnvelopeError, or text that is no UTF-8
            self._find("envelope", str(error), index=index, offset=offset)
            self.ids.append(bytes(8))
            self.kinds.append(UNREAD)
            self.signed.append(NO_SIGNER)
            self.facts.pointers.append((index, -1))
            self.pointer = -1
            return None
        control = bool(envelope.public) and envelope.is_control
        self.ids.append(sha256(envelope.id.encode()).digest()[:8])
        what = (envelope.key, envelope.kind, envelope.type, control)
        known = self.known.get(what)
        if known is None:  # few are different: the same author says the same kinds of things
            place = self.signers.setdefault((envelope.key, envelope.kind, control), len(self.signers))
            known = self.known[what] = (kind_code(envelope), place)
        self.kinds.append(known[0])
        self.signed.append(known[1])
        if envelope.control != self.pointer:
            self.pointer = envelope.control
            self.facts.pointers.append((index, min(max(envelope.control, -2), MAX_INDEX)))
        key = self.terms.keys.get(envelope.key)
        if key is None:
            self.unknown_keys.add(envelope.key)  # the parent knows more, or says so
        else:
            self.claims.append((key.public, pae(payload), signature))
            self.claimed.append((index, envelope.id, envelope.key, len(self.facts.findings)))
        if control:  # its links ask at once; they are few
            holds = key is not None and verify_signature(*self.claims[-1])
            self.facts.controls.append((index, payload, signature, b"", holds))
        return envelope

    def _record(
        self, index: int, tx: tuple[int, int, int], envelope: Envelope, listed: bytes, offset: int
    ) -> None:
        """Check what the envelope says of itself against where it stands; `tx` as it should say it."""
        id = envelope.id
        if not self._names_itself(index, envelope):
            try:
                check_structure(envelope, self.terms.origin)
                self.second = envelope.created_at[:19]
                message = f"it names index {envelope.index} and stands at {index}: it was moved"
                if envelope.index != index:
                    self._find("id", message, index=index, id=id, offset=offset)
            except EnvelopeError as error:
                kind: FindingKind = "link" if "link" in str(error) else "id"
                self._find(kind, str(error), index=index, id=id, offset=offset)
        if envelope.tx != tx:
            number, at, count = envelope.tx
            message = f"it is record {at} of {count} of transaction {number}, not of this one"
            self._find("id", message, index=index, id=id, offset=offset)
        if envelope.created_at != self.due:
            self._time(index, envelope)
        if envelope.links or listed:
            self._links(index, envelope, listed)
        for name, size in envelope.blobs:
            if _BLOB.fullmatch(name) and 0 <= size < 1 << 62:
                self.facts.blobs.append((index, name, size))
            else:
                self._find(
                    "blob", "its media have no name that media can have", index=index, id=id, offset=offset
                )

    def _names_itself(self, index: int, envelope: Envelope) -> bool:
        """Whether id, time, kind, index and origin agree; False also where a closer look must say."""
        id, time = envelope.id, envelope.created_at
        return (
            envelope.index == index
            and not envelope.links
            and envelope.origin == self.terms.origin
            and (time == self.exact or self._is_exact(time))
            and id[:-4] == f"{PREFIXES.get(envelope.kind)}_{self.second}Z_{index_text(index)}"
            and _DIGIT_SET.issuperset(id[-4:])
            and (envelope.control < index or index == 0)
        )

    def _is_exact(self, time: str) -> bool:
        """Whether a time is well-formed, of the second that a closer look found to be so; a transaction has but one."""
        if time[:19] != self.second or not _MICROSECONDS.fullmatch(time, 19):
            return False
        self.exact = time
        return True

    def _time(self, index: int, envelope: Envelope) -> None:
        """Check the time of a transaction's first record, or of one that has another."""
        time = envelope.created_at
        if self.due is not None:
            self._find("time", "it has another time than its transaction", index=index, id=envelope.id)
            return
        if self.time and time <= self.time:
            self._find("time", f"its time {time} is not after {self.time}", index=index, id=envelope.id)
        self.due = self.time = time
        self.facts.time = (self.facts.time[0] or time, time)

    def _links(self, index: int, envelope: Envelope, listed: bytes) -> None:
        links = envelope.links
        if isinstance(links, LinkSummary):
            links = self._listed(index, envelope, links, listed)
        elif listed:
            self._find(
                "link", "a list of links that nothing signed stands behind it", index=index, id=envelope.id
            )
        control = envelope.is_control
        if control and self.facts.controls and isinstance(envelope.links, LinkSummary):
            at, payload, signature, _, holds = self.facts.controls[-1]
            self.facts.controls[-1] = (at, payload, signature, listed, holds and bool(links))
        add = self.links.extend
        for role, target, id in [(link.role, link.index, link.id) for link in links]:
            if role in _ROLE_CODE and 0 <= target < index and id[-12:-4] == index_text(target):
                named = int.from_bytes(sha256(id.encode()).digest()[:8], "little")
                add((index, target, named, _ROLE_CODE[role]))

    def _listed(self, index: int, envelope: Envelope, summary: LinkSummary, listed: bytes) -> list[Link]:
        """Return the links of a list when it is the signed one."""
        try:
            links = decode_links(listed)
        except EnvelopeError as error:
            self._find("link", str(error), index=index, id=envelope.id)
            return []
        root = text_of(root_of([leaf_hash(line) for line in listed.splitlines(keepends=True)]))
        if len(links) != summary.count or root != summary.root or len(listed) != summary.bytes:
            self._find(
                "link", "its list of links is not the one that was signed", index=index, id=envelope.id
            )
            return []
        for link in links:
            if problem := link_problem(link, index):
                self._find("link", problem, index=index, id=envelope.id)
        return links

    # -- bodies -----------------------------------------------------------------------------------

    def _body(self, index: int, envelope: Envelope, offset: int, length: int) -> None:
        digest, size = envelope.body
        sealed = self.heads.read(offset, length)
        if length == size and digest_text(sealed) == digest:
            if self.terms.deep:
                self._open_body(index, envelope, sealed, offset)
            return
        if length == 0:
            state: BodyState = "absent"
        else:
            state = "blank" if length == size and sealed.count(0) == size else "altered"
        self.facts.bodies.append((index, state, offset))

    def _open_body(self, index: int, envelope: Envelope, sealed: bytes, offset: int) -> None:
        from braid.ledger.audit.body import examine_body  # noqa: PLC0415 - a third of a worker's start, rarely needed

        at = 64 * (index - self.chunk.first)
        keys = self.chunk.keys[at : at + 64] if at >= 0 else b""
        for kind, message in examine_body(envelope, keys, sealed, self.terms.keys.get(envelope.key)):
            self._find(kind, message, index=index, id=envelope.id, offset=offset)
