"""A short round of every scene, seeded, and a look that misses nothing; `make torture` goes on for longer."""

import json
import random
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

import braid
from braid.ledger.errors import IntegrityError
from braid.ledger.settings import load_settings
from braid.ledger.tree.guard import Guard
from braid.ledger.tree.note import parse_vkey
from braid.tools.lab.torture.clock import SetClock
from braid.tools.lab.torture.command import Theatre, passed_points
from braid.tools.lab.torture.disk import SmallDisk
from braid.tools.lab.torture.errors import TortureError
from braid.tools.lab.torture.examine import examine
from braid.tools.lab.torture.onlookers import follow, read_published, scan
from braid.tools.lab.torture.processes import running
from braid.tools.lab.torture.report import BEGIN, END, Finding, Summary, fill, table
from braid.tools.lab.torture.scenes import SCENES
from braid.tools.lab.torture.shim import build_shim
from braid.tools.lab.torture.told import Told
from braid.tools.lab.torture.words import is_whole, text_of
from braid.wal.errors import CorruptLogError

pytestmark = pytest.mark.soak

PAGE = Path(__file__).parents[3] / "docs" / "reliability.md"


@pytest.fixture(scope="module")
def theatre(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Theatre]:
    made = Theatre(tmp_path_factory.mktemp("torture"), seed=7, longest_s=0.6)
    yield made
    made.close()


@pytest.mark.parametrize("scene", SCENES)
def test_a_short_round_of_each_scene(theatre: Theatre, scene: str) -> None:
    if scene not in theatre.scenes():
        pytest.skip("needs a C compiler")
    done, size = theatre.play(scene)
    assert done
    assert size >= 8
    assert theatre.heard["harmed" if scene == "inject" else "ready"]
    assert theatre.heard["killed"] or scene in ("crowd", "clock", "hammer", "inject")


def test_the_hammer_is_followed(theatre: Theatre) -> None:
    before = theatre.heard.copy()
    done, _ = theatre.play("hammer")
    assert "the mirror holds" in done
    for word in ("scanned", "published", "read", "appended"):
        assert theatre.heard[word] > before[word], word


def test_who_reads_it_all_sees_a_log_that_is_not_what_was_signed(wreck: "Wreck") -> None:
    said: list[tuple[str, ...]] = []
    ended = threading.Event()

    def say(*words: str) -> None:
        said.append(words)
        if words[0] == "scanned":
            ended.set()

    scan(wreck.path, wreck.guard, say, ended)
    assert [words[0] for words in said] == ["ready", "head", "scanned"]
    ended.clear()

    def once(*words: str) -> None:
        said.append(words)
        ended.set()

    follow(wreck.path, wreck.guard, served := wreck.path.with_name("served"), once, ended)
    with braid.open(wreck.path, guard_dir=wreck.guard, read_only=True) as store:
        head = store.reader.published
        assert read_published(served, parse_vkey(store.vkey)) == (head.size, head.root.hex())
    ended.clear()
    segment = next((wreck.path / "log").glob("*.seg"))
    data = bytearray(segment.read_bytes())
    data[data.index(b'"payload":"') + 60] ^= 1
    segment.write_bytes(data)
    with pytest.raises((CorruptLogError, IntegrityError)):
        scan(wreck.path, wreck.guard, say, ended)


def test_the_points_are_found_by_passing_them(tmp_path: Path) -> None:
    points = passed_points(tmp_path / "memory", tmp_path / "guard", seed=1)
    assert {"wal.write", "wal.write.done", "wal.sync", "guard.write", "tile.write", "wal.blank"} <= set(
        points
    )
    assert not any(point.startswith("create.") for point in points)


# -- the look ---------------------------------------------------------------------------------------


class Wreck:
    """A store whose processes were told this and that."""

    def __init__(self, folder: Path) -> None:
        self.path, self.guard = folder / "memory", folder / "guard"
        self.told = Told()
        chance = random.Random(1)
        with braid.open(self.path, guard_dir=self.guard) as store:
            ids = [store.append(text_of(chance)) for _ in range(3)]
            once = store.append(text_of(chance), idempotency_key="k")
            store.erase(ids[1])
            store.forget(ids[2])
            head = store.reader.published
        self.kept, self.erased, self.hidden = ids
        self.say("appended", *ids)
        self.say("once", "k", once)
        self.say("erasing", self.erased)
        self.say("erased", self.erased)
        self.say("hiding", self.hidden)
        self.say("hidden", self.hidden)
        self.say("head", str(head.size), head.root.hex())

    def say(self, *words: str) -> None:
        self.told.hear([f"{' '.join(words)}\n"])

    def look(self) -> int:
        return examine(self.path, self.guard, self.told)

    def append(self, text: str) -> None:
        with braid.open(self.path, guard_dir=self.guard) as store:
            self.say("appended", store.append(text))


