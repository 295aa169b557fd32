"""Opening the store that a command was pointed at, for reading or for writing, and saying what was noticed."""

import getpass
import os
import shlex
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings

from braid.tools.cli.output import many, say

if TYPE_CHECKING:
    from braid.ledger.tree.guard import Guard
    from braid.store import Store


class Chosen:
    """What the options before the command say."""

    store: Path | None = None
    passphrase_file: Path | None = None
    guard_dir: Path | None = None
    model: str | None = None


def where(store: Path | None) -> Path:
    """Return the store's path: the command's option, else the global one (or BRAID_STORE), else ./memory."""
    return store or Chosen.store or Path("memory")


def braid_again(store: Path | None) -> str:
    """Return how a next command on the same store begins, quoted for a shell: `braid`, with the options before it."""
    place = store or Chosen.store
    given = {
        "--store": None if place is None or str(place) == os.environ.get("BRAID_STORE") else place,
        "--guard-dir": Chosen.guard_dir,
        "--passphrase-file": Chosen.passphrase_file,
    }
    named = (f" {name} {shlex.quote(str(value))}" for name, value in given.items() if value is not None)
    return "braid" + "".join(named)


def passphrase_from(path: Path | None) -> str | None:
    """Return the passphrase in a file: its first line."""
    if path is None:
        return None
    return path.read_text("utf-8").partition("\n")[0].removesuffix("\r")


def guard_of(path: Path) -> "Guard":
    """Return the fork guard of the store at `path`."""
    from braid.ledger.settings import load_settings
    from braid.ledger.tree.guard import Guard

    return Guard.of_store(load_settings(path).store_id, Chosen.guard_dir)


@contextmanager
def reading(store: Path | None) -> Generator["Store"]:
    """Open for reading; any number of processes may, while another writes. A running server is asked."""
    import braid

    path = where(store)

    def attempt(phrase: str | None) -> "Store":
        with catch_warnings(action="ignore"):  # that another copy is remembered is said below
            return braid.open(
                path,
                create=False,
                read_only=True,
                passphrase=phrase,
                guard_dir=Chosen.guard_dir,
                **_embedder(),
            )

    opened = _unlocked(attempt)
    if opened.server is not None:
        with opened:
            yield opened
        return
    with opened:
        if opened.reader.contradiction:
            say(f"{opened.reader.contradiction}. This one is only read")
        if opened.reader.guarded is None:
            say(f"{opened.reader.guard.path} is missing: nothing would show that this copy is an older one")
        if opened.reader.vault is None:
            say("there is no vault here: bodies stay sealed (an auditor's copy)")
        yield opened
        if lag := opened.lag:
            say(f"views/ can't be written here; not looked at: {many(lag, 'record')} at the log's end")


@contextmanager
def writing(
    store: Path | None,
    *,
    adopt: bool = False,
    shared: bool = False,
    headless: bool = False,
    locked: str = "",
    unwritable: str = "",
    here: bool = False,
) -> Generator["Store"]:
    """Open for writing, or ask the store's server; what the last crash left behind is made good and told.

    `locked`: what a person may do instead while another program has the store. `unwritable`: what, where it can only be
    read. `here`: no server is asked.
    """
    import braid
    from braid.ledger.errors import UnwritableError
    from braid.wal.errors import LogLockedError

    path = where(store)
    without: dict[str, Any] = {"server": None} if here else {}

    def attempt(phrase: str | None) -> "Store":
        with catch_warnings(record=True, action="always") as heard:  # that a tail was cut is said below
            store_ = braid.open(
                path,
                create=False,
                adopt=adopt,
                shared=shared,
                passphrase=phrase,
                guard_dir=Chosen.guard_dir,
                headless=headless,
                **_embedder() | without,
            )
        for one in heard:
            if one.category.__name__ == "UnfinishedErasureWarning":
                say(str(one.message))
        return store_

    try:
        opened = _unlocked(attempt)
    except LogLockedError as error:
        if locked:
            error.add_note(locked)
        raise
    except UnwritableError as error:
        if unwritable:
            error.add_note(unwritable)
        raise
    if opened.server is not None:
        with opened:
            yield opened
        return
    with opened:
        if torn := opened.writer.torn:
            from braid.ledger.write.tail import describe

            say(describe(torn, opened.writer.durability))
        if opened.reader.durability != opened.reader.settings.durability:
            from braid.ledger.write.durability import describe as describe_durability

            say(describe_durability(opened.reader))
        yield opened
        trouble = opened.writer.trouble
    if trouble is not None:
        say(f"the records are safe, but their head was published late: {trouble}")


def _embedder() -> dict[str, Any]:
    """Return what brings the model that was chosen; nothing where the front door's own serves.

    A server has a model of its own, so it is not asked for what another is to find.
    """
    if Chosen.model is None:
        return {}
    from braid.tools.cli.models import embedding

    return {"embedder": embedding(Chosen.model), "server": None}


def _unlocked(attempt: Callable[[str | None], "Store"]) -> "Store":
    """Open with the passphrase at hand; where there is none, ask the person once."""
    from braid.ledger.errors import VaultPassphraseError

    phrase = passphrase_from(Chosen.passphrase_file)
    try:
        return attempt(phrase)
    except VaultPassphraseError:
        if phrase is not None or not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise
    return attempt(getpass.getpass("Passphrase of the vault: ", sys.stderr))
