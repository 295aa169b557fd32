"""Starting: quick, without what a command doesn't need; every command has help with examples and is documented."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer
import typer.main

import braid
from braid.tools.cli.main import PLACES, app

ROOT = Path(__file__).parents[3]
ENTRY = "from braid.tools.cli.entry import run; run()"
HEAVY = (
    "duckdb",
    "pyarrow",
    "numpy",
    "nacl",
    "blake3",
    "lancedb",
    "rustworkx",
    "spacy",
    "rich.console",
    "braid.store",
    "braid.ledger.read.reader",
)

PROJECTIONS = {"duckdb", "pyarrow", "pandas", "braid.views.store"}
MODEL = {"tokenizers", "model2vec", "huggingface_hub", "safetensors", "braid.models.static"}
PARSER = {"spacy", "thinc", "braid.models.spacy_parser"}
LANCEDB = {"lancedb", "lancedb._lancedb", "lance_namespace", "lance_namespace_urllib3_client"}


def commands() -> list[tuple[str, ...]]:
    """Every command as the words that call it."""
    found: list[tuple[str, ...]] = []

    def walk(command: Any, words: tuple[str, ...]) -> None:
        below = getattr(command, "commands", None)
        if below is None or (words and any(option.name != "help" for option in command.params)):
            found.append(words)  # a group with options of its own does something: `braid snapshot --keep 3`
        for name, child in (below or {}).items():
            walk(child, (*words, name))

    walk(typer.main.get_command(app), ())
    return found


def start(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", ENTRY, *words], capture_output=True, text=True, check=True)


def imported_by(*words: str) -> set[str]:
    tell = f"import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); {ENTRY}"
    done = subprocess.run([sys.executable, "-c", tell, *words], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


@pytest.mark.sample(3)
@pytest.mark.parametrize("words", [("--version",), ("--help",), (), ("ingest", "--help"), ("sql", "--help")])
def test_nothing_heavy_is_imported_to_say_hello(words: tuple[str, ...]) -> None:
    imported = imported_by(*words)
    assert ("typer" in imported) == (words != ("--version",))
    assert [name for name in HEAVY if name in imported] == []


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A store whose projections stand: its path, and the id of a turn."""
    folder = tmp_path_factory.mktemp("stored")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BRAID_GUARD_DIR", str(folder / "guard"))
        with braid.open(folder / "memory") as store:
            id = store.append("Maya moved to Porto.", user_id="maya")
            store.append("Maya has a cat.", user_id="maya")
            store.recall("Where does Maya live?")
            store.ask("Where does Maya live?", write=False)
        yield str(folder / "memory"), id


@pytest.mark.sample(4)
@pytest.mark.parametrize("words", [("status",), ("log",), ("prove", "ID"), ("show", "ID")])
def test_what_reads_the_log_alone_loads_no_projection(
    stored: tuple[str, str], words: tuple[str, ...]
) -> None:
    path, id = stored
    imported = imported_by("--store", path, *(id if word == "ID" else word for word in words))
    unneeded = PROJECTIONS | MODEL | PARSER | LANCEDB | {"numpy", "asyncio", "rich.console", "pydantic"}
    assert (unneeded | {"braid.text.secrets", "braid.stance.claims"}) & imported == set()
    assert "braid.ledger.read.reader" in imported


