"""`braid recall` where a server runs: asked through its socket before the tree of commands is built.

Building that tree, and importing what opens a store, takes longer than the answer. Whatever is not plain here (another
option, a refusal, no server) is left to the command itself, which says it as always.
"""

import json
import os
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from socket import AF_UNIX, SOCK_STREAM, socket
from typing import Any, Final

from braid.bearer import bearer

_TIMEOUT_S: Final = 60.0
_OPTIONS: Final = {
    "--store": "store",
    "--user-id": "user_id",
    "--agent-id": "agent_id",
    "--run-id": "run_id",
    "--project-id": "project_id",
    "--session": "session_id",
    "--top-k": "top_k",
    "-k": "top_k",
    "--output": "output",
    "-o": "output",
}
_OWN_SETTINGS: Final = ("BRAID_MODEL",)
"""What a server knows nothing of: the command opens the store itself then."""


def asked(words: list[str]) -> dict[str, str] | None:
    """Return the question and the options of a plain `braid recall`; None for all else."""
    found: dict[str, str] = {}
    words = list(words)
    is_recall = False
    while words:
        word = words.pop(0)
        name = _OPTIONS.get(word)
        if name is not None and (is_recall or name == "store"):
            if name in found or not words or words[0][:1] == "-":
                return None
            found[name] = words.pop(0)
        elif word == "recall" and not is_recall:
            is_recall = True
        elif is_recall and word[:1] != "-" and "question" not in found:
            found["question"] = word
        else:
            return None
    return found if is_recall and _is_plain(found) else None


def _is_plain(found: dict[str, str]) -> bool:
    top_k = found.get("top_k", "10")
    return (
        bool(found.get("question", "").strip())
        and found.get("output", "table") in ("table", "json")
        and top_k.isascii() and top_k.isdigit() and 1 <= int(top_k) <= 1000
        and all(found.values())
    )  # fmt: skip


def answered(words: list[str]) -> bool:
    """Answer a plain `braid recall` through the server of its store; False where the command must."""
    found = asked(words)
    if found is None or any(os.environ.get(name) for name in _OWN_SETTINGS):
        return False
    path = Path(found.pop("store", "") or os.environ.get("BRAID_STORE") or "memory") / "serve.sock"
    if not path.exists():
        return False
    is_json = found.pop("output", "table") == "json"
    request: dict[str, Any] = {"query": found.pop("question"), "top_k": int(found.pop("top_k", "10"))}
    try:
        from braid.tools.cli.recalled import SHOWN_CHARS

        shown = {"explain": True} if is_json else {"text_chars": SHOWN_CHARS}
        raw = _answer(path, request | found | shown)
        answer = None if raw is None else json.loads(raw)
    except (OSError, HTTPException, ValueError):
        return False  # the command says what is wrong
    if answer is None:
        return False
    from braid.tools.cli.output import put_json
    from braid.tools.cli.recalled import put_hits, say_completeness

    say_completeness(answer)
    if is_json:
        put_json(answer)
    else:
        put_hits(answer["results"])
    return True


def _answer(path: Path, request: dict[str, Any]) -> bytes | None:
    """Return the JSON that the server behind a socket answers; None where it refuses."""
    connection = HTTPConnection("localhost", timeout=_TIMEOUT_S)
    connection.sock = socket(AF_UNIX, SOCK_STREAM)
    try:
        connection.sock.settimeout(_TIMEOUT_S)
        connection.sock.connect(str(path))
        headers = {"Content-Type": "application/json"}
        if token := os.environ.get("BRAID_TOKEN"):
            headers["Authorization"] = bearer(token)
        connection.request("POST", "/v1/recall", json.dumps(request), headers)
        answer = connection.getresponse()
        return answer.read() if answer.status == 200 else None
    finally:
        connection.close()
