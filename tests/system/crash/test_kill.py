"""kill -9 at every failpoint of every path that writes: what was acknowledged is there, nothing is half (SPEC §8, §9).

A scene is first played unharmed, which tells the points it passes; then once for each of them, killed there. In CI the
points that repeat are thinned out; BRAID_TORTURE=1 plays them all, and kills every recovery again.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from braid.entry import open as open_store
from braid.ledger.audit.verify import verify
from braid.ledger.backup.backup import back_up
from braid.ledger.backup.restore import Secrets, restore
from braid.ledger.erase import cascade as cascades
from braid.ledger.erase import erasure
from braid.ledger.errors import ErasedError, RollbackError
from braid.ledger.read.reader import Reader
from braid.ledger.record.record import Content, Draft, ExperienceBody
from braid.ledger.settings import load_settings
from braid.ledger.tree.checkpoint import open_checkpoint
from braid.ledger.tree.guard import Guard
from braid.ledger.tree.merkle import range_root
from braid.ledger.write.writer import Writer
from braid.work.embedded import FILE, EmbeddedQueue
from braid.work.job import Batch

TORTURE = bool(os.environ.get("BRAID_TORTURE"))
SCENES = Path(__file__).with_name("kill_scenes.py")
pytestmark = [
    pytest.mark.timeout(3600 if TORTURE else 300),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork"),
]


class Outcome(NamedTuple):
    """How a scene ended: the signal that killed it (0: none), the failpoints it passed, what it acknowledged."""

    killed_by: int
    passed: list[str]
    said: dict[str, Any]


class Stage:
    """A warmed process that plays scenes in forks of itself, and the stores they are played on."""

    def __init__(self, folder: Path, driver: "subprocess.Popen[str]") -> None:
        self.folder = folder
        self._driver = driver
        self._number = 0

    def copy(self, base: Path) -> Path:
        """Return a copy of a world: a folder with a store `memory` and the guards `guard`."""
        self._number += 1
        world = self.folder / f"world-{self._number}"
        shutil.copytree(base, world)
        return world

    def play(self, scene: str, world: Path, kill: str = "") -> Outcome:
        """Play a scene on a world; the child must end well or by the kill that was ordered."""
        order = {"scene": scene, "store": str(world / "memory"), "guard": str(world / "guard"), "kill": kill}
        assert self._driver.stdin
        assert self._driver.stdout
        self._driver.stdin.write(json.dumps(order) + "\n")
        self._driver.stdin.flush()
        answer = json.loads(self._driver.stdout.readline())
        status = answer["status"]
        assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, f"{scene} {kill}: {status}"
        said: dict[str, Any] = {"kept": {}}
        for line in answer["said"]:
            said["kept"] |= line.pop("kept", {})
            said |= line
        passed = [line["passed"] for line in answer["said"] if "passed" in line]
        return Outcome(os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0, passed, said)


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """Start the process that forks the children."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONWARNINGS": "error"}
    with subprocess.Popen(
        [sys.executable, SCENES], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as driver:
        yield Stage(tmp_path_factory.mktemp("stage"), driver)
        assert driver.stdin
        driver.stdin.close()
        assert driver.wait() == 0


@pytest.fixture(scope="module")
def base(stage: Stage) -> Callable[..., Path]:
    """Return what makes (once for each way) the world that a scene begins with."""
    made: dict[str, Path] = {}

    def make(**how: Any) -> Path:
        name = repr(sorted(how.items()))
        if name not in made:
            world = stage.folder / f"base-{len(made)}"
            world.mkdir()
            code = f"import sys; sys.path[:0] = [{str(SCENES.parent)!r}]; import kill_scenes; "
            code += f"from pathlib import Path; kill_scenes.base(Path({str(world / 'memory')!r}), **{how!r})"
            environment = {**os.environ, "BRAID_GUARD_DIR": str(world / "guard")}
            subprocess.run([sys.executable, "-c", code], check=True, env=environment)
            made[name] = world
        return made[name]

    return make


def at(world: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Look for the guard in this world; return its store."""
    monkeypatch.setenv("BRAID_GUARD_DIR", str(world / "guard"))
    return world / "memory"


def kills(passed: list[str], per_point: int = 2) -> list[str]:
    """Return the orders to kill at: each point's first and last pass and some between; under torture all of them."""
    orders: list[str] = []
    for name, count in Counter(passed).items():
        step = 1 if TORTURE or count <= per_point else (count - 1) / (per_point - 1)
        passes = {1 + round(step * k) for k in range(count)}
        orders += [f"{name}@{nth}" for nth in sorted(passes) if nth <= count]
    return orders


def truth(store: Path) -> dict[str, str]:
    """Return text by id of every memory that can be read."""
    with closing(Reader(store)) as reader:
        return {
            entry.record.id: entry.record.text
            for batch in reader.entries()
            for entry in batch
            if entry.record.kind == "experience" and entry.record.raw is not None
        }


def check_history(store: Path) -> None:
    """Every head that was ever published, and the guarded one, must be a prefix of this log."""
    with closing(Reader(store)) as reader:
        one_note = re.escape(reader.origin) + r"\n\d+\n[\w+/=]+\n\n(?:— .+\n)+"
        notes = re.findall(one_note, (store / "checkpoints").read_text("utf-8"))
        assert notes
        assert reader.guarded
        for note in [*notes, reader.checkpoint_note.decode(), reader.guarded.checkpoint]:
            checkpoint, _ = open_checkpoint(note.encode(), [reader.vkey], reader.origin)
            assert checkpoint.size <= reader.size
            assert range_root(0, checkpoint.size, reader.tree.subtree) == checkpoint.root
        assert reader.guarded.size == reader.published.size == reader.size
        frames = [(frame.header.tx, frame.header.count) for frame in reader.log.frames()]
        assert [tx for tx, _ in frames] == list(range(len(frames)))


def recover(store: Path, before: dict[str, str], said: dict[str, Any]) -> None:
    """Reopen, let the recovery do its work, and compare what is there with what was there and what was acknowledged."""
    with closing(Writer(store)) as writer:
        erasure.finish(writer, lambda: purge(store))
        assert writer.control.unfinished() == []
        erased = {writer.envelope(index).id for index in writer.control.erased}
        for id, text in {**before, **said["kept"]}.items():
            if id in erased:
                with pytest.raises(ErasedError):
                    writer.get(id)
            else:
                assert writer.get(id, include_forgotten=True).text == text
        behind = writer.append(
            [
                Draft(
                    kind="experience", type="occurrence", body=ExperienceBody(content=Content(text="at last"))
                )
            ]
        )[0].id
    check_history(store)
    assert truth(store)[behind] == "at last"
    report = verify(store, deep=True, workers=1)
    assert ([str(finding) for finding in report.findings], report.could_not_look) == ([], [])


def purge(store: Path) -> list[str]:
    """Stand for the projections: one file, thrown away."""
    (store / "views" / "projection").unlink(missing_ok=True)
    return ["views/projection"]


def play_to_death(
    stage: Stage,
    base: Path,
    scene: str,
    monkeypatch: pytest.MonkeyPatch,
    after: Callable[[Path, Outcome], None],
    *,
    every: int = 1,
) -> int:
    """Play a scene unharmed, then killed at each of its points, and look `after` each time; return how often."""
    before = truth(at(base, monkeypatch)) if (base / "memory").exists() else {}
    world = stage.copy(base)
    unharmed = stage.play(scene, world)
    assert unharmed.killed_by == 0
    recover(at(world, monkeypatch), before, unharmed.said)
    orders = kills(unharmed.passed)[::every]
    for order in orders:
        world = stage.copy(base)
        outcome = stage.play(scene, world, order)
        assert outcome.killed_by in (0, signal.SIGKILL)
        store = at(world, monkeypatch)
        try:
            if store.exists():
                recover(store, before, outcome.said)
            after(store, outcome)
        except BaseException as error:
            error.add_note(f"{scene} killed at {order}, in {world}")
            raise
        shutil.rmtree(world)
    return len(orders)


def nothing_more(_store: Path, _outcome: Outcome) -> None:
    """Look at nothing beyond what every scene must hold."""


@pytest.mark.soak
def test_init_leaves_a_whole_store_or_none(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = stage.folder / "empty"
    empty.mkdir()

    def whole_or_none(store: Path, outcome: Outcome) -> None:
        assert store.exists() or "made" not in outcome.said
        if not store.exists():
            assert stage.play("init", store.parent).said["made"]
            recover(store, {}, {"kept": {}})

    assert play_to_death(stage, empty, "init", monkeypatch, whole_or_none) > 20


@pytest.mark.sample(3)
@pytest.mark.parametrize("durability", ["always", "interval", "none"])
def test_appends_survive_once_acknowledged(
    stage: Stage, base: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, durability: str
) -> None:
    def whole_transactions(store: Path, _: Outcome) -> None:
        texts = set(truth(store).values())
        assert texts & {"two", "three", "four"} in (set(), {"two", "three", "four"})

    world = base(durability=durability)
    every = 1 if TORTURE or durability == "always" else 4
    assert play_to_death(stage, world, "appends", monkeypatch, whole_transactions, every=every) > 25 // every


@pytest.mark.soak
def test_publishing_across_a_full_tile(
    stage: Stage, base: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The partial tile of the level above has the same name from one head to the next."""
    assert play_to_death(stage, base(records=243), "tiles", monkeypatch, nothing_more) > 25


@pytest.mark.soak
def test_rolling_into_new_segments(
    stage: Stage, base: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert play_to_death(stage, base(), "roll", monkeypatch, nothing_more) > 20


@pytest.mark.soak
def test_forgetting_and_recovering(
    stage: Stage, base: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def as_said(store: Path, outcome: Outcome) -> None:
        with closing(Reader(store)) as reader:
            hidden = {reader.envelope(index).id for index in reader.control.hidden}
        if "recovered" in outcome.said:
            assert not hidden

    play_to_death(stage, base(), "forget", monkeypatch, as_said)


def erased_whole_or_not_at_all(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Path, Outcome], None]:
    """Return a look at a store behind an erasure: all of it has happened, to the last byte, or nothing has."""
    with closing(Reader(at(base, monkeypatch))) as reader:
        needle, derived = reader.at(3), reader.at(5)
        bodies = [reader.log.body(3), reader.log.body(5)]
        blob = needle.envelope.blobs[0][0]
    assert (needle.text, derived.text) == ("the needle", "from the needle")

    def look(store: Path, outcome: Outcome) -> None:
        files = {path: path.read_bytes() for path in store.rglob("*") if path.is_file()}
        found = [any(body in data for data in files.values()) for body in bodies]
        readable = {"the needle", "from the needle"} & set(truth(store).values())
        if readable:
            assert "certified" not in outcome.said
            assert readable == {"the needle", "from the needle"}
            assert found == [True, True]
            assert store / "blobs" / blob[:2] / blob[2:] in files
            return
        assert found == [False, False]
        assert "from both" in truth(store).values()
        assert not any(blob[2:] in path.name for path in files)
        assert store / "views" / "projection" not in files
        assert {path.name for path in files if path.name.startswith("vault")} == {"vault"}
        with closing(Reader(store)) as reader:
            assert reader.vault
            assert reader.vault.is_erased(3)
            assert reader.vault.is_erased(5)
            assert reader.control.weakened
            assert all(done for _, done in reader.control.erasures.values())

    return look


def test_an_erasure_is_finished_and_certified(
    stage: Stage, base: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    look = erased_whole_or_not_at_all(base(), monkeypatch)
    assert play_to_death(stage, base(), "erase", monkeypatch, look) > 40


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "first_death",
    [
        pytest.param(point, marks=[] if sampled else [pytest.mark.soak])
        for point, sampled in (
            ("wal.sync.done@1", True),
            ("erase.announced@1", False),
            ("vault.new-written@1", False),
            ("vault.renamed@1", True),
            ("vault.old-zeroed@1", False),
            ("erase.punctured@1", False),
            ("wal.blank@1", False),
            ("blob.wipe@1", False),
            ("erase.purged@1", True),
        )
    ],
)
def test_a_recovery_that_is_killed_is_recovered_from(
    stage: Stage, base: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, first_death: str
) -> None:
    look = erased_whole_or_not_at_all(base(), monkeypatch)
    dead = stage.copy(base())
    outcome = stage.play("erase", dead, first_death)
    assert outcome.killed_by == signal.SIGKILL
    before = truth(at(base(), monkeypatch))
    world = stage.copy(dead)
    passed = stage.play("finish", world).passed
    for order in kills(passed, 2):
        world = stage.copy(dead)
        second = stage.play("finish", world, order)
        store = at(world, monkeypatch)
        try:
            recover(store, before, second.said)
            look(store, second)
        except BaseException as error:
            error.add_note(f"killed at {first_death}, then at {order}, in {world}")
            raise
        shutil.rmtree(world)


def test_a_sweep_of_what_is_past_its_time(
    stage: Stage, base: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    world = stage.copy(base())
    with closing(Writer(at(world, monkeypatch))) as writer:
        erasure.forget(writer, [writer.at(3).id])
    play_to_death(stage, world, "retain", monkeypatch, nothing_more, every=1 if TORTURE else 7)


@pytest.mark.soak
def test_a_sweep_of_every_class_ends_the_same_wherever_it_died(
    stage: Stage, base: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The forgotten and what was corrected, each under a certificate; then a job that is done leaves the list."""
    world = stage.copy(base())
    with open_store(at(world, monkeypatch), parser=None) as opened:
        opened.change_setting("history_days", "90", reason="as she wishes")
        old, straw = (opened.reader.at(index).id for index in (3, 4))
        new = opened.correct(old, "the thimble")
        opened.forget(straw)
        batch = Batch("projection", "1", ((3, 4),))
        queue = EmbeddedQueue(opened.path / FILE)
        lease = queue.take(batch, "a", 0.0, 60.0)
        assert lease is not None
        queue.done(lease, 0.0)

    def all_is_gone(store: Path, _: Outcome) -> None:
        again = stage.play("keep", store.parent)
        assert again.killed_by == 0
        with closing(Reader(store)) as reader:
            assert {reader.index_of(id) for id in (old, straw)} <= reader.control.erased.keys()
            assert reader.get(new).text == "the thimble"
            assert len(reader.control.erasures) == 2
            assert all(done for _, done in reader.control.erasures.values())
        assert EmbeddedQueue(store / FILE).jobs() == []
        assert "the needle" not in truth(store).values()

    assert play_to_death(stage, world, "keep", monkeypatch, all_is_gone, every=1 if TORTURE else 5) > 8


@pytest.mark.soak
def test_a_compaction_loses_nothing(
    stage: Stage, base: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    world = stage.copy(base())
    assert stage.play("erase", world).said["certified"]
    assert play_to_death(stage, world, "compact", monkeypatch, nothing_more) > 15


def restored(world: Path) -> Path:
    """Restore the backup of a world beside it, where no guard is; an older one with the note of a fork."""
    place, secrets = world / "back", Secrets(world / "memory" / "vault", world / "memory" / "keys")
    shutil.rmtree(place, ignore_errors=True)
    shutil.rmtree(world / "no-guard", ignore_errors=True)
    try:
        restore(world / "backup", place, secrets=secrets, guard_folder=world / "no-guard")
    except RollbackError:
        restore(world / "backup", place, secrets=secrets, guard_folder=world / "no-guard", fork="older")
    return place


def truth_of(back: Path) -> list[str]:
    """Return what can be read in a restored store; the world's guard is of the store that goes on."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BRAID_GUARD_DIR", str(back.parent / "no-guard"))
        return list(truth(back).values())


def test_a_backup_is_the_old_one_or_the_new_one(
    stage: Stage, base: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = truth(at(base(), monkeypatch))
    with closing(Reader(base() / "memory")) as reader:
        needle = reader.log.body(3)
    passed = stage.play("backup", stage.copy(base())).passed
    orders = kills([name for name in passed if name.startswith(("backup", "wal.idx.rebuild"))])
    assert len(orders) > 10
    for order in orders:
        world = stage.copy(base())
        outcome = stage.play("backup", world, order)
        store = at(world, monkeypatch)
        try:
            recover(store, before, outcome.said)
            if "first" in outcome.said or (world / "backup" / "backup.json").exists():
                back = restored(world)
                assert set(truth_of(back)) <= set(truth(store).values())
            with closing(Reader(store)) as reader:
                back_up(reader, world / "backup", now=datetime.now(UTC))
            assert not (world / "backup" / "incoming").exists()
            assert truth_of(restored(world)) == list(truth(store).values())
            if "the needle" not in truth(store).values():
                copies = [*(world / "backup").rglob("*.seg"), *(world / "back").rglob("*.seg")]
                assert not any(needle in path.read_bytes() for path in copies)
        except BaseException as error:
            error.add_note(f"backup killed at {order}, in {world}")
            raise
        shutil.rmtree(world)


def older_copy(stage: Stage, base: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a world with a backup alone, whose guard remembers more, and whose needle was erased since."""
    world = stage.copy(base())
    store = at(world, monkeypatch)
    with closing(Writer(store)) as writer:
        back_up(writer, world / "backup", now=datetime.now(UTC))
        erasure.erase(writer, cascades.plan(writer, [3]), lambda: purge(store))
    shutil.copytree(store / "keys", world / "keys")
    shutil.copy(store / "vault", world / "vault")
    shutil.rmtree(store)
    return world


def forks(store: Path) -> int:
    """Return how many notes of forks are in the log."""
    with closing(Reader(store)) as reader:
        return sum(one.public.get("name") == "fork" for one, _ in reader.envelopes())


def test_a_restore_is_whole_or_not_there(
    stage: Stage, base: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    world = older_copy(stage, base, monkeypatch)

    def whole(store: Path, outcome: Outcome) -> None:
        if not store.exists():
            assert "fork" not in outcome.said
            assert stage.play("restore", store.parent).said["fork"]
            recover(store, {}, {"kept": {}})
        assert not {"the needle", "from the needle"} & set(truth(store).values())
        assert not (store.parent / ".memory.restore").exists()
        assert forks(store) == 1

    every = 1 if TORTURE else 4
    assert play_to_death(stage, world, "restore", monkeypatch, whole, every=every) > 10


@pytest.mark.parametrize("point", ["restore.built", "restore.guarded", "restore.renamed"])
def test_a_fork_that_died_at_its_guard_is_put_in_its_place(
    stage: Stage, base: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    """The guard remembers the fork before the store stands there: the next restore goes on with that very store."""
    world = older_copy(stage, base, monkeypatch)
    assert stage.play("restore", world, f"{point}@1").killed_by == signal.SIGKILL
    store = at(world, monkeypatch)
    if point == "restore.renamed":
        assert store.exists()
    else:
        assert stage.play("restore", world).said["fork"]
    recover(store, {}, {"kept": {}})
    assert forks(store) == 1


def test_the_guard_never_runs_behind_a_published_head(
    stage: Stage, base: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guard first, then the head: at no death may a published head be unknown to the guard."""
    world = stage.copy(base())
    passed = stage.play("appends", world).passed
    for order in kills([name for name in passed if name.startswith(("guard", "tile", "checkpoint"))]):
        world = stage.copy(base())
        stage.play("appends", world, order)
        store = at(world, monkeypatch)
        head = Guard.of_store(load_settings(store).store_id).read()
        assert head
        with closing(Reader(store)) as reader:
            assert head.size >= reader.published.size
        shutil.rmtree(world)
