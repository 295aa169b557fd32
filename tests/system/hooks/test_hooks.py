"""A harness's callbacks as it makes them: commands with JSON on stdin, with a server and without, and the plugin."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any, Final, cast

import anyio
import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import TextContent

import braid
from braid.caller import Caller, narrowed
from braid.ledger.record.record import EventBody, ExperienceBody
from braid.store import Store
from braid.tools.hooks.state import StateFolder
from braid.tools.mcp.hook_tool import HookTool
from braid.tools.mcp.server import Memory
from tests.system.hooks.scripted import OUTAGES, RUNTIME, Report, Run, doors, line
from tests.system.server.running import served

BRAID: Final = str(Path(sys.executable).with_name("braid"))
SESSION: Final = "5e551010-0000-4000-8000-000000000001"
EXPORT: Final = Path(__file__).parents[2] / "unit/tools/exports/claude-code/session.jsonl"
SECRET: Final = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJ"


class Scene:
    """A store, a harness's folder, and the command."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = folder / "memory"
        self.guards = folder / "guards"
        self.transcript = folder / ".claude" / "projects" / f"{SESSION}.jsonl"
        self.transcript.parent.mkdir(parents=True)

    def braid(self, *words: str, stdin: str = "", **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [BRAID, "--store", str(self.store), "--guard-dir", str(self.guards), *words],
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            cwd=self.folder,
            env={**os.environ, "BRAID_HOOK_LIMIT_S": "60", **env},
        )

    def said(self, event: str, **more: str) -> str:
        given = {"session_id": SESSION, "transcript_path": str(self.transcript), "cwd": str(self.folder)}
        return json.dumps({**given, "hook_event_name": event, **more})

    def hook(self, event: str, **more: str) -> Any:
        done = self.braid("hook", event, "--user-id", "maya", stdin=self.said(event, **more))
        assert (done.returncode, done.stderr) == (0, "")
        return json.loads(done.stdout) if done.stdout else {}

    def open(self) -> Store:
        return braid.open(self.store, guard_dir=self.guards)

    def says(self, *turns: tuple[str, str]) -> None:
        count = len(self.transcript.read_text().splitlines()) if self.transcript.exists() else 0
        with self.transcript.open("a") as out:
            for number, (role, text) in enumerate(turns, count):
                out.write(line(SESSION, number, role, text) + "\n")


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    made = Scene(tmp_path)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / ".claude"))
    braid.init(made.store, guard_dir=made.guards, durability="none")
    return made


def spoken(store: Store) -> list[tuple[str, str, str | None, dict[str, Any]]]:
    found = []
    for record in store.read():
        if record.kind == "experience":
            body = cast("ExperienceBody", record.body)
            session = body.scope.session_id if body.scope else None
            came = body.content.structured.get("capture", {})
            found.append((body.provenance.actor, record.text, session, came))
    return found


@pytest.mark.sample(2)
@pytest.mark.parametrize("with_server", [False, True])
def test_a_session_is_recorded_and_recalled_in_the_next(scene: Scene, with_server: bool) -> None:
    if with_server:
        with scene.open() as store, served(store):
            assert scene.hook("SessionStart", source="startup") == {}
            assert scene.hook("UserPromptSubmit", prompt="I live in Porto.") == {}
            _remembered(scene)
            prompt = json.dumps({"session_id": "three", "prompt": "Where do I live?"})
            assert scene.braid("hook", "user-prompt-submit", "--user-id", "ben", stdin=prompt).stdout == ""
            assert scene.hook("SessionEnd", reason="other") == {}
    else:
        _remembered(scene)
    with scene.open() as store:
        turns = spoken(store)
        assert [turn[1] for turn in turns] == [
            "I live in Porto. I prefer tabs over spaces.",
            f"My key is {SECRET}.",
            "Noted.",
        ]
        assert {turn[2] for turn in turns} == {SESSION}
        assert {(turn[3]["runtime_path"], turn[3]["harness"], turn[3]["request"]) for turn in turns} == {
            ("hook", "claude-code", "turn_end")
        }
        events = [cast("EventBody", record.body) for record in store.read() if record.kind == "event"]
        decided = [one for one in events if one.name == "runtime_path" and one.data["session"] == SESSION]
        assert [one.data["runtime_path"] for one in decided] == ["hook"]
        assert decided[0].once == turns[0][3]["arbitration_key"]
    if not with_server:
        return
    again = scene.braid("ingest", str(scene.transcript), "--user-id", "maya", "--no-learn", "-o", "json")
    assert json.loads(again.stdout)["taken"] == 0
    assert json.loads(again.stdout)["already known"] == 3


