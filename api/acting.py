"""What each step of a program does with a store. It writes nothing: what came of it is handed back, to be recorded."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from math import prod
from typing import Any, Final

import msgspec

from braid import recalling
from braid.agent.answer import Held
from braid.agent.compose import Extractive
from braid.agent.errors import ToolRefusedError
from braid.agent.language import guess
from braid.agent.parts import Asked, Composer
from braid.agent.plan import GIVEN, Branch, Lens, Reconcile, Retrieve, filled, references, strings
from braid.agent.plan import Tool as ToolStep
from braid.agent.program import State, Value, value
from braid.agent.tool import Tool, Toolbox, told, use
from braid.asking import OWN, grounds_of
from braid.claims.decision import resolve
from braid.claims.explanation import weighed_again
from braid.claims.finder import ClaimFinder
from braid.ledger.errors import ErasedError, ForgottenError, UnknownRecordError
from braid.ledger.record import Draft, Scope, Target
from braid.lens.definitions import lens_named
from braid.lenses.errors import LensError
from braid.log import drafts
from braid.recall.context import block
from braid.recall.decompose import decompose
from braid.recall.hits import Answer as Found
from braid.recall.hits import Hit
from braid.recall.through import through
from braid.recalling import RESULT
from braid.session import Session
from braid.stance.review import Earlier

SIGNAL_DIGITS: Final = 6


class Acted(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a step: the records that it was made of, what is to be written in front of it, and the rest of its
    event."""

    evidence: Sequence[Target] = ()
    before: Sequence[Draft] = ()
    told: dict[str, Any] = {}


class Calling(msgspec.Struct, frozen=True):
    """What a tool is called with: its arguments, the key of this one call, and the seconds that are left."""

    args: msgspec.Struct
    key: str
    left_s: float


