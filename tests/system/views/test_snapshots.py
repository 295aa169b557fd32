"""Snapshots: made, begun from, checked, refused, dropped; and that an erasure leaves nothing in them."""

import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import duckdb
import msgspec
import numpy as np
import pytest

from braid.entry import open as open_store
from braid.ledger.errors import KeyRefusedError
from braid.ledger.read.signatory import operator
from braid.ledger.record.record import Content, Draft, ExperienceBody
from braid.store import Store
from braid.views.duck import projection as duck
from braid.views.embedder import Vectors
from braid.views.errors import SnapshotError
from braid.views.snapshot import condition
from braid.views.snapshot import duck as snapshot_duck
from braid.views.snapshot import manifest as manifests
from braid.views.snapshot.condition import problems
from braid.views.snapshot.manifest import NAME
from braid.views.status import Caught

NEEDLE = "xylophone-4711-quetzal"


class Hashed:
    """A model of hashed words in eight dimensions."""

    name, version, dimensions, remote = "hashed", "1", 8, False

    def embed(self, texts: Sequence[str]) -> Vectors:
        found = np.zeros((len(texts), 8), dtype=np.float32)
        for place, text in enumerate(texts):
            digest = sha256(text.encode()).digest()
            found[place] = np.frombuffer(digest[:8], dtype=np.uint8) / 127.5 - 1
        unit: Vectors = found / np.linalg.norm(found, axis=1, keepdims=True)
        return unit


def opened(path: Path) -> Store:
    return open_store(path, embedder=Hashed)


def fill(store: Store, *, search: bool = True) -> None:
    store.append(NEEDLE, user_id="maya", idempotency_key="first")
    with store.transaction() as transaction:
        one = transaction.append("the second", user_id="maya")
        transaction.append("from the second", type="inference", parents=[one])
    store.append("the fourth", user_id="jonas")
    store.forget(store.append("forgotten before the snapshot"))
    if search:
        store.views.search.catch_up()


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A world with a store that has a snapshot and a tail behind it, and its guard."""
    world = tmp_path_factory.mktemp("world")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BRAID_GUARD_DIR", str(world / "guard"))
        with opened(world / "memory") as store:
            fill(store)
            store.snapshot()
            store.append("behind the snapshot")
            store.forget(store.reader.at(6).id)
    return world


@pytest.fixture
def world(base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(base, tmp_path / "world")
    monkeypatch.setenv("BRAID_GUARD_DIR", str(tmp_path / "world" / "guard"))
    return tmp_path / "world"


@pytest.fixture
def store(world: Path) -> Iterator[Store]:
    with opened(world / "memory") as store:
        yield store


def only(store: Store) -> Path:
    (folder,) = store.views.snapshots.folders()
    return folder


def content(store: Store, *, search: bool = True) -> tuple[str, dict[str, list[tuple[object, ...]]]]:
    """What the projections hold: the DuckDB digest, and the catalogue's and LanceDB's rows."""
    import sqlite3

    store.views.catch_up()
    (digest,) = [view.digest for view in store.views.status() if view.name == "duck"]
    assert digest
    rows: dict[str, list[tuple[object, ...]]] = {}
    con = sqlite3.connect(store.path / "views" / "catalog.sqlite")
    tables = con.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name != 'meta'").fetchall()
    for (name,) in tables:
        rows[name] = con.execute(f"SELECT * FROM {name} ORDER BY 1, 2").fetchall()
    con.close()
    if not search:
        return digest.content, rows
    table = store.views.search.home.open().table.rows("log_index >= 0")
    rows["lance"] = sorted(
        tuple(map(str, row.values())) for row in table.drop_columns(["vector"]).to_pylist()
    )
    return digest.content, rows


def trouble(store: Store) -> str:
    newest = store.status().snapshot
    assert newest is not None
    return newest.trouble


def names(done: Sequence[Caught]) -> dict[str, str]:
    return {one.name: one.snapshot for one in done}


def test_a_replay_begins_from_it_and_ends_where_one_from_scratch_does(store: Store) -> None:
    scratch = store.replay(from_scratch=True)
    assert set(names(scratch).values()) == {""}
    held = content(store)
    done = store.replay()
    assert names(done) == dict.fromkeys(("duck", "catalog", "lance"), only(store).name)
    assert all(one.position == len(store) and not one.refused for one in done)
    assert content(store) == held
    assert store.views.check() == []
    assert store.sql("SELECT count(*) AS n FROM checkpoints").to_pylist()[0]["n"] > 0


def test_every_rebuild_begins_from_it_not_only_one_that_is_asked_for(store: Store) -> None:
    held = content(store)
    for path in (store.path / "views" / "duck").glob("*.duckdb"):
        path.unlink()
    (caught, *_) = store.views.catch_up()
    assert caught.snapshot == only(store).name
    assert content(store) == held


def test_it_is_the_fold_of_its_prefix(store: Store) -> None:
    """Forgetting reaches back: the snapshot is what held at its size, whatever the tail has changed since."""
    assert store.views.check_snapshots() == {only(store).name: []}
    store.snapshot()
    assert list(store.views.check_snapshots().values()) == [[], []]


def test_its_digest_is_that_of_the_past_at_its_size(store: Store) -> None:
    from braid.views.duck.past import Past
    from braid.views.duck.projection import DuckView

    made = store.snapshot()
    past = store.views.past(Past(made.size))
    view = DuckView.open(past, store.path / "checkpoints")
    assert view.meta
    assert (view.meta.digest, view.meta.stamp.root) == (made.digest, made.root)
    view.close()


def resign(store: Store, change: Callable[[manifests.SnapshotManifest], manifests.SnapshotManifest]) -> None:
    """Put another manifest under the operator's signature: what a liar with the key could write."""
    folder = only(store)
    old = manifests.read(folder, store.reader.control, store.origin)
    (folder / NAME).write_bytes(manifests.seal(change(old), operator(store.reader, "a test")))


