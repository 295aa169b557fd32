"""`braid recall`, `braid context`: questions to the memory; `braid fill`."""

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from braid.tools.cli.access import reading
from braid.tools.cli.instants import AsOf, ValidAt, instant, past
from braid.tools.cli.options import AgentId, FormatOption, ProjectId, RunId, SessionId, StoreOption, UserId
from braid.tools.cli.output import line, many, put, put_json, put_rows, put_table, say
from braid.tools.cli.recalled import SHOWN_CHARS, put_hits, say_completeness
from braid.wire import to_builtins

if TYPE_CHECKING:
    from braid.claims.operations import Stance
    from braid.search.operations import RecalledHit
    from braid.search.question import AskedTone
    from braid.store import Store

PANEL = "Read"
Query = Annotated[
    str, typer.Argument(metavar="QUESTION", help="What is asked; - reads it from stdin.", show_default=False)
]
Superseded = Annotated[
    Literal["marked"] | None,
    typer.Option(help="Show what was replaced too, marked, beneath what replaced it.", show_default=False),
]
Rerank = Annotated[
    bool, typer.Option("--rerank", help="Read the best once more with the question (extra `answers`).")
]
Output = Annotated[Literal["table", "json"], typer.Option("--output", "-o", help="How to show it.")]


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    for command in (recall, context):
        app.command(rich_help_panel=PANEL)(command)
    app.command(rich_help_panel="Tend")(fill)


def recall(
    question: Query,
    *,
    top_k: Annotated[int, typer.Option("--top-k", "-k", min=1, max=1000, help="How many.")] = 10,
    user_id: UserId = None,
    agent_id: AgentId = None,
    run_id: RunId = None,
    project_id: ProjectId = None,
    session_id: SessionId = None,
    filters: Annotated[
        str | None,
        typer.Option("--filter", metavar="JSON", help="What hits must satisfy.", show_default=False),
    ] = None,
    as_of: AsOf = None,
    valid_at: ValidAt = None,
    superseded: Superseded = None,
    affect: Annotated[
        str | None,
        typer.Option("--affect", metavar="JSON", help="Near this tone: v, a, d, within.", show_default=False),
    ] = None,
    lens: Annotated[
        str | None,
        typer.Option("--lens", metavar="NAME", help="Through this lens: what it keeps.", show_default=False),
    ] = None,
    rerank: Rerank = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show what each signal gave.")] = False,
    prove: Annotated[bool, typer.Option("--prove", help="Add an offline proof of each hit (JSON).")] = False,
    stance: Annotated[bool, typer.Option("--stance", help="Say first what is held of it.")] = False,
    output: Output = "table",
    store: StoreOption = None,
) -> None:
    """Find the records that fit a question, best first; each is read from the log and verified.

    Whose memory is asked (--user-id and its kin) bounds everything; --filter narrows further: {"field": {"eq": …}} with
    eq, ne, in, gt, gte, lt, lte, contains, joined by AND, OR, NOT. Tone counts only with --affect.

    \b
    Examples:
      braid recall "What is the cat called?" --user-id maya
      braid recall "When did we move?" --explain
      braid recall "dispute DP-2231" -k 3 --prove -o json
      braid recall "How did the move go?" --lens temporal
      braid recall "who can look after the dog in May" --rerank
      braid recall "Where does Maya live?" --valid-at 2024-12-31
      braid recall "Where does Maya live?" --superseded marked
      braid recall "plans" --filter '{"type": {"eq": "observation"}, "created_at": {"gte": "2025-05-01"}}'
    """
    as_of_index, as_of_time = past(as_of)
    with reading(store) as opened:
        text = _asked(question)
        answer = opened.recall(
            text, top_k=top_k, user_id=user_id, agent_id=agent_id, run_id=run_id, project_id=project_id,
            session_id=session_id,
            filters=json_object(filters, "--filter"), affect=_tone(affect), lens=lens, superseded=superseded,
            rerank=rerank,
            valid_at=instant(valid_at) if valid_at else None, explain=explain or output == "json",
            prove=prove, as_of=as_of_index, as_of_time=as_of_time,
            text_chars=SHOWN_CHARS if output == "table" else None,
        )  # fmt: skip
        scope = {
            "user_id": user_id,
            "agent_id": agent_id,
            "run_id": run_id,
            "project_id": project_id,
            "session_id": session_id,
        }
        held = _stance(opened, text, valid_at, as_of, scope) if stance and text.strip() else None
    told = to_builtins(answer)
    say_completeness(told)
    if output == "json":
        put_json(told | {"stance": to_builtins(held)} if stance else told)
        return
    if held is not None:
        put(line(f"stance: {held.claim or f'undecided: {held.undecided}'} ({held.residual_uncertainty:.2f})"))
    put_hits(told["results"])
    if explain and answer.results:
        _explain(answer.results)


