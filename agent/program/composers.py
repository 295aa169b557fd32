"""Composers of programs: an answer that rests on notes says what they rest on; one that a plan words cites its parts.

Pure. Whatever is said is a composer's, a note's or a result's; a plan adds only the words between them.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from math import prod
from typing import Final

import msgspec

from braid.agent import bands
from braid.agent.answer.ladder import UNKNOWN
from braid.agent.answer.wording.report import quotable, report_of
from braid.agent.cite import bare, cited, marks
from braid.agent.composer import Composed, Composer, QuestionContext, Support
from braid.agent.program.note import finding
from braid.agent.program.plan import filled, references
from braid.recall.decompose import entities
from braid.text.calendar import MONTHS_AND_WEEKDAYS
from braid.text.words import words

MAX_PART_CHARS: Final = 400
MOST_NAME_WORDS: Final = 4


class SentencePart(msgspec.Struct, frozen=True, kw_only=True):
    """What a step gave for a sentence: its text, its probability `p`, and the records that it was read from."""

    text: str
    p: float | None = None
    support: Sequence[Support] = ()
    behind: Sequence[Support] = ()
    """Of a result: the records that what the tool was given was read from."""


class Chained:
    """An answer to a question that notes were put into: it is no surer than they are, and says where they are from."""

    version = "1"

    def __init__(self, inner: Composer, notes: Sequence[SentencePart], found: frozenset[str]) -> None:
        """`found`: the records that were looked up for the question itself."""
        self.name = inner.name
        self._inner = inner
        self._notes = notes
        self._found = found

    def compose(self, asked: QuestionContext) -> Composed:
        given = asked.given * prod(note.p for note in self._notes if note.p is not None)
        hits = [hit for hit in asked.hits if hit.id in self._found]
        composed = self._inner.compose(msgspec.structs.replace(asked, hits=hits, given=given))
        # What told a note's name answers the first question: quoted again, it would pass for an answer to this one.
        told = {one.id for note in self._notes for one in note.support}
        if composed.citations and set(composed.citations) <= told:
            hits = [hit for hit in hits if hit.id not in told]
            composed = self._inner.compose(msgspec.structs.replace(asked, hits=hits, given=given))
        if composed.abstained:
            return composed
        known = set(composed.citations)
        grounds = [one for note in self._notes for one in note.support if one.id not in known]
        behind = {one.id: report_of(one, one.quote or one.text) for one in grounds}
        return msgspec.structs.replace(
            composed,
            text=" ".join([composed.text, *(text[:1].upper() + text[1:] for text in behind.values())]),
            citations=[*composed.citations, *behind],
            p=min(composed.p, given),
        )


class Worded:
    """A sentence of a plan with what its steps gave, each cited. Where a part is not known, neither is the answer."""

    name = "worded"
    version = "1"

    def __init__(self, says: str, parts: Mapping[str, SentencePart]) -> None:
        self._says = says
        self._parts = parts

    def compose(self, asked: QuestionContext) -> Composed:
        """Fill the sentence with its parts; nothing else of the question is looked at."""
        named = [name for name in references(self._says) if name in self._parts]
        lacking = [name for name in named if not self._parts[name].text]
        if lacking:
            return Composed(text=UNKNOWN, citations=(), abstained=True, reason=f"{lacking[0]} is not known")
        ids = {name: [one.id for one in self._parts[name].support] for name in named}
        values = {
            name: quotable(self._parts[name].text)[:MAX_PART_CHARS].rstrip(".!? ") + marks(ids[name])
            for name in named
        }
        p = min((part.p for part in self._parts.values() if part.p is not None), default=1.0)
        told = [id for name in named for id in ids[name]]
        rests = {one.id: one for name in named for one in self._parts[name].behind if one.id not in told}
        reports = [report_of(one, one.quote or one.text) for one in rests.values()]
        said = bands.worked_out(_sentence(filled(self._says, values)), p)
        return Composed(
            text=" ".join([said, *(text[:1].upper() + text[1:] for text in reports)]),
            citations=list(dict.fromkeys([*told, *rests])),
            short="; ".join(quotable(self._parts[name].text)[:MAX_PART_CHARS] for name in named),
            p=p,
        )


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def note_of(composed: Composed, question: str, most: int, now: datetime) -> str:
    """Return an answer as a note; empty where nothing is known."""
    return "" if composed.abstained else finding(composed.short or bare(composed.text), question, most, now)


def failed(composed: Composed, tools: Mapping[str, str]) -> Composed:
    """Return an answer that says which tools failed. `tools`: why, by name; that is for `reason` alone."""
    if not tools:
        return composed
    *others, last = tools
    names = f"s {', '.join(others)} and {last}" if others else f" {last}"
    reason = "; ".join(tools.values())
    return msgspec.structs.replace(
        composed,
        text=f"{composed.text} The tool{names} failed.",
        reason=f"{composed.reason}; {reason}" if composed.abstained and composed.reason else composed.reason,
    )


class AfterFailure:
    """A composer whose answers say which tools failed before them."""

    def __init__(self, inner: Composer, tools: Mapping[str, str]) -> None:
        """`tools`: why each failed, by name."""
        self.name, self.version = inner.name, inner.version
        self._inner = inner
        self._tools = tools

    def compose(self, asked: QuestionContext) -> Composed:
        return failed(self._inner.compose(asked), self._tools)


def names_in(text: str, question: str) -> list[str]:
    """Return what a text names and a question doesn't; days and months are no names."""
    asked = set(words(question)) | MONTHS_AND_WEEKDAYS
    return [name for name in entities(text) if asked.isdisjoint(words(name))]


def named_in(composed: Composed, question: str) -> str:
    """Return the name that an answer gives: all of a short one, else the first that it names; empty without one."""
    if composed.abstained or not composed.short:
        return ""
    names = names_in(composed.short, question)
    if len(composed.short.split()) <= MOST_NAME_WORDS and (names or composed.short.islower()):
        return names[0] if names else composed.short
    return next(iter(names), "")


def sources(composed: Composed) -> list[str]:
    """Return the ids that an answer rests on, each once."""
    return list(dict.fromkeys([*cited(composed.text), *composed.citations]))
