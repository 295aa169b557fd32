"""What recall costs: turns until they are searchable, questions beside LanceDB's own and numpy's, questions right
behind appends, memory."""

import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import count, islice
from statistics import quantiles
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from braid.ledger.record.record import Content, Draft, ExperienceBody, Provenance, Scope
from braid.ledger.write.create import create_store
from braid.ledger.write.writer import utc_now
from braid.models.static import FOLDER, StaticEmbedder
from braid.tools.bench.context import Bench, Measure
from braid.tools.bench.measure import Figure, Floor, against, alone, figure, seconds_of
from braid.tools.bench.stores import TRANSACTION, Place

if TYPE_CHECKING:
    from braid.store import Store

ASKED_A_SECOND: Final = 100
"""How many questions a slice asks, by its length; its value is their 95th percentile."""
BESIDE_A_SECOND: Final = 500
"""How many appends a slice puts a question behind, by its length; its value is the 99th percentile."""
FIRST_TURNS: Final = 500
"""How many turns are new when a process asks its first question."""
SESSION_TURNS: Final = 20
USER_TURNS: Final = 500
_NAMES: Final = ("Maya", "Owen", "Ines", "Jonas", "Nadia", "Rui", "Tola", "Bethan")
_COUNT: Final = "SELECT count(*) FROM experiences"
_MEMORY: Final = """
import sys
from pathlib import Path
import braid
with braid.open(sys.argv[1], guard_dir=sys.argv[2], create=False, read_only=True) as store:
    for question in sys.argv[3:]:
        store.recall(question)
    peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    print(peak.split()[1])
"""


class Turns:
    """Seeded turns of conversations: English words, common ones often, a dozen or two a turn; and questions to them."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        words = _vocabulary()
        self._words = random.Random(seed).sample(words, len(words))
        rank = np.arange(1, len(words) + 1)
        self._chances = np.cumsum(1 / rank) / (1 / rank).sum()

    def text(self, number: int) -> str:
        """Return what the number-th turn says."""
        chance = np.random.default_rng((self._seed, number))
        length = int(chance.integers(6, 30))
        places: list[int] = np.searchsorted(self._chances, chance.random(length) * 0.999_999).tolist()
        said = [self._words[at] for at in places]
        return " ".join(said).capitalize() + "."

    def draft(self, number: int) -> Draft:
        """Return the number-th turn."""
        scope = Scope(
            user_id=f"user-{number // USER_TURNS:06}", session_id=f"session-{number // SESSION_TURNS:08}"
        )
        body = ExperienceBody(
            content=Content(text=self.text(number), structured={"ordinal": number}),
            provenance=Provenance(name=_NAMES[number % 2 + 2 * (number // USER_TURNS % 4)]),
            scope=scope,
        )
        return Draft(kind="experience", type="occurrence", body=body)

    def questions(self, n: int) -> Iterator[str]:
        """Yield questions without end, each to one of the first n turns."""
        chance = random.Random(self._seed)
        while True:
            number = chance.randrange(n)
            said = self.text(number).rstrip(".").lower().split()
            name = _NAMES[number % 2 + 2 * (number // USER_TURNS % 4)]
            yield f"What did {name} say about {' '.join(chance.sample(said, min(5, len(said))))}?"


@cache
def _vocabulary() -> list[str]:
    """Return the words that the packaged model knows."""
    known: dict[str, int] = json.loads((FOLDER / "tokenizer.json").read_bytes())["model"]["vocab"]
    return sorted(word for word in known if len(word) > 2 and word.isascii() and word.isalpha())


def recalling(bench: Bench, n: int) -> Iterator[Figure]:
    """Turns into a store of their own until they are searchable; then questions to it."""
    place = Place(bench.stores.folder / f"turns{n}" / "memory", n)
    turns = Turns(bench.seed)
    create_store(place.path, now=utc_now(), guard_folder=place.guard_dir)
    with _opened(place) as store:
        store.append("The libraries and the model are loaded before the clock starts.")
        store.recall("Which libraries?")
        bench.told(f"remembering {n:,} turns")
        yield figure("recall.ingest", n, "turns/s", n / _remember(store, turns, n))
        store.views.search.settle()  # its indexes follow in the background
        bench.told(f"asking {n:,} turns")
        yield from _asking(bench, store, turns, n)
    with _opened(place) as store:
        bench.told(f"appending and asking beside {n:,} turns")
        yield from _beside(bench, store, turns, n)
    questions = list(islice(turns.questions(n), 40))
    yield alone("recall.rss", n, "MB", partial(_peak, place, questions), 1)
    bench.stores.remove(place)


def _remember(store: "Store", turns: Turns, n: int) -> float:
    """Return the seconds until n turns are in the log and can be found; making them up is left out."""
    seconds = 0.0
    for first in range(0, n, TRANSACTION):
        drafts = [turns.draft(number) for number in range(first, min(first + TRANSACTION, n))]
        seconds += seconds_of(partial(store.session.append_drafts, drafts))
    return seconds + seconds_of(partial(store.views.search.index, wait_s=600.0))


def _asking(bench: Bench, store: "Store", turns: Turns, n: int) -> Iterator[Figure]:
    import lancedb  # what it takes by itself, as anybody would ask it

    held_at = store.views.search.home.open().table.path
    table: Any = lancedb.connect(held_at.parent).open_table(held_at.stem)
    model = StaticEmbedder()
    asked, many = turns.questions(n), max(2, bench.times(ASKED_A_SECOND))
    held = _vectors(table)

    def vector(question: str) -> object:
        query = model.embed([question])[0]
        return table.search(query, vector_column_name="vector").distance_type("dot").limit(10).to_arrow()

    def words(question: str) -> object:
        return table.search(question, query_type="fts").limit(10).to_arrow()

    def brute(question: str) -> object:
        scores = held @ model.embed([question])[0]
        return np.argpartition(-scores, min(10, len(scores) - 1))[:10]

    def bound() -> float:
        """LanceDB's slower one: half as much again, and 5 ms."""
        some = list(islice(asked, many))
        return 1.5 * max(_p95(vector, some), _p95(words, some)) + 5.0

    def pipeline() -> float:
        return _p95(store.recall, list(islice(asked, many)))

    pipeline()  # once outside the clock: what is loaded late is loaded now
    bound()
    floor = Floor("1.5 × the slower raw LanceDB query + 5 ms", bound)
    yield against("recall.p95", n, "ms", pipeline, floor=floor, rounds=bench.rounds)
    floor = Floor("numpy, every vector", lambda: _p95(brute, list(islice(asked, many))))
    yield against("recall.p95.exact", n, "ms", pipeline, floor=floor, rounds=bench.rounds)


