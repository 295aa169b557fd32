"""`braid evaluate`: how well the memory finds and answers, and how well it learns, held against what is known."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from braid.tools.cli.group import BraidGroup, help_without_command
from braid.tools.cli.models import AllowRemote, ChatOption, chat_model, writing_with
from braid.tools.cli.output import line, many, put, put_table, say, to_json

if TYPE_CHECKING:
    from braid.tools.evaluation.recall_samples import Kind

app = typer.Typer(cls=BraidGroup, rich_markup_mode=None)
Output = Annotated[Literal["table", "json"], typer.Option("--output", "-o", help="How to show it.")]
Paths = Annotated[
    list[Path] | None,
    typer.Argument(metavar="PATH…", help="Files, or folders of them.", show_default=False),
]
_RECALLED = (
    "recall@1",
    "recall@5",
    "recall@10",
    "recall@20",
    "recall@50",
    "ndcg@10",
    "mrr",
    "all@10",
    "hit@10",
)


def register(above: typer.Typer) -> None:
    """Add this module's commands."""
    above.add_typer(app, name="evaluate", rich_help_panel="Read")


@app.callback(invoke_without_command=True)
def evaluate(ctx: typer.Context) -> None:
    """Measure recall, answers or learning against what is known. Histories go into a temporary store.

    \b
    Examples:
      braid evaluate gold
      braid evaluate answers examples/
      braid evaluate decisions cases.jsonl
      braid evaluate extraction labels.jsonl
      braid evaluate recall examples/
    """
    help_without_command(ctx)


@app.command()
def recall(
    paths: Paths = None,
    *,
    kind: Annotated[
        Literal["jsonl", "locomo", "realtalk", "qmsum", "talks"],
        typer.Option("--kind", help="What the files are."),
    ] = "jsonl",
    top_k: Annotated[
        int, typer.Option("--top-k", "-k", min=10, max=1000, help="How many hits to ask for, and to measure.")
    ] = 50,
    uncertainty: Annotated[
        float, typer.Option("--uncertainty", min=0.0, max=10.0, help="What disagreement weighs; 0: off.")
    ] = 0.25,
    rerank: Annotated[
        bool, typer.Option("--rerank", help="Read the best once more with the question (extra `answers`).")
    ] = False,
    output: Output = "table",
) -> None:
    """Measure recall on questions with known answers: recall@k, nDCG@10, MRR and all@10, of turns and of sessions.

    The files are conversations of your own, turns and questions as JSON Lines, talks as for `answers --talks`, or those
    of LoCoMo, QMSum or REALTALK.

    \b
    Examples:
      braid evaluate recall chat.jsonl questions.jsonl -o json
      braid evaluate recall --kind locomo locomo10.json
      braid evaluate recall --kind talks talks/ --rerank
    """
    _recall(kind, paths or [], output, top_k=top_k, uncertainty=uncertainty, rerank=rerank)


@app.command()
def answers(
    paths: Paths = None,
    *,
    talks: Annotated[
        bool,
        typer.Option(
            "--talks",
            help="The files are talks with questions: judge what is answered, near, silent, by kind.",
        ),
    ] = False,
    details: Annotated[
        bool,
        typer.Option("--details", help="With --talks: each question, its answer, and why it was judged so."),
    ] = False,
    model: ChatOption = None,
    allow_remote: AllowRemote = False,
    output: Output = "table",
) -> None:
    """Measure what `braid ask` says, on LoCoMo or JSON Lines: words, citations, and silence where it is due.

    F1 and exact match, citations against the evidence, how often nothing is said where nothing is known, and where
    something is; with --model of what a language model writes, with its tokens and why it was not taken.

    \b
    Examples:
      braid evaluate answers examples/
      braid evaluate answers locomo10.json -o json
      braid evaluate answers --talks talks/ --details
      braid evaluate answers examples/ --model ollama:llama3.2
    """
    from braid.tools.cli.ask import evaluate_answers

    written = writing_with(model, allow_remote=allow_remote)
    if details and not talks:
        raise ValueError("--details goes with --talks")
    if talks:
        from braid.tools.cli.talk_answers import evaluate_talks

        evaluate_talks(paths or [], output, details=details, written=written)
        return
    evaluate_answers(paths or [], output, written=written)


