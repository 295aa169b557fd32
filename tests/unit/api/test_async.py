"""The async twin answers as the store does: every method goes to the store's own of the same name."""

import asyncio
import inspect
from pathlib import Path

import braid
from braid.async_store import AsyncMethods
from braid.ledger.tree.proof import parse_proof
from braid.registry import operations
from braid.store import Store


def test_each_operation_is_a_method_of_both() -> None:
    for name, known in operations().items():
        one, twin = getattr(Store, name), vars(AsyncMethods)[name]
        assert inspect.iscoroutinefunction(twin) is not known.streams, name
        assert inspect.signature(one).parameters == inspect.signature(twin).parameters, name
        assert inspect.getdoc(one) == inspect.getdoc(twin) == inspect.cleandoc(known.description), name


def test_what_an_operator_awaits(tmp_path: Path) -> None:
    async def asked() -> None:
        async with await braid.open_async(tmp_path / "memory", guard_dir=tmp_path / "guard") as store:
            id = await store.append("Maya moved to Porto.", user_id="maya")
            other = await store.correct(id, "Maya moved to Lisbon.")
            assert (await store.trace(other)).id == other
            assert parse_proof(await store.prove(id)).index == store.sync.get(id).index
            assert len(await store.prove_many([id, other])) > 0
            assert (await store.status()).records == len(store.sync)
            await store.sql("SELECT 1 AS one")
            assert (await store.snapshot(keep=1)).name == (store.sync.snapshots()[0]).name
            assert (await store.backup(tmp_path / "backup")).size == len(store.sync)
            assert (await store.retain()).forgotten == ()
            assert await store.compact() == 0

    asyncio.run(asked())
