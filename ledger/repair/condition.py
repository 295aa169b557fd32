"""What keeps a store from being opened, written or kept to oneself, beside its derived files (SPEC §12).

Changes nothing but modes, and those only when it is asked to.
"""

import shutil
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

import msgspec

from braid.ledger.errors import KeyRefusedError, LedgerError, RollbackError, VaultPassphraseError
from braid.ledger.keys.author_key import ROLE_KINDS, Signer, load_signers
from braid.ledger.keys.logkeys import load_log_keys
from braid.ledger.read.reader import Reader
from braid.ledger.settings import Settings
from braid.ledger.tree.guard import Guard
from braid.ledger.write.sequence import is_clock_behind
from braid.wal.errors import WalError

LEAST_FREE_BYTES = 64 << 20
_OTHERS = 0o077


class Problem(msgspec.Struct, frozen=True):
    """Something that `braid doctor` found. `safe`: --fix makes it good without losing anything."""

    name: str
    detail: str
    remedy: str
    safe: bool = False


def conditions(
    store: Path,
    settings: Settings,
    guard: Guard,
    passphrase: str | None,
    found: Sequence[Problem],
    *,
    now: datetime,
) -> Iterator[Problem]:
    """Yield what keeps the store from being used; `found` is what is known to be wrong with its files, `now` what the
    clock says.
    """
    yield from _open_to_others(store, settings)
    yield from _little_room(store)
    try:
        reader = Reader(store, guard=guard, passphrase=passphrase)
    except VaultPassphraseError as error:
        if passphrase is not None:
            yield Problem("vault", str(error), "name the file that holds the passphrase: --passphrase-file")
        return
    except (RollbackError, LedgerError, WalError, OSError) as error:
        if isinstance(error, RollbackError) or all(one.name == "reserve" for one in found):
            yield Problem(
                "opening",
                str(error),
                "bring the newest copy back (`braid restore`); docs/operate.md says how, and what else there is",
            )
        return
    try:
        if reader.contradiction:
            yield Problem(
                "opening",
                reader.contradiction,
                "bring the newest copy back, or settle which goes on (docs/operate.md, Two copies): this is only read",
            )
        if reader.vault is not None:  # an auditor's copy writes nothing
            yield from _missing_keys(store, reader)
            yield from _unsigned_durability(reader)
            yield from _unfinished(reader)
            yield from _clock_behind(reader, now)
    finally:
        reader.close()


def _unsigned_durability(reader: Reader) -> Iterator[Problem]:
    asked, counts = reader.settings.durability, reader.durability
    if asked != counts:
        yield Problem(
            "settings",
            f"store.json says durability `{asked}`, which no signed record supports: `{counts}` counts",
            f"`braid durability {asked}` signs it, if it is meant; `braid durability {counts}` puts it right",
        )


def _clock_behind(reader: Reader, now: datetime) -> Iterator[Problem]:
    if is_clock_behind(reader, now):
        last = datetime.fromisoformat(reader.envelope(reader.size - 1).created_at)
        ahead = last - now
        how_far = f"{ahead.days:,} days" if ahead.days > 1 else f"{ahead.total_seconds() / 3600:.1f} hours"
        yield Problem(
            "clock",
            f"the last record is of {last:%Y-%m-%d %H:%M:%S}Z, {how_far} ahead of this machine's clock: until then "
            "nothing can be written",
            "set the clock right if it is wrong; if it was ahead when that was written, accept it once: "
            "`braid doctor --accept-clock` (docs/operate.md, A clock that jumped)",
        )


def _missing_keys(store: Path, reader: Reader) -> Iterator[Problem]:
    try:
        here = load_log_keys(store, reader.passphrase)
        lost = [vkey for vkey in reader.control.signing(reader.size) if vkey not in here]
        problem = f"keys/ lacks the private half of the log key {lost[0]}" if lost else None
    except (KeyRefusedError, OSError) as error:
        problem = str(error)
    if problem:
        yield Problem(
            "keys",
            problem,
            "bring the file back; where it is lost, `braid key rotate log --lost` names another",
        )
    try:
        signers_here = load_signers(store / "keys", reader.passphrase).values()
    except (KeyRefusedError, OSError) as error:
        yield Problem("keys", str(error), "bring the file back, or move it away and admit another key")
        return
    lives = reader.control.keys
    signers = [one for one in signers_here if one.id in lives and lives[one.id].revoked is None]
    rooted = any(one.role == "root" and one.revoked is None for one in lives.values())
    last = "no root key is in force to admit one: begin a new store and `braid import` this one's export (docs/keys.md)"
    if not _may_sign(signers, "experience"):
        yield Problem(
            "keys",
            "no private key here may sign memories",
            "`braid key admit recorder`, with the root key here" if rooted else last,
        )
    if not _may_sign(signers, "tombstone"):
        yield Problem(
            "keys",
            "no private key here may sign tombstones: nothing can be forgotten or erased",
            "`braid key admit operator`, with the root key here" if rooted else last,
        )


def _may_sign(signers: Sequence[Signer], kind: str) -> bool:
    return any(kind in ROLE_KINDS[one.role] for one in signers)


def _unfinished(reader: Reader) -> Iterator[Problem]:
    for index in reader.control.unfinished():
        yield Problem(
            "erasure",
            f"the erasure that record {index} announces is not finished",
            "any command that writes finishes it, such as `braid retain`",
        )


def _little_room(store: Path) -> Iterator[Problem]:
    free = shutil.disk_usage(store).free
    if free < LEAST_FREE_BYTES:
        yield Problem(
            "space",
            f"only {free >> 20} MiB are free on the store's disk",
            "remove views/: the next question makes it again; `braid compact` gives back what erased bodies take",
        )


# -- modes ------------------------------------------------------------------------------------------


def _open_to_others(store: Path, settings: Settings) -> Iterator[Problem]:
    named = [path for path in _private(store, settings) if _is_open(path)]
    if named:
        more = f" and {len(named) - 1} more" if len(named) > 1 else ""
        yield Problem(
            "modes",
            f"{named[0]}{more} can be read by other users of this machine",
            "`braid doctor --fix` takes that away; revoke any key that someone may have read",
            True,
        )


def _private(store: Path, settings: Settings) -> list[Path]:
    """Return what nobody else may enter or read; keys and vault don't rely on the folder that guards the rest."""
    return [store, *sorted((store / "keys").glob("*.key")), settings.vault_path(store)]


def _is_open(path: Path) -> bool:
    try:
        return bool(path.stat().st_mode & _OTHERS)
    except OSError:
        return False


def restrict(store: Path, settings: Settings) -> int:
    """Take everything in the store from everybody but its owner (SPEC §1); return how many modes were changed."""
    paths = [store, *store.rglob("*"), settings.vault_path(store)]
    changed = [path for path in paths if not path.is_symlink() and _is_open(path)]
    for path in changed:
        path.chmod(0o700 if path.is_dir() else 0o600)
    return len(changed)
