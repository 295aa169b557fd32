"""The answer to "How do you know that?", from the braid: who said it, when, in which conversation, by which way. Pure.

Every word is a record's own, or says what its links say; where they say nothing, that is said.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Final

import msgspec

from braid.agent.answer.turn.moments import day
from braid.agent.answer.wording.report import quote
from braid.agent.cite import marks

MOST_SOURCES: Final = 2
MOST_CLAIMS: Final = 2
_ASKED: Final = re.compile(
    r"\s*(?:and |but |so )*(?:how (?:do|would|can|did) you (?:know|remember) (?:about )?(?:that|this|it)"
    r"|how come you know (?:that|this|it)|where (?:do|did) you (?:have|get|hear|learn) (?:that|this|it)(?: from)?"
    r"|(?:who|what) (?:told|tells) you (?:that|this|so)|what makes you (?:think|say|believe) (?:that|this|so)"
    r"|says who|why do you (?:think|say|believe) (?:that|this|so))\s*[?!.]*\s*",
    flags=re.IGNORECASE,
)


class GroundingRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A record that something rests on at first hand."""

    id: str
    speaker: str
    when: datetime
    text: str
    """Empty where it can't be read any more."""
    session: str | None = None
    gone: str | None = None
    """forgotten or erased, where it is."""
    corrected_by: str | None = None
    """What stands in its place now."""


class Drawn(msgspec.Struct, frozen=True):
    """A claim that was drawn from records: by which reader, and the record that says so."""

    id: str
    claim: str
    method: str


class Grounds(msgspec.Struct, frozen=True, kw_only=True):
    """What a record rests on. `held`: the stance behind it, and its claim; `unanswered`: why no answer was given."""

    sources: Sequence[GroundingRecord] = ()
    drawn: Sequence[Drawn] = ()
    held: tuple[str, str] | None = None
    unanswered: str | None = None


def asks_how(text: str) -> bool:
    """Whether a text asks how what was just said is known."""
    return _ASKED.fullmatch(text) is not None


def tell(grounds: Grounds) -> str:
    """Return in two or three plain sentences how something is known."""
    if grounds.unanswered is not None:
        return f"I don't know it: no answer was given, since {grounds.unanswered}."
    if not grounds.sources:
        return "I can't say: nothing that is remembered stands behind it."
    said = [_said(source) for source in grounds.sources[:MOST_SOURCES]]
    if (more := len(grounds.sources) - MOST_SOURCES) > 0:
        said[-1] += f" It rests on {more} more {'record' if more == 1 else 'records'}."
    if grounds.drawn:
        said.append(_drawn(grounds.drawn[:MOST_CLAIMS]))
    if grounds.held is not None:
        id, claim = grounds.held
        said.append(f"Of what speaks for and against it, this stands: {_bare(claim)}{marks([id])}.")
    return " ".join(said)


def _said(source: GroundingRecord) -> str:
    where = f", in the conversation {_bare(source.session)}" if source.session else ""
    when = day(source.when.date().isoformat())
    if source.gone is not None:
        return f"It rests on what was said on {when}{where}; that has been {source.gone} since{marks([source.id])}."
    told = f"{_bare(source.speaker)} said on {when}{where}: {quote(source.text)}{marks([source.id])}."
    if source.corrected_by is not None:
        told += f" That was corrected since{marks([source.corrected_by])}."
    return told[:1].upper() + told[1:]


def _drawn(drawn: Sequence[Drawn]) -> str:
    claims = " and ".join(f"that {_bare(one.claim)}{marks([one.id])}" for one in drawn)
    by = ", ".join(dict.fromkeys(_by(one.method) for one in drawn))
    return f"From that was drawn, {by}, {claims}."


def _by(method: str) -> str:
    return (
        f"by rules ({method.removeprefix('read:')})" if method.startswith("read:") else f"by {_bare(method)}"
    )


def _bare(text: str) -> str:
    """Return stored text as part of a sentence: one line that quotes nothing, and cites nothing."""
    return quote(text)[1:-1]
