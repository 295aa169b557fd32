"""`braid remember`: words that are kept first, then read for what they state, now or by a job."""

from typing import Annotated, Literal

import typer

from braid.tools.cli.access import writing
from braid.tools.cli.append import stdin_text
from braid.tools.cli.options import Adopt, AgentId, ProjectId, RunId, SessionId, Shared, StoreOption, UserId
from braid.tools.cli.output import put, put_json, say
from braid.wire import to_builtins


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    app.command(rich_help_panel="Write")(remember)


def remember(
    text: Annotated[str, typer.Argument(help="What the user said; `-` reads stdin.", show_default=False)],
    *,
    user_id: UserId = None,
    agent_id: AgentId = None,
    run_id: RunId = None,
    project_id: ProjectId = None,
    session: SessionId = None,
    tag: Annotated[list[str] | None, typer.Option(help="A tag.", show_default=False)] = None,
    mode: Annotated[
        Literal["sync", "async", "auto"] | None,
        typer.Option(
            help="Read it within 2 s, within 30 s, or leave it to a job.",
            show_default="as remember_mode is set",
        ),
    ] = None,
    timeout_ms: Annotated[
        int | None,
        typer.Option(
            "--timeout-ms", min=1, max=60_000, help="How long it may be read at most.", show_default=False
        ),
    ] = None,
    raw: Annotated[bool, typer.Option("--raw", help="Keep the words only: nothing is read of them.")] = False,
    key: Annotated[
        str | None,
        typer.Option(
            "--key",
            help="Idempotency key: the same words add nothing twice, others are refused.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Literal["id", "json"], typer.Option("--output", "-o", help="The id alone, or the whole answer.")
    ] = "id",
    adopt: Adopt = False,
    shared: Shared = False,
    store: StoreOption = None,
) -> None:
    """Remember a text, and read what it states. Prints the memory's id.

    The words are on the disk before they are read. What isn't read in time is left to a job: `braid work` does it.
    What a living memory of the same scope says already adds nothing, but for a line in its history.

    \b
    Examples:
      braid remember "I moved to Porto." --user-id maya
      braid remember "I moved to Porto." --user-id maya --mode async
      braid remember - --raw < notes.txt
    """
    said = stdin_text() if text == "-" else text
    with writing(store, adopt=adopt, shared=shared) as opened:
        done = opened.remember(
            said,
            user_id=user_id,
            agent_id=agent_id,
            run_id=run_id,
            project_id=project_id,
            session_id=session,
            tags=tuple(tag or ()),
            idempotency_key=key,
            mode=mode,
            pipeline_timeout_ms=timeout_ms,
            raw=raw,
        )
    for warning in done.warnings:
        say(warning)
    if output == "json":
        put_json(to_builtins(done))
        return
    put(str(done.memory_id))
    if done.status != "processed":
        say(done.status.replace("_", " ") + (f": {done.job_id}" if done.job_id else ""))
