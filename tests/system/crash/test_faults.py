"""Faults in pairs: at each step a failure before it was done, and one after; then the same handle, and a reopened one.

Whatever fails, no acknowledged record is lost, none is there twice or half, and the whole log verifies.
"""

import errno
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from braid.ledger.audit.verify import verify
from braid.ledger.erase import cascade as cascades
from braid.ledger.erase import erasure
from braid.ledger.errors import ErasedError
from braid.ledger.read.reader import Reader
from braid.ledger.record.record import Content, Draft, ExperienceBody
from braid.ledger.write.writer import Writer
from braid.wal import failpoint
from braid.wal.errors import OutcomeUnknownError, WriterPoisonedError

Drop = Callable[[Writer], None]
FAULTS = [errno.EIO, errno.ENOSPC]


def memory(text: str, *parents: str, type: str = "occurrence") -> Draft:
    """Return an experience that says `text`."""
    links = [("parent", id) for id in parents]
    return Draft(kind="experience", type=type, body=ExperienceBody(content=Content(text=text)), links=links)


@pytest.fixture(autouse=True)
def disarmed() -> Iterator[None]:
    """Leave no failpoint armed behind."""
    yield
    failpoint.arm(None)


def points_of(work: Callable[[], object]) -> list[str]:
    """Return the failpoints that the work passes, in order."""
    passed: list[str] = []
    failpoint.arm(passed.append)
    work()
    failpoint.arm(None)
    return passed


class Fault:
    """Raises an OSError at the n-th failpoint that is passed; `hit` says which one that was."""

    def __init__(self, place: int, number: int) -> None:
        self._left = place + 1
        self._number = number
        self.hit = ""

    def __call__(self, name: str) -> None:
        """Count a failpoint."""
        self._left -= 1
        if self._left == 0:
            self.hit = name
            raise OSError(self._number, os.strerror(self._number))


def texts(store: Path) -> list[str]:
    """Return the text of each memory, in order."""
    with closing(Reader(store)) as reader:
        return [
            entry.record.text
            for batch in reader.entries()
            for entry in batch
            if entry.record.kind == "experience" and entry.record.raw is not None
        ]


def audit(store: Path) -> None:
    """Verify everything."""
    report = verify(store, deep=True, workers=1)
    assert ([str(finding) for finding in report.findings], report.could_not_look) == ([], [])


