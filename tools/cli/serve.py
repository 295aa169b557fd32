"""`braid serve` and `braid token`: the store behind HTTP, and who may ask it."""

from typing import Annotated, Literal

import typer

from braid.tools.cli.access import writing
from braid.tools.cli.group import BraidGroup, help_without_command
from braid.tools.cli.models import (
    AllowRemote,
    ChatOption,
    LargerOption,
    SecondOption,
    ServerModels,
    require_small,
)
from braid.tools.cli.options import (
    Adopt,
    AgentId,
    FormatOption,
    LogOption,
    ProjectId,
    Reason,
    RunId,
    SessionId,
    StoreOption,
    UserId,
)
from braid.tools.cli.output import put, put_rows, say
from braid.tools.cli.work import Queue, carry_by

app = typer.Typer(cls=BraidGroup, rich_markup_mode=None)
_COLUMNS = ("id", "name", "kind", "scope", "issued_at", "expires_at", "state")
_Kind = Literal["operator", "person", "agent", "autonomous", "model"]
_DAY_S = 86_400.0


def register(above: typer.Typer) -> None:
    """Add this module's commands."""
    above.command(rich_help_panel="Tend")(serve)
    above.add_typer(app, name="token", rich_help_panel="Tend")


def serve(
    *,
    port: Annotated[
        int | None,
        typer.Option(
            "--port",
            min=0,
            max=65_535,
            help="Answer on loopback too, by token; 0: any free port.",
        ),
    ] = None,
    host: Annotated[str, typer.Option("--host", help="The loopback address for --port.")] = "127.0.0.1",
    mode: Annotated[
        Literal["local", "team", "hybrid"],
        typer.Option("--mode", help="local: no port. hybrid: tokens at the port. team: at the socket, too."),
    ] = "hybrid",
    limits: Annotated[
        str,
        typer.Option(
            "--limits",
            metavar="RATES",
            help="How often a token may ask: read=3000/minute,write=1200/minute,destroy=30/minute.",
            show_default=False,
        ),
    ] = "",
    sql_limits: Annotated[
        str,
        typer.Option(
            "--sql-limits",
            metavar="BOUNDS",
            help="How far a token's SQL may go: seconds=30,rows=1000000,memory_bytes=536870912.",
            show_default=False,
        ),
    ] = "",
    workers: Annotated[
        int, typer.Option("--workers", min=0, max=16, help="How many threads work off jobs meanwhile.")
    ] = 0,
    model: ChatOption = None,
    second: SecondOption = None,
    larger: LargerOption = None,
    allow_remote: AllowRemote = False,
    log: LogOption = None,
    queue: Queue = None,
    adopt: Adopt = False,
    store: StoreOption = None,
) -> None:
    """Serve the store over HTTP until Ctrl-C: by a socket in its folder, and on loopback where a port is given.

    The socket is for whoever can open the store's folder anyway. A port needs a token: `braid token create`. Needs
    the extra: pip install "braid-store[serve]".

    \b
    Examples:
      braid serve
      braid serve --port 8765
      braid serve --workers 1
      braid serve --workers 1 --model ollama:llama3.2 --log json
      braid serve --port 8765 --mode team --limits destroy=5/minute
    """
    from importlib.util import find_spec

    if missing := [name for name in ("limits", "starlette", "uvicorn") if find_spec(name) is None]:
        raise ValueError(f"{', '.join(missing)}: needed to serve: pip install 'braid-store[serve]'")
    from braid.tools.http.limits import Limits, read_ceiling, read_rates
    from braid.tools.http.serve import serve as run

    rates, statements = Limits(read_rates(limits)), read_ceiling(sql_limits)
    require_small(model, second, larger)
    with writing(
        store,
        adopt=adopt,
        here=True,
        locked="a server may be running: `braid status` asks it",
        unwritable="a server needs to write; `braid mcp --kind model` serves an agent that only reads",
    ) as opened:
        carry_by(opened, queue)
        models = ServerModels(opened, model, second, larger, allow_remote=allow_remote)
        if workers or model:
            models()  # what is named wrongly is refused now
        if model and not workers:
            say("the model named is asked by workers alone, and there are none: --workers 1 starts one")
        run(
            opened.session,
            host=host,
            port=port,
            mode=mode,
            limits=rates,
            statements=statements,
            workers=workers,
            models=models,
            log=log,
            told=say,
        )


@app.callback(invoke_without_command=True)
def token(ctx: typer.Context) -> None:
    """Make, list and revoke the tokens by which a server knows who asks.

    \b
    Examples:
      braid token create laptop --kind operator
      braid token list
    """
    help_without_command(ctx)


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="Whose token it is.", show_default=False)],
    *,
    kind: Annotated[
        _Kind, typer.Option("--kind", help="Who asks with it; a person, unless it is said.")
    ] = "person",
    days: Annotated[
        float | None, typer.Option("--days", min=0.001, max=3660, help="For how long.", show_default=False)
    ] = None,
    allow: Annotated[
        list[str] | None,
        typer.Option(
            "--allow", help="An access (read, write, …) that it gives; may be repeated.", show_default=False
        ),
    ] = None,
    user_id: UserId = None,
    agent_id: AgentId = None,
    run_id: RunId = None,
    project_id: ProjectId = None,
    session: SessionId = None,
    store: StoreOption = None,
) -> None:
    """Make a token and print it, once: the store keeps only its hash. Ids hold it to that scope.

    A person may read, write, correct, forget and recover; an agent read, write and correct; a model only read; an
    operator all. The record that issues it is signed.

    \b
    Examples:
      braid token create laptop --kind operator
      braid token create claude-code --kind agent --user-id maya --days 30
    """
    from typing import cast

    from braid.operation import Access

    with writing(store) as asked:
        made = asked.issue_token(
            name,
            kind=kind,
            allowed=cast("list[Access] | None", allow),
            expires_s=None if days is None else days * _DAY_S,
            user_id=user_id,
            agent_id=agent_id,
            run_id=run_id,
            project_id=project_id,
            session_id=session,
        )
    put(made.secret)
    until = "" if made.expires_at is None else f" until {made.expires_at:%Y-%m-%d %H:%M} UTC"
    say(f"{made.id} counts{until}; it is not shown again. `braid token revoke {made.id}` ends it")


@app.command("list")
def list_(output: FormatOption = "table", store: StoreOption = None) -> None:
    """List the tokens that were made, and whether they still count.

    \b
    Examples:
      braid token list
      braid token list -o json
    """
    from braid.wire import to_builtins

    with writing(store) as asked:
        rows = [to_builtins(one) for one in asked.iter_tokens()]
    if output == "table":
        for row in rows:
            row["scope"] = (
                ", ".join(f"{name}={value}" for name, value in row["scope"].items()) or "the whole store"
            )
    put_rows(_COLUMNS, rows, output)


@app.command()
def revoke(
    id: Annotated[
        str, typer.Argument(metavar="TOKEN_ID", help="As `token list` shows it.", show_default=False)
    ],
    *,
    reason: Reason = None,
    store: StoreOption = None,
) -> None:
    """End a token; it counts for nothing from the next request on.

    \b
    Examples:
      braid token revoke tok_5m2kq7xw --reason "the laptop was stolen"
    """
    with writing(store) as asked:
        put(asked.revoke_token(id, reason=reason))
