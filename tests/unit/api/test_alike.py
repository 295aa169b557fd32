"""One store, whatever became of its projections, its folder or its handle: every question is answered alike."""

import json
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

import braid
from braid.ledger.record.record import Draft, EmbeddingBody, EventBody, Signature
from braid.recall.salience import LOOKED_AT, NAME, taught
from braid.store import Store
from braid.views.duck.macros import MACROS, VIEWS
from braid.views.duck.schema import TABLES
from braid.views.search import SEMANTIC, Where

SAID = Path(__file__).parents[3] / "examples"
NOW = datetime(2025, 7, 1, tzinfo=UTC)
QUESTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("Where does Jonas live?", {"user_id": "jonas"}),
    ("What is the cat called?", {}),
    ("Where does Nadia live?", {"user_id": "nadia"}),
    ("What happened in January 2024?", {"user_id": "nadia", "filters": {"type": {"eq": "occurrence"}}}),
    ("Mireille", {"affect": {"v": 0.5, "a": 0.5, "d": 0.5}}),
    ("Where does Jonas live?", {"user_id": "jonas", "valid_at": datetime(2025, 4, 1, tzinfo=UTC)}),
    ("Where does Jonas live?", {"as_of": 30}),
)
ARGUMENTS = {"TIMESTAMP": "TIMESTAMP '2025-05-01'", "VARCHAR": "'Jonas'", "BIGINT": "5", "INTEGER": "5"}
NOT_EMPTY = {table.name for table in TABLES} - {"signatures"} | {
    "embeddings",
    "records",
    "depths",
    "sessions",
}
Answers = dict[str, Any]


def clock(begun: datetime) -> Callable[[], datetime]:
    ticks = iter(range(100_000))
    return lambda: begun + timedelta(seconds=next(ticks))


def opened(place: Path, **how: Any) -> Store:
    how.setdefault("clock", clock(NOW + timedelta(days=1)))
    return braid.open(place / "memory", guard_dir=place / "guard", **how)