def _remembered(scene: Scene) -> None:
    said = ("user", "I live in Porto. I prefer tabs over spaces."), ("user", f"My key is {SECRET}.")
    scene.says(*said, ("assistant", "Noted."))
    assert scene.hook("Stop") == {}
    start = json.dumps({"session_id": "two", "hook_event_name": "SessionStart", "source": "startup"})
    done = scene.braid("hook", "session-start", "--user-id", "maya", stdin=start)
    told = json.loads(done.stdout)["hookSpecificOutput"]
    assert told["hookEventName"] == "SessionStart"
    assert "user likes tabs over spaces" in told["additionalContext"]
    assert told["additionalContext"].startswith("<experience_context ")
    prompt = json.dumps(
        {"session_id": "two", "hook_event_name": "UserPromptSubmit", "prompt": "Where do I live?"}
    )
    done = scene.braid("hook", "user-prompt-submit", "--user-id", "maya", stdin=prompt)
    context = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    assert "I live in Porto" in context
    assert SECRET not in told["additionalContext"] + context
    other = scene.braid(
        "hook", "user-prompt-submit", "--user-id", "ben", stdin=prompt.replace("two", "three")
    )
    assert other.stdout == ""


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("words", "stdin"),
    [
        (["hook", "user-prompt-submit"], "{ no json"),
        (["hook", "user-prompt-submit"], "[]"),
        (["hook", "user-prompt-submit"], "{}"),
        (["hook", "no-such-event"], '{"session_id": "one", "hook_event_name": "Stop"}'),
        (["hook", "user-prompt-submit", "--no-such-option"], "{}"),
    ],
)
def test_no_failure_ever_blocks_the_harness(scene: Scene, words: list[str], stdin: str) -> None:
    done = scene.braid(*words, stdin=stdin)
    assert done.returncode == 0
    assert done.stderr == ""
    if done.stdout:  # it could not be noted: it is told at once
        assert "Braid did nothing" in json.loads(done.stdout)["systemMessage"]
    else:
        status = json.loads(scene.braid("hook", "status", "-o", "json").stdout)
        assert status["failures not told"] == 1


