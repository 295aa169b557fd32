"""The gold tasks: the files are what the seed and the examples say, verdicts and figures by hand, baselines."""

import json
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from braid.tools.gold.command import Measured
from braid.tools.gold.judge import Given, Judged, judge, words
from braid.tools.gold.scores import by_class, scores
from braid.tools.gold.tasks import CLASSES, DATA, Gold, Task, load
from braid.tools.lab.gold import baseline
from braid.tools.lab.gold.baseline import Baseline, baseline_of, compare, told
from braid.tools.lab.gold.command import INPUTS
from braid.tools.lab.gold.generate import generate
from braid.tools.lab.gold.report import BEGIN, END, fill

ROOT = Path(__file__).parents[3]
GOLD = load()


def given(**but: Any) -> Given:
    usual: dict[str, Any] = {
        "text": "Ann said: “I live in Ghent now”.",
        "short": "Ghent",
        "p": 0.9,
        "abstained": False,
        "cited": ("t1",),
        "held": "Ann lives in Ghent",
        "undecided": False,
        "manner": "tone warm; unhurried; about 18 words a sentence; hedge seldom",
        "tokens": (0, 0),
        "ms": 10.0,
    }
    return Given(**usual | but)


SILENT = given(text="I don't know.", short="", p=0.2, abstained=True, cited=(), held=None)


def asked(**but: Any) -> Task:
    usual: dict[str, Any] = {
        "id": "changed-fact-1", "part": "dev", "history": "h", "question": "Where does Ann live?",
        "answer": "Ghent", "never": ("Porto",), "evidence": (("t1", "t2"),), "stance": "lives in Ghent",
        "kind": "changed-fact",
    }  # fmt: skip
    return Task(**usual | but)


def test_there_are_200_tasks_in_thirteen_classes_half_of_them_held() -> None:
    assert len(GOLD.tasks) == 200
    assert Counter(task.part for task in GOLD.tasks) == {"dev": 100, "held": 100}
    found = Counter((task.kind, task.part) for task in GOLD.tasks)
    assert {kind for kind, _ in found} == set(CLASSES)
    assert min(found.values()) >= 6
    assert len({task.question for task in GOLD.tasks}) > 190


def test_the_seed_gives_the_generated_files_byte_for_byte() -> None:
    made = generate()
    assert len(made) == 16
    for name, content in made.items():
        assert (DATA / name).read_bytes() == content, f"{name}: python -m braid.tools.lab.gold.generate"
    assert generate(seed=7) != made


@pytest.mark.parametrize("name", ["two-friends", "assistant", "shop-owner"])
def test_the_examples_are_the_ones_of_the_examples(name: str) -> None:
    assert (DATA / "histories" / f"{name}.jsonl").read_bytes() == (
        ROOT / "examples" / f"{name}.jsonl"
    ).read_bytes()


def write(folder: Path, *tasks: dict[str, Any], kind: str = "single-fact") -> Path:
    (folder / "tasks").mkdir()
    (folder / "histories").mkdir()
    lines = "\n".join(json.dumps(task) for task in tasks)
    (folder / "tasks" / f"{kind}.jsonl").write_text(lines, encoding="utf-8")
    turn = {"id": "t1", "role": "user", "content": "I live in Ghent."}
    (folder / "histories" / "h.jsonl").write_text(json.dumps(turn), encoding="utf-8")
    return folder


