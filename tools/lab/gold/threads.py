"""Threads: turns said over the months, and what is asked about them afterwards; filled with words by lot. Pure."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from random import Random
from typing import Any, Final, Literal

import msgspec

from braid.tools.gold.tasks import Use

VARIANTS: Final = " || "
MONTHS: Final = 12
YEAR_ASKED: Final = 2020
DIARIES: Final = ("diary-1", "diary-2")
_SLOT: Final = re.compile(r"\{([a-z]+\d?)(?::([^}]*))?\}")


class Thread(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A thread as it stands in `data/threads.toml`."""

    kind: str = msgspec.field(name="class")
    part: Literal["dev", "held"]
    say: tuple[tuple[float, Literal["I", "A"], str], ...]
    ask: str
    answer: str | None = None
    accept: tuple[tuple[str, ...], ...] = ()
    never: tuple[str, ...] = ()
    evidence: tuple[tuple[int, ...], ...] = ()
    stance: str | None = None
    then: Literal["how"] | None = None
    manner: str | None = None
    use: Use | None = None
    histories: tuple[str, ...] = msgspec.field(default=DIARIES, name="in")


class Words:
    """Words to fill threads with: of each list those that no thread of this history has had."""

    def __init__(
        self, slots: Mapping[str, Sequence[str]], shared: Mapping[str, Sequence[str]], rng: Random
    ) -> None:
        self._left = {name: shuffled(words, rng) for name, words in slots.items()}
        self._shared = {
            f"{name}{number or ''}": word
            for name, words in shared.items()
            for number, word in zip((0, 2, 3), shuffled(words, rng), strict=False)
        }

    def drawer(self) -> Callable[[str], str]:
        """Return what gives a thread its words: the same for the same name."""
        drawn: dict[str, str] = {}

        def draw(name: str) -> str:
            if name in self._shared:
                return self._shared[name]
            if name not in drawn:
                drawn[name] = self._left[name.rstrip("0123456789")].pop()
            return drawn[name]

        return draw


def shuffled(words: Sequence[str], rng: Random) -> list[str]:
    """Return the words in an order by lot; of `random` alone, whose numbers no version of Python changes."""
    return [word for _, word in sorted((rng.random(), word) for word in words)]


def pick(words: Sequence[str], rng: Random) -> str:
    """Return one by lot."""
    return words[int(rng.random() * len(words))]


def variant(text: str, number: int) -> str:
    """Return the variant of a text for the history of this number."""
    variants = text.split(VARIANTS)
    return variants[number % len(variants)]


def filled(text: str, draw: Callable[[str], str], days: Sequence[date] = ()) -> str:
    """Return a text with its slots filled; `days`: those on which the thread's turns were said."""
    return _SLOT.sub(lambda match: _slot(match[1], match[2], draw, days), text)


def _slot(name: str, of: str | None, draw: Callable[[str], str], days: Sequence[date]) -> str:
    if of is None:
        return draw(name)
    match name:
        case "day":
            turn, _, before = of.partition("-")
            day = days[int(turn)] - timedelta(days=int(before or 0))
            return f"{day.day} {day:%B %Y}"
        case "days":
            one, other = (days[int(turn)] for turn in of.split(","))
            return str((other - one).days)
        case "sum":
            return str(sum(int(draw(each)) for each in of.split(",")))
        case "year":
            return str(MONTHS * int(draw(of)))
        case "age":
            return str(YEAR_ASKED - int(draw(of)))
        case _:
            raise ValueError(f"threads know no slot {{{name}:…}}")


def task(thread: Thread, number: int, draw: Callable[[str], str], days: Sequence[date]) -> dict[str, Any]:
    """Return what is asked of a thread, as a task without id, history and the ids of its evidence."""

    def fill(text: str) -> str:
        return filled(variant(text, number), draw, days)

    answer = fill(thread.answer) if thread.answer is not None else None
    accept = [[fill(each) for each in group] for group in thread.accept]
    said = accept[0][0] if accept and thread.then is None else answer
    stance = fill(thread.stance) if thread.stance else said or "none"
    asked: dict[str, Any] = {"part": thread.part, "question": fill(thread.ask), "answer": answer}
    more: dict[str, Any] = {
        "accept": accept,
        "never": [fill(each) for each in thread.never],
        "stance": stance,
        "then": thread.then,
        "manner": thread.manner,
        "use": _use(thread.use, fill),
    }
    return asked | {name: value for name, value in more.items() if value}


def _use(use: Use | None, fill: Callable[[str], str]) -> dict[str, Any] | None:
    if use is None:
        return None
    args = {name: fill(text) for name, text in use.args.items()}
    return {"tool": use.tool, "of": [fill(each) for each in use.of], "args": args}