def _beside(bench: Bench, store: "Store", turns: Turns, n: int) -> Iterator[Figure]:
    """The first question after many turns; then one append and one question, again and again."""
    asked = turns.questions(n)
    store.session.append_drafts([turns.draft(n + number) for number in range(FIRST_TURNS)])
    yield figure("recall.first", n, "s", seconds_of(partial(store.recall, next(asked))))
    store.sql(_COUNT)
    numbers = count(n + FIRST_TURNS)

    def beside(ask: Callable[[], object]) -> float:
        """Return the milliseconds that one append and the question behind it take."""
        draft = turns.draft(next(numbers))
        return seconds_of(lambda: (store.session.append_drafts([draft]), ask())) * 1e3

    most = max(2, bench.times(BESIDE_A_SECOND))
    recalls = [beside(partial(store.recall, next(asked))) for _ in range(most)]
    yield figure("recall.beside", n, "ms", quantiles(recalls, n=100, method="inclusive")[-1])
    queries = [beside(partial(store.sql, _COUNT)) for _ in range(most)]
    yield figure("sql.beside", n, "ms", quantiles(queries, n=100, method="inclusive")[-1])


def _vectors(table: Any) -> Any:
    """Return every vector of a table, one a row."""
    column = table.search().where("vector IS NOT NULL").select(["vector"]).to_arrow()["vector"]
    return column.combine_chunks().flatten().to_numpy().reshape(len(column), -1)


def _p95(ask: Callable[[str], object], questions: Sequence[str]) -> float:
    """Return the 95th percentile of the milliseconds that a question takes."""
    times = [seconds_of(partial(ask, question)) * 1e3 for question in questions]
    return quantiles(times, n=20, method="inclusive")[-1]


def _peak(place: Place, questions: Sequence[str]) -> float:
    """Return the peak of memory of a fresh process that opens the store and asks."""
    argv = [sys.executable, "-c", _MEMORY, str(place.path), str(place.guard_dir), *questions]
    said = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    return int(said) / 1024


def _opened(place: Place) -> "Store":
    import braid

    return braid.open(place.path, guard_dir=place.guard_dir, create=False)


MEASURES = (
    Measure(
        (
            "recall.ingest", "recall.p95", "recall.p95.exact", "recall.first", "recall.beside", "sql.beside",
            "recall.rss",
        ),
        recalling,
    ),
)  # fmt: skip
