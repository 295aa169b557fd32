"""Writes what follows from the registry: `Store`, `AsyncStore`, the JSON Schemas, and the reference of operations.

python -m braid.tools.lab.faces            write them
python -m braid.tools.lab.faces --check    say which are stale, and end with 1 where one is
"""

import ast
import inspect
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from textwrap import indent, wrap
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, NewType, Union, get_args, get_origin, get_type_hints

import msgspec

from braid.operation import Operation, PathName
from braid.paging import USUAL_SIZE, highest_limit
from braid.registry import operations
from braid.wire import schema_of, to_builtins

ROOT: Final = Path(__file__).resolve().parents[2]
NOTE: Final = "# Written by `make faces` from the registry of operations: change those.\n"
_WORD: Final = re.compile(r"\b[A-Za-z_]\w*\b")


class Imports:
    """The imports that a written file needs, each name once."""

    def __init__(self) -> None:
        self._modules: dict[str, str] = {}

    def add(self, name: str, module: str) -> str:
        """Note that a name comes from a module; ValueError where it comes from another already."""
        if self._modules.setdefault(name, module) != module:
            raise ValueError(
                f"{name} is the name of a class in {self._modules[name]} and in {module}: rename one"
            )
        return name

    def lines(self) -> str:
        """Return the import lines, those of Braid and of the typing alone first."""
        return "".join(f"    from {module} import {name}\n" for name, module in sorted(self._modules.items()))


class Parameter(msgspec.Struct, frozen=True):
    """One of a method. `passes`: how it is handed on."""

    name: str
    type: str
    default: str | None
    passes: str
    starred: bool = False


