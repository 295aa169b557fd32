"""Where the command `braid` begins: what needs no tree of commands is answered before one is built."""

import sys


def run() -> None:
    """Start `braid` and leave with its exit code."""
    try:
        _run()
    except KeyboardInterrupt:  # before there was anybody to tell it
        sys.stderr.write("braid: stopped\n")
        sys.exit(130)


def _run() -> None:
    sys.meta_path.insert(0, _WithoutPandas())
    if sys.argv[1:] == ["--version"] and _put_version():
        return
    if "hook" in sys.argv[1:] and _answered_hook():
        return
    if "recall" in sys.argv[1:4] and _recalled():
        return
    from braid.tools.cli.main import run as run_command

    run_command()


class _WithoutPandas:
    """Lets no import of pandas succeed. pyarrow tries one with the first array that it makes, for a sixth of a second
    where pandas is installed, and no command has a use for it.
    """

    def find_spec(self, fullname: str, path: object, target: object = None, /) -> None:
        """Refuse pandas; find nothing else."""
        if fullname == "pandas":
            raise ModuleNotFoundError("no command of braid uses pandas", name=fullname)


def _answered_hook() -> bool:
    """Answer a harness's callback; False for another command."""
    from braid.tools.hooks.entry import event_in, run

    event = event_in(sys.argv[1:])
    if event is None:
        return False
    if code := run(sys.argv[1:], event):
        sys.exit(code)
    return True


def _put_version() -> bool:
    """Write the version; False where it can't be written, which the commands know how to tell."""
    import braid

    try:
        sys.stdout.write(f"braid {braid.__version__}\n")
        sys.stdout.flush()
    except (OSError, ValueError):
        return False
    return True


def _recalled() -> bool:
    """Answer `braid recall` through a running server; False where there is none, or the command has more to say."""
    from braid.tools.cli.served_recall import answered

    if not answered(sys.argv[1:]):
        return False
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        import os

        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    return True
