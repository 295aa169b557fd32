"""Writing a client's configuration: one entry is added to its file, everything else stays."""

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, Final, cast

FILES: Final[Mapping[str, Path]] = {"claude-code": Path(".mcp.json"), "cursor": Path(".cursor/mcp.json")}
"""Client → its file, in the project's folder."""
NAME: Final = "braid"
_SERVERS: Final = "mcpServers"


def entry(command: str, arguments: Sequence[str]) -> dict[str, Any]:
    """Return how a client starts the server."""
    return {"type": "stdio", "command": command, "args": list(arguments)}


def merged(path: Path, added: Mapping[str, Any]) -> str:
    """Return a file's new text, with the entry among its servers. Raises ValueError for a file that is no such JSON."""
    try:
        found: Any = json.loads(path.read_text("utf-8") or "{}")
    except FileNotFoundError:
        found = {}
    except ValueError as error:
        raise ValueError(f"{path} is not JSON ({error}): it was left as it is") from None
    whole: dict[str, Any] = cast("dict[str, Any]", found) if isinstance(found, dict) else {_SERVERS: None}
    servers: Any = whole.get(_SERVERS, {})
    if not isinstance(servers, dict):
        raise ValueError(f"{path} has no object {_SERVERS!r}: it was left as it is")
    whole[_SERVERS] = {**cast("dict[str, Any]", servers), NAME: dict(added)}
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def write(path: Path, text: str) -> Path | None:
    """Replace a file at once, and return the copy of what was there; None where nothing was there, or the same."""
    path = path.resolve()  # a link to the file stays a link
    backup = None
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        if path.read_text("utf-8") == text:
            return None
        names = (path.with_name(f"{path.name}.bak{number or ''}") for number in count())
        backup = next(name for name in names if not name.exists())
        shutil.copy2(path, backup)
    new = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        new.unlink(missing_ok=True)
        with new.open("x", encoding="utf-8") as file:  # others may have made the folder: no link is followed
            file.write(text)
        if backup is not None:
            shutil.copymode(path, new)
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)
    return backup
