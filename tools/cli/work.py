"""`braid work` and `braid jobs`: what the log has and nothing was done with yet, worked off, listed, tried again."""

from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from braid.tools.cli.access import reading, writing
from braid.tools.cli.errors import FINDINGS
from braid.tools.cli.group import BraidGroup, help_without_command
from braid.tools.cli.models import (
    AllowRemote,
    ChatOption,
    LargerOption,
    SecondOption,
    chosen_models,
    require_small,
)
from braid.tools.cli.options import MOST, Adopt, Everything, FormatOption, LogOption, Shared, StoreOption
from braid.tools.cli.output import many, put_fields, put_json, put_rows, say
from braid.wire import to_builtins

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from braid.jobs.operations import JobsChanged, ListedJob
    from braid.store import Store
    from braid.work.worker import Step

app = typer.Typer(cls=BraidGroup, rich_markup_mode=None)
PANEL = "Tend"
_COLUMNS = ("id", "consumer", "state", "records", "attempts", "stage", "error")
_OUTCOMES = ("record", "ended", "by", "reason", "stage", "error", "attempts")
ConsumerName = Literal["session-extraction", "decision", "consolidation", "projection", "enrichment"]
JobId = Annotated[str, typer.Argument(metavar="JOB_ID", help="As `jobs list` shows it.", show_default=False)]
Why = Annotated[str, typer.Option("--reason", help="Why; it is signed.", show_default=False)]
Queue = Annotated[
    str | None,
    typer.Option(
        "--queue",
        metavar="URL",
        envvar="BRAID_QUEUE",
        help="What carries the jobs, such as redis://127.0.0.1:6379/0.",
        show_default="a file beside the store",
    ),
]


def register(above: typer.Typer) -> None:
    """Add this module's commands."""
    above.command(rich_help_panel=PANEL)(work)
    above.add_typer(app, name="jobs", rich_help_panel=PANEL)


