"""Erasures as they were certified: keys, bodies and media gone; nothing blank that none names (SPEC §9, §11.1)."""

import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from braid.ledger.audit.facts import stretches
from braid.ledger.audit.findings import Finding
from braid.ledger.audit.whole_log import LogFold
from braid.ledger.keys.control import ControlState
from braid.ledger.keys.vault import Vault
from braid.wal.regular import open_regular

BlankBody = Callable[[int], bool | None]
"""Whether the body of a record before the audit's start is blank; None where it can't be told."""


def judge_erasures(
    braid: LogFold, vault: Vault | None, old: BlankBody | None, from_erasure: int
) -> Iterator[Finding]:
    """Yield where bodies, keys and certificates disagree; only erasures from record `from_erasure` on."""
    control = braid.control
    yield from _bodies(braid)
    done = {index for index, (_, certified) in control.erasures.items() if certified is not None}
    left: list[int] = []
    for index, by in sorted(control.erased.items()):
        if by not in done or (control.erasures[by][1] or 0) < from_erasure:
            continue
        blank = index in braid.bodies if index >= braid.start else old is None or old(index) is not False
        if not blank:
            left.append(index)
    for first, count in stretches(left):
        yield Finding("erasure", "its erasure is certified, but its body is still there", first, count=count)
    yield from _certificates(braid)
    if vault is not None:
        yield from _vault(control, vault, done)
    for index in control.unfinished():
        braid.notes.append(
            f"the erasure of record {index} is not certified yet: the next opening finishes it"
        )


def _bodies(braid: LogFold) -> Iterator[Finding]:
    control = braid.control
    blank: list[int] = []
    for index, (state, offset, file) in sorted(braid.bodies.items()):
        by = control.erased.get(index)
        certified = by is not None and control.erasures[by][1] is not None
        if by is None and state != "altered":
            blank.append(index)
        elif by is None or (state == "altered" and certified):
            message = (
                "the sealed body is not what was signed" if by is None else "its erased body is not blank"
            )
            yield Finding("body" if by is None else "erasure", message, index, file=file, offset=offset)
    for first, count in stretches(blank):
        _, offset, file = braid.bodies[first]
        yield Finding(
            "body", "the body is blank, and no erasure names it", first, file=file, offset=offset, count=count
        )


def _certificates(braid: LogFold) -> Iterator[Finding]:
    targets: dict[int, int] = {}
    for by in braid.control.erased.values():
        targets[by] = targets.get(by, 0) + 1
    for index, id, erase, records in braid.certificates:
        if targets.get(erase, 0) != records:
            message = f"the certificate says {records} records, the erasure at {erase} names {targets.get(erase, 0)}"
            yield Finding("erasure", message, index, id)


def _vault(control: ControlState, vault: Vault, done: set[int]) -> Iterator[Finding]:
    if vault.epoch < control.vault_epoch:
        message = (
            f"the vault has epoch {vault.epoch}, but erasures up to epoch {control.vault_epoch} are certified"
        )
        yield Finding("vault", message, file=vault.path.name)
    alive = [
        index for index, by in sorted(control.erased.items()) if by in done and not vault.is_erased(index)
    ]
    for first, count in stretches(alive):
        yield Finding(
            "erasure", "its erasure is certified, but the vault still holds its key", first, count=count
        )


def judge_blobs(store: Path, braid: LogFold, *, all_named: bool) -> Iterator[Finding]:
    """Yield media that are missing, altered, or left by an erasure; stray files become notes when all are known."""
    erased, erasures = braid.control.erased, braid.control.erasures
    for name, users in sorted(braid.blobs.items()):
        path = store / "blobs" / name[:2] / name[2:]
        file = f"blobs/{name[:2]}/{name[2:]}"
        living = [(index, size) for index, size in users if index not in erased]
        if living:
            index, size = living[0]
            if (problem := _blob_problem(path, name, size)) is not None:
                yield Finding("blob", problem, index, file=file)
        elif path.exists() and all(erasures[erased[index]][1] is not None for index, _ in users):
            yield Finding(
                "erasure", "its erasure is certified, but its media are still there", users[0][0], file=file
            )
    if all_named:
        strays = [
            path
            for path in sorted((store / "blobs").glob("??/*"))
            if path.parent.name + path.name not in braid.blobs
        ]
        if strays:
            braid.notes.append(
                f"{len(strays)} files in blobs/ belong to no record, the first: {strays[0].name}"
            )


def _blob_problem(path: Path, name: str, size: int) -> str | None:
    try:
        with os.fdopen(open_regular(path), "rb") as file:
            found = path.stat().st_size
            if found != size:
                return f"the media file has {found} bytes, not {size}"
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return "the media file is missing, and no erasure names the record"
    return None if digest == name else "the media file is not what was sealed"