def test_what_a_liar_signed_is_found_by_folding_the_prefix(store: Store) -> None:
    """Rows of another text, with row hashes, digest and manifest to match, are no fold of this log."""
    folder = only(store)
    path = folder / "duck" / "experiences.parquet"
    duckdb.execute(
        f"COPY (SELECT * REPLACE (replace(text, 'fourth', 'fifth') AS text) FROM '{path}' ORDER BY log_index)"
        f" TO '{path}.new' (FORMAT parquet)"
    )
    Path(f"{path}.new").replace(path)
    resign(store, lambda old: msgspec.structs.replace(old, parts=[
        msgspec.structs.replace(part, files=manifests.describe(folder, part.name)) for part in old.parts
    ]))  # fmt: skip
    (findings,) = store.views.check_snapshots().values()
    assert [(one.index, one.message) for one in findings] == [
        (6, "experiences: its rows are not those that were made from the record")
    ]


def test_what_a_liar_left_out_of_the_catalogue_or_the_vectors_is_found(store: Store) -> None:
    import lancedb

    folder = only(store)
    path = folder / "catalog" / "turns.parquet"
    duckdb.execute(f"COPY (FROM '{path}' WHERE log_index != 6) TO '{path}.new' (FORMAT parquet)")
    Path(f"{path}.new").replace(path)
    lancedb.connect(str(folder / "lance")).open_table("rows").delete("log_index = 6")
    resign(store, lambda old: msgspec.structs.replace(old, parts=[
        msgspec.structs.replace(part, files=manifests.describe(folder, part.name)) for part in old.parts
    ]))  # fmt: skip
    (findings,) = store.views.check_snapshots().values()
    assert {(one.index, one.message) for one in findings} == {
        (None, "1 rows of turns are missing"),
        (6, "rows were removed"),
    }


