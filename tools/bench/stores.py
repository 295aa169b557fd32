"""Stores to measure: n records with bodies of a kilobyte, built once a run, copied for what would change them.

All of a store is on disk before it is measured: else the system writes it back meanwhile, and the measured syncs wait.
"""

import random
import shutil
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from braid.ledger.read.reader import Reader
from braid.ledger.record.ids import RecordId
from braid.ledger.record.record import Content, Draft, ExperienceBody, Scope
from braid.ledger.settings import Durability, load_settings
from braid.ledger.tree.guard import Guard
from braid.ledger.write.create import create_store
from braid.ledger.write.durability import choose
from braid.ledger.write.writer import Writer, utc_now
from braid.wal.durable import sync_tree

BODY_BYTES: Final = 1024
TRANSACTION: Final = 1000
_TEXTS: Final = 997
_SYLLABLES: Final = ("ba", "co", "di", "fen", "gar", "ho", "la", "mi", "nor", "pe", "ri", "sto", "tu", "ve")
Told = Callable[[str], None]
"""Takes one line on what is going on."""


class Place(NamedTuple):
    """Where a store lies, with a guard of its own."""

    path: Path
    n: int

    @property
    def guard_dir(self) -> Path:
        """The folder of its fork guard."""
        return self.path.parent / "guard"

    @property
    def guard(self) -> Guard:
        """Its fork guard."""
        return Guard.of_store(load_settings(self.path).store_id, self.guard_dir)

    @contextmanager
    def writer(self) -> Generator[Writer, None, None]:
        """Open for appending, without projections."""
        writer = Writer(self.path, guard=self.guard)
        try:
            yield writer
        finally:
            writer.close()

    @contextmanager
    def reader(self) -> Generator[Reader, None, None]:
        """Open for reading."""
        reader = Reader(self.path, guard=self.guard)
        try:
            yield reader
        finally:
            reader.close()


class Texts:
    """Seeded drafts whose body is `BODY_BYTES` of JSON."""

    def __init__(self, seed: int) -> None:
        chance = random.Random(seed)
        words = ["".join(chance.choices(_SYLLABLES, k=chance.randrange(1, 5))) for _ in range(2_000)]
        self._texts = [" ".join(chance.choices(words, k=BODY_BYTES // 2)) for _ in range(_TEXTS)]

    def draft(self, number: int) -> Draft:
        """Return the number-th draft."""
        scope = Scope(user_id=f"user-{number % 100:02}", session_id=f"session-{number // 50:08}")
        empty = len(msgspec.json.encode(ExperienceBody(content=Content(text="x"), scope=scope))) - 1
        text = f"{number:08} {self._texts[number % _TEXTS]}"[: BODY_BYTES - empty]
        return Draft(
            kind="experience", type="occurrence", body=ExperienceBody(content=Content(text=text), scope=scope)
        )

    def drafts(self, first: int, count: int) -> list[Draft]:
        """Return `count` drafts from the first-th."""
        return [self.draft(number) for number in range(first, first + count)]


class Stores:
    """The stores of one run, in one folder."""

    def __init__(self, folder: Path, seed: int, told: Told) -> None:
        self.folder = folder
        self.texts = Texts(seed)
        self._told = told
        self._built: dict[int, Place] = {}
        self._copies = 0

    def of(self, n: int) -> Place:
        """Return the store of n experiences (and what a new store begins with), not to be changed."""
        if n not in self._built:
            self._built[n] = self._build(n)
        return self._built[n]

    def _build(self, n: int) -> Place:
        place = Place(self.folder / f"n{n}" / "memory", n)
        place.path.parent.mkdir(parents=True)
        create_store(place.path, now=utc_now(), durability="none", guard_folder=place.guard_dir)
        with place.writer() as writer:
            for first in range(0, n, TRANSACTION):
                writer.append(self.texts.drafts(first, min(TRANSACTION, n - first)))
                self._told(f"building a store of {n:,} records: {first / n:.0%}")
        _set_durability(place, "always")
        sync_tree(place.path.parent)
        return place

    def drop(self, n: int) -> None:
        """Give the disk space of the store of n back."""
        if place := self._built.pop(n, None):
            self.remove(place)

    @staticmethod
    def remove(place: Place) -> None:
        """Give the disk space of a store back."""
        shutil.rmtree(place.path.parent)

    @contextmanager
    def copy(self, n: int, durability: Durability = "always") -> Generator[Place, None, None]:
        """Give a copy of the store of n, to be changed; it goes afterwards."""
        origin = self.of(n)
        self._told(f"copying the store of {n:,} records")
        self._copies += 1
        folder = self.folder / f"copy{self._copies}"
        shutil.copytree(origin.path.parent, folder)
        sync_tree(folder)
        place = Place(folder / origin.path.name, n)
        try:
            _set_durability(place, durability)
            yield place
        finally:
            shutil.rmtree(folder)


def _set_durability(place: Place, durability: Durability) -> None:
    with place.writer() as writer:
        if writer.settings.durability != durability:
            choose(writer, durability)


def spread_ids(reader: Reader, count: int, *, tiles: int, seed: int) -> list[RecordId]:
    """Return ids of up to `count` experiences in up to `tiles` tiles, in a seeded order."""
    chance = random.Random(seed)
    size = reader.size
    chosen = chance.sample(range((size + 255) // 256), min(tiles, (size + 255) // 256))
    indexes = [index for tile in chosen for index in range(max(tile * 256, 3), min(tile * 256 + 256, size))]
    picked = chance.sample(indexes, min(count, len(indexes)))
    return [RecordId(reader.envelope(index).id) for index in picked]
