"""Nothing leaves the machine, and no library writes beside the store: not even those that report on their own.

A library that would report some seconds later shows itself at once by the files that it keeps for it.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[3]
USED: Final = """
import braid

with braid.open("memory") as store:
    store.remember([{"role": "user", "content": "I live in Porto, and my cat is called Olive."}], user_id="maya")
    store.learn()
    store.recall("cat", user_id="maya")
    assert "Olive" in store.ask("What is my cat called?", user_id="maya").text
    store.sql("SELECT count(*) FROM experiences")
    assert store.verify(deep=True).exit_code == 0
"""


def noted(tmp_path: Path, program: str) -> tuple[str, list[str]]:
    """Run a program, and return what left the machine and which files it wrote into its home and for a while."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    shim, home, temporary, notes = (tmp_path / name for name in ("noted.so", "home", "tmp", "notes"))
    source = Path(__file__).with_name("noted.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", shim, source, "-ldl"], check=True)
    for folder in (home, temporary):
        folder.mkdir()
    env = {
        **{
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("BRAID_", "ORT_", "XDG_"))
        },
        "HOME": str(home),
        "TMPDIR": str(temporary),
        "LD_PRELOAD": str(shim),
        "NOTED": str(notes),
    }
    subprocess.run([sys.executable, "-c", program], check=True, cwd=tmp_path, env=env, timeout=120)
    left = [
        str(path.relative_to(tmp_path))
        for path in sorted([*home.rglob("*"), *temporary.rglob("*")])
        if path.is_file()
    ]
    return notes.read_text() if notes.exists() else "", left


def test_nothing_leaves_the_machine_and_nothing_is_left_beside_the_store(tmp_path: Path) -> None:
    left, files = noted(tmp_path, USED)
    assert left == ""
    assert [name for name in files if not name.startswith("home/.local/state/braid/")] == []


@pytest.mark.soak
def test_that_it_would_be_noticed(tmp_path: Path) -> None:
    left, files = noted(
        tmp_path, "import socket; open('tmp/x', 'w').close(); socket.getaddrinfo('localhost', 80)"
    )
    assert left == "looked up localhost\n"
    assert files == ["tmp/x"]


def test_onnxruntime_is_loaded_in_one_place() -> None:
    loads = [
        str(path.relative_to(ROOT))
        for room in ("models", "tools", "api", "agent", "text", "learn", "recall", "views")
        for path in (ROOT / room).rglob("*.py")
        if re.search(
            r'import_module\("onnxruntime"\)|^ *(?:import|from) onnxruntime', path.read_text("utf-8"), re.M
        )
    ]
    assert loads == ["models/onnx_runtime.py"]
