"""What `braid evaluate decisions` measures by, and how it shows it."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from braid.tools.cli.output import line, many, put, put_table, say, to_json
from braid.tools.evaluation import decisions

if TYPE_CHECKING:
    from braid.text.chat import ChatModel


def put_unlabelled(files: list[Path]) -> None:
    """Print the cases of some files without their labels."""
    for one in decisions.unlabelled(_cases(files)):
        put(to_json(one))


def measure(files: list[Path], model: "ChatModel | None", *, with_errors: bool) -> dict[str, Any]:
    """Return how often the rules, or a model, are right about the cases of some files."""
    cases = _cases(files)
    if model is None:
        found = [decisions.judged(case) for case in cases]
        by: dict[str, Any] = {"by": "rules"}
    else:
        from braid.learn.model.decider import NOT_ASKED, ModelDecider

        decider = ModelDecider(model)
        found = [decisions.judged(case, decider) for case in cases]
        account = decider.account()
        discarded = sum(one.label is None and one.reason != NOT_ASKED for one in found)
        by = {"by": model.name, "model": {**account._asdict(), "well_formed": account.asked - discarded}}
    told = {"errors": decisions.errors(found)} if with_errors else {}
    return {**by, **decisions.scores(found), **told}


def _cases(files: list[Path]) -> list[decisions.Case]:
    return [case for file in files for case in decisions.cases_of(file.read_bytes(), str(file))]


def show(result: dict[str, Any], output: str) -> None:
    """Show the measures as tables, or as JSON."""
    if output == "json":
        put(to_json(result, indent=2))
        return
    figures = {
        "right": result["right"],
        "changes that are right": result["changes"],
        **{f"{action} that are right": figure for action, figure in result["precision"].items()},
        "changes that were found": result["recall"],
        "questions to a person that are right": result["reviews"],
        "questions to a person that were found": result["reviews_found"],
        **{f"kind: {kind}": figure for kind, figure in result["kinds"].items()},
    }
    put_table(["measure", "of", "share"], [[name, *_figure(found)] for name, found in figures.items()])
    put_table(
        ["should be", "would be", "cases"],
        [[one["label"], one["decided"], str(one["count"])] for one in result["confusion"]],
    )
    for error in result.get("errors", ()):
        wrong = f"{error['decided']} {error['target']}, not {error['label']} {error['targets']}"
        put(line(f"{error['id']}: {wrong} ({error['reason']})"))
    say(
        f"{many(result['cases'], 'case')}, by {result['by']}; {many(result['wrong_targets'], 'wrong target')}"
    )
    if (asked := result.get("model")) is not None:
        say(
            f"{asked['well_formed']} of {asked['answered']} answers well formed; {asked['tokens_in']} tokens in,"
            f" {asked['tokens_out']} out; {asked['ms_p50']} ms, p95 {asked['ms_p95']} ms"
        )


def _figure(found: list[float] | None) -> tuple[str, str]:
    if found is None:
        return "–", "–"
    count, of, share, low, high = found
    return f"{count:.0f} of {of:.0f}", f"{share:.3f} [{low:.2f} {high:.2f}]"
