"""Tools: what a program may call, each with the types of its arguments and its result, a permission, and bounds.

A tool without a function is answered elsewhere: by a person, or by something that doesn't run here. The program pauses
there, and goes on from the log with what is brought back.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from hashlib import sha256
from typing import Any, Final, Literal

import msgspec

from braid.agent.errors import ToolRefusedError
from braid.agent.program.plan import references, strings
from braid.ledger.record.schemas import components
from braid.recall.deadline import within

Permission = Literal["read", "ask", "write", "network"]
PERMISSIONS: Final[tuple[Permission, ...]] = ("read", "ask", "write", "network")
MAX_RESULT_BYTES: Final = 16 << 10
MAX_SECONDS: Final = 120.0
GROUP: Final = "braid.tools"
"""The entry-point group of other packages' tools: name → a `Tool`."""
_DETAIL_CHARS: Final = 200


class Tool(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A tool. `args` and `result` are Structs; `call` takes the arguments, and a key that names this one call.

    `repeatable`: made twice with one key, the call does no more than once, so that one which a crash has cut off is
    made again. Any other is never made again unless a person says so. Without `call`, `asks` says who answers.
    """

    name: str
    about: str
    args: type[msgspec.Struct]
    result: type[msgspec.Struct]
    permission: Permission = "read"
    call: Callable[[Any, str], Any] | None = None
    asks: str = ""
    repeatable: bool = False
    seconds: float = 10.0
    most_bytes: int = MAX_RESULT_BYTES

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON Schemas of arguments and result."""
        (args, result), named = components((self.args, self.result))
        return {"args": args, "result": result, "$defs": named}

    @cached_property
    def digest(self) -> str:
        """What changes when the tool takes or gives something else, or may do something else."""
        said = msgspec.json.encode([self.name, self.permission, self.schema], order="deterministic")
        return f"sha256:{sha256(said).hexdigest()[:32]}"


class Toolbox:
    """The tools that a program may meet, by name. Raises ValueError for one that is not made as a tool must be."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            _refuse_malformed(tool)
            if tool.name in self._tools:
                raise ValueError(f"two tools are called {tool.name!r}")
            self._tools[tool.name] = tool

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def get(self, name: str) -> Tool:
        """Return a tool; raise ToolRefusedError where there is none of that name."""
        tool = self._tools.get(name)
        if tool is None:
            known = ", ".join(sorted(self._tools)) or "none"
            raise ToolRefusedError(f"there is no tool {name!r}; there are: {known}")
        return tool


def installed() -> list[Tool]:
    """Return the tools that other packages bring; raise ValueError for an entry point that is no tool of its name."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - it takes .02 s, and few programs call a tool

    found: list[Tool] = []
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        tool = entry.load()
        if not isinstance(tool, Tool) or tool.name != entry.name:
            raise ValueError(f"{entry.value} is no tool called {entry.name!r}")
        found.append(tool)
    return found


def _refuse_malformed(tool: Tool) -> None:
    if tool.permission not in PERMISSIONS:
        raise ValueError(f"the permission of the tool {tool.name} is one of {', '.join(PERMISSIONS)}")
    if not 0 < tool.seconds <= MAX_SECONDS or not 0 < tool.most_bytes <= MAX_RESULT_BYTES:
        raise ValueError(
            f"the tool {tool.name} has up to {MAX_SECONDS:g} s, and {MAX_RESULT_BYTES:,} bytes for a result"
        )
    if (tool.call is None) == (not tool.asks):
        raise ValueError(f"the tool {tool.name} has a function, or says in `asks` who answers; one of both")


def refuse_args(tool: Tool, args: Mapping[str, Any]) -> str | None:
    """Return why a tool doesn't take these arguments of a plan, None where it may: texts with braces are open yet."""
    fields = {field.encode_name: field for field in msgspec.structs.fields(tool.args)}
    if unknown := sorted(set(args) - set(fields)):
        return f"it takes no {unknown[0]!r}, but: {', '.join(fields) or 'nothing'}"
    missing = [name for name, field in fields.items() if field.required and name not in args]
    if missing:
        return f"it needs {missing[0]!r}"
    if any(references(text) for text in strings(args)):
        return None
    try:
        msgspec.convert(args, type=tool.args)
    except msgspec.ValidationError as error:
        return str(error)
    return None


def accept_args(tool: Tool, args: Mapping[str, Any]) -> msgspec.Struct:
    """Return arguments as the tool takes them; raise ToolRefusedError for others."""
    try:
        return msgspec.convert(args, type=tool.args, strict=False)
    except msgspec.ValidationError as error:
        raise ToolRefusedError(f"the tool {tool.name} doesn't take this: {error}") from None


def accept_result(tool: Tool, given: Any) -> dict[str, Any]:
    """Return what a tool gave as JSON of its type, bounded; raise ToolRefusedError for anything else."""
    try:
        result = msgspec.convert(given, type=tool.result, from_attributes=True)
        encoded = msgspec.json.encode(result)
    except (msgspec.MsgspecError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise ToolRefusedError(
            f"the tool {tool.name} gave what is not of its type: {str(error)[:_DETAIL_CHARS]}"
        ) from None
    if len(encoded) > tool.most_bytes:
        raise ToolRefusedError(
            f"the tool {tool.name} gave {len(encoded):,} bytes; it may give {tool.most_bytes:,}: nothing of it was kept"
        )
    built: dict[str, Any] = msgspec.json.decode(encoded)
    return built


def use(tool: Tool, args: msgspec.Struct, key: str, seconds: float) -> dict[str, Any]:
    """Return what a tool gives; raise ToolRefusedError where it raises, hangs, or gives something else."""
    call = tool.call
    if call is None:
        raise ToolRefusedError(f"the tool {tool.name} is answered by {tool.asks}, not here")
    most = min(seconds, tool.seconds)
    try:
        given = within(most, lambda: call(args, key))
    except TimeoutError:
        raise ToolRefusedError(
            f"the tool {tool.name} took longer than {most:g} s and was left; what it gives now is not used"
        ) from None
    except Exception as error:  # anybody's tool: its failure must cost no program
        raise ToolRefusedError(
            f"the tool {tool.name} raised {type(error).__name__}: {str(error)[:_DETAIL_CHARS]}"
        ) from error
    return accept_result(tool, given)


def told(result: Mapping[str, Any]) -> str:
    """Return a result as text: what it calls its text, the one thing in it, or its members by name."""
    if isinstance(text := result.get("text"), str):
        return text
    if len(result) == 1:
        return _plain(next(iter(result.values())))
    return "; ".join(f"{name}: {_plain(value)}" for name, value in result.items() if value is not None)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
