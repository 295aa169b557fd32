"""What holds for every test: nothing of the user's is touched, and chance is seeded."""

import gc
import os
import random
import runpy
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.truth.board import pytest_terminal_summary  # noqa: F401 - pytest finds it here

if TYPE_CHECKING:
    from braid.ledger.write.writer import Writer
    from tests.warm import Zygote

SEED = 20_240_229

# CI replays the same examples each time, so a red run is red for everyone; at a desk Hypothesis goes on looking and
# keeps what it found in .hypothesis/; the soak looks ten times as far. Deadlines measure the machine, not the code:
# pytest-timeout guards against hangs.
settings.register_profile("desk", max_examples=40, deadline=None, print_blob=True)
settings.register_profile(
    "ci", settings.get_profile("desk"), derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("soak", settings.get_profile("desk"), max_examples=400)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "desk"))

# Stores wait for the disk at each append, tests make thousands of them, and no power is cut here: they lie in memory.
# What is synced, and when, is held by strace, failpoints and a disk that loses what was not (tests/system/crash).
MEMORY = Path("/dev/shm")
LEAST_BYTES = 4 << 30
if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free >= LEAST_BYTES:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

# Twelve thousand tests and what pytest keeps of each live to the end. Python's own thresholds look through them all
# so often that a tenth of the processor time went there, and a quarter of collecting the tests.
gc.set_threshold(100_000, 20, 100)

# Tests interrupt what they start, which inherits what a shell tells its jobs in the background: pass Ctrl-C over.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a soak be bounded."""
    parser.addoption("--minutes", type=float, help="begin nothing after so many, in an order of its own")


class Tiers:
    """Splits long matrices between `make test` and `make soak`."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave each n-th case of a test marked `sample(n)` where it is, and the others to the soak."""
        seen: Counter[str] = Counter()
        for item in items:
            if (mark := item.get_closest_marker("sample")) is not None:
                name = item.nodeid.partition("[")[0]
                if seen[name] % mark.args[0]:
                    item.add_marker("soak")
                seen[name] += 1


def pytest_configure(config: pytest.Config) -> None:
    """Split what is marked so."""
    config.pluginmanager.register(Tiers())


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let a bounded run begin with what is marked `first`, then elsewhere each day: in time it meets all tests.

    But for those that say that they may take longer than the usual time limit: they want a run of ten minutes at least.
    """
    minutes: float | None = config.getoption("--minutes")
    if minutes is not None:
        if 60 * minutes < USUAL_LIMIT_S:
            items[:] = [item for item in items if not (_is_later(item) and _takes_long(item))]
        items.sort(key=lambda item: item.nodeid)
        random.Random(datetime.now(UTC).toordinal()).shuffle(items)
        items.sort(key=_is_later)


def _takes_long(item: pytest.Item) -> bool:
    mark = item.get_closest_marker("timeout")
    return mark is not None and mark.args[0] > USUAL_LIMIT_S


def _is_later(item: pytest.Item) -> bool:
    """Whether a bounded run may leave a test out: the pages, the bands of figures, and some promises come first."""
    marks = list(item.iter_markers("soak"))  # that of a long case stands beside that of the whole test
    return not marks or not all(mark.kwargs.get("first") for mark in marks)


STARTED = time.monotonic()
USUAL_LIMIT_S = 600
"""As `timeout` in pyproject.toml."""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> bool | None:
    """Begin no test after the time that was given, but for those that each run begins with; such a test is not counted.

    To skip three thousand would take minutes.
    """
    minutes: float | None = item.config.getoption("--minutes")
    is_over = minutes is not None and time.monotonic() - STARTED > 60 * minutes
    return True if is_over and _is_later(item) else None


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


@pytest.fixture(scope="session", autouse=True)
def sandboxes_handed_on() -> Iterator[None]:
    """Let stores hand on the process that runs SQL."""
    from tests.sandboxes import handed_on

    with handed_on():
        yield


@pytest.fixture(scope="session")
def zygote() -> "Iterator[Zygote]":
    """The process that forks for the commands of all tests of this worker."""
    from tests.warm import Zygote

    started = Zygote()
    yield started
    started.close()


@pytest.fixture(scope="session")
def warm_python(zygote: "Zygote") -> str:
    """What stands in for Python when it is told `-c CODE`: what Braid imports is imported already."""
    return str(zygote.bin / "python")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Return a new store: genesis, two admitted keys, its guard in this test's surroundings."""
    from braid.ledger.write.create import create_store

    create_store(tmp_path / "memory", now=datetime.now(UTC))
    return tmp_path / "memory"


@pytest.fixture(scope="session")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the store of examples/study.py: three conversations and what was drawn from them. To be read only."""
    script = runpy.run_path(str(Path(__file__).parents[1] / "examples" / "study.py"))
    home = tmp_path_factory.mktemp("study")
    script["make"](home / "study", home / "guard")
    return home / "study"


@pytest.fixture
def drop() -> "Callable[[Writer], None]":
    """Return what lets go of a writer as a dying process does: locks fall, files close, nothing more is written."""
    from braid.wal.log import LogReader

    def let_go(writer: "Writer") -> None:
        writer._stop.set()
        if writer._thread:
            writer._thread.join()
        writer.log._close_active()
        LogReader.close(writer.log)
        writer._lock.release()

    return let_go
