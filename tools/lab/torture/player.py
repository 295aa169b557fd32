"""A warmed process that plays acts in forks of itself, so that a fault costs no start of an interpreter.

Each line on stdin orders an act. The child stops itself and is announced by its number; whoever wants to trace it does
so then, and lets it go on. Behind it stands one line: how it ended, what it said, what it complained of.
"""

import ctypes
import importlib
import os
import signal
import sys
import tempfile
import traceback
import warnings
from pathlib import Path
from typing import IO, Final

import msgspec
from msgspec.structs import replace

from braid.tools.lab.torture.acts import ACTS, REFUSALS, World
from braid.tools.lab.torture.fickle import FickleDisk, Loss

_PR_SET_PTRACER: Final = 0x59616D61
_ANY: Final = ctypes.c_ulong(-1)
BROKEN: Final = 70


class Order(msgspec.Struct, frozen=True):
    """An act on a world; with `stop` it waits to be traced; with `loss` a fickle disk fails its n-th step of `kind`."""

    act: str
    world: str
    stop: bool = False
    kind: str = ""
    nth: int = 0
    loss: Loss | None = None


class Played(msgspec.Struct, frozen=True):
    """How it ended (the signal, negative; or the exit code), what was said, and its complaint where it broke."""

    code: int = 0
    said: list[str] = []
    complaint: str = ""
    steps: list[tuple[str, str]] = []
    modules: list[str] = []


def serve() -> None:
    """Play what is ordered until stdin ends."""
    warnings.simplefilter("ignore", DeprecationWarning)  # forking where libraries keep threads: they rest
    for line in sys.stdin.buffer:
        order = msgspec.json.decode(line, type=Order)
        with tempfile.TemporaryFile() as told:
            child = os.fork()
            if child == 0:
                os._exit(_perform(order, told))
            if order.stop:
                os.waitpid(child, os.WUNTRACED)
                _answer(child)
            _, status = os.waitpid(child, 0)
            told.seek(0)
            played = _heard(os.waitstatus_to_exitcode(status), told.read())
        for name in played.modules:  # what an act imported late, the next one need not
            importlib.import_module(name)
        _answer(played)


def _answer(what: object) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(what) + b"\n")
    sys.stdout.buffer.flush()


def _heard(code: int, told: bytes) -> Played:
    lines = told.decode("utf-8", "replace").splitlines(keepends=True)
    said = [line for line in lines if not line.startswith("#") and line.endswith("\n")]
    rest = [line[1:] for line in lines if line.startswith("#")]
    if not rest:  # killed
        return Played(code, said)
    return replace(msgspec.json.decode(rest[-1], type=Played), code=code, said=said)


def _perform(order: Order, told: IO[bytes]) -> int:
    """Play an act in the child; return its exit code."""
    before = set(sys.modules)
    out = told.fileno()

    def say(*words: str) -> None:
        os.write(out, (" ".join(words) + "\n").encode())

    world = World(Path(order.world))
    disk = None
    if order.loss is not None:
        disk = FickleDisk(world.folder, order.kind, order.nth, order.loss)
        disk.stand_behind()
    complaint = ""
    if order.stop:
        ctypes.CDLL(None).prctl(_PR_SET_PTRACER, _ANY, 0, 0, 0)  # where only parents may trace (Yama)
        os.kill(os.getpid(), signal.SIGSTOP)
    try:
        ACTS[order.act].do(world, say)
    except REFUSALS as error:
        say("refused", type(error).__name__)
    except BaseException:
        complaint = traceback.format_exc()
    modules = [name for name in sys.modules if name not in before and name.startswith("braid.")]
    ended = Played(complaint=complaint, steps=disk.steps if disk else [], modules=modules)
    os.write(out, b"#" + msgspec.json.encode(ended) + b"\n")
    return BROKEN if complaint else 0


if __name__ == "__main__":
    serve()
