"""`braid entity`: who and what is spoken of, and what is decided of their names."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from braid.tools.cli.access import reading, writing
from braid.tools.cli.group import BraidGroup, help_without_command
from braid.tools.cli.instants import AsOf, past
from braid.tools.cli.options import (
    MOST,
    Adopt,
    AgentId,
    Everything,
    FormatOption,
    ProjectId,
    Reason,
    RunId,
    SessionId,
    Shared,
    StoreOption,
    UserId,
)
from braid.tools.cli.output import line, many, put, put_json, put_rows, put_table, say
from braid.wire import to_builtins

if TYPE_CHECKING:
    from braid.knowledge.entity_operations import EntityDecision, EntityFact, EntityView

app = typer.Typer(cls=BraidGroup, rich_markup_mode=None)
_LISTED = ("name", "type", "mentions", "names", "owner", "id")
_PROPOSED = ("one", "other", "score", "why", "ids")
MOST_MENTIONS = 10
"""So many mentions are shown in a table, the newest; in JSON all."""
Output = Annotated[Literal["table", "json"], typer.Option("--output", "-o", help="How to show it.")]
Ref = Annotated[
    str, typer.Argument(metavar="ENTITY", help="One of its names, or its id.", show_default=False)
]
By = Annotated[
    str | None, typer.Option("--by", help="Who decides: a person, or a model.", show_default=False)
]


def register(above: typer.Typer) -> None:
    """Add this module's commands."""
    above.add_typer(app, name="entity", rich_help_panel="Read")


@app.callback(invoke_without_command=True)
def entity(ctx: typer.Context) -> None:
    """Show who and what is spoken of, and decide which names mean one thing.

    Names that mean one thing are joined: by their spelling, an alias, a statement, or what is said of them. What stays
    open is proposed. A decision is a signed record: splitting, or forgetting it, undoes it.

    \b
    Examples:
      braid entity list --user-id maya
      braid entity show Bob --user-id maya
      braid entity merge Bob "Robert Kinsella" --user-id maya
    """
    help_without_command(ctx)


@app.command("list")
def list_(
    *,
    type_: Annotated[
        Literal["person", "organisation", "product", "place", "thing"] | None,
        typer.Option("--type", help="Only these.", show_default=False),
    ] = None,
    named: Annotated[
        str | None,
        typer.Option("--named", metavar="TEXT", help="Only with this in a name.", show_default=False),
    ] = None,
    proposals: Annotated[
        bool, typer.Option("--proposals", help="Show instead what may be one, for you to decide.")
    ] = False,
    meanings: Annotated[
        bool, typer.Option("--meanings", help="Let the store's model support close names.")
    ] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=MOST, help="How many at most.")] = 100,
    all_: Everything = False,
    as_of: AsOf = None,
    user_id: UserId = None,
    agent_id: AgentId = None,
    run_id: RunId = None,
    project_id: ProjectId = None,
    session_id: SessionId = None,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """List people, organisations, products, places and things that claims speak of, those mentioned most first.

    \b
    Examples:
      braid entity list --user-id maya
      braid entity list --type person --named bob -o json
      braid entity list --all -o jsonl
      braid entity list --proposals
    """
    as_of_index, as_of_time = past(as_of)
    asked: dict[str, Any] = {
        "type": type_, "named": named, "meanings": meanings, "as_of": as_of_index, "as_of_time": as_of_time,
        "user_id": user_id, "agent_id": agent_id, "run_id": run_id, "project_id": project_id,
        "session_id": session_id,
    }  # fmt: skip
    with reading(store) as opened:
        if all_ and not proposals:
            listed = opened.iter_entities(**asked)
            put_rows(_LISTED, (_listed(to_builtins(each)) for each in listed), output)
            return
        found = opened.entities(**asked, limit=MOST if all_ else limit)
    if proposals:
        rows: list[dict[str, Any]] = [
            {"one": each.names[0], "other": each.names[1], "score": f"{each.score:.2f}", "why": each.why,
             "ids": f"{each.one} {each.other}"}
            for each in found.proposals
        ]  # fmt: skip
        put_rows(_PROPOSED, rows, output)
        say(many(found.proposal_count, "proposal"))
        return
    put_rows(_LISTED, [_listed(to_builtins(each)) for each in found.entities], output)
    more = "" if len(found.entities) == found.count else f", of which {len(found.entities)} are shown"
    say(
        f"{found.count} {'entity' if found.count == 1 else 'entities'}{more}; {many(found.proposal_count, 'proposal')}"
    )