BAD: dict[str, tuple[Callable[[Path], object], str]] = {
    "an edited file": (
        lambda folder: (folder / "duck" / "claims.parquet").write_bytes(b"PAR1"),
        "duck/claims.parquet holds other bytes than were signed",
    ),
    "a missing file": (
        lambda folder: (folder / "duck" / "links.parquet").unlink(),
        "duck/links.parquet is missing",
    ),
    "a file that is not named": (
        lambda folder: (folder / "duck" / "more.parquet").write_bytes(b""),
        "duck/more.parquet is not named in the manifest",
    ),
    "an edited manifest": (
        lambda folder: (folder / NAME).write_bytes(
            (folder / NAME).read_bytes().replace(b"payload", b"paiload", 1)
        ),
        "no operator's key in force",
    ),
    "no manifest": (lambda folder: (folder / NAME).unlink(), f"it has no {NAME}"),
    "a manifest that is no JSON": (
        lambda folder: (folder / NAME).write_bytes(b"\xff"),
        "not a DSSE envelope",
    ),
}


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", BAD)
def test_a_bad_one_is_refused_and_named_and_replay_goes_on_from_scratch(store: Store, name: str) -> None:
    held = content(store)
    folder, (harm, said) = only(store), BAD[name]
    harm(folder)
    (duck,) = store.replay("duck")
    assert duck.snapshot == ""
    (refused,) = duck.refused
    assert refused.startswith(f"{folder.name}: ")
    assert said in refused
    assert content(store) == held
    (findings,) = store.views.check_snapshots().values()
    told = [f"{one.file} {one.message}" for one in findings]
    assert any(said in line or said in line.replace(" it ", " ") for line in told)


@pytest.mark.parametrize("name", BAD)
def test_the_doctor_finds_a_bad_one_and_says_what_to_do(store: Store, name: str) -> None:
    folder, (harm, said) = only(store), BAD[name]
    assert list(problems(store.reader, store.views.snapshots)) == []
    harm(folder)
    (problem,) = problems(store.reader, store.views.snapshots)
    assert problem.detail.startswith(f"{folder.name}: ")
    assert said in problem.detail
    assert problem.remedy.startswith(f"braid snapshot drop {folder.name};")


def test_the_doctor_finds_one_that_is_behind(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    size = store.snapshots()[0].size
    store.session.append_drafts([text_draft(f"n {n}") for n in range(2 * size - len(store) - 1)])
    monkeypatch.setattr(condition, "STALE_RECORDS", 3)
    assert list(problems(store.reader, store.views.snapshots)) == []
    store.append("one more")
    (problem,) = problems(store.reader, store.views.snapshots)
    assert problem.detail.startswith(f"the newest is of {size} records, {size} have come since")
    store.snapshot()
    assert list(problems(store.reader, store.views.snapshots)) == []


def text_draft(text: str) -> Draft:
    return Draft(kind="experience", type="occurrence", body=ExperienceBody(content=Content(text=text)))


def test_status_tells_of_the_newest(store: Store) -> None:
    found = store.status().snapshot
    assert found is not None
    assert found.size is not None
    assert (found.name, found.size, found.trouble) == (
        only(store).name,
        store.snapshots()[0].size,
        "",
    )
    assert found.behind == len(store) - found.size > 0
    assert abs((datetime.now(UTC) - datetime.fromisoformat(found.made_at)).total_seconds()) < 3600
    (only(store) / NAME).write_bytes(b"{}")
    assert "not a DSSE envelope" in trouble(store)
    store.views.snapshots.drop()
    assert store.status().snapshot is None


def test_the_next_older_one_serves_where_the_newest_is_bad(store: Store) -> None:
    older = only(store)
    newer = store.snapshot()
    (older.parent / newer.name / "duck" / "links.parquet").unlink()
    (duck,) = store.replay("duck")
    assert duck.snapshot == older.name
    assert [line.partition(":")[0] for line in duck.refused] == [newer.name]


def test_one_of_another_log_is_refused(store: Store, tmp_path: Path) -> None:
    folder = only(store)
    with opened(tmp_path / "other") as other:
        fill(other)
        made = other.snapshot()
        shutil.rmtree(folder)
        shutil.copytree(other.views.snapshots.folder / made.name, folder.parent / made.name)
    (duck,) = store.replay("duck")
    assert "no operator's key in force of this log signed" in duck.refused[0]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"origin": "elsewhere.example/log"}, "it belongs to elsewhere.example/log"),
        ({"braid_snapshot": 2}, "it is of format 2; this release reads format 1"),
        ({"size": 5}, "stands elsewhere in the log than the snapshot"),
    ],
)
def test_signed_but_not_of_this_log_and_format(store: Store, change: dict[str, object], said: str) -> None:
    resign(store, lambda old: msgspec.structs.replace(old, **change))
    assert said in store.replay("duck")[0].refused[0]
    assert said in store.snapshots()[0].trouble


