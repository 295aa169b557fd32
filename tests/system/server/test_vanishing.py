"""Some seconds of clients that vanish in the middle of what they ask; the soak has an hour of them."""

from pathlib import Path

import pytest

from tests.system.server.vanishing import hold, vanish


@pytest.mark.soak
@pytest.mark.timeout(180)
def test_clients_that_vanish_leave_nothing(tmp_path: Path) -> None:
    done = vanish(tmp_path, 4)
    assert done.vanished > 100
    hold(done, most_mb=150)