def _listed(row: dict[str, Any]) -> dict[str, Any]:
    return row | {"names": ", ".join(name for name in row["names"] if name != row["name"])}


@app.command()
def show(
    wanted: Ref,
    *,
    as_of: AsOf = None,
    user_id: UserId = None,
    agent_id: AgentId = None,
    run_id: RunId = None,
    project_id: ProjectId = None,
    session_id: SessionId = None,
    output: Output = "table",
    store: StoreOption = None,
) -> None:
    """Show an entity: its names and how they were joined, its relations, what is claimed of it, where it is mentioned.

    \b
    Examples:
      braid entity show Bob --user-id maya
      braid entity show ent_4f2a0c9d81be -o json
    """
    as_of_index, as_of_time = past(as_of)
    with reading(store) as opened:
        found = opened.entity(
            wanted, as_of=as_of_index, as_of_time=as_of_time, user_id=user_id, agent_id=agent_id,
            run_id=run_id, project_id=project_id,
            session_id=session_id,
        )  # fmt: skip
    if output == "json":
        put_json(to_builtins(found))
    else:
        _put(found)


def _put(found: "EntityView") -> None:
    put(line(f"{found.name} ({found.type}) {found.id}"))
    others = [name for name in found.names if name != found.name]
    if others:
        put(line(f"also called: {', '.join(others)}"))
    for joined in found.joined:
        put(line(f"joined: {joined.one} = {joined.other} ({joined.how}: {joined.why})"))
    claims = [*found.relations, *found.facts]
    if claims:
        put("")
        put_table(["claim", "turn"], [[line(_words(each)), each.turn] for each in claims])
    put("")
    rows = [
        [f"{each.said_at:%Y-%m-%d}", line(each.name), each.role, line(each.quote or ""), each.turn]
        for each in found.mentions[-MOST_MENTIONS:]
    ]
    put_table(["said", "name", "as", "words", "turn"], rows)
    for proposed in found.proposals:
        put(line(f"may be one: {proposed.names[0]} and {proposed.names[1]} ({proposed.why})"))
    say(many(len(found.mentions), "mention"))


def _words(fact: "EntityFact") -> str:
    return f"{fact.subject} {'' if fact.polarity else 'not '}{fact.rel} {fact.object}"


@app.command()
def merge(
    one: Ref,
    other: Annotated[
        str, typer.Argument(metavar="OTHER", help="The entity that is the same.", show_default=False)
    ],
    *,
    by: By = None,
    reason: Reason = None,
    user_id: UserId = None,
    agent_id: AgentId = None,
    run_id: RunId = None,
    project_id: ProjectId = None,
    session_id: SessionId = None,
    output: Output = "table",
    adopt: Adopt = False,
    shared: Shared = False,
    store: StoreOption = None,
) -> None:
    """Record that two entities are one. `braid entity split`, or forgetting the record, gives both back.

    \b
    Examples:
      braid entity merge Bob "Robert Kinsella" --user-id maya --reason "she said so"
      braid entity merge ent_4f2a0c9d81be ent_0b77aa120cde --by smollm2
    """
    with writing(store, adopt=adopt, shared=shared) as opened:
        done = opened.merge_entities(
            one, other, by=by, reason=reason, user_id=user_id, agent_id=agent_id, run_id=run_id, project_id=project_id,
            session_id=session_id,
        )  # fmt: skip
    _put_decision(done, output, "they are one already")


