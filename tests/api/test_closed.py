"""A closed store says so, whatever is asked of it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import braid

ASKED: dict[str, Callable[[Any, str], Any]] = {
    "append": lambda store, id: store.append("more"),
    "remember": lambda store, id: store.remember([{"role": "user", "content": "more"}]),
    "correct": lambda store, id: store.correct(id, "other"),
    "get": lambda store, id: store.get(id),
    "read": lambda store, id: list(store.read()),
    "trace": lambda store, id: store.trace(id),
    "prove": lambda store, id: store.prove(id),
    "sql": lambda store, id: store.sql("SELECT 1"),
    "replay": lambda store, id: store.replay(),
    "verify": lambda store, id: store.verify(),
    "forget": lambda store, id: store.forget(id),
    "erase": lambda store, id: store.erase(id),
    "checkpoint": lambda store, id: store.checkpoint(),
    "status": lambda store, id: store.status(),
}


@pytest.mark.parametrize("name", ASKED)
def test_a_closed_store_says_so(tmp_path: Path, name: str) -> None:
    store = braid.open(tmp_path / "memory")
    id = store.append("one")
    writer = store.writer
    store.close()
    store.close()
    with pytest.raises(ValueError, match="was closed"):
        ASKED[name](store, id)
    with pytest.raises(ValueError, match="was closed"):
        writer.checkpoint()
    with braid.open(tmp_path / "memory") as again:
        assert again.get(id).text == "one"
