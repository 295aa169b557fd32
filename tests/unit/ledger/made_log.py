"""A small log made in memory, as a server would serve it: honest, for tests to lie about."""

from collections.abc import Callable, Sequence

from braid.ledger.tree.checkpoint import Checkpoint, sign_checkpoint
from braid.ledger.tree.merkle import leaf_hash, root_of
from braid.ledger.tree.note import SigningKey, VerifierKey, signing_key
from braid.ledger.tree.tiles import TILE_WIDTH, Frontier, entries_path, pack_entries, tile_path, tile_width

ORIGIN = "log.example/made"
KEY = signing_key(ORIGIN, bytes(range(32)))


class MadeLog:
    """Entries, and the files that tlog-tiles has for any size of them."""

    def __init__(self, entries: Sequence[bytes], key: SigningKey = KEY) -> None:
        self.entries = list(entries)
        self.key = key
        self.leaves = [leaf_hash(entry) for entry in self.entries]

    @property
    def vkey(self) -> VerifierKey:
        """The log's public key."""
        return self.key.verifier

    def head(self, size: int) -> bytes:
        """Return the signed head of the first `size` entries."""
        checkpoint = Checkpoint(self.key.name, size, root_of(self.leaves[:size]))
        return sign_checkpoint(checkpoint, [self.key])

    def files(self, size: int) -> dict[str, bytes]:
        """Return everything that is served at a size, by path."""
        frontier = Frontier()
        frontier.extend(self.leaves[:size])
        files = {tile_path(level, n): data for level, n, data in frontier.take_full()}
        files |= {tile_path(level, n, width): data for level, n, width, data in frontier.partials()}
        for n in range(-(-size // TILE_WIDTH)):
            bundle = self.entries[n * TILE_WIDTH : min((n + 1) * TILE_WIDTH, size)]
            files[entries_path(n, tile_width(0, n, size))] = pack_entries(bundle)
        return files | {"checkpoint": self.head(size)}


def counted(count: int, word: str = "entry") -> list[bytes]:
    """Return entries that say their number."""
    return [f"{word} {number}".encode() for number in range(count)]


def fetch_from(files: dict[str, bytes]) -> Callable[[str], bytes]:
    """Return what fetches from a mapping."""

    def fetch(path: str) -> bytes:
        try:
            return files[path]
        except KeyError:
            raise FileNotFoundError(path) from None

    return fetch
