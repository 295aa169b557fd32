"""The published folder: what lies in it at each size, what goes, and that a death at any step leaves a whole log."""

import os
import signal
from base64 import b64decode
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from braid.ledger.errors import RefusedLogError
from braid.ledger.publish.folder import Folder, Outlet, outgrown
from braid.ledger.publish.mirror import copy_log, finish_copy
from braid.ledger.publish.offer import KeylessReader, OfferedStore
from braid.ledger.publish.remote import ServedLog
from braid.ledger.record.record import Content, Draft, ExperienceBody
from braid.ledger.tree.guard import Guard
from braid.ledger.tree.note import parse_skey, signing_key
from braid.ledger.write.create import create_store
from braid.ledger.write.writer import Writer
from braid.tools.tlog.sources import own_log
from braid.wal.durable import counts
from braid.wal.errors import LogLockedError
from braid.wal.failpoint import arm, kill_at
from tests.unit.ledger.made_log import ORIGIN, MadeLog, counted, fetch_from

LOG = MadeLog(counted(700))
SMALL_LOG = MadeLog(
    b"one two three four five six seven eit nain ten ileven twelf threeten fourten fivten".split(),
    parse_skey("PRIVATE+KEY+example.com/log/testdata+33d7b496+AeymY/SZAX0jZcJ8enZ5FY1Dz+wTML2yWSkK+9DSF3eg"),
)


def publish(log: MadeLog, size: int, folder: Path) -> None:
    """Bring a folder to a size of a made log."""
    outlet = Outlet(folder)
    try:
        served = ServedLog(fetch_from(log.files(size)), log.vkey)
        head = served.head()
        copy_log(served, outlet, head)
        finish_copy(served, outlet, head)
    finally:
        outlet.close()


def files_in(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file() and path.name != ".lock")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def read_whole(folder: Path, log: MadeLog = LOG) -> int:
    """Read a folder as a stranger would, to its last entry, and return its size."""
    served = ServedLog(Folder(folder).fetch, log.vkey)
    head = served.head()
    entries = [entry for _, _, some in served.bundles(served.tree(head.checkpoint), 0) for entry in some]
    assert entries == log.entries[: head.size]
    return head.size


def test_the_small_log_of_others_to_the_byte(tmp_path: Path) -> None:
    """Tessera's testdata: heads, the first tile, the first bundle."""
    publish(SMALL_LOG, 1, tmp_path / "log")
    publish(SMALL_LOG, 2, tmp_path / "log")
    found = files_in(tmp_path / "log")
    assert found["tile/0/000.p/1"].hex() == "d0d7360ab79f58ab1e1e3fe64ad77e2ea0bc07e36b5f46ed2223edd9298df9e9"
    assert found["tile/entries/000.p/2"] == b"\x00\x03one\x00\x03two"
    publish(SMALL_LOG, 15, tmp_path / "log")
    signature = "M9e0luh4jTG+UMBqOUo9/q+yAEvx1ilBEniMvjf1zfcBOhg+CKubMt53MvIt/uEWP6zdkdIQzd/fmwlM/dlPWF74ewI="
    assert files_in(tmp_path / "log")["checkpoint"].endswith(
        f"— example.com/log/testdata {signature}\n".encode()
    )
    assert len(b64decode(signature)) == 68


@pytest.mark.parametrize("size", [1, 255, 256, 257, 511, 512, 700])
def test_what_lies_there_at_a_size(size: int, tmp_path: Path) -> None:
    publish(LOG, size, tmp_path / "log")
    assert files_in(tmp_path / "log") == LOG.files(size)


def test_partial_ones_stay_until_the_full_one_is_there(tmp_path: Path) -> None:
    folder = tmp_path / "log"
    for size in (100, 200, 255):
        publish(LOG, size, folder)
    found = files_in(folder)
    assert {f"tile/0/000.p/{size}" for size in (100, 200, 255)} < set(found)
    assert {f"tile/entries/000.p/{size}" for size in (100, 200, 255)} < set(found)
    publish(LOG, 256, folder)
    assert files_in(folder) == LOG.files(256)
    publish(LOG, 300, folder)
    publish(LOG, 600, folder)
    found = files_in(folder)
    assert set(found) - set(LOG.files(600)) == {"tile/1/000.p/1"}  # that row has no full tile yet
    assert not (folder / "tile/0/001.p").exists()


