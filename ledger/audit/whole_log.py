"""What only the whole log can show: control chain, keys in force, links' targets, lattice, erasures (SPEC §11.1).

Takes the facts of the stretches in order. Memory: about 11 bytes a record, and what is rare.
"""

from collections import defaultdict
from collections.abc import Callable, Container
from itertools import pairwise

import numpy as np

from braid.ledger.audit.facts import (
    KIND_CODES,
    NO_SIGNER,
    ROLES,
    UNKNOWN_TYPE,
    UNREAD,
    StretchFacts,
    stretches,
)
from braid.ledger.audit.findings import Finding
from braid.ledger.crypto.signature import verify_signature
from braid.ledger.errors import EnvelopeError, IntegrityError
from braid.ledger.keys.author_key import ROLE_KINDS
from braid.ledger.keys.control import ControlState
from braid.ledger.record.envelope import Envelope, Link, LinkSummary, decode_links, decode_payload, pae

_PARENT = ROLES.index("parent")
_NOT_MEMORIES = tuple(KIND_CODES[kind] for kind in ("genesis", "key", "tombstone"))
_RULED = frozenset(kind for kinds in ROLE_KINDS.values() for kind in kinds)

Old = Callable[[int], tuple[bytes, int] | None]
"""An authenticated look at a record before the audit's start: 8-byte hash of its id and code of its kind."""


class GrowingColumn:
    """A growing numpy column."""

    def __init__(self, dtype: str) -> None:
        self._data = np.zeros(1024, dtype=dtype)
        self.size = 0

    def extend(self, rows: "np.ndarray[tuple[int], np.dtype[np.unsignedinteger]]") -> None:
        """Add rows at the end."""
        need = self.size + len(rows)
        if need > len(self._data):
            grown = np.zeros(max(need, len(self._data) + (len(self._data) >> 1)), dtype=self._data.dtype)
            grown[: self.size] = self._data[: self.size]
            self._data = grown
        self._data[self.size : need] = rows
        self.size = need

    def pad(self, count: int, value: int) -> None:
        """Add one value `count` times."""
        self.extend(np.full(count, value, dtype=self._data.dtype))

    @property
    def rows(self) -> "np.ndarray[tuple[int], np.dtype[np.unsignedinteger]]":
        """The rows so far."""
        return self._data[: self.size]


