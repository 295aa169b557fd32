"""A model is shown the tools that its token may ask, and no others."""

from typing import cast

import pytest

from braid.caller import GRANTS, Caller
from braid.door import Door
from braid.tools.mcp.server import Memory


@pytest.mark.parametrize(
    ("operations", "tools"),
    [
        (frozenset({"recall"}), {"memory_list", "memory_search"}),
        (frozenset({"remember", "recall"}), {"memory_list", "memory_search", "memory_store"}),
        (frozenset({"plan_forget"}), {"memory_forget"}),
        (frozenset[str](), set[str]()),
    ],
)
def test_tools_are_those_of_the_operations(operations: frozenset[str], tools: set[str]) -> None:
    caller = Caller(name="bot", kind="agent", allowed=GRANTS["agent"], operations=operations)
    memory = Memory(cast("Door", None), caller)
    assert {tool.name for tool in memory.tools()} == tools
