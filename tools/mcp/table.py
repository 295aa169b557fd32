"""Which tools an agent sees: each is an operation, and the members of its request that a model may fill. Pure."""

from collections.abc import Iterable
from datetime import datetime
from functools import cache
from typing import Annotated, Any, Final, Literal, cast

import msgspec
from msgspec import Meta

from braid.operation import Id, IdempotencyKey, Json, Name, Operation, Request, Response
from braid.registry import find
from braid.text_budget import MODEL_BYTES, most_tokens, shortened
from braid.wire import schema_of

FALLING: Final = 20
"""How many of those that would fall are shown with their words."""
FALLING_CHARS: Final = 200
_REFS: Final = "#/$defs/"


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """A tool: the operation behind it, and what a model sees of it."""

    operation: str
    shown: tuple[str, ...]
    """Members of the form that a model may fill; never a scope, a signer or an actor."""
    form: type[Request] | None = None
    """What a model fills where that isn't the operation's request."""
    answer: type[Response] | None = None
    """What it answers where that isn't the operation's response."""
    says: str
    """When to use it, for the model."""
    fixed: tuple[tuple[str, Json], ...] = ()
    """Members that are always the same."""
    left_out: tuple[str, ...] = ()
    """Members of the answer that tell a model nothing; of answers that hold no JSON of the caller's own."""
    shortened: tuple[str, ...] = ()
    """Texts of the answer of which a model gets the beginning."""

    @property
    def known(self) -> Operation:
        """The operation."""
        return find(self.operation)


class Falling(Response, frozen=True, kw_only=True):
    """What would fall, by id, and how its words begin; None where they are not for whoever asks, or there are none."""

    id: str
    text: str | None


class Forgotten(Response, frozen=True, kw_only=True):
    """`ids`: what falls, or has fallen. `forgotten`: whether it is done. `memories`: what the first of those that would
    fall say, so that a person can be shown it.

    `event`: the record that did it; not named to who is held to a scope, for it belongs to none. `already`: all of them
    were forgotten before, and nothing was changed.
    """

    forgotten: bool
    ids: tuple[str, ...]
    memories: tuple[Falling, ...] = ()
    event: str | None = None
    already: bool = False


class Store(Request, frozen=True, kw_only=True):
    """What a model remembers. `occurred_at`: when it was, where that isn't now, such as `2026-11-26T09:00:00Z`."""

    text: Annotated[
        str,
        Meta(
            pattern=r"\S",
            description="One thing, in a sentence of its own.",
            extra={"refusal": "text that isn't empty"},
        ),
    ]
    tags: tuple[Name, ...] = ()
    occurred_at: datetime | None = None
    idempotency_key: IdempotencyKey | None = None


class Forget(Request, frozen=True, kw_only=True):
    """What a model forgets. `confirm` false: only say what would fall; true: forget it. `only`: just these records, so
    that what one of them corrected stands again.
    """

    ids: Annotated[tuple[Id, ...], Meta(min_length=1)]
    reason: str | None = None
    only: bool = False
    confirm: bool = False


def stored(said: Store) -> dict[str, Json]:
    """Return the request of `remember` for what a model stores: its own words, whoever it says that it quotes.

    They say the way that they came, as captured turns do (SPEC §24).
    """
    message: dict[str, Json] = {"role": "assistant", "content": said.text}
    if said.occurred_at is not None:
        message["timestamp"] = said.occurred_at.isoformat()
    request: dict[str, Json] = {"messages": [message], "metadata": _PLUGIN, "tags": list(said.tags)}
    return request if said.idempotency_key is None else request | {"idempotency_key": said.idempotency_key}


