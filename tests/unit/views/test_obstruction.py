"""What stands in the way of a projection: no erasure waits for somebody to move it, and `replay` clears it away."""

import os
import pickle
import shutil
from pathlib import Path

import pytest

import braid
from braid.store import Store
from braid.views.catalog.file import CatalogFile
from braid.views.duck.projection import DuckView
from braid.views.errors import spoilt
from braid.views.lance.view import LanceView
from braid.views.obstruction import clear_way
from braid.views.snapshot.folder import Snapshots
from braid.views.store import Views
from braid.wal.errors import ObstructedError
from tests.sandboxes import in_process

FILES = (
    "catalog.sqlite", "catalog.lock", "duck/lock", "duck/work.duckdb", "duck/current", "duck/seals/work.duckdb",
    "lance/current", "lance/lock", "snapshots/lock",
)  # fmt: skip
FOLDERS = ("", "duck", "duck/seals", "lance", "snapshots", "lineage")
SAID = "The spare key is under the blue pot."


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with every projection and a snapshot. To be copied."""
    folder = tmp_path_factory.mktemp("template")
    with in_process(), opened(folder) as made:
        made.append(SAID, user_id="maya")
        made.append("The bins go out on Monday.", user_id="maya")
        made.recall("key", user_id="maya")
        made.sql("SELECT 1")
        made.snapshot()
    return folder


@pytest.fixture
def store(template: Path, tmp_path: Path) -> Path:
    for name in ("store", "guard"):
        shutil.copytree(template / name, tmp_path / name)
    return tmp_path


def opened(folder: Path) -> Store:
    return braid.open(folder / "store", guard_dir=folder / "guard")


def obstruct(folder: Path, name: str) -> None:
    """Put a folder that holds something in the place of a file, a file in that of a folder."""
    path = folder / "store" / "views" / name
    if path.is_dir():
        path.rename(folder / "aside")
        path.write_text("x")
    else:
        path.unlink(missing_ok=True)
        (path / "in").mkdir(parents=True)


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", [*FILES, *FOLDERS[:-1]])
def test_doctor_names_what_is_in_the_way(store: Path, name: str) -> None:
    obstruct(store, name)
    with opened(store) as held:
        found = [one for one in held.doctor() if one.name == "obstructed"]
        assert [one.detail.split(" ")[0] for one in found] == [f"views/{name}".rstrip("/")]
        held.views.replay()
        assert not [one for one in held.doctor() if one.name == "obstructed"]


def erased(folder: Path) -> None:
    with opened(folder) as store:
        (found,) = [record.id for record in store.read() if record.text == SAID]
        store.erase(found, reason="asked")
        assert store.reader.control.unfinished() == []
        assert [one.text for one in store.recall("bins", user_id="maya").results] == [
            "The bins go out on Monday."
        ]
        assert store.sql("SELECT count(*) AS n FROM experiences").to_pylist() == [{"n": 1}]
    views = folder / "store" / "views"
    assert all(b"blue pot" not in path.read_bytes() for path in views.rglob("*") if path.is_file())


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", [*FILES, *FOLDERS])
def test_an_erasure_clears_what_stands_in_its_way(store: Path, name: str) -> None:
    obstruct(store, name)
    erased(store)


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", [*FILES, *FOLDERS])
def test_a_replay_clears_the_way(store: Path, name: str) -> None:
    obstruct(store, name)
    with opened(store) as store_:
        list(store_.replay())
        assert (
            next(one.text for one in store_.recall("bins", user_id="maya").results)
            == "The bins go out on Monday."
        )
        assert store_.sql("SELECT count(*) AS n FROM experiences").to_pylist() == [{"n": 2}]


def test_nothing_behind_a_link_is_touched(tmp_path: Path) -> None:
    views, other = tmp_path / "views", tmp_path / "other"
    (other / "kept").mkdir(parents=True)
    (other / "catalog.sqlite").write_text("x")
    views.mkdir()
    (views / "duck").symlink_to(other)
    for name in ("duck", "lineage", "lance"):
        (views / name).unlink(missing_ok=True)
        (views / name).symlink_to(other)
    for name in ("work.duckdb", "seals", "00000000", "set-1", "at-1"):
        (other / name / "in").mkdir(parents=True)
    before = sorted(other.rglob("*"))
    (views / "catalog.lock").symlink_to(other / "nothing")
    os.mkfifo(views / "catalog.sqlite")
    assert clear_way(views) == ["catalog.lock", "catalog.sqlite"]
    assert sorted(other.rglob("*")) == before
    assert clear_way(tmp_path / "nowhere") == []
    (views / "catalog.sqlite").symlink_to(other / "catalog.sqlite")
    with pytest.raises(ObstructedError, match="a link stands where a file belongs"):
        clear_way(views)
    assert sorted(other.rglob("*")) == before


def test_a_link_to_a_table_keeps_an_erasure_from_its_end_until_it_is_gone(store: Path) -> None:
    """What it leads to shows what has to go, and is somebody's."""
    work, elsewhere = store / "store" / "views" / "duck" / "work.duckdb", store / "work.duckdb"
    with opened(store) as first:
        work.rename(elsewhere)
        work.symlink_to(elsewhere)
        (found,) = [record.id for record in first.read() if record.text == SAID]
        with pytest.raises(braid.UnpurgedError, match="a link stands where a file belongs"):
            first.erase(found)
        work.unlink()
        elsewhere.unlink()
        first.retain()
        assert first.reader.control.unfinished() == []
    views = store / "store" / "views"
    assert all(b"blue pot" not in path.read_bytes() for path in views.rglob("*") if path.is_file())


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", ["lance/set-*", "snapshots/at-*", "snapshots/at-*/manifest.dsse.json"])
def test_what_has_a_name_of_its_own_is_cleared_too(store: Path, name: str) -> None:
    (path,) = (store / "store" / "views").glob(name)
    obstruct(store, str(path.relative_to(store / "store" / "views")))
    erased(store)