@app.command()
def extraction(
    paths: Paths = None,
    *,
    most: Annotated[
        int | None,
        typer.Option(
            "--most-per-turn",
            min=1,
            metavar="N",
            help="Count the N surest claims of a turn.",
            show_default="all",
        ),
    ] = None,
    details: Annotated[
        bool, typer.Option("--details", help="With -o json: list what was read wrongly, and what was missed.")
    ] = False,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw it as SVG.", show_default=False)
    ] = None,
    output: Output = "table",
) -> None:
    """Measure what is learned of talk: on LoCoMo's observations, or on labelled turns as JSON Lines.

    Of observations: the share whose turn bears a claim, and whose claim has a content word in common with it; of turns
    with a claim, the share that has an observation. Of labels: precision, recall and attribution. Turns a second.

    \b
    Examples:
      braid evaluate extraction labels.jsonl
      braid evaluate extraction locomo/ --most-per-turn 2 --plot extraction.svg
      braid evaluate extraction labels.jsonl --details -o json
    """
    from braid.tools.cli.extraction import measure, show

    result = measure(paths or [], most=most, details=details)
    if plot is not None:
        from braid.tools.evaluation.extraction_plot import plotted

        plot.write_text(plotted(result), encoding="utf-8")
    show(result, output)


@app.command()
def gold(
    *,
    part: Annotated[
        Literal["all", "dev", "held"], typer.Option("--part", help="Which half of the tasks.")
    ] = "all",
    kinds: Annotated[
        list[str] | None,
        typer.Option("--class", metavar="NAME", help="Only this class; repeatable.", show_default=False),
    ] = None,
    tasks: Annotated[
        Path | None,
        typer.Option("--tasks", metavar="FOLDER", help="Tasks of one's own.", show_default="the packaged"),
    ] = None,
    model: ChatOption = None,
    allow_remote: AllowRemote = False,
    output: Output = "table",
) -> None:
    """Ask the 200 gold tasks of this release, in thirteen classes, and say how many answers are right.

    By class: accuracy, citations against the evidence, what is held, calibration, uncertainty, tokens, time. Of the
    held half only sums are told. docs/gold.md says what the classes are.

    \b
    Examples:
      braid evaluate gold
      braid evaluate gold --class temporal --class multi-hop -o json
      braid evaluate gold --part dev --model ollama:llama3.2
    """
    from braid.tools.gold.command import Wanted, measure, show
    from braid.tools.gold.tasks import DATA

    wanted = Wanted(
        folder=tasks or DATA, part=part, kinds=kinds or [], model=model, allow_remote=allow_remote
    )
    show(measure(wanted), output)


@app.command()
def entities(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Labelled pairs, JSON Lines.", show_default=False)
    ],
    *,
    meanings: Annotated[
        bool, typer.Option("--meanings", help="Let the packaged model support close names.")
    ] = False,
    errors: Annotated[
        bool, typer.Option("--errors", help="Show the pairs that were judged wrongly; never held ones.")
    ] = False,
    output: Output = "table",
) -> None:
    """Measure which names are joined, on labelled pairs: how many are joined wrongly, how many rightly.

    A line is {"id", "a": {"name", "type", "context"}, "b": {…}, "same", "why", "held"}. Intervals: Wilson, 95 %.

    \b
    Examples:
      braid evaluate entities pairs.jsonl
      braid evaluate entities pairs.jsonl --errors -o json
    """
    from braid.tools.evaluation.entities import evaluate as measured
    from braid.tools.evaluation.entities import pairs_of

    similarity = _packaged_similarity() if meanings else None
    result = measured(pairs_of(file.read_bytes(), str(file)), similarity)
    if not errors:
        del result["errors"]
    if output == "json":
        put(to_json(result, indent=2))
        return
    rows = [
        [
            half,
            *(f"{found[name][0]} of {found[name][1]}" for name in _JUDGED),
            *(_share(found[name]) for name in _JUDGED),
        ]
        for half, found in result["halves"].items()
    ]
    put_table(["pairs", "joined wrongly", "joined rightly", "false merges", "merge recall"], rows)
    for error in result.get("errors", ()):
        put(line(f"{error['id']}: {error['a']} / {error['b']}: {error['verdict']} ({error['why']})"))
    say(f"{many(result['pairs'], 'pair')}; rules {result['rules']}")


