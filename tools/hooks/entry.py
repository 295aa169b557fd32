"""`braid hook EVENT`, as a harness starts it: before any tree of commands is built, and always with the exit code 0.

A harness takes other codes for a refusal, or a block: Claude Code drops the prompt of a person when a hook ends with
2. So wrong usage ends with 0 too, and is told as a message. Only an unknown name that came without a harness's JSON
ends with 2: somebody mistyped a command. Standard library alone, unless no server is running.
"""

import json
import os
import sys
import threading
from typing import Any, Final

from braid.tools.hooks.door import NoServerError, ask_socket, ask_url
from braid.tools.hooks.events import EVENTS, Callback, event_named
from braid.tools.hooks.lifecycle import Lifecycle, harness_json
from braid.tools.hooks.state import StateFolder, as_object
from braid.tools.hooks.troubles import Troubles

LIMIT_S: Final = 2.5
"""How long a hook may take; `BRAID_HOOK_LIMIT_S` says otherwise."""
_INPUT: Final = 8 * 2**20
_IDS: Final = {
    "--user-id": "user_id",
    "--agent-id": "agent_id",
    "--run-id": "run_id",
    "--project-id": "project_id",
    "--session": "session_id",
}
_VALUES: Final = {
    "--store": "BRAID_STORE",
    "--passphrase-file": "BRAID_PASSPHRASE_FILE",
    "--guard-dir": "BRAID_GUARD_DIR",
    "--model": "BRAID_MODEL",
    "--url": "BRAID_URL",
    **dict.fromkeys(_IDS, ""),
}
"""The options that a hook takes, each with a value, and the variable that stands for it."""
_COMMANDS: Final = ("install", "status")
_NAMED: Final = ("session_id", "hook_event_name")
"""A harness's JSON has these, or one of them."""


def event_in(words: list[str]) -> str | None:
    """Return the event of a command line `braid … hook … EVENT …`; None for any other command."""
    plain = _positionals(words)
    if plain[:1] != ["hook"] or "--help" in words or "-h" in words:
        return None
    event = plain[1] if len(plain) > 1 else None
    return None if event is None or event in _COMMANDS else event


def run(words: list[str], event: str) -> int:
    """Answer one callback: its JSON comes by stdin, what the harness reads goes to stdout.

    Always 0, but for a name of no event that no harness called: then 2, and stderr says which there are.
    """
    said: dict[str, Any] = {}
    if event_named(event) is None and sys.stdin.isatty():
        return _mistyped(event)
    try:
        options = _options(words)
        folder = StateFolder(options.get("--url") or _store(options), options.get("--guard-dir"))
        watch = _Watch(folder, event)
        try:
            told = _answered(options, folder, event, said)
        except Exception as error:
            if event_named(event) is None and not said.keys() & _NAMED:
                watch.end({})
                return _mistyped(event)
            told = _noted(folder, str(said.get("session_id") or ""), event, error)
        watch.end(told)
    except Exception as error:
        _write({"systemMessage": f"Braid did nothing at {event}: {type(error).__name__}: {error}"})
    return 0


def _no_event(event: str) -> str:
    known = ", ".join(one.replace("_", "-") for one in EVENTS)
    return f"there is no hook {event!r}: there are {known}"


def _mistyped(event: str) -> int:
    """Say to who typed a command which there are."""
    commands = " and ".join(f"`braid hook {one}`" for one in _COMMANDS)
    sys.stderr.write(f"braid: {_no_event(event)}\n  hint: {commands} are for you; braid hook --help\n")
    return 2


def _answered(
    options: dict[str, str], folder: StateFolder, event: str, said: dict[str, Any]
) -> dict[str, Any]:
    given = as_object(json.loads(sys.stdin.buffer.read(_INPUT)))
    if given is None:
        raise ValueError("the harness gave no JSON object")
    said.update(given)
    if event_named(event) is None:
        raise ValueError(f"{_no_event(event)}; run `braid hook install` again")
    callback = Callback(event, said)
    ids = {_IDS[name]: options[name] for name in _IDS if options.get(name)}

    def ask(header: dict[str, Any], lines: bytes) -> dict[str, Any]:
        return _ask(options, header, lines)

    return harness_json(callback, Lifecycle(folder, "hook", ask, ids).answer(callback))


def _ask(options: dict[str, str], header: dict[str, Any], lines: bytes) -> dict[str, Any]:
    if url := options.get("--url"):
        return ask_url(url, os.environ.get("BRAID_TOKEN", ""), header, lines, limit_s())
    store = _store(options)
    try:
        return ask_socket(store, header, lines, limit_s())
    except NoServerError:
        from braid.tools.hooks.here import ask_here

        return ask_here(store, options, header, lines)


class _Watch:
    """Ends the process in time, whatever it is at: what was not done is noted, and read again at the next callback."""

    def __init__(self, folder: StateFolder, event: str) -> None:
        self._folder = folder
        self._event = event
        self._turn = threading.Lock()
        self._timer = threading.Timer(limit_s(), self._expire)
        self._timer.daemon = True
        self._timer.start()

    def end(self, told: dict[str, Any]) -> None:
        """Write what the harness is told, unless the time is up."""
        self._turn.acquire()
        self._timer.cancel()
        _write(told)

    def _expire(self) -> None:
        if not self._turn.acquire(blocking=False):
            return
        what = f"it took longer than {limit_s():g} s, and was ended: what is new is recorded at the next callback"
        try:
            Troubles(self._folder).add("", self._event, what)
        except Exception as error:
            _write({"systemMessage": f"Braid at {self._event}: {what} ({error})"})
        os._exit(0)


def limit_s() -> float:
    """Return how long a hook may take, in seconds."""
    try:
        return max(0.05, float(os.environ.get("BRAID_HOOK_LIMIT_S", "")))
    except ValueError:
        return LIMIT_S


def _noted(folder: StateFolder, session: str, event: str, error: Exception) -> dict[str, Any]:
    """Note a failure; where even that fails, tell it at once."""
    what = f"{type(error).__name__}: {error}"
    try:
        Troubles(folder).add(session, event, what)
    except Exception as second:
        return {"systemMessage": f"Braid did nothing at {event}: {what} ({type(second).__name__}: {second})"}
    return {}


def _write(told: dict[str, Any]) -> None:
    if not told:
        return
    try:
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()
    except (OSError, ValueError):
        os._exit(0)  # nobody reads it: there is no one left to tell


def _store(options: dict[str, str]) -> str:
    return options.get("--store") or "memory"


def _options(words: list[str]) -> dict[str, str]:
    """Return what the command line says, and the environment where it says nothing. Raises ValueError."""
    found = {name: os.environ[variable] for name, variable in _VALUES.items() if os.environ.get(variable)}
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if name in _VALUES:
            found[name] = value if equals else next(rest, "")
        elif word.startswith("-"):
            raise ValueError(f"braid hook takes no {name}")
    return found


def _positionals(words: list[str]) -> list[str]:
    plain: list[str] = []
    rest = iter(words)
    for word in rest:
        if word in _VALUES:
            next(rest, None)
        elif not word.startswith("-"):
            plain.append(word)
    return plain
