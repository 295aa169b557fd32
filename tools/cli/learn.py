"""`braid learn`: what was said, read for what it states, and recorded above it."""

from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from braid.tools.cli.access import reading, writing
from braid.tools.cli.models import (
    AllowRemote,
    ChatOption,
    LargerOption,
    SecondOption,
    chosen_models,
    require_small,
)
from braid.tools.cli.options import Adopt, DryRun, FormatOption, Shared, StoreOption
from braid.tools.cli.output import many, put_fields, put_rows, say

if TYPE_CHECKING:
    from pathlib import Path

    from braid.knowledge.operations import Extracted
    from braid.ledger.record.record import Draft, ExperienceBody, Record
    from braid.text.parse import Parser
    from braid.tools.cli.output import Format

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
    app.command(rich_help_panel=PANEL)(learning)


def learn(
    *,
    show: Annotated[
        bool, typer.Option("--show", help="Show each claim, with the words it was read from.")
    ] = False,
    retire: Annotated[
        str | None,
        typer.Option(
            "--retire",
            metavar="METHOD",
            help="Instead, let all readings of a reader lose their say, such as read:plain@1.",
            show_default=False,
        ),
    ] = None,
    dry_run: DryRun = False,
    model: ChatOption = None,
    second: SecondOption = None,
    larger: LargerOption = None,
    allow_remote: AllowRemote = False,
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

    Preferences that are stated as data, and tools by their use, are read too. With --model a language model reads what
    the rules can't: session by session, fenced as data, secrets as placeholders. What it quotes must stand in the turn,
    and the sentence must bear it out. Its words are in the log then: nothing needs the model again.

    \b
    Examples:
      braid learn
      braid learn --dry-run --show
      braid learn --model ollama:llama3.2
      braid learn -o json
      braid learn --retire read:plain@1
    """
    if retire is not None:
        _retire(retire, store, output, dry_run=dry_run, adopt=adopt, shared=shared)
        return
    rows: list[dict[str, Any]] = []

    def told(record: "Record", draft: "Draft") -> None:
        rows.extend(_rows(record, draft))

    require_small(model, second, larger)
    with reading(store) if dry_run else writing(store, adopt=adopt, shared=shared) as opened:
        models = chosen_models(opened, model, second, larger, allow_remote=allow_remote)
        done = opened.learn(dry_run=dry_run, told=told if show else None)
        also = opened.extract(
            dry_run=dry_run,
            model=models.small,
            second=models.second,
            larger=models.larger,
            parser=_parser() if models.small is not None else None,
            told=told if show else None,
        )
        if not dry_run:
            opened.checkpoint()
    if show:
        put_rows(_COLUMNS, rows, output)
        say(f"{many(done.claims + also.claims, 'claim')} in {many(done.read, 'turn')}")
    else:
        put_fields(
            {
                "turns read": done.read,
                "records": done.records + also.records,
                "claims": done.claims + also.claims,
                "characters not read": done.left,
                **(_by_model(also) if models.small is not None else {}),
            },
            output,
        )
    if also.stopped:
        say(f"{_why_stopped(also)}: {many(also.waiting, 'turn')} wait for the next time")
    if done.left:
        say(f"{many(done.left, 'character')} of {many(done.partly, 'turn')} not read: {_bounds()}")
    if dry_run:
        say(f"{many(done.records + also.records, 'record')} would be appended (--dry-run)")


def learning(
    *,
    health: Annotated[
        bool | None,
        typer.Option("--health/--no-health", help="Whether claims of health are made.", show_default=False),
    ] = None,
    finance: Annotated[
        bool | None,
        typer.Option("--finance/--no-finance", help="Whether claims of money are made.", show_default=False),
    ] = None,
    reason: Annotated[
        str | None, typer.Option("--reason", help="Why; it is sealed with the event.", show_default=False)
    ] = None,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """Show or set what learning may keep: claims of health and of money are off until you allow them.

    What was said stays in the log and can be found and quoted, either way. Each change is a signed event. Turned
    off, what was learned of it loses its say by one event a reader; on, the next `braid learn` reads the log for it.

    \b
    Examples:
      braid learning
      braid learning --health
      braid learning --no-health --reason "she asked for it"
    """
    if health is None and finance is None:
        with reading(store) as opened:
            found = opened.learning_setting()
    else:
        with writing(store) as opened:
            found = opened.set_learning(health=health, finance=finance, reason=reason)
            opened.checkpoint()
    put_fields(
        {
            "health": "on" if found.health else "off",
            "finance": "on" if found.finance else "off",
            "record": found.record or "-",
        },
        output,
    )


def _parser() -> "Parser":
    """Return the parser whose word the gates take for what a model found; ParserMissingError says what to install."""
    from braid.models.spacy_parser import SpacyParser

    parser = SpacyParser()
    _ = parser.name
    return parser


def _by_model(done: "Extracted") -> dict[str, Any]:
    """Return what a model read, by field."""
    return {
        "turns read by the model": done.turns,
        "staged": done.staged,
        "refused": sum(done.refused.values()),
        "warnings": sum(done.warnings.values()),
        "failures": sum(done.failures.values()),
        "turns waiting": done.waiting,
        "turns given up": done.given_up,
        "tokens in": done.tokens_in,
        "tokens out": done.tokens_out,
    }


def _why_stopped(done: "Extracted") -> str:
    return "the day's tokens are spent" if done.budget_spent else "the model failed again and again"


def _retire(
    method: str, store: "Path | None", output: "Format", *, dry_run: bool, adopt: bool, shared: bool
) -> None:
    if dry_run:
        raise typer.BadParameter("a retirement is one event that can be forgotten; it has no dry run")
    with writing(store, adopt=adopt, shared=shared) as opened:
        done = opened.retire_reader(method)
        opened.checkpoint()
    put_fields({"id": done.id, "method": done.method, "readings": done.readings, "new": done.is_new}, output)
    say(f"`braid forget {done.id}` gives them their say back")


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
