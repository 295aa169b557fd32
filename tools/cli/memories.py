"""`braid memories`, `modify` and `history`: what is remembered, what changes in it, and how it came to be so."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from braid.errors import InvalidRequestError
from braid.tools.cli.access import reading, writing
from braid.tools.cli.errors import FINDINGS
from braid.tools.cli.instants import AsOf, past
from braid.tools.cli.options import (
    Adopt,
    AgentId,
    Everything,
    FormatOption,
    ProjectId,
    RunId,
    SessionId,
    Shared,
    StoreOption,
    UserId,
)
from braid.tools.cli.output import Format, put, put_json, put_rows, say
from braid.wire import to_builtins

if TYPE_CHECKING:
    from braid.memories.operations import Modify
    from braid.store import Store

_PAGE = 500
"""How many memories are held at once where all are asked for."""
_LISTED = ("id", "created_at", "actor", "method", "corrected", "pinned", "version", "text")
_FORGOTTEN = ("id", "created_at", "forgotten_at", "recoverable_until", "text")
_OUTCOMES = ("asked", "id", "version", "error", "message")
_CHANGES = ("version", "at", "change", "old", "new", "reason", "method", "asked_by", "session_id", "id")


def register(above: typer.Typer) -> None:
    """Add this module's commands."""
    above.command(rich_help_panel="Write")(modify)
    above.command(rich_help_panel="Read")(history)
    above.command(rich_help_panel="Read")(memories)


def modify(
    id: Annotated[
        str | None,
        typer.Argument(metavar="ID", help="Any record of the memory's chain.", show_default=False),
    ] = None,
    text: Annotated[
        str | None, typer.Argument(help="What it says instead; unchanged without.", show_default=False)
    ] = None,
    *,
    reason: Annotated[
        str | None, typer.Option("--reason", help="Why; it stays in the history.", show_default=False)
    ] = None,
    batch: Annotated[
        str | None,
        typer.Option(
            "--batch", metavar="FILE", help="Changes, one JSON object a line; - is stdin.", show_default=False
        ),
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", help="All its tags; may be repeated.", show_default=False)
    ] = None,
    pin: Annotated[
        bool | None,
        typer.Option("--pin/--unpin", help="Whether it is kept from being forgotten.", show_default=False),
    ] = None,
    importance: Annotated[
        float | None,
        typer.Option(
            "--importance", min=0, max=1, help="Above .5 recall finds it sooner.", show_default=False
        ),
    ] = None,
    lock_days: Annotated[
        int | None,
        typer.Option(
            "--lock-days",
            min=0,
            max=3650,
            help="For so long no agent changes it; 0 lifts that.",
            show_default=False,
        ),
    ] = None,
    if_version: Annotated[
        int | None,
        typer.Option("--if-version", min=1, help="Only where it has this version.", show_default=False),
    ] = None,
    output: FormatOption = "table",
    adopt: Adopt = False,
    shared: Shared = False,
    store: StoreOption = None,
) -> None:
    """Change a memory: its text, tags, whether it is pinned, how important it is. Prints the record that says so.

    The old text stays in the log, superseded. What nobody names stays as it is. With --batch several memories are
    changed, each by itself: a line says what became of each, and the exit code is 1 where one was refused.

    \b
    Examples:
      braid modify exp_2025-05-17T09:00:00Z_0000000300ab "Maya moved to Lisbon." --reason "misheard"
      braid modify exp_2025-05-17T09:00:00Z_0000000300ab --pin --reason "an allergy"
      braid modify --batch changes.jsonl -o json
    """
    if batch is not None:
        given = (id, text, reason, tag, pin, importance, lock_days, if_version)
        if any(one is not None for one in given):
            raise typer.BadParameter("--batch has ids and changes in its lines: give nothing beside it")
        _modify_all(batch, output, adopt=adopt, shared=shared, store=store)
        return
    if id is None:
        raise typer.BadParameter("name the memory by its ID, or several by --batch")
    if reason is None:
        raise typer.BadParameter("say why: --reason")
    with writing(store, adopt=adopt, shared=shared) as opened:
        done = opened.modify(
            id,
            reason=reason,
            text=text,
            tags=tag,
            pinned=pin,
            importance=importance,
            lock_days=lock_days,
            if_version=if_version,
        )
    put(done.id)
    say(f"version {done.version}")


