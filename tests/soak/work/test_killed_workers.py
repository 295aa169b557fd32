"""Ten minutes of remembering and recalling while a worker is killed every ten seconds."""

import sys
from pathlib import Path

import pytest

from tests.soak.work.killed_workers import kill_workers

pytestmark = pytest.mark.soak


@pytest.mark.timeout(2400)
@pytest.mark.parametrize(("seconds", "every_s"), [(40.0, 2.0), (600.0, 10.0)])
def test_killed_workers_lose_nothing_and_double_nothing(
    tmp_path: Path, seconds: float, every_s: float
) -> None:
    done = kill_workers(tmp_path, seconds, every_s)
    sys.stdout.write(f"{done}\n")  # `-rP` shows the figures
    assert done.kills >= seconds / every_s / 2
    assert done.remembered > seconds
    assert done.recalled > seconds / 10
    assert done.rounds > done.kills / 2
