"""Where the command `braid` begins: what needs no tree of commands is answered before one is built."""

import sys


def run() -> None:
    """Start `braid` and leave with its exit code."""
    if sys.argv[1:] == ["--version"] and _put_version():
        return
    from braid.tools.cli.main import run as run_command

    run_command()


def _put_version() -> bool:
    """Write the version; False where it can't be written, which the commands know how to tell."""
    import braid

    try:
        sys.stdout.write(f"braid {braid.__version__}\n")
        sys.stdout.flush()
    except (OSError, ValueError):
        return False
    return True