def test_a_manifest_that_leads_out_of_its_folder_is_refused(store: Store) -> None:
    folder = only(store)
    good = manifests.read(folder, store.reader.control, store.origin)
    for path in ("duck/../../../vault", "/etc/passwd", "duck/.hidden", "lance/rows", "keys/log.key"):
        part = msgspec.structs.replace(good.parts[0], files=[manifests.File(path, 1, "0" * 64)])
        bad = msgspec.structs.replace(good, parts=[part])
        (folder / NAME).write_bytes(manifests.seal(bad, operator(store.reader, "a test")))
        assert "which is no file of duck" in store.snapshots()[0].trouble


def test_one_by_a_key_that_was_revoked_is_refused(store: Store) -> None:
    (operator,) = [life.id for life in store.reader.control.keys.values() if life.role == "operator"]
    store.revoke(operator)
    assert "no operator's key in force" in store.replay("duck")[0].refused[0]
    with pytest.raises(KeyRefusedError, match="a snapshot is signed by an operator's key, and none in force"):
        store.snapshot()


def test_one_of_another_root_is_refused(store: Store) -> None:
    def other(old: manifests.SnapshotManifest) -> manifests.SnapshotManifest:
        parts = [
            msgspec.structs.replace(part, stamp=msgspec.structs.replace(part.stamp, root="00" * 32))
            for part in old.parts
        ]
        return msgspec.structs.replace(old, root="00" * 32, parts=parts)

    resign(store, other)
    assert "it was made from another log" in store.replay("duck")[0].refused[0]
    (findings,) = store.views.check_snapshots().values()
    assert [one.message for one in findings] == ["it was made from another log"]
    (problem,) = problems(store.reader, store.views.snapshots)
    assert "it was made from another log" in problem.detail
    assert trouble(store) == "it was made from another log"


def test_another_models_vectors_are_not_taken(world: Path) -> None:
    with open_store(world / "memory") as store:
        (lance,) = store.replay("lance")
        assert "its vectors are of the model hashed@1" in lance.refused[0]


def test_a_key_found_compromised_since_makes_it_refused(store: Store) -> None:
    (recorder,) = [life.id for life in store.reader.control.keys.values() if life.role == "recorder"]
    store.revoke(recorder, compromised_since=3)
    assert "a key was reported compromised" in store.replay("duck")[0].refused[0]


def test_only_the_newest_stay(store: Store) -> None:
    for _ in range(2):
        store.append("more")
        store.snapshot()
    sizes = [one.size for one in store.snapshots()]
    assert sizes == [len(store), len(store) - 1]
    store.snapshot(keep=1)
    assert len(store.snapshots()) == 1
    with pytest.raises(ValueError, match="keep is a whole number of at least 1"):
        store.snapshot(keep=0)


