"""A process that has imported Braid already and forks for each command, so that a session of many is quick.

One JSON object a line on stdin says what to run; a line with the exit code answers. Each command still has a process,
a folder, an environment and streams of its own.
"""

import json
import os
import sys
from typing import Any

import braid.store
import braid.tools.cli.main
import braid.transfer
import braid.views.sql
import braid.views.store


def serve() -> None:
    """Run commands until stdin ends."""
    for line in sys.stdin.buffer:
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            become(request)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def become(request: dict[str, Any]) -> None:
    """Be the command that was asked for, and end with it."""
    code = 70
    try:
        for number, name in enumerate(("stdin", "stdout", "stderr")):
            flags = os.O_RDONLY if name == "stdin" else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
            os.dup2(os.open(request[name], flags), number)
        sys.stdin = open(0, encoding="utf-8")  # noqa: SIM115 - what was read ahead is the server's
        os.chdir(request["cwd"])
        os.environ.clear()
        os.environ.update(request["env"])
        sys.argv = ["braid", *request["words"]]
        if request["fault"]:
            fill_disk_at(request["fault"])
        braid.tools.cli.main.run()
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def fill_disk_at(point: str) -> None:
    """Let the disk be full whenever the failpoint `point` is passed."""
    import errno

    from braid.wal import failpoint

    def hook(name: str) -> None:
        if name == point:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    failpoint.arm(hook)


if __name__ == "__main__":
    serve()
