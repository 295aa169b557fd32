"""onnxruntime, which runs the packaged networks: loaded late, and without its telemetry.

As soon as a newer version is imported, it writes a device id, queues what it knows of the machine, looks its makers'
collector up, and writes a file of a fixed name into the folder for temporary files: unless the environment forbids it.
"""

import os
from importlib import import_module
from typing import Any, Final

SILENCE: Final = "ORT_DISABLE_TELEMETRY"
"""What the library looks for, once, while it is loaded: it has no other switch that comes early enough."""


def onnxruntime() -> Any:
    """Return the library; raise ImportError where it isn't installed, or misses something."""
    os.environ[SILENCE] = "1"
    return import_module("onnxruntime")


def onnx_session(content: bytes, threads: int) -> Any:
    """Return what runs a network, from the bytes of its file, on `threads` threads of the processor alone."""
    library = onnxruntime()
    options = library.SessionOptions()
    options.intra_op_num_threads = threads
    return library.InferenceSession(content, options, providers=["CPUExecutionProvider"])
