"""The plugin path: a tool that the harness itself calls at its callbacks, in the server that it has running anyway.

What it does is what `braid hook` does (tools/hooks/lifecycle.py), without the start of a process.
"""

import json
import os
from pathlib import Path
from typing import Any, Final, cast

import msgspec
from mcp import types

from braid.caller import Caller, asked_by
from braid.door import Door
from braid.errors import InvalidRequestError
from braid.tools.hooks.arbitration import PLUGIN
from braid.tools.hooks.events import EVENTS, Callback
from braid.tools.hooks.lifecycle import Lifecycle, harness_json
from braid.tools.hooks.service import ask_door
from braid.tools.hooks.state import StateFolder

NAME: Final = "memory_hook"
_TEXTS: Final = ("session_id", "transcript_path", "prompt", "source", "hook_event_name", "prompt_id")


class HookTool:
    """The harness's callbacks, answered in this process. Safe to share between threads."""

    def __init__(self, door: Door, caller: Caller | None, folder: StateFolder) -> None:
        self._door = door
        self._caller = None if caller is None else msgspec.structs.replace(caller, records=True)
        ids = caller.scope if caller is not None else {}  # else a server knows them by the token
        self._lifecycle = Lifecycle(folder, PLUGIN, self._ask, ids)

    def call(self, arguments: dict[str, Any]) -> types.CallToolResult:
        """Answer a callback: the text is what a hook prints. Raises InvalidRequestError for what is no callback."""
        event = arguments.get("event")
        said = {name: arguments[name] for name in _TEXTS if arguments.get(name)}
        if event not in EVENTS or any(not isinstance(value, str) for value in said.values()):
            raise InvalidRequestError(f"{NAME}: event is one of {', '.join(EVENTS)}; the rest is text")
        _require_transcript(str(said.get("transcript_path", "")))
        try:
            callback = Callback(str(event), said)
        except ValueError as error:
            raise InvalidRequestError(f"{NAME}: {error}") from None
        told = harness_json(callback, self._lifecycle.answer(callback))
        return types.CallToolResult(content=[types.TextContent(type="text", text=json.dumps(told))])

    def _ask(self, header: dict[str, Any], lines: bytes) -> dict[str, Any]:
        with asked_by(self._caller):
            return ask_door(self._door, header, lines)


def tool() -> types.Tool:
    """Return the tool as it is listed."""
    properties: dict[str, Any] = {name: {"type": "string"} for name in _TEXTS}
    schema = {
        "type": "object",
        "properties": {"event": {"type": "string", "enum": list(EVENTS)}, **properties},
        "required": ["event", "session_id"],
        "additionalProperties": False,
    }
    return types.Tool(
        name=NAME,
        description="For the harness's hooks alone: it records the conversation. Never call it yourself.",
        input_schema=cast("dict[str, Any]", schema),
        annotations=types.ToolAnnotations(
            read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
    )


def _require_transcript(path: str) -> None:
    """Refuse a transcript that isn't one of the harness's own: else a model could bring words as a person's."""
    home = Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude").resolve()
    if path and (not path.endswith(".jsonl") or not Path(path).resolve().is_relative_to(home)):
        raise InvalidRequestError(f"{NAME}: {path} is no transcript in {home}")
