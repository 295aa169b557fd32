"""Plays a scene in a world and judges what is told: a telling is wrong when it says what must not be said, or doesn't
say what must be."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tests.truth.scenes import Scene
from tests.truth.world import Line, World

_AS_PAST: Final = re.compile(
    r"\b(?:until|before|earlier|formerly|previously|at first|no longer|used to|back then|then|was|were|had|did)\b",
    re.IGNORECASE,
)
_DEMANDS: Final = ("told", "by", "tells", "never", "past", "beneath", "or_silence", "silence", "one_of")


def play(scene: Scene, world: World) -> dict[str, str | None]:
    """Return what is wrong with each telling, by its name; None for what is told right.

    A step that fails leaves every telling after it wrong: what can't be done can't be told.
    """
    names = iter(scene.tellings())
    found: dict[str, str | None] = {}
    step: Mapping[str, Any] = {}
    try:
        for step in scene.steps:
            if "told" not in step:
                world.do({"clock_" if name == "clock" else name: value for name, value in step.items()})
                continue
            for door in step["by"]:
                found[next(names)] = judged(world, door, step)
    except Exception as error:  # whatever it is, the scene's figure must say so
        found |= dict.fromkeys(names, f"{next(iter(step))} failed: {type(error).__name__}: {error}")
    finally:
        world.close()
    return found


def judged(world: World, door: str, step: Mapping[str, Any]) -> str | None:
    """Return what is wrong with what a door tells, None where nothing is."""
    how = {name: value for name, value in step.items() if name not in _DEMANDS}
    try:
        lines = world.tell(door, step["told"], **how)
    except Exception as error:  # no answer where one was due
        return f"{type(error).__name__}: {error}"
    wrong = list(_wrong(world, door, step, lines))
    if not wrong:
        return None
    return f"{'; '.join(wrong)}. Told: {' // '.join(line.text for line in lines)[:400]!r}"


def _wrong(world: World, door: str, step: Mapping[str, Any], lines: Sequence[Line]) -> Iterator[str]:
    told = "\n".join(line.text for line in lines)
    for text in step.get("never", ()):
        if says(told, text):
            yield f"tells {text!r}"
    if step.get("silence") and told.strip():
        yield "is not silent"
    if step.get("or_silence") and door in ("ask", "chat", "stance", "program") and not told.strip():
        return
    for text in step.get("tells", ()):
        if not says(told, text):
            yield f"does not tell {text!r}"
    if "one_of" in step and not any(says(told, text) for text in step["one_of"]):
        yield f"tells none of {step['one_of']}"
    for text in step.get("past", ()):
        yield from _not_as_past(door, text, lines)
    for old, new in step.get("beneath", {}).items():
        yield from _not_beneath(lines, old, new, world)


def says(told: str, text: str) -> bool:
    """Whether words stand in what was told, as whole words, whatever their case; `^` ties them to its beginning."""
    start = r"\A\W*" if text.startswith("^") else r"(?<!\w)"
    return re.search(f"{start}{re.escape(text.lstrip('^'))}(?!\\w)", told, re.IGNORECASE) is not None


def _not_as_past(door: str, text: str, lines: Sequence[Line]) -> Iterator[str]:
    """Yield what is amiss where something must be told as past: marked in lists, worded so in sentences."""
    having = [line for line in lines if says(line.text, text)]
    if not having:
        yield f"does not tell {text!r}, even as past"
    elif door in ("recall", "context"):
        if any(line.by is None for line in having):
            yield f"tells {text!r} unmarked"
    elif not any(_AS_PAST.search(line.text) for line in having):
        yield f"tells {text!r} as if it were so now"


def _not_beneath(lines: Sequence[Line], old: str, new: str, world: World) -> Iterator[str]:
    """Yield what is amiss where `old` must come marked, beneath the `new` that replaced it."""
    places = {line.id: place for place, line in enumerate(lines)}
    above, below = world.id(new), world.id(old)
    if below not in places:
        yield f"does not tell {old!r}"
    elif lines[places[below]].by != above:
        yield f"does not say that {old!r} was replaced by {new!r}"
    elif above in places and places[above] > places[below]:
        yield f"tells {old!r} above {new!r}"
