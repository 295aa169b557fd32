"""The part of a braid or a cascade that is a caller's own, where it may name records of others. Pure.

An operator who asks about somebody's memory leaves an answer that rests on it, and is none of their scope. What falls
with a memory, and what its braid is, is still answered to whose memory it is: without the records of others.
"""

from collections.abc import Callable, Iterable

import msgspec

from braid.ledger.erase.cascade import Cascade, Named
from braid.ledger.read.trace import TraceNode

IsOwn = Callable[[str], bool]


def own_braid(node: TraceNode, is_own: IsOwn) -> TraceNode:
    """Return a braid without records of others, and what hangs on them."""

    def kept(nodes: Iterable[TraceNode]) -> list[TraceNode]:
        return [own_braid(one, is_own) for one in nodes if is_own(one.id)]

    return msgspec.structs.replace(node, up=kept(node.up), down=kept(node.down))


def own_cascade(found: Cascade, is_own: IsOwn) -> Cascade:
    """Return a cascade without records of others."""

    def kept(named: Iterable[Named]) -> list[Named]:
        return [one for one in named if is_own(one.id)]

    return Cascade(
        asked=kept(found.asked),
        derived=kept(found.derived),
        kept=kept(found.kept),
        again=kept(found.again),
        goes_on=kept(found.goes_on),
    )
