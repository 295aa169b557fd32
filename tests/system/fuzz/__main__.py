"""`make fuzz`: coverage-guided fuzzing of the parsers (atheris), each target for so many seconds.

    make fuzz ARGS='--seconds 600 --only envelope'

It begins at the corpus. A finding ends the run with exit code 1 and stays in `--out`: look at it, mend what it shows,
and add the smallest input that shows it to tests/system/fuzz/corpus.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

CORPUS = Path(__file__).with_name("corpus")
NAMES = sorted(path.name for path in CORPUS.iterdir())


def main() -> int:
    """Fuzz each target in a process of its own: libFuzzer ends the one that it runs in."""
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--seconds", type=int, default=60, help="for each target (default: 60)")
    parser.add_argument("--only", choices=NAMES, action="append", help="these targets alone")
    parser.add_argument("--out", type=Path, help="where findings go (default: a new folder)")
    parser.add_argument("--one", choices=NAMES, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        fuzz(asked.one, asked.seconds, asked.out)
    out: Path = asked.out or Path(tempfile.mkdtemp(prefix="braid-fuzz-"))
    bad: list[str] = []
    for name in asked.only or NAMES:
        (out / name).mkdir(parents=True, exist_ok=True)
        argv = [
            sys.executable,
            "-m",
            "tests.system.fuzz",
            "--one",
            name,
            "--seconds",
            str(asked.seconds),
            "--out",
            str(out),
        ]
        bad += [name] if subprocess.run(argv, check=False).returncode else []
    targets, found = len(asked.only or NAMES), ", ".join(bad) or "none"
    sys.stdout.write(f"{targets} targets, {asked.seconds} s each, findings: {found} ({out})\n")
    return bool(bad)


def fuzz(name: str, seconds: int, out: Path) -> None:
    """Fuzz one target; libFuzzer exits."""
    import atheris  # type: ignore[import-not-found,import-untyped,unused-ignore]

    with atheris.instrument_imports(include=["braid"]):
        from tests.system.fuzz.targets import run

    def once(data: bytes) -> None:
        run(name, data)

    argv = [
        f"fuzz-{name}",
        str(out / name),
        str(CORPUS / name),
        f"-max_total_time={seconds}",
        "-max_len=4096",
    ]
    atheris.Setup([*argv, f"-artifact_prefix={out}/{name}-", "-print_final_stats=1", "-verbosity=0"], once)
    atheris.Fuzz()


if __name__ == "__main__":
    sys.exit(main())
