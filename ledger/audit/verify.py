"""The audit of a store: reads files only, believes nothing that it can derive, names all that is wrong (SPEC §11).

Order: settings → segments and the log's end → signed heads → every record, on all cores → the braid → the tree against
tiles and heads → erasures and media → (deep) bodies and projections. Findings are values; bad data raises nothing.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from copy import deepcopy
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Literal

import msgspec

from braid.ledger.audit.chunk import examine
from braid.ledger.audit.erasure import judge_blobs, judge_erasures
from braid.ledger.audit.facts import AuditTerms, Chunk, KeyFacts, StretchFacts
from braid.ledger.audit.findings import Finding, Report, VerifiedState
from braid.ledger.audit.heads import Heads, judge_heads, judge_log_keys, judge_settings, read_heads
from braid.ledger.audit.keys import Chain, claimed_log_keys, gather_keys, keys_of, read_chain
from braid.ledger.audit.plan import MAX_CHUNK, MIN_CHUNK, SegmentLayout, cut, lay_out
from braid.ledger.audit.pool import Sharing, examine_all
from braid.ledger.audit.prefix import OldPart, Start, resume
from braid.ledger.audit.scan import SEGMENT_HEADER_BYTES
from braid.ledger.audit.tree import Recount
from braid.ledger.audit.whole_log import LogFold
from braid.ledger.errors import (
    LedgerError,
    StoreFormatError,
    VaultError,
    VaultMissingError,
    VaultPassphraseError,
)
from braid.ledger.keys.control import ControlState
from braid.ledger.keys.vault import Vault
from braid.ledger.settings import Settings, load_settings
from braid.ledger.tree.guard import Guard
from braid.ledger.tree.tiles import tile_path
from braid.wal.errors import WalError
from braid.wal.regular import read_regular

Progress = Callable[[int, int], None]
"""`(done, total)` in bytes of the log."""
Projections = Callable[[], list[Finding]]
Mode = Literal["full", "deep", "hash"]
CHECKER_BYTES, CHILD_BYTES, HASH_POOL_BYTES = 1 << 20, 64 << 20, 256 << 20
"""A log below these is audited without processes for its signatures, for whole stretches, for only hashing."""
MOST_CHECKING = 6
"""Cores that one which reads can keep busy with signatures."""
_MAX_GAP = 1_000_000
_LOG = (
    "settings against genesis; segments, frames, transactions; every leaf, tile and signed head; the guard",
    "envelopes, ids, times, every author signature by a key in force at its index, roles, the control chain",
    "links, lists of links, the lattice; bodies' digests; erasures and their certificates; media; place indexes",
)
_BODIES = "every body unsealed and read as its kind; whose words a key signed"
_PROJECTIONS = "projections"


class _BadCutError(Exception):
    """The place index named a frame where none begins: cut again by the frames themselves."""


class _Audit:
    """One audit's inputs and what it has learned so far."""

    def __init__(self, store: Path, settings: Settings, guard: Guard, mode: Mode) -> None:
        self.store, self.settings, self.guard = store, settings, guard
        self.mode: Mode = mode
        self.workers = 1
        self.pinned: str | None = None
        self.progress: Progress | None = None
        self.findings: list[Finding] = []
        self.notes: list[str] = []
        self.blind: list[str] = []
        self.saw_projections = False
        self.vault: Vault | None = None
        self.layout = SegmentLayout([], 0, [])
        self.heads = Heads(None)
        self.chain: Chain = []
        self.start = Start(0, SEGMENT_HEADER_BYTES, 0, -1, "", ControlState(), [])
        self.old: OldPart | None = None
        self.bytes = 0

    def read_tile(self, level: int, n: int, width: int) -> bytes | None:
        """Return a stored tile; None where there is none."""
        try:
            return read_regular(self.store / tile_path(level, n, width))
        except (FileNotFoundError, NotADirectoryError):
            return None

    @property
    def published(self) -> int:
        """Records under the published head."""
        return self.heads.published.size if self.heads.published else 0


