"""The packaged cross-encoder: what it finds, what it refuses, and that it is the same for everybody."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from braid.models import cross_encoder
from braid.models.cross_encoder import FOLDER, CrossEncoder, packaged
from braid.text.rerank import RerankError

TURNS = (
    "Maya: I finally signed the lease, we move to Porto on 3 May.",
    "Jonas: The plumber wants £180 for the boiler.",
    "Maya: My sister's flat is in Lisbon, mine is not.",
    "Jonas: Lovely weather today.",
)


@pytest.fixture(scope="module")
def model() -> CrossEncoder:
    found = packaged()
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ("what will fixing the heating cost?", 1),
        ("When do we move?", 0),
        ("where does my sister live", 2),
    ],
)
def test_the_turn_that_answers_is_likeliest(model: CrossEncoder, question: str, place: int) -> None:
    assert int(np.argmax(model.scores(question, TURNS))) == place


def test_where_nothing_answers_nothing_is_likely(model: CrossEncoder) -> None:
    assert model.scores("Which instrument does my father play?", TURNS).max() < 0


def test_a_score_hangs_on_no_other_text(model: CrossEncoder) -> None:
    alone = [float(model.scores("When do we move?", [turn])[0]) for turn in TURNS]
    np.testing.assert_array_equal(model.scores("When do we move?", TURNS), alone)


@pytest.mark.parametrize("text", ["", "\x00", "é" * 4000, "a " * 5000, "\U0001d56c" * 300, "[SEP] [CLS]"])
def test_any_text_gets_a_number(model: CrossEncoder, text: str) -> None:
    assert np.isfinite(model.scores(text, [text, "yes"])).all()


def test_no_texts_get_no_numbers(model: CrossEncoder) -> None:
    assert model.scores("When?", []).shape == (0,)


def test_threads_get_what_one_gets(model: CrossEncoder) -> None:
    one = model.scores("When do we move?", TURNS)
    with ThreadPoolExecutor(4) as threads:
        for found in threads.map(lambda _: model.scores("When do we move?", TURNS), range(12)):
            np.testing.assert_array_equal(found, one)


def test_one_core_and_two_find_the_same(model: CrossEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    many = TURNS * 4
    both = model.scores("When do we move?", many)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    monkeypatch.setattr(cross_encoder, "Thread", None)
    np.testing.assert_array_equal(model.scores("When do we move?", many), both)


@pytest.mark.parametrize("fails_at", [0, 1])
def test_a_failure_in_either_thread_is_the_callers(
    model: CrossEncoder, monkeypatch: pytest.MonkeyPatch, fails_at: int
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    alone, failing = threading.get_ident(), cross_encoder._run

    def run(*given: Any) -> float:
        if (threading.get_ident() == alone) == (fails_at == 0):
            raise MemoryError("no room")
        return failing(*given)

    monkeypatch.setattr(cross_encoder, "_run", run)
    with pytest.raises(MemoryError, match="no room"):
        model.scores("When do we move?", TURNS)


@pytest.mark.soak
def test_a_program_may_end_while_another_of_its_threads_reads(tmp_path: Path) -> None:
    (tmp_path / "ends.py").write_text(
        "from threading import Thread\n"
        "from braid.models.cross_encoder import packaged\n"
        "model = packaged()\n"
        "model.load()\n"
        "Thread(target=model.scores, args=('When?', ['We move on 3 May.'] * 60), daemon=True).start()\n"
    )
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-X", "faulthandler", tmp_path / "ends.py"],
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")


def test_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes((FOLDER / "model.onnx").read_bytes()[:-1] + b"x")
    with pytest.raises(RerankError, match="does not hold the weights of this release"):
        CrossEncoder(tmp_path).scores("When?", TURNS)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(RerankError, match=r"model\.onnx can't be read"):
        CrossEncoder(tmp_path).scores("When?", TURNS)


def test_without_onnxruntime_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cross_encoder, "find_spec", lambda _name: None)
    packaged.cache_clear()
    try:
        assert packaged() is None
    finally:
        packaged.cache_clear()
