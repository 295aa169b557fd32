"""The cross-encoder that comes with Braid: which of some turns answers a question, run by onnxruntime.

MiniLM, six layers, int8, 23 MB, taught by `tools/lab/fit_cross_encoder.py`; the README beside its weights names what it
learned from. Without the extra `answers` there is none, and turns are ordered by features alone.
"""

import atexit
import os
from collections.abc import Callable, Sequence
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from threading import Condition, Lock, Thread
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from braid.models.onnx import CLS, SEP, as_bert_ids
from braid.models.onnx_runtime import onnx_session, onnxruntime
from braid.models.static import FOLDER as VOCABULARY
from braid.models.static import readable
from braid.text.rerank import RerankError

FOLDER: Final = Path(__file__).parent / "data" / "answers-minilm-int8"
WEIGHTS_SHA256: Final = "9fa3b649fe54a66a9c000a7487f3b5981719f9407b69f06be86deca55d73ebb6"
NAME: Final = "answers-minilm-int8"
MOST_TOKENS: Final = 128
"""More of a turn is left out."""
MOST_ASKED: Final = 48
"""More of a question is left out."""
_WAITS_S: Final = 10.0
LEAST_SHARED: Final = 4
"""Fewer texts are read sooner than a thread has begun."""


@cache
def packaged() -> "CrossEncoder | None":
    """Return the packaged model, one for the process, which begins to load with it; None where onnxruntime isn't
    installed.
    """
    if find_spec("onnxruntime") is None:
        return None
    model = CrossEncoder()
    # Most of it is done without Python's lock, and its first caller has other things to do before it asks. No daemon:
    # the program's end waits for what it has begun in C++.
    Thread(target=model.load, name="braid-cross-encoder").start()
    return model


class _Door:
    """Lets threads into the model's C++ until the program ends: one that comes back from there by then is ended within
    frames of C++, which aborts the program."""

    def __init__(self) -> None:
        self.open()

    def open(self) -> None:
        """Begin with nobody within: in a child of a fork no other thread is."""
        self._changed = Condition()
        self._within = 0
        self._closed = False

    def __enter__(self) -> None:
        with self._changed:
            if self._closed:
                raise SystemExit  # of this thread, in silence: no other is left that waits for it
            self._within += 1

    def __exit__(self, *_error: object) -> None:
        with self._changed:
            self._within -= 1
            self._changed.notify_all()

    def close(self) -> None:
        """Let nobody in any longer, and wait for those within: milliseconds each."""
        with self._changed:
            self._closed = True
            self._changed.wait_for(lambda: not self._within, _WAITS_S)


_DOOR: Final = _Door()
os.register_at_fork(after_in_child=_DOOR.open)
os.register_at_fork(after_in_child=packaged.cache_clear)  # another thread may have been loading it


class CrossEncoder:
    """Reads a question and a turn together. Loaded when it is first asked, at the latest; safe to share between
    threads.
    """

    name = f"{NAME}-{WEIGHTS_SHA256[:12]}"

    def __init__(self, folder: Path = FOLDER, threads: int = 1) -> None:
        """`folder`: where `model.onnx` lies."""
        self._weights = folder / "model.onnx"
        self._threads = threads
        self._turn = Lock()
        self._loaded: tuple[Any, Any] | RerankError | None = None

    def load(self) -> None:
        """Load the model, unless that has been done; what it fails by, `scores` raises."""
        with self._turn:
            if self._loaded is None:
                try:
                    self._loaded = self._load()
                except RerankError as error:
                    self._loaded = error

    def scores(self, question: str, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return float64[n]: the log-odds that each text answers, against that nothing does.

        Raises RerankError where the model's file is missing or damaged, or onnxruntime isn't there; that is remembered.
        """
        self.load()
        if self._loaded is None or isinstance(self._loaded, RerankError):
            raise self._loaded or RerankError(f"{self.name} isn't loaded")
        tokenizer, session = self._loaded
        asked, *read = tokenizer.encode_batch(
            [readable(each) for each in (question, *texts)], add_special_tokens=False
        )
        first = [CLS, *as_bert_ids(asked.ids)[:MOST_ASKED], SEP]
        found = _shared(
            [as_bert_ids(one.ids)[: MOST_TOKENS - len(first) - 1] for one in read],
            lambda text: _run(session, first, text),
        )
        if not np.isfinite(found).all():
            raise RerankError(f"{self.name} gave no number")
        return found

    def _load(self) -> tuple[Any, Any]:
        try:
            onnxruntime()
        except ImportError as error:
            raise RerankError(
                f"{error.name} is not installed: `pip install 'braid-store[answers]'`"
            ) from error
        from tokenizers import Tokenizer

        try:
            content = self._weights.read_bytes()
        except OSError as error:
            raise RerankError(f"{self._weights} can't be read ({error.strerror}): reinstall Braid") from error
        if sha256(content).hexdigest() != WEIGHTS_SHA256:
            raise RerankError(f"{self._weights} does not hold the weights of this release: reinstall Braid")
        atexit.unregister(_DOOR.close)
        atexit.register(_DOOR.close)  # now, so that it goes before what the library has registered
        return Tokenizer.from_file(str(VOCABULARY / "tokenizer.json")), onnx_session(content, self._threads)


def _shared(texts: Sequence[Any], run: Callable[[Any], float]) -> npt.NDArray[np.float64]:
    """Return what `run` makes of each text, each by itself: eight bits are scaled by all that is run at once, and a
    score must hang on no other text. Where there is another core, two threads take the longest that is left, each
    whenever it is done with one.
    """
    found = np.full(len(texts), np.nan)
    failed: list[Exception] = []
    left = iter(sorted(range(len(texts)), key=lambda at: -len(texts[at])))  # of a list: safe to share

    def take() -> None:
        try:
            for at in left:
                found[at] = run(texts[at])
        except Exception as error:  # of another thread: raised in the one that asked
            failed.append(error)

    if len(texts) < LEAST_SHARED or (os.cpu_count() or 1) == 1:
        take()
    else:
        # A thread of this call alone, no pool: a pool would stand without its threads behind a fork. No daemon: the
        # end of the program waits for it, as for one that is reading.
        beside = Thread(target=take, name="braid-cross-encoder")
        beside.start()
        take()
        beside.join()
    if failed:
        raise failed[0]
    return found


def _run(session: Any, asked: Sequence[int], text: Any) -> float:
    """Return the figure of a question and a text, in tokens."""
    ids = np.array([[*asked, *text, SEP]], dtype=np.int64)
    kinds = np.array([[0] * len(asked) + [1] * (len(text) + 1)], dtype=np.int64)
    given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": kinds}
    with _DOOR:
        return float(session.run(None, given)[0][0])
