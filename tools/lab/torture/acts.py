"""What is done to a store while a system call fails under it. A new operation is one function and one line in ACTS.

An act says what was acknowledged to it in the words of `Told`. It may be refused by any error that Braid promises;
what it says before and behind that must hold.
"""

import random
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Final, NamedTuple

import braid
from braid.ledger.errors import LedgerError
from braid.ledger.publish.folder import Outlet
from braid.ledger.publish.mirror import copy_log, finish_copy
from braid.ledger.settings import load_settings
from braid.ledger.tree.guard import Guard
from braid.tools.lab.torture.words import text_of
from braid.tools.tlog.sources import own_log
from braid.views.errors import ViewError
from braid.wal.errors import WalError

REFUSALS: Final = (OSError, LedgerError, WalError, ViewError)
Say = Callable[..., None]
"""Say a word and the ids that belong to it."""


class World(NamedTuple):
    """A folder with a store, its guard, and the folder it is published in."""

    folder: Path

    @property
    def memory(self) -> Path:
        """The store."""
        return self.folder / "memory"

    @property
    def guard(self) -> Path:
        """The folder of its guard."""
        return self.folder / "guard"

    @property
    def served(self) -> Path:
        """Where it is published."""
        return self.folder / "served"

    def open(self) -> "braid.Store":
        """Open the store for writing."""
        return braid.open(self.memory, create=False, guard_dir=self.guard)

    def publish(self) -> tuple[int, bytes]:
        """Publish the log as `braid publish` does; return size and root."""
        guard = Guard.of_store(load_settings(self.memory).store_id, self.guard)
        with own_log(self.memory, guard) as log, closing(Outlet(self.served)) as outlet:
            head = log.head()
            copy_log(log, outlet, head, twins=self.memory)
            finish_copy(log, outlet, head)
        return head.size, head.checkpoint.root


class Act(NamedTuple):
    """An operation, and whether it is about projections: only then is there one in the world, and only then a look."""

    do: Callable[[World, Say], None]
    views: bool = False


class Prepared(NamedTuple):
    """What a world begins with: the needle, which `erase` erases, its sealed body, and what has been acknowledged."""

    needle: str
    sealed: bytes
    said: list[str]


def prepare(world: World, *, views: bool) -> Prepared:
    """Make the world in which acts begin: memories, one derived, one with media, one erased; some of it published."""
    chance = random.Random(0)
    with braid.open(world.memory, guard_dir=world.guard) as store:
        media = store.attach(b"the needle in media", media_type="text/plain")
        needle = store.append(text_of(chance), media=[media])
        erased, straw = (store.append(text_of(chance)) for _ in range(2))
        derived = store.append(text_of(chance), type="inference", parents=[needle])
        store.erase(erased)  # which leaves something to compact
        world.publish()
        said = [needle, erased, straw, derived, store.append(text_of(chance))]
        if views:
            store.replay()
            said.append(store.append(text_of(chance)))
        sealed = store.reader.log.body(store.reader.index_of(needle))[24:]
    return Prepared(
        needle, sealed, [f"appended {' '.join(said)}\n", f"erasing {erased}\n", f"erased {erased}\n"]
    )


def _try(do: Callable[[], object], say: Say) -> None:
    """A refusal is told, and the same handle goes on."""
    try:
        do()
    except REFUSALS as error:
        say("refused", type(error).__name__)


def append(world: World, say: Say) -> None:
    """Append alone and in a transaction; a handle that was refused once must not lie afterwards."""
    chance = random.Random(1)
    with world.open() as store:
        _try(lambda: say("appended", store.append(text_of(chance))), say)
        _try(lambda: _append_three(store, chance, say), say)
        _try(lambda: say("appended", store.append(text_of(chance))), say)


def _append_three(store: "braid.Store", chance: random.Random, say: Say) -> None:
    with store.transaction() as transaction:
        pending = [transaction.append(text_of(chance, place, 3)) for place in range(3)]
    say("appended", *[one.id for one in pending])


def checkpoint(world: World, say: Say) -> None:
    """Sign and publish heads."""
    chance = random.Random(2)
    with world.open() as store:
        for _ in range(2):
            _try(lambda: say("appended", store.append(text_of(chance))), say)
            _try(store.checkpoint, say)
            head = store.reader.published
            say("head", str(head.size), head.root.hex())


def publish(world: World, say: Say) -> None:
    """Publish what is new, and what is newer."""
    with world.open() as store:
        for _ in range(2):
            _try(lambda: _published(world, say), say)
            _try(lambda: say("appended", store.append(text_of(random.Random(3)))), say)
            _try(store.checkpoint, say)


def _published(world: World, say: Say) -> None:
    size, root = world.publish()
    say("published", str(size), root.hex())


def erase(world: World, say: Say) -> None:
    """Erase the needle and what is derived from it alone; then go on."""
    with world.open() as store:
        needle = next(
            envelope.id for envelope, _ in store.reader.envelopes() if envelope.kind == "experience"
        )
        cascade = store.plan_erase(needle)
        say("erasing", *[named.id for named in cascade.erased])
        _try(lambda: _erased(store, needle, say), say)
        _try(lambda: say("appended", store.append(text_of(random.Random(4)))), say)


def _erased(store: "braid.Store", needle: str, say: Say) -> None:
    cascade = store.plan_erase(needle)
    store.erase(needle)
    say("erased", *[named.id for named in cascade.erased])


def compact(world: World, say: Say) -> None:
    """Rewrite the closed segments, and append before and behind it."""
    chance = random.Random(5)
    with world.open() as store:
        for _ in range(2):
            _try(lambda: say("appended", store.append(text_of(chance))), say)
            _try(lambda: say("compacted", str(store.compact())), say)


def replay(world: World, say: Say) -> None:
    """Catch up, then make the projections anew."""
    with world.open() as store:
        _try(lambda: say("caught up", str(len(store.views.catch_up()))), say)
        _try(lambda: say("replayed", str(len(store.replay()))), say)
        with suppress(*REFUSALS):
            store.sql("SELECT count(*) FROM experiences")


def snapshot(world: World, say: Say) -> None:
    """Write snapshots down, append in between, and let only the newest stay: a replay begins from it."""
    with world.open() as store:
        for _ in range(2):
            _try(lambda: say("snapshot", str(store.snapshot(keep=1).size)), say)
            _try(lambda: say("appended", store.append(text_of(random.Random(6)))), say)
        _try(lambda: say("replayed", str(len(store.replay()))), say)


ACTS: Final[dict[str, Act]] = {
    "append": Act(append),
    "checkpoint": Act(checkpoint),
    "publish": Act(publish),
    "erase": Act(erase),
    "compact": Act(compact),
    "replay": Act(replay, views=True),
    "snapshot": Act(snapshot, views=True),
}
