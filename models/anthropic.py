"""Anthropic's `/v1/messages`."""

import json
from collections.abc import Callable, Mapping, Sequence
from time import sleep as _sleep
from typing import Any, ClassVar, Final, cast

from braid.models.chat import ChatEndpoint, counted, finish_of, outgoing
from braid.text.chat import Capabilities, ChatError, ChatMessage, Completion

THERE: Final = "https://api.anthropic.com"
VERSION: Final = "2023-06-01"
_TOOL: Final = "answer"


class AnthropicChat:
    """A language model behind Anthropic's interface. JSON of a schema is asked for as the input of a tool."""

    provider: ClassVar[str] = "anthropic"
    capabilities: ClassVar[Capabilities] = Capabilities(structured="tool")

    def __init__(
        self,
        model: str,
        *,
        key: str | None = None,
        url: str = THERE,
        allow_remote: bool = False,
        tries: int = 2,
        sleep: Callable[[float], None] = _sleep,
    ) -> None:
        """Raise ValueError for an address that may not be asked: see `Talk`."""
        self.name = model
        headers = {"anthropic-version": VERSION, **({"x-api-key": key} if key else {})}
        self._talk = ChatEndpoint(
            f"{url.rstrip('/')}/v1/messages",
            headers=headers,
            allow_remote=allow_remote,
            tries=tries,
            sleep=sleep,
        )
        self.remote = self._talk.remote
        self.host = self._talk.host

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int,
        timeout_s: float,
        schema: Mapping[str, Any] | None = None,
    ) -> Completion:
        """Return what the model says; raise ChatError, ChatTimeoutError."""
        sent = outgoing(messages)
        message: dict[str, Any] = {
            "model": self.name,
            "system": "\n\n".join(each["content"] for each in sent if each["role"] == "system"),
            "messages": [each for each in sent if each["role"] != "system"],
            "max_tokens": max_tokens,
        }
        if schema is not None:
            message["tools"] = [{"name": _TOOL, "description": "Gives the answer.", "input_schema": schema}]
            message["tool_choice"] = {"type": "tool", "name": _TOOL}
        answer = self._talk.post(message, timeout_s)
        return Completion(
            text=self._text(answer.get("content")),
            tokens_in=counted(answer, "usage", "input_tokens"),
            tokens_out=counted(answer, "usage", "output_tokens"),
            model=str(answer.get("model") or self.name),
            finish=finish_of(answer.get("stop_reason")),
        )

    def _text(self, content: object) -> str:
        """Return the text of an answer's blocks, or the input that it gave the tool."""
        if not isinstance(content, list):
            raise ChatError(f"{self._talk.url}: its answer holds no content; is it Anthropic's interface?")
        blocks = [
            cast("dict[str, Any]", block)
            for block in cast("list[object]", content)
            if isinstance(block, dict)
        ]
        for block in blocks:
            if block.get("type") == "tool_use" and block.get("name") == _TOOL:
                return json.dumps(block.get("input"), ensure_ascii=False)
        return "".join(str(block.get("text") or "") for block in blocks if block.get("type") == "text")
