"""Where a log is read from: a URL, a folder that was published or mirrored, or a store on this machine."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from braid.ledger.publish.folder import CHECKPOINT, Folder
from braid.ledger.publish.offer import KeylessReader, OfferedStore
from braid.ledger.publish.remote import Fetch, Gather, ServedLog
from braid.ledger.tree.guard import Guard
from braid.tools.tlog.client import TIMEOUT_S, RemoteLog, Site


class LogSource(NamedTuple):
    """A log that can be asked for paths."""

    fetch: Fetch
    gather: Gather | None = None


@contextmanager
def own_log(store: Path, guard: Guard | None = None) -> Generator[ServedLog]:
    """Open a store of one's own as the log that others will read; its guard knows the key."""
    reader = KeylessReader(store, guard=guard)
    try:
        # While one key of the log takes over, heads have the signatures of both: who pinned either reads them.
        yield ServedLog(OfferedStore(reader).fetch, reader.vkey, others=reader.log_keys)
    finally:
        reader.close()


@contextmanager
def source_of(
    place: str | Path, *, guard: Guard | None = None, timeout_s: float = TIMEOUT_S
) -> Generator[LogSource]:
    """Open the log at a URL or a path; FileNotFoundError where there is none."""
    if isinstance(place, str) and "://" in place:
        remote = RemoteLog(Site(place, timeout_s=timeout_s))
        try:
            yield LogSource(remote.fetch, remote.gather)
        finally:
            remote.close()
        return
    path = Path(place)
    if (path / "store.json").exists():
        reader = KeylessReader(path, guard=guard)
        try:
            yield LogSource(OfferedStore(reader).fetch)
        finally:
            reader.close()
    elif (path / CHECKPOINT).exists():
        yield LogSource(Folder(path).fetch)
    else:
        raise FileNotFoundError(f"there is no log at {place}: name a URL, a published folder or a store")
