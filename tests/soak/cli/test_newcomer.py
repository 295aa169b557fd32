"""The README's five lines from the wheel, in a fresh environment: what the package index has is installed anew."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.system.cli.newcomer import ROOT, lines, walk

pytestmark = pytest.mark.soak


@pytest.mark.timeout(1200)
def test_from_nothing_to_a_second_session(tmp_path: Path) -> None:
    source, away = tmp_path / "source", tmp_path / "project"
    ignored = shutil.ignore_patterns(".venv", ".git", "build", "__pycache__", "*.egg-info", "tests")
    shutil.copytree(ROOT, source, ignore=ignored)
    away.mkdir()
    build = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--wheel-dir",
        str(tmp_path),
        str(source),
    ]
    done = subprocess.run(build, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "fresh")], check=True)
    extras = re.search(r"\[[a-z,]+\]", lines()[0])
    assert extras
    install = f"pip install --quiet '{wheel}{extras[0]}'"
    walked = walk(away, f"{tmp_path / 'fresh' / 'bin'}:{os.environ['PATH']}", install=install)
    sys.stdout.write(f"{walked}\n")  # `-rP` shows the figures
    assert "tabs over spaces" in walked.told