ONE = {
    "id": "a", "part": "dev", "history": "h", "question": "Where?", "answer": "Ghent",
    "evidence": [["t1"]], "stance": "none",
}  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"evidence": [["t9"]]}, "its evidence is not in h: t9"),
        ({"evidence": []}, "no turn to rest it on"),
        ({"evidence": [["t1"], []]}, "an empty group"),
        ({"accept": [[]]}, "an empty group"),
        ({"at": "2025-01-01T00:00:00"}, "no time zone"),
        ({"question": " "}, "a task asks something"),
        ({"part": "seen"}, r"single-fact\.jsonl:1: "),
        ({"colour": "red"}, "unknown field `colour`"),
        ({"kind": "tone"}, "class is the name of its file"),
        ({"history": "g"}, "g: tasks are asked of this history"),
        ({"then": "why"}, r"single-fact\.jsonl:1: "),
    ],
)
def test_a_task_that_does_not_hold_is_refused(tmp_path: Path, changed: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        load(write(tmp_path, ONE | changed))


def test_an_id_stands_once(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="a: two tasks have this id"):
        load(write(tmp_path, ONE, ONE))


def test_words_are_compared_and_not_spelling() -> None:
    assert words("£54.00, that’s 1,180 – INV-2034!") == ["54", "that's", "1180", "inv", "2034"]
    assert words("1.6% at 9:15") == ["1.6", "at", "9:15"]
    assert words("1,2 and 3") == ["1,2", "and", "3"]


@pytest.mark.parametrize(
    ("task", "answer", "verdict"),
    [
        ({}, {}, "right"),
        ({}, {"short": "Porto", "text": "In Porto, not in Ghent."}, "wrong"),
        ({}, {"text": "In Leeds.", "short": "Leeds"}, "wrong"),
        ({}, {"p": 0.3}, "pointed"),
        ({}, {"p": 0.3, "text": "In Leeds.", "short": "Leeds"}, "silent"),
        ({}, {"p": 0.3, "model": "m"}, "right"),
        ({"accept": (("Ghent", "Gent"), ("now",))}, {}, "right"),
        ({"accept": (("Ghent",), ("Belgium",))}, {}, "wrong"),
        ({"accept": (("no",),)}, {"text": "There is no doubt: Ghent."}, "wrong"),
        ({"accept": (("no",),)}, {"short": "no"}, "right"),
        ({"answer": None, "never": ()}, {}, "wrong"),
        ({"answer": None, "never": ()}, {"p": 0.39}, "right"),
        ({"answer": None, "never": (), "accept": (("Ghent",),)}, {}, "right"),
        ({"manner": "warm"}, {}, "right"),
        ({"manner": "not warm"}, {}, "wrong"),
        ({"manner": "urgent"}, {}, "wrong"),
        ({"manner": "not urgent"}, {}, "right"),
        ({"then": "how", "accept": (("Ann",),)}, {"p": 0.1}, "right"),
        ({"then": "how", "accept": (("Bob",),)}, {}, "wrong"),
    ],
)
def test_verdicts(task: dict[str, Any], answer: dict[str, Any], verdict: str) -> None:
    assert judge(asked(**task), given(**answer)).verdict == verdict


def test_silence_is_right_only_where_there_is_nothing_to_say() -> None:
    assert judge(asked(), SILENT).verdict == "silent"
    assert judge(asked(answer=None, never=()), SILENT).verdict == "right"
    assert judge(asked(then="how", accept=(("Ann",),)), SILENT).verdict == "silent"


@pytest.mark.parametrize(
    ("stance", "held", "undecided", "stood"),
    [
        ("lives in Ghent", "Ann lives in Ghent", False, "as expected"),
        ("lives in Ghent", "Ann does not live in Ghent", False, "other"),
        ("lives in Ghent", None, True, "nothing held"),
        ("none", None, False, "as expected"),
        ("none", "Ann lives in Ghent", False, "other"),
        ("undecided", None, True, "as expected"),
        ("undecided", None, False, "nothing held"),
        ("undecided", "Ann lives in Ghent", False, "other"),
    ],
)
def test_what_is_held_is_judged_apart(stance: str, held: str | None, undecided: bool, stood: str) -> None:
    assert judge(asked(stance=stance), given(held=held, undecided=undecided)).stance == stood


def some() -> list[Judged]:
    two = asked(id="changed-fact-2", evidence=(("t1",), ("t3",)))
    nothing = asked(id="unanswerable-1", kind="unanswerable", answer=None, never=(), evidence=())
    return [
        judge(asked(), given()),
        judge(two, given(short="Porto", p=0.7, cited=("t1", "t9"), tokens=(100, 20), ms=30.0)),
        judge(nothing, given(p=0.5, cited=("t9",), held=None, ms=20.0)),
        judge(msgspec.structs.replace(two, id="changed-fact-3"), SILENT),
    ]


def test_figures_by_hand() -> None:
    found = scores(some())
    assert (found.tasks, found.right, found.wrong, found.silent, found.pointed) == (4, 1, 2, 1, 0)
    assert (found.accuracy, found.citation_precision, found.citation_recall) == (0.25, 0.5, 0.4)
    assert (found.stance, found.stance_other) == (0.5, 0.0)
    # .9 right, .7 wrong, .5 wrong, each in a bin of its own
    assert found.ece == pytest.approx((0.1 + 0.7 + 0.5) / 3, abs=1e-4)
    assert found.brier == pytest.approx((0.01 + 0.49 + 0.25) / 3, abs=1e-4)
    assert found.uncertainty_right == pytest.approx(0.1)
    assert found.uncertainty_wrong == pytest.approx(0.4)
    assert (found.tokens_in, found.tokens_out, found.p50_ms, found.p95_ms) == (25.0, 5.0, 20.0, 30.0)
    assert list(by_class(some())) == ["changed-fact", "unanswerable", "all"]
    assert scores([judge(asked(), SILENT)]).ece is None


def both(judged: Sequence[Judged]) -> list[Judged]:
    """The answers, and the same again as held ones."""
    return [*judged, *(msgspec.structs.replace(one, id=f"h-{one.id}", part="held") for one in judged)]


def test_a_baseline_keeps_no_verdict_of_the_held_part() -> None:
    kept = baseline_of(both(some()))
    assert kept.verdicts == {
        "changed-fact-1": "right", "changed-fact-2": "wrong", "unanswerable-1": "wrong", "changed-fact-3": "silent",
    }  # fmt: skip
    assert kept.held == {"changed-fact": 1, "unanswerable": 0}
    assert kept.measures["held"]["accuracy"] == 0.25
    raw = baseline.encode(kept)
    assert b"h-" not in raw
    assert baseline.decode(raw) == kept
    with pytest.raises(ValueError, match="a baseline holds all tasks"):
        baseline_of(some())
    for broken in (b"{", b"{}", b'{"verdicts": {}, "held": {}, "measures": {}, "x": 1}'):
        with pytest.raises(ValueError, match="it is no baseline"):
            baseline.decode(broken)


def test_a_fall_beyond_the_band_is_told_and_one_within_is_not_held_against_it() -> None:
    kept = baseline_of(both(some()))
    first, *rest = both(some())
    assert compare(kept, both(some()), whole=("dev", "held")).fell == []
    lost = [msgspec.structs.replace(first, verdict="wrong"), *rest]
    found = compare(kept, lost, whole=("dev", "held"))
    assert found.lost == [("changed-fact-1", "right", "wrong")]
    assert found.fell == [("dev", "accuracy", 0.25, 0.0)]
    assert [line[0] for line in told(found)] == ["-", "!"]
    assert compare(kept, lost, whole=()).fell == []
    held = [*rest[:3], msgspec.structs.replace(rest[3], verdict="silent"), *rest[4:]]
    shown = told(compare(kept, [first, *held], whole=("held",)))
    assert shown[0] == "- held, changed-fact: 1 → 0 right"
    assert not any("h-changed" in line for line in shown)
    near = Baseline(kept.verdicts, kept.held, {"dev": {"accuracy": 0.28, "ece": 0.41}})
    assert compare(near, some(), whole=("dev",)).fell == []
    sure = Baseline(kept.verdicts, kept.held, {"dev": {"ece": 0.4}})
    assert [name for _, name, _, _ in compare(sure, some(), whole=("dev",)).fell] == ["ece"]
    new = msgspec.structs.replace(first, id="changed-fact-9")
    assert compare(kept, [new], whole=()).unknown == ["changed-fact-9"]


def test_the_packaged_baseline_is_of_the_packaged_tasks() -> None:
    kept = baseline.decode((INPUTS / baseline.NAME).read_bytes())
    assert set(kept.verdicts) == {task.id for task in GOLD.tasks if task.part == "dev"}
    assert set(kept.held) == set(CLASSES)
    right = sum(verdict == "right" for verdict in kept.verdicts.values())
    assert kept.measures["dev"]["accuracy"] == right / 100
    assert kept.measures["held"]["accuracy"] == sum(kept.held.values()) / 100


def test_a_report_lists_failures_of_the_development_half_alone(tmp_path: Path) -> None:
    page = tmp_path / "gold.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", encoding="utf-8")
    judged = both(some())
    tasks = [asked(id=one.id, question="Who <b>|</b> `is` it?", kind=one.kind) for one in judged]
    measured = Measured(judged=judged, tasks="sha256:0", model=None, filling_s=1.0)
    fill(page, Gold(tasks, {}), measured, datetime(2025, 1, 2, tzinfo=UTC))
    text = page.read_text(encoding="utf-8")
    assert text.startswith(f"before\n{BEGIN}\n2025-01-02, no model, on ")
    assert text.endswith(f"{END}\nafter\n")
    assert "\nold\n" not in text
    assert "| changed-fact | 6 | 1 of 3 | 1 of 3 |" in text
    assert "3 of 4 in the development half" in text
    assert "h-changed" not in text
    assert "Who &lt;b>\\|&lt;/b> ’is’ it?" in text
    drawn = (tmp_path / "gold.svg").read_text(encoding="utf-8")
    assert "<svg" in drawn
    page.write_text("no markers", encoding="utf-8")
    with pytest.raises(ValueError, match="has no place for the results"):
        fill(page, Gold(tasks, {}), measured)
