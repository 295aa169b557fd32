"""Progress bars: on stderr, and only where somebody looks."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Bar:
    """A bar, or nothing where nobody looks."""

    def __init__(self, shown: "tuple[Progress, TaskID] | None" = None) -> None:
        self._shown = shown

    def advance(self, count: int) -> None:
        """Go on by `count`."""
        if self._shown:
            self._shown[0].update(self._shown[1], advance=count)

    def reach(self, done: int, total: int) -> None:
        """Stand at `done` of `total`."""
        if self._shown:
            self._shown[0].update(self._shown[1], completed=done, total=total)


@contextmanager
def progress(label: str, total: int | None = None) -> Generator[Bar]:
    """Show a bar (a pulse without `total`) while the block runs."""
    if not sys.stderr.isatty():
        yield Bar()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        yield Bar((shown, shown.add_task(label, total=total)))
