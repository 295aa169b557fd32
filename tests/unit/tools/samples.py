"""An export of each format, made by hand in its real shape, and ways to read it."""

import io
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from braid.tools.importers.detect import by_name, open_path
from braid.tools.importers.message import BadLine, Message
from braid.tools.importers.source import ImportSource, of_stream

EXPORTS: Final = Path(__file__).parent / "exports"
NOW: Final = datetime(2025, 6, 1, 12, 0, tzinfo=UTC)
COLUMNS: Final = {"role": "speaker", "content": "body", "timestamp": "when"}

FILES: Final = {
    "chatgpt": "chatgpt.json",
    "claude": "claude.json",
    "claude-code": "claude-code/session.jsonl",
    "openai": "openai.jsonl",
    "locomo": "locomo.json",
    "realtalk": "realtalk.json",
    "discord": "discord.json",
    "jsonl": "chat.jsonl",
    "mbox": "mail.mbox",
    "markdown": "notes/porto.md",
    "csv": "chat.csv",
    "text": "prose.txt",
}
"""The formats that are one file which is read from front to back."""
TREES: Final = {"slack": "slack", "markdown": "notes", "claude-code": "claude-code"}
"""The formats that are a folder."""

Found = list[Message | BadLine]


def columns_of(name: str) -> Mapping[str, str]:
    """What a person would say of the columns."""
    return COLUMNS if name in ("csv", "parquet") else {}


def read_path(name: str, path: Path) -> Found:
    """All that the named importer finds at a path."""
    with open_path(path, columns=columns_of(name)) as source:
        source.opened_at = NOW
        return list(by_name(name).read(source))


def read_bytes(name: str, data: bytes) -> Found:
    """All that the named importer finds in a stream."""
    return list(by_name(name).read(piped(name, data)))


def piped(name: str, data: bytes) -> ImportSource:
    """A stream as a source."""
    return of_stream(io.BytesIO(data), "test:x", columns=columns_of(name), opened_at=NOW)


def messages(found: Found) -> list[Message]:
    """The messages; fails the test that asks when a line was bad."""
    assert [each for each in found if isinstance(each, BadLine)] == []
    return [each for each in found if isinstance(each, Message)]


def reasons(found: Found) -> list[str]:
    """Why lines were left out."""
    return [each.reason for each in found if isinstance(each, BadLine)]


def write_parquet(path: Path) -> Path:
    """The rows of chat.csv as Parquet, with types of their own."""
    import pyarrow
    from pyarrow import parquet

    when = pyarrow.array([NOW, None], pyarrow.timestamp("ns", "Europe/Lisbon"))
    table = pyarrow.table(
        {
            "when": when,
            "speaker": ["user", "assistant"],
            "body": ["I live in Porto, now.", "Noted:\nPorto."],
            "mood": [{"calm": 0.5, "raw": b"\x00"}, None],
            "score": [float("nan"), 2.5],
        }
    )
    parquet.write_table(table, path)
    return path


def zip_of(path: Path, members: Mapping[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> Path:
    """A zip with these members."""
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def zip_of_folder(path: Path, folder: Path) -> Path:
    """A zip of a folder."""
    files = [each for each in sorted(folder.rglob("*")) if each.is_file()]
    return zip_of(path, {each.relative_to(folder).as_posix(): each.read_bytes() for each in files})
