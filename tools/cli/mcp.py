"""`braid mcp`: the store as tools of an agent."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from braid.tools.cli.access import Chosen, reading, where, writing
from braid.tools.cli.group import BraidGroup
from braid.tools.cli.options import AgentId, ProjectId, RunId, SessionId, StoreOption, UserId
from braid.tools.cli.output import put, say

if TYPE_CHECKING:
    from braid.caller import Caller
    from braid.session import Session
    from braid.tools.mcp.sampled import Sampling

app = typer.Typer(cls=BraidGroup, rich_markup_mode=None)
_Kind = Literal["agent", "person", "autonomous", "model"]
_KindOption = Annotated[
    _Kind, typer.Option("--kind", help="As whom it asks; only a person may forget, a model only reads.")
]


_Hooks = Annotated[
    bool, typer.Option("--hooks", help="Also answer the harness's own callbacks (docs/harness.md).")
]


_Sampling = Annotated[
    bool,
    typer.Option(
        "--sampling",
        help="Let the harness's own model read what people said, and word answers; it counts as far away.",
    ),
]


_MISSING = "mcp is needed to serve agents: pip install 'braid-store[mcp]'"


def register(above: typer.Typer) -> None:
    """Add this module's commands."""
    above.add_typer(app, name="mcp", rich_help_panel="Tend")


@app.callback(invoke_without_command=True)
def mcp(
    ctx: typer.Context,
    *,
    kind: _KindOption = "agent",
    url: Annotated[
        str | None,
        typer.Option("--url", help="A running server's http://127.0.0.1:PORT.", show_default=False),
    ] = None,
    token: Annotated[
        str | None,
        typer.Option("--token", envvar="BRAID_TOKEN", help="The token for --url.", show_default=False),
    ] = None,
    hooks: _Hooks = False,
    sampling: _Sampling = False,
    user_id: UserId = None,
    agent_id: AgentId = None,
    run_id: RunId = None,
    project_id: ProjectId = None,
    session: SessionId = None,
    store: StoreOption = None,
) -> None:
    """Serve the store to an agent by the Model Context Protocol, over stdin and stdout. Ids hold it to that scope.

    With --url a running server is asked, and its token says what may be asked. --sampling needs a client that samples,
    local_only false, and harness among remote_hosts. Needs the extra: pip install "braid-store[mcp]".

    \b
    Examples:
      braid mcp --user-id maya
      braid mcp install claude-code --user-id maya
    """
    if ctx.invoked_subcommand is not None:
        return
    from importlib.util import find_spec

    from msgspec.structs import asdict

    if find_spec("mcp") is None:
        raise ValueError(_MISSING)
    from braid.caller import Caller, narrowed
    from braid.log import drafts
    from braid.tools.hooks.state import StateFolder
    from braid.tools.mcp.hook_tool import HookTool
    from braid.tools.mcp.server import serve

    if sampling and (url is not None or session is not None):
        raise ValueError(
            "--sampling reads what people said for the store that is opened here, and over sessions: leave out"
            " --url and --session"
        )
    if url is not None:
        if kind != "agent" or any((user_id, agent_id, run_id, project_id, session)):
            raise ValueError(
                "with --url the token says who asks: make it with `braid token create … --user-id`"
            )
        if not token:
            raise ValueError("--url needs a token: set BRAID_TOKEN (`braid token create` makes one)")
        from braid.client import connect

        with connect(url, token=token) as client:
            hook = HookTool(client, None, StateFolder(url, _guard_dir())) if hooks else None
            serve(client, None, hook)
        return
    within = drafts.scope(user_id, agent_id, run_id, project_id, session)  # refused at once, not at each call
    ids = {} if within is None else asdict(within)
    caller = Caller(name="mcp", kind=kind, allowed=narrowed(kind, None), **ids)
    hint = "a server may have the store: start it with --port, and this with --url and BRAID_TOKEN"
    only = "`braid mcp --kind model` only reads"
    with (
        reading(store)
        if kind == "model"
        else writing(store, shared=True, locked=hint, unwritable=only) as opened
    ):
        hook = None
        if hooks:
            hook = HookTool(opened.session, caller, StateFolder(str(where(store)), _guard_dir()))
        served = opened.server is not None
        serve(opened.session, caller, hook, _sampled(opened.session, caller, served) if sampling else None)


def _sampled(session: "Session", caller: "Caller", served: bool) -> "Sampling":
    """Return the harness's model beside a store, having said what it is kept from. `served`: a server has the store."""
    from braid.providers.policy import refusal_of_host
    from braid.settings import settings
    from braid.tools.mcp.sampled import Sampling
    from braid.tools.mcp.sampling import HOST

    if (why := refusal_of_host(HOST, settings(session))) is not None:
        say(f"the harness's model is not asked: {why}")
    if served:
        say("a server has the store, and reads with models of its own: the harness's only words answers")
    return Sampling(session, caller, reads=not served)


def _guard_dir() -> str | None:
    return str(Chosen.guard_dir) if Chosen.guard_dir else None


@app.command()
def install(
    client: Annotated[
        Literal["claude-code", "cursor"], typer.Argument(help="Whose file.", show_default=False)
    ],
    *,
    show: Annotated[bool, typer.Option("--print", help="Only show the file as it would be.")] = False,
    kind: _KindOption = "agent",
    hooks: _Hooks = False,
    sampling: _Sampling = False,
    user_id: UserId = None,
    agent_id: AgentId = None,
    run_id: RunId = None,
    project_id: ProjectId = None,
    session: SessionId = None,
    store: StoreOption = None,
) -> None:
    """Add Braid to the servers in a client's file of this folder. Others stay; a copy of the old file is kept.

    \b
    Examples:
      braid mcp install claude-code --user-id maya
      braid mcp install cursor --print
    """
    from importlib.util import find_spec

    from braid.tools.hooks.install import command_of
    from braid.tools.mcp.install import FILES, entry, merged, write

    command, *arguments = command_of(where(store), Chosen.passphrase_file, Chosen.guard_dir, Chosen.model)
    arguments.append("mcp")
    ids = {
        "--user-id": user_id,
        "--agent-id": agent_id,
        "--run-id": run_id,
        "--project-id": project_id,
        "--session": session,
    }
    if kind != "agent":
        arguments += ["--kind", kind]
    if hooks:
        arguments.append("--hooks")
    if sampling:
        arguments.append("--sampling")
    arguments += [word for name, value in ids.items() if value is not None for word in (name, value)]
    path = FILES[client]
    text = merged(path, entry(command, arguments))
    if find_spec("mcp") is None:  # the file is right all the same: what it starts may be installed later
        say(_MISSING)
    if show:
        put(text.removesuffix("\n"))
        return
    backup = write(path, text)
    say(f"{path} starts braid now" + (f"; what was there is in {backup.name}" if backup else ""))
