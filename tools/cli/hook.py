"""`braid hook`: what a harness calls while a conversation goes on, its installation, and how it stands."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from braid.tools.cli.access import Chosen, where
from braid.tools.cli.group import BraidGroup, help_without_command
from braid.tools.cli.options import AgentId, FormatOption, ProjectId, RunId, SessionId, StoreOption, UserId
from braid.tools.cli.output import put, put_fields, say

app = typer.Typer(cls=BraidGroup, rich_markup_mode=None)


def register(above: typer.Typer) -> None:
    """Add this module's commands."""
    above.add_typer(app, name="hook", rich_help_panel="Tend")


@app.callback(invoke_without_command=True)
def hook(ctx: typer.Context) -> None:
    """Answer a harness's callbacks: `braid hook EVENT`, with the harness's JSON on stdin. Ends with 0.

    Events: session-start, user-prompt-submit, turn-end, pre-compaction, compaction-complete, session-end. New turns of
    the transcript are recorded; at a start and at a prompt, what is remembered is printed for the model. A failure
    blocks nothing: it is noted, and shown at the next start. A name that is none of these, without a harness's JSON,
    ends with 2.

    \b
    Examples:
      braid hook install claude-code --user-id maya
      braid hook status
    """
    help_without_command(ctx)


@app.command()
def install(
    harness: Annotated[
        Literal["claude-code"], typer.Argument(help="Whose settings.", show_default=False)
    ] = "claude-code",
    *,
    path: Annotated[
        Literal["hook", "plugin", "both"],
        typer.Option("--path", help="Commands, a tool of `braid mcp --hooks`, or both: then one is active."),
    ] = "hook",
    settings: Annotated[
        Literal["project", "local", "user"],
        typer.Option("--settings", help="Which of the harness's files."),
    ] = "project",
    show: Annotated[bool, typer.Option("--print", help="Only show the files as they would be.")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Take Braid's hooks out again.")] = False,
    user_id: UserId = None,
    agent_id: AgentId = None,
    run_id: RunId = None,
    project_id: ProjectId = None,
    session: SessionId = None,
    store: StoreOption = None,
) -> None:
    """Put Braid's hooks into a harness's settings. Others stay; a copy of the old file is kept.

    With the plugin, the tools of `braid mcp` are installed too, in .mcp.json.

    \b
    Examples:
      braid hook install claude-code --user-id maya
      braid hook install claude-code --path both --print
      braid hook install claude-code --remove
    """
    from braid.tools.hooks import install as settings_file
    from braid.tools.mcp import install as servers_file

    del harness
    ids = {
        "--user-id": user_id,
        "--agent-id": agent_id,
        "--run-id": run_id,
        "--project-id": project_id,
        "--session": session,
    }
    words = [word for name, value in ids.items() if value is not None for word in (name, value)]
    command = settings_file.command_of(where(store), Chosen.passphrase_file, Chosen.guard_dir, Chosen.model)
    file = settings_file.SETTINGS[settings]
    if remove:
        texts = {file: settings_file.removed(file)}
    else:
        texts = {file: settings_file.merged(file, command, path, words)}
        if path != "hook":
            servers = servers_file.FILES["claude-code"]
            entry = servers_file.entry(command[0], [*command[1:], "mcp", "--hooks", *words])
            texts[servers] = servers_file.merged(servers, entry)
    for name, text in texts.items():
        if show:
            put(text.removesuffix("\n"))
            continue
        backup = servers_file.write(name, text)
        done = "no longer calls braid" if remove else "calls braid now"
        say(f"{name} {done}" + (f"; what was there is in {backup.name}" if backup else ""))


@app.command()
def status(
    *,
    url: Annotated[
        str | None,
        typer.Option("--url", envvar="BRAID_URL", help="The server that the hooks ask.", show_default=False),
    ] = None,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """Say how the hooks stand: sessions, what is left unread, and what failed and was not told yet.

    \b
    Examples:
      braid hook status
      braid hook status -o json
    """
    from braid.client.remote import Remote
    from braid.tools.hooks.state import StateFolder
    from braid.tools.hooks.transcript import size_of
    from braid.tools.hooks.troubles import Troubles, said

    place = url or str(where(store))
    folder = StateFolder(place, str(Chosen.guard_dir) if Chosen.guard_dir else None)
    sessions = folder.sessions()
    unread = {one.session: (size_of(one) or one.size) - one.offset for one in sessions}
    troubles = Troubles(folder).all()
    paths = [one.path for one in sessions]
    fields: dict[str, Any] = {
        "server": "asked" if url else "running" if Remote(Path(place)).answers() else "none",
        "sessions": len(sessions),
        "by hook": paths.count("hook"),
        "by plugin": paths.count("plugin"),
        "unread bytes": sum(max(0, left) for left in unread.values()),
        "failures not told": sum(one["times"] for one in troubles),
    }
    if output == "table":
        put_fields(fields, output)
        for one in troubles:
            say(said(one))
        return
    put_fields(fields | ({"failures": troubles} if not output.startswith("csv") else {}), output)
