"""A few seconds of torture, seeded; `make torture` goes on for as long as it is told."""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

import braid
from braid.tools.torture import Ledger, TortureError, examine, passed_points


@pytest.mark.slow
def test_a_short_torture_ends_clean(tmp_path: Path) -> None:
    argv = [
        sys.executable,
        "-m",
        "braid.tools.torture",
        "--minutes",
        "0.1",
        "--seed",
        "7",
        "--dir",
        str(tmp_path),
    ]
    ran = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    said = json.loads(ran.stdout)
    assert said["rounds"] >= 1
    assert said["acknowledged"]["append"] > 0
    assert list(tmp_path.iterdir()) == []


def test_the_points_are_found_by_passing_them(tmp_path: Path) -> None:
    points = passed_points(tmp_path / "memory", tmp_path / "guard", seed=1)
    assert {"wal.write", "wal.write.done", "wal.sync", "guard.write", "tile.write", "wal.blank"} <= set(
        points
    )


def test_a_lost_record_is_noticed(tmp_path: Path) -> None:
    path, guard = tmp_path / "memory", tmp_path / "guard"
    chance = random.Random(1)
    with braid.open(path, guard_dir=guard) as store:
        kept = store.append(f"torture {chance.random()}")
        erased = store.append("torture")
        store.erase(erased)
    ledger = Ledger()
    ledger.hear(iter([f"append {kept}\n", f"erasing {erased}\n", f"erased {erased}\n", "append exp_cut"]))
    with pytest.raises(TortureError, match="reads 'torture'"):
        examine_with_text(path, guard, ledger)
    examine(path, guard, ledger)
    ledger.appended.add("exp_lost")
    with pytest.raises(TortureError, match="1 acknowledged records are lost, such as exp_lost"):
        examine(path, guard, ledger)
    ledger.appended.clear()
    ledger.gone.add(kept)
    with pytest.raises(TortureError, match="was erased and is back"):
        examine(path, guard, ledger)
    ledger.gone.clear()
    ledger.going.clear()
    with pytest.raises(TortureError, match="erased by nobody"):
        examine(path, guard, ledger)


def examine_with_text(path: Path, guard: Path, ledger: Ledger) -> None:
    """Append what torture never writes, and look."""
    with braid.open(path, guard_dir=guard) as store:
        strange = store.append("torture")
    try:
        examine(path, guard, ledger)
    finally:
        with braid.open(path, guard_dir=guard) as store:
            store.erase(strange)
            ledger.going.add(strange)
