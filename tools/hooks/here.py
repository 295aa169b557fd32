"""A hook without a server: the store is opened in this process, shared with others, for one callback.

Without the model that searches by meaning: loading it would take longer than all the rest. A server has it.
"""

from pathlib import Path
from typing import Any
from warnings import catch_warnings

from braid.entry import open as open_store
from braid.tools.cli.access import passphrase_from
from braid.tools.cli.errors import explain
from braid.tools.hooks.service import ask_door

_WAIT_S = 1.0
"""How long another writer is waited for."""


class StoreError(Exception):
    """The store could not be opened or asked; says why, and what to do."""


def ask_here(store: str, options: dict[str, str], header: dict[str, Any], lines: bytes) -> dict[str, Any]:
    """Answer a hook from the store itself. Raises StoreError."""
    try:
        phrase = passphrase_from(Path(named)) if (named := options.get("--passphrase-file")) else None
        with catch_warnings(action="ignore"):  # what a crash left behind is told by the next command
            opened = open_store(
                store,
                create=False,
                shared=True,
                passphrase=phrase,
                guard_dir=options.get("--guard-dir"),
                wait_s=_WAIT_S,
            )
        with opened:
            return ask_door(opened.session, header, lines)
    except Exception as error:
        said, hint = explain(error)
        raise StoreError(f"{said}; {hint}" if hint else said) from None
