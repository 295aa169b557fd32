"""Signed decisions on which names are one's: read from the log, as far as they hold in a scope at a moment of it."""

from collections.abc import Callable, Iterable
from typing import Final, cast

from braid.caller import asking
from braid.claims.finder import ClaimFinder
from braid.learn.resolve.resolution import Decision, Node, split_node
from braid.ledger.record.record import ENTITY, EventBody, Record, Scope
from braid.ledger.record.scope import SCOPES, in_scope, owner_of
from braid.session import Session
from braid.text.words import normal
from braid.views.errors import ViewError

WITHHELD: Final = ""
"""Stands for the id of a decision that holds here and is outside of the caller's scope."""
_DECISIONS: Final = f"SELECT log_index FROM events WHERE name = '{ENTITY}' ORDER BY log_index"  # noqa: S608 - our own word

Read = Callable[[int], Record | None]
"""A living record by log index, verified; None for one that is gone, or has been replaced."""


def decisions_in(session: Session, finder: ClaimFinder, read: Read) -> dict[int, Decision]:
    """Return the living decisions that hold in the finder's scope, at its moment of the log, by log index."""
    found: dict[int, Decision] = {}
    for index in _indexes(session, finder.size):
        record = read(index) if index < finder.size else None
        decision = _decision(record, finder.scope, read) if record is not None else None
        if decision is not None:
            found[index] = decision
    return found


def joined_by(decisions: Iterable[Decision], nodes: Iterable[Node]) -> set[Node]:
    """Return the nodes that decisions, and no rule, join with some, themselves too."""
    joins = [{*one.nodes} for one in decisions if one.op in ("merge", "alias")]
    reached = {*nodes}
    while more := [each for each in joins if not each.isdisjoint(reached) and not each <= reached]:
        reached = reached.union(*more)
    return reached


def _indexes(session: Session, size: int) -> list[int]:
    try:
        with session.views.tables() as tables:
            return [index for (index,) in tables.rows(_DECISIONS)]
    except (ViewError, OSError):  # no projection to ask: the log itself is read
        return [
            record.index
            for batch in session.reader.entries(0, size)
            for record, _ in batch
            if record.kind == "event" and record.raw is not None and _event(record).name == ENTITY
        ]


def _decision(record: Record, scope: Scope | None, read: Read) -> Decision | None:
    body = _event(record)
    op = body.data.get("op")
    if op not in ("merge", "apart", "split", "alias") or not _holds_in(body.scope, scope):
        return None
    owner = owner_of(body.scope)
    names = [one for link in record.targets("parent") if (one := read(link.index)) is not None]
    nodes = [_node(owner, one) for one in names]
    told = tuple(map(str, _list(body.data.get("aliases"))))
    is_told = _is_told(body.scope)
    return Decision(
        at=record.index,
        id=record.id if is_told else WITHHELD,
        op=op,
        nodes=(*nodes, *(Node(owner, normal(alias)) for alias in told)),
        sides=tuple(int(_event(one).data.get("side", 0)) for one in names) if op == "apart" else (),
        turns=frozenset(link.index for link in record.targets("evidence")),
        aliases=told if is_told else (),
    )


def _holds_in(decided: Scope | None, scope: Scope | None) -> bool:
    """Whether a decision holds in a scope: one of a whole memory does; of a part of one, only within that."""
    ids = {name: id for name in SCOPES if decided is not None and (id := getattr(decided, name))}
    ids.pop(owner_of(decided).partition(":")[0], None)
    return all(scope is not None and getattr(scope, name) == id for name, id in ids.items())


def _is_told(decided: Scope | None) -> bool:
    """Whether a decision's own words and id may be told: not to a caller whose scope it is outside of."""
    caller = asking()
    return caller is None or not caller.scope or in_scope(decided, Scope(**caller.scope))


def _node(owner: str, name: Record) -> Node:
    node = Node(owner, str(_event(name).data.get("node", "")))
    parted = name.targets("target")
    return split_node(node, parted[0].index) if parted else node


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _event(record: Record) -> EventBody:
    body = record.body if record.raw is not None else None
    return body if isinstance(body, EventBody) else EventBody()