def _modify_all(file: str, output: Format, *, adopt: bool, shared: bool, store: StoreOption) -> None:
    content = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    lines = enumerate(content.split(b"\n"), 1)  # each is decoded by itself: what is no UTF-8 has a line
    changes = [_change(line, f"{file}:{number}") for number, line in lines if line.strip()]
    with writing(store, adopt=adopt, shared=shared) as opened:
        outcomes = opened.modify_all(changes)
    rows = [to_builtins(one) for one in outcomes]
    done = [one.done for one in outcomes if one.done is not None]
    if output == "json":
        put_json(rows)
    else:
        flat = [{**one, **one.get("done", {})} for one in rows]
        put_rows(_OUTCOMES, flat, output)
    say(f"{len(done)} of {len(rows)} changes were made")
    if len(done) < len(rows):
        raise typer.Exit(FINDINGS)


def _change(line: bytes, where: str) -> "Modify":
    """Return the change that a line says. Raises InvalidRequestError for one that says none."""
    from braid.memories.operations import Modify  # heavy: its room reads the log

    try:
        said = msgspec.json.decode(line, type=dict[str, Any])
        if unknown := said.keys() - set(Modify.__struct_fields__):
            raise InvalidRequestError(f"{where}: a change has no {sorted(unknown)[0]!r}; nothing was changed")
        return msgspec.convert(said, Modify)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise InvalidRequestError(f"{where}: {error}; nothing was changed") from error


def history(
    id: Annotated[
        str, typer.Argument(metavar="ID", help="Any record of the memory's chain.", show_default=False)
    ],
    *,
    as_of: Annotated[
        int | None,
        typer.Option("--as-of", metavar="INDEX", min=0, help="As the log was then.", show_default=False),
    ] = None,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """Show every change of a memory: added, updated, deleted, recovered, erased; names in it merged or parted.

    It follows from signed records alone. What is forgotten or erased by now has no words here.

    \b
    Examples:
      braid history exp_2025-05-17T09:00:00Z_0000000300ab
      braid history exp_2025-05-17T09:00:00Z_0000000300ab -o json
    """
    with reading(store) as opened:
        found = opened.history(id, as_of=as_of)
    if output == "json":
        put_json(to_builtins(found))
        return
    put_rows(_CHANGES, [to_builtins(one) for one in found.changes], output)
    locked = [f"locked until {found.locked_until:%Y-%m-%d}"] if found.locked_until else []
    kept = [*(["pinned"] if found.pinned else []), *locked, f"version {found.version}"]
    say(f"{', '.join(kept)}; it holds by {found.current or 'no record'}")


def memories(
    *,
    user_id: UserId = None,
    agent_id: AgentId = None,
    run_id: RunId = None,
    project_id: ProjectId = None,
    session_id: SessionId = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="How many at most.")] = 100,
    all_: Everything = False,
    before: Annotated[
        int | None,
        typer.Option(
            "--before", metavar="PLACE", min=0, help="Go on as the last page says.", show_default=False
        ),
    ] = None,
    forgotten: Annotated[
        bool, typer.Option("--forgotten", help="Those that were forgotten and can come back.")
    ] = False,
    derived: Annotated[
        bool, typer.Option("--derived", help="Also readings, questions, answers and reflections.")
    ] = False,
    as_of: AsOf = None,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """List what is remembered, newest first, each memory once and as it stands now.

    \b
    Examples:
      braid memories --user-id maya
      braid memories --user-id maya --forgotten
      braid memories --user-id maya --as-of 2025-06-01 -o json
      braid memories --user-id maya --all -o jsonl
    """
    as_of_index, as_of_time = past(as_of)
    left: int | None = before

    def rows(opened: "Store") -> Iterator[dict[str, Any]]:
        """Yield the memories, page by page where all are asked for; `left` is where there are more."""
        nonlocal left
        while True:
            page = opened.memories(
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                project_id=project_id,
                session_id=session_id,
                limit=_PAGE if all_ else limit,
                before=left,
                forgotten=forgotten,
                derived=derived,
                as_of=as_of_index,
                as_of_time=as_of_time,
            )
            yield from map(to_builtins, page.memories)
            left = page.before
            if left is None or not all_:
                return

    with reading(store) as opened:
        if output == "json":
            listed = list(rows(opened))
            put_json({"memories": listed, "before": left})
            return
        count = put_rows(_FORGOTTEN if forgotten else _LISTED, rows(opened), output)
    if not count:
        say("nothing is forgotten that could come back" if forgotten else "nothing is remembered")
    elif left is not None:
        say(f"there are more: --all, or from there on: --before {left}")
