"""How a store is, on one screen: what a person looks for first. Nothing is caught up, and no projection is opened."""

import shutil
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from braid.tools.cli.output import many
from braid.wal.regular import obstructed

if TYPE_CHECKING:
    from braid.store import Store

_STEP = 1_000


def overview(opened: "Store") -> dict[str, str]:
    """Return what to show of a store, by name; a last line where something is wrong. Raises ObstructedError."""
    from braid.admin.retention import due_records
    from braid.settings import settings

    opened.refresh()
    reader = opened.reader
    size = reader.size
    tail = size - reader.published.size
    used = _bytes_below(opened.path)
    due = Counter[str](one.what for one in due_records(opened.session, opened.session.now()))
    shown = {
        "store": f"{opened.path} ({opened.origin})",
        "records": f"{size} in {many(reader.log.next_tx, 'transaction')}, the newest of"
        f" {reader.envelope(size - 1).created_at}",
        "signed head": "of all records" if not tail else f"of {reader.published.size}; {tail} came after it",
        "durability": reader.durability,
        "guard": str(reader.guard.path) if reader.guarded else "missing: nothing would show an older copy",
        "vault": f"open, epoch {reader.vault.epoch}" if reader.vault else "none here: bodies stay sealed",
        "forgotten": _forgotten(opened, due["forgotten"]),
        "history": _history(settings(opened.session).history_days, due["history"]),
        "projections": _projections(opened.path / "views"),
        "snapshot": _snapshot(opened),
        "disk": f"{size_told(used)} used, {size_told(shutil.disk_usage(opened.path).free)} free",
    }
    if jobs := _jobs(opened.path):
        shown["jobs"] = jobs
    troubles = "; ".join(_troubles(opened))
    return shown | {"trouble": troubles} if troubles else shown


def _forgotten(opened: "Store", due: int) -> str:
    control = opened.reader.control
    told = many(len(control.hidden), "record")
    if due:
        told += f", {due} of them due for `braid retain`"
    elif since := min((since for _, since in control.hidden.values()), default=""):
        first = datetime.fromisoformat(since) + timedelta(days=control.retention_days)
        told += f", the first due on {first:%Y-%m-%dT%H:%M:%SZ}"
    return f"{told}; {len(control.erased)} erased"


def _history(days: int | None, due: int) -> str:
    if days is None:
        return "what was corrected is kept for ever"
    waiting = f", {many(due, 'record')} due for `braid retain`" if due else ""
    return f"what was corrected is kept for {many(days, 'day')}{waiting}"


def _jobs(store: Path) -> str:
    """Return what waits and what is dead by the file beside the store; nothing where all is done."""
    from braid.work.embedded import FILE, EmbeddedQueue
    from braid.work.errors import TransportError

    try:
        counts = Counter[str](one.state for one in EmbeddedQueue(store / FILE).jobs())
    except (TransportError, OSError):
        return ""
    waiting = counts["pending"] + counts["retry_scheduled"]
    told = ((waiting, "waiting"), (counts["leased"], "at work"), (counts["dead"], "dead"))
    return ", ".join(f"{count} {state}" for count, state in told if count)


def _projections(folder: Path) -> str:
    if folder.exists() and not folder.is_dir():
        raise obstructed(folder, "a folder")
    sizes = {name: _bytes_below(folder / name) for name in ("duck", "lance")}
    sizes["catalog"] = sum(path.stat().st_size for path in folder.glob("catalog.sqlite*"))
    return (
        ", ".join(f"{name} {size_told(held)}" for name, held in sorted(sizes.items()) if held) or "none yet"
    )


def _snapshot(opened: "Store") -> str:
    folder = opened.path / "views" / "snapshots"
    if not folder.is_dir():
        return "none"
    from braid.views.snapshot.condition import newest
    from braid.views.snapshot.folder import Snapshots

    found = newest(opened.reader, Snapshots(folder, opened.reader))
    if found is None:
        return "none"
    told = found.trouble or f"{many(found.behind or 0, 'record')} behind"
    return f"{found.name}, {told}"


def _troubles(opened: "Store") -> Iterator[str]:
    reader = opened.reader
    if reader.contradiction:
        yield f"{reader.contradiction} (corrupt)"
    if reader.durability != (asked := reader.settings.durability):
        yield f"durability {asked} was asked for, and no operator has signed it (degraded)"


def _bytes_below(folder: Path) -> int:
    found = 0
    for path in folder.rglob("*"):
        try:
            found += path.stat().st_size if path.is_file() else 0
        except FileNotFoundError:  # another process has just swapped it out
            continue
    return found


def size_told(count: int) -> str:
    """Return a number of bytes as a person reads it: in steps of a thousand."""
    size, units = float(count), ["B", "KB", "MB", "GB", "TB"]
    while size >= _STEP and len(units) > 1:
        size /= _STEP
        units.pop(0)
    return f"{size:.0f} {units[0]}" if size >= 10 or units[0] == "B" else f"{size:.1f} {units[0]}"
