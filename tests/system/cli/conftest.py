"""Sessions of the command line, as a person has them: commands, a folder of their own, what they print."""

import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests import command
from tests.warm import Zygote

ROOT = Path(__file__).parents[3]
ENTRY = "from braid.tools.cli.main import run; run()"
ANY_ID = r"(?:exp|view|stance|aff|emb|tomb|key|evt|gen)_\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ_[0-9a-v]{12}"


class Done(NamedTuple):
    """How a command ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def id(self) -> str:
        """The first record id on stdout."""
        found = re.search(ANY_ID, self.out)
        assert found, self
        return found[0]


class Session:
    """A folder with a store in it, and the commands that are given there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = {name: value for name, value in os.environ.items() if not name.startswith("BRAID_")}
        self.env |= {
            "BRAID_GUARD_DIR": str(folder / "guard"),
            "XDG_STATE_HOME": str(folder / "state"),
            "NO_COLOR": "1",
        }

    @property
    def store(self) -> Path:
        """The store that commands meet when nothing else is said."""
        return self.folder / "memory"

    def braid(self, *words: str | Path, stdin: str | bytes = b"", fault: str = "", **env: str) -> Done:
        """Run a command; `fault` names a failpoint at which the disk is full."""
        given = stdin.encode() if isinstance(stdin, str) else stdin
        shown = self._run([str(word) for word in words], self.env | env, given, fault)
        assert "Traceback" not in shown.err, shown.err
        return shown

    def _run(self, words: list[str], env: dict[str, str], stdin: bytes, fault: str) -> Done:
        code, out, err = command.run(words, cwd=self.folder, env=env, stdin=stdin, fault=fault)
        return Done(code, out.decode(), err.decode())

    def well(self, *words: str | Path, stdin: str | bytes = b"", **env: str) -> Done:
        """Run a command that must succeed."""
        done = self.braid(*words, stdin=stdin, **env)
        assert done.code == 0, done
        return done

    def refused(self, *words: str | Path, code: int = 2, stdin: str | bytes = b"", **env: str) -> str:
        """Run a command that must be refused, in one `braid:` line (and a hint), and return what it said."""
        done = self.braid(*words, stdin=stdin, **env)
        assert done.code == code, done
        assert done.err.startswith("braid: "), done
        return done.err

    def write(self, name: str, text: str | bytes) -> Path:
        """Write a file in the session's folder."""
        path = self.folder / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def is_clean(self) -> bool:
        """Whether the whole store verifies."""
        return self.braid("verify").code == 0


@pytest.fixture
def empty(tmp_path: Path) -> Session:
    """A session without a store."""
    return Session(tmp_path)


@pytest.fixture
def session(empty: Session) -> Session:
    """A session with a new store."""
    empty.well("init")
    return empty


@pytest.fixture(scope="session")
def path_with_braid(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A PATH on which `braid` and `python` are those under test, started cold."""
    folder = tmp_path_factory.mktemp("bin")
    for name, started in (("braid", f"-c '{ENTRY}' \"$@\""), ("python", '"$@"')):
        script = folder / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {started}\n', encoding="utf-8")
        script.chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


@pytest.fixture(scope="session")
def quick_path(zygote: Zygote) -> str:
    """The same PATH, but `braid` and `python -c` are forked, not started."""
    return f"{zygote.bin}:{os.environ['PATH']}"


class Block(NamedTuple):
    """A fenced block of a page: its language, its text, and the line it begins at."""

    language: str
    text: str
    line: int


def blocks_of(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    for match in re.finditer(r"^```([a-z]*)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL):
        yield Block(match[1], match[2], text.count("\n", 0, match.start()) + 1)


@pytest.fixture
def read_blocks() -> Callable[[Path], list[Block]]:
    """A function that returns a page's blocks."""
    return lambda page: list(blocks_of(page))
