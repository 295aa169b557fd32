"""A question taken apart: what kind of answer it wants, whom and what it names, which time it speaks of. Pure.

Rules only; a model may be plugged in through `Decomposer`, none is needed.
"""

import re
from collections.abc import Callable
from datetime import datetime
from functools import cached_property
from typing import Final

import msgspec

from braid.text.calendar import Span
from braid.text.ranges import asked_time
from braid.text.words import STOP, plain, stem, telling

MAX_TERMS: Final = 48
INTENTS: Final = (
    ("count", r"\bhow (?:many|much|often|old)\b|\bwhat (?:number|amount|price)\b"),
    ("duration", r"\bhow long\b"),
    ("time", r"^\W*(?:and )?when\b|\b(?:which|what|on what) (?:year|month|day|date|time|week)\b|\bsince when\b"),
    ("place", r"^\W*where\b|\b(?:which|what) (?:city|country|state|town|place|street|address)\b"),
    ("person", r"^\W*(?:who|whom|whose)\b|\bwith whom\b"),
    ("reason", r"^\W*why\b|\bwhat (?:made|motivated|inspired|caused)\b|\bhow come\b"),
    ("manner", r"^\W*how\b"),
    ("check", r"^\W*(?:am|is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)\b"),
)  # fmt: skip
_INTENTS: Final = tuple((name, re.compile(source, flags=re.IGNORECASE)) for name, source in INTENTS)
_LATEST: Final = re.compile(
    r"\b(?:latest|newest|most recent(?:ly)?|currently|these days|now(?:adays)?|last time)\b", re.I
)
_ENTITY: Final = re.compile(r"(?:[A-Z][\w'’.-]*\w|[A-Z]{2,})(?: (?:of |the )?[A-Z][\w'’.-]*\w)*")
_QUOTED: Final = re.compile(r"[\"“]([^\"”]{2,80})[\"”]")
_EVENT: Final = re.compile(
    r"\b(before|after|since|until|while|when)\s+((?:i|we|you|he|she|they|my|our|the|[A-Z]\w+)\b[^?.,;!]{3,120})",
    flags=re.IGNORECASE,
)
_PUT: Final = """discuss discussion talk mention think thought opinion summarize summary summarise describe explain say
said tell told group team meeting conversation people person someone anyone everybody everyone decide decided decision
agree agreed kind type thing something concerning regarding according suggest suggestion recommend recommendation view
reason ask happen know mean idea feel put forward come ever still currently exactly actually"""
_FRAME: Final = frozenset(map(stem, _PUT.split()))
"""Stems by which a question is put, rather than what it is about: what did the group say of …"""
_NEGATION: Final = re.compile(r"\b(?:not|never|without|except|other than|besides)\s+((?:\w+\s?){1,3})", re.I)


class Question(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """What is asked, as the stages below read it. What is worked out of its words is worked out once."""

    text: str
    """What is left of the question: readable characters, at most `MAX_QUERY_CHARS`."""
    intent: str
    """time, duration, place, person, count, reason, manner, check, or fact."""
    latest: bool
    """Whether it asks for the present state of things."""
    entities: tuple[str, ...]
    constraints: tuple[str, ...]
    """What is excluded, as it is worded."""
    words: tuple[str, ...]
    """The words that say something, each once."""
    time: Span | None
    event: tuple[str, str] | None
    """("before" or "after", what happened): a bound that is known once the event has been found."""
    first_person: bool
    """Whether whoever asks asks about themselves."""
    second_person: bool

    @cached_property
    def topic(self) -> tuple[str, ...]:
        """The words that say what it is about; all of them where it has none but those by which it is put."""
        return tuple(word for word in self.words if stem(word) not in _FRAME) or self.words

    @cached_property
    def stems(self) -> tuple[str, ...]:
        """The stems of the words, each once."""
        return tuple(dict.fromkeys(stem(word) for word in self.words))


Decomposer = Callable[[str, datetime], Question]


def decompose(text: str, now: datetime) -> Question:
    """Return the parts of a question, with times relative to `now` (aware). Any text is a legal question."""
    asked = plain(text)
    event = _event(asked)
    low = f" {asked.lower()} "
    return Question(
        text=asked,
        intent=next((name for name, pattern in _INTENTS if pattern.search(asked)), "fact"),
        latest=bool(_LATEST.search(asked)),
        entities=entities(asked),
        constraints=tuple(match[1].strip() for match in _NEGATION.finditer(asked)),
        words=tuple(dict.fromkeys(telling(asked)))[:MAX_TERMS],
        time=asked_time(asked, now),
        event=event,
        first_person=bool(re.search(r"\b(?:i|my|me|mine|we|our)\b", low)),
        second_person=bool(re.search(r"\b(?:you|your)\b", low)),
    )


def entities(text: str) -> tuple[str, ...]:
    """Return what a text names: quoted phrases and runs of capitalised words, without the one that opens it idly."""
    found = [match[1].strip() for match in _QUOTED.finditer(text)]
    for match in _ENTITY.finditer(text):
        name = re.sub(r"['’]s$", "", match[0])
        while name and name.split(" ")[0].lower().partition("'")[0] in STOP:
            name = name.partition(" ")[2]
        if name and name.lower() not in STOP:
            found.append(name)
    return tuple(dict.fromkeys(found))[:MAX_TERMS]


def _event(text: str) -> tuple[str, str] | None:
    match = _EVENT.search(text)
    if match is None or match[1].lower() in ("while", "when") or not telling(match[2]):
        return None
    return ("before" if match[1].lower() in ("before", "until") else "after", match[2].strip())
