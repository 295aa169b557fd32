"""What a stranger gets: the wheel, without the checkout and without the development tools."""

import os
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import Distribution, distributions
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[3]
CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
VERSION = CONFIG["project"]["version"]


def run(*command: str | Path, cwd: Path) -> str:
    """Run a program away from the checkout and return what it printed; fail with all it said."""
    inherited = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=inherited,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}"
    return done.stdout


@pytest.fixture(scope="module")
def away(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that is not the checkout, so that nothing is imported from it by accident."""
    return tmp_path_factory.mktemp("away")


@pytest.fixture(scope="module")
def wheel(away: Path) -> Path:
    """The wheel, built from a copy: setuptools leaves build/lib behind, and would pack what one left."""
    source = away / "source"
    folders = {Path(folder).parts[0] for folder in CONFIG["tool"]["setuptools"]["package-dir"].values()}
    for folder in sorted(folders):
        shutil.copytree(ROOT / folder, source / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    build: tuple[str, ...]
    if uv := shutil.which("uv"):
        build = (uv, "build", "--quiet", "--wheel", "--python", sys.executable, "--out-dir")
    else:
        build = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir")
    run(*build, away / "dist", source, cwd=away)
    (built,) = (away / "dist").glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, away: Path) -> Path:
    """The bin/ of a clean environment that holds the wheel and what it asks for, and no more.

    What it asks for is linked from here, where it was installed by the same names: to install it again took longer
    than any other test.
    """
    run(sys.executable, "-m", "venv", "--without-pip", away / "clean", cwd=away)
    python = away / "clean" / "bin" / "python"
    install: tuple[str, ...]
    if uv := shutil.which("uv"):
        install = (uv, "pip", "install", "--quiet", "--no-deps", "--python", str(python))
    else:
        install = (sys.executable, "-m", "pip", "--python", str(python))
        install = (*install, "install", "--quiet", "--no-compile", "--no-deps")
    run(*install, wheel, cwd=away)
    say_where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = Path(run(python, "-c", say_where, cwd=away).strip())
    for distribution in asked_for(wheel):
        for top in sorted({file.parts[0] for file in distribution.files or () if file.parts[0] != ".."}):
            if not (site / top).exists() and top != "__pycache__":
                (site / top).symlink_to(Path(str(distribution.locate_file(top))))
    return python.parent


def asked_for(wheel: Path) -> list[Distribution]:
    """What the wheel requires, and what that requires, as it is installed here; of `name[extra]` the extra's too."""
    (own,) = distributions(path=[str(wheel)])
    found: dict[tuple[str, str], Distribution] = {}
    waiting = [(own, "")]
    while waiting:
        distribution, extra = waiting.pop()
        for text in distribution.requires or ():
            needed = Requirement(text)
            if needed.marker is not None and not needed.marker.evaluate({"extra": extra}):
                continue
            for each in ("", *needed.extras):
                if (needed.name, each) not in found:
                    found[needed.name, each] = Distribution.from_name(needed.name)
                    waiting.append((found[needed.name, each], each))
    return list(found.values())


@pytest.mark.soak(first=True)
def test_every_package_can_be_imported_from_the_wheel(installed: Path, away: Path) -> None:
    names = CONFIG["tool"]["setuptools"]["packages"]
    code = f"import importlib as i; print(*(i.import_module(n).__file__ for n in {names!r}), sep='\\n')"
    files = run(installed / "python", "-c", code, cwd=away).splitlines()
    assert all(Path(file).is_relative_to(away / "clean") for file in files)
    assert len(files) == len(names)


@pytest.mark.soak(first=True)
def test_the_wheel_is_marked_as_typed(installed: Path, away: Path) -> None:
    code = "from importlib.resources import files; print(files('braid').joinpath('py.typed').is_file())"
    assert run(installed / "python", "-c", code, cwd=away).strip() == "True"


@pytest.mark.soak(first=True)
def test_the_command_says_its_version(installed: Path, away: Path) -> None:
    assert VERSION in run(installed / "braid", "--version", cwd=away)


@pytest.mark.soak(first=True)
def test_the_lab_stays_at_home(wheel: Path, installed: Path, away: Path) -> None:
    with ZipFile(wheel) as packed:
        names = packed.namelist()
    assert "braid/tools/gold/data/histories/years.jsonl" in names
    assert [name for name in names if name.startswith("braid/tools/lab")] == []
    made = ("torture", "fit_", "ablate_", "distill", "shim.c", "threads.toml", "words.toml", "baseline.json")
    assert [name for name in names if name.rpartition("/")[2].startswith(made)] == []
    code = "from importlib.util import find_spec; print(find_spec('braid.tools.lab'))"
    assert run(installed / "python", "-c", code, cwd=away).strip() == "None"


@pytest.mark.soak(first=True)
def test_the_gold_tasks_come_along(installed: Path, away: Path) -> None:
    code = "from braid.tools.gold.tasks import load; print(len(load().tasks))"
    assert run(installed / "python", "-c", code, cwd=away).strip() == "200"
