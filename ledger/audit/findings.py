"""What an audit says: findings as values with positions, notes, what could not be looked at (SPEC §11). Pure."""

from typing import Any, Final, Literal, get_args

import msgspec

FindingKind = Literal[
    "settings",
    "segment",
    "frame",
    "idx",
    "envelope",
    "id",
    "time",
    "control",
    "signature",
    "key-role",
    "body",
    "link",
    "lattice",
    "leaf",
    "tile",
    "checkpoint",
    "guard",
    "since",
    "erasure",
    "vault",
    "blob",
    "seal",
    "actor",
    "projection",
    "derived",
]
KINDS_OF_FINDINGS: Final[tuple[str, ...]] = get_args(FindingKind)
MEANING: Final[dict[str, str]] = {
    "settings": "store.json contradicts the genesis record",
    "segment": "a segment file is missing, strange, or does not continue the one before",
    "frame": "bytes that are no whole transaction, or a transaction out of its place",
    "idx": "a place index does not agree with the frames; derived, rebuilt by `braid doctor --fix`",
    "envelope": "an envelope off the template, or a payload that is no record",
    "id": "id, index, time and place in the transaction do not agree",
    "time": "transaction times do not increase",
    "control": "a control record is unlawful, or is not the one that later records name",
    "signature": "the author's signature does not hold, or its key was not in force",
    "key-role": "a key signed a kind that its role does not allow",
    "body": "a sealed body is not what was signed, or is blank though no erasure names it",
    "link": "a link leads to no such record, to an erased one, or its list was altered",
    "lattice": "an experience stands below one of its parents",
    "leaf": "a record is not the one that the tree holds at its place",
    "tile": "a stored hash tile is missing or wrong; derived, rebuilt by `braid doctor --fix`",
    "checkpoint": "a signed head is not of this log, or contradicts its records",
    "guard": "the log contradicts the head that is remembered outside the store",
    "since": "the log does not continue what was verified before",
    "erasure": "an erasure is not what its certificate says",
    "vault": "the vault is older than an erasure, or is not this store's",
    "blob": "sealed media are missing or altered",
    "seal": "a body does not open under its own key",
    "actor": "a key signed words that are not its owner's",
    "projection": "a projection differs from what the log gives; derived, made again by `braid replay`",
    "derived": "a view, claim or stance is not what the records that it names give",
}


Raw = bytes
"""`Report.bytes` hides the name."""


class Finding(msgspec.Struct, frozen=True, omit_defaults=True):
    """One problem and where it is. It stands for `count` records from `index` on; `file` is relative to the store."""

    kind: FindingKind
    message: str
    index: int | None = None
    id: str | None = None
    file: str | None = None
    offset: int | None = None
    count: int = 1

    def __str__(self) -> str:
        place = [] if self.index is None else [f"record {self.index}"]
        if self.count > 1 and self.index is not None:
            place = [f"records {self.index} to {self.index + self.count - 1}"]
        if self.file:
            place.append(self.file if self.offset is None else f"{self.file}, offset {self.offset}")
        return f"{self.kind}: {': '.join([*place, self.message])}"


class VerifiedState(msgspec.Struct, frozen=True):
    """What a clean audit leaves for the next one: a head that this verifier has itself found good (SPEC §11.4)."""

    origin: str
    vkey: str
    size: int
    root: str
    verified_at: str

    def to_json(self) -> bytes:
        """Return the state as the bytes of a file."""
        return msgspec.json.encode(self) + b"\n"

    @classmethod
    def from_json(cls, data: bytes) -> "VerifiedState":
        """Read the bytes that `to_json` wrote; raise ValueError for anything else."""
        return msgspec.json.decode(data, type=cls)


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict of one audit. Sizes in records, `bytes` of the log read, root in hex, `seconds` of wall time."""

    store: str
    mode: Literal["full", "deep", "hash"]
    findings: list[Finding]
    notes: list[str]
    """True, worth knowing, and no fault: disputed records, a torn tail, a missing guard …"""
    could_not_look: list[str]
    records: int
    bytes: int
    size: int
    root: str
    origin: str
    vkey: str
    head_size: int
    """Records that the published checkpoint covers."""
    head_time: str
    """Transaction time of the last record."""
    verified_from: int
    """First record that was looked at; those before it stand on the earlier audit."""
    verified_at: str
    seconds: float
    checked: list[str]
    not_rederived: int = 0
    """Derived records that were to be made again and could not be: nobody can say that they are what they should be."""
    state: VerifiedState | None = None
    """To be kept by the caller for `since`; only after a clean run."""

    @property
    def exit_code(self) -> int:
        """0 clean, 1 findings, 2 could not look."""
        return 1 if self.findings else 2 if self.could_not_look else 0

    @property
    def verdict(self) -> str:
        """The verdict in a sentence."""
        if self.findings:
            count = len(self.findings)
            what = "this log is not what was signed, or not all of it"
            if {one.kind for one in self.findings} == {"projection"}:
                what = "what was made of this log differs from it; the log is what was signed: `braid replay` mends it"
            return f"{count} finding{'s' if count > 1 else ''}: {what}"
        if self.could_not_look:
            return "nothing wrong was found, but not everything could be looked at"
        if self.not_rederived:
            count = self.not_rederived
            return (
                f"all {self.records} records from {self.verified_from} on are what was signed;"
                f" {count} of them, derived, could not be made again"
            )
        return f"clean: all {self.records} records from {self.verified_from} on are what was signed"

    def to_json(self) -> Raw:
        """Return the report as JSON, exit code and verdict with it."""
        members: dict[str, Any] = msgspec.to_builtins(self)
        return msgspec.json.encode({"exit_code": self.exit_code, "verdict": self.verdict, **members})
