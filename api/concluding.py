"""The answer of a program: from what its steps found and hold, or a sentence of what they gave. It writes nothing."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime

import msgspec

from braid.acting import Means
from braid.affect.blend import Felt
from braid.affect.vad import Reading
from braid.agent.answer import Answered, Held, answer
from braid.agent.chained import AfterFailure, Chained, Part, Worded
from braid.agent.majority import Majority
from braid.agent.parts import Composer, Support
from braid.agent.plan import GIVEN, Answer, Tool, filled, references
from braid.agent.program import State, Value, value
from braid.asking import support_of
from braid.ledger.errors import ErasedError, ForgottenError, UnknownRecordError
from braid.ledger.record import Asks
from braid.recall.hits import Answer as Found
from braid.recall.hits import Hit
from braid.stance.reconcile import Outcome, reconcile
from braid.tone import snapshots as feeling


def conclude(means: Means, step: Answer, state: State) -> tuple[Answered, dict[str, int]]:
    """Return the answer of a plan's last step, and where there were several, how many said what."""
    hits, gone = means.hits(state, step.of)
    trouble = list(dict.fromkeys([*(each for one in state.values.values() for each in one.trouble), *gone]))
    question = filled(step.question, state.texts)
    parts = {name: _part(means, value(state, name)) for name in _named(step)}
    results = [_part(means, value(state, name)) for name in step.of if value(state, name).data is not None]
    voting: Majority | None = None
    if step.says is not None:
        composer: Composer = Worded(step.says, parts)
    elif results and not hits:
        composer = Worded("{result}", {"result": results[0]})
    else:
        inner = means.composer
        if step.samples > 1:
            inner = voting = Majority(inner, step.samples)
        composer = Chained(inner, list(parts.values()), frozenset(hit.id for hit in hits))
    if tools := _failed(state):
        composer = AfterFailure(composer, tools)
    rests = [one for part in (*parts.values(), *results) for one in (*part.support, *part.behind)]
    mind = _Gathered(means, state, step, [*hits, *_behind(means, hits, rests)], trouble)
    given = answer(question, mind, now=state.begun.now, composer=composer, affect=means.affect)
    given = msgspec.structs.replace(given, question=state.begun.question)
    return given, dict(voting.votes) if voting is not None else {}


def _failed(state: State) -> dict[str, str]:
    """Return why each tool failed that was called in vain, by name."""
    called = ((step.tool, value(state, step.name)) for step in state.plan.steps if isinstance(step, Tool))
    return {name: given.trouble[0] for name, given in called if given.trouble and given.data is None}


def _part(means: Means, given: Value) -> Part:
    """Return what a step gave as a part of an answer; a result's first record is its own, the others it rests on."""
    support: list[Support] = []
    for id in given.records:
        with suppress(ErasedError, ForgottenError, UnknownRecordError):
            record = means.store.reader.get(id)
            if record.kind == "experience":
                support.append(support_of(record))
    own = 1 if given.data is not None else len(support)
    return Part(text=given.text, p=given.p, support=support[:own], behind=support[own:])


def _behind(means: Means, hits: Sequence[Hit], support: Sequence[Support]) -> list[Hit]:
    """Return what notes and results rest on as hits behind the others: an answer cites only what it was given."""
    known = {hit.id for hit in hits}
    last = min((hit.score for hit in hits), default=0.0)
    fresh = [id for id in dict.fromkeys(one.id for one in support) if id not in known]
    return [Hit(means.store.reader.get(id), last, {}, {}) for id in fresh]


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
    return [name for name in references(step.says or step.question) if name not in GIVEN]
