"""What is wrong with a store's derived files, and making them again from the frames (SPEC §12).

Only what can be derived is ever written: indexes, tiles, the published checkpoint, the reserve; a harmed history of
heads is set aside. Frames are never touched.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from braid.ledger.errors import GuardError, LedgerError, NoteError, VaultError
from braid.ledger.keys.vault import Vault
from braid.ledger.repair.condition import Problem, conditions, restrict
from braid.ledger.repair.history import history_problems, set_aside
from braid.ledger.settings import Settings, load_settings
from braid.ledger.tree.checkpoint import Checkpoint, open_checkpoint
from braid.ledger.tree.guard import Guard, Head
from braid.ledger.tree.history import signed_heads
from braid.ledger.tree.merkle import leaf_hash
from braid.ledger.tree.note import VerifierKey, parse_vkey
from braid.ledger.tree.publication import TileFile, publish_checkpoint, write_tiles
from braid.ledger.tree.tiles import Frontier, tile_path
from braid.ledger.write.create import RESERVE_BYTES, reserve_space
from braid.wal.errors import CorruptLogError, FolderInPlaceError, WalError
from braid.wal.frame import Frame
from braid.wal.lock import FileLock
from braid.wal.log import LogReader
from braid.wal.preallocation import is_room
from braid.wal.regular import GROWING_BYTES, obstructed, read_regular
from braid.wal.segment import ENTRY, SEGMENT_HEADER_BYTES, Segment

_TILE_BATCH = 256
_NEWEST = "bring the newest copy of the log back (`braid verify` lists what differs; docs/operate.md, Damage)"


def examine(
    store: Path, guard: Guard | None = None, passphrase: str | None = None, *, now: datetime | None = None
) -> list[Problem]:
    """Return what is wrong with a store, without changing it; raise FileNotFoundError where there is none.

    `now`: what the clock says, where that is not the system's.
    """
    settings = load_settings(store)
    guard = guard or Guard.of_store(settings.store_id)
    checks: list[Callable[[], Iterator[Problem]]] = [
        lambda: _guard_problems(guard),
        lambda: _log_problems(store, settings),
        lambda: _head_problems(store, settings, guard),
        lambda: _history_problems(store, settings, guard),
        lambda: _vault_problems(store, settings),
        lambda: _space_problems(store),
    ]
    found = [problem for check in checks for problem in check()]
    return [*found, *conditions(store, settings, guard, passphrase, found, now=now or datetime.now(UTC))]


def repair(store: Path, guard: Guard | None = None) -> list[str]:
    """Make good what is safe to make good, under the writer's lock; return what was done.

    Raises LogLockedError, and LedgerError where the log doesn't give the signed root.
    """
    settings = load_settings(store)
    guard = guard or Guard.of_store(settings.store_id)
    lock = FileLock(store / "lock")
    lock.acquire()
    try:
        named = {problem.name for problem in examine(store, guard) if problem.safe}
        done: list[str] = []
        if "index" in named:
            done += _rebuild_indexes(store, settings)
        if "checkpoint" in named and (note := _note_to_publish(store, settings, guard.read())):
            publish_checkpoint(store, note)
            done.append(f"checkpoint: published again from {'the guard' if guard.read() else 'its history'}")
        if "tiles" in named or "checkpoint" in named:
            done.append(f"tiles: {_rebuild_tiles(store, settings, guard)} written from the frames")
        if "history" in named:
            done.append(set_aside(store, _history_keys(store, settings, guard), settings.origin))
        if "modes" in named:
            done.append(f"modes: {restrict(store, settings)} files and folders are yours alone again")
        if "reserve" in named:
            reserve_space(store)
            done.append("reserve: set aside again")
        return done
    finally:
        lock.release()


def _guard_problems(guard: Guard) -> Iterator[Problem]:
    try:
        head = guard.read()
    except GuardError as error:
        yield Problem(
            "guard",
            str(error),
            "move it away, then `braid doctor --adopt`, if this is the newest copy",
        )
        return
    if head is None:
        yield Problem(
            "guard",
            f"{guard.path} is missing, so a rollback of this store would go unseen",
            "`braid doctor --adopt`, if this is the newest copy",
        )


def _log_problems(store: Path, settings: Settings) -> Iterator[Problem]:
    try:
        log = LogReader(store / "log", settings.store_id)
    except (WalError, OSError) as error:
        yield Problem("log", str(error), "restore the segment from a backup")
        return
    try:
        for segment in log.segments:
            last = segment is log.segments[-1]
            entries = _entries(segment)  # before its frames: a writer appends those first
            end = _whole_end(segment)
            if not last and end < segment.size:
                problem = f"{segment.name}, offset {end}: no whole frame begins here"
                yield Problem("log", problem, "restore the segment from a backup")
                continue
            if not is_room(segment.read, end):
                continue  # a torn tail: the next writer cuts it and looks at the index
            count = sum(frame.header.count for frame in _frames(segment, end))
            behind = last and entries < count  # the writer writes entries with each head, not with each frame
            if entries < 0 or not (entries == count or behind) or not _index_agrees(segment, entries, end):
                yield Problem(
                    "index",
                    f"{segment.path.stem}.idx does not match its segment",
                    "braid doctor --fix derives it again",
                    True,
                )
    finally:
        log.close()


def _entries(segment: Segment) -> int:
    """Return how many entries the index holds; -1 where it is missing, or not whole entries."""
    try:
        count, rest = divmod(segment.path.with_suffix(".idx").stat().st_size, ENTRY.size)
    except FileNotFoundError:
        return -1
    return -1 if rest else count


def _frames(segment: Segment, end: int) -> Iterator[Frame]:
    return segment.frames(SEGMENT_HEADER_BYTES, bodies=False, end=end)


def _whole_end(segment: Segment) -> int:
    """Return where the segment's whole frames end."""
    end = SEGMENT_HEADER_BYTES
    with suppress(CorruptLogError):
        for frame in _frames(segment, segment.size):
            end = frame.end_offset
    return end


