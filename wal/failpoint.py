"""Named points at which a test makes the process fail: before a durable step, and after it.

A step called `wal.write` passes `wal.write` before it happens and `wal.write.done` once it has: the pair
"failed and not done" / "failed but done". Outside tests nothing is armed and a point costs one comparison.
"""

import os
import signal
from collections.abc import Callable

_hook: Callable[[str], None] | None = None


def failpoint(name: str) -> None:
    """Give an armed test the chance to raise, or to kill the process, at this point."""
    if _hook is not None:
        _hook(name)


def arm(hook: Callable[[str], None] | None) -> None:
    """Call `hook` with the name of each point passed from now on; None disarms."""
    global _hook  # noqa: PLW0603 - one process, one armed test
    _hook = hook


def kill_at(spec: str) -> Callable[[str], None]:
    """Return a hook that kills this process with SIGKILL at `name` or at the n-th pass of `name@n`."""
    name, _, nth = spec.partition("@")
    left = int(nth or 1)

    def hook(passed: str) -> None:
        nonlocal left
        if passed == name:
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    return hook


if "BRAID_KILL_AT" in os.environ:  # set only by the crash tests, for a child process of theirs
    arm(kill_at(os.environ["BRAID_KILL_AT"]))
