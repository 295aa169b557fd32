"""The weights of a cross-encoder that was written with eight bits, as numbers again: so it can be taught on."""

import re
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

# The packaged model calls its encoder `m` and its head `h`; what is written now has them in full.
_OF_LAYER: Final = re.compile(r"/(?:m|encoder)/(?P<path>.+)/MatMul_quant")
_OF_ENCODER: Final = re.compile(r"(?:m|encoder)\.(?P<path>.+)")
_BIASES: Final = ("h.bias", "head.bias")
_QUANTIZED: Final = "_quantized"


def read_weights(file: Path) -> dict[str, npt.NDArray[np.float32]]:
    """Return what `fit_cross_encoder` has written, by the names that torch has for it.

    Raises ValueError for a file that is no such model.
    """
    onnx: Any = import_module("onnx")
    graph: Any = onnx.load(file).graph
    held = {each.name: onnx.numpy_helper.to_array(each) for each in graph.initializer}
    found: dict[str, Any] = {}
    for name, array in held.items():
        if (own := _OF_ENCODER.fullmatch(name)) is None:
            continue
        if name.endswith(_QUANTIZED):
            found[f"encoder.{own['path'].removesuffix(_QUANTIZED)}"] = _whole(held, name)
        elif array.dtype == np.float32 and not name.endswith("_scale"):
            found[f"encoder.{own['path']}"] = array
    for node in graph.node:
        if node.op_type != "MatMulInteger":
            continue
        layer = _OF_LAYER.fullmatch(node.name)
        of = f"encoder.{layer['path'].replace('/', '.')}.weight" if layer else "head.weight"
        found[of] = _whole(held, node.input[1]).T
    bias = next((held[name] for name in _BIASES if name in held), None)
    if bias is None or "head.weight" not in found:
        raise ValueError(f"{file} is no cross-encoder that fit_cross_encoder wrote")
    found["head.bias"] = bias
    return {name: np.array(array, dtype=np.float32) for name, array in found.items()}


def _whole(held: dict[str, Any], name: str) -> Any:
    bare = name.removesuffix(_QUANTIZED)
    zero = held[f"{bare}_zero_point"].astype(np.float32)
    return (held[name].astype(np.float32) - zero) * held[f"{bare}_scale"]
