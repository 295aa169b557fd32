"""Scenes as data: YAML files by theme, their families spread out, and every word in them held to what is known.

A file holds `theme`, maybe `held: true`, and `scenes`; docs for the words are in tests/truth/README.md.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any, Final

import yaml

FOLDER: Final = Path(__file__).parent / "scenes"
STEPS: Final = {
    "say": {"as", "at", "by", "session"},
    "append": {"as", "at", "by", "claim", "key", "parents", "evidence"},
    "ingest": {"as"},
    "correct": {"to", "as"},
    "forget": set[str](),
    "forget_memory": set[str](),
    "recover": set[str](),
    "erase": set[str](),
    "learn": set[str](),
    "merge": {"with", "as"},
    "split": {"as"},
    "reading": {"as", "claim", "by", "staged", "quote"},
    "retire": {"as"},
    "accept": {"as"},
    "reject": {"as"},
    "ask": {"as"},
    "stance": {"as"},
    "lens": set[str](),
    "program": set[str](),
    "chat": set[str](),
    "clock": set[str](),
    "reopen": set[str](),
    "kill": {"at"},
    "replay": {"from_scratch"},
    "drop": set[str](),
    "compact": set[str](),
    "snapshot": set[str](),
    "backup": set[str](),
    "restore": set[str](),
    "tamper": {"sql", "missing", "forge", "flip"},
    "told": {
        "by", "never", "tells", "past", "beneath", "or_silence", "silence", "one_of", "valid_at", "as_of", "now",
        "superseded", "lens", "user", "sql", "lines",
    },
}  # fmt: skip
"""The first word of each step, and what may stand beside it."""
DOORS: Final = (
    "recall", "context", "ask", "chat", "stance", "history", "sql", "lens", "export", "log", "subject", "program",
    "why", "verify", "entity", "about", "why_not_known",
)  # fmt: skip
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""A safe one, in C where there is one."""
_WAYS: Final = frozenset(("tells", "never", "past", "beneath", "silence", "one_of"))
_SLOT: Final = re.compile(r"\{(\w+)\}")

Step = Mapping[str, Any]


@dataclass(frozen=True)
class Scene:
    """What is done, and what must be told of it: `told` steps stand among the others."""

    name: str
    steps: Sequence[Step]
    held: bool

    def tellings(self) -> list[str]:
        """Return the names of all that is told: one for each question and door, in order."""
        asked = [step for step in self.steps if "told" in step]
        return [f"{self.name}/{place}.{door}" for place, step in enumerate(asked, 1) for door in step["by"]]


@cache
def load(folder: Path = FOLDER) -> tuple[Scene, ...]:
    """Return every scene, by file and place; raise ValueError for a word that isn't known, or a name told twice."""
    scenes = tuple(scene for path in sorted(folder.glob("*.yaml")) for scene in _of_file(path))
    names = [scene.name for scene in scenes]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"two scenes of one name: {', '.join(sorted(twice))}")
    return scenes


def _of_file(path: Path) -> Iterator[Scene]:
    given = yaml.load(path.read_text("utf-8"), _LOADER)
    _only(path.name, given, {"theme", "held", "scenes"})
    for one in given["scenes"]:
        _only(path.name, one, {"scene", "each", "chain", "steps"})
        for slots in one.get("each", [{}]):
            for made in [_filled(one, slots)] if "chain" not in one else _chains(one):
                scene = Scene(f"{path.stem}/{_slug(made['scene'])}", made["steps"], bool(given.get("held")))
                _check(scene)
                yield scene


def _filled(node: Any, slots: Mapping[str, Any]) -> Any:
    """Return a template with its `{slots}` filled; one that stands alone may be anything, not only text."""
    if isinstance(node, str):
        alone = _SLOT.fullmatch(node)
        if alone and alone[1] in slots:
            return slots[alone[1]]
        return _SLOT.sub(lambda match: str(slots[match[1]]) if match[1] in slots else match[0], node)
    if isinstance(node, list):
        return [_filled(each, slots) for each in node]
    if isinstance(node, dict):
        return {name: _filled(each, slots) for name, each in node.items() if name != "each"}
    return node


def _slug(text: str) -> str:
    return re.sub(r"[^\w]+", "-", text.lower()).strip("-")


def _only(where: str, given: Mapping[str, Any], known: set[str]) -> None:
    if unknown := set(given) - known:
        raise ValueError(f"{where}: what is {', '.join(sorted(unknown))}?")


def _check(scene: Scene) -> None:
    for step in scene.steps:
        verb = next(iter(step))
        if verb not in STEPS:
            raise ValueError(f"{scene.name}: there is no step {verb!r}")
        _only(f"{scene.name}, {verb}", step, {verb, *STEPS[verb]})
        if verb == "told":
            if unknown := set(step["by"]).difference(DOORS):
                raise ValueError(f"{scene.name}: there is no door {', '.join(sorted(unknown))}")
            if not _WAYS & set(step):
                raise ValueError(f"{scene.name}: {step['told']!r} demands nothing")
    if not scene.tellings():
        raise ValueError(f"{scene.name} demands nothing")


# -- chains ---------------------------------------------------------------------------------------


def _chains(one: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a scene for each order in which the members of a chain of corrections are hidden, one after another.

    `chain`: `text` with `{value}`, `values`, `about`, `by`, `verbs` (forget and recover, or erase), and the `orders`:
    all, or a list. After each step what is told is the newest member that is not hidden: this is the rule, once more.
    """
    chain = one["chain"]
    values: list[str] = chain["values"]
    every = [list(order) for order in permutations(range(len(values)))]
    orders: list[list[int]] = every if chain["orders"] == "all" else chain["orders"]
    for order in orders:
        steps = _woven(chain, values)
        hidden = list[int]()
        steps.append(_newest(chain, values, hidden))
        for verb in chain["verbs"]:
            for member in order:
                (hidden.remove if verb == "recover" else hidden.append)(member)
                steps += [{verb: [f"m{member}"]}, _newest(chain, values, hidden)]
        named = "".join(str(member + 1) for member in order)
        yield {"scene": f"{one['scene']} in order {named}", "steps": steps}


def _woven(chain: Mapping[str, Any], values: Sequence[str]) -> list[dict[str, Any]]:
    said = [chain["text"].format(value=value) for value in values]
    steps: list[dict[str, Any]] = [{chain.get("first", "append"): said[0], "as": "m0"}]
    for place, text in enumerate(said[1:], 1):
        steps.append({"correct": f"m{place - 1}", "to": text, "as": f"m{place}"})
    return steps


def _newest(chain: Mapping[str, Any], values: Sequence[str], hidden: Sequence[int]) -> dict[str, Any]:
    living = [value for place, value in enumerate(values) if place not in hidden][-1:]
    told = {
        "told": chain["about"],
        "by": chain["by"],
        "never": [each for each in values if each not in living],
    }
    return {**told, "tells": living, "or_silence": True} if living else told
