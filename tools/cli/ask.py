"""`braid ask`: a question answered from memory, with its sources; and `braid evaluate answers`."""

import hashlib
import sys
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
import typer

from braid.tools.cli.access import reading, writing
from braid.tools.cli.instants import AsOf, instant, past
from braid.tools.cli.models import AllowRemote, ChatOption, composer_of
from braid.tools.cli.options import Adopt, AgentId, ProjectId, RunId, SessionId, Shared, StoreOption, UserId
from braid.tools.cli.output import line, many, put, put_json, put_table, say, to_json
from braid.wal.durable import is_full
from braid.wire import to_builtins

if TYPE_CHECKING:
    from braid.answers.reply import Reply
    from braid.store import Store
    from braid.tools.evaluation.answers import Written

PANEL = "Read"
_ONLY = "--no-write only answers"
USUAL = ("examples", "../shared/data/locomo")
"""What answers are measured by where nothing is named: those of these folders that are there."""
_MEASURES = (
    "questions", "f1", "exact", "citation_support", "citation_precision", "citation_recall",
    "abstained_on_unanswerable", "abstained_on_answerable",
)  # fmt: skip


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    app.command(rich_help_panel=PANEL)(ask)


def ask(
    question: Annotated[
        str,
        typer.Argument(metavar="QUESTION", help="What is asked; - reads it from stdin.", show_default=False),
    ],
    *,
    user_id: UserId = None,
    agent_id: AgentId = None,
    run_id: RunId = None,
    project_id: ProjectId = None,
    session_id: SessionId = None,
    as_of: AsOf = None,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="TIME", help="When it is asked: what “now” means.", show_default="now"),
    ] = None,
    lens: Annotated[
        str | None,
        typer.Option("--lens", metavar="NAME", help="Through this lens: what it keeps.", show_default=False),
    ] = None,
    affect: Annotated[
        bool, typer.Option("--affect/--no-affect", help="Let tone shape the manner of the answer.")
    ] = True,
    careful: Annotated[
        bool, typer.Option("--careful", help="Tell only what is very likely right; show the rest as near.")
    ] = False,
    eager: Annotated[
        bool, typer.Option("--eager", help="Tell what is likelier right than the rest.")
    ] = False,
    after: Annotated[
        str | None,
        typer.Option(
            "--after",
            metavar="ID",
            help="The answer that the question follows: “who said that?”",
            show_default=False,
        ),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Show a list whole, not its last twelve pieces.")
    ] = False,
    no_write: Annotated[bool, typer.Option("--no-write", help="Only answer; append nothing.")] = False,
    model: ChatOption = None,
    allow_remote: AllowRemote = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show each step and how long it took.")] = False,
    output: Annotated[
        Literal["text", "json"], typer.Option("--output", "-o", help="How to show it.")
    ] = "text",
    adopt: Adopt = False,
    shared: Shared = False,
    store: StoreOption = None,
) -> None:
    """Answer a question from memory: what is held, or what was said, quoted with its date and its id.

    Where neither is sure enough, up to three quotations are shown as near; where nothing is, the answer is that.
    Question, answer and a reflection are appended, in one transaction;
    later questions don't take them for evidence. Tone shapes the manner alone, never what is said. With --model a
    language model writes; what its sources don't bear out is dropped, and where nothing is left this is the answer.

    \b
    Examples:
      braid ask "Where does Jonas live?" --user-id jonas
      braid ask "When does my passport run out?" --no-write --explain
      braid ask "What did the boiler cost?" --careful
      braid ask "What was agreed?" --as-of 2025-06-01 -o json
      braid ask "What shall I cook for Maya?" --model ollama:llama3.2
    """
    from braid.agent.program.plans import PLAIN, chosen

    text = sys.stdin.buffer.read().decode(errors="replace") if question == "-" else question
    composer = composer_of(model, allow_remote=allow_remote)
    if careful and eager:
        raise typer.BadParameter("--careful and --eager exclude each other")
    as_of_index, as_of_time = past(as_of)
    with _answered_anyway(), _opened(store, no_write=no_write, adopt=adopt, shared=shared) as opened:
        found = opened.ask(
            text, user_id=user_id, agent_id=agent_id, run_id=run_id, project_id=project_id,
            session_id=session_id, lens=lens,
            affect=affect, after=after, all=every, write=False if no_write else None, now=instant(at) if at else None,
            composer=composer, as_of=as_of_index, as_of_time=as_of_time,
            caution="careful" if careful else "eager" if eager else "default",
        )  # fmt: skip
    if output == "json":
        put_json(to_builtins(found))
    else:
        put_answer(found, explain=explain)
    for lack in found.degraded:
        say(f"degraded: {lack}")
    if found.fallback:
        say(f"the model's answer was not taken ({found.fallback}); this one is put together from memory")
    if found.answer_id is not None and output != "json":
        say(f"{found.answer_id} was appended")
    if (plan := chosen(text)) != PLAIN:
        say(f"this was one look; the plan {plan} fits the question", "braid program run QUESTION")