def test_a_token_that_is_none_is_told_and_not_shown(scene: Scene) -> None:
    start = scene.said("SessionStart", source="startup")
    done = scene.braid(
        "hook", "session-start", stdin=start, BRAID_URL="http://127.0.0.1:1", BRAID_TOKEN="braid_secret\nx"
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "that isn't a token" in done.stdout
    assert "secret" not in done.stdout


@pytest.mark.parametrize("stdin", ["{}", "", "{ no json"])
def test_a_name_that_no_harness_called_is_a_mistyped_command(scene: Scene, stdin: str) -> None:
    done = scene.braid("hook", "sesion-start", stdin=stdin)
    assert (done.returncode, done.stdout) == (2, "")
    assert "sesion-start" in done.stderr
    for known in ("session-start", "user-prompt-submit", "turn-end", "session-end", "install", "status"):
        assert known in done.stderr
    assert json.loads(scene.braid("hook", "status", "-o", "json").stdout)["failures not told"] == 0


@pytest.mark.parametrize("option", ["--user-id", "--agent-id", "--run-id", "--project-id", "--session"])
def test_a_hook_takes_every_id_that_is_installed_with_it(scene: Scene, option: str) -> None:
    scene.says(("user", "I live in Porto."))
    shown = scene.braid("hook", "install", option, "s1", "--print").stdout
    command = json.loads(shown)["hooks"]["SessionEnd"][0]["hooks"][0]["command"]
    words = shlex.split(command)
    done = scene.braid(*words[words.index("hook") :], stdin=scene.said("SessionEnd"))
    assert (done.returncode, done.stdout) == (0, "")
    assert json.loads(scene.braid("hook", "status", "-o", "json").stdout)["failures not told"] == 0


@pytest.mark.soak
def test_a_store_that_cannot_be_asked_is_told_at_the_next_start(scene: Scene) -> None:
    scene.says(("user", "I live in Porto."))
    with scene.open():  # another program has it
        assert scene.hook("Stop") == {}
    status = json.loads(scene.braid("hook", "status", "-o", "json").stdout)
    assert (status["failures not told"], status["server"]) == (1, "none")
    assert status["unread bytes"] > 0
    start = json.dumps({"session_id": "two", "hook_event_name": "SessionStart", "source": "startup"})
    told = json.loads(scene.braid("hook", "session-start", "--user-id", "maya", stdin=start).stdout)
    assert "turn_end" in told["systemMessage"]
    assert "1 earlier sessions were taken in" in told["systemMessage"]
    with scene.open() as store:
        assert [turn[1] for turn in spoken(store)] == ["I live in Porto."]


def test_what_takes_too_long_is_ended_in_time_and_noted(scene: Scene) -> None:
    scene.says(("user", "I live in Porto."))
    done = scene.braid("hook", "turn-end", stdin=scene.said("Stop"), BRAID_HOOK_LIMIT_S="0.05")
    assert (done.returncode, done.stdout) == (0, "")
    assert "longer than 0.05 s" in scene.braid("hook", "status").stderr
    scene.hook("Stop")
    with scene.open() as store:
        assert len(spoken(store)) == 1


def test_a_transcript_in_pieces_is_what_the_importer_reads_whole(scene: Scene, tmp_path: Path) -> None:
    with EXPORT.open() as export:
        for text in export:
            with scene.transcript.open("a") as out:
                out.write(text)
            with scene.open() as store:
                plugin(scene, store).call(arguments(scene, "turn_end"))
    with scene.open() as store:
        kept = {turn["external_id"]: turn for turn in turns_of(store)}
    other = tmp_path / "other"
    braid.init(other, guard_dir=scene.guards, durability="none")
    words = ["--store", str(other), "--guard-dir", str(scene.guards), "ingest", str(scene.transcript)]
    subprocess.run([BRAID, *words, "--user-id", "maya", "--no-learn"], check=True, capture_output=True)
    with braid.open(other, guard_dir=scene.guards) as store:
        wanted = {turn["external_id"]: turn for turn in turns_of(store)}
    assert kept == wanted


def turns_of(store: Store) -> list[dict[str, Any]]:
    found = []
    for record in store.read():
        if record.kind == "experience":
            body = json.loads(json.dumps(record.members))
            body["provenance"].pop("method", None)
            body.pop("asked_by", None)  # the plugin asks as an agent
            body["content"].get("structured", {}).pop("capture", None)
            found.append(body)
    return found


def plugin(scene: Scene, store: Store, user_id: str = "maya") -> HookTool:
    caller = Caller(name="mcp", kind="agent", allowed=narrowed("agent", None), user_id=user_id)
    return HookTool(store.session, caller, StateFolder(str(scene.store), str(scene.guards)))


def arguments(scene: Scene, event: str, **more: str) -> dict[str, Any]:
    return {"event": event, "session_id": SESSION, "transcript_path": str(scene.transcript), **more}


def test_both_paths_give_equal_memories_and_equal_audit_fields(scene: Scene, tmp_path: Path) -> None:
    script = [
        ("user", "I live in Porto."),
        ("assistant", "Noted."),
        ("user", "I hate rum."),
        ("assistant", "Right."),
    ]
    memories = []
    for path in ("hook", "plugin", "both"):
        made = Scene(tmp_path / path)
        made.transcript = scene.transcript.with_name(f"{SESSION}.jsonl")
        made.transcript.unlink(missing_ok=True)
        braid.init(made.store, guard_dir=made.guards, durability="none")
        with made.open() as store, served(store):
            tool = plugin(made, store)
            for number, turn in enumerate(script):
                made.says(turn)
                event, name = ("turn_end", "Stop") if number % 2 else ("pre_compaction", "PreCompact")
                if path != "plugin":
                    made.hook(name)
                if path != "hook":
                    tool.call(arguments(made, event))
            turns = spoken(store)
        memories.append([turn[:3] for turn in turns])
        assert [sorted(turn[3]) for turn in turns] == [
            ["arbitration_key", "harness", "request", "runtime_path"]
        ] * len(script)
        assert [turn[3]["request"] for turn in turns] == ["pre_compaction", "turn_end"] * 2
    assert memories[0] == memories[1] == memories[2]
    assert len(memories[0]) == len(script)


def test_the_plugin_takes_no_transcript_but_the_harnesss_own(scene: Scene, tmp_path: Path) -> None:
    forged = tmp_path / "forged.jsonl"
    forged.write_text(line(SESSION, 0, "user", "I said so.") + "\n")
    with scene.open() as store:
        caller = Caller(name="mcp", kind="agent", allowed=narrowed("agent", None), user_id="maya")
        memory = Memory(store.session, caller, plugin(scene, store))
        asked = arguments(scene, "turn_end") | {"transcript_path": str(forged)}
        assert memory.call("memory_hook", asked).is_error
        for path in ("/etc/passwd", str(scene.transcript.parent / ".." / ".." / ".." / "forged.jsonl")):
            assert memory.call("memory_hook", asked | {"transcript_path": path}).is_error
        assert spoken(store) == []
        assert [one.name for one in memory.tools()][-1] == "memory_hook"


def test_context_that_braid_gave_is_not_taken_for_a_turn(scene: Scene) -> None:
    given = '<experience_context note="x">\n  <memory id="a">"tea"</memory>\n</experience_context>'
    scene.says(("user", given), ("user", f"{given}\nI live in Porto."))
    with scene.open() as store:
        plugin(scene, store).call(arguments(scene, "turn_end"))
        assert [turn[1] for turn in spoken(store)] == ["I live in Porto."]


def test_what_no_person_wrote_is_not_captured_as_the_users(scene: Scene) -> None:
    said = json.loads(line(SESSION, 0, "user", "I live in Lima."))
    marks: tuple[dict[str, bool], ...] = (
        {"isSidechain": True},
        {"isCompactSummary": True},
        {"isMeta": True},
        {},
    )
    lines = [json.dumps(said | mark | {"uuid": f"u{n}"}) for n, mark in enumerate(marks)]
    scene.transcript.write_text("\n".join(lines) + "\n")
    scene.hook("SessionEnd", reason="exit")
    with scene.open() as store:
        found = store.sql("SELECT actor FROM experiences WHERE text = 'I live in Lima.' ORDER BY log_index")
        assert [row["actor"] for row in found.to_pylist()] == ["agent", "agent", "system", "user"]


def test_a_turn_that_names_anothers_record_is_kept_without_its_parts(scene: Scene) -> None:
    with scene.open() as store:
        other = store.append("Ben lives in Rome.", user_id="ben")
        content = [
            {"type": "text", "text": "Looking."},
            {"type": "tool_use", "id": "t", "name": "memory_get", "input": {"id": other}},
        ]
        said = json.loads(line(SESSION, 0, "assistant", ""))
        said["message"]["content"] = content
        scene.transcript.write_text(json.dumps(said) + "\n")
        plugin(scene, store).call(arguments(scene, "turn_end"))
        assert [turn[1] for turn in spoken(store)] == ["Ben lives in Rome.", "Looking."]


@pytest.mark.parametrize(("mode", "version"), [("legacy", "2025-11-25"), ("2026-07-28", "2026-07-28")])
def test_an_agent_reaches_a_server_by_http(scene: Scene, mode: str, version: str) -> None:
    with scene.open() as store:
        other = store.append("Ben lives in Rome.", user_id="ben")
        token = store.issue_token("agent", kind="agent", user_id="maya").secret
        with served(store, port=True) as port:
            anyio.run(_by_http, f"http://127.0.0.1:{port}/mcp", mode, version, token, other)
            for headers in (
                {},
                {"Authorization": "Bearer x"},
                {"Authorization": f"Bearer {token}", "Origin": "http://x"},
            ):
                answer = httpx2.post(f"http://127.0.0.1:{port}/mcp", json={}, headers=headers)
                assert answer.status_code in (401, 403)


async def _by_http(url: str, mode: str, version: str, token: str, other: str) -> None:
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        assert client.protocol_version == version
        stored = await client.call_tool("memory_store", {"text": "Maya lives in Porto."})
        assert stored.structured_content is not None
        found = await client.call_tool("memory_search", {"query": "Who lives where?"})
        assert [hit["text"] for hit in found.structured_content["results"]] == ["Maya lives in Porto."]
        assert (await client.call_tool("memory_get", {"id": other})).is_error
        history = await client.call_tool("memory_history", {"id": stored.structured_content["memory_id"]})
        assert history.structured_content["changes"][0]["path"] == "plugin"
        block = (await client.get_prompt("memory_briefing")).messages[0].content
        assert isinstance(block, TextContent)
        assert "Maya lives in Porto." in block.text
        assert "memory_hook" not in {tool.name for tool in (await client.list_tools()).tools}


def scripted(folder: Path, sessions: int, *, both: int, seed: int = 1) -> list[Report]:
    """Hold sessions of each mode by each path, and `both` of them by both paths at once."""
    reports = []
    for mode in ("local", "team", "hybrid"):
        for path in RUNTIME:
            here = folder / f"{mode}-{path}"
            here.mkdir(parents=True)
            with braid.open(here / "memory", guard_dir=here / "guards") as store:
                store.set_durability("none")
                with served(store, port=True) as port, doors(store, mode, port) as asks:
                    run = Run(store, here, asks, path, seed)
                    for number in range(both if path == "both" else sessions):
                        run.session(f"{mode}-{path}-{number}")
                    reports.append(run.end(store))
    return reports


def hold(reports: list[Report]) -> None:
    total = Report(*(sum(column) for column in zip(*reports, strict=True)))
    sys.stdout.write(f"{total}\n")  # `-rP` shows the figures
    assert total.recorded == total.turns
    assert total.duplicates == 0
    assert total.told == total.noted
    assert 1 - total.failed / total.callbacks >= 0.99
    assert 1 - total.tools_failed / total.tools >= 0.99


@pytest.mark.soak
def test_scripted_sessions_with_outages_lose_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.system.hooks.scripted.OUTAGES", 2 * OUTAGES)
    hold(scripted(tmp_path, 4, both=2))


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_a_thousand_scripted_sessions_with_outages_lose_nothing(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    minutes = request.config.getoption("--minutes")
    if minutes is not None and minutes < 8:
        pytest.skip("a thousand sessions take longer than the minutes given")
    reports = scripted(tmp_path, 134, both=66)
    assert sum(report.failed for report in reports) > 10
    hold(reports)
