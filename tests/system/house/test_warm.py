"""What stands in for `python -c` in tests is a process like it: streams, words, exit status, signals both ways."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests import command
from tests.warm import Zygote

SLEEPER = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"


def run(*words: str, given: str = "") -> tuple[int, str, str]:
    done = subprocess.run(words, input=given, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def test_it_has_streams_words_and_an_exit_status(warm_python: str) -> None:
    echo = "import sys; print(sys.stdin.read(), sys.argv, __name__)"
    assert run(warm_python, "-c", echo, "a b", given="hey") == (0, "hey ['-c', 'a b'] __main__\n", "")
    assert run(warm_python, "-c", "raise SystemExit('no')") == (1, "", "no\n")
    code, _, said = run(warm_python, "-c", "1 / 0")
    assert (code, said.splitlines()[-1]) == (1, "ZeroDivisionError: division by zero")
    assert run(warm_python, "-V")[1].startswith("Python 3.")


def test_signals_go_both_ways(warm_python: str) -> None:
    assert run(warm_python, "-c", "import os; os.kill(os.getpid(), 9)")[0] == -signal.SIGKILL
    for sent in (signal.SIGTERM, signal.SIGKILL):
        with subprocess.Popen([warm_python, "-c", SLEEPER], stdout=subprocess.PIPE, text=True) as asked:
            assert asked.stdout
            child = int(asked.stdout.readline())
            asked.send_signal(sent)
            assert asked.wait() == -sent
        for _ in range(500):
            try:
                os.kill(child, 0)
            except ProcessLookupError:
                break
            time.sleep(0.02)
        else:
            pytest.fail("the child lives on")


def test_who_is_killed_while_asking_harms_nobody(warm_python: str) -> None:
    for wait_s in (0, 0.02, 0.03, 0.05):
        with subprocess.Popen([warm_python, "-c", ""]) as asked:
            time.sleep(wait_s)
            asked.kill()
    assert run(warm_python, "-c", "print(1)")[1] == "1\n"


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "words",
    [
        ("--version",),
        ("nonsense",),
        ("log", "-o", "csv"),
        ("show", "exp_2026-01-05T09:00:00Z_000000000000"),
        ("sql", "SELECT text FROM experiences"),
        ("sql", "SELECT nothing"),
        ("verify",),
    ],
    ids=lambda words: words[0],
)
def test_a_command_in_this_process_ends_as_in_its_own(
    tmp_path: Path, zygote: Zygote, words: tuple[str, ...]
) -> None:
    env = {**os.environ, "BRAID_GUARD_DIR": str(tmp_path / "guard"), "NO_COLOR": "1"}
    for made in (["init"], ["append", "I live in Porto."]):
        assert command.run(made, cwd=tmp_path, env=env)[0] == 0
    before = dict(os.environ), Path.cwd(), sys.stdout, sys.argv
    here = command.run(words, cwd=tmp_path, env=env)
    assert (dict(os.environ), Path.cwd(), sys.stdout, sys.argv) == before
    done = subprocess.run(
        [zygote.bin / "braid", *words],
        cwd=tmp_path,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    assert here == (done.returncode, done.stdout, done.stderr)
