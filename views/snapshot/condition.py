"""What a person should know of a store's snapshots: the newest for `status`, and for `doctor` what is wrong with any.

A snapshot that is not fit costs no answer: a rebuild passes it over, and reads the log instead. That is why nobody
would notice.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

import msgspec

from braid.ledger.read.prefix import root_at
from braid.ledger.read.reader import Reader
from braid.ledger.repair.condition import Problem
from braid.views.errors import SnapshotError
from braid.views.snapshot.folder import Snapshots
from braid.views.snapshot.manifest import NAME, SnapshotManifest, differing

STALE_RECORDS: Final = 10_000
"""A tail of fewer is read in a second: no snapshot is called old for it."""


class Newest(msgspec.Struct, frozen=True, kw_only=True):
    """The newest snapshot: its size and lag in records (None where it can't be read), and why it would not be used."""

    name: str
    size: int | None
    behind: int | None
    made_at: str
    trouble: str


def newest(reader: Reader, snapshots: Snapshots) -> Newest | None:
    """Return name, size, time and lag of the newest snapshot, and why it would not be used; None without any.

    Its files are not looked into. The time is that of the manifest's file: nothing that is signed says it.
    """
    folder = next(iter(snapshots.folders()), None)
    if folder is None:
        return None
    trouble, size = "", None
    try:
        size = _own(reader, snapshots.manifest(folder)).size
    except SnapshotError as error:
        trouble = str(error)
    manifest = folder / NAME
    made = datetime.fromtimestamp((manifest if manifest.exists() else folder).stat().st_mtime, UTC)
    return Newest(
        name=folder.name,
        size=size,
        behind=None if size is None else reader.size - size,
        made_at=made.isoformat(timespec="seconds").replace("+00:00", "Z"),
        trouble=trouble,
    )


def problems(reader: Reader, snapshots: Snapshots) -> Iterator[Problem]:
    """Yield what is wrong with each snapshot, every byte of which is read, and whether the newest is an old one."""
    sizes: list[int] = []
    for folder in snapshots.folders():
        remedy = f"braid snapshot drop {folder.name}; then `braid snapshot` makes one that fits"
        try:
            manifest = _own(reader, snapshots.manifest(folder))
        except SnapshotError as error:
            yield Problem("snapshot", f"{folder.name}: {error}; a replay passes it over", remedy)
            continue
        wrong = [
            f"{path} {what}" for part in manifest.parts for path, what in differing(folder, part).items()
        ]
        if wrong:
            more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
            yield Problem("snapshot", f"{folder.name}: {wrong[0]}{more}; a replay passes it over", remedy)
        else:
            sizes.append(manifest.size)
    behind = reader.size - max(sizes, default=reader.size)
    if behind >= max(STALE_RECORDS, *sizes, 0):
        detail = (
            f"the newest is of {max(sizes)} records, {behind} have come since: a replay gains little from it"
        )
        yield Problem("snapshot", detail, "`braid snapshot` makes a new one; run it by cron")


def _own(reader: Reader, manifest: SnapshotManifest) -> SnapshotManifest:
    """Return a manifest that is of this very log; SnapshotError for one that is of another history of it."""
    if manifest.size > reader.size or root_at(reader, manifest.size) != manifest.root:
        raise SnapshotError("it was made from another log")
    return manifest
