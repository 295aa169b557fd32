"""Every block of the README and of the guides runs, and says what the page says it says.

`sh` blocks must succeed; `console` blocks (`$ command`, then what it prints, stderr too) are compared after what
differs from run to run is taken out; a line `…` stands for any lines. Blocks of a page share a folder, top to bottom.
With BRAID_WRITE_DOCS=1 outputs of console blocks that no longer hold are written anew instead.
"""

import os
import re
import subprocess
import tomllib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGES = (
    "README.md",
    "docs/tour.md",
)
"""What a newcomer reads first."""
MORE_PAGES = (
    "docs/guide.md",
    "docs/cli.md",
    "docs/ingest.md",
    "docs/access.md",
    "docs/affect.md",
    "docs/answers.md",
    "docs/audit.md",
    "docs/decisions.md",
    "docs/embeddings.md",
    "docs/gold.md",
    "docs/keys.md",
    "docs/lenses.md",
    "docs/recall.md",
    "docs/programs.md",
    "docs/harness.md",
    "docs/security.md",
    "docs/serve.md",
    "docs/work.md",
    "docs/provenance.md",
    "docs/stance.md",
)
WRITE = os.environ.get("BRAID_WRITE_DOCS") == "1"
HOME = "/home/maya"
_SAME = (
    (re.compile(r"\b([a-z]+)_\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ_[0-9a-v]{12}\b"), r"\1_ID"),
    (re.compile(r"[\w./-]+\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44}"), "VKEY"),
    (re.compile(r"\b[a-z2-7]{16}\b(?=\.guard|\.verified|$)"), "STORE"),
    (re.compile(r"braid\.local/[a-z2-7]{16}"), "ORIGIN"),
    (re.compile(r"\bk_[a-z2-7]{20}\b"), "KEY"),
    (re.compile(r"\bjob_[0-9a-f]{16}\b"), "JOB"),
    (re.compile(r"\brev_[0-9a-f]{12}\b"), "PAIR"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "HASH"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?"), "TIME"),
    (re.compile(r"\b\d{5,}\b"), "NUMBER"),
    (re.compile(r"\b\d+(\.\d)? [KMGT]?B\b"), "SIZE"),
    (re.compile(r"ed25519:[A-Za-z0-9+/=]+"), "SIGNATURE"),
    (re.compile(r"[ \t─-]+"), " "),
)


class Folder:
    """Where the blocks of one page run."""

    def __init__(self, folder: Path, path: str) -> None:
        self.folder = folder
        self.env = {name: value for name, value in os.environ.items() if not name.startswith("BRAID_")}
        self.env |= {
            "PATH": path,
            "NO_COLOR": "1",
            "HOME": str(folder),
            "XDG_STATE_HOME": str(folder / ".local/state"),
        }

    def run(self, *command: str) -> tuple[int, str]:
        done = subprocess.run(
            command, cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout.decode().replace(str(self.folder), HOME)


@pytest.fixture
def folder(tmp_path: Path, quick_path: str) -> Folder:
    here = tmp_path / "home"
    here.mkdir()
    (here / "examples").symlink_to(ROOT / "examples")
    (here / "exports").symlink_to(ROOT / "tests" / "unit" / "tools" / "exports")
    return Folder(here, quick_path)


def same(text: str) -> list[str]:
    """What a person would call the same output, line by line."""
    for pattern, word in _SAME:
        text = pattern.sub(word, text)
    return [stripped for line in text.splitlines() if (stripped := line.strip())]


def alike(shown: str, printed: str) -> bool:
    """Whether one line is the other; where today is printed, the page may show the day on which it was written."""
    today = datetime.now(UTC).date()
    pattern = re.escape(printed)
    for day in (today, today - timedelta(days=1)):  # a page that began before midnight ends after it
        pattern = pattern.replace(re.escape(f"{day:%Y %m %d}"), r"\d{4} \d\d \d\d")  # `same` took its hyphens
        pattern = pattern.replace(re.escape(f"{day.day} {day:%B %Y}"), r"\d{1,2} [A-Z][a-z]+ \d{4}")
    return re.fullmatch(pattern, shown) is not None


def matches(shown: list[str], printed: list[str]) -> bool:
    """Whether the page's lines are the printed ones; `…` stands for any number of them."""
    if not shown:
        return not printed
    if shown[0] == "…":
        return any(matches(shown[1:], printed[start:]) for start in range(len(printed) + 1))
    return bool(printed) and alike(shown[0], printed[0]) and matches(shown[1:], printed[1:])


def test_only_the_day_of_writing_may_differ() -> None:
    today = datetime.now(UTC).date()
    assert alike("You said on 3 May 2026: x", f"You said on {today.day} {today:%B %Y}: x")
    assert matches(same("at 2026-05-03, but from 2025-04-05"), same(f"at {today}, but from 2025-04-05"))
    assert not matches(same("at 2026-05-03, but from 2025-04-05"), same(f"at {today}, but from 2025-04-06"))
    assert not matches(same("at 2026-05-03"), same("at 2026-05-04"))


def dialogue(text: str) -> list[tuple[str, str]]:
    """The commands of a console block, each with the output that stands below it. `>` goes on with a command."""
    turns: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            turns.append((line[2:], []))
        elif line.startswith("> ") and turns and not turns[-1][1]:
            turns[-1] = (f"{turns[-1][0]}\n{line[2:]}", [])
        else:
            assert turns, f"a console block begins with a command, not {line!r}"
            turns[-1][1].append(line)
    return [(command, "\n".join(output)) for command, output in turns]


def converse(block: str, where: str, folder: Folder) -> str:
    """Run a console block in one shell, compare each output, and return the block as it really went."""
    turns = dialogue(block)
    script = "".join(f"{command}\nprintf '\\036\\n'\n" for command, _ in turns)
    _, said = folder.run("sh", "-c", script)
    outputs = said.split("\x1e\n")
    real: list[str] = []
    for (command, output), printed in zip(turns, outputs, strict=False):
        holds = matches(same(output), same(printed))
        is_cut = "…" in output.splitlines()  # what it leaves out can't be written anew
        assert holds or (WRITE and not is_cut), f"{where}: $ {command}\n{printed}"
        shown = output if holds else printed.rstrip()
        real += ["$ " + command.replace("\n", "\n> "), *([shown] if shown else [])]
    assert len(outputs) == len(turns) + 1, f"{where}\n{said}"
    return "\n".join(real) + "\n"


@pytest.mark.parametrize(
    "page", [*PAGES, *(pytest.param(page, marks=pytest.mark.soak(first=True)) for page in MORE_PAGES)]
)
def test_every_block_runs(
    page: str, folder: Folder, read_blocks: Callable[[Path], list[tuple[str, str, int]]]
) -> None:
    path = ROOT / page
    blocks = read_blocks(path)
    assert blocks
    text = path.read_text(encoding="utf-8")
    for language, block, line in blocks:
        where = f"{page}:{line}"
        if all(command.startswith("make ") for command in block.splitlines()):
            make(block, where)
        elif language == "sh":
            code, said = folder.run("sh", "-euc", block)
            assert code == 0, f"{where}\n{said}"
        elif language == "console":
            real = converse(block, where, folder)
            text = text.replace(f"```console\n{block}```", f"```console\n{real}```")
        elif language == "toml":
            tomllib.loads(block)
        elif language == "python":
            code, said = folder.run("python", "-c", block)
            assert code == 0, f"{where}\n{said}"
        else:
            pytest.fail(f"{where}: a block of language {language!r} would not be run")
    if WRITE:
        path.write_text(text, encoding="utf-8")


def make(block: str, where: str) -> None:
    """The targets exist; that they do what they say is what CI shows, and `test_demo`."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    for command in block.splitlines():
        target = command.split()[1]
        assert re.search(rf"^{target}:", text, flags=re.MULTILINE), f"{where}: {command}"


@pytest.mark.soak(first=True)
@pytest.mark.parametrize("starts", ["forked", pytest.param("really", marks=pytest.mark.soak)])
def test_the_demo_runs_and_may_be_run_again(folder: Folder, path_with_braid: str, starts: str) -> None:
    if starts == "really":
        folder.env["PATH"] = path_with_braid
    for _ in range(2):
        code, said = folder.run("sh", str(ROOT / "examples" / "demo.sh"))
        assert code == 0, said
        assert said.count("clean: all") == 2
        assert said.count("the record is in the log") == 2
        assert "was erased by record" in said
        assert "Traceback" not in said


def test_the_tests_that_the_guarantees_name_exist() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", text)
    assert len(named) >= 10
    for file, test in named:
        assert (ROOT / file).exists(), file
        assert not test or f"def {test}(" in (ROOT / file).read_text(encoding="utf-8"), test


def test_each_guarantee_names_what_forces_it() -> None:
    table = (ROOT / "README.md").read_text(encoding="utf-8").partition("| Promise |")[2].partition("\n\n")[0]
    rows = table.splitlines()[2:]
    assert len(rows) >= 20
    for row in rows:
        promise, _, forced = row.strip("| ").split(" | ")
        assert re.search(r"`tests/[\w/]+\.py", forced), promise