def verify(
    store: Path,
    *,
    deep: bool = False,
    hash_only: bool = False,
    since: VerifiedState | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
    guard: Guard | None = None,
    passphrase: str | None = None,
    vkey: str | None = None,
    projections: Projections | None = None,
) -> Report:
    """Audit a store and return all that is wrong, with positions; `vkey` is the log key that the caller has pinned.

    `hash_only` checks frames, leaves, tree and heads, no signatures. `since` is the state of an earlier clean audit:
    only what came later is read. Raises ValueError for options that exclude each other; all else is in the report.
    """
    if hash_only and (deep or since):
        raise ValueError("hash_only excludes deep and since")
    began = time.perf_counter()
    mode: Mode = "deep" if deep else "hash" if hash_only else "full"
    try:
        try:
            settings = load_settings(store)
        except ValueError as error:  # text that is no UTF-8
            return _unseen(
                store, mode, f"{store}/store.json: damaged ({error}); restore it from a backup", began
            )
        audit = _Audit(store, settings, guard or Guard.of_store(settings.store_id), mode)
        audit.workers, audit.progress = workers or os.cpu_count() or 1, progress
        audit.pinned = vkey
        _prepare(audit, vkey, passphrase, since)
        braid, tree, size = _read_records(audit)
        _judge(audit, braid, tree, size)
        if deep and projections is not None:
            try:
                audit.findings += projections()
                audit.saw_projections = True
            except (OSError, LedgerError, WalError) as error:  # the log itself was looked at all the same
                audit.blind.append(f"projections: {getattr(error, 'strerror', None) or error}")
    except (OSError, StoreFormatError) as error:
        return _unseen(store, mode, str(error), began)
    return _report(audit, braid, tree, size, began)


def _prepare(audit: _Audit, vkey: str | None, passphrase: str | None, since: VerifiedState | None) -> None:
    """Read what is signed first, then find the log's end: a log that grows meanwhile is ahead of its heads."""
    store, settings = audit.store, audit.settings
    start = since.size if since else 0
    audit.chain = read_chain(store / "log")
    claimed = claimed_log_keys(store / "log", audit.chain)
    audit.heads = read_heads(store, settings, audit.guard, vkey, claimed, start)
    audit.layout = lay_out(store, settings.store_id, audit.heads.floor)
    audit.findings += audit.heads.findings + audit.layout.findings
    audit.notes += audit.heads.notes
    if audit.layout.torn:
        audit.notes.append(
            f"{audit.layout.torn} bytes of an unfinished transaction stand behind the log's end"
        )
    if audit.mode != "hash":
        _open_vault(audit, passphrase)
    if since:
        _resume(audit, since)


def _open_vault(audit: _Audit, passphrase: str | None) -> None:
    path = audit.settings.vault_path(audit.store)
    try:
        audit.vault = Vault.open(path, passphrase, store_id=audit.settings.store_id, writable=False)
    except (VaultMissingError, VaultPassphraseError) as error:
        if audit.mode == "deep":
            audit.blind.append(f"bodies can't be opened: {error}")
        else:
            audit.notes.append(f"erased keys could not be looked for: {error}")
    except VaultError as error:
        audit.findings.append(Finding("vault", str(error), file=path.name))


def _resume(audit: _Audit, since: VerifiedState) -> None:
    heads = audit.heads
    if since.origin != audit.settings.origin or since.vkey not in map(str, heads.keys):
        message = (
            f"what was verified before is {since.origin} under {since.vkey}: another log, or another key"
        )
        audit.findings.append(Finding("since", message))
        return
    if not heads.published or heads.published.size < since.size:
        message = f"{since.size} records were verified before; the published head covers {audit.published}"
        audit.findings.append(Finding("since", message))
        return
    found = resume(audit.layout.segments, since, audit.published, audit.read_tile)
    if isinstance(found, Finding):
        audit.findings.append(found)  # and the whole log is audited
        return
    audit.start, audit.old = found


# -- every record -----------------------------------------------------------------------------------