_JUDGED = ("false_merges", "merges")


def _share(found: list[float]) -> str:
    return f"{found[2]:.3f} ({found[3]:.3f}–{found[4]:.3f})"


def _packaged_similarity() -> Callable[[str, str], float]:
    from braid.models.static import StaticEmbedder

    model = StaticEmbedder()
    return lambda one, other: float(model.embed([one])[0] @ model.embed([other])[0])


@app.command()
def decisions(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE…", help="Labelled cases, JSON Lines.", show_default=False)
    ],
    *,
    unlabelled: Annotated[
        bool, typer.Option("--unlabelled", help="Print the cases without their labels, and judge nothing.")
    ] = False,
    errors: Annotated[
        bool, typer.Option("--errors", help="Show the cases that were decided wrongly.")
    ] = False,
    model: ChatOption = None,
    allow_remote: AllowRemote = False,
    output: Output = "table",
) -> None:
    """Measure what would be done with a new claim, on labelled cases: how many changes are right, how many are missed.

    By the rules, or by a model. A change is an UPDATE or a DELETE; it is right with the right target. Intervals:
    Wilson, 95 %. No store is read. The file's README says how to label what --unlabelled prints.

    \b
    Examples:
      braid evaluate decisions build.jsonl --errors
      braid evaluate decisions held.jsonl -o json
      braid evaluate decisions held.jsonl --unlabelled > to_label.jsonl
    """
    from braid.tools.cli.decided import measure, put_unlabelled, show

    if unlabelled:
        put_unlabelled(files)
        return
    asked = None if model is None else chat_model(model, allow_remote=allow_remote)
    show(measure(files, asked, with_errors=errors), output)


def _recall(kind: "Kind", paths: list[Path], output: str, *, top_k: int, **how: Any) -> None:
    if not paths:
        raise ValueError("name files, or folders of them, to measure by")
    from braid.recall.samples import Sample
    from braid.tools.evaluation.recall import evaluate as measured
    from braid.tools.evaluation.recall_samples import samples_of

    samples: list[Sample] = []
    digest = hashlib.sha256()
    for name, raw in _contents(paths, kind):
        digest.update(raw)
        try:
            samples += samples_of(kind, name, raw)
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{name}: {error}") from None
    if not any(sample.questions for sample in samples):
        raise ValueError("none of its questions has evidence that can be found: there is nothing to measure")
    result: dict[str, Any] = {
        "data": f"sha256:{digest.hexdigest()}",
        "kind": kind,
        "rerank": how["rerank"],
        **measured(samples, top_k=top_k, **how),
    }
    if output == "json":
        put(to_json(result, indent=2))
        return
    measures = [name for name in _RECALLED if name in result["turn"]["all"]]
    rows = [
        [level, group, str(found["questions"]), *(f"{found[name]:.3f}" for name in measures)]
        for level in ("turn", "session")
        for group, found in result[level].items()
    ]
    put_table(["level", "category", "questions", *measures], rows)
    say(
        f"{many(result['turns'], 'turn')}, {many(result['questions'], 'question')}; {result['unscorable']} without"
        f" evidence left out; model {result['model']}; {result['seconds']['all']} s"
    )


def _contents(paths: list[Path], kind: str) -> list[tuple[str, bytes]]:
    """Return what is measured by, file by file; JSON Lines are one, so that questions may stand apart from turns."""
    ending = "*.jsonl" if kind in ("jsonl", "qmsum") else "*.json"
    files = [file for path in paths for file in (sorted(path.glob(ending)) if path.is_dir() else [path])]
    if not files:
        raise ValueError(f"there is no {ending} in {', '.join(map(str, paths))}")
    if kind == "jsonl":
        return [(str(files[0]), b"\n".join(file.read_bytes() for file in files))]
    return [(str(file), file.read_bytes()) for file in files]
