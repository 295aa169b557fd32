"""The braid of a record drawn as a tree."""

import sys
from typing import Any

from braid.tools.cli.output import line, put


def put_tree(node: Any) -> None:
    """Write a TraceNode and what hangs on it: drawn by rich on a terminal, indented elsewhere."""
    raise NotImplementedError(line(str(node)), sys, put)
