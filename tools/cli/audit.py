"""A verification as the command runs it: with a bar, and also of a store that can't be opened."""

from pathlib import Path
from typing import TYPE_CHECKING

from braid.tools.cli.access import Chosen, passphrase_from, reading
from braid.tools.cli.progress import Bar

if TYPE_CHECKING:
    from braid.ledger.findings import Finding, Report, VerifiedState
    from braid.ledger.guard import Guard


def audit(
    path: Path,
    guard: "Guard",
    *,
    deep: bool,
    hash_only: bool,
    since: "VerifiedState | None",
    workers: int | None,
    vkey: str | None,
    bar: Bar,
) -> "Report":
    """Verify the store at `path` from its files; with `deep` its projections too, where it can be opened."""
    from braid.ledger.verify import verify

    def projections() -> "list[Finding]":
        with reading(path) as opened:
            return opened.views.check()

    return verify(
        path,
        deep=deep,
        hash_only=hash_only,
        since=since,
        workers=workers,
        progress=bar.reach,
        guard=guard,
        passphrase=passphrase_from(Chosen.passphrase_file),
        vkey=vkey,
        projections=projections if deep else None,
    )