@contextmanager
def _opened(store: Path | None, *, no_write: bool, adopt: bool, shared: bool) -> "Generator[Store]":
    """Open for a question: to keep its answer, or to answer alone where that is asked for, or the store can't be
    written."""
    from braid.ledger.errors import UnwritableError

    with ExitStack() as stack:
        opened: Store | None = None
        if not no_write:
            try:
                opened = stack.enter_context(writing(store, adopt=adopt, shared=shared, locked=_ONLY))
            except UnwritableError:
                say("the store can't be written here: the answer is not kept")
        yield opened or stack.enter_context(reading(store))


@contextmanager
def _answered_anyway() -> Generator[None]:
    """Say of a full disk that an answer needs no room."""
    try:
        yield
    except OSError as error:
        if is_full(error):
            error.add_note(_ONLY)
        raise


def put_answer(found: "Reply", *, explain: bool = False) -> None:
    """Show an answer with its sources, numbered."""
    from braid.agent.cite import numbered

    text, ids = numbered(found.text)
    put(_marked(line(text), line(found.short)))
    sources = {str(one.id): one for one in found.citations}
    if ids:
        put("")
    for number, id in enumerate(ids, 1):
        one = sources[id]
        put(f"[{number}] {one.when:%Y-%m-%d}  {id}  {line(f'{one.speaker}: {one.text}')[:160]}")
    if found.abstained and found.reason:
        say(found.reason)
    if explain:
        put("")
        put_table(
            ["step", "ms", "what"], [[step.name, f"{step.ms:.1f}", line(step.what)] for step in found.steps]
        )


def _marked(text: str, short: str) -> str:
    """Return an answer with the value that was asked for in bold, where that stands in it once; on a terminal alone."""
    if not short or text.count(short) != 1 or not sys.stdout.isatty():
        return text
    return text.replace(short, typer.style(short, bold=True))


def evaluate_answers(paths: list[Path], output: str, *, written: "Written | None" = None) -> None:
    """Measure answers on the conversations of some files or folders, and show it."""
    from braid.tools.evaluation.answer_scores import summary
    from braid.tools.evaluation.answers import collect, evaluate
    from braid.tools.evaluation.exams import read_exams

    files = _files(paths or [Path(name) for name in USUAL if Path(name).is_dir()])
    contents = [(str(file), file.read_bytes()) for file in files]
    exams = read_exams(contents)
    judged = evaluate(exams, collect(exams), written=written)
    digest = hashlib.sha256(b"".join(raw for _, raw in contents)).hexdigest()
    result: dict[str, Any] = {"data": f"sha256:{digest}", **summary(judged)}
    if output == "json":
        put(to_json(result | {"answers": msgspec.to_builtins(judged)}, indent=2))
        return
    groups = [("all", result["all"]), *result["categories"].items(), *result["conversations"].items()]
    put_table(
        ["group", *_MEASURES],
        [[name, *(_figure(found[each]) for each in _MEASURES)] for name, found in groups],
    )
    stages = result["latency_ms"]
    say("milliseconds, median: " + ", ".join(f"{name} {stages[name]['p50']:g}" for name in stages))
    if written is not None:
        spent, not_taken = result["tokens"]["compose"], result["fallbacks"]
        say(f"tokens of composing: {spent['in']['all']:,} in, {spent['out']['all']:,} out")
        reasons = ", ".join(f"{why} {count}" for why, count in not_taken.items())
        say(
            f"{many(result['all']['fallbacks'], 'answer')} of the model not taken{reasons and f': {reasons}'}"
        )


def _files(paths: list[Path]) -> list[Path]:
    found: list[Path] = []
    for path in paths:
        found += sorted([*path.glob("*.json"), *path.glob("*.jsonl")]) if path.is_dir() else [path]
    if not found:
        raise ValueError(
            f"there is no .json or .jsonl to measure by; name files, or folders ({', '.join(USUAL)})"
        )
    return found


def _figure(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
