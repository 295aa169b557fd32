"""A new store: built whole beside its place, then renamed into it, so that a store exists or does not (SPEC §8.1)."""

import errno
import os
import shutil
from base64 import b32encode, b64encode
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import msgspec
from nacl.utils import random

from braid.ledger.keys.author_key import Signer, possession_message, save_signer
from braid.ledger.keys.control import refuse_shared
from braid.ledger.keys.vault import Vault
from braid.ledger.record.envelope import Link
from braid.ledger.record.ids import RecordId, make_id, prefix_of
from braid.ledger.record.record import Body, Draft, KeyBody
from braid.ledger.record.validate import earlier_place
from braid.ledger.settings import Durability, Settings, load_settings
from braid.ledger.tree.checkpoint import Checkpoint, sign_checkpoint
from braid.ledger.tree.guard import Guard, Head
from braid.ledger.tree.merkle import leaf_hash
from braid.ledger.tree.note import SigningKey, format_skey, signing_key
from braid.ledger.tree.publication import publish_checkpoint, write_tiles
from braid.ledger.tree.tiles import Frontier
from braid.ledger.write.compose import Slot, compose, encode_body, sign_all
from braid.ledger.write.durability import draft as choice_of_durability
from braid.wal.append import LogWriter
from braid.wal.durable import fresh_folder, make_folder, replace_file, sync_folder
from braid.wal.failpoint import failpoint
from braid.wal.frame import Stored
from braid.wal.regular import open_regular

RESERVE_BYTES = 1 << 20
MAX_RETENTION_DAYS = 36_525
"""A century: a day that far off is still a date, so that what was forgotten can be recovered or erased."""


