"""Building shim.c, which slows the disk and moves the clock of whatever runs under it."""

import shutil
import subprocess
import sys
from pathlib import Path


def build_shim(folder: Path) -> Path | None:
    """Compile the shim into `folder` and return it, or None where it can't be made or does not load here."""
    source, made = Path(__file__).with_name("shim.c"), folder / "shim.so"
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None or not sys.platform.startswith("linux"):
        return None
    built = subprocess.run(
        [compiler, "-O1", "-shared", "-fPIC", "-o", str(made), str(source), "-ldl"],
        capture_output=True,
        check=False,
    )
    if built.returncode:
        return None
    loads = subprocess.run(
        [sys.executable, "-c", ""], env={"LD_PRELOAD": str(made)}, capture_output=True, check=False
    )
    return None if loads.returncode or loads.stderr else made
