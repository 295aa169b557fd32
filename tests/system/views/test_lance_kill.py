"""Killed at every durable step of the LanceDB projection, it opens whole and ends where a replay ends."""

import signal
import subprocess
from pathlib import Path

import pytest

from braid.entry import open as open_store
from braid.models.static import StaticEmbedder
from braid.store import Store

MODEL = StaticEmbedder()
CHILD = """
import sys
from braid.models.static import StaticEmbedder
from braid.entry import open
from braid.wal.failpoint import arm, kill_at
model = StaticEmbedder()
with open(sys.argv[1], embedder=lambda: model) as store:
    store.append("three")
    arm(kill_at(sys.argv[2]))
    if sys.argv[3] == "replay":
        store.replay("lance")
    else:
        store.views.search.catch_up()
"""
POINTS = [
    ("views.lance.commit", "catch up"),
    ("views.lance.commit.done", "catch up"),
    ("views.lance.commit", "replay"),
    ("views.lance.commit.done", "replay"),
    ("views.lance.swap", "replay"),
    ("views.lance.current", "replay"),
    ("views.lance.current.done", "replay"),
]


def said(store: Store) -> list[str]:
    return [row.text for row in store.views.search.index(wait_s=10).rows()]


@pytest.mark.sample(6)
@pytest.mark.parametrize(("point", "doing"), POINTS)
def test_killed_and_opened_again(tmp_path: Path, warm_python: str, point: str, doing: str) -> None:
    path = tmp_path / "memory"
    with open_store(path, embedder=lambda: MODEL) as store:
        store.append("one")
        store.append("two")
        assert said(store) == ["one", "two"]
    done = subprocess.run(
        [warm_python, "-c", CHILD, str(path), point, doing], capture_output=True, check=False, timeout=120
    )
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    with open_store(path, embedder=lambda: MODEL) as store:
        caught = store.views.search.catch_up()
        assert caught.rebuilt is None  # what was committed is whole, whatever lies beside it
        assert said(store) == ["one", "two", "three"]
        store.replay("lance")
        assert said(store) == ["one", "two", "three"]
        assert len(store.views.search.home.sets()) == 1
