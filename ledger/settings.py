"""A store's local settings, `store.json` (SPEC §1.1): what must be known before the log is read."""

from pathlib import Path
from typing import Final, Literal

import msgspec

from braid.ledger.errors import StoreFormatError
from braid.ledger.links import refuse_links
from braid.wal.durable import replace_file
from braid.wal.regular import read_regular

Durability = Literal["always", "interval", "none"]
STRICTNESS: Final[tuple[Durability, ...]] = ("always", "interval", "none")
"""The strictest first."""
FORMAT = 1


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of one store; identity repeats the genesis record and is checked against it."""

    format: int
    store_id: str
    origin: str
    durability: Durability = "always"
    vault: str = "vault"
    durability_record: str = ""
    """Id of the signed event that allows a durability looser than `always`; the member is left out where none does."""

    def encode(self) -> bytes:
        """Return the bytes of the file."""
        members: dict[str, object] = msgspec.to_builtins(self)
        if not self.durability_record:
            del members["durability_record"]
        return msgspec.json.format(msgspec.json.encode(members), indent=2) + b"\n"

    def save(self, store: Path) -> None:
        """Write the settings, durably."""
        replace_file(store / "store.json", self.encode(), "settings.write")

    def vault_path(self, store: Path) -> Path:
        """Return where the vault lies."""
        return store / self.vault  # an absolute path stays itself


class _Version(msgspec.Struct):
    format: int


def load_settings(store: Path) -> Settings:
    """Read a store's settings.

    Raises FileNotFoundError where there is no store, StoreFormatError for a bad file, ObstructedError for a link in the
    store's folder.
    """
    path = store / "store.json"
    try:
        data = read_regular(path)
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no store at {store}: create one with `braid init`") from None
    except NotADirectoryError:
        raise NotADirectoryError(
            f"{store} is no folder, and a store is one: name another, or create one with `braid init`"
        ) from None
    refuse_links(store)
    return parse_settings(data, path)


def parse_settings(data: bytes, path: Path) -> Settings:
    """Return the settings that a file holds; raise StoreFormatError, which names `path`, for a bad one."""
    try:
        version = msgspec.json.decode(data, type=_Version).format
        if version != FORMAT:
            raise StoreFormatError(
                f"{path}: format {version}; this release reads format {FORMAT}: upgrade braid-store"
            )
        return msgspec.json.decode(data, type=Settings)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StoreFormatError(f"{path}: damaged ({error}); restore it from a backup") from error
