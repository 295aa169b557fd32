"""Results as a section of a page, and as a drawing beside it. The development half's failures are listed."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from braid.tools.gold.command import Measured, figure
from braid.tools.gold.judge import Judged, failures
from braid.tools.gold.scores import Scores, by_class
from braid.tools.gold.tasks import PARTS, Gold, Task
from braid.tools.lab.bench.report import machine
from braid.tools.lab.gold.plot import plotted

BEGIN: Final = "<!-- results: begin (written by `make gold ARGS='--report docs/gold.md'`) -->"
END: Final = "<!-- results: end -->"
MAX_SAID_CHARS: Final = 110
_HEAD: Final = (
    "| class | tasks | right: dev | right: held | cites right | evidence cited | held as should be | ECE | Brier"
    " | unsure: right | unsure: wrong | tokens in, out | p50 ms | p95 ms |"
)


def fill(page: Path, gold: Gold, found: Measured, now: datetime | None = None) -> None:
    """Write the results between the page's markers, and the drawing beside it; raise as `around`."""
    before, after = around(page)
    drawing = page.with_suffix(".svg")
    drawing.write_text(plotted(found.judged), encoding="utf-8")
    part = section(gold, found, drawing.name, now or datetime.now(UTC))
    page.write_text(f"{before}{BEGIN}\n{part}\n{END}{after}", encoding="utf-8")


def around(page: Path) -> tuple[str, str]:
    """Return what stands before and behind the results of a page; raise ValueError for one without a place for them."""
    before, begin, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{page} has no place for the results: the lines {BEGIN!r} and {END!r}")
    return before, after


def section(gold: Gold, found: Measured, drawing: str, now: datetime) -> str:
    """Return the results in Markdown."""
    parts = {part: [one for one in found.judged if one.part == part] for part in PARTS}
    by_part = {part: by_class(some) for part, some in parts.items() if some}
    failed = failures(parts["dev"])
    asked = {task.id: task for task in gold.tasks}
    by = f"answers by {found.model}" if found.model else "no model"
    return "\n".join(
        [
            f"{now:%Y-%m-%d}, {by}, on {machine()}. Histories taken in and read in {found.filling_s:.0f} s.",
            "",
            _HEAD,
            f"|---|{'--:|' * 13}",
            *(_row(kind, one, by_part) for kind, one in by_class(found.judged).items()),
            "",
            f"![Right answers by class; how sure against how right; silence]({drawing})",
            "",
            f"### What failed: {len(failed)} of {len(parts['dev'])} in the development half",
            "",
            "| task | verdict | question | right | said |",
            "|---|---|---|---|---|",
            *(_failure(asked[one.id], one) for one in failed),
        ]
    )


def _row(kind: str, one: Scores, by_part: dict[str, dict[str, Scores]]) -> str:
    right = [_of(by_part.get(part, {}).get(kind)) for part in PARTS]
    shares = [one.citation_precision, one.citation_recall, one.stance, one.ece, one.brier]
    unsure = [one.uncertainty_right, one.uncertainty_wrong]
    cells = [
        kind,
        str(one.tasks),
        *right,
        *(figure(each) for each in (*shares, *unsure)),
        f"{one.tokens_in:.0f}, {one.tokens_out:.0f}",
        f"{one.p50_ms:.0f}",
        f"{one.p95_ms:.0f}",
    ]
    return f"| {' | '.join(cells)} |"


def _of(one: Scores | None) -> str:
    return "–" if one is None else f"{one.right} of {one.tasks}"


def _failure(task: Task, one: Judged) -> str:
    said = one.given.text if one.said or task.then == "how" else "(nothing)"
    cells = (one.id, one.verdict, task.question, task.answer or "(no answer)", said)
    return f"| {' | '.join(_cell(each) for each in cells)} |"


def _cell(text: str) -> str:
    line = " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;").replace("`", "’")
    return line if len(line) <= MAX_SAID_CHARS else f"{line[:MAX_SAID_CHARS].rsplit(' ', 1)[0]} …"