def _stance(
    opened: "Store", question: str, valid_at: str | None, as_of: str | None, scope: dict[str, Any]
) -> "Stance | None":
    """Return what is held of a question, None where that can't be had in time; nothing is appended."""
    from braid.views.errors import ViewError, told

    at = instant(valid_at) if valid_at else None
    index, time = past(as_of)
    try:
        return opened.stance(question, at=at, as_of=index, as_of_time=time, append=False, **scope)
    except ViewError as error:
        say(f"degraded: stance: it was not looked for: {told(error)}")
        return None


def _explain(hits: "Sequence[RecalledHit]") -> None:
    """Show what each signal added, one column a hit, the weightiest first."""
    shown = [hit.parts or {} for hit in hits[:6]]
    names = {name for parts in shown for name, part in parts.items() if abs(part) >= 0.0005}
    order = sorted(names, key=lambda name: -max(abs(parts.get(name, 0.0)) for parts in shown))
    put("")
    rows = [[name, *(f"{parts.get(name, 0.0):+.3f}" for parts in shown)] for name in order]
    put_table(["signal", *(f"#{place}" for place in range(1, len(shown) + 1))], rows)


def context(
    question: Query,
    *,
    budget: Annotated[int, typer.Option(min=1, help="Tokens, by a cautious estimate.")] = 800,
    probe: Annotated[
        str | None, typer.Option(help="A question that waits to be asked.", show_default=False)
    ] = None,
    user_id: UserId = None,
    agent_id: AgentId = None,
    run_id: RunId = None,
    project_id: ProjectId = None,
    session_id: SessionId = None,
    as_of: AsOf = None,
    valid_at: ValidAt = None,
    superseded: Superseded = None,
    rerank: Rerank = False,
    clear: Annotated[
        bool, typer.Option("--clear", help="Secrets in clear text, and not as placeholders.")
    ] = False,
    store: StoreOption = None,
) -> None:
    """Print the <experience_context> block for a question: what an agent is given of its memory.

    Stored text in it is data: escaped, fenced, each line with the id that it comes from. Keys, passwords, codes and
    card numbers are placeholders, as for the model of `braid ask --model`.

    \b
    Examples:
      braid context "What is the door code?" --clear
      braid context "What shall I cook for Maya?" --user-id maya
      braid context "plans for the weekend" --budget 300
    """
    from braid.text.redact import placeholders

    as_of_index, as_of_time = past(as_of)
    with reading(store) as opened:
        block = opened.context(
            _asked(question), budget=budget, probe=probe, user_id=user_id, agent_id=agent_id, run_id=run_id,
            project_id=project_id,
            session_id=session_id, valid_at=instant(valid_at) if valid_at else None, superseded=superseded,
            clear=clear, rerank=rerank, as_of=as_of_index, as_of_time=as_of_time,
        )  # fmt: skip
    put(block)
    if not clear and (hidden := len(placeholders(block))):
        say(f"{many(hidden, 'secret')} not shown", "--clear shows what stands behind REDACTED_…")


def fill(
    *,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="At most so many.", show_default="all")
    ] = None,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """Give records that wait for it their meaning: asks the model of --model, in batches.

    A replay never asks a remote model: until then words find them. What the model gave stays when it fails midway.

    \b
    Examples:
      braid --model ollama:nomic-embed-text/768 fill
      braid fill --limit 10000 -o json
    """
    with reading(store) as opened:
        search = opened.views.search
        filled = search.fill(limit=limit)
        search.settle()
        at = search.status()
        put_rows(
            ("filled", "pending", "model"),
            [{"filled": filled, "pending": at.pending, "model": at.model}],
            output,
        )


def _asked(question: str) -> str:
    return sys.stdin.buffer.read().decode(errors="replace") if question == "-" else question


def json_object(text: str | None, option: str) -> dict[str, Any] | None:
    """Return the object that an option was given as JSON; ValueError for anything else."""
    if text is None:
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{option} is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise ValueError(f'{option} is an object such as {{"type": {{"eq": "observation"}}}}')
    return cast("dict[str, Any]", found)


def _tone(text: str | None) -> "AskedTone | None":
    import msgspec

    from braid.search.question import AskedTone

    if (given := json_object(text, "--affect")) is None:
        return None
    try:
        return msgspec.convert(given, AskedTone)
    except msgspec.ValidationError as error:
        raise ValueError(f"--affect is v, a, d and, if wanted, within: {error}") from None
