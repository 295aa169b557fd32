"""`braid knowledge export` and `braid knowledge central`: what is known as a graph, and what stands in its middle."""

import os
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from braid.ledger.record.source import BELIEVED, SourceClass
from braid.tools.cli import destination
from braid.tools.cli.access import reading
from braid.tools.cli.instants import AsOf, past
from braid.tools.cli.options import (
    MOST,
    AgentId,
    Everything,
    FormatOption,
    ProjectId,
    RunId,
    SessionId,
    StoreOption,
    UserId,
)
from braid.tools.cli.output import many, put_bytes, put_rows, say, to_json
from braid.wire import to_builtins

_CENTRAL = ("name", "type", "degree", "pagerank", "betweenness", "mentions", "id")
Trust = Annotated[
    SourceClass, typer.Option("--trust", help="The lowest source class whose claims are taken.")
]


def export(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A new file; `-` writes to stdout.", show_default=False)
    ],
    *,
    format: Annotated[
        Literal["graphml", "json"],
        typer.Option("--format", help="GraphML, or JSON in node-link form."),
    ] = "graphml",
    about: Annotated[
        str | None,
        typer.Option(
            "--about", metavar="X", help="An entity: only what is claimed of it.", show_default=False
        ),
    ] = None,
    trust: Trust = BELIEVED,
    as_of: AsOf = None,
    user_id: UserId = None,
    agent_id: AgentId = None,
    run_id: RunId = None,
    project_id: ProjectId = None,
    session_id: SessionId = None,
    store: StoreOption = None,
) -> None:
    """Write what is known as a graph: entities and values, and each claim with its record, turn and quote.

    It holds plain text, what is forgotten or erased left out: the file is readable by its owner alone. Contradicting
    claims are both in it; `polarity` false is a denial.

    \b
    Examples:
      braid knowledge export known.graphml
      braid knowledge export --format json --about Jonas --user-id jonas jonas.json
      braid knowledge export --trust owner -
    """
    to_stdout = str(file) == "-"
    if not to_stdout:
        destination.outside(file, store)
        if os.path.lexists(file) and not destination.is_stream(file):
            raise FileExistsError(f"{file} exists; choose another name")
    as_of_index, as_of_time = past(as_of)
    with reading(store) as opened:
        graph = opened.knowledge_graph(
            about=about,
            trust=trust,
            as_of=as_of_index,
            as_of_time=as_of_time,
            user_id=user_id,
            agent_id=agent_id,
            run_id=run_id,
            project_id=project_id,
            session_id=session_id,
        )
    if format == "json":
        text = f"{to_json(to_builtins(graph))}\n"
    else:
        from braid.knowledge.graphml import written

        text = written(graph)
    if to_stdout:
        put_bytes(text.encode())
    else:
        with destination.new_file(file) as stream:
            stream.write(text.encode())
    say(f"{many(len(graph.nodes), 'node')}, {many(len(graph.edges), 'claim')}, in plain text")


def central(
    *,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=MOST, help="How many at most.")] = 20,
    all_: Everything = False,
    trust: Trust = BELIEVED,
    as_of: AsOf = None,
    user_id: UserId = None,
    agent_id: AgentId = None,
    run_id: RunId = None,
    project_id: ProjectId = None,
    session_id: SessionId = None,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """Show which entities stand in the middle of what is known: to how many others claims relate them.

    It needs the extra "braid-store[graph]".

    \b
    Examples:
      braid knowledge central --user-id jonas
      braid knowledge central -n 5 -o json
    """
    as_of_index, as_of_time = past(as_of)
    asked: dict[str, Any] = {
        "trust": trust, "as_of": as_of_index, "as_of_time": as_of_time, "user_id": user_id, "agent_id": agent_id,
        "run_id": run_id, "project_id": project_id, "session_id": session_id,
    }  # fmt: skip
    with reading(store) as opened:
        found = opened.iter_centrality(**asked) if all_ else opened.centrality(**asked, limit=limit)
        shown = put_rows(_CENTRAL, map(to_builtins, found), output)
    if not shown:
        say("no claim relates two entities", "braid entity list shows who is spoken of")
