"""The tools behind `evaluate answers`: scores by hand, exams read, weights that hold what they were fitted to."""

import json
import random
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import numpy as np
import pytest
import typer

from braid.agent.answer.choice.confidence import SIGNALS, WEIGHTS
from braid.agent.cite import cited
from braid.agent.composer import Composed, QuestionContext, Support
from braid.tools.evaluation.answer_scores import Judged, exact, f1, measures, summary
from braid.tools.evaluation.answers import Case, judge
from braid.tools.evaluation.exams import Exam, Gold, read_exams
from braid.tools.lab.answer_strangers import asked_of
from braid.tools.lab.fit_known import Taught, fit, logistic
from braid.tools.lab.fit_known import main as fit_known

NOW = datetime(2025, 1, 1, tzinfo=UTC)
LOCOMO = {
    "sample_id": "c",
    "conversation": {
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [{"dia_id": "D1:1", "speaker": "Ann", "text": "I bought a canoe."}],
    },
    "qa": [
        {"question": "What did Ann buy?", "answer": "a canoe", "evidence": ["D1:1"], "category": 4},
        {
            "question": "What did Bob buy?",
            "adversarial_answer": "a canoe",
            "evidence": ["D1:1"],
            "category": 5,
        },
    ],
}


@pytest.mark.parametrize(
    ("given", "gold", "shared"),
    [
        ("The red canoe.", "red canoe", 1.0), ("a red canoe", "the canoe", 2 / 3), ("", "canoe", 0.0),
        ("", "", 1.0), ("canoe canoe", "canoe", 2 / 3),
    ],
)  # fmt: skip
def test_words_are_shared_as_squad_counts_them(given: str, gold: str, shared: float) -> None:
    assert f1(given, gold) == pytest.approx(shared)
    assert exact(given, gold) == float(shared == 1.0)


def test_an_exam_knows_what_has_no_answer() -> None:
    lines = [
        {"id": "1", "conversation": "j", "speaker": "Ann", "text": "I bought a canoe."},
        {"conversation": "j", "question": "What did Ann buy?", "evidence": ["1"], "answer": "a canoe"},
        {"conversation": "j", "question": "What did Bob buy?", "evidence": [], "answer": None},
        {"conversation": "j", "question": "Who bought it?", "evidence": ["1"]},
    ]
    files = [("a.json", json.dumps(LOCOMO).encode()), ("b.jsonl", "\n".join(map(json.dumps, lines)).encode())]
    locomo, own = read_exams(files)
    assert read_exams([(name, b"\xef\xbb\xbf" + raw) for name, raw in files]) == [locomo, own]
    assert [(one.answerable, one.answer) for one in locomo.questions] == [(True, "a canoe"), (False, None)]
    assert [(one.answerable, one.answer) for one in own.questions] == [
        (True, "a canoe"), (False, None), (True, None),
    ]  # fmt: skip
    assert (locomo.learnt_from, own.learnt_from) == (True, False)
    with pytest.raises(ValueError, match=r"c\.json: it is not JSON"):
        read_exams([("c.json", b"{")])


def judged(exam: Exam, gold: Gold, composed: Composed, places: dict[str, int]) -> Judged:
    asked = QuestionContext(question=gold.text, hits=[], context="", now=NOW)
    return judge(exam, Case(0, gold, asked, places, False, {"recall": 2.0}), composed)


def test_citations_are_held_against_the_evidence() -> None:
    exam = read_exams([("a.json", json.dumps(LOCOMO).encode())])[0]
    right, wrong, near = (f"exp_2025-01-01T00:00:00Z_00000000000{n}" for n in range(3))
    places = {right: 0, wrong: 5, near: 1}
    answerable, not_answerable = exam.questions
    good = judged(
        exam, answerable, Composed(text="x", citations=(right, wrong, near), short="a canoe", p=0.9), places
    )
    assert (good.cited, good.right, good.near, good.evidence, good.found) == (3, 1, 2, 1, 1)
    assert (good.f1, good.exact) == (1.0, 1.0)
    shown = Composed(text="x", citations=(right,), short="a canoe", p=0.2, rung="near")
    bad = judged(exam, not_answerable, shown, places)
    silent = judged(
        exam, not_answerable, Composed(text="I don't know.", citations=(), abstained=True), places
    )
    lost = judged(exam, answerable, Composed(text="I don't know.", citations=(), abstained=True), places)
    assert (bad.right, bad.near) == (0, 0)
    assert (bad.f1, lost.f1) == (None, 0.0)
    found = measures([good, bad, silent, lost])
    assert found["citation_precision"] == 0.3333  # what is only shown claims nothing
    assert found["citation_recall"] == 0.5
    assert (found["abstained_on_unanswerable"], found["abstained_on_answerable"]) == (0.5, 0.5)
    assert (found["unclaimed_on_unanswerable"], found["unclaimed_on_answerable"]) == (1.0, 0.5)
    whole = summary([good, bad, silent, lost])
    assert whole["calibration"]["count"] == 2
    assert whole["latency_ms"]["recall"] == {"p50": 2.0, "p95": 2.0}


