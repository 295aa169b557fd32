"""The LanceDB projection's share of a snapshot: the data files of its table, by hard links where the disk has them.

LanceDB never changes a file that it has written: it writes others beside it, each under a staging name (`…#1`) that
it renames. So a link stays what it was, and a copy of a set is as good as the set.
"""

import os
import shutil
from pathlib import Path
from typing import Final

from braid.views.errors import DamagedViewError
from braid.views.lance.folder import LanceHome
from braid.views.lance.view import LanceView
from braid.views.snapshot.manifest import ProjectionShare, describe

_STAGED: Final = "#"


def dump(home: LanceHome, folder: Path) -> ProjectionShare:
    """Link the files of the current set below `folder`; its lock is the caller's. Raises DamagedViewError."""
    view, current = home.open(), home.current()
    if view.stamp is None or current is None:
        raise DamagedViewError("it was never finished")
    link_tree(home.folder / current.folder, folder / "lance")
    rows = view.table.count("log_index >= 0")
    return ProjectionShare("lance", view.stamp, describe(folder, "lance"), rows=rows, model=current.model)


def load(home: LanceHome, folder: Path, part: ProjectionShare) -> LanceView:
    """Begin a set that holds what the snapshot's holds; raise DamagedViewError for one that can't be read."""
    assert part.model is not None  # noqa: S101 - a part of another model is refused before
    return home.fresh_from(part.model, lambda path: link_tree(folder / "lance", path))


def link_tree(source: Path, target: Path) -> None:
    """Give every file of a tree a second name below `target`; copy them where the file system has no links."""
    target.mkdir(mode=0o700)
    for path in sorted(source.iterdir()):
        if path.is_dir():
            link_tree(path, target / path.name)
        elif _STAGED not in path.name:
            try:
                os.link(path, target / path.name)
            except OSError:
                shutil.copyfile(path, target / path.name)
