"""The harness's own model over stdio: a real process, asked by the SDK's client in both generations of the protocol."""

import os
import sys
from pathlib import Path
from typing import Any, Final

import anyio
import pytest
from mcp import types
from mcp.client import Client
from mcp.client.context import ClientRequestContext
from mcp.client.stdio import StdioServerParameters
from typer.testing import CliRunner

import braid
from braid.ledger.record.record import ExperienceBody
from braid.store import Store
from braid.tools.cli.main import app

BRAID: Final = str(Path(sys.executable).with_name("braid"))
FACT: Final = (
    '{"facts": [{"turn": 1, "quote": "I live in Porto", "relation": "lives_in", "object": "Porto",'
    ' "confidence": 0.9}]}'
)


def made(tmp_path: Path) -> Path:
    """Make the store of docs/mcp.md, in which somebody has said where they live."""
    with braid.open(tmp_path / "memory", guard_dir=tmp_path / "guards") as store:
        for key, value in (
            ("local_only", "false"),
            ("remote_hosts", "harness"),
            ("remember_mode", "sync"),
        ):
            store.change_setting(key, value, reason="for a test")
        turn = {"role": "user", "content": "I live in Porto.", "name": "Maya"}
        store.remember([turn], user_id="maya", session_id="s1", learn=False)
        return store.path


def readings(store: Store) -> list[ExperienceBody]:
    bodies = [one.body for one in store.read()]
    return [
        one
        for one in bodies
        if isinstance(one, ExperienceBody) and one.provenance.method.startswith("read:model")
    ]


@pytest.mark.sample(1)
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_the_harness_s_model_reads_over_stdio(mode: str, tmp_path: Path) -> None:
    path = made(tmp_path)
    words = ["--store", str(path), "--guard-dir", str(tmp_path / "guards"), "mcp", "--sampling"]
    process = StdioServerParameters(command=BRAID, args=[*words, "--user-id", "maya"], env={**os.environ})
    shown: list[types.CreateMessageRequestParams] = []

    async def answer(
        context: ClientRequestContext, params: types.CreateMessageRequestParams
    ) -> types.CreateMessageResult:
        shown.append(params)
        content = types.TextContent(type="text", text=FACT)
        return types.CreateMessageResult(
            role="assistant", content=content, model="large-1", stop_reason="endTurn"
        )

    async def run() -> Any:
        async with Client(process, mode=mode, sampling_callback=answer, read_timeout_seconds=90) as client:
            return (await client.call_tool("memory_store", {"text": "Maya likes tea."})).structured_content

    stored = anyio.run(run)
    assert stored is not None
    assert stored["warnings"] == []
    assert len(shown) == 1
    with braid.open(path, guard_dir=tmp_path / "guards") as store:
        (reading,) = readings(store)
        assert reading.symbolic[0].object == "Porto"
        (call,) = store.outbound_calls()
        assert (call.provider, call.host, call.model, call.outcome) == ("mcp", "harness", "mcp:mcp", "ok")


def test_what_it_reads_for_is_the_store_that_is_opened_here(tmp_path: Path) -> None:
    runner = CliRunner()
    for more in (["--url", "http://127.0.0.1:1", "--token", "t"], ["--session", "s1"]):
        done = runner.invoke(app, ["--store", str(tmp_path), "mcp", "--sampling", *more])
        assert done.exit_code != 0
        assert "leave out" in done.output + str(done.exception)
