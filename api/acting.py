"""What each step of a program does with a store. It writes nothing: what came of it is handed back, to be recorded."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from braid import drafts, feeling
from braid.affect.blend import Felt
from braid.affect.vad import Reading
from braid.agent.answer import Answered, Held, answer
from braid.agent.chained import Chained, Part, Worded, clipped, named_in, names_in, note_of, sources
from braid.agent.compose import Extractive
from braid.agent.errors import ToolRefusedError
from braid.agent.language import guess
from braid.agent.majority import Majority
from braid.agent.parts import Asked, Composer, Support
from braid.agent.plan import Answer, Branch, Lens, Note, Reconcile, Retrieve, filled, references
from braid.agent.plan import Tool as ToolStep
from braid.agent.program import State, Value, value
from braid.agent.tool import Tool, Toolbox, told, use
from braid.asking import OWN, RESULT, Asker, grounds_of, support_of
from braid.deciding import resolve
from braid.gathering import Known
from braid.holding import instant_of
from braid.ledger.errors import ErasedError, ForgottenError, NotRederivableError, UnknownRecordError
from braid.ledger.record import Asks, Draft, Scope, Target
from braid.lenses.errors import LensError
from braid.lenses.registry import by_name
from braid.recall.context import block
from braid.recall.decompose import decompose
from braid.recall.hits import Answer as Found
from braid.recall.hits import Hit
from braid.recall.through import through
from braid.stance.entry import again
from braid.stance.reconcile import Outcome, reconcile
from braid.stance.review import Earlier

MOST_NAMES: Final = 4
NAMED_IN: Final = 5
"""Among how many of the best hits names are looked for."""
_SIGNAL_DIGITS: Final = 6


class Acted(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a step: the records that it was made of, what is to be written in front of it, and the rest of its
    event."""

    evidence: Sequence[Target] = ()
    before: Sequence[Draft] = ()
    told: dict[str, Any] = {}