def tell(store: Store, name: str, user_id: str, first: int, last: int) -> list[str]:
    """Remember some turns of an example, session by session; return their ids."""
    with (SAID / f"{name}.jsonl").open() as file:
        turns = [json.loads(line) for line in file][first:last]
    ids: list[str] = []
    for session in dict.fromkeys(turn["session"] for turn in turns):
        said = [turn for turn in turns if turn["session"] == session]
        ids += store.remember(said, user_id=user_id, session_id=session)
    return ids


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of everything that a store does, with a snapshot in the middle, and `early`: it as it was then."""
    place = tmp_path_factory.mktemp("alike") / "store"
    with opened(place, clock=clock(NOW - timedelta(days=20))) as store:
        jonas, nadia = tell(store, "assistant", "jonas", 0, 9), tell(store, "two-friends", "nadia", 0, 6)
        store.views.search.index(wait_s=60.0)
        store.feel(*jonas[:3])
        store.stance("Where does Jonas live?", user_id="jonas")
        store.apply_lens("stance", user_id="jonas")
        store.ask("Where does Jonas live?", user_id="jonas", now=NOW)
        cat = store.attach(b"a cat", media_type="image/png", caption="a cat called Biscuit on a bicycle")
        store.append("Look at my cat", user_id="jonas", session_id="pictures", media=[cat])
        store.forget(jonas[3], nadia[4])
        store.recover(nadia[4])
        store.snapshot()
    shutil.copytree(place, place.with_name("early"))
    with opened(place, clock=clock(NOW - timedelta(days=9))) as store:
        jonas += tell(store, "assistant", "jonas", 9, 14)
        store.correct(jonas[5], "I meant the other one.", reason="misheard")
        store.stance("Where does Jonas live?", user_id="jonas")
        store.apply_lens("summary", user_id="nadia")
        store.run_program("Where does Jonas's partner live?", user_id="jonas", now=NOW)
        store.forget(jonas[4], nadia[2])
        store.recover(jonas[3])
        store.revoke(store.admit("agent").id)
        store.append("No, the black one.", user_id="jonas", session_id="pictures", idempotency_key="tail")
    return place


@pytest.fixture
def place(base: Path, tmp_path: Path) -> Path:
    shutil.copytree(base, tmp_path / "store")
    return tmp_path / "store"


@pytest.fixture(scope="module")
def expected(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Answers:
    """What the store answers that was written to and opened again."""
    place = tmp_path_factory.mktemp("expected") / "store"
    shutil.copytree(base, place)
    with opened(place) as store:
        return answers(store)


def answers(store: Store) -> Answers:
    """Ask everything that can be asked without writing."""
    found: Answers = {}
    for question, asked in QUESTIONS:
        found[f"recall {question} {asked}"] = store.recall(question, now=NOW, explain=True, **asked)
    for question, asked in QUESTIONS[:2]:
        found[f"context {question}"] = store.context(question, now=NOW, **asked)
        reply = store.ask(question, now=NOW, write=False, **asked)
        found[f"ask {question}"] = (reply.plain, [one.id for one in reply.citations])
        found[f"stance {question}"] = store.stance(question, at=NOW, append=False, **asked)
    tables = [(one.name, one.name) for one in (*TABLES, *VIEWS)]
    for macro in MACROS:
        given = ", ".join(ARGUMENTS[one.type] for one in macro.parameters)
        tables.append((macro.name, f"{macro.name}({given})"))
    each = [f"SELECT '{name}' AS name, to_json(r)::VARCHAR AS said FROM {rows} AS r" for name, rows in tables]
    found["sql"] = store.sql(" UNION ALL ".join(each) + " ORDER BY ALL").to_pylist()
    assert {row["name"] for row in found["sql"]} >= NOT_EMPTY
    stances, everything = store.stances(), range(len(store))
    names = [one.id for one in stances if one.id]
    found["stances"] = (
        stances,
        [store.why(id) for id in names],
        [store.explain_provenance(id) for id in names],
    )
    found["contradictions"] = store.contradictions(at=NOW)
    found["standings"], found["lenses"] = store.lens_standings(), store.lens_views()
    found["views"] = [store.lens_view(one.id, include_forgotten=True) for one in found["lenses"]]
    found["programs"] = [(one, store.program_trace(one.id)) for one in store.programs()]
    some = [store.reader.envelope(at).id for at in everything[:: len(everything) // 4]]
    found["traces"] = [str(store.trace(id, text=True)) for id in some]
    found["turns"] = (store.views.catalog.before(everything), store.views.catalog.after(everything))
    found["read"] = [record.id for record in store.read()]
    found["erasure"] = str(store.plan_erase(user_id="jonas"))
    found["stage"] = store.stage()
    dry = store.learn(dry_run=True)
    found["learn"] = (dry.records, dry.claims)
    status: dict[str, Any] = msgspec.structs.asdict(store.status())
    members = ("records", "transactions", "vault_epoch", "forgotten", "erased", "retention")
    found["status"] = {name: status[name] for name in members}
    found["digest"] = [view.digest and view.digest.content for view in status["views"]]
    return found


def differing(found: Answers, expected: Answers) -> dict[str, tuple[Any, Any]]:
    assert found.keys() == expected.keys()
    return {name: (found[name], expected[name]) for name in found if found[name] != expected[name]}


def without_views(place: Path) -> None:
    """Snapshots go, too: all is made from the log alone."""
    shutil.rmtree(place / "memory" / "views")


def with_early_views(place: Path, early: Path) -> None:
    """Projections, learning and snapshots as they were in the middle."""
    without_views(place)
    shutil.copytree(early / "memory" / "views", place / "memory" / "views")


def replayed_from_a_snapshot(place: Path) -> None:
    with opened(place) as store:
        assert all(one.snapshot and not one.refused for one in store.replay())


def restored(place: Path) -> None:
    with opened(place) as store:
        store.backup(place / "backup", with_vault=True)
    shutil.rmtree(place / "memory")
    braid.restore(place / "backup", place / "memory", guard_dir=place / "guard")


@pytest.mark.soak
@pytest.mark.parametrize("become", [without_views, replayed_from_a_snapshot, restored])
def test_whatever_became_of_it(place: Path, expected: Answers, become: Callable[[Path], None]) -> None:
    become(place)
    with opened(place, adopt=True) as store:
        assert differing(answers(store), expected) == {}


@pytest.mark.soak
def test_following_the_log_gives_what_a_rebuild_gives(base: Path, place: Path, expected: Answers) -> None:
    with_early_views(place, base.with_name("early"))
    with opened(place) as store:
        assert differing(answers(store), expected) == {}
        size = len(store)
        assert (store.learn().records, len(store)) == (0, size)


@pytest.mark.soak
def test_a_reader_beside_it(place: Path, expected: Answers) -> None:
    with opened(place, shared=True), opened(place, read_only=True) as store:
        assert differing(answers(store), expected) == {}


@pytest.fixture
def handles(place: Path) -> Iterator[tuple[Store, Store]]:
    with opened(place, shared=True) as one, opened(place, shared=True) as other:
        yield one, other


@pytest.mark.soak
def test_after_an_erasure_by_another_process(place: Path, handles: tuple[Store, Store]) -> None:
    one, other = handles
    one.recall("cat")
    one.sql("SELECT 1")
    jonas = [record.id for record in other.read() if record.type == "occurrence"]
    other.erase(jonas[6])
    other.erase(session_id="pictures")
    other.forget(jonas[8])
    other.recover(jonas[8])
    other.append("The tail.", user_id="jonas", session_id="pictures")
    found = answers(one)
    one.compact()
    one.replay(from_scratch=True)
    assert differing(answers(other), found) == {}
    assert other.verify(deep=True, rederive=True).findings == []


@pytest.mark.soak
def test_as_of_then_is_what_it_was_then(base: Path, tmp_path: Path) -> None:
    """What came later says nothing of it: no record, no lesson, no salience."""
    shutil.copytree(base.with_name("early"), tmp_path / "store")
    with opened(tmp_path / "store") as store:
        question = QUESTIONS[0][0]
        asked: dict[str, Any] = {"user_id": "jonas", "now": NOW}
        best = store.recall(question, **asked).results[0].id
        ground = store.append("A reflection.", agent_id="kit")
        lesson = EventBody(name=NAME, data=taught([(1, 1.0)]))
        store.session.append_drafts(
            [Draft(kind="event", body=lesson, links=[("parent", ground), ("target", best)])]
        )
        then, index = store.recall(question, explain=True, **asked), store.views.search.index(wait_s=60.0)
        assert then.results[0].signals[NAME] > 0
        last, at = len(store) - 1, store.reader.index_of(best)
        vector = index.vectors([at], SEMANTIC)[at]
        near = index.nearest(vector, where=Where(below=last + 1))
        dull = [Signature(role=role, model="x", salience=0.1) for role in SEMANTIC]
        about = [("experience", best) for _ in dull]
        store.session.append_drafts(
            [Draft(kind="embedding", body=EmbeddingBody(signatures=dull), links=about)]
        )
        noise = Draft(kind="event", body=EventBody(name="noise"), links=[("target", best)])
        store.session.append_drafts([noise] * LOOKED_AT)
        tell(store, "assistant", "jonas", 12, 20)
        past = store.recall(question, explain=True, as_of=last, **asked)
        assert past.results == then.results
        now = store.views.search.index(wait_s=60.0)
        assert now.nearest(vector, where=Where(below=last + 1)) == near
        assert now.nearest(vector) != near
