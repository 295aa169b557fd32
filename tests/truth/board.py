"""The board's figure: how many tellings are wrong, of how many. The list of what is known to be wrong only shrinks.

python -m tests.truth            plays the scenes and says which tellings are wrong, and why
python -m tests.truth --keep     takes what is told right now off the list, and puts the figure into README.md
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tests.truth.scenes import Scene, load

KNOWN: Final = Path(__file__).parent / "wrong.txt"
README: Final = Path(__file__).parents[2] / "README.md"
PROPERTY: Final = "truth"
_FIGURE: Final = re.compile(r"(\d+) of (\d+) tellings are wrong, in (\d+) scenes")


def known() -> set[str]:
    """Return the names of the tellings that are known to be wrong."""
    return {line for line in KNOWN.read_text("utf-8").splitlines() if line and not line.startswith("#")}


def keep(wrong: Iterable[str]) -> None:
    """Write down what is known to be wrong, and the figure into README.md."""
    head = "# Tellings known to be wrong: this list only shrinks (tests/truth/README.md).\n"
    listed = sorted(wrong)
    KNOWN.write_text(head + "".join(f"{name}\n" for name in listed), encoding="utf-8")
    scenes = load()
    total = sum(len(scene.tellings()) for scene in scenes)
    figure = f"{len(listed)} of {total} tellings are wrong, in {len(scenes)} scenes"
    README.write_text(_FIGURE.sub(figure, README.read_text("utf-8")), encoding="utf-8")


def figure_of(page: Path = README) -> tuple[int, int, int]:
    """Return the figure that a page gives: wrong, of how many tellings, in how many scenes."""
    found = _FIGURE.search(page.read_text("utf-8"))
    if found is None:
        raise ValueError(f"{page} gives no figure of the truth board")
    return int(found[1]), int(found[2]), int(found[3])


def in_words(wrong: int, total: int, scenes: int) -> str:
    """Return the figure as it is printed."""
    return f"truth board: {wrong} of {total} tellings are wrong, in {scenes} scenes"


def against(scene: Scene, found: Mapping[str, str | None], listed: set[str]) -> list[str]:
    """Return how what a scene tells differs from what is known of it: newly wrong, or right and still listed."""
    names = set(scene.tellings())
    worse = [f"WRONG {name}: {why}" for name, why in found.items() if why is not None and name not in listed]
    better = [
        f"right, take it off the list: {name}"
        for name in sorted(names & listed)
        if found.get(name, "unplayed") is None
    ]
    return worse + better


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the figure of the scenes that were played, by this process or by the workers under it."""
    played = [
        value
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", None) == "call"
        for name, value in report.user_properties
        if name == PROPERTY
    ]
    if played:
        wrong, total = (sum(each) for each in zip(*played, strict=True))
        terminalreporter.write_line(in_words(wrong, total, len(played)))


def parameters(scenes: Sequence[Scene]) -> list[Any]:
    """Return the scenes as parameters of a test, each under its name."""
    import pytest

    return [pytest.param(scene, id=scene.name) for scene in scenes]