@app.command()
def split(
    wanted: Ref,
    *,
    names: Annotated[
        list[str] | None,
        typer.Option(
            "--name", metavar="NAME", help="A name that is another's; repeatable.", show_default=False
        ),
    ] = None,
    turns: Annotated[
        list[str] | None,
        typer.Option(
            "--turn", metavar="ID", help="A turn that speaks of another; repeatable.", show_default=False
        ),
    ] = None,
    by: By = None,
    reason: Reason = None,
    user_id: UserId = None,
    agent_id: AgentId = None,
    run_id: RunId = None,
    project_id: ProjectId = None,
    session_id: SessionId = None,
    output: Output = "table",
    adopt: Adopt = False,
    shared: Shared = False,
    store: StoreOption = None,
) -> None:
    """Record that an entity is two: some names are another's, or its names mean another in some turns.

    Without --name and --turn, the decisions that joined its names are taken back.

    \b
    Examples:
      braid entity split Bob --user-id maya
      braid entity split QuickBooks --name QB
      braid entity split Alex --turn exp_2025-05-17T09:00:00Z_0000000300ab
    """
    with writing(store, adopt=adopt, shared=shared) as opened:
        done = opened.split_entity(
            wanted, names=names or (), turns=turns or (), by=by, reason=reason, user_id=user_id, agent_id=agent_id,
            run_id=run_id, project_id=project_id, session_id=session_id,
        )  # fmt: skip
    _put_decision(done, output, "")


@app.command()
def alias(
    wanted: Annotated[
        str | None,
        typer.Argument(metavar="[ENTITY]", help="One of its names, or its id.", show_default=False),
    ] = None,
    aliases: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME…]", help="Its other names.", show_default=False)
    ] = None,
    *,
    file: Annotated[
        Path | None,
        typer.Option("--file", metavar="FILE", help="Lines of `name: other, other`.", show_default=False),
    ] = None,
    by: By = None,
    reason: Reason = None,
    user_id: UserId = None,
    agent_id: AgentId = None,
    run_id: RunId = None,
    project_id: ProjectId = None,
    session_id: SessionId = None,
    output: Output = "table",
    adopt: Adopt = False,
    shared: Shared = False,
    store: StoreOption = None,
) -> None:
    """Record other names of an entity, also of one that nobody has mentioned yet. Repeating it writes nothing.

    A file has a line for each thing: `quickbooks [product]: QB, QBO`.

    \b
    Examples:
      braid entity alias QuickBooks QB "QuickBooks Online" --user-id maya
      braid entity alias --file aliases.txt --user-id maya
    """
    told = _lines(file) if file is not None else []
    if wanted is not None and aliases:
        told.append((wanted, aliases))
    if not told or (wanted is None) != (not aliases):
        raise ValueError("name an entity and its other names, or a --file of them")
    with writing(store, adopt=adopt, shared=shared) as opened:
        done = [
            opened.alias_entity(
                name, others, by=by, reason=reason, user_id=user_id, agent_id=agent_id, run_id=run_id,
                project_id=project_id,
                session_id=session_id,
            )
            for name, others in told
        ]  # fmt: skip
    for each in done:
        _put_decision(each, output, "these names are known already")


def _lines(path: Path) -> list[tuple[str, list[str]]]:
    from braid.text.aliases import lines_of

    try:
        return [(one.name, list(one.others)) for one in lines_of(path.read_text("utf-8"))]
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _put_decision(done: "EntityDecision", output: str, nothing: str) -> None:
    if output == "json":
        put_json(to_builtins(done))
    elif done.entities:
        put_rows(_LISTED, [_listed(to_builtins(each)) for each in done.entities])
    say(f"{done.id} was appended" if done.id else f"nothing was appended: {nothing}")