def test_what_is_outgrown() -> None:
    assert list(outgrown(0, 1000)) == []
    assert list(outgrown(100, 255)) == []
    assert list(outgrown(100, 256)) == ["tile/0/000.p", "tile/entries/000.p"]
    assert list(outgrown(70_000, 70_144)) == ["tile/0/273.p", "tile/entries/273.p"]
    assert "tile/1/001.p" in list(outgrown(70_000, 131_072))


@pytest.mark.parametrize("steps", [(1, 2, 3, 255, 256, 257, 700), (10, 300), (256, 512), (700, 700)])
def test_however_it_grew_a_stranger_reads_it(steps: tuple[int, ...], tmp_path: Path) -> None:
    for size in steps:
        publish(LOG, size, tmp_path / "log")
        assert read_whole(tmp_path / "log") == size
        assert LOG.files(size).items() <= files_in(tmp_path / "log").items()


POINTS = (
    "outlet.put", "outlet.write", "outlet.write.done", "outlet.write@3", "outlet.write.done@5",
    "outlet.checkpoint", "outlet.checkpoint.done", "outlet.checkpoint.renamed",
)  # fmt: skip


@pytest.mark.sample(2)
@pytest.mark.parametrize("point", POINTS)
def test_killed_at_any_step_it_shows_a_whole_log(point: str, tmp_path: Path) -> None:
    folder = tmp_path / "log"
    publish(LOG, 200, folder)
    child = os.fork()
    if child == 0:
        arm(kill_at(point))
        publish(LOG, 600, folder)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert read_whole(folder) == (600 if point.endswith("renamed") else 200)
    publish(LOG, 600, folder)
    assert read_whole(folder) == 600
    assert not list(folder.rglob("*.new"))


def test_what_an_interrupted_run_wrote_is_not_written_again(tmp_path: Path) -> None:
    folder = tmp_path / "log"
    child = os.fork()
    if child == 0:
        arm(kill_at("outlet.checkpoint"))
        publish(LOG, 600, folder)
        os._exit(1)
    os.waitpid(child, 0)
    before = counts["outlet.write"]
    publish(LOG, 600, folder)
    assert counts["outlet.write"] == before


def test_what_an_interrupted_run_spoiled_is_written_again(tmp_path: Path) -> None:
    folder = tmp_path / "log"
    publish(LOG, 200, folder)
    (folder / "tile" / "entries" / "000").write_bytes(b"torn")
    (folder / "tile" / "0" / "000").write_bytes(bytes(8192))
    publish(LOG, 600, folder)
    assert read_whole(folder) == 600


