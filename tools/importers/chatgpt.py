"""ChatGPT's data export: `conversations.json`, a list of conversations, each a tree of messages.

Taken is the whole tree, branch by branch: an edited question and a regenerated answer are siblings, and both are
kept. A message names its `parent`, the nearest one above it that says anything; those off the branch that was shown
last carry `on_current_branch: false`. Nodes that say nothing are passed over. Times are seconds since 1970.
Files and images are told of, not taken in. The hash is over id, author, content and time: not over ratings and states.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

import msgspec

from braid.tools.importers import fields, times
from braid.tools.importers.chatgpt_content import NodeContent, said_in
from braid.tools.importers.errors import Refused
from braid.tools.importers.jsonl import role_of
from braid.tools.importers.message import BadLine, Message, Read
from braid.tools.importers.source import ImportSource, SourceFile
from braid.tools.importers.split import MAX_PIECE_BYTES, SplitElement, pieces
from braid.tools.importers.strict import StrictJsonError, as_object, loads

PATTERN = "conversations*.json"
_MARK = re.compile(rb'"mapping"\s*:\s*\{')
_KEPT = ("recipient", "channel", "end_turn")
_KEPT_OF_METADATA = (
    "model_slug",
    "is_visually_hidden_from_conversation",
    "is_user_system_message",
    "citations",
)


class ChatgptImporter(msgspec.Struct, frozen=True, kw_only=True):
    """Reads the export, its zip, or the unpacked folder, holding one conversation at a time."""

    max_bytes: int = MAX_PIECE_BYTES

    @property
    def name(self) -> str:
        return "chatgpt"

    @property
    def shape(self) -> str:
        return 'ChatGPT\'s export: conversations.json, [{"title", "mapping": {…}, "current_node"}, …], or its zip'

    def recognises(self, source: ImportSource) -> bool:
        """True if a head opens a JSON document and shows a mapping."""
        return source.shows(PATTERN, _looks_right)

    def source_id(self, source: ImportSource) -> str:
        """Always `chatgpt`: each conversation has an id of its own."""
        del source
        return "chatgpt"

    def read(self, source: ImportSource) -> Read:
        """See `Importer.read`. The position in a `BadLine` is the conversation's in its file."""
        for part in source.parts(PATTERN):
            with part.open() as stream:
                for piece in pieces(stream, limit=self.max_bytes):
                    yield from _conversation(piece, part, source.opened_at)


def _looks_right(head: bytes) -> bool:
    return head.lstrip()[:1] in (b"[", b"{") and _MARK.search(head) is not None


class _Node(NamedTuple):
    id: str
    parent: str | None
    """The nearest node above that was taken."""
    message: dict[str, object]
    said: NodeContent


def _conversation(piece: SplitElement, part: SourceFile, now: datetime) -> Read:
    try:
        found = as_object(loads(piece.raw)) if piece.raw is not None else None
        mapping = as_object(found.get("mapping")) if found is not None else None
        if found is None or mapping is None:
            raise Refused(piece.reason or 'no "mapping" of messages')
        conversation = fields.text(found, "conversation_id") or fields.text(found, "id")
        if conversation is None:
            raise Refused('no "conversation_id"')
        current = _branch(mapping, found.get("current_node"))
        title = fields.text(found, "title")
    except (StrictJsonError, Refused) as error:
        yield BadLine(piece.number, str(error), part.name)
        return
    for ordinal, node in enumerate(_walk(mapping)):
        try:
            message = _message(node, ordinal, conversation, f"{part.uri}#{conversation}/{node.id}", now)
        except Refused as error:
            yield BadLine(piece.number, f"{conversation}, message {node.id[:80]}: {error}", part.name)
            continue
        extra = message.extra | ({"title": title} if title else {})
        if current and node.id not in current:
            extra["on_current_branch"] = False
        yield msgspec.structs.replace(message, extra=extra)


def _branch(mapping: dict[str, object], leaf: object) -> set[str]:
    """The nodes from the one that was shown last up to the root; a circle ends where it closes."""
    branch: set[str] = set()
    while isinstance(leaf, str) and leaf in mapping and leaf not in branch:
        branch.add(leaf)
        leaf = (as_object(mapping[leaf]) or {}).get("parent")
    return branch


def _walk(mapping: dict[str, object]) -> Iterator[_Node]:
    """The nodes that say something, each after its parent, branches in the order of the mapping.

    By `parent` alone: `children` may contradict it. Nodes that hang in a circle are reached as if they had none.
    """
    nodes = {id: as_object(value) or {} for id, value in mapping.items()}
    below: dict[str | None, list[str]] = {}
    for id, node in nodes.items():
        parent = node.get("parent")
        below.setdefault(parent if isinstance(parent, str) and parent in nodes else None, []).append(id)
    seen: set[str] = set()
    for root in [*below.get(None, ()), *nodes]:
        waiting: list[tuple[str, str | None]] = [(root, None)]
        while waiting:
            id, above = waiting.pop()
            if id in seen:
                continue
            seen.add(id)
            message = as_object(nodes[id].get("message")) or {}
            if (said := said_in(message)) != NodeContent():
                yield _Node(id, above, message, said)
                above = id
            waiting += [(child, above) for child in reversed(below.get(id, ()))]


def _message(node: _Node, ordinal: int, conversation: str, uri: str, now: datetime) -> Message:
    members = node.message
    author = as_object(members.get("author")) or {}
    metadata = as_object(members.get("metadata")) or {}
    said = node.said
    extra = fields.only(members, *_KEPT) | fields.only(metadata, *_KEPT_OF_METADATA) | dict(said.extra)
    if extra.get("recipient") == "all":
        del extra["recipient"]
    return Message(
        role=role_of(author),
        text=said.text,
        ordinal=ordinal,
        source_uri=uri,
        source_hash=fields.hash_of(fields.only(members, "id", "author", "content", "create_time")),
        occurred_at=times.epoch(members.get("create_time"), now, '"create_time"'),
        name=fields.text(author, "name"),
        session=conversation,
        conversation=conversation,
        external_id=node.id,
        parent=node.parent,
        media=said.media,
        extra=extra,
    )