class Method:
    """One operation as a method."""

    def __init__(self, operation: Operation, imports: Imports, *, remote: bool = False) -> None:
        """`remote`: only with what can be sent to a server."""
        self.operation = operation
        self._imports = imports
        self._hints = get_type_hints(operation.request, include_extras=True)
        self.members = [self._member(field) for field in msgspec.structs.fields(operation.request)]
        self.local = [] if remote else [self._local(name) for name in operation.local]

    def _member(self, field: msgspec.structs.FieldInfo) -> Parameter:
        taken = self.type(self._hints[field.name], taken=True)
        kept = self.type(self._hints[field.name])
        starred = f"*{field.name}" in self.operation.positional
        default = None if field.required else repr(field.default)  # of UNSET: its name
        passes = f"given({field.name})" if taken != kept else field.name
        if starred:
            taken, passes = _item(taken), field.name
        return Parameter(field.name, taken, default, passes, starred)

    def _local(self, name: str) -> Parameter:
        found = inspect.signature(self.operation.run).parameters[name]
        default = None if found.default is inspect.Parameter.empty else repr(found.default)
        if not isinstance(found.annotation, str):
            return Parameter(name, self.type(found.annotation), default, name)
        known = _imported(Path(inspect.getfile(self.operation.run)))
        for word in _WORD.findall(found.annotation):
            if word in known:
                self._imports.add(word, known[word])
        return Parameter(name, found.annotation, default, name)

    def type(self, given: Any, *, taken: bool = False) -> str:
        """Return a type as it is written; `taken`: as wide as what a method can take for it."""
        origin = get_origin(given)
        if given in (Any, None, NoneType):
            return self._imports.add("Json", "braid.operation") if given is Any else "None"
        if origin is Annotated:
            path = f"{self._imports.add('Path', 'pathlib')} | " if taken and given == PathName else ""
            return path + self.type(get_args(given)[0], taken=taken)
        if origin in (Union, UnionType):
            return " | ".join(self.type(each, taken=taken) for each in get_args(given))
        if origin is Literal:
            self._imports.add("Literal", "typing")
            return f"Literal[{', '.join(map(repr, get_args(given)))}]"
        if origin is not None:
            return self._generic(origin, get_args(given), taken=taken)
        return self._named(given)

    def _named(self, given: Any) -> str:
        builtin = not isinstance(given, NewType) and given.__module__ == "builtins"
        return str(given.__name__) if builtin else self._imports.add(given.__name__, given.__module__)

    def _generic(self, origin: Any, arguments: tuple[Any, ...], *, taken: bool) -> str:
        inner = ", ".join(self._argument(each, taken=taken) for each in arguments)
        if taken and origin is tuple:
            return f"{self._imports.add('Sequence', 'collections.abc')}[{inner.removesuffix(', ...')}]"
        if taken and origin is dict:
            return f"{self._imports.add('Mapping', 'collections.abc')}[{inner}]"
        if origin.__module__ != "builtins":
            self._imports.add(origin.__name__, origin.__module__)
        return f"{origin.__name__}[{inner}]"

    def _argument(self, given: Any, *, taken: bool) -> str:
        if hasattr(given, "append"):  # a list: the parameters of a callable
            return f"[{', '.join(self.type(each) for each in given)}]"
        return "..." if given is ... else self.type(given, taken=taken)

    @property
    def returned(self) -> str:
        """The type of what the method returns; of a stream, of its items."""
        one = self.operation
        return self.type(get_type_hints(one.response)[one.returns] if one.returns else one.response)

    @property
    def signature(self) -> str:
        """The parameters behind `self`: by position, then by name, what has no default first."""
        order = [name.removeprefix("*") for name in self.operation.positional]
        first = sorted(
            (one for one in self.members if one.name in order), key=lambda one: order.index(one.name)
        )
        rest = [one for one in (*self.members, *self.local) if one not in first]
        told = [_told(one) for one in first]
        star = [] if not rest or any(one.starred for one in first) else ["*"]
        return ", ".join(["self", *told, *star, *(_told(one) for one in rest)])

    @property
    def handed_on(self) -> str:
        """The same parameters as another method with this signature is called."""
        starred = [f"*{one.name}" for one in self.members if one.starred]
        named = [f"{one.name}={one.name}" for one in (*self.members, *self.local) if not one.starred]
        return ", ".join([*starred, *named])

    @property
    def doc(self) -> str:
        """The docstring, as the function has it."""
        return f'"""{inspect.cleandoc(self.operation.description)}'

    def sync(self) -> str:
        """Return the method of `Store`."""
        one = self.operation
        room = _alias(one)
        request = f"{room}.{one.request.__name__}({', '.join(f'{each.name}={each.passes}' for each in self.members)})"
        local = "".join(f", {each.name}={each.name}" for each in self.local)
        call = f"self.session.call({room}.{one.name}, {request}{local})" + (
            f".{one.returns}" if one.returns else ""
        )
        returned = (
            f"{self._imports.add('Iterator', 'collections.abc')}[{self.returned}]"
            if one.streams
            else self.returned
        )
        return self._written("def", returned, f"return {call}")

    def adding(self) -> str:
        """Return the method that adds its request to a transaction."""
        one = self.operation
        members = [each for each in self.members if each.name != "signer"]
        request = ", ".join(f"{each.name}={each.passes}" for each in members)
        body = f"return self.add({_alias(one)}.{one.request.__name__}({request}))"
        self.members = members
        return self._written("def", "Pending", body)

    def asynchronous(self) -> str:
        """Return the method of `AsyncStore`."""
        one = self.operation
        call = f"self.sync.{one.name}({self.handed_on})"
        if one.streams:
            returned = f"{self._imports.add('AsyncIterator', 'collections.abc')}[{self.returned}]"
            return self._written("def", returned, f"return stream(lambda: {call})")
        step = f"lambda: {call}" if self.handed_on else f"self.sync.{one.name}"
        return self._written("async def", self.returned, f"return await to_thread({step})")

    def sync_items(self) -> str:
        """Return the method of `Store` that yields the items of the operation's list."""
        self._lift_limit()
        one, room = self.operation, _alias(self.operation)
        request = f"{room}.{one.request.__name__}({', '.join(f'{each.name}={each.passes}' for each in self.members)})"
        body = f"return self.session.items({room}.{one.name}, {request}, page_size)"
        return self._written_items("Iterator", body)

    def asynchronous_items(self) -> str:
        """Return the method of `AsyncStore` that yields them."""
        self._lift_limit()
        handed_on = ", ".join(filter(None, [self.handed_on, "page_size=page_size"]))
        call = f"self.sync.{self.items_name}({handed_on})"
        return self._written_items("AsyncIterator", f"return stream(lambda: {call})")

    def _lift_limit(self) -> None:
        """Let a list have no `limit` but one that is given: the usual one is for what comes at once."""
        most = highest_limit(self.operation)
        if most is not None:
            every = f"{most} if limit is None else limit"
            lifted = Parameter("limit", "int | None", "None", every)
            self.members = [lifted if one.name == "limit" else one for one in self.members]

    def _written_items(self, kind: str, body: str) -> str:
        returned = f"{self._imports.add(kind, 'collections.abc')}[{self.item}]"
        head = f'def {self.items_name}({self.items_signature}) -> "{returned}"'
        return self._method(head, f'"""{self.items_doc}', body)

    @property
    def items_name(self) -> str:
        """The name of the method that yields the items of the operation's list."""
        return f"iter_{self.operation.name}"

    @property
    def item(self) -> str:
        """The type of an item of the operation's list; of a table, tables."""
        listed = get_type_hints(self.operation.response)[self.operation.pages or ""]
        return self.type(get_args(listed)[0] if get_origin(listed) is tuple else listed)

    @property
    def items_signature(self) -> str:
        """The parameters of that method: those of the operation, and the size of a page."""
        own = self.signature
        return f"{own}, {'' if '*' in own else '*, '}page_size: int = {USUAL_SIZE}"

    @property
    def items_doc(self) -> str:
        """What that method does."""
        one = self.operation
        rows = one.pages == "table"
        what = "the rows, in tables of at most `page_size`" if rows else f"the {one.pages}, one by one"
        limit = " Without `limit` it lists all." if "limit" in one.request.__struct_fields__ else ""
        return (
            f"Yield all that `{one.name}` lists: {what}.\n\n"
            f"A server is asked for `page_size` at a time.{limit} Raises as `{one.name}`;\n"
            "LostPlaceError where too much has gone from the list meanwhile.\n"
        )

    def _written(self, keyword: str, returned: str, body: str) -> str:
        doc = self.doc + ("\n" if "\n" in self.doc else "")
        return self._method(f'{keyword} {self.operation.name}({self.signature}) -> "{returned}"', doc, body)

    def _method(self, head: str, doc: str, body: str) -> str:
        return indent(f"{head}:\n" + indent(f'{doc}"""\n{body}\n', "    "), "    ") + "\n"


