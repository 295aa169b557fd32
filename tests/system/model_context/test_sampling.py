"""The harness's own model over stdio: a real process, asked by the SDK's client in both generations of the protocol."""

import json
import os
import re
import shlex
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


PAGE: Final = Path(__file__).parents[3] / "docs" / "mcp.md"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("BRAID_STORE", raising=False)
    return tmp_path


def block(language: str) -> str:
    """Return the block of a language in the page's section on this."""
    _, _, section = PAGE.read_text("utf-8").partition("## The client's own model\n")
    found = re.search(rf"```{language}\n(.*?)```", section, re.DOTALL)
    assert found is not None
    return found[1]


def braid_says(line: str) -> str:
    program, *words = shlex.split(line)
    assert program == "braid"
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    return done.output


def made(home: Path) -> Path:
    """Make the store as the page does; in it somebody has said where they live."""
    for line in block("sh").splitlines():
        braid_says(line)
    with braid.open(home / "memory") as store:
        store.change_setting("remember_mode", "sync", reason="for a test")
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


@pytest.mark.sample(2)
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_the_harness_s_model_reads_over_stdio(mode: str, home: Path) -> None:
    path = made(home)
    words = json.loads(block("json"))["servers"]["braid"]["args"]
    words[words.index("/home/maya/memory")] = str(path)
    process = StdioServerParameters(command=BRAID, args=words, env={**os.environ})
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
    with braid.open(path) as store:
        (reading,) = readings(store)
        assert reading.symbolic[0].object == "Porto"
        (call,) = store.outbound_calls()
        assert (call.provider, call.host, call.model, call.outcome) == ("mcp", "harness", "mcp:mcp", "ok")


def test_the_page_shows_what_is_set(home: Path) -> None:
    for line in block("sh").splitlines():
        braid_says(line)
    command, *shown = block("console").splitlines()
    said = braid_says(command.removeprefix("$ "))
    assert [line.split() for line in said.splitlines()] == [line.split() for line in shown]


def test_what_it_reads_for_is_the_store_that_is_opened_here(tmp_path: Path) -> None:
    runner = CliRunner()
    for more in (["--url", "http://127.0.0.1:1", "--token", "t"], ["--session", "s1"]):
        done = runner.invoke(app, ["--store", str(tmp_path), "mcp", "--sampling", *more])
        assert done.exit_code != 0
        assert "leave out" in done.output + str(done.exception)


@pytest.mark.usefixtures("home")
def test_install_writes_the_option() -> None:
    done = CliRunner().invoke(app, ["mcp", "install", "cursor", "--sampling", "--print"])
    assert json.loads(done.stdout)["mcpServers"]["braid"]["args"][-1] == "--sampling"
