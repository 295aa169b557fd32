"""What a run came to: as JSON, as a table, and as the section of docs/reliability.md."""

from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec

from braid.tools.lab.bench.report import machine

BEGIN: Final = "<!-- last run: begin (written by `make torture ARGS='--report docs/reliability.md'`) -->"
END: Final = "<!-- last run: end -->"
_HEARD: Final = {
    "appended": "records acknowledged",
    "hidden": "forgotten",
    "recovered": "recovered",
    "erased": "erased and certified",
    "compacted": "compactions",
    "replayed": "replays",
    "asked": "SQL questions answered",
    "past": "questions to the past",
    "read": "records read, verified",
    "scanned": "whole logs read against their heads",
    "published": "heads followed by a mirror, or published",
    "harmed": "steps made to fail, one at a time",
    "accepted": "lags of the clock accepted",
}


class Finding(msgspec.Struct, frozen=True):
    """What must not be: in which round and scene, and where the store is kept."""

    round: int
    scene: str
    what: str
    kept: str


class Summary(msgspec.Struct, frozen=True):
    """One run. `heard`: how often processes said each word; `refused: X` counts refusals that were told."""

    seed: int
    begun: datetime
    seconds: float
    rounds: dict[str, int]
    heard: dict[str, int]
    full_disk: str
    slow_disk: str
    system_calls: str
    findings: list[Finding]


def _rows(summary: Summary) -> list[tuple[str, str]]:
    heard = Counter(summary.heard)
    rows = [(f"rounds: {name}", f"{count:,}") for name, count in summary.rounds.items()]
    rows.append(("processes killed", f"{heard['killed']:,}"))
    rows += [(text, f"{heard[word]:,}") for word, text in _HEARD.items()]
    rows += [(word, f"{heard[word]:,}") for word in sorted(heard) if word.startswith("refused: ")]
    rows += [("full disk", summary.full_disk), ("slow disk", summary.slow_disk)]
    rows.append(("system calls harmed by", summary.system_calls))
    return [*rows, ("findings", f"{len(summary.findings)}")]


def table(summary: Summary) -> str:
    """Return the summary as aligned plain text."""
    rows = [("seed", str(summary.seed)), ("seconds", f"{summary.seconds:.0f}"), *_rows(summary)]
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:<{width}}  {value}" for name, value in rows)


def section(summary: Summary, command: str) -> str:
    """Return the summary in Markdown, with command, machine, date and duration."""
    lines = [
        f"`{command}`, {summary.begun:%Y-%m-%d %H:%M} UTC, {summary.seconds / 60:.1f} minutes, on {machine()}.",
        "",
        "| what | |",
        "|---|--:|",
        *(f"| {name} | {value} |" for name, value in _rows(summary)),
    ]
    for finding in summary.findings:
        what = finding.what.partition("\n")[0].replace("`", "'")
        lines += ["", f"**Finding** in round {finding.round}, scene `{finding.scene}`: `{what}`"]
    return "\n".join(lines)


def fill(page: Path, summary: Summary, *, command: str) -> None:
    """Replace what stands between the page's markers; raise ValueError for a page without them."""
    text = page.read_text("utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{page} has no place for the summary: the lines {BEGIN!r} and {END!r}")
    page.write_text(f"{before}{BEGIN}\n{section(summary, command)}\n{END}{after}", "utf-8")
