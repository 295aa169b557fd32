"""Fifty kills of a server under load; tests/system/server/test_killed.py has four of them."""

import sys
from pathlib import Path

import pytest

from tests.system.server.killed import kill_under_load

pytestmark = pytest.mark.soak


@pytest.mark.timeout(1800)
def test_fifty_kills_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    done = kill_under_load(tmp_path, 50, seed=50)
    sys.stdout.write(f"{done}\n")  # `-rP` shows the figures
    assert done.acknowledged > 1000
    assert done.retried > 50
