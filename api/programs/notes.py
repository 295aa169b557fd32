"""Notes of a program: what later steps build on, read from what earlier ones found and hold. They write nothing.

What is held speaks first, then what a model answers, where one composes; else rules weigh what was found
(`agent.answer.selection`). Each note says how sure it is: what is built on it is no surer.
"""

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC
from typing import Final

from braid.agent.composer import Composed, HeldStance
from braid.agent.program.amounts import amount, day_of, fits, held_amount, held_day
from braid.agent.program.composers import named_in, names_in, note_of, sources
from braid.agent.program.names import name
from braid.agent.program.note import clipped
from braid.agent.program.plan import NoteStep, filled
from braid.agent.program.selection import Picked
from braid.agent.program.state import State, value
from braid.programs.resources import SIGNAL_DIGITS, Resources, StepResult
from braid.recall.context import tokens
from braid.recall.decompose import decompose
from braid.recall.hits import Hit
from braid.text.quantities import quantities

MOST_NAMES: Final = 4
NAMED_IN: Final = 5
"""Among how many of the best hits names are looked for."""


def note(resources: Resources, step: NoteStep, state: State) -> StepResult:
    """Return what is noted, from which records, and how sure it is; a note of nothing is empty."""
    hits, trouble = resources.hits(state, step.of)
    question = filled(step.question, state.texts)
    if step.what == "names":
        return _names(hits, question, step.tokens, trouble)
    return _NoteReader(resources, step, state, question, hits).told(trouble)


class _NoteReader:
    """One note, with what it is read from."""

    def __init__(
        self, resources: Resources, step: NoteStep, state: State, question: str, hits: Sequence[Hit]
    ) -> None:
        self._resources = resources
        self._step = step
        self._state = state
        self._hits = hits
        self._text = question
        self._question = decompose(question, state.begun.now)
        self._held = self._stance()

    def _stance(self) -> HeldStance | None:
        for each in self._step.of:
            given = value(self._state, each)
            if given.records and not given.scores:
                with suppress(ValueError):
                    return self._resources.held(self._state, each)
        return None

    def told(self, trouble: Sequence[str]) -> StepResult:
        """Return the note as its step's."""
        picked = self._picked()
        composed = None if picked is not None else self._composed()
        if composed is not None:
            picked = self._read(composed)
        if picked is None or not (text := clipped(picked.text, self._step.tokens)):
            return StepResult(told={"text": "", "trouble": trouble, **_spent(composed)})
        told = {"text": text, "p": round(picked.p, SIGNAL_DIGITS), "trouble": trouble}
        return StepResult(evidence=picked.ids, told={**told, **_spent(composed)})

    def _composed(self) -> Composed:
        now = self._state.begun.now
        return self._resources.composer.compose(
            self._resources.asked(self._text, self._hits, now, self._held)
        )

    def _picked(self) -> Picked | None:
        """Return what is held, or what rules find: of an amount or a day."""
        if self._step.what == "amount":
            return self._claimed() or amount(self._question, self._hits, self._apart())
        return self._claimed() or day_of(self._question, self._hits) if self._step.what == "day" else None

    def _claimed(self) -> Picked | None:
        held = self._held
        if held is None or not held.outcome.decision.claim or not held.support:
            return None
        decision, now = held.outcome.decision, self._state.begun.now
        if self._step.what == "day":
            found = held_day(self._question, decision.claim, now.astimezone(UTC).date())
        else:
            found = held_amount(self._question, decision.claim)
        if found is None:
            return None
        return Picked(found, 1.0 - decision.residual_uncertainty, _ids(held))

    def _apart(self) -> set[tuple[str, str]]:
        others = [value(self._state, name) for name in self._step.apart]
        return {(id, one.text) for one in others for id in one.records}

    def _read(self, composed: Composed) -> Picked | None:
        """Return what a composed answer says of the kind that is to be noted."""
        if self._step.what == "answer":
            text = note_of(composed, self._text, self._step.tokens, self._state.begun.now)
        elif self._step.what == "name":
            return self._name(composed)
        elif composed.model is None or self._step.what == "day":
            return None
        else:
            some = [read.quantity for read in quantities(composed.short or composed.text)]
            text = next((str(one) for one in some if fits(self._text, one)), "")
        return Picked(text, composed.p, sources(composed)) if text else None

    def _name(self, composed: Composed) -> Picked | None:
        """Return the name that is held, or that a model says; else the one that rules find."""
        told = named_in(composed, self._text)
        claim = self._held.outcome.decision.claim if self._held is not None else ""
        if told and (composed.model is not None or told in claim):
            return Picked(told, composed.p, sources(composed))
        return name(self._question, self._hits)


def _ids(held: HeldStance) -> list[str]:
    return list(dict.fromkeys(one.id for one in held.support))


def _spent(composed: Composed | None) -> dict[str, object]:
    if composed is None:
        return {}
    return {"tokens": sum(composed.tokens), "model": composed.model, "said": composed.said}


def _names(hits: Sequence[Hit], question: str, most: int, trouble: Sequence[str]) -> StepResult:
    """Note the names that the best hits say and the question doesn't."""
    found: dict[str, str] = {}
    for hit in hits[:NAMED_IN]:
        for each in names_in(hit.text, question):
            found.setdefault(each, hit.id)
    kept = list(found)[:MOST_NAMES]
    while len(kept) > 1 and tokens(", ".join(kept)) > most:
        kept.pop()  # half a name is another's
    text = clipped(", ".join(kept), most)
    evidence = list(dict.fromkeys(found[each] for each in kept)) if text else []
    return StepResult(evidence=evidence, told={"text": text, "trouble": list(trouble)})