def _alias(one: Operation) -> str:
    """Return the name under which the module of an operation is imported."""
    return "_".join(one.run.__module__.split(".")[1:])


def _told(one: Parameter) -> str:
    if one.starred:
        return f'*{one.name}: "{one.type}"'
    annotation = one.type if one.type in ("str", "int", "bool", "float", "bytes") else f'"{one.type}"'
    return f"{one.name}: {annotation}" + ("" if one.default is None else f" = {one.default}")


def _item(type_: str) -> str:
    return type_.removeprefix("Sequence[").removesuffix("]")


def _imported(path: Path) -> dict[str, str]:
    """Return the module of each name that a file imports, and of each class that it defines."""
    found: dict[str, str] = {}
    tree = ast.parse(path.read_text("utf-8"))
    own = "braid." + ".".join(path.relative_to(ROOT / "api").with_suffix("").parts)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {alias.asname or alias.name: node.module for alias in node.names}
    return found | {node.name: own for node in tree.body if isinstance(node, ast.ClassDef)}


_STORE: Final = '''"""An open store: one method for each operation."""

{note}
from typing import TYPE_CHECKING

from msgspec import UNSET

{rooms}
from braid.door import Door
from braid.operation import given
from braid.log.transaction import Pending, Transaction
from braid.session import Session

if TYPE_CHECKING:
{imports}

class Records(Transaction):
    """Records that enter the log together, or not at all where the block ends with an exception."""

{adding}


class Methods:
    """One method for each operation, asked through a door: the session of an open store, or a server's."""

    @property
    def session(self) -> Door:
        """What the operations are asked through."""
        raise NotImplementedError

    def transaction(self, *, signer: "str | None" = None) -> Records:
        """Return a block whose records enter the log together or not at all; later ones may link to earlier ones.

        Behind the block its `ids` are those of the records, in order.
        """
        return Records(
            lambda records: self.session.call(
                log_operations.append_all, log_operations.AppendAll(records=records, signer=signer)
            )
        )

{methods}

class Store(Session, Methods):
    """An open store: to remember in, to read, correct, forget and erase, to prove, replay and ask.

    Safe to share between threads; a context manager.
    """
'''
_ASYNC: Final = '''"""A store for event loops: what touches the disk runs in a thread, so that the loop goes on."""

{note}
from asyncio import to_thread
from typing import TYPE_CHECKING

from msgspec import UNSET

from braid.async_handle import AsyncHandle, AsyncTransaction, stream

if TYPE_CHECKING:
    from braid.store import Methods
{imports}

class AsyncMethods:
    """One method for each operation, asked in a thread, so that the event loop goes on."""

    @property
    def sync(self) -> "Methods":
        """What is asked in that thread."""
        raise NotImplementedError

    def transaction(self, *, signer: "str | None" = None) -> AsyncTransaction:
        """Return a block for `async with`, whose records enter the log together or not at all.

        Later ones may link to earlier ones. Behind the block its `ids` are those of the records, in order.
        """
        return AsyncTransaction(self.sync.transaction(signer=signer))

{methods}

class AsyncStore(AsyncHandle, AsyncMethods):
    """A store for event loops: concurrent appends share one sync. `sync` is the store itself."""
'''


def store() -> str:
    """Return the text of `api/store.py`."""
    imports = Imports()
    methods = [Method(one, imports).sync() for one in operations().values()]
    methods += [Method(one, imports, remote=True).sync_items() for one in operations().values() if one.pages]
    rooms = sorted({(*one.run.__module__.rpartition(".")[::2], _alias(one)) for one in operations().values()})
    return _formatted(
        _STORE.format(
            note=NOTE,
            rooms="\n".join(f"from {room} import {module} as {alias}" for room, module, alias in rooms),
            imports=imports.lines(),
            adding=Method(operations()["append"], imports).adding(),
            methods="".join(methods),
        )
    )


