"""The braid of one record: what it came from, and what came of it (SPEC §3.6). Works without a vault.

Links lead to earlier records only, so that neither direction has a cycle. A record that hangs on several paths is shown
once with all that is above or below it, and afterwards only named.
"""

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Final, Literal

import msgspec

from braid.ledger.errors import ErasedError, UnknownRecordError
from braid.ledger.read.reader import Reader
from braid.ledger.record.envelope import LINK_ROLES, Envelope, Link

Children = Callable[[int], list[tuple[int, str]]]
"""Record index to the (index, role) of each record that links to it."""
Direction = Literal["self", "up", "down"]
MAX_NODES: Final = 10_000
MAX_DEPTH: Final = 200
"""Deeper trees could be nested JSON that no reader of JSON takes."""


class BodyText(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a record's body says of itself, where a trace was asked for text: sealed, so never in an auditor's copy."""

    text: str = ""
    """The first line of its content."""
    actor: str = ""
    name: str = ""
    method: str = ""
    lens: str = ""
    occurred_at: str = ""


class TraceNode(msgspec.Struct, omit_defaults=True):
    """A record in a trace: `up` is what it links to, `down` what links to it, `role` that of the link it hangs on."""

    id: str
    index: int
    kind: str
    created_at: str
    key: str
    type: str = ""
    role: str = ""
    direction: Direction = "self"
    forgotten: bool = False
    erased: bool = False
    disputed: bool = False
    tx: int = 0
    """Number of its transaction."""
    author: str = ""
    """The role of the key that signed it."""
    gone_by: str = ""
    """The tombstone that forgot or erased it, and when."""
    gone_at: str = ""
    said: BodyText | None = None
    seen_above: bool = False
    """Shown before, with all that belongs to it."""
    more: int = 0
    """Links that were left out: too deep, or too many."""
    up: "list[TraceNode]" = []
    down: "list[TraceNode]" = []

    def to_json(self) -> bytes:
        """Return the tree as JSON."""
        return msgspec.json.encode(msgspec.to_builtins(self))

    def lines(self) -> Iterator[str]:
        """Yield the tree as text: first what it came from, then what came of it."""
        yield self.label()
        yield from _branch(self.up, "", "↑ ")
        yield from _branch(self.down, "", "↓ ")

    def label(self) -> str:
        """Return the record in one line."""
        marks = [
            mark
            for mark, held in (
                ("forgotten", self.forgotten),
                ("erased", self.erased),
                ("disputed", self.disputed),
                ("seen above", self.seen_above),
                (f"{self.more} more", bool(self.more)),
            )
            if held
        ]
        type_ = f" ({self.type})" if self.type else ""
        role = f"{self.role}: " if self.role else ""
        tail = f" [{', '.join(marks)}]" if marks else ""
        text = f" {self.said.text}" if self.said and self.said.text and not self.seen_above else ""
        return f"{role}{self.id}{type_}{tail}{text}"


def _branch(nodes: list[TraceNode], margin: str, arrow: str) -> Iterator[str]:
    """Yield the lines of the nodes below one; iterative."""
    stack = [(node, margin, place == len(nodes) - 1) for place, node in enumerate(nodes)][::-1]
    while stack:
        node, margin, last = stack.pop()
        yield f"{margin}{'└─' if last else '├─'}{arrow}{node.label()}"
        below = node.up if arrow == "↑ " else node.down
        deeper = margin + ("   " if last else "│  ")
        stack += [(child, deeper, place == len(below) - 1) for place, child in enumerate(below)][::-1]


def trace(
    reader: Reader,
    id: str,
    *,
    up: bool = True,
    down: bool = True,
    depth: int | None = None,
    children: Children | None = None,
    max_nodes: int = MAX_NODES,
    text: bool = False,
) -> TraceNode:
    """Return the record with what it links to (`up`) and what links to it (`down`), `depth` links far (200 at most).

    `children` finds the records that link to one; without it the envelopes are read once. At most `max_nodes` records
    are shown; what is left out is counted in `more`. With `text`, and a vault, each living record also says who said
    what; the forgotten stay silent. Raises UnknownRecordError; erased ones can be traced.
    """
    index = reader.index_of(id)
    envelope = reader.envelope(index)
    if envelope.id != id:
        raise UnknownRecordError(f"{id}: no such record; index {index} is {envelope.id}")
    tracer = _Tracer(reader, max_nodes, depth, text=text and reader.vault is not None)
    root = tracer.node(envelope, "", "self")
    if up:
        tracer.grow(root, "up", lambda at: [(link.index, link.role) for link in reader.links(at)])
    if down:
        tracer.grow(root, "down", children or scan_children(reader, index))
    return root


class _Tracer:
    def __init__(self, reader: Reader, max_nodes: int, depth: int | None, *, text: bool) -> None:
        self.reader = reader
        self.text = text
        self.left = max_nodes - 1
        self.depth = MAX_DEPTH if depth is None else min(depth, MAX_DEPTH)

    def node(self, envelope: Envelope, role: str, direction: Direction) -> TraceNode:
        index, control = envelope.index, self.reader.control
        life = control.keys.get(envelope.key)
        gone = control.hidden[index][0] if index in control.hidden else control.erased.get(index)
        tombstone = None if gone is None else self.reader.envelope(gone)
        return TraceNode(
            envelope.id,
            index,
            envelope.kind,
            envelope.created_at,
            envelope.key,
            envelope.type,
            role,
            direction,
            forgotten=index in control.hidden,
            erased=index in control.erased,
            disputed=life is not None and life.disputed(index),
            tx=envelope.tx[0],
            author=life.role if life else "",
            gone_by=tombstone.id if tombstone else "",
            gone_at=tombstone.created_at if tombstone else "",
            said=said_by(self.reader, index) if self.text and gone is None else None,
        )

    def grow(self, root: TraceNode, direction: Literal["up", "down"], following: Children) -> None:
        """Hang on `root` all that is reached in one direction, nearest first."""
        seen = {root.index}
        queue: deque[tuple[TraceNode, int]] = deque([(root, 0)])
        while queue:
            node, far = queue.popleft()
            links = following(node.index)
            if far >= self.depth:
                node.more += len(links)
                continue
            branch: list[TraceNode] = []
            for index, role in links:
                if self.left <= 0:
                    node.more += 1
                    continue
                self.left -= 1
                child = self.node(self.reader.envelope(index), role, direction)
                branch.append(child)
                if index in seen:
                    child.seen_above = True
                else:
                    seen.add(index)
                    queue.append((child, far + 1))
            if direction == "up":
                node.up = branch
            else:
                node.down = branch


def said_by(reader: Reader, index: int) -> BodyText | None:
    """Return what the record says of itself; None where it was erased meanwhile, or says nothing."""
    try:
        record = reader.at(index)
    except ErasedError:
        return None
    members = record.members
    # What a body leaves out has its default (SPEC §4.6).
    unsaid = {"actor": "user", "method": "capture"} if record.kind == "experience" else {}
    provenance: dict[str, Any] = unsaid | (members.get("provenance") or {})
    content: dict[str, Any] = members.get("content") or {}
    decision: dict[str, Any] = members.get("decision") or {}
    shown = content.get("text") or decision.get("claim") or members.get("question") or members.get("name")
    said = BodyText(
        text=next(iter(str(shown or "").splitlines()), ""),
        actor=str(provenance.get("actor") or members.get("actor") or ""),
        name=str(provenance.get("name") or ""),
        method=str(provenance.get("method") or members.get("method") or ""),
        lens=str(members.get("lens") or ""),
        occurred_at=str(members.get("occurred_at") or ""),
    )
    return None if said == BodyText() else said


def scan_children(reader: Reader, index: int) -> Children:
    """Read the envelopes behind `index` once and return what finds the records that link to one.

    Kept are only links that hang, over any number of steps, on the record at `index`.
    """
    below: dict[int, list[tuple[int, str]]] = {index: []}
    for at in range(index + 1, reader.size):
        envelope = reader.envelope(at)
        links: list[Link] = reader.links(at) if envelope.links else []
        hanging = False
        for link in links:
            if link.index in below and link.role in LINK_ROLES:
                below[link.index].append((at, link.role))
                hanging = True
        if hanging:
            below[at] = []
    return lambda at: below.get(at, [])
