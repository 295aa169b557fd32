"""What belongs to a subject: read from the log itself, forgotten records too, never from a projection.

One pass forward. A record is the subject's *own* when its scope or actor says so, and *derived* when a derivation link
leads to a record that is own or derived. A derived record that is kept under another user is that user's: it is named,
and what was derived from it alone is not followed. Own or derived, a record that others' records went into is *shared*.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec

from braid.ledger.errors import EvidenceError
from braid.ledger.read.reader import Reader
from braid.ledger.read.scopechain import Member, chain_of, gaps, scope_of
from braid.ledger.record.envelope import DERIVATION_ROLES, Link
from braid.ledger.record.record import Record
from braid.ledger.record.scope import SCOPES

NAMES: Final = (*SCOPES, "actor")
Belongs = Literal["own", "derived"]
_NEVER: Final = frozenset(("genesis", "key", "tombstone"))


class SubjectRecords(msgspec.Struct):
    """The records that are held about a subject, by log index, and the links that lead to them."""

    belongs: dict[int, Belongs]
    shared: set[int]
    linked_from: dict[int, list[tuple[str, int]]]
    """Log index to (role, index) of each record that links to it; of the subject's records only."""
    others: set[int]
    tombstones: dict[int, list[int]]
    """Tombstone to those of the subject's records that it names."""
    keys: list[int]
    """Genesis and the records that admit and revoke keys: without them no signature can be judged."""
    chain: list[Member]
    """Where the subject is a scope that is counted (SPEC §4.8): its records."""
    explaining: list[int]
    """The tombstones of what was erased in that scope's gaps: without them an erasure would look like an omission."""


def check_subject(subject: Mapping[str, str]) -> None:
    """Raise ValueError for a subject that names nothing, or something that isn't known."""
    if not subject or not all(subject.values()):
        raise ValueError(f"say whose records: {', '.join(f'{name}=…' for name in NAMES)}")
    if unknown := set(subject) - set(NAMES):
        raise ValueError(f"unknown {', '.join(sorted(unknown))}; known: {', '.join(NAMES)}")


def names(subject: Mapping[str, str], record: Record) -> bool:
    """Whether the record's own scope and actor are those of the subject; all that is given must hold."""
    members = record.members
    scope: dict[str, Any] = members.get("scope") or {}
    provenance: dict[str, Any] = members.get("provenance") or {}
    unsaid = (
        "user" if record.kind == "experience" else None
    )  # what a body leaves out has its default (SPEC §4.6)
    actors = (provenance.get("actor", unsaid), provenance.get("name"), members.get("actor"))
    return all(
        value in actors if name == "actor" else scope.get(name) == value for name, value in subject.items()
    )


def gather(reader: Reader, subject: Mapping[str, str], size: int) -> SubjectRecords:
    """Return what is held about a subject among the first `size` records; raise ValueError, NoVaultError."""
    check_subject(subject)
    reader.need_vault()
    found = SubjectRecords({}, set(), {}, set(), {}, [], [], [])
    users = {subject["user_id"]} if "user_id" in subject else set[str]()
    for entries in reader.entries(0, size):
        for record, _ in entries:
            _judge(found, record, subject, users, erased=record.index in reader.control.erased)
    found.others -= found.belongs.keys()
    found.explaining = _explaining(reader, found.chain, size)
    return found


def _explaining(reader: Reader, chain: list[Member], size: int) -> list[int]:
    """Return the tombstones below `size` of everything that was erased in the gaps of a chain."""
    erased = reader.control.erased
    dead = sorted(erased)
    by = {
        erased[index]
        for after, before in gaps(chain)
        for index in dead[bisect_right(dead, after) : bisect_left(dead, before)]
    }
    return sorted(index for index in by if index < size)


def _judge(
    found: SubjectRecords, record: Record, subject: Mapping[str, str], users: set[str], *, erased: bool
) -> None:
    """Take in the next record of the log."""
    held = [link for link in record.links if link.index in found.belongs]
    for link in held:
        found.linked_from.setdefault(link.index, []).append((link.role, record.index))
    if record.kind in _NEVER or record.envelope.is_control:
        targets = sorted({link.index for link in held if link.role == "target"})
        if record.kind == "tombstone" and targets:
            found.tombstones[record.index] = targets
        elif record.kind != "tombstone" and record.kind in _NEVER:
            found.keys.append(record.index)
        return
    if erased:  # who it was about can't be known any more; that it hung on the subject's can
        found.others |= {record.index} if held else set()
        return
    scope: dict[str, Any] = record.members.get("scope") or {}
    user = scope.get("user_id")
    if names(subject, record):
        found.belongs[record.index] = "own"
        found.chain += [
            (record.index, count, before)
            for key, count, before in chain_of(record.raw)
            if key == scope_of(subject)
        ]
        users |= {user} if user else set()
    elif (held and not _is_derived(held)) or (held and user and user not in users):
        found.others.add(record.index)
    elif held:
        found.belongs[record.index] = "derived"
    if record.index in found.belongs:
        found.others |= {link.index for link in record.links}
        if _is_shared(found, record.links):
            found.shared.add(record.index)


def _is_derived(held: list[Link]) -> bool:
    return any(link.role in DERIVATION_ROLES for link in held)


def _is_shared(found: SubjectRecords, links: list[Link]) -> bool:
    """Whether others' records went into it, or it is of one that is shared."""
    return any(
        link.role in DERIVATION_ROLES and (link.index not in found.belongs or link.index in found.shared)
        for link in links
    )


def held_record(reader: Reader, index: int) -> Record:
    """Return a record of the subject; raise EvidenceError where it was erased since the export began."""
    record = reader.at(index, include_forgotten=True)
    if record.raw is None:
        raise EvidenceError(f"{record.id} can't be read any more: export again")
    return record