def work(
    *,
    until_idle: Annotated[
        bool, typer.Option("--until-idle", help="Wait for jobs that failed, and try them again.")
    ] = False,
    consumers: Annotated[
        list[str] | None,
        typer.Option(
            "--consumers",
            metavar="NAME",
            help="Only session-extraction, decision, consolidation, projection or enrichment; may be repeated.",
            show_default=False,
        ),
    ] = None,
    most: Annotated[
        int | None, typer.Option("--most", min=1, help="Do so many jobs at the most.", show_default=False)
    ] = None,
    model: ChatOption = None,
    second: SecondOption = None,
    larger: LargerOption = None,
    allow_remote: AllowRemote = False,
    log: LogOption = None,
    queue: Queue = None,
    adopt: Adopt = False,
    shared: Shared = False,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """Work off what the log has and no signed outcome names: read what was said, bring projections up to date.

    Each outcome is signed with what was found, so a worker may be killed at any point: nothing is lost, nothing is done
    twice. What fails is tried again after 1, 5 and 30 seconds; then it is dead, `braid jobs list` shows it, and the
    exit code is 1. What waits for a model is left where none is named, and counted.

    \b
    Examples:
      braid work
      braid work --until-idle
      braid work --consumers projection
      braid work --until-idle --model ollama:llama3.2
    """
    require_small(model, second, larger)
    failed: list[str] = []

    def told(step: "Step") -> None:
        if step.ended in ("retried", "dead"):
            failed.append(f"{step.batch.id} is {step.ended}: {step.kind} at {step.stage}")

    local: dict[str, Any] = {"told": told}
    with _logged(log), writing(store, adopt=adopt, shared=shared) as opened:
        carry_by(opened, queue)
        models = chosen_models(opened, model, second, larger, allow_remote=allow_remote)
        if models.small is not None:
            local |= {"model": models.small, "second": models.second, "larger": models.larger}
            local["parser"] = _parser()
        done = opened.work(
            consumers=cast("list[ConsumerName]", consumers or []), until_idle=until_idle, most=most, **local
        )
        opened.checkpoint()
    put_fields(to_builtins(done), output)
    for each in failed:
        say(each)
    if done.unserved:
        say(
            f"{many(done.unserved, 'job')} left, which nothing here does: what a model is to read needs `--model`; "
            "`braid jobs list --state pending`"
        )
    if done.dead:
        say(f"{many(done.dead, 'job')} dead: `braid jobs list --state dead`")
        raise typer.Exit(FINDINGS)
    if done.next_s is not None:
        say(f"the next job is due in {done.next_s:.0f} s: `braid work --until-idle` waits for it")


def _logged(form: Literal["json", "text"] | None) -> "AbstractContextManager[None]":
    from contextlib import nullcontext

    from braid.tools.event_lines import shown

    return nullcontext() if form is None else shown(form)


def carry_by(opened: "Store", queue: str | None) -> None:
    """Let jobs be carried by what a URL names; the file beside the store where there is none."""
    if queue is None:
        return
    if opened.server is not None:
        raise ValueError("a server has this store, and says what carries its jobs: leave --queue out")
    from importlib.util import find_spec

    if not queue.startswith(("redis://", "rediss://", "unix://")):
        raise ValueError(f"--queue {queue!r}: give a URL of Redis, such as redis://127.0.0.1:6379/0")
    if find_spec("redis") is None:
        raise ValueError("redis: needed for --queue: pip install 'braid-store[redis]'")
    from braid.job_state import job_state
    from braid.models.redis_streams import RedisStreams

    state = job_state(opened.session)
    state.transport = RedisStreams(
        queue, opened.session.reader.settings.store_id, breaker=state.breakers["redis"]
    )


def _parser() -> Any:
    from braid.models.spacy_parser import SpacyParser

    parser = SpacyParser()
    _ = parser.name
    return parser


@app.callback(invoke_without_command=True)
def jobs(ctx: typer.Context) -> None:
    """Show jobs that wait, are at work, or are dead; try them again, or discard them, with a reason that is signed.

    \b
    Examples:
      braid jobs list
      braid jobs list --state dead
      braid jobs replay-dead --reason "the model is back"
    """
    help_without_command(ctx)


@app.command("list")
def list_(
    *,
    state: Annotated[
        Literal["pending", "leased", "retry_scheduled", "done", "dead"] | None,
        typer.Option("--state", help="Only of this state.", show_default=False),
    ] = None,
    consumer: Annotated[
        ConsumerName | None, typer.Option("--consumer", help="Only of this consumer.", show_default=False)
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=MOST, help="How many.")] = 100,
    all_: Everything = False,
    queue: Queue = None,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """List jobs: those at work and waiting first, then the dead and the done.

    \b
    Examples:
      braid jobs list
      braid jobs list --state dead -o json
      braid jobs list --all -o jsonl
    """
    with reading(store) as opened:
        carry_by(opened, queue)
        if all_ and output != "json":
            listed = opened.iter_jobs(state=state, consumer=consumer)
            shown = put_rows(_COLUMNS, map(_listed, listed), output)
        else:
            found = opened.jobs(state=state, consumer=consumer, limit=MOST if all_ else limit)
            if output == "json":
                put_json(to_builtins(found))
                return
            shown = put_rows(_COLUMNS, map(_listed, found.jobs), output)
    if not shown:
        say("no job waits")


def _listed(job: "ListedJob") -> dict[str, Any]:
    row: dict[str, Any] = to_builtins(job)
    return row | {"records": ",".join(f"{start}-{stop - 1}" for start, stop in row["spans"])}


@app.command()
def show(
    id: JobId, *, queue: Queue = None, output: FormatOption = "table", store: StoreOption = None
) -> None:
    """Show a job, and every signed record of what became of it.

    \b
    Examples:
      braid jobs show job_3f0c2b9a51d7e846
      braid jobs show job_3f0c2b9a51d7e846 -o json
    """
    with reading(store) as opened:
        carry_by(opened, queue)
        found = opened.job(id)
    if output == "json":
        put_json(to_builtins(found))
        return
    put_rows(_OUTCOMES, to_builtins(found.outcomes), output)
    say(
        f"{found.job.state}, {many(found.job.attempts, 'attempt')}"
        if found.job
        else "it is not listed any more"
    )


@app.command()
def retry(
    id: JobId,
    *,
    reason: Why,
    queue: Queue = None,
    adopt: Adopt = False,
    shared: Shared = False,
    store: StoreOption = None,
) -> None:
    """Let a job that waits or is dead be done from its first attempt on. `braid work` does it.

    \b
    Examples:
      braid jobs retry job_3f0c2b9a51d7e846 --reason "the model is back"
    """
    with writing(store, adopt=adopt, shared=shared) as opened:
        carry_by(opened, queue)
        _put(opened.retry_job(id, reason=reason))


@app.command()
def discard(
    id: JobId,
    *,
    reason: Why,
    queue: Queue = None,
    adopt: Adopt = False,
    shared: Shared = False,
    store: StoreOption = None,
) -> None:
    """Let a job never be done. Its records stay, unread; `braid jobs retry` brings it back.

    \b
    Examples:
      braid jobs discard job_3f0c2b9a51d7e846 --reason "a test talk"
    """
    with writing(store, adopt=adopt, shared=shared) as opened:
        carry_by(opened, queue)
        _put(opened.discard_job(id, reason=reason))


@app.command("replay-dead")
def replay_dead(
    *,
    reason: Why,
    consumer: Annotated[
        ConsumerName | None, typer.Option("--consumer", help="Only of this consumer.", show_default=False)
    ] = None,
    queue: Queue = None,
    adopt: Adopt = False,
    shared: Shared = False,
    store: StoreOption = None,
) -> None:
    """Let all dead jobs be done again, from their first attempt on. `braid work` does them.

    \b
    Examples:
      braid jobs replay-dead --reason "the parser is mended"
    """
    with writing(store, adopt=adopt, shared=shared) as opened:
        carry_by(opened, queue)
        _put(opened.replay_dead(reason=reason, consumer=consumer))


def _put(done: "JobsChanged") -> None:
    put_rows(
        ("job", "record"),
        [{"job": job, "record": record} for job, record in zip(done.jobs, done.records, strict=True)],
        "table",
    )
    if not done.jobs:
        say("no job is dead")