def test_turns_that_enter_a_projection_load_no_pandas(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRAID_GUARD_DIR", str(tmp_path / "guard"))
    with braid.open(tmp_path / "memory") as store:
        store.append("Maya moved to Porto.", user_id="maya")
    imported = imported_by("--store", str(tmp_path / "memory"), "recall", "Where does Maya live?")
    assert "pyarrow" in imported
    assert {"pandas", "pyarrow.compute"} & imported == set()


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", ["recall", "context", "ask"])
def test_a_question_loads_no_more_than_it_asks(stored: tuple[str, str], name: str) -> None:
    imported = imported_by(
        "--store", stored[0], name, "Where does Maya live?", *(["--no-write"] if name == "ask" else [])
    )
    assert (LANCEDB - {"lancedb._lancedb"}) & imported == set()
    assert {"model2vec", "huggingface_hub", "safetensors"} & imported == set()
    assert {"spacy", "thinc"} & imported == set()
    assert {"lancedb._lancedb", "pyarrow", "tokenizers"} <= imported
    assert ("duckdb" in imported) == (name == "ask")


def test_the_version_needs_no_more_room_than_any_command() -> None:
    with open("/dev/full", "wb") as full:  # noqa: PTH123 - a device
        done = subprocess.run(
            [sys.executable, "-c", ENTRY, "--version"], check=False, stdout=full, stderr=subprocess.PIPE
        )
    assert (done.returncode, done.stderr.startswith(b"braid: there is no room where the output goes\n")) == (
        2,
        True,
    )


@pytest.mark.parametrize("name", ["", "init", "evaluate", "bench"])
def test_only_the_command_that_is_called_is_imported(name: str) -> None:
    imported = imported_by(name, "--help") if name else imported_by("--version")
    assert imported & set(PLACES.values()) == ({PLACES[name]} if name else set())


def test_every_command_stands_where_its_module_is() -> None:
    """A module that registers a command that isn't in the table could not be called; nor one that is in no module."""
    folder = ROOT / "tools" / "cli"
    modules = [import_module(f"braid.tools.cli.{path.stem}") for path in sorted(folder.glob("[a-z]*.py"))]
    modules.append(import_module("braid.tools.bench.command"))
    registered: dict[str, str] = {}
    for module in modules:
        if hasattr(module, "register"):
            part = typer.Typer()
            module.register(part)
            registered |= dict.fromkeys(typer.main.get_group(part).commands, module.__name__)
    assert registered == PLACES


def test_it_starts_in_a_third_of_a_second() -> None:
    def once() -> float:  # of the processor's time: the wall's is the neighbours' too
        began = os.times()
        subprocess.run([sys.executable, "-c", ENTRY, "--version"], capture_output=True, check=True)
        ended = os.times()
        return sum(ended[2:4]) - sum(began[2:4])

    assert min(once() for _ in range(5)) < 0.6  # 0.1 s on an idle machine; slack for a slow one


@pytest.mark.sample(40)
@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_every_command_shows_examples_of_itself(words: tuple[str, ...]) -> None:
    shown = start(*words, "--help").stdout
    assert "Examples:" in shown
    assert f"braid {' '.join(words)}" in shown.partition("Examples:")[2]


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_every_command_is_documented_with_an_example(words: tuple[str, ...]) -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    name = " ".join(words)
    section = re.search(
        rf"^### braid {re.escape(name)}\n(.*?)(?=^##|\Z)", page, flags=re.MULTILINE | re.DOTALL
    )
    assert section, name
    assert re.search(rf"braid (--store \S+ )?{re.escape(name)}\b", section[1]), name


def test_the_page_names_no_other_command() -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^### braid (.+)$", page, flags=re.MULTILINE)) == {
        " ".join(words) for words in commands()
    }


def test_the_main_help_says_the_exit_codes() -> None:
    shown = start("--help").stdout
    for words in ("0 fine", "1 findings", "2 could not", "130 interrupted"):
        assert words in " ".join(shown.split())


def test_the_version_is_that_of_the_project() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert start("--version").stdout == f"braid {project['version']}\n"


def test_completion_is_offered() -> None:
    # For the shell that it is run from, which need not be the one that runs the tests.
    script = '"$@"; exit $?'
    asked = [sys.executable, "-c", ENTRY, "--show-completion"]
    done = subprocess.run(["bash", "-c", script, "bash", *asked], capture_output=True, text=True, check=True)
    assert "_BRAID_COMPLETE" in done.stdout
