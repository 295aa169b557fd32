"""Clients that vanish, for an hour or `--minutes`; tests/system/server/test_vanishing.py has some seconds of them."""

import sys
from pathlib import Path

import pytest

from tests.system.server.vanishing import hold, vanish

pytestmark = pytest.mark.soak

HOUR_S = 3600


@pytest.mark.timeout(2 * HOUR_S)
def test_an_hour_of_clients_that_vanish_leaves_nothing(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    minutes = request.config.getoption("--minutes")
    done = vanish(tmp_path, HOUR_S if minutes is None else min(HOUR_S, 60 * minutes))
    sys.stdout.write(f"{done}\n")  # `-rP` shows the figures
    hold(done, most_mb=30)
    assert done.slope_mb() < 60 or minutes is not None  # of a short run the slope says little
