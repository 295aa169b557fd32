"""A harness's settings: Braid's hooks go in and come out, and nothing else is touched."""

import json
from pathlib import Path
from typing import Any

import pytest

from braid.tools.hooks.install import installed, merged, removed

COMMAND = ["/usr/bin/braid", "--store", "/home/maya/my memory"]
OTHERS: dict[str, Any] = {
    "model": "opus",
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}],
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "check hook"}]}],
    },
}


@pytest.mark.parametrize("path", ["hook", "plugin", "both"])
def test_what_goes_in_comes_out(tmp_path: Path, path: Any) -> None:
    file = tmp_path / "settings.json"
    file.write_text(json.dumps(OTHERS))
    once = merged(file, COMMAND, path, ["--user-id", "maya"])
    file.write_text(once)
    assert merged(file, COMMAND, path, ["--user-id", "maya"]) == once  # again: the same
    found = json.loads(once)
    assert found["hooks"]["PreToolUse"] == OTHERS["hooks"]["PreToolUse"]
    assert found["hooks"]["Stop"][0] == OTHERS["hooks"]["Stop"][0]
    kinds = {one["type"] for one in found["hooks"]["SessionEnd"][0]["hooks"]}
    assert kinds == {"hook": {"command"}, "plugin": {"mcp_tool"}, "both": {"command", "mcp_tool"}}[path]
    assert installed(file) == ["Stop", "SessionStart", "UserPromptSubmit", "PreCompact", "SessionEnd"]
    assert json.loads(removed(file)) == OTHERS


def test_a_path_with_a_blank_stays_one_word(tmp_path: Path) -> None:
    found = json.loads(merged(tmp_path / "none.json", COMMAND, "hook", []))
    (handler,) = found["hooks"]["UserPromptSubmit"][0]["hooks"]
    assert handler["command"] == "/usr/bin/braid --store '/home/maya/my memory' hook user-prompt-submit"
    assert handler["timeout"] == 10  # seconds


@pytest.mark.parametrize(
    "before", ["{ no", "[]", '{"hooks": []}', '{"hooks": {"Stop": [{"hooks": 1}]}}', '{"hooks": {"Stop": 1}}']
)
def test_a_file_that_is_not_understood_is_left(tmp_path: Path, before: str) -> None:
    file = tmp_path / "settings.json"
    file.write_text(before)
    with pytest.raises(ValueError, match="left as it is"):
        merged(file, COMMAND, "hook", [])
    assert file.read_text() == before
