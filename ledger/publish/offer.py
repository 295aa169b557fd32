"""A store as a log that others may read: its published head, tiles and entry bundles, made on demand (SPEC §16.1)."""

from collections.abc import Iterator
from threading import Lock

from braid.ledger.publish.folder import CHECKPOINT
from braid.ledger.read.reader import Reader
from braid.ledger.tree.tiles import TILE_WIDTH, pack_entries, parse_entries_path, parse_tile_path
from braid.wal.regular import read_regular


class KeylessReader(Reader):
    """A store opened for what others may read of it: without its vault, which may be locked or elsewhere."""

    def _open_vault(self, *, writable: bool) -> None:
        del writable
        self.vault = None


class OfferedStore:
    """Answers for the paths of tlog-tiles from a store that is open for reading.

    An entry is a record's stored envelope, the data of its leaf. Bodies, media and link lists are not part of the log
    as others read it. What lies behind the published head is not served.
    """

    def __init__(self, reader: Reader) -> None:
        """Serve what `reader` stands for; it is refreshed whenever the checkpoint is asked for."""
        self._reader = reader
        self._turn = Lock()
        self._frames: Iterator[list[bytes]] = iter(())
        self._run: list[bytes] = []
        self._taken = 0
        self._at = -1

    def fetch(self, path: str) -> bytes:
        """Return the bytes of a path; FileNotFoundError where the published log has nothing there."""
        with self._turn:
            if path == CHECKPOINT:
                if self._reader.refresh():
                    self._at = -1  # frames that are being read end where the log ended when they began
                self._reader.refuse_contradicted()
                return self._reader.checkpoint_note
            try:
                return self._bundle(path) if path.startswith("tile/entries/") else self._tile(path)
            except (ValueError, IndexError):
                raise FileNotFoundError(path) from None

    def _tile(self, path: str) -> bytes:
        level, n, width = parse_tile_path(path)
        if (n * TILE_WIDTH + (width or TILE_WIDTH)) << 8 * level > self._reader.published.size:
            raise FileNotFoundError(path)
        if width:
            return self._reader.tree.tile(level, n, width)
        return read_regular(self._reader.path / path)

    def _bundle(self, path: str) -> bytes:
        n, width = parse_entries_path(path)
        start, count = n * TILE_WIDTH, width or TILE_WIDTH
        if start + count > self._reader.published.size:
            raise FileNotFoundError(path)
        if start != self._at:  # bundles that are read one after the other cost each frame once
            self._frames, self._run, self._taken = self._envelopes(start), [], 0
        self._at = -1  # unless all of it is had
        entries: list[bytes] = []
        while len(entries) < count:
            if self._taken == len(self._run):
                self._run, self._taken = next(self._frames, list[bytes]()), 0
                if not self._run:
                    break
            part = self._run[self._taken : self._taken + count - len(entries)]
            self._taken += len(part)
            entries += part
        self._at = start + len(entries)
        return pack_entries(entries)

    def _envelopes(self, start: int) -> Iterator[list[bytes]]:
        """Yield stored envelopes from `start`, as they lie in the log: who reads them checks them against the tree."""
        for frame in self._reader.log.frames(start, bodies=False):
            yield frame.envelopes()[max(start - frame.first, 0) :]