@pytest.mark.parametrize(
    ("text", "supported"),
    [
        ("Ann said on 1 January 2025: “I bought a canoe” [{0}].", 1),
        ("Ann said on 1 January 2025: “I bought a boat” [{0}].", 0),
        ("Ann bought a canoe [{0}].", 1),
        ("Ann bought two canoes [{0}].", 0),
        ("Ann did not buy a canoe [{0}].", 0),
        ("Bob bought a canoe [{0}].", 0),
        ("Ann bought a canoe [{0}] [{1}].", 1),
        ("Ann bought a canoe [{0}]. She said: “I sold it” [{0}].", 0),
        ("Ann bought a canoe [exp_2025-01-01T00:00:00Z_000000000009].", 0),
    ],
)
def test_a_citation_supports_what_stands_before_it_or_does_not(text: str, supported: int) -> None:
    exam = read_exams([("a.json", json.dumps(LOCOMO).encode())])[0]
    first, second = (f"exp_2025-01-01T00:00:00Z_00000000000{n}" for n in range(2))
    support = [
        Support(id=first, index=0, text="I bought a canoe.", quote="", when=NOW, speaker="Ann"),
        Support(id=second, index=1, text="It rains.", quote="", when=NOW, speaker="Ann"),
    ]
    asked = QuestionContext(question="What did Ann do?", hits=[], context="", now=NOW, support=support)
    said = text.format(first, second)
    case = Case(0, exam.questions[0], asked, {}, False, {})
    found = judge(exam, case, Composed(text=said, citations=cited(said)))
    assert found.supported == supported
    assert measures([found])["citation_support"] == supported / found.cited


def test_the_regression_finds_what_parts_two_groups() -> None:
    rng = np.random.default_rng(7)
    x = rng.normal(size=(400, 2))
    y = x[:, 0] + 0.1 * rng.normal(size=400) > 0.5
    w = logistic(x, y, np.ones(len(y)))
    p = 1 / (1 + np.exp(-(w[0] + x @ w[1:])))
    assert np.mean((p > 0.5) == y) > 0.95
    assert abs(w[2]) < abs(w[1]) / 10


def _conversation(name: str, one: str, other: str, question: str) -> Exam:
    said = [
        {"dia_id": f"D1:{n}", "speaker": who, "text": "I bought it."} for n, who in enumerate((one, other), 1)
    ]
    talk = {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": said}
    qa = [{"question": question, "answer": "it", "evidence": ["D1:1"], "category": 4}]
    file = {"sample_id": name, "conversation": talk, "qa": qa}
    return read_exams([(f"{name}.json", json.dumps(file).encode())])[0]


def test_what_was_asked_of_another_conversation_names_the_speakers_of_this() -> None:
    exams = [
        _conversation("a", "Ann", "Bob", "What did Bob buy?"),
        _conversation("b", "Uma", "Vic", "Which tree did Uma plant?"),
        msgspec.structs.replace(_conversation("c", "Xe", "Yu", "What did Xe say?"), learnt_from=False),
    ]
    found = [[(gold.text, of) for gold, of in asked_of(exams, at, random.Random(0))] for at in range(3)]
    assert found == [[("Which tree did Ann plant?", 1)], [("What did Vic buy?", 0)], []]
    assert all(not gold.answerable for gold, _ in asked_of(exams, 0, random.Random(0)))


def test_questions_that_were_made_teach_less_than_asked_ones() -> None:
    row = [0.0] * len(SIGNALS)
    high = [1.0, *row[1:]]
    own = [Taught(high, known=True), Taught(row, known=False)] * 20
    strange = [Taught(high, known=False)] * 10
    alone, taught = fit(own, own[:2], []), fit(own, own[:2], strange)
    assert taught.known["mass"] < alone.known["mass"]
    assert 0 < taught.limit <= 1


@pytest.mark.soak
def test_each_conversation_is_judged_by_what_the_others_teach(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = WEIGHTS.read_bytes()
    (tmp_path / "0.json").write_text(json.dumps(conversation("c0", "canoe")))
    with pytest.raises(typer.BadParameter, match="it takes two"):
        fit_known(tmp_path)
    (tmp_path / "1.json").write_text(json.dumps(conversation("c1", "tent")))
    fit_known(tmp_path)
    lines = capsys.readouterr().out.splitlines()
    assert [line[:10].strip() for line in lines] == ["c0", "c1"]
    assert all(" 4 questions" in line for line in lines)
    assert WEIGHTS.read_bytes() == before, "weights are written only where --write says so"


def conversation(name: str, thing: str) -> dict[str, object]:
    """A conversation of two, as LoCoMo has them, with four questions."""
    said = [
        ("Ann", f"I bought a red {thing} in Ghent."), ("Bob", "I study medicine in Porto."),
        ("Ann", "My sister plays the cello."), ("Bob", "It rained for a whole week."),
    ]  # fmt: skip
    turns = [
        {"dia_id": f"D1:{at}", "speaker": speaker, "text": text} for at, (speaker, text) in enumerate(said, 1)
    ]
    asked = [(f"Where did Ann buy the {thing}?", "Ghent", 1), ("What does Bob study?", "medicine", 2)]
    asked.append(("What does Ann's sister play?", "the cello", 3))
    known = [
        {"question": text, "answer": answer, "evidence": [f"D1:{at}"], "category": 4}
        for text, answer, at in asked
    ]
    unknown = {
        "question": "What does Bob's piano cost?",
        "adversarial_answer": "x",
        "evidence": [],
        "category": 5,
    }
    return {
        "sample_id": name,
        "conversation": {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": turns},
        "qa": [*known, unknown],
    }
