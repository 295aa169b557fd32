"""The fence: whatever tone a log holds, and whatever tone is read, the same is held, found, cited and said."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

import braid
from braid.affect.blend import Felt
from braid.affect.facts import facts
from braid.affect.style import Base, style
from braid.affect.vad import ToneReading
from braid.agent.answer import pipeline
from braid.agent.answer.compose import Extractive
from braid.agent.answer.lists.request import ListRequest
from braid.agent.answer.reflection import lesson
from braid.agent.composer import Composed, HeldStance, ListFindings, Overtaken, QuestionContext, Support
from braid.claims.decision import resolve
from braid.ledger.record.record import Affect, AffectBody, Draft, Record, Target, Vad
from braid.log.drafts import experience, scope
from braid.log.operations import Earlier
from braid.recall.hits import Hit
from braid.recall.hits import RecallResult as Found
from braid.search.question import AskedTone, Question
from braid.search.retrieval import find
from braid.store import Store
from tests.unit.affect import inputs

NOW = datetime(2025, 6, 1, 12, tzinfo=UTC)
MAYA = scope(user_id="maya")
SAID = (
    "I live in Porto.",
    "My brother Duarte bought a cot for 1,200 euros.",
    "I'm allergic to peanuts.",
    "I live in Lisbon now.",
    "My cat is called Miso.",
    "Correction: I'm not allergic to peanuts.",
)
QUESTIONS = ("Where does Maya live?", "Is Maya allergic to peanuts?", "What did Duarte buy?", "Who is Zed?")
ID = re.compile(r"\b(?:exp|aff|stance)_\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ_[0-9a-v]{12}\b")
DARK = Affect(vad=Vad(v=-1, a=1, d=-1), labels=["anger"], intensity=1, confidence=1)
BRIGHT = Affect(vad=Vad(v=1, a=0, d=1), labels=["joy"], intensity=1, confidence=1)


NEUTRAL = AffectBody(actor="user", stage="input", valence=0, arousal=0, dominance=0)
FELT_AFTER = (1, 3)
"""Behind which turns a snapshot stands. Any record between two turns parts them for recall, whatever it is of: so the
places stay, and what the snapshots say is varied; behind the last turn there may be any number."""


class Mood(NamedTuple):
    """The tones of a log: of each turn, of the snapshots between them, and of those behind them."""

    carried: Sequence[Affect | None]
    between: Sequence[AffectBody]
    behind: Sequence[AffectBody]


TONELESS = Mood([None] * len(SAID), [NEUTRAL] * len(FELT_AFTER), [])
GLOOM = Mood([DARK] * len(SAID), [NEUTRAL] * len(FELT_AFTER), [NEUTRAL] * 3)


def moods() -> st.SearchStrategy[Mood]:
    """Return any tone of every turn, and any snapshots."""
    return st.builds(
        Mood,
        st.tuples(*(inputs.affects() for _ in SAID)),
        st.tuples(*(inputs.snapshots() for _ in FELT_AFTER)),
        st.lists(inputs.snapshots(), max_size=4),
    )


def tell(folder: Path, mood: Mood) -> Store:
    """Open a new store in which the turns were said in this mood, and read for what they claim."""
    braid.init(folder / "memory", durability="none", guard_dir=folder / "guard", clock=lambda: NOW)
    store = braid.open(folder / "memory", guard_dir=folder / "guard", clock=lambda: NOW)
    store.set_learning(health=True)
    together: list[Draft] = []
    turn = 0
    for at, (text, affect) in enumerate(zip(SAID, mood.carried, strict=True)):
        when = NOW - timedelta(days=60 - at)
        turn = len(together)
        together.append(experience(text, name="Maya", within=MAYA, occurred_at=when, affect=affect))
        if at in FELT_AFTER:
            together.append(snapshot(mood.between[FELT_AFTER.index(at)], Earlier(turn)))
    last = store.session.append_drafts(together)[turn]
    store.learn()
    for body in mood.behind:
        store.session.append_drafts([snapshot(body, last.id)])
    return store


def snapshot(body: AffectBody, of: Target) -> Draft:
    whose = msgspec.structs.replace(body, scope=MAYA)
    return Draft(kind="affect", body=whose, links=[("experience", of)])


def settled(store: Store) -> bytes:
    """Return all that must not move, as bytes: ids by their order among the turns and what was read of them."""
    told: list[Any] = []
    flat = store.ask(QUESTIONS[0], user_id="maya", now=NOW, write=False, affect=False)
    told.append([flat.text, [one.id for one in flat.citations], flat.residual_uncertainty])
    for question in QUESTIONS:
        held = store.stance(question, user_id="maya", at=NOW, append=False)
        found = store.recall(question, user_id="maya", now=NOW)
        said = store.ask(question, user_id="maya", now=NOW, write=False)
        hits = [(hit.id, hit.text, hit.score, hit.signals) for hit in found.results]
        answered = (said.plain, said.short, [one.id for one in said.citations], said.residual_uncertainty)
        told.append([held, hits, answered, said.abstained, said.reason, said.reflection_text])
    order = {str(record.id): f"#{place}" for place, record in enumerate(experiences(store))}
    return ID.sub(lambda match: order[match[0]], msgspec.json.encode(told).decode()).encode()


def experiences(store: Store) -> list[Record]:
    return [record for record in store.read() if record.kind == "experience"]


@pytest.fixture(scope="module")
def toneless(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    with tell(tmp_path_factory.mktemp("toneless"), TONELESS) as store:
        return settled(store)


def unmoved(toneless: bytes, mood: Mood) -> None:
    with TemporaryDirectory() as folder, tell(Path(folder), mood) as store:
        assert settled(store) == toneless


def test_what_is_compared_says_something(toneless: bytes) -> None:
    held = [each[0]["claim"] for each in msgspec.json.decode(toneless)[1:]]
    assert held[:2] == ["Maya lives in Lisbon", "Maya is not allergic to peanuts"]
    answers = [each[2] for each in msgspec.json.decode(toneless)[1:]]
    assert [bool(ids) for _, _, ids, _ in answers[:2]] == [True, True]


@given(moods())
@example(GLOOM)
@settings(max_examples=5, deadline=None, phases=(Phase.explicit, Phase.generate))
def test_no_tone_in_the_log_moves_anything(toneless: bytes, mood: Mood) -> None:
    unmoved(toneless, mood)


@pytest.mark.sample(3)
@pytest.mark.parametrize("where", ["stance", "recall", "answer"])
def test_a_leak_is_caught(toneless: bytes, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    """Each leak is a line that somebody might write: what was said in anger counts less."""
    if where == "stance":
        from braid.claims import reader as claim_reader
        from braid.stance.claims import claims_of

        monkeypatch.setattr(
            claim_reader,
            "claims_of",
            lambda record, *how: (
                [] if _angry(record) or any(map(_angry, _above(record))) else claims_of(record, *how)
            ),
        )
    elif where == "recall":
        from braid.search import retrieval

        question_of, bright = retrieval.question_of, BRIGHT.vad
        near = AskedTone(v=bright.v, a=bright.a, d=bright.d)
        monkeypatch.setattr(
            retrieval,
            "question_of",
            lambda session, asked, **how: question_of(
                session, msgspec.structs.replace(asked, affect=near), **how
            ),
        )
    else:
        held = pipeline._held  # pyright: ignore[reportPrivateUsage] - where the leak is wired
        monkeypatch.setattr(
            pipeline,
            "_held",
            lambda mind, question, trouble: (
                None if any(map(_angry, mind.find(question).results)) else held(mind, question, trouble)
            ),
        )
    with TemporaryDirectory() as folder, tell(Path(folder), GLOOM) as store:
        _OPEN.append(store)
        try:
            assert settled(store) != toneless
        finally:
            _OPEN.clear()


_OPEN: list[Store] = []


def _above(record: Record) -> list[Record]:
    return [_OPEN[0].get(link.id) for link in record.targets("parent")]


def _angry(one: Any) -> bool:
    affect = getattr(getattr(one, "record", one).body, "affect", None)
    return affect is not None and affect.vad.v < -0.5


# -- the pipeline alone: any tone may be read of anything --------------------------------------------


class Moody:
    """A mind that always finds and holds the same, and reads whatever tones it is given."""

    def __init__(
        self, found: Found, held: HeldStance, tones: Sequence[ToneReading], own: Felt | None
    ) -> None:
        self._found, self._held = found, held
        self._tones, self._own = cycle(tones), own

    def find(self, question: str) -> Found:
        del question
        return self._found

    def hold(self, question: str) -> HeldStance:
        del question
        return self._held

    def facts(self, wanted: ListRequest) -> ListFindings:
        del wanted
        return ListFindings()

    def overtaken(self, index: int) -> list[Overtaken]:
        del index
        return []

    def nearest(self) -> None:
        return None

    def parses(self, trouble: list[str]) -> None:
        """See `Mind`."""

    def answers(self, trouble: list[str]) -> None:
        del trouble

    def feel(self, texts: Sequence[str]) -> list[ToneReading]:
        return [next(self._tones) for _ in texts]

    def felt(self, hits: Sequence[Hit]) -> list[Felt]:
        return [Felt(one.vad, one.confidence) for one in self.feel([hit.text for hit in hits])]

    def own_tone(self) -> Felt | None:
        return self._own


class Known(NamedTuple):
    """A question with what is found and held of it."""

    question: str
    found: Found
    held: HeldStance


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> list[Known]:
    with tell(tmp_path_factory.mktemp("known"), TONELESS) as store:
        return [_known(store, question) for question in QUESTIONS]


def _known(store: Store, question: str) -> Known:
    outcome = resolve(store, question, MAYA, at=NOW).outcome
    support = [
        Support(id=one.id, index=one.index, text=one.text, quote="", when=NOW, speaker="Maya")
        for one in (store.get(said.id) for said in outcome.support)
    ]
    return Known(
        question,
        find(store.session, Question(query=question, user_id="maya", now=NOW)),
        HeldStance(outcome, support),
    )


READINGS = st.builds(
    ToneReading,
    vad=inputs.vads(),
    emotion=inputs.LABELS,
    intensity=inputs.SHARES,
    confidence=inputs.SHARES,
    notes=st.text(max_size=10),
    signals=st.just({}),
)


def said(known: Known, tones: Sequence[ToneReading], own: Felt | None, composer: Any = None) -> bytes:
    """Return all of an answer that must not move, as bytes; what its manner says must state the same."""
    mind = Moody(known.found, known.held, tones, own)
    given = pipeline.answer(known.question, mind, now=NOW, composer=composer)
    assert facts(given.text) == facts(given.composed.text)
    held = given.held.outcome if given.held is not None else None
    parts = [
        given.composed,
        given.citations,
        [(hit.id, hit.score) for hit in given.hits],
        held.decision if held else None,
        [(one.said.id, one.p, one.held, one.why) for one in held.candidates] if held else [],
        [one.id for one in held.support] if held else [],
        given.degraded,
        given.reflection,
        given.reflection.text,
        lesson(given.reflection, given.composed),
    ]
    return msgspec.json.encode(parts)


@given(
    st.integers(0, len(QUESTIONS) - 1),
    st.lists(READINGS, min_size=1, max_size=4),
    st.none() | inputs.felts(),
    inputs.bases(),
)
def test_no_tone_that_is_read_moves_an_answer(
    known: list[Known], asked: int, tones: Sequence[ToneReading], own: Felt | None, base: Base
) -> None:
    calm = said(known[asked], [_reading(0.0)], None)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pipeline, "style", partial(style, base=base))
        assert said(known[asked], tones, own) == calm


def test_a_composer_that_listens_to_tone_is_caught(known: list[Known]) -> None:
    class Swayed(Extractive):
        """Says nothing to whoever is cross."""

        def __init__(self, mood: ToneReading) -> None:
            self._mood = mood

        def compose(self, asked: QuestionContext) -> Composed:
            said = super().compose(asked)
            return msgspec.structs.replace(said, citations=()) if self._mood.vad.v < 0 else said

    calm, cross = _reading(0.0), _reading(-1.0)
    assert said(known[0], [calm], None, Swayed(calm)) != said(known[0], [cross], None, Swayed(cross))


def test_tone_moves_the_manner(known: list[Known]) -> None:
    """The fence would hold trivially if tone moved nothing."""
    texts = {
        pipeline.answer(known[0].question, Moody(known[0].found, known[0].held, [one], None), now=NOW).text
        for one in (_reading(1.0), _reading(-1.0), _reading(0.0))
    }
    assert len(texts) > 1


def _reading(v: float) -> ToneReading:
    return ToneReading(Vad(v=v, a=0.5, d=0.0), "neutral", abs(v), 1.0, "", {})
