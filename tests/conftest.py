"""What holds for every test: nothing of the user's is touched, and chance is seeded."""

import os
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

SEED = 20_240_229

# CI replays the same examples each time, so a red run is red for everyone; at a desk Hypothesis goes on looking and
# keeps what it found in .hypothesis/. Deadlines measure the machine, not the code: pytest-timeout guards against hangs.
settings.register_profile(
    "ci", derandomize=True, deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("desk", deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "desk"))


@pytest.fixture(autouse=True)
def sealed_surroundings(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put the user's state and the fork guard into a folder of this test's own, and return it."""
    for name in [name for name in os.environ if name.startswith("BRAID_")]:
        monkeypatch.delenv(name)
    folder = tmp_path_factory.mktemp("surroundings")
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    monkeypatch.setenv("BRAID_GUARD_DIR", str(folder / "guard"))
    return folder


@pytest.fixture(autouse=True)
def seeded_random() -> None:
    """Start every test from the same random state, in whatever order tests run."""
    random.seed(SEED)