def test_dropping(store: Store) -> None:
    name = store.snapshot().name
    (store.views.snapshots.folder / ".making-dead").mkdir()
    with pytest.raises(SnapshotError, match="there is no snapshot 'at-nowhere'"):
        store.views.snapshots.drop("at-nowhere")
    assert store.views.snapshots.drop(name) == [name]
    assert len(store.views.snapshots.drop()) == 2
    assert store.snapshots() == ()
    assert [path.name for path in store.views.snapshots.folder.iterdir()] == ["lock"]


# -- erasing ----------------------------------------------------------------------------------------


def holds(folder: Path) -> bool:
    """Whether the needle is in a snapshot: in the bytes of a file, or in a cell of a Parquet table."""
    if any(NEEDLE.encode() in path.read_bytes() for path in folder.rglob("*") if path.is_file()):
        return True
    return any(
        NEEDLE in str(duckdb.execute(f"FROM '{path}'").fetchall()) for path in folder.rglob("*.parquet")
    )


def test_an_erasure_leaves_no_byte_in_any_and_names_the_files(store: Store) -> None:
    old, newer = only(store), store.snapshot()
    assert holds(old)
    assert holds(old.parent / newer.name)
    files = {str(path.relative_to(store.path)) for path in old.rglob("*") if path.is_file()}
    (certificate,) = store.erase(store.reader.at(3).id)
    assert files <= set(certificate.files)
    made = only(store)
    assert made.name not in (old.name, newer.name)
    assert f"views/snapshots/{made.name}" in certificate.files
    assert not holds(store.views.snapshots.folder)
    assert store.views.check_snapshots() == {made.name: []}
    held = content(store)
    assert names(store.replay())["duck"] == made.name
    assert content(store) == held
    assert store.verify(deep=True).findings == []


def test_one_from_before_the_erased_record_stays(world: Path) -> None:
    with opened(world / "memory") as store:
        old = only(store)
        store.erase(store.append("said behind the snapshot"))
        assert only(store) == old
        assert store.views.check_snapshots() == {old.name: []}
        held = content(store)
        assert set(names(store.replay()).values()) == {old.name}
        assert content(store) == held
        assert store.views.check() == []


def test_one_that_still_holds_the_erased_is_refused(store: Store, tmp_path: Path) -> None:
    """As a copy of `views/` from before the erasure would bring it back."""
    folder = only(store)
    shutil.copytree(folder, tmp_path / "kept")
    store.erase(store.reader.at(3).id)
    store.views.snapshots.drop()
    shutil.copytree(tmp_path / "kept", folder)
    said = "it holds 1 records that were erased since, 3 among them"
    assert said in store.replay("duck")[0].refused[0]
    assert [one.message for one in store.views.check_snapshots()[folder.name]] == [said]
    store.erase(store.append("anything"))
    assert not holds(store.views.snapshots.folder)


