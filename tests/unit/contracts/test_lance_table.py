"""`braid.views.lance.table`, over LanceDB's extension alone, and LanceDB's whole package are alike.

What either writes the other reads, and both find the same.
"""

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pytest

from braid.views.lance import table as face
from braid.views.lance.arrow import pa
from braid.views.lance.table import Table

NAME = "rows"
WIDTH = 8
SCHEMA = pa.schema(
    [
        ("n", pa.int64()),
        ("kind", pa.string()),
        ("text", pa.string()),
        ("vector", pa.list_(pa.float32(), WIDTH)),
    ]
)
WORDS = ("tea", "boats", "Porto", "sailing", "the", "cat's", "repaired", "ünïcode", "docks")
QUESTIONS = (
    "boats",
    "sail",
    "the tea of Porto",
    "CAT",
    "unicode",
    "is none",
    "repair AND (docks)",
    'a "quote',
    "*",
)
FILTERS = ("", "n >= 40 AND n < 90", "kind = 'even'", "kind = 'it''s'", "n IN (3, 5, 500)")


def rows(first: int, count: int) -> Any:
    """Seeded rows as an Arrow table: some without a vector, some without words."""
    chance = np.random.default_rng(first)
    vectors = chance.normal(size=(count, WIDTH)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    numbers = range(first, first + count)
    return pa.table(
        {
            "n": list(numbers),
            "kind": ["even" if n % 2 == 0 else "it's" if n % 5 == 0 else None for n in numbers],
            "text": [" ".join(chance.choice(WORDS, 6)) if n % 11 else None for n in numbers],
            "vector": [
                vector.tolist() if n % 7 else None for n, vector in zip(numbers, vectors, strict=True)
            ],
        },
        schema=SCHEMA,
    )


class Door(Protocol):
    """What the projection does with its table."""

    def rows(self, where: str, columns: list[str]) -> Any: ...
    def batches(self, where: str, most: int) -> list[int]: ...
    def count(self, where: str | None) -> int: ...
    def at(self, addresses: list[int]) -> list[int]: ...
    def nearest(self, vector: Any, where: str) -> Any: ...
    def matching(self, words: str, where: str) -> Any: ...
    def add(self, found: Any) -> None: ...
    def replace(self, found: Any) -> None: ...
    def delete(self, where: str) -> None: ...
    def index(self) -> None: ...
    def index_vectors(self) -> None: ...
    def indexes(self) -> dict[str, list[str]]: ...
    def optimize(self) -> None: ...


class Ours:
    """By the extension alone."""

    def __init__(self, folder: Path, *, create: bool) -> None:
        self.table = Table.create(folder, NAME, SCHEMA) if create else Table.open(folder, NAME)

    def rows(self, where: str, columns: list[str]) -> Any:
        return self.table.rows(where, columns)

    def batches(self, where: str, most: int) -> list[int]:
        return [len(batch) for batch in self.table.batches(where, ["n"], most)]

    def count(self, where: str | None) -> int:
        return self.table.count(where)

    def at(self, addresses: list[int]) -> list[int]:
        found: list[int] = self.table.at(addresses, ["n"])["n"].to_pylist()
        return found

    def nearest(self, vector: Any, where: str) -> Any:
        columns = ["n", "_distance"]
        return self.table.nearest(vector, column="vector", probes=4, most=9, where=where, columns=columns)

    def matching(self, words: str, where: str) -> Any:
        return self.table.matching(words, column="text", most=9, where=where, columns=["n", "_score"])

    def add(self, found: Any) -> None:
        self.table.add(found)

    def replace(self, found: Any) -> None:
        self.table.replace(found, ["n"])

    def delete(self, where: str) -> None:
        self.table.delete(where)

    def index(self) -> None:
        self.table.create_index("text", face.FTS())
        self.table.create_index("kind", face.Bitmap())
        self.table.create_index("n", face.BTree())

    def index_vectors(self) -> None:
        kind = face.IvfFlat(4, sample_rate=64, max_iterations=20, distance_type="dot")
        self.table.create_index("vector", kind, "vector_4")

    def indexes(self) -> dict[str, list[str]]:
        return self.table.indexes()

    def optimize(self) -> None:
        self.table.optimize(timedelta(0))


class Whole:
    """By the whole package."""

    def __init__(self, folder: Path, *, create: bool) -> None:
        import lancedb  # takes two seconds, which each process that collects tests would pay

        home = lancedb.connect(folder)
        self.table = home.create_table(NAME, schema=SCHEMA) if create else home.open_table(NAME)

    def rows(self, where: str, columns: list[str]) -> Any:
        query = self.table.search()
        return (query.where(where) if where else query).select(columns).limit(10_000).to_arrow()

    def batches(self, where: str, most: int) -> list[int]:
        return [len(batch) for batch in self.table.search().where(where).select(["n"]).to_batches(most)]

    def count(self, where: str | None) -> int:
        return self.table.count_rows(where)

    def at(self, addresses: list[int]) -> list[int]:
        found: list[int] = self.table.take_row_ids(addresses).select(["n"]).to_arrow()["n"].to_pylist()
        return found

    def nearest(self, vector: Any, where: str) -> Any:
        query: Any = self.table.search(vector, vector_column_name="vector")
        query = query.distance_type("dot").nprobes(4)
        query = query.where(where, prefilter=True) if where else query
        return query.limit(9).select(["n", "_distance"]).to_arrow()

    def matching(self, words: str, where: str) -> Any:
        from lancedb.query import MatchQuery

        match: Any = MatchQuery
        query: Any = self.table.search(match(words, "text"), query_type="fts")
        query = query.where(where, prefilter=True) if where else query
        return query.limit(9).select(["n", "_score"]).to_arrow()

    def add(self, found: Any) -> None:
        self.table.add(found, on_bad_vectors="null")

    def replace(self, found: Any) -> None:
        merge = self.table.merge_insert(["n"]).when_matched_update_all().when_not_matched_insert_all()
        merge.execute(found, on_bad_vectors="null")

    def delete(self, where: str) -> None:
        self.table.delete(where)

    def index(self) -> None:
        from lancedb.index import FTS, Bitmap, BTree

        self.table.create_index("text", config=FTS())
        self.table.create_index("kind", config=Bitmap())
        self.table.create_index("n", config=BTree())

    def index_vectors(self) -> None:
        from lancedb.index import IvfFlat

        config = IvfFlat(distance_type="dot", num_partitions=4, sample_rate=64, max_iterations=20)
        self.table.create_index("vector", config=config, name="vector_4", replace=True)

    def indexes(self) -> dict[str, list[str]]:
        return {index.name: list(index.columns) for index in self.table.list_indices()}

    def optimize(self) -> None:
        with pytest.warns(UserWarning, match="cleanup_older_than=0"):
            self.table.optimize(cleanup_older_than=timedelta(0))


Opening = Callable[..., Door]
DOORS: list[Opening] = [Ours, Whole]


def hits(found: Any, score: str) -> list[tuple[int, float]]:
    """What a search found, in an order that ties don't change."""
    pairs = zip(found["n"].to_pylist(), found[score].to_pylist(), strict=True)
    return sorted(pairs, key=lambda pair: (pair[1], pair[0]))


def told(door: Door) -> dict[str, Any]:
    """All that a door tells of a table."""
    vector = np.linspace(-1, 1, WIDTH, dtype=np.float32)
    said: dict[str, Any] = {"indexes": door.indexes(), "at": door.at([0, 3, 2])}
    for where in FILTERS:
        found = door.rows(where, SCHEMA.names)
        assert found.schema.equals(SCHEMA)
        said[f"rows {where}"] = sorted(map(repr, found.to_pylist()))
        said[f"count {where}"] = door.count(where or None)
        said[f"nearest {where}"] = hits(door.nearest(vector, where), "_distance")
        for words in QUESTIONS:
            said[f"{words} {where}"] = hits(door.matching(words, where), "_score")
    said["batches"] = sum(door.batches("n >= 0", 32))
    assert max(door.batches("n >= 0", 32)) <= 32
    return said


@pytest.fixture(params=[(Ours, Whole), (Whole, Ours)], ids=["ours writes", "the package writes"])
def doors(request: pytest.FixtureRequest) -> tuple[Opening, Opening]:
    found: tuple[Opening, Opening] = request.param
    return found


def play(folder: Path, writer: Opening) -> Iterator[str]:
    """Let a door write a table as the projection does; each step by its name."""
    door = writer(folder, create=True)
    door.index()
    door.add(rows(0, 120))
    yield "added"
    door.add(pa.RecordBatchReader.from_batches(SCHEMA, rows(120, 40).to_batches(max_chunksize=16)))
    yield "added from a reader"
    door.replace(rows(100, 30))
    yield "replaced"
    door.delete("n >= 10 AND n < 30")
    yield "deleted"
    door.index_vectors()
    yield "vectors indexed"
    door.optimize()
    yield "optimized"


@pytest.mark.soak
def test_what_one_writes_the_other_reads(tmp_path: Path, doors: tuple[Opening, Opening]) -> None:
    for step in play(tmp_path, doors[0]):
        one, other = (told(door(tmp_path, create=False)) for door in doors)
        assert one == other, step
        assert one["count "] > 100
        assert one["boats "]


@pytest.mark.soak
def test_one_goes_on_where_the_other_stopped(tmp_path: Path, doors: tuple[Opening, Opening]) -> None:
    """Both write the same in turns, each to what the other has left: two tables come out alike."""
    for folder, order in (("one", doors), ("other", doors[::-1])):
        home = tmp_path / folder
        home.mkdir()
        first, second = order
        first(home, create=True).index()
        second(home, create=False).add(rows(0, 60))
        first(home, create=False).replace(rows(50, 20))
        second(home, create=False).delete("n = 7")
        first(home, create=False).optimize()
    one, other = (told(Ours(tmp_path / folder, create=False)) for folder in ("one", "other"))
    assert one == other


def test_an_index_is_made_with_the_same_words() -> None:
    """The defaults that the package would give are written out here: they must not part."""
    from lancedb.index import FTS, IvfFlat

    theirs = {name: getattr(value, "value", value) for name, value in vars(FTS()).items()}
    assert vars(face.FTS()) == theirs
    assert vars(face.IvfFlat(4)) == vars(IvfFlat(num_partitions=4))


def test_addresses_are_the_same(tmp_path: Path) -> None:
    Ours(tmp_path, create=True).add(rows(0, 20))
    ours = Table.open(tmp_path, NAME).rows("n > 4", ["n"], addressed=True)
    theirs = (
        Whole(tmp_path, create=False).table.search().where("n > 4").select(["n"]).with_row_id(True).to_arrow()
    )
    assert ours.to_pylist() == theirs.to_pylist()
    assert Table.open(tmp_path, NAME).at([99_999], ["n"]).num_rows == 0


@pytest.mark.parametrize(
    "ask",
    [
        lambda folder: Table.open(folder, "is none"),
        lambda folder: Table.create(folder, NAME, SCHEMA),
        lambda folder: Table.open(folder, NAME).rows("nonsense ="),
        lambda folder: Table.open(folder, NAME).rows("", ["is none"]),
        lambda folder: Table.open(folder, NAME).nearest(
            np.ones(3, np.float32), column="vector", probes=1, most=1, where="", columns=["n"]
        ),
        lambda folder: Table.open(folder, NAME).add(
            rows(0, 1).select(["n", "text"]).rename_columns(["n", "x"])
        ),
    ],
    ids=["no table", "there already", "no SQL", "no column", "another length", "other columns"],
)
def test_what_fails_raises_as_told(tmp_path: Path, ask: Callable[[Path], object]) -> None:
    Ours(tmp_path, create=True).add(rows(0, 10))
    with pytest.raises((RuntimeError, ValueError, OSError)):
        ask(tmp_path)


def test_a_handle_keeps_its_version(tmp_path: Path) -> None:
    Ours(tmp_path, create=True).add(rows(0, 10))
    held = Table.open(tmp_path, NAME)
    Ours(tmp_path, create=False).add(rows(10, 10))
    assert (held.count(), Table.open(tmp_path, NAME).count()) == (10, 20)
