"""`braid learn`: what was said, read for what it states, and recorded above it."""

from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from braid.tools.cli.access import reading, writing
from braid.tools.cli.options import Adopt, DryRun, FormatOption, Shared, StoreOption
from braid.tools.cli.output import many, put_fields, put_rows, say

if TYPE_CHECKING:
    from braid.ledger.record.record import Draft, ExperienceBody, Record

PANEL = "Write"
_COLUMNS = (
    "from",
    "subject",
    "rel",
    "object",
    "polarity",
    "valid_from",
    "valid_to",
    "hedge",
    "said_by",
    "quote",
)


def register(app: typer.Typer) -> None:
    """Add this module's command."""
    app.command(rich_help_panel=PANEL)(learn)


def learn(
    *,
    show: Annotated[
        bool, typer.Option("--show", help="Show each claim, with the words it was read from.")
    ] = False,
    dry_run: DryRun = False,
    adopt: Adopt = False,
    shared: Shared = False,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """Read new turns for what they state in plain words, and append it as inference records.

    Rules, no model: homes, jobs, family, pets, likes, diets, health, plans, dates; corrections and retractions; what
    others are reported to say. Questions, wishes, irony, quotations and code state nothing. Each record links to the
    turn that it was read from, and quotes it. Only what people say is read, from where reading stopped the last time;
    again adds nothing. `braid ingest` does this at its end. Of a very long turn the beginning is read, and what was
    left is counted.

    \b
    Examples:
      braid learn
      braid learn --dry-run --show
      braid learn -o json
    """
    rows: list[dict[str, Any]] = []

    def told(record: "Record", draft: "Draft") -> None:
        rows.extend(_rows(record, draft))

    with reading(store) if dry_run else writing(store, adopt=adopt, shared=shared) as opened:
        done = opened.learn(dry_run=dry_run, told=told if show else None)
        if not dry_run:
            opened.checkpoint()
    if show:
        put_rows(_COLUMNS, rows, output)
        say(f"{many(done.claims, 'claim')} in {many(done.read, 'turn')}")
    else:
        put_fields(
            {
                "turns read": done.read,
                "records": done.records,
                "claims": done.claims,
                "characters not read": done.left,
            },
            output,
        )
    if done.left:
        say(f"{many(done.left, 'character')} of {many(done.partly, 'turn')} not read: {_bounds()}")
    if dry_run:
        say(f"{many(done.records, 'record')} would be appended (--dry-run)")


def _bounds() -> str:
    from braid.learn.page import MAX_CLAIMS
    from braid.learn.source import MAX_SENTENCE, MAX_TEXT

    return (
        f"of a turn, {MAX_TEXT:,} characters are read, sentences of up to {MAX_SENTENCE:,}, and {MAX_CLAIMS} "
        "claims are taken"
    )


def _rows(record: "Record", draft: "Draft") -> list[dict[str, Any]]:
    """Return the claims of a draft, by column."""
    claims = cast("ExperienceBody", draft.body).symbolic
    return [{name: getattr(claim, name, record.id) for name in _COLUMNS} for claim in claims]
