"""A process that has imported already what Braid stands on, and forks for each command that tests run.

Imports are most of what a short command costs, and tests run thousands.
Each command still has a process of its own, with the folder, environment and streams of whoever asked; how to ask is
in tests/warm.py. Some tests start cold on purpose: those of the start, of the wheel, and the first run of the demo.
"""

import atexit
import contextlib
import errno
import functools
import gc
import importlib
import marshal
import os
import selectors
import signal
import socket
import sys
import time
import traceback
import types
from typing import Any

OWN = """
braid.answers.records braid.programs.run braid.ledger.audit.verify braid.lenses.claim_index
braid.models.static braid.entry braid.registry
braid.store braid.tools.cli.main
braid.tools.importers.detect braid.exchange.copies braid.views.duck.projection braid.views.lance.check
braid.views.duck.sql braid.views.store
"""
# Not LanceDB: its extension has threads once it is used, and they don't survive a fork, so each child loads it.
# A library of these that isn't there is no loss but of time.
DRAWN_IN = """
Stemmer asyncio duckdb httpx2 mcp.server.lowlevel numpy pandas pyarrow.compute pyarrow.dataset pyarrow.parquet
tokenizers typer._adapters yaml
"""


def prepare() -> None:
    """Import, and build the tree of commands once."""
    import typer.main

    for name in OWN.split():
        importlib.import_module(name)
    for name in DRAWN_IN.split():
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    with contextlib.suppress(ImportError, ValueError):  # the extra `learn`
        from braid.models.spacy_parser import shared

        shared().parse(["Ada lives in Leeds."])
    assert not {"lancedb", "lancedb._lancedb"} & set(sys.modules)
    from braid.tools.cli.main import app

    typer.main.get_command = functools.cache(typer.main.get_command)
    root: Any = typer.main.get_command(app)
    list(root.commands.values())  # each is built when it is asked for
    gc.collect()
    gc.freeze()  # what is here is never garbage: no child need look through it


class Server:
    """Forks for whoever connects, and tells them the child's pid and in the end how it ended."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._running: dict[int, socket.socket] = {}
        self._selector = selectors.DefaultSelector()
        self._woken, waker = os.pipe()
        os.set_blocking(waker, False)
        signal.set_wakeup_fd(waker)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._selector.register(self._listener, selectors.EVENT_READ, self._fork)
        self._selector.register(self._woken, selectors.EVENT_READ, self._reap)
        self._selector.register(0, selectors.EVENT_READ, self._end)

    def serve(self) -> None:
        """Serve until stdin ends."""
        while True:
            for key, _ in self._selector.select():
                key.data()

    def _fork(self) -> None:
        asking, _ = self._listener.accept()
        _, streams, _, _ = socket.recv_fds(asking, 1, 3)
        try:
            request = marshal.load(asking.makefile("rb"))
        except (EOFError, OSError):  # killed as it asked
            asking.close()
            return
        child = os.fork()
        if child == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for held in (self._listener, asking, *self._running.values()):
                held.close()
            become(request, streams)
        for stream in streams:
            os.close(stream)
        self._running[child] = asking
        self._selector.register(asking, selectors.EVENT_READ, functools.partial(self._abandon, child))
        with contextlib.suppress(OSError):
            asking.sendall(b"%d\n" % child)

    def _abandon(self, child: int) -> None:
        """Whoever asked has been killed; so is what they asked for, unless it has just ended."""
        if child in self._running:
            self._selector.unregister(self._running[child])
            os.kill(child, signal.SIGKILL)

    def _end(self) -> None:
        for child in self._running:
            os.kill(child, signal.SIGKILL)
        for child in self._running:
            os.waitpid(child, 0)
        os._exit(0)  # the libraries complain of what an interpreter leaves

    def _reap(self) -> None:
        os.read(self._woken, 4096)
        while self._running:
            child, status = os.waitpid(-1, os.WNOHANG)
            if child == 0:
                return
            asking = self._running.pop(child)
            if asking in {key.fileobj for key in self._selector.get_map().values()}:
                self._selector.unregister(asking)
                with contextlib.suppress(OSError):
                    asking.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
            asking.close()


def become(request: dict[str, Any], streams: list[int]) -> None:
    """Be the process that was asked for, and end with it."""
    from braid.wal import failpoint

    code = 70
    try:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        reopen()
        os.chdir(request["cwd"])
        os.umask(request["umask"])
        os.environ.clear()
        os.environ.update(request["env"])
        time.tzset()
        if request["fault"]:
            fill_disk_at(request["fault"])
        if "BRAID_KILL_AT" in os.environ:  # as where it is imported
            failpoint.arm(failpoint.kill_at(os.environ["BRAID_KILL_AT"]))
        forked_sandboxes()
        code = KINDS[request["name"]](request["words"])
        atexit._run_exitfuncs()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def reopen() -> None:
    """Give Python its streams anew: what was read ahead, and whether one can seek, were the server's."""
    sys.stdin = open(0, encoding="utf-8")  # noqa: SIM115
    sys.stdout = open(1, "w", buffering=1 if os.isatty(1) else -1, encoding="utf-8")  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, encoding="utf-8", errors="backslashreplace")  # noqa: SIM115


def command(words: list[str]) -> int:
    """Be `braid WORDS`."""
    from braid.tools.cli.entry import run

    sys.argv = ["braid", *words]
    return ending(run)


def program(words: list[str]) -> int:
    """Be `python -c CODE WORDS`."""
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    sys.path[0] = ""
    code, sys.argv = words[0], ["-c", *words[1:]]
    return ending(lambda: exec(compile(code, "<string>", "exec"), main.__dict__))


def sandbox(words: list[str]) -> int:
    """Be the process that runs SQL: it has imported DuckDB already."""
    from braid.views.duck.sandbox import serve

    sys.argv = ["sandbox", *words]
    return ending(serve)


KINDS = {"braid": command, "python": program, "sandbox": sandbox}


def forked_sandboxes() -> None:
    """Let stores fork what runs their SQL, too."""
    from braid.views.duck import sql

    warm: Any = importlib.import_module("warm")  # it lies beside this script

    def popen(argv: list[str], **_: Any) -> Any:
        return warm.Sandbox(PLACE, argv[-1])

    vars(sql)["subprocess"] = types.SimpleNamespace(Popen=popen, PIPE=-1, DEVNULL=-3)


def ending(run: Any) -> int:
    """Run, and return the exit code that an interpreter would end with."""
    try:
        run()
    except SystemExit as leaving:
        if isinstance(leaving.code, str):
            sys.stderr.write(f"{leaving.code}\n")
        return leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def fill_disk_at(point: str) -> None:
    """Let the disk be full whenever the failpoint `point` is passed."""
    from braid.wal import failpoint

    def hook(name: str) -> None:
        if name == point:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    failpoint.arm(hook)


if __name__ == "__main__":
    PLACE = sys.argv[1]
    place = socket.socket(socket.AF_UNIX)
    place.bind(PLACE)
    place.listen(128)
    prepare()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    Server(place).serve()