def test_one_part_that_cannot_be_purged_keeps_no_other(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(snapshots: Snapshots) -> list[str]:
        raise PermissionError(13, "Permission denied", "snapshots")

    monkeypatch.setattr(Snapshots, "purge", refused)
    with opened(store) as held:
        (found,) = [record.id for record in held.read() if record.text == SAID]
        with pytest.raises(braid.UnpurgedError) as told:
            held.erase(found)
        assert str(pickle.loads(pickle.dumps(told.value))) == str(told.value)
        duck = store / "store" / "views" / "duck"
        assert all(b"blue pot" not in path.read_bytes() for path in duck.rglob("*") if path.is_file())
        monkeypatch.undo()
        held.retain()
        assert held.reader.control.unfinished() == []


@pytest.mark.sample(2)
@pytest.mark.parametrize("words", ["No space left on device", "Disk quota exceeded", "File too large"])
def test_on_a_full_disk_reading_goes_on(store: Path, monkeypatch: pytest.MonkeyPatch, words: str) -> None:
    """As libraries say it: SQLite by its code, LanceDB and DuckDB in words."""

    def full(*_: object, **__: object) -> None:
        raise spoilt("it could not be written", RuntimeError(f"IO error: {words} (os error)"))

    with opened(store) as held:
        held.append("The attic key is in the red tin.", user_id="maya")
        monkeypatch.setattr(CatalogFile, "apply", full)
        monkeypatch.setattr(LanceView, "apply", full)
        monkeypatch.setattr(DuckView, "apply", full)
        found = held.recall("key", user_id="maya").results
        assert {one.text for one in found} >= {SAID}
        assert held.views.lag == 1
        assert held.ask("Where is the spare key?", user_id="maya", write=False).citations
        assert held.sql("SELECT count(*) AS n FROM experiences").to_pylist() == [{"n": 2}]


def test_what_keeps_views_from_being_purged_keeps_nobody_from_writing(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(views: Views) -> list[str]:
        raise PermissionError(13, "Permission denied", "views")

    with monkeypatch.context() as patched, opened(store) as first:
        patched.setattr(Views, "purge", refused)
        (found,) = [record.id for record in first.read() if record.text == SAID]
        with pytest.raises(
            braid.UnpurgedError, match=r"is not finished: its keys and bodies are gone, but views/"
        ):
            first.erase(found)
        assert len(first.reader.control.unfinished()) == 1
    with monkeypatch.context() as patched:
        patched.setattr(Views, "purge", refused)
        with pytest.warns(braid.UnfinishedErasureWarning, match="once that is mended"):
            second = opened(store)
        with second:
            second.append("Meanwhile.", user_id="maya")
    with opened(store) as third:
        assert third.reader.control.unfinished() == []
        assert list(third.verify().findings) == []