def async_store() -> str:
    """Return the text of `api/async_store.py`."""
    imports = Imports()
    methods = [Method(one, imports).asynchronous() for one in operations().values()]
    methods += [
        Method(one, imports, remote=True).asynchronous_items() for one in operations().values() if one.pages
    ]
    return _formatted(_ASYNC.format(note=NOTE, imports=imports.lines(), methods="".join(methods)))


def _formatted(text: str) -> str:
    """Return a module as the house formats it, its imports in order and those alone that are used."""
    for words in (["check", "--fix", "--quiet", "--select", "I,F401,UP037", "-"], ["format", "--quiet", "-"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *words[:-1], "--stdin-filename", "api/store.py", "-"],
            input=text, capture_output=True, text=True, check=True, cwd=ROOT,
        )  # fmt: skip
        text = done.stdout
    return text


def schemas() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each file of `docs/schema/`: one an operation, and one of all."""
    listed: list[dict[str, Any]] = []
    for name, one in operations().items():
        request, named = schema_of(one.request)
        response, others = schema_of(one.response)
        about = {
            "name": name,
            "summary": one.summary,
            "access": one.access,
            "cost": one.cost,
            "repeatable": one.repeatable,
            "destructive": one.destructive,
            "streams": one.streams,
            "payload": one.payload,
            "remote": one.remote,
            "reads": one.reads,
            "errors": [each.__name__ for each in one.errors],
        }
        listed.append(about)
        whole = {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            **about,
            "description": inspect.cleandoc(one.description),
            "example": to_builtins(one.example),
            "request": request,
            "response": {"type": "array", "items": response} if one.streams else response,
            "$defs": named | others,
        }
        yield f"{name}.json", _json(whole)
    yield "operations.json", _json(listed)


_REFERENCE: Final = """# Operations

<!-- Written by `make faces` from the registry of operations: change those. -->

Everything that can be asked of a store, by subject. Each operation is a method of `Store` and of `AsyncStore`, and a
name for `braid.registry.dispatch`. The JSON Schemas of requests and answers are in [schema/](schema/operations.json).

- **access**: what a caller must be allowed to do.
- **cost**: `record` is milliseconds, `index` asks a projection that may have to catch up, `log` reads the whole log.
- **repeat**: whether asking again does no harm.
- **here only**: it names paths of the machine that the store is on, so no server offers it.
"""


def reference() -> str:
    """Return the text of `docs/reference.md`: every operation with its signature and what it does."""
    imports = Imports()
    told, room = [_REFERENCE], ""
    for one in operations().values():
        if one.room != room:
            room = one.room
            told.append(f"\n## {room}\n\n{inspect.cleandoc(import_module(f'braid.{room}').__doc__ or '')}\n")
        method = Method(one, imports)
        gives = f"Iterator[{method.returned}]" if one.streams else method.returned
        signature_ = method.signature.removeprefix("self").removeprefix(", ").replace('"', "")
        marks = [
            f"access `{one.access}`",
            f"cost `{one.cost}`",
            "repeat: yes" if one.repeatable else "repeat: no",
        ]
        marks += ["destroys"] if one.destructive else []
        marks += [] if one.remote else ["here only"]
        errors = ", ".join(f"`{each.__name__}`" for each in one.errors)
        told.append(
            f"\n### `{one.name}`\n\n```text\n{_folded(f'{one.name}({signature_}) -> {gives}')}\n```\n\n"
        )
        told.append(f"{' · '.join(marks)}" + (f" · raises {errors}" if errors else "") + "\n\n")
        told.append(f"{inspect.cleandoc(one.description)}\n")
        if one.pages:
            told.append(
                f"\nItem by item: `{method.items_name}(…, page_size={USUAL_SIZE}) -> Iterator[{method.item}]`\n"
            )
    return "".join(told)


def _folded(text: str) -> str:
    return "\n".join(
        wrap(text, 100, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def files() -> dict[Path, str]:
    """Return every written file with its text."""
    told = {ROOT / "api" / "store.py": store(), ROOT / "api" / "async_store.py": async_store()}
    told[ROOT / "docs" / "reference.md"] = reference()
    return told | {ROOT / "docs" / "schema" / name: text for name, text in schemas()}


def main(words: list[str]) -> int:
    """Write what is stale, or say which it is."""
    wanted = files()
    there = set((ROOT / "docs" / "schema").glob("*.json")) - set(wanted)
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text("utf-8") != text]
    for path in (*stale, *there):
        sys.stdout.write(f"{path.relative_to(ROOT)}\n")
    if "--check" in words:
        return 1 if stale or there else 0
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(wanted[path], "utf-8")
    for path in there:
        path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
