"""The weights of a cross-encoder that was written with eight bits, as numbers again: so it can be taught on."""

import re
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

_OF_LAYER: Final = re.compile(r"/m/(?P<path>.+)/MatMul_quant")
_QUANTIZED: Final = "_quantized"


def read_weights(file: Path) -> dict[str, npt.NDArray[np.float32]]:
    """Return what `fit_cross_encoder` has written, by the names that torch has for it.

    Raises ValueError for a file that is no such model.
    """
    onnx: Any = import_module("onnx")
    graph: Any = onnx.load(file).graph
    held = {each.name: onnx.numpy_helper.to_array(each) for each in graph.initializer}
    found: dict[str, Any] = {
        f"encoder.{name[2:]}": array
        for name, array in held.items()
        if name.startswith("m.") and array.dtype == np.float32 and not name.endswith("_scale")
    }
    for name in held:
        if name.startswith("m.") and name.endswith(_QUANTIZED):
            found[f"encoder.{name[2:].removesuffix(_QUANTIZED)}"] = _whole(held, name)
    for node in graph.node:
        if node.op_type != "MatMulInteger":
            continue
        layer = _OF_LAYER.fullmatch(node.name)
        of = f"encoder.{layer['path'].replace('/', '.')}.weight" if layer else "head.weight"
        found[of] = _whole(held, node.input[1]).T
    if "head.weight" not in found or "h.bias" not in held:
        raise ValueError(f"{file} is no cross-encoder that fit_cross_encoder wrote")
    found["head.bias"] = held["h.bias"]
    return {name: np.array(array, dtype=np.float32) for name, array in found.items()}


def _whole(held: dict[str, Any], name: str) -> Any:
    bare = name.removesuffix(_QUANTIZED)
    zero = held[f"{bare}_zero_point"].astype(np.float32)
    return (held[name].astype(np.float32) - zero) * held[f"{bare}_scale"]