CHILD = """
import sys
from braid.entry import open
from braid.wal.failpoint import arm, kill_at
with open(sys.argv[1]) as store:
    arm(kill_at(sys.argv[2]))
    if sys.argv[3] == "erase":
        store.erase(store.reader.at(3).id)
    elif sys.argv[3] == "replay":
        store.replay()
    else:
        store.snapshot(keep=1)
"""
POINTS = [
    ("views.snapshot.parts", "make", False),
    ("views.snapshot.manifest.renamed", "make", True),
    ("views.snapshot.synced", "make", False),
    ("views.snapshot.made", "make", False),
    ("views.snapshot.drop", "make", True),
    ("views.snapshot.drop.done", "make", False),
    ("views.snapshot.drop", "erase", True),
    ("views.snapshot.drop.done", "erase", False),
    ("views.snapshot.parts", "erase", True),
    ("views.snapshot.made", "erase", False),
    ("views.commit", "replay", True),
    ("views.swap", "replay", False),
]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A world like the other, without a search index: a child starts sooner."""
    world = tmp_path_factory.mktemp("plain")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BRAID_GUARD_DIR", str(world / "guard"))
        with open_store(world / "memory") as store:
            fill(store, search=False)
            store.snapshot()
            store.append("behind the snapshot")
    return world


@pytest.mark.soak
@pytest.mark.parametrize(
    ("point", "doing"),
    [
        pytest.param(point, doing, marks=[] if sampled else [pytest.mark.soak])
        for point, doing, sampled in POINTS
    ],
)
def test_killed_and_opened_again(
    plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, warm_python: str, point: str, doing: str
) -> None:
    shutil.copytree(plain, tmp_path / "world")
    monkeypatch.setenv("BRAID_GUARD_DIR", str(tmp_path / "world" / "guard"))
    memory = tmp_path / "world" / "memory"
    done = subprocess.run(
        [warm_python, "-c", CHILD, str(memory), point, doing],
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    with open_store(memory) as store:
        if doing == "erase":
            assert store.reader.control.unfinished() == []
            assert not holds(memory)
        assert all(not findings for findings in store.views.check_snapshots().values())
        store.replay()
        held = content(store, search=False)
        store.replay(from_scratch=True)
        assert content(store, search=False) == held
        store.snapshot(keep=1)
        assert store.views.check_snapshots() == {only(store).name: []}
        left = {path.name for path in store.views.snapshots.folder.iterdir()}
        assert left == {"lock", only(store).name}


@pytest.mark.soak
def test_a_snapshot_is_written_and_loaded_a_row_group_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A whole table in memory was more than the limit at a million records: neither sorted nor held as one."""
    with open_store(tmp_path / "memory") as store:
        for first in range(0, 16_000, 1_000):
            store.session.append_drafts(
                [text_draft(f"memory {first + number} {'x' * 4_000}") for number in range(1_000)]
            )
        monkeypatch.setitem(duck.CONFIG, "memory_limit", "90MB")  # the table is half as much again as fits
        name = store.snapshot().name
        (path,) = (tmp_path / "memory").glob(f"views/snapshots/{name}/duck/experiences.parquet")
        groups = duckdb.execute(
            f"SELECT DISTINCT row_group_id, row_group_num_rows FROM parquet_metadata('{path}')"
        ).fetchall()
        assert len(groups) > 4
        assert max(rows for _, rows in groups) < 2 * duck.ROW_GROUP
        caught = next(one for one in store.replay() if one.name == "duck")
        assert (caught.snapshot, caught.refused) == (name, ())
        assert store.sql("SELECT count(*) AS n FROM experiences").to_pydict() == {"n": [16_000]}


def test_an_interruption_waits_for_the_copy_that_is_under_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that ends a COPY in its middle may hang in DuckDB for good: it is run where interruptions don't come."""
    copied: list[str] = []

    class Slow:
        def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
            self._con = con

        def execute(self, statement: str) -> object:
            if statement.startswith("COPY"):
                time.sleep(0.1)
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.1)
                copied.append(threading.current_thread().name)
            return self._con.execute(statement)

    @contextmanager
    def connected(path: Path, *, read_only: bool) -> Iterator[Slow]:
        with duck.connect(path, read_only=read_only) as con:
            yield Slow(con)

    with opened(tmp_path / "memory") as store:
        fill(store, search=False)
        store.views.catch_up()
        with monkeypatch.context() as patch:
            patch.setattr(snapshot_duck, "connect", connected)
            patch.setattr(snapshot_duck, "read_meta", lambda con: duck.read_meta(con._con))
            with pytest.raises(KeyboardInterrupt):
                store.snapshot()
        assert len(copied) == 1, "it was waited for, and no other was begun"
        assert copied[0] != threading.main_thread().name
        assert store.views.snapshots.folders() == []
        assert list(store.views.snapshots.folder.glob(".making-*")) == []
        store.snapshot()
        assert len(store.views.snapshots.folders()) == 1
