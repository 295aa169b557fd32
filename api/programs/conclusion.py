"""The answer of a program: from what its steps found and hold, or a sentence of what they gave. It writes nothing."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime

import msgspec

from braid.agent.answer.lists.request import ListRequest
from braid.agent.answer.majority import Majority
from braid.agent.answer.pipeline import CitedAnswer, answer
from braid.agent.composer import Composer, HeldStance, ListFindings, Overtaken, Support
from braid.agent.program.composers import AfterFailure, Chained, SentencePart, Worded
from braid.agent.program.plan import GIVEN, AnswerStep, ToolStep, filled, references
from braid.agent.program.state import State, Value, value
from braid.answers.mind import Tones, support_of
from braid.ledger.errors import ErasedError, ForgottenError, UnknownRecordError
from braid.ledger.record.record import Asks
from braid.programs.resources import Resources
from braid.recall.hits import Hit
from braid.recall.hits import RecallResult as Found
from braid.stance.reconcile import Reconciliation, reconcile


def conclude(resources: Resources, step: AnswerStep, state: State) -> tuple[CitedAnswer, dict[str, int]]:
    """Return the answer of a plan's last step, and where there were several, how many said what."""
    hits, gone = resources.hits(state, step.of)
    trouble = list(dict.fromkeys([*(each for one in state.values.values() for each in one.trouble), *gone]))
    question = filled(step.question, state.texts)
    parts = {name: _part(resources, value(state, name)) for name in _named(step)}
    results = [
        _part(resources, value(state, name)) for name in step.of if value(state, name).data is not None
    ]
    voting: Majority | None = None
    if step.says is not None:
        composer: Composer = Worded(step.says, parts)
    elif results and not hits:
        composer = Worded("{result}", {"result": results[0]})
    else:
        inner = resources.composer
        if step.samples > 1:
            inner = voting = Majority(inner, step.samples)
        composer = Chained(inner, list(parts.values()), frozenset(hit.id for hit in hits))
    if tools := _failed(state):
        composer = AfterFailure(composer, tools)
    rests = [one for part in (*parts.values(), *results) for one in (*part.support, *part.behind)]
    mind = _Gathered(resources, state, step, [*hits, *_behind(resources, hits, rests)], trouble)
    given = answer(question, mind, now=state.begun.now, composer=composer, affect=resources.affect)
    given = msgspec.structs.replace(given, question=state.begun.question)
    return given, dict(voting.votes) if voting is not None else {}


def _failed(state: State) -> dict[str, str]:
    """Return why each tool failed that was called in vain, by name."""
    called = ((step.tool, value(state, step.name)) for step in state.plan.steps if isinstance(step, ToolStep))
    return {name: given.trouble[0] for name, given in called if given.trouble and given.data is None}


def _part(resources: Resources, given: Value) -> SentencePart:
    """Return what a step gave as a part of an answer; a result's first record is its own, the others it rests on."""
    support: list[Support] = []
    classes = resources.session.reader.source_classes
    for id in given.records:
        with suppress(ErasedError, ForgottenError, UnknownRecordError):
            record = resources.session.reader.get(id)
            if record.kind == "experience":
                support.append(support_of(record, source=classes.note(record)))
    own = 1 if given.data is not None else len(support)
    return SentencePart(text=given.text, p=given.p, support=support[:own], behind=support[own:])


def _behind(resources: Resources, hits: Sequence[Hit], support: Sequence[Support]) -> list[Hit]:
    """Return what notes and results rest on as hits behind the others: an answer cites only what it was given."""
    known = {hit.id for hit in hits}
    last = min((hit.score for hit in hits), default=0.0)
    fresh = [id for id in dict.fromkeys(one.id for one in support) if id not in known]
    reader = resources.session.reader
    found = [reader.get(id) for id in fresh]
    return [Hit(one, last, {}, {}, source=reader.source_classes.note(one)) for one in found]


class _Gathered(Tones):
    """What a program has gathered, as the pipeline of answers asks it."""

    def __init__(
        self,
        resources: Resources,
        state: State,
        step: AnswerStep,
        hits: Sequence[Hit],
        trouble: Sequence[str],
    ) -> None:
        super().__init__(resources.session, resources.scope)
        self._resources = resources
        self._state = state
        self._step = step
        self._hits = hits
        self._trouble = trouble

    def find(self, question: str) -> Found:
        """See `Mind.find`: nothing is looked for any more."""
        del question
        size = self._session.reader.size
        return Found(results=self._hits, position=size, behind_by=0, degraded=self._trouble)

    def hold(self, question: str) -> HeldStance:
        held = self._resources.held(self._state, self._step.held)
        return held if held is not None else HeldStance(_nothing(question, self._state.begun.now))

    def overtaken(self, index: int) -> list[Overtaken]:
        """See `Mind.overtaken`: a program's steps have looked for what it needs."""
        del index
        return []

    def facts(self, wanted: ListRequest) -> ListFindings:
        """See `Mind.facts`: of what was gathered alone."""
        del wanted
        return ListFindings()


def _nothing(question: str, now: datetime) -> Reconciliation:
    return reconcile(question, Asks(subjects=[], rels=[], at=now.astimezone(UTC)), [], [])


def _named(step: AnswerStep) -> list[str]:
    """Return the steps whose texts an answer was asked with, or is made of."""
    return [name for name in references(step.says or step.question) if name not in GIVEN]