class LogFold:
    """The fold over all stretches."""

    def __init__(self, start: int, control: ControlState, keys: Container[str], old: Old | None) -> None:
        """Begin at record `start` with the control state before it; the workers know `keys`."""
        self._keys = keys
        self.start = start
        self.control = control
        self.findings: list[Finding] = []
        self.notes: list[str] = []
        self.next = start
        self.tx = -1
        self.time = ""
        self.bodies: dict[int, tuple[str, int, str]] = {}
        self.blobs: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self.unknown_keys: set[str] = set()
        self.certificates: list[tuple[int, str, int, int]] = []
        self.genesis: Envelope | None = None
        self._old = old
        self._old_seen: dict[int, tuple[bytes, int] | None] = {}
        self._ids, self._kinds, self._signed = GrowingColumn("<u8"), GrowingColumn("u1"), GrowingColumn("<u4")
        self._signers: dict[tuple[str, str, bool], int] = {}
        self._pointers: list[tuple[int, int]] = []
        self._controls: list[int] = [] if control.newest < 0 else [control.newest]
        self._certify: set[int] = set()
        self._targets: dict[int, int] = {}

    # -- taking in --------------------------------------------------------------------------------

    def take(self, facts: StretchFacts, file: str) -> None:
        """Take in the next stretch, whose first record stands at or behind the last one's end."""
        self.findings += facts.findings
        self.unknown_keys.update(facts.unknown_keys)
        self._columns(facts)
        if facts.time[0]:
            if self.time and facts.time[0] <= self.time and facts.runs:
                message = f"its time {facts.time[0]} is not after {self.time}"
                self.findings.append(Finding("time", message, facts.runs[0][0], file=file))
            self.time = facts.time[1]
        if facts.runs and facts.runs[0][0] > self.next:
            self._pointers.append((self.next, -1))
        self._pointers += facts.pointers
        for index, payload, signature, listed, checked in facts.controls:
            envelope = decode_payload(payload)
            holds = checked
            if not holds and envelope.key not in self._keys and envelope.key in self.control.keys:
                holds = verify_signature(self.control.public_key(envelope.key), pae(payload), signature)
            self._fold(index, envelope, listed, holds=holds)
        if facts.link_rows:
            self._links(np.frombuffer(facts.link_rows, dtype="<u8").reshape(-1, 4))
        for index, name, size in facts.blobs:
            self.blobs[name].append((index, size))
        for index, state, offset in facts.bodies:
            self.bodies[index] = (state, offset, file)
        self.next = self.start + self._ids.size

    def _columns(self, facts: StretchFacts) -> None:
        codes = np.array(
            [
                self._signers.setdefault((key, kind, op), len(self._signers))
                for key, kind, op in facts.signers
            ],
            dtype="<u4",
        )
        ids, kinds = np.frombuffer(facts.ids, dtype="<u8"), np.frombuffer(facts.kinds, dtype="u1")
        signed = np.frombuffer(facts.signed, dtype="<u4").copy()
        known = signed != NO_SIGNER
        signed[known] = codes[signed[known]]
        signed[~known] = NO_SIGNER
        at = 0
        for first, count in facts.runs:
            gap = first - self.start - self._ids.size
            self._ids.pad(gap, 0)
            self._kinds.pad(gap, UNREAD)
            self._signed.pad(gap, NO_SIGNER)
            self._ids.extend(ids[at : at + count])
            self._kinds.extend(kinds[at : at + count])
            self._signed.extend(signed[at : at + count])
            at += count

    def _fold(self, index: int, envelope: Envelope, listed: bytes, *, holds: bool) -> None:
        self._controls.append(index)
        if not holds and envelope.key in self.control.keys:
            return  # named by its signature
        op = envelope.public.get("op")
        if op == "certify":
            self._certify.add(index)
        if index != 0 and self.control.refusal(envelope) is not None:
            return  # named with all that this key signed
        try:
            links = decode_links(listed) if isinstance(envelope.links, LinkSummary) else envelope.links
            if envelope.index != index:
                raise IntegrityError(f"{envelope.id} stands at index {index}: it was moved")
            self.control.apply(envelope, links)
        except (IntegrityError, EnvelopeError, ArithmeticError, TypeError) as error:
            self.findings.append(Finding("control", str(error), index, envelope.id))
            return
        if index == 0:
            self.genesis = envelope
        elif op == "certify":
            self._certificate(envelope)
        elif op == "erase":
            self._erase(envelope, links)

    def _erase(self, envelope: Envelope, links: list[Link]) -> None:
        targets = {link.index for link in links if link.role == "target"}
        self._targets[envelope.index] = len(targets)
        for index in sorted(targets):
            kind = self._kind(index)
            if kind in _NOT_MEMORIES or index in self._controls:
                message = f"it erases record {index}, which is no memory: keys, tombstones and genesis can't be erased"
                self.findings.append(Finding("erasure", message, envelope.index, envelope.id))

    def _certificate(self, envelope: Envelope) -> None:
        public = envelope.public
        erase, records = public.get("erase"), public.get("records")
        if isinstance(erase, int) and isinstance(records, int):
            self.certificates.append((envelope.index, envelope.id, erase, records))
        else:
            self.findings.append(
                Finding("erasure", "the certificate names no erasure", envelope.index, envelope.id)
            )

    # -- links ------------------------------------------------------------------------------------

    def _look_back(self, index: int) -> tuple[bytes, int] | None:
        if index not in self._old_seen:
            self._old_seen[index] = self._old(index) if self._old else None
        return self._old_seen[index]

    def _kind(self, index: int) -> int:
        if index < self.start:
            seen = self._look_back(index)
            return UNREAD if seen is None else seen[1]
        return int(self._kinds.rows[index - self.start]) if index - self.start < self._kinds.size else UNREAD

    def _links(self, rows: "np.ndarray[tuple[int, int], np.dtype[np.uint64]]") -> None:
        source = rows[:, 0].astype(np.int64) - self.start
        target = rows[:, 1].astype(np.int64) - self.start
        ids, kinds = self._ids.rows, self._kinds.rows
        here = target >= 0
        id_at = np.zeros(len(rows), dtype="<u8")
        kind_at = np.full(len(rows), UNREAD, dtype="u1")
        id_at[here], kind_at[here] = ids[target[here]], kinds[target[here]]
        for place in np.nonzero(~here)[0].tolist():
            seen = self._look_back(int(rows[place, 1]))
            if seen is None:
                continue  # named by the one who looked
            id_at[place], kind_at[place] = int.from_bytes(seen[0], "little"), seen[1]
        wrong = (id_at != rows[:, 2]) & (kind_at != UNREAD)
        for place in np.nonzero(wrong)[0].tolist():
            message = f"a link names another record than the one at {int(rows[place, 1])}"
            self.findings.append(Finding("link", message, int(rows[place, 0])))
        child = kinds[source]
        below = (rows[:, 3] == _PARENT) & (child < 4) & (kind_at < 4) & (child < kind_at)
        for place in np.nonzero(below)[0].tolist():
            message = f"it stands below its parent {int(rows[place, 1])} in the lattice: derivation goes up"
            self.findings.append(Finding("lattice", message, int(rows[place, 0])))
        if self.control.erased:
            self._erased_targets(rows)

    def _erased_targets(self, rows: "np.ndarray[tuple[int, int], np.dtype[np.uint64]]") -> None:
        erased = self.control.erased
        for source, target in rows[:, :2].tolist():
            by = erased.get(target)
            if by is not None and by < source and source not in self._certify:
                message = f"it links to record {target}, which record {by} had erased"
                self.findings.append(Finding("link", message, source))

    # -- the end ----------------------------------------------------------------------------------

    def finish(self) -> None:
        """Judge what needs the last record: keys' lives, the control chain, erasures without their blanks."""
        self._judge_keys()
        self._judge_pointers()
        for index in (np.nonzero(self._kinds.rows == UNKNOWN_TYPE)[0] + self.start).tolist():
            self.findings.append(Finding("lattice", "its type is none of the lattice", index))

    def _judge_keys(self) -> None:
        codes = self._signed.rows
        order = np.argsort(codes, kind="stable")
        bounds = np.searchsorted(codes[order], np.arange(len(self._signers) + 1))
        for (key, kind, control), code in self._signers.items():
            rows = order[bounds[code] : bounds[code + 1]] + self.start
            if len(rows):
                self._judge_key(key, kind, rows, control=control)

    def _judge_key(
        self, key: str, kind: str, rows: "np.ndarray[tuple[int], np.dtype[np.int64]]", *, control: bool
    ) -> None:
        life = self.control.keys.get(key)
        if life is None:
            self._name(rows, "signature", f"key {key} was never admitted to this log")
            return
        self._name(rows[rows < life.admitted], "signature", f"key {key} was admitted only at {life.admitted}")
        if life.revoked is not None:
            self._name(rows[rows > life.revoked], "signature", f"key {key} was revoked at {life.revoked}")
        if kind in _RULED:
            lawful = kind in ROLE_KINDS[life.role] and (not control or life.role in ("root", "operator"))
            if not lawful:
                what = "control record" if control else kind
                self._name(rows, "key-role", f"a key of role {life.role} may not sign this {what}")
        if life.compromised_since is not None:
            disputed = int((rows >= life.compromised_since).sum())
            if disputed:
                since = f"compromised since {life.compromised_since}"
                what = f"{kind} record by {key} is" if disputed == 1 else f"{kind} records by {key} are"
                self.notes.append(f"{disputed} {what} disputed: the key was {since}")

    def _name(self, rows: "np.ndarray[tuple[int], np.dtype[np.int64]]", kind: str, message: str) -> None:
        for first, count in stretches(rows.tolist()):
            if kind == "key-role":
                self.findings.append(Finding("key-role", message, first, count=count))
            else:
                self.findings.append(Finding("signature", message, first, count=count))

    def _judge_pointers(self) -> None:
        """Compare each record's `control` with the newest control record before it."""
        end = self.start + self._ids.size
        runs = [*self._pointers, (end, -2)]
        changes = [index + 1 for index in self._controls]
        at = 0
        newest = -1
        for (first, named), (stop, _) in pairwise(runs):
            place = first
            while place < stop:
                while at < len(changes) and changes[at] <= place:
                    newest = self._controls[at]
                    at += 1
                until = min(stop, changes[at]) if at < len(changes) else stop
                if named not in (max(newest, 0), -1):
                    message = f"it names {named} as the newest control record; that is {max(newest, 0)}"
                    self.findings.append(Finding("control", message, place, count=until - place))
                place = until