_PLUGIN: Final[Json] = {"capture": {"runtime_path": "plugin", "request": "memory_store"}}
_SIGNALS: Final = ("signals", "parts", "proof")
_TEXT_CHARS: Final = 1_200
"""Of a hit's text: some 300 tokens, so that a document that was remembered whole doesn't fill a model's window."""
_READ_CHARS: Final = 10_000
"""Of a part of a long text: as JSON it is within the budget of a tool's answer, whatever its characters are."""
_SEARCH: Final = ("query", "top_k", "as_of_time", "valid_at", "superseded")
TOOLS: Final[dict[str, Tool]] = {
    "memory_search": Tool(
        operation="recall",
        shown=_SEARCH,
        fixed=(("rerank", True), ("text_chars", _TEXT_CHARS)),
        left_out=_SIGNALS,
        says="Find memories that fit a question, best first. Each hit has the id that the other tools take. Of a long "
        "text you get the part that fits; `memory_get` and `memory_read` read on.",
    ),
    "memory_list": Tool(
        operation="recall",
        shown=("top_k", "as_of_time", "superseded"),
        fixed=(("query", "*"), ("text_chars", _TEXT_CHARS)),
        left_out=_SIGNALS,
        says="Look over what is remembered, without a question: up to `top_k` memories, not all of a large store.",
    ),
    "memory_browse": Tool(
        operation="memories",
        shown=("limit", "before", "as_of_time"),
        shortened=("text",),
        says="Go through all that is remembered, newest first, each memory once, as it says now. `before` of a page "
        "asks for the next one; the last page has none. Of a long text you get the beginning; `memory_get` and "
        "`memory_read` read on.",
    ),
    "memory_get": Tool(
        operation="get",
        shown=("id",),
        says="Read one memory, verified, by its id. A text that is too long for you ends with `[cut: …]`, which says "
        "how long it is; `memory_read` goes on.",
    ),
    "memory_read": Tool(
        operation="excerpt",
        shown=("id", "start"),
        fixed=(("chars", _READ_CHARS),),
        says="Read a long text part by part: from character `start` on. `next` of a part is the `start` of the one "
        "behind it; the last part has none.",
    ),
    "memory_context": Tool(
        operation="context",
        shown=("query", "budget", "as_of_time"),
        fixed=(("rerank", True),),
        says="Get one block of memories for a task, at most `budget` tokens, to read before you answer.",
    ),
    "memory_ask": Tool(
        operation="ask",
        shown=("question", "as_of_time"),
        fixed=(("write", False),),
        left_out=("steps",),
        says="Ask the memory a question. It answers with the records that it rests on, or says that it doesn't know.",
    ),
    "memory_why": Tool(
        operation="why",
        shown=("id",),
        says="Say why what a memory claims stands or doesn't, down to the records behind it.",
    ),
    "memory_history": Tool(
        operation="history",
        shown=("id",),
        shortened=("old", "new"),
        says="Show what became of a memory: its versions, who corrected or forgot it, when, and why. Of long texts you "
        "get the beginning.",
    ),
    "memory_trace": Tool(
        operation="trace",
        shown=("id", "up", "down", "depth"),
        says="Show what a memory was made from, and what was made from it.",
    ),
    "memory_store": Tool(
        operation="remember",
        form=Store,
        shown=Store.__struct_fields__,
        says="Remember one thing, in a sentence that can be understood alone. It is signed, and said to be an agent's. "
        "What you stored before and still stands isn't stored twice: the answer names it.",
    ),
    "memory_modify": Tool(
        operation="modify",
        shown=("id", "text", "tags", "importance", "reason", "if_version"),
        says="Correct a memory: the new text takes its place. The old one stays in the log, superseded. What you leave "
        "out stays as it is. An agent corrects what agents stored, and never a person's own words.",
    ),
    "memory_forget": Tool(
        operation="forget",
        form=Forget,
        answer=Forgotten,
        shown=Forget.__struct_fields__,
        says="Hide memories, with all that they said before they were corrected, and what rests on them alone. First "
        "call it with `confirm` false: it only says what would fall. Show that to the person, and confirm when they "
        "agree. To take back a correction alone, name it with `only` true.",
    ),
}
"""Tool → operation, in the order in which they are listed."""


