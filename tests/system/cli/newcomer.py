"""The README's way from nothing to a memory: its lines as a person types them, and the harness that they set up."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

ROOT: Final = Path(__file__).parents[3]
SAID: Final = "I prefer tabs over spaces."
_HEADING: Final = "## A memory for Claude Code in five lines"
_PATIENCE_S: Final = 60.0


class Walked(NamedTuple):
    """How many seconds each step took, and what the second session was told."""

    seconds: dict[str, float]
    told: str

    def __str__(self) -> str:
        steps = ", ".join(f"{step} {took:.1f} s" for step, took in self.seconds.items())
        return f"{steps}; {sum(self.seconds.values()):.1f} s in all"


def lines() -> list[str]:
    """Return the five lines that the README shows."""
    section = (ROOT / "README.md").read_text("utf-8").partition(_HEADING)[2].partition("\n## ")[0]
    return [line.strip() for line in section.splitlines() if re.match(r" {4}\S", line)]


class Newcomer:
    """Somebody in a project's folder, with a PATH on which `braid` is."""

    def __init__(self, folder: Path, path: str) -> None:
        self.folder = folder
        self.env = {name: value for name, value in os.environ.items() if not name.startswith("BRAID_")}
        self.env |= {"PATH": path, "HOME": str(folder), "XDG_STATE_HOME": str(folder / ".local/state")}
        self._served: subprocess.Popen[bytes] | None = None

    def types(self, line: str) -> None:
        """Do what a line says; what it leaves running is running when this returns."""
        if not line.endswith("&"):
            done = subprocess.run(
                line, shell=True, cwd=self.folder, env=self.env, capture_output=True, check=False
            )
            assert done.returncode == 0, done.stderr.decode()
            return
        words = line.removesuffix("&").split()
        with (self.folder / "serve.log").open("wb") as log:
            self._served = subprocess.Popen(words, cwd=self.folder, env=self.env, stderr=log)
        deadline = time.monotonic() + _PATIENCE_S
        while not (self.folder / "memory" / "serve.sock").exists():
            assert self._served.poll() is None, (self.folder / "serve.log").read_text()
            assert time.monotonic() < deadline
            time.sleep(0.02)

    def leaves(self) -> None:
        """Stop what runs."""
        if self._served is not None:
            self._served.send_signal(signal.SIGTERM)
            self._served.wait(30)

    def harness(self, event: str, session: str, **said: str) -> str:
        """Call back as Claude Code does, by the settings in the folder; return the context that the model is given."""
        settings = json.loads((self.folder / ".claude/settings.json").read_text())
        given = {
            "session_id": session,
            "transcript_path": str(self.folder / f"{session}.jsonl"),
            "hook_event_name": event,
        }
        context = ""
        for group in settings["hooks"][event]:
            for hook in group["hooks"]:
                done = subprocess.run(
                    hook["command"], shell=True, cwd=self.folder, env=self.env, capture_output=True,
                    input=json.dumps(given | said).encode(), check=False, timeout=hook["timeout"],
                )  # fmt: skip
                assert (done.returncode, done.stderr) == (0, b"")
                answer: Mapping[str, Any] = json.loads(done.stdout or "{}")
                assert "systemMessage" not in answer
                context += answer.get("hookSpecificOutput", {}).get("additionalContext", "")
        return context

    def talks(self, session: str, text: str) -> None:
        """Have a session in which one thing is said."""
        self.harness("SessionStart", session, source="startup")
        self.harness("UserPromptSubmit", session, prompt=text)
        turn = {
            "type": "user",
            "uuid": f"{session}-1",
            "sessionId": session,
            "timestamp": "2026-11-20T10:00:00Z",
        }
        line = turn | {"message": {"role": "user", "content": text}}
        (self.folder / f"{session}.jsonl").write_text(json.dumps(line) + "\n")
        self.harness("Stop", session)
        self.harness("SessionEnd", session, reason="other")


def walk(folder: Path, path: str, *, install: str | None) -> Walked:
    """Go the README's way, and tell how long each step took. `install`: what to do for its first line, if anything."""
    first, *middle, last = lines()
    assert first.startswith("pip install ")
    assert last == "claude"
    seconds: dict[str, float] = {}
    newcomer = Newcomer(folder, path)

    def timed(step: str, act: Any, *words: str, **said: str) -> Any:
        began = time.monotonic()
        done = act(*words, **said)
        seconds[step] = time.monotonic() - began
        return done

    try:
        if install is not None:
            timed("install", newcomer.types, install)
        for line in middle:
            timed(line.partition(" --")[0].rstrip(" &"), newcomer.types, line)
        timed("first session", newcomer.talks, "one", SAID)
        told = timed("start of the second", newcomer.harness, "SessionStart", "two", source="startup")
    finally:
        newcomer.leaves()
    return Walked(seconds, told)


BIN: Final = str(Path(sys.executable).parent)
