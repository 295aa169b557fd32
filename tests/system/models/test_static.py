"""The packaged model: its vectors are those of model2vec, bit for bit, and it loads without that package."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from braid.models.static import FOLDER, MOST_CHARS, MOST_TOKENS, StaticEmbedder, _load, readable
from braid.views.embedder import EmbeddingError, checked

OURS = StaticEmbedder()
HARD = [
    "Maya moved to Porto.",
    "Where does Maya live?",
    "",
    "   \n\t ",
    "[UNK] [PAD] [CLS] and what is none: \ue000",
    "Ça va? Ångström, ÉCOLE, ﬁne, e\u0301",
    "日本語 テスト 한국어 שלום مرحبا",
    "😀 👩‍👩‍👧 🇵🇹",
    "\x00\x07\u200b\ufeff\u202e",
    "half of a pair: \ud83d",
    "unbelievablyextraordinarilylongword" * 5,
    "a" * 101,
    "tea " * 600,
    "word, " * 2_000,
    "x" * (MOST_CHARS - 1) + " y z",
]


@pytest.fixture(scope="module")
def theirs() -> Any:
    from model2vec import StaticModel

    return StaticModel.from_pretrained(FOLDER, force_download=False)


def told(theirs: Any, texts: list[str]) -> Any:
    """What the embedder made of them when model2vec ran the model."""
    found = np.empty((len(texts), theirs.dim), dtype=np.float32)
    found[:] = theirs.encode([readable(text) for text in texts], use_multiprocessing=False, batch_size=1024)
    found[~found.any(axis=1)] = 1.0
    return checked(found, len(texts), theirs.dim, "theirs")


def test_the_vectors_are_those_of_model2vec(theirs: Any) -> None:
    assert (theirs.max_length, theirs.max_length * theirs.median_token_length) == (MOST_TOKENS, MOST_CHARS)
    assert theirs.normalize
    assert OURS.embed(HARD).tobytes() == told(theirs, HARD).tobytes()
    for text in HARD:
        assert OURS.embed([text]).tobytes() == told(theirs, [text]).tobytes(), text


@given(texts=st.lists(st.text(max_size=80), min_size=1, max_size=12))
def test_the_vectors_of_any_texts_are_those_of_model2vec(theirs: Any, texts: list[str]) -> None:
    assert OURS.embed(texts).tobytes() == told(theirs, texts).tobytes()


def test_a_batch_changes_no_vector() -> None:
    texts = [f"note {n} " * (n % 9) for n in range(2_500)]
    whole = OURS.embed(texts)
    assert whole[2_400].tobytes() == OURS.embed([texts[2_400]])[0].tobytes()


def test_a_text_without_a_known_token_has_the_direction_of_none() -> None:
    nothing = OURS.embed(["", "\ue000"])
    assert np.array_equal(nothing[0], nothing[1])
    assert np.allclose(nothing, 1 / 16)


def test_it_loads_without_model2vec() -> None:
    code = (
        "import sys; from braid.models.static import StaticEmbedder; StaticEmbedder().embed(['tea']);"
        "print(*{'model2vec', 'huggingface_hub', 'safetensors', 'joblib', 'tqdm'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize("harm", ["no tensors", "torn", "no tokens", "another model"])
def test_files_that_cannot_be_read_are_told(tmp_path: Path, harm: str) -> None:
    folder = tmp_path / "model"
    shutil.copytree(FOLDER, folder)
    tensors = folder / "model.safetensors"
    match harm:
        case "no tensors":
            tensors.unlink()
        case "torn":
            tensors.write_bytes(tensors.read_bytes()[:-1])
        case "no tokens":
            (folder / "tokenizer.json").write_text("{}")
        case _:
            data = tensors.read_bytes()
            tensors.write_bytes(data.replace(b"[29525,256]", b"[59050,128]"))
    with pytest.raises(EmbeddingError, match="128 dimensions" if harm == "another model" else "reinstall"):
        _load(folder)
