"""Says which public functions and classes lack a part of their docstring, and counts them by room.

    python -m braid.tools.lab.docstrings              count by room
    python -m braid.tools.lab.docstrings ledger wal   list what is missing there

Public is what `braid` exports, what the documents and the examples import, and what one room imports from another; of
a public class also each method whose name another room uses. A method that repeats what a class above it, or a protocol
of that method's name, says needs no docstring of its own. Complete is a docstring

- whose first sentence has three words and doesn't only point elsewhere,
- that names each of Braid's errors, ValueError and TypeError (or a class above it) that the body raises, itself or
  through the private functions of its module,
- that gives the shape of the arrays it takes and returns, and the unit or the range of the numbers with a point,
- that speaks of the bytes it takes, by their parameter's name or as bytes or hash (its module may do so for it).
"""

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
ROOMS: Final = (
    "wal", "ledger", "text", "stance", "affect", "lenses", "views", "recall",
    "learn", "agent", "api", "client", "models", "tools",
)  # fmt: skip
_WRITTEN: Final = {"api/store.py", "api/async_store.py"}
"""Written from the operations, whose docstrings another test holds."""

_ARRAY: Final = re.compile(r"\b(NDArray|ndarray|Vectors?|Matrix|Floats|Array)\b")
_SHAPE: Final = re.compile(
    r"\[\w[\w, :+×*-]*\]|\(\w+(?:, ?\w*)+\)|\bone (?:row|vector|number|each)\b|\ba (?:row|vector) (?:a|for|each)\b"
)
_UNIT: Final = re.compile(
    r"second|minute|hour|\bday|\bms\b|µs|\bns\b|\b0\b|\b1\b|probabilit|share|weight|rank|score|cosine|log-odds|percent|"
    r"\bratio|\bconfidence|standard|variance|dB|times as|mean|\bvalence|\bVAD",
    re.IGNORECASE,
)
_RANGE: Final = re.compile(r"[\[(]-?\d[\d.]*, -?\d[\d.]*\]|[Aa]ll .* (?:seconds|ms)\b")
_NAMED_UNIT: Final = re.compile(
    r"seconds|_s$|_ms$|_us$|_ns$|days|hours|share|weight|probability|confidence|score"
)
_IMPORT: Final = re.compile(r"from (braid[\w.]*) import \(?([\w, \n]+)\)?")
_BYTES: Final = re.compile(
    r"\bbytes?\b|\bhash|\bdigest|\bkeys?\b|\bcanonical|\bUTF-8|\bsignature", re.IGNORECASE
)
_SEE: Final = re.compile(r"(?:see|as|like|same as|cf\.?)\b[^.]*\.?$", re.IGNORECASE)
_MISUSE: Final = {"ValueError", "TypeError"}

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Gap:
    """What a docstring lacks: `where` is the file, the line and the name."""

    room: str
    where: str
    lacks: str


@dataclass
class Module:
    """One parsed file."""

    path: Path
    name: str
    room: str
    tree: ast.Module

    @cached_property
    def private(self) -> dict[str, list[ast.FunctionDef]]:
        """The functions and methods that begin with an underscore, by name."""
        found: dict[str, list[ast.FunctionDef]] = defaultdict(list)
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("_"):
                found[node.name].append(node)
        return found

    @cached_property
    def imports(self) -> list[tuple[str, str, str]]:
        """The local name, the module and the name there of each import from Braid, late ones too."""
        return [
            (alias.asname or alias.name, node.module, alias.name)
            for node in ast.walk(self.tree)
            if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "braid"
            for alias in node.names
        ]