def _read_records(audit: _Audit) -> tuple[LogFold, Recount, int]:
    """Read the log; again when a worker lacked a key that the fold then admitted, or when the place index lied."""
    keys = {} if audit.mode == "hash" else gather_keys(audit.chain, audit.vault)
    trust = True
    while True:
        try:
            braid, tree, size = _pass(audit, keys, trust_index=trust)
        except _BadCutError:
            trust = False
            continue
        more = keys_of(braid.control, keys)
        if not braid.unknown_keys.intersection(more):
            return braid, tree, size
        keys = more


def _pass(audit: _Audit, keys: dict[str, KeyFacts], *, trust_index: bool) -> tuple[LogFold, Recount, int]:
    start, heads = audit.start, audit.heads
    terms = AuditTerms(audit.settings.origin, keys, audit.mode == "hash", audit.mode == "deep")
    braid = LogFold(start.first, deepcopy(start.control), keys, audit.old.look if audit.old else None)
    braid.tx, braid.time = start.tx, start.time
    tree = Recount(audit.read_tile, audit.published, heads.roots(), heads.sizes(), start.edge, start.first)
    total = sum(segment.end for segment in audit.layout.segments[start.segment :]) - start.offset
    workers, sharing = _crew_size(audit, total)
    size = max(min(MAX_CHUNK, total // (6 * workers)), MIN_CHUNK)
    audit.bytes = 0
    chunks = _chunks(audit, size, trust_index=trust_index)
    with closing(examine_all(chunks, terms, workers, sharing)) as examined:
        for chunk, facts in examined:
            if trust_index and facts.stopped != chunk.stop:
                raise _BadCutError
            _take(braid, tree, chunk, facts, terms, total)
            audit.bytes += chunk.stop - chunk.start
            if audit.progress:
                audit.progress(audit.bytes, total)
    end = tree.size
    if end < audit.published <= end + _MAX_GAP:
        tree.skip(audit.published - end)  # so that what is there can still be judged by the signed root
    tree.finish()
    return braid, tree, end


def _crew_size(audit: _Audit, total: int) -> tuple[int, Sharing]:
    """Return how many cores are worth their start, and what is shared among them (docs/adr/0033).

    A process that only checks signatures starts in the time of 150 of them and costs 1 µs more for each; one that
    examines stretches starts in that of 1,500, and leaves no other work to one core.
    """
    if audit.mode == "hash":
        return (
            (audit.workers, "stretches") if audit.workers > 2 and total >= HASH_POOL_BYTES else (1, "threads")
        )
    if total < CHECKER_BYTES:
        return audit.workers, "threads"
    if total < CHILD_BYTES:
        return min(audit.workers, MOST_CHECKING), "signatures"
    return audit.workers, "stretches"


def _chunks(audit: _Audit, size: int, *, trust_index: bool) -> Iterator[Chunk]:
    start = audit.start
    keys = partial(_record_keys, audit.vault) if audit.mode == "deep" and audit.vault else None
    for place, segment in enumerate(audit.layout.segments):
        if place == start.segment:
            yield from cut(segment, start.offset, start.first, size, keys, trust_index=trust_index)
        elif place > start.segment:
            yield from cut(segment, SEGMENT_HEADER_BYTES, segment.first, size, keys, trust_index=trust_index)


def _record_keys(vault: Vault, first: int, count: int) -> bytes:
    keys = vault.keys(first, count)
    return b"".join([bytes(64) if key is None else key.sealing + key.commitment for key in keys])


def _take(  # noqa: PLR0917 - two folds, and what is joined to them  # noqa: PLR0913 - one decision a line
    braid: LogFold, tree: Recount, chunk: Chunk, facts: StretchFacts, terms: AuditTerms, total: int
) -> None:
    """Join a stretch to what came before it: nothing missing in between, nothing twice."""
    due = tree.size
    if facts.runs and facts.runs[0][0] < due:
        facts = examine(msgspec.structs.replace(chunk, due=due), terms)
    if not facts.runs:
        braid.findings += facts.findings
        return
    first = facts.runs[0][0]
    if first - due > min(total, _MAX_GAP):
        message = f"the frame begins with record {first}; {due} was due"
        braid.findings += [
            *facts.findings,
            Finding("frame", message, due, file=chunk.name, offset=chunk.start),
        ]
        return
    if first > due:
        message = f"{first - due} records are missing before this place"
        braid.findings.append(
            Finding("frame", message, due, file=chunk.name, offset=chunk.start, count=first - due)
        )
    elif facts.tx[0] != braid.tx + 1:
        message = f"transaction {facts.tx[0]} follows {braid.tx}"
        braid.findings.append(Finding("frame", message, due, file=chunk.name, offset=chunk.start))
    braid.tx = facts.tx[1]
    if terms.hash_only:
        braid.findings += facts.findings
    else:
        braid.take(facts, chunk.name)
    at = 0
    for start, count in facts.runs:
        tree.skip(start - tree.size)
        tree.extend(facts.leaves[32 * at : 32 * (at + count)])
        at += count


# -- the verdict ------------------------------------------------------------------------------------


def _judge(audit: _Audit, braid: LogFold, tree: Recount, size: int) -> None:
    heads, floor = audit.heads, audit.heads.floor
    if audit.mode != "hash":
        braid.finish()
        audit.findings += judge_settings(audit.settings, braid.genesis, braid.control)
        audit.findings += judge_log_keys(
            heads, braid.control, audit.guard.path, audit.pinned, whole=not audit.start.first
        )
    audit.findings += [
        finding for finding in braid.findings if finding.kind != "idx" or (finding.index or 0) < floor
    ]
    audit.findings += tree.findings
    audit.findings += judge_heads(heads, tree.roots, size, audit.start.first, audit.guard.path)
    if audit.mode == "hash":
        return
    old = audit.old
    audit.findings += judge_erasures(braid, audit.vault, old.blank if old else None, audit.start.first)
    audit.findings += judge_blobs(audit.store, braid, all_named=not audit.start.first)
    if audit.vault and heads.guard and audit.vault.epoch < heads.guard.vault_epoch:
        message = f"the vault has epoch {audit.vault.epoch}, the guard remembers {heads.guard.vault_epoch}"
        audit.findings.append(Finding("vault", message, file=audit.vault.path.name))
    if old:
        audit.findings += old.findings
    audit.notes += braid.notes


def _report(audit: _Audit, braid: LogFold, tree: Recount, size: int, began: float) -> Report:
    heads, now = audit.heads, datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    state = None
    if not audit.findings and audit.mode != "hash" and heads.published and heads.vkey:
        published = heads.published
        state = VerifiedState(published.origin, str(heads.vkey), published.size, published.root.hex(), now)
    return Report(
        store=str(audit.store),
        mode=audit.mode,
        findings=sorted(audit.findings, key=lambda finding: -1 if finding.index is None else finding.index),
        notes=audit.notes,
        could_not_look=audit.blind,
        records=size - audit.start.first,
        bytes=audit.bytes,
        size=size,
        root=tree.roots.get(size, b"").hex(),
        origin=audit.settings.origin,
        vkey=str(heads.vkey or ""),
        head_size=audit.published,
        head_time=braid.time,
        verified_from=audit.start.first,
        verified_at=now,
        seconds=time.perf_counter() - began,
        checked=_looked_at(audit),
        state=state,
    )


def _looked_at(audit: _Audit) -> list[str]:
    """Return what was looked at; no bodies without the vault that opens them."""
    log = _LOG[:1] if audit.mode == "hash" else _LOG
    bodies = [_BODIES] if audit.mode == "deep" and audit.vault is not None else []
    return [*log, *bodies, *([_PROJECTIONS] if audit.saw_projections else [])]


def _unseen(store: Path, mode: Mode, reason: str, began: float) -> Report:
    """Return the report of an audit that could not be made."""
    return Report(
        store=str(store),
        mode=mode,
        findings=[],
        notes=[],
        could_not_look=[reason],
        records=0,
        bytes=0,
        size=0,
        root="",
        origin="",
        vkey="",
        head_size=0,
        head_time="",
        verified_from=0,
        verified_at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        seconds=time.perf_counter() - began,
        checked=[],
    )
