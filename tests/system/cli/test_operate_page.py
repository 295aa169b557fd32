"""docs/operate.md: every step is taken, in order, on a real store, and says what the page says it says.

With BRAID_WRITE_DOCS=1 the outputs are written anew instead; read what came of it.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.system.cli.test_readme import ROOT, WRITE, Folder, converse

if TYPE_CHECKING:
    from tests.system.cli.conftest import Block

PAGE = ROOT / "docs" / "operate.md"
DEPLOY = ROOT / "examples" / "deploy"


@pytest.mark.soak
def test_every_step_is_taken(
    tmp_path: Path, quick_path: str, read_blocks: Callable[[Path], list[Block]]
) -> None:
    here = tmp_path / "home"
    here.mkdir()
    (here / "examples").symlink_to(ROOT / "examples")
    folder = Folder(here, quick_path)
    text = PAGE.read_text(encoding="utf-8")
    blocks = read_blocks(PAGE)
    assert len(blocks) > 15
    for language, block, line in blocks:
        assert language == "console", f"operate.md:{line}: a step that is not taken"
        real = converse(block, f"operate.md:{line}", folder)
        text = text.replace(f"```console\n{block}```", f"```console\n{real}```")
    if WRITE:
        PAGE.write_text(text, encoding="utf-8")


@pytest.fixture
def machine(tmp_path: Path, quick_path: str) -> Folder:
    """A store, its pinned key, and what the daily script is told."""
    here = tmp_path / "home"
    here.mkdir()
    folder = Folder(here, quick_path)
    folder.env |= {
        "BRAID_STORE": str(here / "memory"),
        "VKEY": str(here / "vkey"),
        "BACKUP": str(here / "backup"),
    }
    code, said = folder.run(
        "sh", "-euc", 'braid init -o json > made; sed -n \'s/^  "vkey": "\\(.*\\)",/\\1/p\' made > vkey'
    )
    assert code == 0, said
    assert len((here / "vkey").read_text()) > 60
    return folder


@pytest.mark.soak
def test_the_daily_script_audits_keeps_and_publishes(machine: Folder) -> None:
    backup, store = machine.folder / "backup", machine.folder / "memory"
    code, said = machine.run(str(DEPLOY / "daily.sh"))
    assert code == 0, said
    (head,) = (backup / "heads").iterdir()
    assert (
        head.read_bytes() == (store / "checkpoint").read_bytes() == (backup / "log/checkpoint").read_bytes()
    )
    names = {path.name for path in (backup / "memory").rglob("*")}
    assert "vault" not in names
    assert not any(name.endswith(".key") for name in names)
    code, said = machine.run("sh", "-euc", 'braid erase "$(braid append mistaken)" --yes')
    assert code == 0, said
    code, said = machine.run(str(DEPLOY / "daily.sh"))
    assert code == 1, "the monitor tells of the erasure, when all else is done"
    assert "erases 1 record" in said
    assert "nothing is wrong with the files" in said
    assert (backup / "log/checkpoint").read_bytes() == (store / "checkpoint").read_bytes()
    assert len(list((store / "views" / "snapshots").glob("at-*"))) == 2


@pytest.mark.soak
def test_findings_end_the_daily_script_before_anything_else(machine: Folder) -> None:
    code, said = machine.run("braid", "append", "to be damaged")
    assert code == 0, said
    (segment,) = (machine.folder / "memory" / "log").glob("*.seg")
    data = bytearray(segment.read_bytes())
    data[-40] ^= 1
    segment.write_bytes(data)
    code, said = machine.run(str(DEPLOY / "daily.sh"))
    assert code == 1, said
    assert [path.name for path in (machine.folder / "backup").iterdir()] == ["heads"]
    assert list((machine.folder / "backup" / "heads").iterdir()) == []


def test_the_units_and_the_cron_line_name_what_is_there() -> None:
    service = (DEPLOY / "braid-daily.service").read_text(encoding="utf-8")
    cron = (DEPLOY / "braid.cron").read_text(encoding="utf-8")
    script = (DEPLOY / "daily.sh").read_text(encoding="utf-8")
    (run,) = re.findall(r"^ExecStart=(.*)$", service, flags=re.MULTILINE)
    (line,) = [line for line in cron.splitlines() if line[:1].isdigit() or line.startswith("*")]
    minute, hour, *rest, user, command = line.split()
    assert (minute.isdigit(), hour.isdigit(), rest, user) == (True, True, ["*", "*", "*"], "braid")
    assert Path(run).name == Path(command).name == "daily.sh"
    for name in re.findall(r"\$\{(\w+):\?\}", script):
        assert f"{name}=" in service
        assert f"{name}=" in cron


def test_systemd_takes_the_units(tmp_path: Path) -> None:
    if not (analyze := shutil.which("systemd-analyze")):
        pytest.skip("needs systemd-analyze")
    for unit in DEPLOY.glob("braid-daily.*"):
        text = unit.read_text(encoding="utf-8").replace(
            "/opt/braid/deploy/daily.sh", str(DEPLOY / "daily.sh")
        )
        (tmp_path / unit.name).write_text(text, encoding="utf-8")
    done = subprocess.run(
        [analyze, "verify", "--man=no", str(tmp_path / "braid-daily.timer"), str(tmp_path / "braid-daily.service")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    ours = [line for line in (done.stdout + done.stderr).splitlines() if "braid-daily" in line]
    assert ours == []
