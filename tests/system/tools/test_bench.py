"""The bench at a tiny size: every figure is taken, in the promised shape; counts are held, times are not."""

import json
import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter

import msgspec
import pytest

from braid.client.remote import Remote
from braid.log import operations as log
from braid.tools.bench.command import SEED, measures, take
from braid.tools.bench.counted_server import counted, new_counter
from braid.tools.bench.figures_append import SyncCountError, exactly_one_sync
from braid.tools.bench.figures_cost import Prices, costs
from braid.tools.bench.figures_serve import server
from braid.tools.bench.measure import TARGETS, Figure, Floor, Target, against, alone, figure
from braid.tools.bench.stores import BODY_BYTES, Stores, Texts
from braid.tools.lab.bench.command import bench
from braid.tools.lab.bench.figures_stance import MEASURES
from braid.tools.lab.bench.report import BEGIN, END, fill
from braid.wal.durable import counts
from tests.command import run

PROMISED = {"name", "n", "value", "unit", "floor", "ratio"}
PAGE = Path(__file__).parents[3] / "docs" / "performance.md"


def quiet(line: str) -> None:
    del line


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> list[Figure]:
    folder = tmp_path_factory.mktemp("bench")
    taken = list(take([400], folder=folder, slice_s=0.005, rounds=1))
    assert list(folder.iterdir()) == [], "the bench leaves nothing behind"
    return taken


@pytest.mark.soak
def test_what_decisions_cost_is_counted_with_the_prices_given(tmp_path: Path) -> None:
    measure = costs(None, Prices(read=2.0, written=10.0))
    taken = list(take([10], only=["cost"], also=[measure], folder=tmp_path, slice_s=0.002, rounds=1))
    assert [one.name for one in taken] == list(measure.names)
    by_name = {one.name: one.value for one in taken}
    assert all(value > 0 for value in by_name.values())
    assert by_name["cost.counted.well_formed"] == 1.0
    tokens = by_name["cost.counted.tokens"]
    assert 1_000 * tokens * 2 / 1e6 < by_name["cost.counted.price"] < 1_000 * tokens * 10 / 1e6
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "given", [["--price-in", "1"], ["--model", "ollama:m"], ["--only", "open", "--price-out", "1"]]
)
def test_a_model_and_its_prices_go_with_the_costs(given: list[str], tmp_path: Path) -> None:
    code, _, said = run(["bench", "--size", "10", *given], cwd=tmp_path, env=dict(os.environ))
    assert code == 2
    assert b"--only cost" in said


@pytest.mark.soak
def test_every_figure_is_taken_once(figures: list[Figure]) -> None:
    promised = [name for measure in measures() for name in measure.names]
    left_out = [] if shutil.which("redis-server") else ["life.jobs.redis"]
    assert sorted([*left_out, *(one.name for one in figures)]) == sorted(promised)
    assert len(set(promised)) == len(promised)
    assert set(TARGETS) <= set(promised)


@pytest.mark.soak
def test_figures_have_the_promised_members(figures: list[Figure]) -> None:
    for one in msgspec.json.decode(msgspec.json.encode(figures)):
        assert set(one) >= PROMISED
        assert one["value"] > 0
        assert one["n"] in (0, 400)
        assert (one["floor"] is None) == (one["ratio"] is None)


@pytest.mark.soak
def test_what_is_counted_not_timed(figures: list[Figure]) -> None:
    by_name = {one.name: one for one in figures}
    parts = [by_name[f"disk.{part}"].value for part in ("body", "envelope", "tile", "idx", "rest")]
    assert sum(parts) == pytest.approx(by_name["overhead"].value + BODY_BYTES)
    assert by_name["disk.body"].value == pytest.approx(1088, abs=8)


def test_a_durable_append_is_one_sync_of_the_log(tmp_path: Path) -> None:
    stores = Stores(tmp_path, SEED, quiet)
    with stores.copy(20) as place, place.writer() as writer:
        before = counts["wal.sync"]
        for number in range(50):
            writer.append([stores.texts.draft(number)])
            assert counts["wal.sync"] - before == number + 1


def test_another_number_of_syncs_is_refused() -> None:
    def never_syncs() -> float:
        return 1.0

    def syncs_twice() -> float:
        counts["wal.sync"] += 2
        return 1.0

    for sample in (never_syncs, syncs_twice):
        with pytest.raises(SyncCountError, match="for 1 durable appends"):
            exactly_one_sync(sample, 1)()


def test_bodies_are_a_kilobyte_and_seeded() -> None:
    texts = Texts(SEED)
    bodies = [msgspec.json.encode(texts.draft(number).body) for number in (0, 1, 996, 997, 123_456)]
    assert {len(body) for body in bodies} == {BODY_BYTES}
    assert len(set(bodies)) == len(bodies)
    assert [msgspec.json.encode(Texts(SEED).draft(number).body) for number in (0, 1)] == bodies[:2]
    assert msgspec.json.encode(Texts(SEED + 1).draft(0).body) != bodies[0]


