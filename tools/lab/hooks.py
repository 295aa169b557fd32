"""How long a hook takes, from the start of its process to its end, with a server and without.

python -m braid.tools.lab.hooks [--calls 40] [--records 2000]
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import braid
from braid.socket_path import SOCKET

BRAID: Final = str(Path(sys.executable).with_name("braid"))
EVENTS: Final = ("session-start", "user-prompt-submit", "turn-end")


def main() -> None:
    """Measure, and print a table."""
    said = argparse.ArgumentParser()
    said.add_argument("--calls", type=int, default=40)
    said.add_argument("--records", type=int, default=2_000)
    asked = said.parse_args()
    with TemporaryDirectory() as folder:
        root = Path(folder)
        os.environ["XDG_STATE_HOME"] = str(root / "state")
        os.environ["BRAID_HOOK_LIMIT_S"] = "60"
        with braid.open(root / "memory") as store:
            for number in range(0, asked.records, 500):
                with store.transaction() as records:
                    for one in range(number, min(number + 500, asked.records)):
                        records.append(
                            f"Note {one}: the parser of project {one % 97} is done.", user_id="maya"
                        )
            store.recall("warm", user_id="maya")
        print("| | event | p50 ms | p95 ms | CPU ms |\n|---|---|---|---|---|")
        server = subprocess.Popen(
            [BRAID, "--store", str(root / "memory"), "serve"], stderr=subprocess.DEVNULL
        )
        try:
            while not (root / "memory" / SOCKET).exists():
                time.sleep(0.1)
            for event in EVENTS:
                _measure(root, "with a server", event, asked.calls)
        finally:
            server.terminate()
            server.wait()
        for event in EVENTS:
            _measure(root, "without", event, max(5, asked.calls // 4))


def _measure(root: Path, how: str, event: str, calls: int) -> None:
    took: list[float] = []
    file = root / "transcript.jsonl"
    before = 0.0
    for number in range(-2, calls):  # two to warm up
        turn = {
            "type": "user",
            "uuid": f"{how} {event} {number}",
            "sessionId": "s",
            "timestamp": "2026-11-20T10:00:00Z",
        }
        with file.open("a") as out:
            out.write(json.dumps(turn | {"message": {"role": "user", "content": f"Turn {number}."}}) + "\n")
        given = {
            "session_id": "s",
            "transcript_path": str(file),
            "prompt": f"Which parser is done, {number}?",
        }
        if number == 0:
            before = _cpu()
        began = time.perf_counter()
        subprocess.run(
            [BRAID, "--store", str(root / "memory"), "hook", event, "--user-id", "maya"],
            input=json.dumps(given).encode(), stdout=subprocess.DEVNULL, check=True,
        )  # fmt: skip
        if number >= 0:
            took.append((time.perf_counter() - began) * 1000)
    cpu = (_cpu() - before) * 1000 / calls
    print(f"| {how} | `{event}` | {_at(took, 0.5):.0f} | {_at(took, 0.95):.0f} | {cpu:.0f} |", flush=True)


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _at(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


if __name__ == "__main__":
    main()
