"""A real, tiny graph: its logits are sums over the words of a pair, so that what it says can be worked out by hand."""

import struct
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from braid.learn.gates.consistency import KnownIndex
from braid.learn.gates.gate import judge
from braid.learn.turn import Turn
from braid.models.nli import NliError, OnnxNli
from tests.unit.learn.gates.cases import made

WORDS = ("[PAD]", "[UNK]", "leeds", "ghent", "not")
LOGITS = [(0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 2.0, 0.0), (3.0, 0.0, 0.0), (5.0, 0.0, 0.0)]
"""Of each word: contradiction, entailment, neutral."""


def _varint(value: int) -> bytes:
    out = bytearray()
    while True:
        out.append((value & 0x7F) | (0x80 if value > 0x7F else 0))
        value >>= 7
        if not value:
            return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes | str) -> bytes:
    raw = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(raw)) + raw


def _tensor(name: str, kind: int, dims: Iterable[int], raw: bytes) -> bytes:
    return b"".join(_number(1, one) for one in dims) + _number(2, kind) + _bytes(8, name) + _bytes(9, raw)


def _value(name: str, kind: int, dims: Iterable[str]) -> bytes:
    shape = b"".join(_bytes(1, _bytes(2, one)) for one in dims)
    return _bytes(1, name) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, shape)))


def graph() -> bytes:
    """An ONNX model by hand: logits = the sum over a pair's tokens of the rows of a table."""
    table = _tensor("table", 1, (len(WORDS), 3), struct.pack(f"<{3 * len(WORDS)}f", *np.ravel(LOGITS)))
    axes = _tensor("axes", 7, (1,), struct.pack("<q", 1))
    rows = _bytes(1, "table") + _bytes(1, "input_ids") + _bytes(2, "rows") + _bytes(4, "Gather")
    keep = _bytes(5, _bytes(1, "keepdims") + _number(3, 0) + _number(20, 2))
    summed = _bytes(1, "rows") + _bytes(1, "axes") + _bytes(2, "logits") + _bytes(4, "ReduceSum") + keep
    body = _bytes(1, rows) + _bytes(1, summed) + _bytes(2, "tiny") + _bytes(5, table) + _bytes(5, axes)
    body += _bytes(11, _value("input_ids", 7, ("n", "l"))) + _bytes(
        11, _value("attention_mask", 7, ("n", "l"))
    )
    body += _bytes(12, _value("logits", 1, ("n", "three")))
    return _number(1, 8) + _bytes(7, body) + _bytes(8, _bytes(1, "") + _number(2, 13))


@pytest.fixture
def nli(tmp_path: Path) -> OnnxNli:
    pytest.importorskip("onnxruntime")
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    tokenizer = Tokenizer(models.WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "tiny.onnx").write_bytes(graph())
    return OnnxNli(tmp_path / "tiny.onnx", tmp_path / "tokenizer.json")


def test_it_gives_the_shares_of_its_logits(nli: OnnxNli) -> None:
    entailed, unknown, contradicted = nli.judge([("Leeds", "Leeds"), ("a", "b"), ("Leeds Leeds", "not")])
    assert entailed.entailed == pytest.approx(np.exp(4) / (np.exp(4) + 2))
    assert unknown == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    assert contradicted.contradicted == pytest.approx(np.exp(5) / (np.exp(5) + np.exp(4) + 1))
    assert nli.name.startswith("tiny-")


def test_a_batch_gives_what_each_pair_gives_alone(nli: OnnxNli) -> None:
    pairs = [("Leeds " * at, "not") for at in range(20)]
    assert nli.judge(pairs) == [pytest.approx(nli.judge([pair])[0]) for pair in pairs]
    assert nli.judge([]) == []


@pytest.mark.parametrize(("place", "outcome"), [("Leeds", "kept"), ("Ghent", "contradicted")])
def test_the_gates_ask_it(nli: OnnxNli, place: str, outcome: str) -> None:
    text = f"I live in {place}."
    found = judge([made(text, "user", "lives_in", place)], [Turn(text)], KnownIndex(), {}, nli=nli)
    assert ["kept"] * len(found.kept) + [one.outcome for one in found.refused] == [outcome]


def test_labels_are_each_given_once(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="each once"):
        OnnxNli(tmp_path / "a", tmp_path / "b", ("neutral", "neutral", "entailment"))


def test_a_graph_of_other_figures_is_refused(
    nli: OnnxNli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nli, "_order", [0, 1])
    with pytest.raises(NliError, match="three each"):
        nli.judge([("a", "b")])