def test_a_slice_is_compared_with_the_floors_around_it() -> None:
    floors, values = iter([10.0, 30.0, 10.0]), iter([10.0, 10.0])
    one = against("x", 1, "/s", lambda: next(values), floor=Floor("f", lambda: next(floors)), rounds=2)
    assert (one.value, one.floor, one.ratio, one.floor_name) == (10.0, 10.0, 0.5, "f")


def test_the_median_of_slices() -> None:
    values = iter([1.0, 9.0, 2.0])
    one = alone("x", 1, "s", lambda: next(values), 3)
    assert (one.value, one.spread, one.floor, one.ratio) == (2.0, 3.5, None, None)


def test_targets() -> None:
    assert figure("overhead", 10_000, "", 900).met is True
    assert figure("overhead", 10_000, "", 901).met is False
    assert figure("overhead", 100, "", 901).met is None, "a fixed cost counts only over many records"
    assert figure("prove", 10_000, "", 1).met is None
    assert str(Target("ratio", "≥", 0.45)) == "× ≥ 0.45"


def test_an_unknown_figure_is_refused_before_anything_is_built(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"there is no figure 'apend'; known: floor\.sign"):
        next(take([10], only=["apend"], folder=tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_the_guard_of_the_user_is_left_alone(sealed_surroundings: Path) -> None:
    before = os.environ["BRAID_GUARD_DIR"]
    assert len(list(take([20], only=["overhead"], slice_s=0.001, rounds=1))) == 6
    assert os.environ["BRAID_GUARD_DIR"] == before
    assert not (sealed_surroundings / "guard").exists()


@pytest.mark.soak
def test_the_command_prints_json_alone(tmp_path: Path) -> None:
    argv = [
        sys.executable,
        "-c",
        "from braid.tools.cli.main import run; run()",
        "bench",
        "--size",
        "20",
        "--only",
        "overhead",
        "-o",
        "json",
        "--dir",
        str(tmp_path),
    ]
    ran = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert [one["name"] for one in json.loads(ran.stdout)][:2] == ["overhead", "disk.body"]
    assert "overhead" in ran.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_makers_measure_truth_maintenance_too(tmp_path: Path) -> None:
    taken = list(take([400], only=["stance"], also=MEASURES, folder=tmp_path, slice_s=0.005, rounds=1))
    assert [one.name for one in taken] == [name for measure in MEASURES for name in measure.names]
    assert all(one.value > 0 for one in taken)
    assert taken[0].target == "≤ 2"
    with pytest.raises(ValueError, match="there is no figure 'stance'"):
        next(take([400], only=["stance"], folder=tmp_path))


def test_figures_of_an_earlier_run_go_into_a_page_and_a_drawing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    page, drawing = tmp_path / "performance.md", tmp_path / "cost.svg"
    page.write_text(PAGE.read_text("utf-8"), "utf-8")
    for n in (10_000, 100_000):
        taken = [figure("overhead", n, "bytes/record", 764.0), figure("open", n, "s", 0.02)]
        (tmp_path / f"{n}.json").write_bytes(msgspec.json.encode(taken))
    bench([tmp_path / "10000.json", tmp_path / "100000.json"], page=page, drawing=drawing, output="json")
    assert [one["n"] for one in json.loads(capsys.readouterr().out)] == [10_000, 10_000, 100_000, 100_000]
    assert "| `overhead` | 100,000 | 764 bytes/record |" in page.read_text("utf-8")
    assert "memory to open" not in drawing.read_text("utf-8")
    assert ">open<" in drawing.read_text("utf-8")


def test_the_page_has_a_place_for_the_table(tmp_path: Path) -> None:
    page = tmp_path / "performance.md"
    page.write_text(PAGE.read_text("utf-8"), "utf-8")
    taken = [figure("overhead", 10_000, "bytes/record", 764.0)]
    for _ in range(2):
        fill(page, taken, command="braid bench", now=datetime(2026, 1, 31, tzinfo=UTC))
    text = page.read_text("utf-8")
    assert text.count("| `overhead` | 10,000 | 764 bytes/record |") == 1
    assert text.count(BEGIN) == text.count(END) == 1
    assert "2026-01-31" in text
    page.write_text("nothing", "utf-8")
    with pytest.raises(ValueError, match="no place for the figures"):
        fill(page, taken, command="braid bench")


@pytest.mark.soak
def test_a_server_counts_its_syncs_and_takes_longer_for_each(tmp_path: Path) -> None:
    stores = Stores(tmp_path, SEED, quiet)
    counter = new_counter(tmp_path / "syncs")
    with stores.copy(20) as place, server(place, counter, 0.05), Remote(place.path) as client:
        before, began = counted(counter), perf_counter()
        for number in range(4):
            client.call(log.append, log.Append(text=f"Record {number}."))
        assert counted(counter) - before >= 4
        assert perf_counter() - began >= 4 * 0.05