def test_a_full_disk_is_said_and_nothing_is_published(tmp_path: Path) -> None:
    folder = tmp_path / "log"
    publish(LOG, 200, folder)

    def full(name: str) -> None:
        if name == "outlet.write":
            raise OSError(28, "No space left on device")

    arm(full)
    try:
        with pytest.raises(OSError, match="No space"):
            publish(LOG, 600, folder)
    finally:
        arm(None)
    assert read_whole(folder) == 200


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x", encoding="utf-8")
    with pytest.raises(FileExistsError, match=r"thesis\.tex"):
        Outlet(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_another_log_s_folder_is_refused(tmp_path: Path) -> None:
    publish(LOG, 10, tmp_path / "log")
    for name, reason in (("log.example/b", "origin"), (ORIGIN, "signature")):
        with pytest.raises(RefusedLogError, match=reason):
            publish(MadeLog(LOG.entries, signing_key(name, bytes(32))), 20, tmp_path / "log")
    assert read_whole(tmp_path / "log") == 10


def test_only_one_process_writes_it(tmp_path: Path) -> None:
    first = Outlet(tmp_path / "log")
    with pytest.raises(LogLockedError):
        Outlet(tmp_path / "log")
    first.close()


STRANGE = (
    "../secret", "tile/../checkpoint", ".lock", "tile", "tile/0", "tile/0/000.p", "/etc/passwd", "", "checkpoint/",
    "tile/0/0", "tile/entries/x001", ".checkpoint.new",
)  # fmt: skip
BEYOND = (
    "tile/0/002", "tile/0/002.p/92", "tile/entries/002", "tile/entries/002.p/92", "tile/1/000.p/3", "tile/5/000",
    "tile/0/003.p/1",
)  # fmt: skip


@pytest.mark.parametrize("path", STRANGE)
def test_nothing_else_is_read_through_it(path: str, tmp_path: Path) -> None:
    publish(LOG, 10, tmp_path / "log")
    (tmp_path / "secret").write_text("x", encoding="utf-8")
    with pytest.raises(FileNotFoundError):
        Folder(tmp_path / "log").fetch(path)


# -- a store ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Guard]:
    """A store of some six hundred records, and its guard."""
    home = tmp_path_factory.mktemp("filled")
    create_store(home / "memory", now=datetime.now(UTC), guard_folder=home / "guard")
    (store_id,) = [path.stem for path in (home / "guard").glob("*.guard")]
    guard = Guard.of_store(store_id, home / "guard")
    writer = Writer(home / "memory", guard=guard)
    bodies = [ExperienceBody(content=Content(text=f"{number}")) for number in range(200)]
    drafts = [Draft(kind="experience", type="occurrence", body=body) for body in bodies]
    for _ in range(3):
        writer.append(drafts)
    writer.close()
    return home / "memory", guard


def test_a_store_is_published_with_second_names_for_its_tiles(
    filled: tuple[Path, Guard], tmp_path: Path
) -> None:
    store, guard = filled
    reader = KeylessReader(store, guard=guard)
    log, outlet = ServedLog(OfferedStore(reader).fetch, reader.vkey), Outlet(tmp_path / "log")
    head = log.head()
    copy_log(log, outlet, head, twins=store)
    assert finish_copy(log, outlet, head) == head.size == 603
    outlet.close()
    assert (tmp_path / "log/tile/0/000").samefile(store / "tile/0/000")
    assert (tmp_path / "log/tile/0/001").samefile(store / "tile/0/001")
    bundle = Folder(tmp_path / "log").fetch("tile/entries/002.p/91")
    assert bundle[2 : 2 + int.from_bytes(bundle[:2], "big")] == reader.stored_envelope(512)
    assert not any(b"body" in name.encode() for name in files_in(tmp_path / "log"))
    reader.close()


def test_a_store_answers_for_any_size_that_was_published(filled: tuple[Path, Guard]) -> None:
    store, guard = filled
    reader = KeylessReader(store, guard=guard)
    offered = OfferedStore(reader)
    whole = offered.fetch("tile/0/001")
    assert offered.fetch("tile/0/001.p/7") == whole[: 7 * 32]
    assert offered.fetch("tile/entries/001").startswith(offered.fetch("tile/entries/001.p/7"))
    for beyond in BEYOND:
        with pytest.raises(FileNotFoundError):
            offered.fetch(beyond)
    reader.close()


def modes(folder: Path) -> set[int]:
    return {
        path.stat().st_mode & 0o777 for path in folder.rglob("*") if path.is_file() and path.name != ".lock"
    }


def test_a_folder_is_private_or_for_everybody(filled: tuple[Path, Guard], tmp_path: Path) -> None:
    """A web server reads what is public; the store's own tiles, which have second names elsewhere, stay private."""
    store, guard = filled
    folder = tmp_path / "served"

    def put(*, public: bool) -> None:
        with own_log(store, guard) as log, closing(Outlet(folder, public=public)) as outlet:
            head = log.head()
            copy_log(log, outlet, head, twins=store)
            finish_copy(log, outlet, head)

    own = {path: path.stat().st_mode for path in store.rglob("*")}
    previous = os.umask(0o077)
    try:
        put(public=False)
        assert modes(folder) == {0o600}
        assert folder.stat().st_mode & 0o777 == 0o700
        for _ in range(2):
            put(public=True)
            assert modes(folder) == {0o644}
            assert {
                path.stat().st_mode & 0o777 for path in (folder, *folder.rglob("*")) if path.is_dir()
            } == {0o755}
            assert (folder / ".lock").stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(previous)
    assert {path: path.stat().st_mode for path in store.rglob("*")} == own
