"""Several at once: threads and coroutines on one store, processes that make one store in the same moment."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

import braid
from braid.ledger.write import create

TOWNS = ["Leeds", "Hull", "York", "Bath", "Derby", "Perth", "Oslo", "Paris", "Rome", "Porto", "Ghent", "Lyon"]
TURNS = 6


def test_threads_remember_on_one_handle(tmp_path: Path) -> None:
    """Each call reads what is new: together they read all of it, once, and none fails after its turn is in the log."""
    ready = Barrier(6)
    with braid.open(tmp_path / "memory") as store:

        def remember(who: int) -> None:
            ready.wait()
            for turn in range(TURNS):
                store.remember(f"I live in Town{who}x{turn}.", user_id=f"u{who}")

        with ThreadPoolExecutor(6) as threads:
            for done in [threads.submit(remember, who) for who in range(6)]:
                done.result()
        assert _homes(store) == 6 * TURNS
        assert store.learn().records == 0


def test_coroutines_remember_on_one_handle(tmp_path: Path) -> None:
    async def all_at_once() -> int:
        async with await braid.open_async(tmp_path / "memory") as store:
            await asyncio.gather(
                *(store.remember(f"I live in {town}.", user_id=f"of {town}") for town in TOWNS)
            )
            return _homes(store.sync)

    assert asyncio.run(all_at_once()) == len(TOWNS)


def _homes(store: braid.Store) -> int:
    return int(store.sql("SELECT count(*) AS n FROM claims WHERE rel = 'lives_in'")["n"][0].as_py())


def test_a_position_that_another_process_wrote_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def moved_already(*_: object) -> None:
        raise FileNotFoundError(2, "another has renamed it")

    monkeypatch.setattr("braid.knowledge.learner.replace_file", moved_already)
    with braid.open(tmp_path / "memory") as store:
        assert len(store.remember("I live in Porto.", user_id="u")) == 1
        assert _homes(store) == 1


def test_a_store_that_another_makes_meanwhile_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built, path = create._build, tmp_path / "memory"

    def overtaken(*args: object) -> object:
        monkeypatch.setattr(create, "_build", built)
        with braid.open(path) as first:
            first.append("first")
        return built(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(create, "_build", overtaken)
    with braid.open(path) as store:
        assert [record.text for record in store.read() if record.kind == "experience"] == ["first"]
    assert [one.name for one in tmp_path.iterdir()] == ["memory"]