def _ends_whole(segment: Segment, last: bool) -> bool:
    """Whether nothing stands behind the whole frames but, in the last segment, what a crash may leave there."""
    end = _whole_end(segment)
    return end == segment.size or (last and segment.later_group(end) is None)


def _index_agrees(segment: Segment, count: int, end: int) -> bool:
    if not segment.index_holds(count):
        return False
    for frame in _frames(segment, end):
        for index, extent in enumerate(frame.extents(), frame.first):
            if index - segment.first == count:
                return True
            if segment.entry(index) != extent:
                return False
    return True


def _head_problems(store: Path, settings: Settings, guard: Guard) -> Iterator[Problem]:
    try:
        head = guard.read()
    except GuardError:
        head = None
    if head is not None and head.origin != settings.origin:  # publishing a head again would heal neither
        yield Problem(
            "settings",
            f"store.json names the log {settings.origin}, the guard {head.origin}",
            "bring back the one that was altered: `braid verify` tells whether it is store.json",
        )
        return
    try:
        note = read_regular(store / "checkpoint")
        checkpoint = open_checkpoint(note, _log_keys(store, head), settings.origin)[0]
    except FileNotFoundError:
        yield _lost_checkpoint(store, settings, head, "the published checkpoint is missing")
        return
    except FolderInPlaceError:
        yield Problem(
            "checkpoint",
            "checkpoint: a folder stands where a file belongs",
            "move it away, then run this again",
        )
        return
    except (NoteError, LedgerError, WalError) as error:
        yield _lost_checkpoint(store, settings, head, f"the published checkpoint can't be used: {error}")
        return
    wrong = [
        path
        for path, data in _expected_tiles(store, settings, checkpoint.size)
        if _read(store / path) != data
    ]
    if (
        wrong and _read(store / "checkpoint") != note
    ):  # a writer has published meanwhile, and its edge is another
        wrong = [path for path in wrong if ".p/" not in path]
    if wrong:
        yield _log_against_head(store, settings, checkpoint) or _wrong_tiles(wrong)


def _wrong_tiles(wrong: list[str]) -> Problem:
    shown = ", ".join(wrong[:3]) + (" …" if len(wrong) > 3 else "")
    return Problem(
        "tiles",
        f"{len(wrong)} tiles are missing or wrong: {shown}",
        "braid doctor --fix writes them again",
        True,
    )


def _log_against_head(store: Path, settings: Settings, head: Checkpoint) -> Problem | None:
    """Return why tiles can't be written again: the log itself is not, or not all, what was signed."""
    leaves = list(_leaves(store, settings, head.size))
    if len(leaves) < head.size:
        held = f"the log's whole frames end at {len(leaves)} records, and its signed head covers {head.size}"
        return Problem("log", f"{held}: it was rolled back, cut or harmed", _NEWEST)
    if _root(leaves) != head.root:
        return Problem(
            "log", f"the first {head.size} records don't give the root that was signed for them", _NEWEST
        )
    return None


def _history_problems(store: Path, settings: Settings, guard: Guard) -> Iterator[Problem]:
    keys = _history_keys(store, settings, guard)
    if keys:  # else nothing can be held against them, and why is named already
        yield from history_problems(store, keys, settings.origin)


def _history_keys(store: Path, settings: Settings, guard: Guard) -> list[VerifierKey]:
    """Return every key that may have signed an earlier head: the guard may be older than the log's newest key."""
    keys: dict[VerifierKey, None] = {}
    with suppress(GuardError, NoteError):
        head = guard.read()
        keys.update(dict.fromkeys(head.keys if head else []))
    with suppress(NoteError):
        keys.update(dict.fromkeys(_log_keys(store, None)))
    return [key for key in keys if key.name == settings.origin]


def _lost_checkpoint(store: Path, settings: Settings, head: Head | None, detail: str) -> Problem:
    if _note_to_publish(store, settings, head) is None:
        remedy = (
            "bring the file back from a backup: neither the guard nor its history has a head of these records"
        )
        return Problem("checkpoint", detail, remedy)
    source = "the guard" if head else "its history"
    return Problem("checkpoint", detail, f"braid doctor --fix publishes it again from {source}", True)


