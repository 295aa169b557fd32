"""Who watches while others write: one reads everything again and again, one follows the log into a folder.

Both believe the log's pinned key alone. What they see must be one growing log, whatever moment they look at.
"""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import Event

from braid.ledger.errors import RefusedLogError
from braid.ledger.publish.folder import Folder, Outlet
from braid.ledger.publish.mirror import copy_log, finish_copy
from braid.ledger.publish.remote import ServedLog
from braid.ledger.read.reader import Reader
from braid.ledger.settings import load_settings
from braid.ledger.tree.guard import Guard
from braid.ledger.tree.merkle import leaf_hash
from braid.ledger.tree.note import VerifierKey
from braid.ledger.tree.tiles import Frontier
from braid.tools.lab.torture.errors import TortureError
from braid.tools.tlog.sources import own_log

Say = Callable[..., None]


def read_published(folder: Path, vkey: VerifierKey) -> tuple[int, str]:
    """Read a whole published log as a stranger does; return its head's size and root. Raises RefusedLogError."""
    log = ServedLog(Folder(folder).fetch, vkey)
    shown = log.head()
    for _ in log.bundles(log.tree(shown.checkpoint), 0):
        pass
    return shown.size, shown.checkpoint.root.hex()


def scan(path: Path, guard: Path, say: Say, ended: Event) -> None:
    """Read the log from its first byte, over and over, and hold its leaves to the newest signed head."""
    while not ended.is_set():
        with closing(Reader(path, guard=_guard(path, guard))) as reader:
            say("ready")
            head = reader.published
            frontier = Frontier()
            for frame in reader.log.frames(0, bodies=False):
                leaves = [leaf_hash(stored) for stored in frame.envelopes()]
                frontier.extend(leaves[: head.size - frontier.size])
                if frontier.size == head.size:
                    break
            if frontier.root() != head.root:
                raise TortureError(f"the log's {frontier.size} leaves do not give the head of {head.size}")
            say("head", str(head.size), head.root.hex())
            say("scanned")


def follow(path: Path, guard: Path, served: Path, say: Say, ended: Event) -> None:
    """Copy the log into a folder as it grows, verify all that is copied, and read it back as a stranger does."""
    while not ended.is_set():
        with own_log(path, _guard(path, guard)) as log, closing(Outlet(served)) as outlet:
            say("ready")
            head = log.head()
            try:
                copy_log(log, outlet, head)
                finish_copy(log, outlet, head)
                shown = read_published(served, log.vkey)
            except RefusedLogError as error:
                raise TortureError(f"a log that only grew was refused: {error}") from error
            if shown != (head.size, head.checkpoint.root.hex()):
                raise TortureError(f"the copy shows a head of {shown[0]}, not of {head.size}")
            say("published", str(head.size), head.checkpoint.root.hex())


def _guard(path: Path, folder: Path) -> Guard:
    return Guard.of_store(load_settings(path).store_id, folder)