@pytest.fixture
def wreck(tmp_path: Path) -> Wreck:
    return Wreck(tmp_path)


def test_a_good_store_passes(wreck: Wreck) -> None:
    assert wreck.look() == wreck.look() > 6
    wreck.told.hear(["appended exp_cut"])  # not a whole line: not said
    wreck.look()


@pytest.mark.parametrize(
    ("words", "finding"),
    [
        (("appended", "exp_lost"), "1 acknowledged records, such as exp_lost"),
        (("once", "k", "exp_other"), "misses 1 acknowledged"),
        (("erased", "{kept}"), "was erased and is back"),
        (("hidden", "{kept}"), "was forgotten and is back"),
        (("head", "5", "00" * 32), "a head of 5 records was published that this log contradicts"),
        (("head", "500", "00" * 32), "a head of 500 records was published, the guard remembers"),
    ],
)  # fmt: skip
def test_what_was_told_and_is_not_so(wreck: Wreck, words: tuple[str, ...], finding: str) -> None:
    wreck.say(*[word.format(kept=wreck.kept) for word in words])
    with pytest.raises(TortureError, match=finding):
        wreck.look()


@pytest.mark.parametrize(
    ("word", "finding"), [("erasing", "erased by nobody"), ("hiding", "forgotten by nobody")]
)
def test_what_is_so_and_was_not_asked_for(wreck: Wreck, word: str, finding: str) -> None:
    wreck.told.ids[word].clear()
    with pytest.raises(TortureError, match=finding):
        wreck.look()


def test_two_records_under_one_key(wreck: Wreck) -> None:
    wreck.told.once["k"].add(wreck.kept)
    with pytest.raises(TortureError, match="k stands for 2 records"):
        wreck.look()


@pytest.mark.parametrize(
    "text",
    [
        "torture",
        text_of(random.Random(2))[:-1],
        text_of(random.Random(2), 1, 2),
        text_of(random.Random(2)) + "x",
    ],
    ids=["strange", "cut", "misplaced", "longer"],
)
def test_a_text_that_is_not_whole(wreck: Wreck, text: str) -> None:
    wreck.append(text)
    with pytest.raises(TortureError, match=r"reads 'torture.*at 0 of 1"):
        wreck.look()


def test_texts_know_where_they_stand() -> None:
    for seed in range(20):
        text = text_of(random.Random(seed), 2, 5)
        assert is_whole(text, 2, 5)
        assert not is_whole(text, 2, 6)
        assert not is_whole(text[:-1], 2, 5)


def test_what_verify_or_doctor_finds(wreck: Wreck) -> None:
    wreck.look()
    (wreck.path / "keys" / next(p.name for p in (wreck.path / "keys").glob("recorder-*"))).unlink()
    with pytest.raises(TortureError, match="doctor: keys: no private key here may sign memories"):
        wreck.look()


def test_a_guard_that_is_behind(wreck: Wreck) -> None:
    path = Guard.of_store(load_settings(wreck.path).store_id, wreck.guard).path
    old = path.read_bytes()
    wreck.append(text_of(random.Random(3)))
    with braid.open(wreck.path, guard_dir=wreck.guard, read_only=True) as store:
        head = store.reader.published
        wreck.say("head", str(head.size), head.root.hex())
    path.write_bytes(old)
    with pytest.raises(TortureError, match="was published, the guard remembers"):
        wreck.look()


def test_a_process_that_ends_by_itself_is_a_finding(tmp_path: Path) -> None:
    with (
        pytest.raises(TortureError, match=r"ended by itself \(write, 1\):\nTraceback(.|\n)*invalid literal"),
        running(
            ["write"],
            tmp_path / "nothing",
            tmp_path,
            Told(),
            chance=random.Random(1),
            each=[{"BRAID_TORTURE_FILE_BYTES": "x"}],
        ),
    ):
        pass


# -- what goes wrong is made by these ---------------------------------------------------------------


def test_the_shim_moves_the_clock_and_slows_the_disk(tmp_path: Path) -> None:
    if (shim := build_shim(tmp_path)) is None:
        pytest.skip("needs a C compiler")
    set_clock = SetClock(tmp_path / "clock")
    set_clock.set(timedelta(days=-2))
    code = (
        "import os, time, datetime\n"
        "fd = os.open('file', os.O_WRONLY | os.O_CREAT); began = time.monotonic()\n"
        "for _ in range(40): assert os.write(fd, b'x' * 5000) == 5000\n"
        "print(datetime.datetime.now(datetime.UTC).isoformat(), time.monotonic() - began, os.path.getsize('file'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True,
        env={"LD_PRELOAD": str(shim), "BRAID_SHIM_CLOCK": str(set_clock.path), "BRAID_SHIM_SLOW_US": "4000"},
    )  # fmt: skip
    shown, took, size = done.stdout.split()
    assert abs(datetime.fromisoformat(shown) - (datetime.now(UTC) - timedelta(days=2))) < timedelta(minutes=1)
    assert float(took) > 0.04
    assert size == "200000"
    assert abs(set_clock() - datetime.fromisoformat(shown)) < timedelta(minutes=1)


