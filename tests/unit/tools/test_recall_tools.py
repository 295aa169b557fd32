"""Fitting and ablation at a tiny size: the weights of a made-up conversation, its stages switched off one by one."""

import json
from pathlib import Path

import pytest

from braid.models.static import StaticEmbedder
from braid.recall.decompose import decompose
from braid.recall.rank import WEIGHTS, weights
from braid.recall.samples import read
from braid.recall.vocabulary import Vocabulary
from braid.tools.lab import ablate_recall, fit_recall
from tests.unit.recall.scene import NOW, SAID


def document(name: str) -> dict[str, object]:
    turns = [
        {"dia_id": f"D1:{place}", "speaker": speaker, "text": text}
        for place, (speaker, _, text) in enumerate(SAID, 1)
    ]
    asked = [("Where did Maya move?", 1), ("What is the cat called?", 3), ("Which wrist did Owen break?", 5)]
    return {
        "sample_id": name,
        "conversation": {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": turns},
        "qa": [{"question": text, "evidence": [f"D1:{at}"], "category": 4} for text, at in asked],
    }


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("one", "two"):
        (tmp_path / f"{name}.json").write_text(json.dumps(document(name)))
    monkeypatch.setattr(fit_recall, "STEPS", 20)
    return tmp_path


def test_every_signal_that_is_fitted_belongs_to_one_stage() -> None:
    of_stages = [ablate_recall.signals_of(stage) for stage in ablate_recall.STAGES]
    assert frozenset().union(*of_stages) == set(weights().fitted)
    assert all(of_stages)


def test_a_fit_ranks_what_it_has_learnt_from() -> None:
    embedder = StaticEmbedder()
    (sample,) = read("locomo", json.dumps(document("one")).encode())
    made = fit_recall.cases(sample, embedder, Vocabulary(embedder))
    answered = fit_recall.judge(made, fit_recall.fit(made))
    assert [one.turn["recall@1"] for one in answered] == [1.0, 1.0, 1.0]


def test_stages_are_switched_off_one_by_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    picture = folder / "stages.svg"
    monkeypatch.setattr("sys.argv", ["ablate", str(folder), "--plot", str(picture)])
    ablate_recall.main()
    lines = capsys.readouterr().out.splitlines()
    named = [line.split("|")[1].strip() for line in lines[2:]]
    assert named == [
        "(everything there)", *ablate_recall.STAGES, *ablate_recall.TAKEN_APART, "learning: weights by hand"
    ]  # fmt: skip
    assert picture.read_text().count("entity expansion") >= 1
    assert decompose("Did Maya move last May?", NOW).entities
    assert not ablate_recall.reading_less({"entities": ()})("Did Maya move?", NOW).entities


def test_the_table_of_left_out_conversations(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = WEIGHTS.read_bytes()
    fit_recall.main(folder)
    shown = capsys.readouterr().out
    lines = {line[:20].strip(): line for line in shown.splitlines()}
    assert {"one", "two", "left out", "(1-4)", "category 4", "locomo, as shipped", "locomo, BM25"} <= set(
        lines
    )
    assert " R@1 1.000 " in lines["by itself"], (
        "what a conversation taught itself ranks its own answers first"
    )
    assert all(name in shown for name in weights().fitted)
    assert WEIGHTS.read_bytes() == before, "weights are written only where --write says so"
