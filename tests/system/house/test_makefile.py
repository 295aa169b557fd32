"""`make demo`, then `make test`, as the README says it: what one installs is not taken for what the other needs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
INSTALLER = """#!/bin/sh
echo "$@" >> "$INSTALLED"
[ "$1" != venv ] || { mkdir -p .venv/bin && ln -s "$REAL_PYTHON" .venv/bin/python; }
"""
"""Stands in for uv, which the recipe takes where it is there: writes down what it is asked to install."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "uv").write_text(INSTALLER, encoding="utf-8")
    (tmp_path / "bin" / "uv").chmod(0o755)
    return folder


def made(project: Path, stamp: str) -> list[str]:
    """Make a stamp; return what was installed for it."""
    log = project.parent / "installed"
    log.unlink(missing_ok=True)
    path = f"{project.parent / 'bin'}{os.pathsep}{os.environ['PATH']}"
    env = os.environ | {"PATH": path, "INSTALLED": str(log), "REAL_PYTHON": sys.executable}
    env.pop("MAKEFLAGS", None)
    subprocess.run(["make", stamp], cwd=project, env=env, check=True, capture_output=True, timeout=60)
    said = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return [line.rpartition(" ")[2] for line in said if line.startswith("pip install")]


def test_what_the_demo_installs_is_not_taken_for_what_the_tests_need(project: Path) -> None:
    assert made(project, ".venv/.runtime") == [".[answers,learn]"]
    assert made(project, ".venv/.dev") == [".[dev]"]
    assert made(project, ".venv/.dev") == made(project, ".venv/.runtime") == []


def test_what_the_tests_need_is_enough_for_the_demo(project: Path) -> None:
    assert made(project, ".venv/.dev") == [".[dev]"]
    assert made(project, ".venv/.runtime") == []