class Means:
    """What a run has at hand: a store, for a scope; what composes; tools, and what they may do."""

    def __init__(
        self,
        store: Session,
        scope: Scope | None,
        composer: Composer | None,
        tools: Toolbox,
        *,
        affect: bool = True,
    ) -> None:
        self.store = store
        self.scope = scope
        self.composer = composer or Extractive()
        self.tools = tools
        self.affect = affect

    def act(self, state: State, left_s: float) -> Acted:
        """Carry out the step that is next (no note, call of a tool, or answer) within the time that is left."""
        step = state.step
        if isinstance(step, Retrieve):
            return self._retrieve(step, state, left_s)
        if isinstance(step, Reconcile):
            return self._reconcile(step, state)
        if isinstance(step, Lens):
            return self._lens(step, state)
        assert isinstance(step, Branch), step  # noqa: S101 - the others are the runner's
        return Acted(told={"text": "found" if value(state, step.found).is_found(step.least) else ""})

    # -- looking --------------------------------------------------------------------------------------

    def _retrieve(self, step: Retrieve, state: State, left_s: float) -> Acted:
        scope = msgspec.structs.asdict(self.scope) if self.scope else {}
        asked: dict[str, Any] = {"now": state.begun.now, "top_k": step.k, "filters": OWN, "limit_s": left_s}
        if step.at is not None:
            asked["valid_at"] = datetime.fromisoformat(step.at)
        query = filled(step.query, state.texts)
        found = recalling.answer(self.store, query, **asked, **scope)
        return _of_hits(found.results, found.degraded)

    def _lens(self, step: Lens, state: State) -> Acted:
        hits, trouble = self.hits(state, [step.of])
        try:
            return _of_hits(through(lens_named(self.store, step.lens))(hits), trouble)
        except LensError as error:
            return _of_hits(hits, [*trouble, f"lens: {error}"])

    def hits(self, state: State, names: Sequence[str]) -> tuple[list[Hit], list[str]]:
        """Return the records that steps gave, each once, as the log has them now, and what is gone of them."""
        found: dict[str, Hit] = {}
        trouble: list[str] = []
        for given in (value(state, name) for name in names):
            trouble += given.trouble
            if given.data is not None:
                continue  # a tool's: it is no hit
            for id, score, signals in zip(given.records, given.scores, given.signals, strict=False):
                try:
                    record = self.store.reader.get(id)
                except (ErasedError, ForgottenError):
                    trouble.append("a record that was found is gone since")
                    continue
                if id not in found or found[id].score < score:
                    found[id] = Hit(record, score, signals, {})
        return sorted(found.values(), key=lambda hit: -hit.score), trouble

    # -- holding --------------------------------------------------------------------------------------

    def _reconcile(self, step: Reconcile, state: State) -> Acted:
        question = filled(step.question, state.texts)
        begun = state.begun
        at = datetime.fromisoformat(step.at) if step.at is not None else None
        found = resolve(self.store, question, self.scope, at=at, now=begun.now if begun.dated else None)
        if found.batch:
            evidence: list[Target] = [Earlier(0)]
        else:
            evidence = [found.stance.id] if found.stance.id is not None else []
        p = 1.0 - found.outcome.decision.residual_uncertainty
        told = {"text": found.outcome.decision.claim, "p": round(p, SIGNAL_DIGITS)} if evidence else {}
        return Acted(evidence=evidence, before=found.batch, told=told)

    def held(self, state: State, name: str | None) -> Held | None:
        """Return the stance that a step took, made again from what it names. Raises ValueError where it can't be."""
        given = value(state, name) if name is not None else Value()
        if not given.records:
            return None
        try:
            outcome = weighed_again(self.store, self.store.reader.get(given.records[0]))
        except (ErasedError, ForgottenError, ValueError) as error:
            raise ValueError(f"the stance of {name!r} can't be had any more: {error}") from None
        return Held(
            outcome, tuple(grounds_of(outcome, ClaimFinder(self.store, self.scope, None), self.store))
        )

    def asked(self, question: str, hits: Sequence[Hit], now: datetime, held: Held | None) -> Asked:
        """Return a question with what was gathered for it, as composers take it."""
        shown = Found(results=hits, position=self.store.reader.size, behind_by=0)
        return Asked(
            question=question,
            hits=hits,
            context=block(decompose(question, now), shown, now),
            now=now,
            stance=held.outcome if held is not None else None,
            support=held.support if held is not None else (),
            language=guess(question) or "en",
        )

    # -- tools ----------------------------------------------------------------------------------------

    def use(self, step: ToolStep, state: State, tool: Tool, called: Calling) -> Acted:
        """Call a tool; where it fails, the step gives nothing, and says why."""
        try:
            result = use(tool, called.args, called.key, called.left_s)
        except ToolRefusedError as error:
            return Acted(told={"trouble": [str(error)]})
        return self.result(step, state, tool, result)

    def result(self, step: ToolStep, state: State, tool: Tool, result: dict[str, Any]) -> Acted:
        """Return a tool's result as a step's, with the experience that it is: who said it, what, and made of what.

        It is no surer than the notes that the tool was given, and rests on the records that they were read from. What a
        person says is their own.
        """
        text = told(result)
        person = tool.asks == "person"
        given = [] if person else [value(state, name) for name in self._given(step)]
        behind = list(dict.fromkeys(id for one in given for id in self._living(one.records)))
        sure = [one.p for one in given if one.p is not None]
        draft = drafts.experience(
            text,
            actor="user" if person else f"tool({tool.name})",
            method="capture" if person else RESULT,
            within=self.scope,
            evidence=behind,
            structured={"result": result},
        )
        p = {"p": round(prod(sure), SIGNAL_DIGITS)} if sure else {}
        return Acted(evidence=[Earlier(0), *behind], before=[draft], told={"text": text, "data": result, **p})

    def _given(self, step: ToolStep) -> list[str]:
        """Return the steps that the arguments of a tool were made of."""
        named = [name for text in strings(step.args) for name in references(text)]
        return [name for name in dict.fromkeys(named) if name not in GIVEN]

    def _living(self, ids: Sequence[str]) -> list[str]:
        """Return those of some records that are experiences and still there."""
        found: list[str] = []
        for id in ids:
            with suppress(ErasedError, ForgottenError, UnknownRecordError):
                if self.store.reader.get(id).kind == "experience":
                    found.append(id)
        return found


def _of_hits(hits: Sequence[Hit], trouble: Sequence[str]) -> Acted:
    return Acted(
        evidence=[hit.id for hit in hits],
        told={
            "scores": [round(hit.score, SIGNAL_DIGITS) for hit in hits],
            "signals": [
                {name: round(float(one), SIGNAL_DIGITS) for name, one in hit.signals.items()} for hit in hits
            ],
            "trouble": list(trouble),
        },
    )
