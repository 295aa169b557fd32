"""The README's five lines, but for the installation: what is said in one session is known in the next."""

import os
import sys
from pathlib import Path

import pytest

from tests.system.cli.newcomer import BIN, lines, walk


@pytest.mark.soak(first=True)
@pytest.mark.timeout(180)
def test_what_is_said_in_one_session_is_known_in_the_next(tmp_path: Path) -> None:
    assert len(lines()) == 5
    done = walk(tmp_path, f"{BIN}:{os.environ['PATH']}", install=None)
    sys.stdout.write(f"{done}\n")  # `-rP` shows the figures
    assert "tabs over spaces" in done.told
