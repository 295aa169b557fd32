"""`braid program run` and `resume`: what begins a program, and what goes on with one."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import typer

from braid.tools.cli.access import writing
from braid.tools.cli.instants import instant
from braid.tools.cli.models import AllowRemote, ChatOption, composer_of
from braid.tools.cli.options import Adopt, AgentId, ProjectId, RunId, SessionId, Shared, StoreOption, UserId
from braid.tools.cli.output import put_json, say
from braid.tools.cli.program_text import Output, ProgramId, put_program

_MAX_RESULT_BYTES = 1 << 20
Permission = Literal["read", "ask", "write", "network"]


def run(
    question: Annotated[
        str,
        typer.Argument(metavar="QUESTION", help="What is asked; - reads it from stdin.", show_default=False),
    ],
    *,
    plan: Annotated[
        str | None,
        typer.Option(
            "--plan",
            metavar="NAME|FILE",
            help="question, multihop, comparison, reckoning, or a file of JSON.",
            show_default="the one that fits",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check the plan and show it; run and append nothing.")
    ] = False,
    allow: Annotated[
        list[str] | None,
        typer.Option(
            "--allow", metavar="PERMISSION", help="What tools may do beside read and ask: write, network."
        ),
    ] = None,
    samples: Annotated[
        int, typer.Option("--samples", metavar="N", help="The majority of so many answers, 1 to 9.")
    ] = 1,
    user_id: UserId = None,
    agent_id: AgentId = None,
    run_id: RunId = None,
    project_id: ProjectId = None,
    session_id: SessionId = None,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="TIME", help="When it is asked: what “now” means.", show_default="now"),
    ] = None,
    affect: Annotated[
        bool, typer.Option("--affect/--no-affect", help="Let tone shape the manner of the answer.")
    ] = True,
    key: Annotated[
        str | None,
        typer.Option(
            "--idempotency-key",
            metavar="KEY",
            help="Run again with it, this goes on with that program.",
            show_default=False,
        ),
    ] = None,
    model: ChatOption = None,
    allow_remote: AllowRemote = False,
    output: Output = "text",
    adopt: Adopt = False,
    shared: Shared = False,
    store: StoreOption = None,
) -> None:
    """Answer a question by a plan: a default that fits it, or one of your own.

    It ends in an answer, or waits where a tool is answered elsewhere: `braid program resume` goes on. Exit code 1
    where it was stopped at a limit.

    \b
    Examples:
      braid program run "What is Mireille's brother allergic to?" --user-id jonas
      braid program run "How long is it until the wedding?" --plan wedding.json --at 2024-12-31
      braid program run "Where did Ann live in April, and where does she live now?" --dry-run
    """
    text = sys.stdin.buffer.read().decode(errors="replace") if question == "-" else question
    named = _plan(plan)
    if dry_run:
        _show_plan(text, named, samples, _allowed(allow))
        return
    composer = composer_of(model, allow_remote=allow_remote)
    with writing(store, adopt=adopt, shared=shared) as opened:
        found = opened.run_program(
            text, user_id=user_id, agent_id=agent_id, run_id=run_id, project_id=project_id,
            session_id=session_id, plan=named,
            allow=_allowed(allow), samples=samples, now=instant(at) if at else None, affect=affect,
            idempotency_key=key, composer=composer,
        )  # fmt: skip
    put_program(found, output)


def _allowed(more: Sequence[str] | None) -> list[Permission]:
    """Return what tools may do; what is no permission, the operation refuses."""
    return ["read", "ask", *cast("Sequence[Permission]", more or ())]


def _plan(named: str | None) -> str | None:
    """Return a plan's name, or the JSON in the file that is named."""
    from braid.agent.program.plan import MAX_PLAN_BYTES
    from braid.agent.program.plans import PLANS

    if named is None or named in PLANS:
        return named
    path = Path(named)
    if not path.is_file():
        raise ValueError(f"--plan is {', '.join(PLANS)}, or a file of JSON; {named!r} is not one of these")
    with path.open("rb") as file:
        raw = file.read(MAX_PLAN_BYTES + 1)
    text = raw.decode("utf-8", errors="replace").strip()
    return text if text.startswith("{") else "{" + text  # not the name of a default, whatever it holds


def _show_plan(question: str, named: str | None, samples: int, allowed: Sequence[str]) -> None:
    import msgspec

    from braid.agent.program.plan_check import check
    from braid.programs.plan import plan_for, toolbox

    found, origin = plan_for(question, named, samples=samples)
    check(found, toolbox(), allowed)
    put_json(msgspec.to_builtins(found))
    say(f"the plan {origin} may run; nothing was")


def resume(
    id: ProgramId,
    *,
    result: Annotated[
        str | None,
        typer.Option(
            "--result",
            metavar="JSON",
            help="What it waits for; plain text for a person's; - reads stdin.",
            show_default=False,
        ),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Call the tool again that may have done its work.")
    ] = False,
    take_over: Annotated[
        bool, typer.Option("--take-over", help="From a run on another machine, which has died.")
    ] = False,
    affect: Annotated[
        bool, typer.Option("--affect/--no-affect", help="Let tone shape the manner of the answer.")
    ] = True,
    model: ChatOption = None,
    allow_remote: AllowRemote = False,
    output: Output = "text",
    adopt: Adopt = False,
    shared: Shared = False,
    store: StoreOption = None,
) -> None:
    """Go on with a program: with what it waits for, or where a crash has cut it off.

    Of two that resume it at once one goes on; the other is told which. Nothing is done twice: a tool that may have been
    called when the process died is called again only if that is harmless, or with --again.

    \b
    Examples:
      braid program resume evt_2025-06-01T12:00:00Z_0000000a01cd --result "On Friday."
      braid program resume evt_2025-06-01T12:00:00Z_0000000a01cd --again
    """
    given = _result(result) if result is not None else None
    composer = composer_of(model, allow_remote=allow_remote)
    with writing(store, adopt=adopt, shared=shared) as opened:
        found = opened.resume(
            id, result=given, again=again, take_over=take_over, affect=affect, composer=composer
        )
    put_program(found, output)


def _result(given: str) -> Any:
    """Return a result: JSON where it is an object, else what a person says."""
    text = given
    if given == "-":
        raw = sys.stdin.buffer.read(_MAX_RESULT_BYTES + 1)
        if len(raw) > _MAX_RESULT_BYTES:
            raise ValueError(f"a result has at most {_MAX_RESULT_BYTES:,} bytes")
        text = raw.decode(errors="replace").removesuffix("\n")
    if not text.lstrip().startswith("{"):
        return {"text": text}
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"--result is text, or an object of JSON: {error}") from None