def create_store(
    path: Path,
    *,
    now: datetime,
    origin: str | None = None,
    durability: Durability = "always",
    retention_days: int = 30,
    vault: Path | None = None,
    passphrase: str | None = None,
    guard_folder: Path | None = None,
    scope_chains: bool = False,
    spare_root: bool = False,
    choices: Sequence[Draft] = (),
) -> Settings:
    """Create a store at `path` with fresh keys, genesis, vault and guard; raise FileExistsError where something is.

    Raises ValueError for a retention window or an origin that can't be. `choices`: events that the operator's key signs
    about the store itself, each with a link to genesis as `Earlier(0)`: they are there from the first transaction on.

    `spare_root`: genesis names two root keys, either of which may revoke the other: it admits none later (ADR 27).
    """
    if path.exists() and not path.is_dir():
        raise FileExistsError(f"{path} is no folder, and a store is one; choose another place")
    if path.exists() and any(path.iterdir()):
        raise FileExistsError(f"{path} exists and is not empty; choose another folder")
    if path.resolve() == Path.cwd():
        raise FileExistsError(
            "a store can't take the place of the folder that you are in; name a new one in it"
        )
    if not 0 <= retention_days <= MAX_RETENTION_DAYS:
        raise ValueError(f"the retention window is 0 to {MAX_RETENTION_DAYS:,} days, not {retention_days:,}")
    store_id = b32encode(random(10)).decode().lower()
    settings = Settings(
        format=1,
        store_id=store_id,
        origin=_checked_origin(origin or f"braid.local/{store_id}"),
        durability=durability,
        vault=str(vault.resolve()) if vault else "vault",
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    building = path.parent / f".{path.name}.init-{os.getpid()}"
    vault_path = settings.vault_path(building)
    had_vault = vault_path.exists()
    fresh_folder(building)
    try:
        chosen = _Chosen(retention_days, passphrase, scope_chains, 2 if spare_root else 1, choices)
        head = _build(building, settings, chosen, now)
        Guard.of_store(store_id, guard_folder).write(head)
        # Dying here: an orphaned guard and a hidden folder, no store.
        failpoint("create.built")
        _take_place(building, path)
        sync_folder(path.parent)
    except BaseException:
        shutil.rmtree(building, ignore_errors=True)
        if not had_vault:  # it may lie elsewhere; nothing was ever sealed under it
            vault_path.unlink(missing_ok=True)
        raise
    return load_settings(path)


def _take_place(building: Path, path: Path) -> None:
    """Rename a store into its place; raise FileExistsError where another was made there meanwhile."""
    try:
        building.rename(path)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        raise FileExistsError(f"{path} was made by another meanwhile; it was left as it is") from None


def _checked_origin(origin: str) -> str:
    if (
        not origin
        or len(origin) > 255
        or any(c.isspace() or c in '+"\\' or not c.isprintable() for c in origin)
    ):
        raise ValueError(f"the origin {origin!r} is not a schema-less URL without spaces, quotes and '+'")
    return origin


class _Chosen(NamedTuple):
    """What is chosen once, when a store is made."""

    retention_days: int
    passphrase: str | None
    scope_chains: bool
    root_keys: int
    choices: Sequence[Draft]


def _build(store: Path, settings: Settings, chosen: _Chosen, now: datetime) -> Head:
    for folder in ("log", "keys", "blobs", "views"):
        make_folder(store / folder)
    vault = Vault.create(settings.vault_path(store), settings.store_id, chosen.passphrase)
    roots = [Signer.fresh("root") for _ in range(chosen.root_keys)]
    operator, recorder = Signer.fresh("operator"), Signer.fresh("recorder")
    log_key = signing_key(settings.origin, random(32))
    refuse_shared([one.public for one in (*roots, operator, recorder)], [str(log_key.verifier)])
    for signer in (*roots, operator, recorder):
        save_signer(store / "keys", signer)
    replace_file(store / "keys" / "log.key", format_skey(log_key).encode() + b"\n", "keys.write")
    reserve_space(store)
    drafts = [
        (roots[0], _genesis(settings, roots, log_key, chosen)),
        *((roots[0], admission(settings.origin, signer)) for signer in (operator, recorder)),
        *((operator, choice) for choice in chosen.choices),
    ]
    if settings.durability != "always":
        drafts.append((operator, choice_of_durability(settings.durability)))
    first = _write_first(store, settings, drafts, vault, now=now)
    frontier = Frontier()
    frontier.extend([leaf_hash(record.stored.envelope) for record in first])
    checkpoint = Checkpoint(settings.origin, frontier.size, frontier.root())
    note = sign_checkpoint(checkpoint, [log_key])
    write_tiles(store, frontier.partials())
    publish_checkpoint(store, note)
    if settings.durability != "always":
        settings = msgspec.structs.replace(settings, durability_record=str(first[-1].id))
    settings.save(store)
    return Head(
        settings.origin,
        str(log_key.verifier),
        frontier.size,
        checkpoint.root.hex(),
        vault.epoch,
        note.decode(),
    )


def _genesis(settings: Settings, roots: list[Signer], log_key: SigningKey, chosen: _Chosen) -> Draft:
    return Draft(
        kind="genesis",
        body=Body(),
        public={
            "op": "genesis",
            "format": settings.format,
            "store_id": settings.store_id,
            "root_keys": [b64encode(root.public).decode() for root in roots],
            "log_vkey": str(log_key.verifier),
            "retention_days": chosen.retention_days,
            **({"scope_chains": True} if chosen.scope_chains else {}),
        },
    )


def admission(origin: str, signer: Signer) -> Draft:
    """Return the draft that admits a key, with its proof of possession; the root key signs it."""
    proof = signer.sign(possession_message(origin, signer.id, signer.role))
    return Draft(
        kind="key",
        body=KeyBody(actor=signer.actor),
        public={
            "op": "admit",
            "id": signer.id,
            "key": b64encode(signer.public).decode(),
            "role": signer.role,
            "proof": b64encode(proof).decode(),
        },
    )


class _First(NamedTuple):
    """A record of the first transaction."""

    id: RecordId
    stored: Stored


def _write_first(
    store: Path, settings: Settings, drafts: list[tuple[Signer, Draft]], vault: Vault, *, now: datetime
) -> list[_First]:
    """Write the first transaction; its control records are the first three."""
    LogWriter.create(store / "log", settings.store_id)
    log = LogWriter(store / "log", settings.store_id)
    try:
        log.rescan(0)
        log.cut_tail()
        created_at = now.isoformat(timespec="microseconds")[:26] + "Z"
        ids = [_make_id(draft, created_at, k) for k, (_, draft) in enumerate(drafts)]
        unsigned = [
            compose(
                draft,
                encode_body(draft),
                [Link(role, at := earlier_place(target, k), ids[at]) for role, target in draft.links],
                Slot(k, ids[k], 0, k, len(drafts), min(max(k - 1, 0), 2), created_at),
                origin=settings.origin,
                key=vault.key(k),
                author=signer.id,
            )
            for k, (signer, draft) in enumerate(drafts)
        ]
        stored = sign_all([(signer, record) for (signer, _), record in zip(drafts, unsigned, strict=True)])
        log.append([stored], sync=True)
    finally:
        log.close()
    return [_First(id, one) for id, one in zip(ids, stored, strict=True)]


def _make_id(draft: Draft, created_at: str, index: int) -> RecordId:
    number = int.from_bytes(random(3), "big") >> 4
    return make_id(prefix_of(draft.kind), f"{created_at[:19]}Z", index, number)


def reserve_space(store: Path) -> None:
    """Set real blocks aside that an erasure may use when the disk is full (SPEC §9.4); OSError when there
    is no room.
    """
    path = store / "reserve"
    fd = open_regular(path, os.O_WRONLY | os.O_CREAT)
    try:
        os.posix_fallocate(fd, 0, RESERVE_BYTES)
        os.fsync(fd)
    except OSError:
        path.unlink(missing_ok=True)  # an empty reserve would pass for a full one
        raise
    finally:
        os.close(fd)
