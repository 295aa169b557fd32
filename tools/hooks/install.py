"""Writing a harness's settings: Braid's hooks are put among those that are there, and taken out again."""

import json
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, cast

from braid.tools.hooks.arbitration import PLUGIN
from braid.tools.hooks.events import CLAUDE_CODE, PROMPT, SESSION_START
from braid.tools.hooks.state import as_list, as_object
from braid.tools.mcp.install import NAME

InstalledPath = Literal["hook", "plugin", "both"]
TIMEOUT_S: Final = 10
"""What the harness waits at most; a hook ends itself before. Without this, Claude Code ends SessionEnd after 1.5 s."""
TOOL: Final = "memory_hook"
SETTINGS: Final[Mapping[str, Path]] = {
    "project": Path(".claude/settings.json"),
    "local": Path(".claude/settings.local.json"),
    "user": Path.home() / ".claude" / "settings.json",
}
_EVENTS: Final = ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd")
_HOOKS: Final = "hooks"


def handlers(
    event: str, command: Sequence[str], path: InstalledPath, ids: Sequence[str]
) -> list[dict[str, Any]]:
    """Return what the harness does at one of its events: starts a command, calls a tool, or both."""
    name = CLAUDE_CODE[event]
    found: list[dict[str, Any]] = []
    if path != PLUGIN:
        words = [*command, "hook", name.replace("_", "-"), *ids]
        found.append({"type": "command", "command": shlex.join(words), "timeout": TIMEOUT_S})
    if path != "hook":
        given = ["session_id", "transcript_path", "hook_event_name"]
        given += ["prompt"] if name == PROMPT else ["source"] if name == SESSION_START else []
        asked = {"event": name, **{one: f"${{{one}}}" for one in given}}
        found.append({"type": "mcp_tool", "server": NAME, "tool": TOOL, "input": asked, "timeout": TIMEOUT_S})
    return found


def merged(path: Path, command: Sequence[str], chosen: InstalledPath, ids: Sequence[str]) -> str:
    """Return a settings file's new text, with Braid's hooks in the place of those that it had.

    Raises ValueError for a file that is no such JSON.
    """
    whole = _without(path)
    hooks: dict[str, Any] = whole.setdefault(_HOOKS, {})
    for event in _EVENTS:
        ours = {"hooks": handlers(event, command, chosen, ids)}
        hooks[event] = [*cast("list[Any]", hooks.get(event, [])), ours]
    return _text(whole)


def removed(path: Path) -> str:
    """Return a settings file's new text without Braid's hooks. Raises ValueError for a file that is no such JSON."""
    whole = _without(path)
    if whole.get(_HOOKS) == {}:
        del whole[_HOOKS]
    return _text(whole)


def installed(path: Path) -> list[str]:
    """Return the harness's events at which a settings file names a hook of Braid. ValueError as `merged`."""
    hooks = _read(path).get(_HOOKS, {})
    return [event for event, groups in hooks.items() if any(_is_ours(one) for one in _handlers(groups))]


def command_of(
    store: Path, passphrase_file: Path | None, guard_dir: Path | None, model: str | None
) -> list[str]:
    """Return how `braid` is started with the same store: the program and its options, with whole paths."""
    beside = Path(sys.executable).with_name("braid")
    words = [str(beside) if beside.exists() else shutil.which("braid") or "braid"]
    paths = {"--store": store, "--passphrase-file": passphrase_file, "--guard-dir": guard_dir}
    words += [word for name, path in paths.items() if path for word in (name, str(path.absolute()))]
    return [*words, "--model", model] if model else words


def _without(path: Path) -> dict[str, Any]:
    """Return a file's settings without Braid's hooks; groups and events that had no other go with them."""
    whole = _read(path)
    hooks: dict[str, Any] = whole.get(_HOOKS, {})
    for event in list(hooks):
        groups: list[Any] = []
        for group in cast("list[Any]", hooks[event]):
            before = cast("list[Any]", group["hooks"])
            kept = [one for one in before if not _is_ours(one)]
            if kept or not before:
                groups.append({**group, "hooks": kept})
        if groups or not hooks[event]:
            hooks[event] = groups
        else:
            del hooks[event]
    return whole


def _read(path: Path) -> dict[str, Any]:
    try:
        found: Any = json.loads(path.read_text("utf-8") or "{}")
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise ValueError(f"{path} is not JSON ({error}): it was left as it is") from None
    whole = as_object(found)
    if whole is None:
        whole = {_HOOKS: None}
    hooks = as_object(whole[_HOOKS]) if _HOOKS in whole else dict[str, Any]()
    if hooks is None or not all(_are_groups(one) for one in hooks.values()):
        raise ValueError(f"{path} has no hooks as Claude Code writes them: it was left as it is")
    return whole


def _are_groups(groups: Any) -> bool:
    found = as_list(groups)
    return found is not None and all(
        as_list((as_object(one) or {}).get("hooks")) is not None for one in found
    )


def _handlers(groups: Any) -> Iterator[Any]:
    for group in groups:
        yield from group["hooks"]


def _is_ours(handler: Any) -> bool:
    found = as_object(handler) or {}
    if found.get("type") == "mcp_tool":
        return (found.get("server"), found.get("tool")) == (NAME, TOOL)
    try:
        words = shlex.split(str(found.get("command", "")))
    except ValueError:
        return False
    return bool(words) and Path(words[0]).name == NAME and "hook" in words[1:]


def _text(whole: dict[str, Any]) -> str:
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"