class Means:
    """What a run has at hand: a store, for a scope; what composes; tools, and what they may do."""

    def __init__(
        self,
        store: Asker,
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
        """Carry out the step that is next (not one that calls a tool, or answers) within the time that is left."""
        step = state.step
        if isinstance(step, Retrieve):
            return self._retrieve(step, state, left_s)
        if isinstance(step, Reconcile):
            return self._reconcile(step, state)
        if isinstance(step, Lens):
            return self._lens(step, state)
        if isinstance(step, Note):
            return self._note(step, state)
        assert isinstance(step, Branch), step  # noqa: S101 - tools and answers are the runner's
        return Acted(told={"text": "found" if value(state, step.found).found else ""})

    # -- looking --------------------------------------------------------------------------------------

    def _retrieve(self, step: Retrieve, state: State, left_s: float) -> Acted:
        scope = msgspec.structs.asdict(self.scope) if self.scope else {}
        asked: dict[str, Any] = {"now": state.begun.now, "top_k": step.k, "filters": OWN, "limit_s": left_s}
        if step.at is not None:
            asked["valid_at"] = datetime.fromisoformat(step.at)
        query = filled(step.query, state.texts)
        found = self.store.answer(query, **asked, **scope)
        return _of_hits(found.results, found.degraded)

    def _lens(self, step: Lens, state: State) -> Acted:
        hits, trouble = self.hits(state, [step.of])
        try:
            return _of_hits(through(by_name(step.lens))(hits), trouble)
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
                    record = self.store.get(id)
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
        if at is None and begun.dated:
            at = instant_of(question, begun.now) or begun.now
        found = resolve(self.store, question, self.scope, at=at)
        if found.batch:
            evidence: list[Target] = [Earlier(0)]
        else:
            evidence = [found.stance.id] if found.stance.id is not None else []
        p = 1.0 - found.outcome.decision.residual_uncertainty
        told = {"text": found.outcome.decision.claim, "p": round(p, _SIGNAL_DIGITS)} if evidence else {}
        return Acted(evidence=evidence, before=found.batch, told=told)

    def held(self, state: State, name: str | None) -> Held | None:
        """Return the stance that a step took, made again from what it names. Raises ValueError where it can't be."""
        given = value(state, name) if name is not None else Value()
        if not given.records:
            return None
        try:
            outcome = again(self.store.get(given.records[0]), self.store.reader.at)
        except (ErasedError, ForgottenError, NotRederivableError) as error:
            raise ValueError(f"the stance of {name!r} can't be had any more: {error}") from None
        return Held(outcome, tuple(grounds_of(outcome, Known(self.store, self.scope, None), self.store)))

    # -- noting ---------------------------------------------------------------------------------------

    def _note(self, step: Note, state: State) -> Acted:
        hits, trouble = self.hits(state, step.of)
        question = filled(step.question, state.texts)
        if step.what == "names":
            return _names(hits, question, step.tokens, trouble)
        held: Held | None = None
        for name in step.of:
            if held is None and value(state, name).records and not value(state, name).scores:
                with suppress(ValueError):
                    held = self.held(state, name)
        composed = self.composer.compose(self.asked(question, hits, state.begun.now, held))
        text = note_of(composed, step.tokens)
        if step.what == "name":
            text = clipped(named_in(composed, question), step.tokens)
        return Acted(
            evidence=sources(composed) if text else (),
            told={
                "text": text,
                "p": round(composed.p, _SIGNAL_DIGITS) if text else None,
                "tokens": sum(composed.tokens),
                "model": composed.model,
                "said": composed.said,
                "trouble": trouble,
            },
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

    def use(self, step: ToolStep, tool: Tool, args: msgspec.Struct, key: str, left_s: float) -> Acted:
        """Call a tool; where it fails, the step gives nothing, and says why."""
        try:
            result = use(tool, args, key, left_s)
        except ToolRefusedError as error:
            return Acted(told={"trouble": [str(error)]})
        return self.result(tool, result)

    def result(self, tool: Tool, result: dict[str, Any]) -> Acted:
        """Return a tool's result as a step's, with the experience that it is: who said it, and what."""
        text = told(result)
        person = tool.asks == "person"
        draft = drafts.experience(
            text,
            actor="user" if person else f"tool({tool.name})",
            method="capture" if person else RESULT,
            within=self.scope,
            structured={"result": result},
        )
        return Acted(evidence=[Earlier(0)], before=[draft], told={"text": text, "data": result})

    # -- answering ------------------------------------------------------------------------------------

    def answer(self, step: Answer, state: State) -> tuple[Answered, dict[str, int]]:
        """Return the answer of a plan's last step, and where there were several, how many said what."""
        hits, trouble = self.hits(state, step.of)
        question = filled(step.question, state.texts)
        parts = {name: self._part(value(state, name)) for name in _named(step)}
        results = [self._part(value(state, name)) for name in step.of if value(state, name).data is not None]
        voting: Majority | None = None
        if step.says is not None:
            composer: Composer = Worded(step.says, parts)
        elif results and not hits:
            composer = Worded("{result}", {"result": results[0]})
        else:
            inner = self.composer
            if step.samples > 1:
                inner = voting = Majority(inner, step.samples)
            composer = Chained(inner, list(parts.values()), frozenset(hit.id for hit in hits))
        behind = [one for part in (*parts.values(), *results) for one in part.support]
        mind = _Gathered(self, state, step, [*hits, *self._behind(hits, behind)], trouble)
        given = answer(question, mind, now=state.begun.now, composer=composer, affect=self.affect)
        given = msgspec.structs.replace(given, question=state.begun.question)
        return given, dict(voting.votes) if voting is not None else {}

    def _part(self, given: Value) -> Part:
        support: list[Support] = []
        for id in given.records:
            with suppress(ErasedError, ForgottenError, UnknownRecordError):
                record = self.store.get(id)
                if record.kind == "experience":
                    support.append(support_of(record))
        return Part(text=given.text, p=given.p, support=support)

    def _behind(self, hits: Sequence[Hit], support: Sequence[Support]) -> list[Hit]:
        """Return what notes and results rest on as hits behind the others: an answer cites only what it was given."""
        known = {hit.id for hit in hits}
        last = min((hit.score for hit in hits), default=0.0)
        fresh = [id for id in dict.fromkeys(one.id for one in support) if id not in known]
        return [Hit(self.store.get(id), last, {}, {}) for id in fresh]


class _Gathered:
    """What a program has gathered, as the pipeline of answers asks it."""

    def __init__(
        self,
        means: Means,
        state: State,
        step: Answer,
        hits: Sequence[Hit],
        trouble: Sequence[str],
    ) -> None:
        self._means = means
        self._state = state
        self._step = step
        self._hits = hits
        self._trouble = trouble

    def find(self, question: str) -> Found:
        """See `Mind.find`: nothing is looked for any more."""
        del question
        size = self._means.store.reader.size
        return Found(results=self._hits, position=size, behind_by=0, degraded=self._trouble)

    def hold(self, question: str) -> Held:
        """See `Mind.hold`."""
        held = self._means.held(self._state, self._step.held)
        return held if held is not None else Held(_nothing(question, self._state.begun.now))

    def feel(self, texts: Sequence[str]) -> list[Reading]:
        """See `Mind.feel`."""
        return feeling.sense(self._means.store, texts)

    def own_tone(self) -> Felt | None:
        """See `Mind.own_tone`."""
        return feeling.own(self._means.store, self._means.store.now(), self._means.scope)


def _nothing(question: str, now: datetime) -> Outcome:
    return reconcile(question, Asks(subjects=[], rels=[], at=now.astimezone(UTC)), [], [])


def _named(step: Answer) -> list[str]:
    """Return the steps whose texts an answer was asked with, or is made of."""
    return [name for name in references(step.says or step.question) if name != "question"]


def _of_hits(hits: Sequence[Hit], trouble: Sequence[str]) -> Acted:
    return Acted(
        evidence=[hit.id for hit in hits],
        told={
            "scores": [round(hit.score, _SIGNAL_DIGITS) for hit in hits],
            "signals": [
                {name: round(float(one), _SIGNAL_DIGITS) for name, one in hit.signals.items()} for hit in hits
            ],
            "trouble": list(trouble),
        },
    )


def _names(hits: Sequence[Hit], question: str, most: int, trouble: Sequence[str]) -> Acted:
    """Note the names that the best hits say and the question doesn't."""
    found: dict[str, str] = {}
    for hit in hits[:NAMED_IN]:
        for name in names_in(hit.text, question):
            found.setdefault(name, hit.id)
    kept = list(found)[:MOST_NAMES]
    text = clipped(", ".join(kept), most)
    evidence = list(dict.fromkeys(found[name] for name in kept)) if text else []
    return Acted(evidence=evidence, told={"text": text, "trouble": list(trouble)})