def test_a_small_disk_is_filled_and_cleared(tmp_path: Path) -> None:
    disk = SmallDisk(tmp_path / "disk")
    try:
        if not disk.mounted:
            assert "RLIMIT_FSIZE" in disk.kind
            assert disk.limits()
            assert not disk.fill()
            return
        disk.nearly_fill(100)
        assert 90 << 10 <= shutil.disk_usage(disk.folder).free <= 110 << 10
        assert disk.fill()
        with pytest.raises(OSError, match="No space left"):
            (disk.folder / "more").write_bytes(bytes(10_000))
        disk.clear()
        (disk.folder / "more").write_bytes(bytes(10_000))
    finally:
        disk.close()


# -- the command ------------------------------------------------------------------------------------


def run(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    argv = [sys.executable, "-m", "braid.tools.lab.torture", "--dir", str(folder), *words]
    return subprocess.run(argv, capture_output=True, text=True, check=False)


def test_a_run_prints_a_table_and_json_and_leaves_nothing(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE.read_text("utf-8"), "utf-8")
    (tmp_path / "here").mkdir()
    ran = run(tmp_path / "here", "--minutes", "0", "--seed", "7", "--only", "crowd", "--report", str(page))
    assert ran.returncode == 0, ran.stderr
    said = json.loads(ran.stdout)
    assert (said["rounds"], said["findings"], said["seed"]) == ({"crowd": 1}, [], 7)
    assert said["heard"]["appended"] >= 5
    assert re.search(r"^records acknowledged +\d", ran.stderr, flags=re.MULTILINE)
    assert list((tmp_path / "here").iterdir()) == []
    assert "| rounds: crowd | 1 |" in page.read_text("utf-8")


def test_an_unknown_scene_is_refused(tmp_path: Path) -> None:
    ran = run(tmp_path, "--only", "flood")
    assert ran.returncode == 2
    assert "no scene 'flood'" in ran.stderr
    assert list(tmp_path.iterdir()) == []


def summary(*findings: Finding) -> Summary:
    return Summary(
        seed=3, begun=datetime(2026, 1, 31, tzinfo=UTC), seconds=90.0, rounds={"kill": 2},
        heard={"appended": 1234, "killed": 5, "refused: ClockError": 6}, full_disk="a tmpfs", slow_disk="LD_PRELOAD",
        system_calls="strace", findings=list(findings),
    )  # fmt: skip


def test_a_finding_stands_in_the_report(tmp_path: Path) -> None:
    page = tmp_path / "reliability.md"
    page.write_text(PAGE.read_text("utf-8"), "utf-8")
    for _ in range(2):
        fill(page, summary(Finding(2, "kill", "TortureError: lost\nmore", "/tmp/x")), command="make torture")
    text = page.read_text("utf-8")
    assert (
        text.count(BEGIN)
        == text.count(END)
        == text.count("**Finding** in round 2, scene `kill`: `TortureError: lost`")
        == 1
    )
    assert "| records acknowledged | 1,234 |" in text
    assert "| refused: ClockError | 6 |" in text
    assert "2026-01-31 00:00 UTC, 1.5 minutes" in text
    assert re.search(r"^findings +1$", table(summary(Finding(2, "kill", "x", "y"))), flags=re.MULTILINE)
    page.write_text("nothing", "utf-8")
    with pytest.raises(ValueError, match="no place for the summary"):
        fill(page, summary(), command="make torture")


def test_the_page_tells_of_a_run_without_findings() -> None:
    text = PAGE.read_text("utf-8")
    told = text.partition(BEGIN)[2].partition(END)[0]
    assert "| findings | 0 |" in told
    for scene in SCENES:
        assert f"| rounds: {scene} |" in told
        assert f"| `{scene}` |" in text


def test_a_loss_ends_the_run_and_keeps_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import typer

    from braid.tools.lab.torture import command

    def loses(stage: object, chance: object) -> str:
        raise TortureError("something is lost")

    made: dict[str, Callable[..., str]] = {**SCENES, "kill": loses}
    monkeypatch.setattr(command, "SCENES", made)
    with pytest.raises(typer.Exit) as leaving:
        command.torture(minutes=0.0, seed=9, only=["kill"], report=None, folder=tmp_path)
    assert leaving.value.exit_code == 1
    said = capsys.readouterr()
    (kept,) = tmp_path.iterdir()
    assert "round 1 (kill) of seed 9: TortureError: something is lost" in said.err
    assert str(kept) in said.err
    assert (kept / "memories" / "memory" / "store.json").exists()
    assert msgspec.json.decode(said.out)["findings"][0]["kept"] == str(kept)