def _note_to_publish(store: Path, settings: Settings, head: Head | None) -> bytes | None:
    """Return the signed head to publish again: the guard's, else the newest of the history that the frames bear out."""
    if head is not None:
        return head.checkpoint.encode()
    try:
        keys = _log_keys(store, None)
        history = signed_heads(read_regular(store / "checkpoints", GROWING_BYTES), keys, settings.origin)
    except (LedgerError, WalError, OSError):
        return None
    for note in reversed(history):
        checkpoint = open_checkpoint(note, keys, settings.origin)[0]
        if _root_of_frames(store, settings, checkpoint.size) == checkpoint.root:
            return note
    return None


def _root_of_frames(store: Path, settings: Settings, size: int) -> bytes:
    return _root(list(_leaves(store, settings, size)))


def _root(leaves: list[bytes]) -> bytes:
    frontier = Frontier()
    frontier.extend(leaves)
    return frontier.root()


def _log_keys(store: Path, head: Head | None) -> list[VerifierKey]:
    """Return the keys under which a head of this log may stand: the guard's, else what the log itself claims."""
    if head is not None:
        return head.keys
    from braid.ledger.audit.keys import claimed_log_keys, read_chain  # noqa: PLC0415 - only without a guard

    return [parse_vkey(text) for text in claimed_log_keys(store / "log", read_chain(store / "log"))]


def _read(path: Path) -> bytes | None:
    try:
        return read_regular(path)
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        return None


def _expected_tiles(store: Path, settings: Settings, size: int) -> Iterator[tuple[str, bytes]]:
    for level, n, width, data in _derive_tiles(store, settings, size):
        yield tile_path(level, n, width), data


def _derive_tiles(store: Path, settings: Settings, size: int) -> Iterator[TileFile]:
    """Yield every tile of a tree of the log's first `size` records, from the frames; fewer when the log is broken."""
    frontier = Frontier()
    for leaf in _leaves(store, settings, size):
        frontier.append(leaf)
        for level, n, data in frontier.take_full():
            yield level, n, 0, data
    yield from frontier.partials()


def _leaves(store: Path, settings: Settings, size: int) -> Iterator[bytes]:
    log = LogReader(store / "log", settings.store_id)
    left = size
    try:
        for segment in log.segments:
            try:
                for frame in segment.frames(SEGMENT_HEADER_BYTES, bodies=False):
                    for envelope in frame.envelopes():
                        if left == 0:
                            return
                        left -= 1
                        yield leaf_hash(envelope)
            except CorruptLogError:
                return
    finally:
        log.close()


def _rebuild_indexes(store: Path, settings: Settings) -> list[str]:
    log = LogReader(store / "log", settings.store_id)
    try:
        whole = [segment for segment in log.segments if _ends_whole(segment, segment is log.segments[-1])]
        count = len(whole)
        for segment in whole:  # of a harmed one the index is all that still leads behind the harm
            segment.rebuild_index(_whole_end(segment), write=True)
    finally:
        log.close()
    return [f"index: {count} segment{'s' if count > 1 else ''} indexed again"]


def _rebuild_tiles(store: Path, settings: Settings, guard: Guard) -> int:
    """Write every tile again, but only when their root is the signed one; raise LedgerError otherwise."""
    head: Head | None = guard.read()
    note = read_regular(store / "checkpoint")
    checkpoint = open_checkpoint(note, _log_keys(store, head), settings.origin)[0]
    if _root_of_frames(store, settings, checkpoint.size) != checkpoint.root:
        raise LedgerError(
            f"the frames don't give the root that was signed for {checkpoint.size} records: the log itself is damaged; "
            "run `braid verify` and restore the segments it names"
        )
    count, batch = 0, list[TileFile]()
    for tile in _derive_tiles(store, settings, checkpoint.size):
        _make_way(store / tile_path(*tile[:3]))
        batch.append(tile)
        if len(batch) == _TILE_BATCH:
            count += len(write_tiles(store, batch))
            batch = []
    return count + len(write_tiles(store, batch))


def _make_way(path: Path) -> None:
    """Take an empty folder from a tile's place; raise ObstructedError for anything that holds something."""
    if not path.is_dir():
        return
    try:
        path.rmdir()
    except OSError:
        raise obstructed(path, "a tile") from None


def _vault_problems(store: Path, settings: Settings) -> Iterator[Problem]:
    path = settings.vault_path(store)
    try:
        Vault.open(path, store_id=settings.store_id, writable=False)
    except VaultError as error:
        if "passphrase" in str(error):
            return
        yield Problem(
            "vault",
            str(error),
            "bring the vault back to its place; without it bodies can't be read or written",
        )


def _space_problems(store: Path) -> Iterator[Problem]:
    reserve = store / "reserve"
    if not reserve.exists() or reserve.stat().st_blocks * 512 < RESERVE_BYTES:
        yield Problem(
            "reserve",
            "the reserve for erasing on a full disk is missing",
            "free some space; braid doctor --fix sets it aside",
            True,
        )
