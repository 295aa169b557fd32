"""A server that is killed under load: what it acknowledged is there, once. The soak kills it fifty times."""

from pathlib import Path

import pytest

from tests.system.server.killed import kill_under_load


@pytest.mark.soak
@pytest.mark.timeout(180)
def test_what_was_acknowledged_survives_the_server(tmp_path: Path) -> None:
    done = kill_under_load(tmp_path, 4)
    assert done.acknowledged > 20