@cache
def input_schema(name: str) -> dict[str, Json]:
    """Return the JSON Schema of a tool's arguments: the request's, with the members alone that a model may fill."""
    tool = TOOLS[name]
    whole = _rooted(tool.form or tool.known.request, ())
    kept = {member: whole["properties"][member] for member in tool.shown}
    if "budget" in kept:
        kept["budget"] = kept["budget"] | {"maximum": most_tokens(MODEL_BYTES)}
    required = [member for member in whole.get("required", ()) if member in kept]
    return _pruned(
        {
            "type": "object",
            "properties": kept,
            "required": required,
            "additionalProperties": False,
            "$defs": whole["$defs"],
        }
    )


@cache
def output_schema(name: str) -> dict[str, Json]:
    """Return the JSON Schema of a tool's answer."""
    tool = TOOLS[name]
    return _pruned(_rooted(tool.answer or tool.known.response, tool.left_out))


def hints(name: str) -> dict[Literal["reads", "destroys", "repeatable"], bool]:
    """Return what the registry says of a tool; what hides memories counts as destructive, though it can be undone."""
    known = TOOLS[name].known
    return {
        "reads": known.access == "read",
        "destroys": known.destructive or known.access in ("forget", "erase"),
        "repeatable": known.repeatable,
    }


def trimmed(value: Json, tool: Tool) -> Json:
    """Return what a tool answers without the members that it leaves out, at whatever depth, and its texts shortened."""
    if isinstance(value, dict):
        return {
            name: shortened(each, _TEXT_CHARS) if each and name in tool.shortened else trimmed(each, tool)
            for name, each in cast("dict[str, Any]", value).items()
            if name not in tool.left_out
        }
    if isinstance(value, list | tuple):
        return [trimmed(each, tool) for each in cast("list[Any]", value)]
    return value


def _rooted(type_: type, left_out: tuple[str, ...]) -> dict[str, Json]:
    """Return a type's schema as an object at the root, as MCP wants it, with `$defs` for what it names."""
    schema, named = schema_of(type_)
    defs = {name: _portable(_without(one, left_out)) for name, one in named.items()}
    return {**defs[schema["$ref"].removeprefix(_REFS)], "$defs": defs}


def _without(schema: dict[str, Json], left_out: tuple[str, ...]) -> dict[str, Json]:
    if "properties" not in schema:
        return schema
    return schema | {
        "properties": {name: one for name, one in schema["properties"].items() if name not in left_out},
        "required": [name for name in schema.get("required", ()) if name not in left_out],
    }


def _portable(schema: Json) -> Json:
    """Return a schema whose tuples are bounded by `maxItems` alone.

    `items: false` beside it says the same, but some clients refuse a tool with a truth value where they want a schema.
    """
    if isinstance(schema, list):
        return [_portable(each) for each in cast("Iterable[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    members = cast("dict[str, Any]", schema)
    return {
        name: _portable(each)
        for name, each in members.items()
        if not (name == "items" and each is False and "maxItems" in members)
    }


def _pruned(schema: dict[str, Json]) -> dict[str, Json]:
    """Return a schema with those of its `$defs` that something still names."""
    defs = schema.pop("$defs")
    needed: dict[str, Json] = {}
    todo = list(_named(schema))
    while todo:
        name = todo.pop()
        if name not in needed:
            needed[name] = defs[name]
            todo += _named(defs[name])
    return schema | ({"$defs": needed} if needed else {})


def _named(value: Json) -> Iterable[str]:
    if isinstance(value, dict):
        for name, each in cast("dict[str, Any]", value).items():
            if name == "$ref" and isinstance(each, str):
                yield each.removeprefix(_REFS)
            else:
                yield from _named(each)
    elif isinstance(value, list):
        for each in cast("Iterable[Any]", value):
            yield from _named(each)