def copied(store: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the store with a guard of its own."""
    guard = Path(os.environ["BRAID_GUARD_DIR"])
    shutil.copytree(store, folder / "memory")
    shutil.copytree(guard, folder / "guard")
    monkeypatch.setenv("BRAID_GUARD_DIR", str(folder / "guard"))
    return folder / "memory"


def appends(writer: Writer, said: list[str]) -> None:
    """Append twice and publish; note what was acknowledged."""
    for text in ("one", "two"):
        writer.append([memory(text)])
        said.append(text)
    writer.checkpoint()


@pytest.mark.parametrize("number", FAULTS)
def test_a_fault_at_any_step_of_an_append_or_a_head(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, drop: Drop, number: int
) -> None:
    home = os.environ["BRAID_GUARD_DIR"]
    with closing(Writer(copied(store, tmp_path / "rehearsal", monkeypatch))) as writer:
        passed = points_of(lambda: appends(writer, []))
    assert {"wal.write", "wal.sync", "guard.write", "tile.write", "checkpoint.write"} <= set(passed)
    for place in range(len(passed)):
        monkeypatch.setenv("BRAID_GUARD_DIR", home)
        world = copied(store, tmp_path / f"{number}-{place}", monkeypatch)
        writer = Writer(world)
        said: list[str] = []
        fault = Fault(place, number)
        failpoint.arm(fault)
        outcome: BaseException | None = None
        try:
            appends(writer, said)
        except (OSError, OutcomeUnknownError) as error:
            outcome = error
        failpoint.arm(None)
        assert fault.hit == passed[place]
        unknown = isinstance(outcome, OutcomeUnknownError)
        assert unknown == fault.hit.startswith("wal.sync")
        if unknown:
            with pytest.raises(WriterPoisonedError):
                writer.append([memory("after")])
        else:  # the handle goes on as if nothing had been
            writer.append([memory("after")])
            said.append("after")
        if place % 2:
            drop(writer)
        else:
            writer.close()
        found = texts(world)
        assert found == said or (unknown and found == [*said, ("one", "two")[len(said)]])
        with closing(Writer(world)) as writer:
            writer.append([memory("reopened")])
        assert texts(world) == [*found, "reopened"]
        audit(world)
        shutil.rmtree(world.parent)


@pytest.mark.parametrize("number", FAULTS)
def test_a_fault_at_any_step_of_an_erasure(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, drop: Drop, number: int
) -> None:
    with closing(Writer(store)) as writer:
        needle, straw = (placed.id for placed in writer.append([memory("needle"), memory("straw")]))
        (derived,) = (placed.id for placed in writer.append([memory("derived", needle, type="inference")]))
    home = os.environ["BRAID_GUARD_DIR"]

    def act(writer: Writer) -> None:
        erasure.erase(writer, cascades.plan(writer, [writer.index_of(needle)]), list)

    with closing(Writer(copied(store, tmp_path / "rehearsal", monkeypatch))) as writer:
        passed = points_of(lambda: act(writer))
    chosen = range(number % 3, len(passed), 1 if os.environ.get("BRAID_TORTURE") else 3)
    for place in chosen:
        monkeypatch.setenv("BRAID_GUARD_DIR", home)
        world = copied(store, tmp_path / f"{number}-{place}", monkeypatch)
        writer = Writer(world)
        with closing(Reader(world)) as reader:
            bodies = [reader.log.body(reader.index_of(id)) for id in (needle, derived)]
        failpoint.arm(Fault(place, number))
        with suppress(OSError, OutcomeUnknownError, WriterPoisonedError):
            act(writer)
        failpoint.arm(None)
        if not writer.log.poisoned and writer.control.unfinished() and place % 2:
            erasure.finish(writer, list)  # the same handle may try again
        drop(writer)
        with closing(Writer(world)) as writer:
            erasure.finish(writer, list)
            begun = writer.index_of(needle) in writer.control.erased
            for id, text in ((needle, "needle"), (derived, "derived")):
                if begun:
                    with pytest.raises(ErasedError):
                        writer.get(id)
                else:
                    assert writer.get(id).text == text
            assert writer.get(straw).text == "straw"
        if begun:
            left = b"".join(path.read_bytes() for path in world.rglob("*") if path.is_file())
            assert not any(body[24:] in left for body in bodies)
        audit(world)
        shutil.rmtree(world.parent)


def test_a_head_that_can_not_be_published_costs_no_record(store: Path) -> None:
    """A failure behind the append is not the append's: it is kept for who asks, and made good by the next head."""
    with closing(Writer(store)) as writer:

        def full(name: str) -> None:
            if name == "tile.write":
                raise OSError(errno.ENOSPC, "No space left on device")

        failpoint.arm(full)
        assert len(writer.append([memory("x")] * 1_000)) == 1_000
        assert isinstance(writer.trouble, OSError)
        assert writer.published.size == 3
        failpoint.arm(None)
        writer.append([memory("y")])
        assert writer.published.size == 1_004
    audit(store)


# -- full disks -----------------------------------------------------------------------------------


def test_an_erasure_on_a_full_disk_spends_the_reserve(store: Path) -> None:
    """Every step that needs new blocks fails until the reserve is given up: the erasure must do so, and go through."""
    with closing(Writer(store)) as writer:
        needle = writer.append([memory("needle")])[0].id
        reserve = store / "reserve"
        assert reserve.stat().st_blocks * 512 >= 1 << 20
        needing = (
            "wal.write",
            "guard.write",
            "tile.write",
            "checkpoint.write",
            "checkpoint.history",
            "vault.write",
        )
        refused: list[str] = []

        def full(name: str) -> None:
            if name in needing and reserve.exists():
                refused.append(name)
                raise OSError(errno.ENOSPC, "No space left on device")

        failpoint.arm(full)
        with pytest.raises(OSError, match="No space left"):
            writer.append([memory("there is no room for this")])
        assert reserve.exists()  # an append must not spend it
        (certificate,) = erasure.erase(writer, cascades.plan(writer, [writer.index_of(needle)]), list)
        assert refused == ["wal.write"] * 2
        failpoint.arm(None)
        assert certificate.records == 1
        assert reserve.stat().st_blocks * 512 >= 1 << 20  # set aside again
    audit(store)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Yield a file system of 4 MiB; skip where none can be mounted."""
    place = tmp_path / "small"
    place.mkdir()
    try:
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=4m", "none", place], check=True, capture_output=True
        )
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"mounting a small disk needs root: {error}")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def test_a_real_disk_that_is_full(small_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from datetime import UTC, datetime

    from braid.ledger.write.create import create_store

    monkeypatch.setenv("BRAID_GUARD_DIR", str(small_disk / "guard"))
    store = small_disk / "memory"
    create_store(store, now=datetime.now(UTC))
    writer = Writer(store)
    said = ["needle"]
    needle = writer.append([memory("needle")])[0].id

    def fill() -> None:
        for number in range(10_000):
            text = f"{number} " + "x" * 20_000
            writer.append([memory(text)])
            said.append(text)

    with pytest.raises(OSError, match="No space left"):
        fill()
    filler = (small_disk / "filler").open("wb", buffering=0)
    for size in (4096, 512, 1):
        with suppress(OSError):
            while True:
                filler.write(bytes(size))
    filler.close()
    with pytest.raises(OSError, match="No space left"):
        writer.append([memory("y" * 20_000)])
    assert [writer.get(envelope.id).text for envelope, _ in writer.envelopes(3)] == said
    assert len(said) > 20
    (certificate,) = erasure.erase(writer, cascades.plan(writer, [writer.index_of(needle)]), list)
    assert certificate.records == 1
    with pytest.raises(ErasedError):
        writer.get(needle)
    with suppress(OSError):  # the last head may find no room; the records are safe
        writer.close()
    assert texts(store) == said[1:]
    (small_disk / "filler").unlink()
    with closing(Writer(store)) as writer:
        writer.append([memory("room again")])
    assert texts(store) == [*said[1:], "room again"]
    audit(store)


def test_creating_a_store_on_a_full_disk_leaves_nothing(
    small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from datetime import UTC, datetime

    from braid.ledger.write.create import create_store

    monkeypatch.setenv("BRAID_GUARD_DIR", str(small_disk / "guard"))
    (small_disk / "filler").write_bytes(bytes(7 << 19))
    with pytest.raises(OSError, match="No space left"):
        create_store(small_disk / "memory", now=datetime.now(UTC))
    assert [path.name for path in small_disk.iterdir() if path.name != "guard"] == ["filler"]
