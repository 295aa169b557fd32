"""Scripted sessions of a harness, with outages, by either path and in each way that a store is reached."""

import json
import random
import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from braid.caller import Caller, asked_by, narrowed
from braid.store import Store
from braid.tools.hooks.door import DoorError, ask_socket, ask_url
from braid.tools.hooks.events import Callback
from braid.tools.hooks.lifecycle import Lifecycle, harness_json
from braid.tools.hooks.service import ask_door
from braid.tools.hooks.state import StateFolder
from braid.tools.hooks.troubles import Troubles
from braid.tools.mcp.server import Memory

Mode = Literal["local", "team", "hybrid"]
RUNTIME: Final = ("hook", "plugin", "both")
USER: Final = "maya"
OUTAGES: Final = 0.004
"""How many of the callbacks meet a store that is down."""
_TOLD: Final = re.compile(r"^Braid: (\d+) failures? since", re.MULTILINE)
Ask = Callable[[dict[str, Any], bytes], dict[str, Any]]


class Report(NamedTuple):
    """What became of the sessions.

    `failed`: callbacks that met a store that was down. `noted`: how often the store was asked in vain. A start asks for
    each session that left something unread, so one callback can note several. `told`: how many failures the person was
    told of, or finds with `braid hook status` at the end.
    """

    callbacks: int
    failed: int
    noted: int
    told: int
    tools: int
    tools_failed: int
    turns: int
    recorded: int
    duplicates: int


def line(session: str, number: int, role: str, text: str) -> str:
    """Return a line of a transcript, as Claude Code writes it."""
    return json.dumps(
        {
            "type": role,
            "uuid": f"{session}-{number}",
            "parentUuid": f"{session}-{number - 1}" if number else None,
            "sessionId": session,
            "cwd": "/home/maya/parser",
            "version": "2.1.260",
            "timestamp": f"2026-11-20T10:{number // 60:02}:{number % 60:02}.000Z",
            "message": {"role": role, "content": text},
        }
    )


@contextmanager
def doors(store: Store, mode: Mode, port: int | None) -> Generator[list[Ask]]:
    """Yield how the store is asked: local in this process, team by token at a port, hybrid by socket and by token."""
    caller = Caller(name="mcp", kind="agent", allowed=narrowed("agent", None), user_id=USER)
    token = store.issue_token("harness", kind="agent", user_id=USER).secret if mode != "local" else ""

    def here(header: dict[str, Any], lines: bytes) -> dict[str, Any]:
        with asked_by(caller):
            return ask_door(store.session, header, lines)

    def socket(header: dict[str, Any], lines: bytes) -> dict[str, Any]:
        return ask_socket(str(store.path), header, lines, 30.0)

    def network(header: dict[str, Any], lines: bytes) -> dict[str, Any]:
        return ask_url(f"http://127.0.0.1:{port}", token, header, lines, 30.0)

    ways: dict[Mode, list[Ask]] = {"local": [here], "team": [network], "hybrid": [socket, network]}
    yield ways[mode]


class Run:
    """Sessions one after another, over one store."""

    def __init__(self, store: Store, folder: Path, asks: list[Ask], path: str, seed: int) -> None:
        self._random = random.Random(f"{path} {seed}")
        self._folder = folder
        self._asks = asks
        self._state = StateFolder(str(store.path), str(folder / f"state-{path}"))
        names = ("hook", "plugin") if path == "both" else (path,)
        self._lifecycles = [Lifecycle(self._state, name, self._ask, {"user_id": USER}) for name in names]
        caller = Caller(name="mcp", kind="person", allowed=narrowed("person", None), user_id=USER)
        self._memory = Memory(store.session, caller)
        self._down = False
        self.callbacks = self.failed = self.noted = self.told = self.tools = self.tools_failed = 0
        self.turns: list[str] = []

    def _ask(self, header: dict[str, Any], lines: bytes) -> dict[str, Any]:
        if self._down:
            self.noted += 1
            raise DoorError("the server was lost")
        return self._random.choice(self._asks)(header, lines)

    def session(self, name: str) -> None:
        """Hold one session: a start, some prompts with their turns and tools, perhaps a compaction, and an end."""
        file = self._folder / f"{name}.jsonl"
        self._call(name, file, "session_start", source="startup")
        count = 0
        for exchange in range(self._random.randint(1, 3)):
            prompt = f"{name} {exchange}: where is the parser of {name}?"
            self._call(name, file, "user_prompt_submit", prompt=prompt)
            with file.open("a") as out:
                for role, text in (("user", prompt), ("assistant", f"It is in parser {name} {exchange}.")):
                    out.write(line(name, count, role, text) + "\n")
                    self.turns.append(f"{name}-{count}")
                    count += 1
            if self._random.random() < 0.2:
                self._call(name, file, "pre_compaction")
                self._call(name, file, "session_start", source="compact")
            self._call(name, file, "turn_end")
        self._tools(name)
        self._call(name, file, "session_end")

    def _call(self, session: str, file: Path, event: str, **said: str) -> None:
        for lifecycle in self._lifecycles:
            self._down = self._random.random() < OUTAGES
            before = self.noted
            given = {"session_id": session, "transcript_path": str(file), **said}
            callback = Callback(event, given)
            told = harness_json(callback, lifecycle.answer(callback))
            self.callbacks += 1
            self.told += sum(map(int, _TOLD.findall(told.get("systemMessage", ""))))
            self.failed += self.noted > before
            self._down = False

    def _tools(self, name: str) -> None:
        stored = self._tool("memory_store", text=f"{name} has a parser.")
        if stored is not None:
            new = self._tool(
                "memory_modify", id=stored["memory_id"], text=f"{name} has two parsers.", reason="seen"
            )
            if new is not None:
                self._tool("memory_forget", ids=[new["id"]], confirm=True)
                self._tool("memory_history", id=stored["memory_id"])

    def _tool(self, tool: str, **arguments: Any) -> Any:
        self.tools += 1
        answer = self._memory.call(tool, arguments)
        self.tools_failed += bool(answer.is_error)
        return None if answer.is_error else answer.structured_content

    def end(self, store: Store) -> Report:
        """Start once more, so that what is left is taken in and told, and count."""
        self._call("the-end", self._folder / "the-end.jsonl", "session_start", source="startup")
        self.told += sum(one["times"] for one in Troubles(self._state).take())
        ids = [
            str(record.members["external_id"])
            for record in store.read()
            if record.kind == "experience" and "external_id" in record.members
        ]
        mine = [id for id in ids if id in set(self.turns)]
        return Report(
            self.callbacks, self.failed, self.noted, self.told, self.tools, self.tools_failed,
            len(self.turns), len(set(mine)), len(mine) - len(set(mine)),
        )  # fmt: skip
