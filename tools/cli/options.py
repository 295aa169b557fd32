"""Options that several commands share."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from braid.tools.cli.output import Format

HERE = "This store"
StoreOption = Annotated[
    Path | None,
    typer.Option(
        "--store", metavar="PATH", help="The store (else BRAID_STORE, else ./memory).", show_default=False
    ),
]
FormatOption = Annotated[
    Format, typer.Option("--output", "-o", help="How to show it; csv-raw keeps cells as they are.")
]
MOST = 100_000
"""How many a list may have."""
Everything = Annotated[
    bool, typer.Option("--all", help=f"All of them, up to {MOST:,}: page by page in JSON lines and CSV.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would happen; change nothing.")]
Adopt = Annotated[bool, typer.Option("--adopt", help="Accept a store whose fork guard is missing, once.")]
Shared = Annotated[bool, typer.Option("--shared", help="Share the store with other writers that share it.")]
Reason = Annotated[
    str | None,
    typer.Option(
        "--reason",
        help="Why; sealed with the record. That of a forget, recover or erase outlives an erasure.",
        show_default=False,
    ),
]
Ids = Annotated[list[str], typer.Argument(metavar="ID…", help="Record ids.", show_default=False)]
UserId = Annotated[str | None, typer.Option("--user-id", help="Whose memory it is.", show_default=False)]
AgentId = Annotated[str | None, typer.Option("--agent-id", help="Of which agent.", show_default=False)]
RunId = Annotated[str | None, typer.Option("--run-id", help="Of which run.", show_default=False)]
ProjectId = Annotated[str | None, typer.Option("--project-id", help="Of which project.", show_default=False)]
SessionId = Annotated[str | None, typer.Option("--session", help="Of which session.", show_default=False)]
LogOption = Annotated[
    Literal["json", "text"] | None,
    typer.Option(
        "--log",
        envvar="BRAID_LOG",
        help="Show events on stderr, a line each, never what was said.",
        show_default="only what goes wrong",
    ),
]