def modules(root: Path = ROOT) -> dict[str, Module]:
    """Return every module of the product by its import name."""
    found: dict[str, Module] = {}
    for room in ROOMS:
        for path in sorted((root / room).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            parts = parts[1:] if parts[0] == "api" else parts
            name = ".".join(("braid", *(parts[:-1] if parts[-1:] == ("__init__",) else parts)))
            found[name] = Module(path, name, room, ast.parse(path.read_text("utf-8")))
    return found


class Tree:
    """The product's modules, and which of their names are public."""

    def __init__(self, root: Path = ROOT) -> None:
        self._root = root
        self._modules = modules(root)
        self._classes: dict[str, list[tuple[Module, ast.ClassDef]]] = defaultdict(list)
        self._used: dict[str, set[str]] = defaultdict(set)
        for module in self._modules.values():
            for node in ast.walk(module.tree):
                if isinstance(node, ast.ClassDef):
                    self._classes[node.name].append((module, node))
                elif isinstance(node, ast.Attribute):
                    self._used[node.attr].add(module.room)
        self._protocols = {
            one.name
            for many in self._classes.values()
            for _, node in many
            if "Protocol" in _bases(node)
            for one in _functions(node)
            if ast.get_docstring(one)
        }

    @cached_property
    def public(self) -> dict[tuple[str, str], None]:
        """Return the module and the name of everything that another room, or a user, imports."""
        found: dict[tuple[str, str], None] = {}
        for module in self._modules.values():
            seen: dict[str, str] = {}
            for local, home, name in module.imports:
                if f"{home}.{name}" in self._modules:
                    seen[local] = f"{home}.{name}"
                else:
                    self._note(found, module.room, home, name)
            if not seen:
                continue
            for node in ast.walk(module.tree):
                if (
                    isinstance(node, ast.Attribute)
                    and isinstance(node.value, ast.Name)
                    and node.value.id in seen
                ):
                    self._note(found, module.room, seen[node.value.id], node.attr)
        for _, home, name in (*self._modules["braid"].imports, *self._shown()):
            self._note(found, "", home, name)
        return found

    def _shown(self) -> Iterator[tuple[str, str, str]]:
        """Yield what the documents and the examples import, as imports."""
        pages = [
            self._root / "README.md",
            *(self._root / "docs").rglob("*.md"),
            *(self._root / "examples").rglob("*"),
        ]
        for page in pages:
            if page.suffix in (".md", ".py", ".ipynb"):
                for home, names in _IMPORT.findall(page.read_text("utf-8").replace("\\n", "\n")):
                    yield from (
                        (name, home, name) for name in re.split(r"[,\s]+", names.split("\n\n")[0]) if name
                    )

    def _note(self, found: dict[tuple[str, str], None], room: str, home: str, name: str) -> None:
        module = self._modules.get(home)
        if module is None or module.room == room or name.startswith("_"):
            return
        if any(isinstance(one, Definition) and one.name == name for one in module.tree.body):
            found[home, name] = None
            return
        for local, further, there in module.imports:  # a name that the module only passes on
            if local == name:
                self._note(found, room, further, there)

    def gaps(self) -> Iterator[Gap]:
        """Yield what public docstrings lack, module by module."""
        for home, name in sorted(self.public):
            module = self._modules[home]
            if module.path.relative_to(self._root).as_posix() in _WRITTEN:
                continue
            node = next(one for one in module.tree.body if isinstance(one, Definition) and one.name == name)
            yield from self._of(module, node, name)

    def counted(self) -> dict[str, tuple[int, int]]:
        """Return of each room how many public definitions it has, and how many of them lack something."""
        lacking: dict[str, set[str]] = defaultdict(set)
        for gap in self.gaps():
            lacking[gap.room].add(gap.where)
        total: dict[str, int] = defaultdict(int)
        for home, name in self.public:
            module = self._modules[home]
            node = next(one for one in module.tree.body if isinstance(one, Definition) and one.name == name)
            methods = self._methods(module, node) if isinstance(node, ast.ClassDef) else []
            total[module.room] += 1 + len(methods)
        return {room: (total[room], len(lacking[room])) for room in ROOMS}

    def _methods(self, module: Module, node: ast.ClassDef) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
        return [
            one
            for one in _functions(node)
            if not one.name.startswith("_")
            and self._used[one.name] - {module.room}
            and not any(
                isinstance(mark, ast.Attribute) and mark.attr == "setter" for mark in one.decorator_list
            )
        ]

    def _of(self, module: Module, node: Definition, name: str) -> Iterator[Gap]:
        where = f"{module.path.relative_to(self._root)}:{node.lineno}: {name}"
        if isinstance(node, ast.ClassDef):
            lacking = [*_contract(node), *self._fields(module, node)]
            yield from (Gap(module.room, where, lack) for lack in lacking)
            for one in self._methods(module, node):
                if ast.get_docstring(one) or not self._said_above(node, one.name):
                    spot = f"{module.path.relative_to(self._root)}:{one.lineno}: {name}.{one.name}"
                    yield from (Gap(module.room, spot, lack) for lack in self._function(module, one))
            return
        yield from (Gap(module.room, where, lack) for lack in self._function(module, node))

    def _said_above(self, node: ast.ClassDef, method: str) -> bool:
        if method in self._protocols and "Protocol" not in _bases(node):
            return True
        return any(
            one.name == method and ast.get_docstring(one)
            for base in _bases(node)
            for _, above in self._classes.get(base, [])
            for one in _functions(above)
        )

    def _fields(self, module: Module, node: ast.ClassDef) -> Iterator[str]:
        """Yield the fields without unit or shape: neither the class, a comment beside nor a string below says it."""
        lines = module.path.read_text("utf-8").splitlines()
        doc = ast.get_docstring(node) or ""
        for place, one in enumerate(node.body):
            if not isinstance(one, ast.AnnAssign) or not isinstance(one.target, ast.Name):
                continue
            name, kind = one.target.id, ast.unparse(one.annotation)
            below = node.body[place + 1] if place + 1 < len(node.body) else None
            said = " ".join(
                (
                    lines[(one.end_lineno or one.lineno) - 1].partition("#")[2],
                    ast.unparse(below) if isinstance(below, ast.Expr) else "",
                    kind if "Meta(" in kind else "",
                    doc if re.search(rf"\b{name}\b", doc) or _RANGE.search(doc) else "",
                )
            )
            if re.search(r"\bfloat\b", kind) and not (_UNIT.search(said) or _NAMED_UNIT.search(name)):
                yield f"the unit of {name}"
            if _ARRAY.search(kind) and not _SHAPE.search(said):
                yield f"the shape of {name}"

    def _function(self, module: Module, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
        yield from _contract(node)
        doc = ast.get_docstring(node) or ""
        if not doc:
            return
        for error in sorted(self._raised(module, node, set())):
            if not self._names(doc, error):
                yield f"the error {error}"
        taken = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        types = [(one.arg, ast.unparse(one.annotation)) for one in taken if one.annotation]
        returned = ast.unparse(node.returns) if node.returns else ""
        if any(
            _ARRAY.search(each) for each in (*(kind for _, kind in types), returned)
        ) and not _SHAPE.search(doc):
            yield "the shape of its arrays"
        if re.match(r"float\b", returned) and not (_UNIT.search(doc) or _NAMED_UNIT.search(node.name)):
            yield "the unit of what it returns"
        for name, kind in types:
            if re.match(r"float\b", kind) and not (_UNIT.search(doc) or _NAMED_UNIT.search(name)):
                yield f"the unit of {name}"
            if kind in ("bytes", "bytes | None") and not (
                re.search(rf"\b{name}\b", doc)
                or _BYTES.search(doc)
                or _BYTES.search(ast.get_docstring(module.tree) or "")
            ):
                yield f"what the bytes {name} are"

    def _raised(
        self, module: Module, node: ast.FunctionDef | ast.AsyncFunctionDef, seen: set[str]
    ) -> set[str]:
        """Return the names of the errors that a body raises and doesn't catch; not those of functions within it."""
        found: set[str] = set()
        held: list[tuple[ast.AST, frozenset[str]]] = [(one, frozenset()) for one in node.body]
        while held:
            one, caught = held.pop()
            if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
                continue
            if isinstance(one, ast.Try):
                within = caught | {name for handler in one.handlers for name in _caught(handler)}
                held.extend((each, within) for each in one.body)
                held.extend((each, caught) for each in (*one.handlers, *one.orelse, *one.finalbody))
                continue
            if isinstance(one, ast.With):
                caught |= {ast.unparse(each) for item in one.items for each in _suppressed(item.context_expr)}
            names: set[str] = set()
            if isinstance(one, ast.Raise) and isinstance(one.exc, ast.Call):
                name = ast.unparse(one.exc.func).rpartition(".")[2]
                names = {name} if name[:1].isupper() else set()
            elif isinstance(one, ast.Call):
                called = ast.unparse(one.func).removeprefix("self.")
                if called.startswith("_") and called not in seen:
                    seen.add(called)
                    for other in module.private.get(called, ()):
                        names |= self._raised(module, other, seen)
            found |= {name for name in names if not self._is_one_of(name, caught)}
            held.extend((each, caught) for each in ast.iter_child_nodes(one))
        return found

    def _is_one_of(self, error: str, caught: frozenset[str]) -> bool:
        """Whether an error is one of the classes that are caught, or below one."""
        if error in caught or "Exception" in caught:
            return True
        return any(
            self._is_one_of(base, caught) for _, node in self._classes.get(error, []) for base in _bases(node)
        )

    def _names(self, doc: str, error: str) -> bool:
        """Whether a docstring names an error or a class above it; what isn't an error of Braid's needs no name."""
        if re.search(rf"\b{error}\b", doc):
            return True
        homes = self._classes.get(error, [])
        if not homes:
            return error not in _MISUSE
        return any(
            base not in ("Exception", "ValueError", "TypeError")
            and base in self._classes
            and self._names(doc, base)
            for _, node in homes
            for base in _bases(node)
        )


def _bases(node: ast.ClassDef) -> list[str]:
    return [re.sub(r"\[.*", "", ast.unparse(base)).rpartition(".")[2] for base in node.bases]


def _functions(node: ast.ClassDef) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [one for one in node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]


def _contract(node: Definition) -> Iterator[str]:
    doc = ast.get_docstring(node)
    if not doc:
        yield "a docstring"
        return
    first = doc.split("\n\n")[0]
    if len(first.split()) < 3 or _SEE.match(first):
        yield "a sentence that says what it does"


def _suppressed(node: ast.expr) -> list[ast.expr]:
    return node.args if isinstance(node, ast.Call) and ast.unparse(node.func) == "suppress" else []


def _caught(handler: ast.ExceptHandler) -> set[str]:
    if handler.type is None:
        return {"Exception"}
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return {ast.unparse(each).rpartition(".")[2] for each in types}


def main(rooms: list[str]) -> int:
    """Print the counts, or the gaps of the rooms that are named; 1 where one is left there."""
    tree = Tree()
    if not rooms:
        for room, (all_, lacking) in tree.counted().items():
            print(f"{room:<8} {all_:>5} public, {lacking:>4} incomplete")
        return 0
    gaps = [gap for gap in tree.gaps() if gap.room in rooms]
    for gap in gaps:
        print(f"{gap.where}: lacks {gap.lacks}")
    return 1 if gaps else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
