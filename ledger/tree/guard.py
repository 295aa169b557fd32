"""The fork guard: the last signed head, remembered outside the store so that rolling the store back is
caught (SPEC §6).
"""

import os
from pathlib import Path

import msgspec
from blake3 import blake3

from braid.ledger.errors import GuardError
from braid.ledger.tree.note import VerifierKey, parse_vkey
from braid.wal.durable import make_folder, replace_file
from braid.wal.errors import ObstructedError

_PLACE = "the fork guard is kept there: BRAID_GUARD_DIR names another folder"


class Head(msgspec.Struct, frozen=True, omit_defaults=True):
    """A signed head: `checkpoint` is the signed note it comes from; root in hex; the vault's epoch beside it."""

    origin: str
    vkey: str
    size: int
    root: str
    vault_epoch: int
    checkpoint: str
    log_keys: list[str] = []
    """Every key that the log ever had, where it had more than one; `vkey` is the newest."""

    @property
    def keys(self) -> list[VerifierKey]:
        """The keys under which a head of this log may stand; which of them must, its control records say."""
        return [parse_vkey(text) for text in dict.fromkeys([self.vkey, *self.log_keys])]


def guard_folder() -> Path:
    """Return the folder of guards: `BRAID_GUARD_DIR`, else `braid/` in the user's XDG state folder."""
    named = os.environ.get("BRAID_GUARD_DIR")
    if named:
        return Path(named)
    state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(state) / "braid"


def _with_place(error: OSError) -> OSError:
    """Return the error, which says too what is kept there: "permission denied" alone doesn't."""
    error.strerror = f"{error.strerror}; {_PLACE}"
    return error


class OtherCopyWarning(UserWarning):
    """The guard remembers another copy of the log, further on than this one or beside it: this one is only read."""


class Guard:
    """The guard file of one store."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def of_store(cls, store_id: str, folder: Path | None = None) -> "Guard":
        """Return the guard of a store, in `folder` or the user's own."""
        return cls((folder or guard_folder()) / f"{store_id}.guard")

    def read(self) -> Head | None:
        """Return the remembered head, None when there is no guard; raise GuardError for a damaged one."""
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _with_place(error) from None
        text, _, check = data.rpartition(b"\nblake3 ")
        if check != blake3(text).hexdigest().encode() + b"\n":
            raise GuardError(
                f"{self.path}: the guard is damaged; if you are sure that this store is the newest copy, "
                "move the guard away and open with --adopt"
            )
        try:
            return msgspec.json.decode(text, type=Head)
        except msgspec.MsgspecError as error:
            raise GuardError(f"{self.path}: the guard is not one of this release: {error}") from error

    def write(self, head: Head) -> None:
        """Remember a head, durably. Called after signing and before publishing, so that no published head
        is unknown.
        """
        try:
            make_folder(self.path.parent)
        except ObstructedError as error:
            error.add_note(_PLACE)
            raise
        except OSError as error:
            raise _with_place(error) from None
        text = msgspec.json.encode(head)
        replace_file(
            self.path, text + b"\nblake3 " + blake3(text).hexdigest().encode() + b"\n", "guard.write"
        )
