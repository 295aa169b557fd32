"""What `braid evaluate extraction` measures by, and how it shows it."""

import hashlib
from pathlib import Path
from typing import Any, Final

from braid.tools.cli.output import many, put, put_table, say, to_json

_SHARES: Final = ("touched", "content", "turn_precision", "claims_per_turn")
_MEASURES: Final = ("precision", "recall", "attribution", "never_hit")


def measure(paths: list[Path], *, most: int | None, details: bool) -> dict[str, Any]:
    """Return the measures of this release's reader over some files, or folders of them."""
    from braid.learn.parse.reader import ParseReader
    from braid.models.spacy_parser import shared
    from braid.tools.evaluation.extraction import as_signed, evaluate
    from braid.tools.evaluation.talks import read_talks

    contents = [(str(file), file.read_bytes()) for file in _files(paths)]
    talks = read_talks(contents)
    if not any(talk.observations or talk.labels is not None for talk in talks):
        raise ValueError("it holds no observation and no label: there is nothing to measure by")
    reader = ParseReader(shared())
    digest = hashlib.sha256(b"".join(raw for _, raw in contents)).hexdigest()
    result = evaluate(
        reader,
        talks,
        most=most,
        prepare=reader.prepare,
        gate=as_signed,
        alone=shared().run_alone,
        details=details,
    )
    return {"data": f"sha256:{digest}", **result}


def show(result: dict[str, Any], output: str) -> None:
    """Show measures as tables, or as JSON."""
    if output == "json":
        put(to_json(result, indent=2))
        return
    if (found := result["observations"]) is not None:
        groups = [
            ("all", found),
            *((f"{name} a turn", each) for name, each in found["by_most_per_turn"].items() if name != "all"),
            *found["by_conversation"].items(),
        ]
        put_table(
            ["conversation", "claims", *_SHARES],
            [[name, str(each["claims"]), *(_figure(each[key]) for key in _SHARES)] for name, each in groups],
        )
        say(
            f"{many(found['turns'], 'turn')}, {many(found['observations'], 'observation')}; "
            f"{_figure(found['base_rate'])} of the turns have one"
        )
    if (found := result["labels"]) is not None:
        groups = [("all", found["all"]), *found["domains"].items(), *found["cases"].items()]
        put_table(
            ["group", "talks", "claims", *_MEASURES],
            [
                [name, str(each["talks"]), str(each["claims"]), *(_interval(each[key]) for key in _MEASURES)]
                for name, each in groups
            ],
        )
    speed = result["speed"]
    against = speed["of_parser_alone"]
    say(
        f"{result['reader']}: {speed['turns_per_second'] or 0:,.0f} turns a second"
        + (f", {against:g} × what the parser's model alone reads" if against is not None else "")
    )


def _files(paths: list[Path]) -> list[Path]:
    found: list[Path] = []
    for path in paths:
        found += sorted([*path.glob("*.json"), *path.glob("*.jsonl")]) if path.is_dir() else [path]
    if not found:
        raise ValueError(
            "there is no .json or .jsonl to measure by; name files, or folders: LoCoMo's, or labelled turns"
        )
    return found


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _interval(found: dict[str, Any]) -> str:
    """Return a share, its interval, and of how many it is."""
    if found["share"] is None:
        return "–"
    return f"{found['share']:.3f} [{found['low']:.2f} {found['high']:.2f}] of {found['of']}"
