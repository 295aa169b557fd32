"""After an answer: what of memory helped and what hindered, in words and as a lesson for retrieval. Pure.

It quotes nothing of what was remembered, so that it outlives no one's words, and it says nothing of tone. A lesson is a
step of salience for each record that helped or stood in the way. Only an answer that was given teaches, as much as it
is more likely right than wrong: what was left unsaid, or only pointed at, says nothing of what was found.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from braid.agent.composer import Composed
from braid.ledger.record.record import REFLECTION

METHOD: Final = REFLECTION
HINDRANCE: Final = 0.5
"""What passing a record over weighs, where citing one weighs 1: it did not serve this question, but may the next."""


class Reflection(msgspec.Struct, frozen=True, kw_only=True):
    """What an answer came to: by record ids."""

    helped: Sequence[str]
    """Cited."""
    passed_over: Sequence[str]
    """Found above what was cited, and not used."""
    found: int
    abstained: bool
    reason: str | None
    degraded: Sequence[str]
    fallback: str | None
    stance: str | None

    @property
    def text(self) -> str:
        """It in words."""
        return " ".join(_sentences(self))

    def structured(self) -> dict[str, Any]:
        """It for programs, under `reflection`."""
        built: Mapping[str, Any] = msgspec.to_builtins(self)
        return {"reflection": {name: value for name, value in built.items() if value not in (None, [], ())}}


def reflect(
    *,
    hits: Sequence[str],
    citations: Sequence[str],
    abstained: bool,
    reason: str | None,
    degraded: Sequence[str],
    fallback: str | None,
    stance: str | None,
) -> Reflection:
    """Return what an answer came to; `hits` are the ids that recall found, best first."""
    last = max((hits.index(id) for id in citations if id in hits), default=0)
    return Reflection(
        helped=tuple(citations),
        passed_over=tuple(id for id in hits[:last] if id not in citations),
        found=len(hits),
        abstained=abstained,
        reason=reason,
        degraded=tuple(degraded),
        fallback=fallback,
        stance=stance,
    )


def lesson(reflection: Reflection, composed: Composed) -> Mapping[str, float]:
    """Return a step in [-1, 1] by record id; empty where there is nothing to learn."""
    gain = 2 * composed.p - 1
    if composed.abstained or gain <= 0:
        return {}
    helped = dict.fromkeys(reflection.helped, gain)
    hindered = dict.fromkeys(reflection.passed_over, -HINDRANCE * gain)
    return {id: round(step, 4) for id, step in (helped | hindered).items()}


def _sentences(it: Reflection) -> list[str]:
    said: list[str] = []
    if it.abstained:
        said.append(f"Reflection: no answer was given, since {it.reason or 'too little was known'}.")
    else:
        said.append(f"Reflection: the answer rests on {_many(len(it.helped), 'record')} of {it.found} found.")
    if it.passed_over:
        said.append(f"{_many(len(it.passed_over), 'record')} ranked higher and did not help.")
    if it.stance:
        said.append("What is held of the question decided it.")
    if it.fallback:
        said.append(f"The model's answer was not taken: {it.fallback}.")
    if it.degraded:
        said.append(f"Memory was incomplete: {'; '.join(each.partition(':')[0] for each in it.degraded)}.")
    return said


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
