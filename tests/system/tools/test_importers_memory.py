"""Large sources in little memory: `braid ingest` in a process of its own, whose peak is measured.

Every run takes 16 MiB a format, which would show a source that is held whole; `make soak` takes 150 MiB too.
"""

import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from /proc")

ENTRY = """
import atexit, sys
atexit.register(lambda: sys.stderr.write(open("/proc/self/status").read()))
from braid.tools.cli.main import run
run()
"""
WORDS = (
    "tea",
    "porto",
    "kettle",
    "ledger",
    "whistle",
    "tram",
    "loaf",
    "starter",
    "plan",
    "braid",
    "garden",
    "letter",
    "night",
    "train",
)
MEBI = 2**20
ROLES = ("user", *["assistant"] * 7)
"""Who says what: claims are read out of what users say, which costs far more than taking it in."""
LIMIT_MIB = 300
"""What a source of any size may take."""


def words(chance: random.Random, count: int) -> str:
    return " ".join(chance.choices(WORDS, k=count))


def chatgpt(size: int, chance: random.Random) -> Iterator[str]:
    yield "["
    done = number = 0
    while done < size:
        mapping: dict[str, object] = {}
        above = None
        for turn in range(200):
            id = f"{number}-{turn}"
            said = {
                "author": {"role": ROLES[turn % 8]},
                "content": {"content_type": "text", "parts": [words(chance, 400)]},
            }
            mapping[id] = {"id": id, "parent": above, "message": said}
            above = id
        piece = json.dumps({"conversation_id": str(number), "mapping": mapping, "current_node": above})
        done += len(piece)
        yield ("," if number else "") + piece
        number += 1
    yield "]"


def discord(size: int, chance: random.Random) -> Iterator[str]:
    yield '{"guild":{"id":"1","name":"g"},"channel":{"id":"2","name":"c"},"messages":['
    for number in range(size // 20_000):
        said = {
            "id": str(number),
            "type": "Default",
            "content": words(chance, 3_400),
            "author": {"name": "emi"},
        }
        yield ("," if number else "") + json.dumps(said)
    yield "]}"


def jsonl(size: int, chance: random.Random) -> Iterator[str]:
    for number in range(size // 20_000):
        yield json.dumps({"role": ROLES[number % 8], "content": words(chance, 3_400)}) + "\n"


def csv(size: int, chance: random.Random) -> Iterator[str]:
    yield "role,text\n"
    for _ in range(size // 20_000):
        yield f'user,"{words(chance, 3_400)}"\n'


def mbox(size: int, chance: random.Random) -> Iterator[str]:
    for number in range(size // 20_000):
        yield f"From x Sat May 17 09:30:00 2025\nMessage-ID: <{number}@x>\n\n{words(chance, 3_400)}\n\n"


MAKERS: dict[str, Callable[[int, random.Random], Iterator[str]]] = {
    "chatgpt": chatgpt, "discord": discord, "jsonl": jsonl, "csv": csv, "mbox": mbox,
}  # fmt: skip


def peak_of(folder: Path, *command: str, code: int = 0) -> float:
    """The most memory that a command held, in MiB. (`ru_maxrss` would begin with what this process holds.)"""
    env = os.environ | {"BRAID_GUARD_DIR": str(folder / "guard"), "XDG_STATE_HOME": str(folder / "state")}
    done = subprocess.run(
        [sys.executable, "-c", ENTRY, *command],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    (peak,) = re.findall(r"^VmHWM:\s*(\d+) kB$", done.stderr, flags=re.MULTILINE)
    return int(peak) / 1024


def ingested(folder: Path, name: str, size: int, *more: str) -> float:
    with (folder / "source").open("w") as stream:
        stream.writelines(MAKERS[name](size, random.Random(name)))
    assert (folder / "source").stat().st_size >= size * 0.9
    peak_of(folder, "init", "--durability", "none")
    return peak_of(folder, "ingest", "source", *more)


@pytest.mark.soak
@pytest.mark.parametrize("name", ["chatgpt", "jsonl", "mbox"])
def test_a_source_is_not_held_whole(tmp_path: Path, name: str) -> None:
    assert ingested(tmp_path, name, 16 * MEBI, "--no-learn") < 130


@pytest.mark.soak
def test_learning_adds_its_parser_and_no_source(tmp_path: Path) -> None:
    """The parser and its weights take some 65 MiB, whatever is read with them."""
    assert ingested(tmp_path, "jsonl", 16 * MEBI) < 215


@pytest.mark.soak
@pytest.mark.parametrize("name", MAKERS, ids=str)
def test_a_large_source_stays_below_the_limit(tmp_path: Path, name: str) -> None:
    assert ingested(tmp_path, name, 150 * MEBI) < LIMIT_MIB


@pytest.mark.soak
def test_a_gigabyte_in_one_line_is_skipped(tmp_path: Path) -> None:
    """A sparse file: it has the length, and no blocks."""
    head = b'{"role":"user","content":"hi"}\n'
    with (tmp_path / "source").open("wb") as stream:
        stream.write(head)
        stream.truncate(2**30)
        stream.seek(0, os.SEEK_END)
        stream.write(b"\n" + head)
    peak_of(tmp_path, "init")
    assert peak_of(tmp_path, "ingest", "source", code=1) < LIMIT_MIB
