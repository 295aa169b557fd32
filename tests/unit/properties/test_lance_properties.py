"""Whatever the log holds: the LanceDB projection caught up is the one replayed from scratch (SPEC §10.2, §10.10)."""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from braid.views import replay as driver
from braid.views.embedder import Vectors
from braid.views.lance.search import Search
from tests.unit.properties.test_replay_properties import STEPS, Model


class Lengths:
    """A model without meaning, for speed: a text's bytes, counted."""

    name = "lengths"
    version = "1"
    dimensions = 4

    def __init__(self, *, remote: bool) -> None:
        self.remote = remote

    def embed(self, texts: Sequence[str]) -> Vectors:
        found = np.ones((len(texts), 4), dtype=np.float32)
        for place, text in enumerate(texts):
            for byte in text.encode():
                found[place, byte % 4] += 1
        unit: Vectors = found / np.linalg.norm(found, axis=1, keepdims=True)
        return unit


def contents(search: Search) -> list[dict[str, Any]]:
    """Return every row of the current set, in order; stamps tell of batches, not of the log."""
    table = search.home.open().table.rows()
    rows = [row for row in table.to_pylist() if row["log_index"] >= 0]
    return sorted(rows, key=lambda row: (row["log_index"], row["k"]))


@pytest.mark.soak
@settings(
    max_examples=int(os.environ.get("BRAID_EXAMPLES", "8")),
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(
    steps=STEPS,
    batch=st.sampled_from([1, 3, 8_192]),
    again=st.sampled_from([1, 4_096]),
    remote=st.booleans(),
    tended=st.booleans(),
)
def test_catching_up_is_replaying(
    steps: list[tuple[str, Any]], batch: int, again: int, remote: bool, tended: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(driver, "BATCH_RECORDS", batch)
        patch.setattr(driver, "AGAIN_RECORDS", again)
        model = Model(Path(folder) / "store")
        embedder = Lengths(remote=remote)
        caught, replayed = (
            Search(Path(folder) / name, model.writer, lambda: embedder) for name in ("caught", "replayed")
        )
        try:
            away = False
            for op, what in [*steps, ("look", None)]:
                model.step(op, what)
                if op == "look away":
                    away = not away
                if away and op != "look":
                    continue
                caught.catch_up()
                replayed.replay()
                if remote:  # what was asked before comes from the cache, in whichever order it is asked again
                    caught.fill()
                    replayed.fill()
                if tended:
                    caught.tend()
                assert contents(caught) == contents(replayed)
                standing = [row for row in contents(caught) if row["kind"] == "hidden"]
                assert all(row["text"] is None and row["vector"] is None for row in standing)
        finally:
            caught.close()
            replayed.close()
            model.close()
