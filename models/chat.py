"""What every language model behind HTTP has in common: how far it may be, what may be sent, how its answer is read."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal, cast
from urllib.parse import urlsplit

from braid.models.egress import check, is_near
from braid.models.remote import Endpoint
from braid.text.chat import ChatError, ChatMessage, ChatTimeoutError
from braid.text.redact import Redactor

MAX_ANSWER_BYTES: Final = 4 << 20
"""Some hundred times the longest answer that is asked for."""
_LENGTH: Final = frozenset(("length", "max_tokens", "model_context_window_exceeded"))
_REFUSED: Final = frozenset(("content_filter", "refusal"))


class ChatEndpoint:
    """One address where a language model is asked.

    It is on this machine, or a private address that is written out; any other needs `allow_remote`, and https. No proxy
    stands before one that is near. Raises ValueError for what may not be asked.
    """

    def __init__(
        self,
        url: str,
        *,
        key: str | None = None,
        headers: Mapping[str, str] | None = None,
        allow_remote: bool,
        tries: int,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        check(url, allow_remote=allow_remote)
        self.url = url
        self.remote = not is_near(url)
        self.host = urlsplit(url).hostname or ""
        self._endpoint = Endpoint(
            url,
            key=key,
            headers=headers,
            tries=tries,
            sleep=sleep,
            near=not self.remote,
            most_bytes=MAX_ANSWER_BYTES,
            errors=(ChatError, ChatTimeoutError),
        )

    def post(self, message: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        """Return the JSON object that answers within `timeout_s`; raise ChatError, ChatTimeoutError."""
        answer = self._endpoint.post(message, within_s=timeout_s)
        if not isinstance(answer, dict):
            raise ChatError(f"{self.url}: its answer is no JSON object")
        return cast("dict[str, Any]", answer)


def outgoing(messages: Sequence[ChatMessage]) -> list[dict[str, str]]:
    """Return messages as they are sent. Whoever wrote them: no secret that has a shape leaves here."""
    redactor = Redactor()
    return [{"role": each.role, "content": redactor.redact(each.text)} for each in messages]


def counted(answer: Mapping[str, Any], *path: str) -> int:
    """Return a count of tokens that an answer states, 0 where it states none."""
    found: Any = answer
    for name in path:
        found = cast("dict[str, Any]", found).get(name) if isinstance(found, dict) else None
    return found if isinstance(found, int) and not isinstance(found, bool) and 0 <= found < 1 << 40 else 0


def finish_of(said: object) -> Literal["stop", "length", "refused"]:
    """Return why an answer ended, from the word for it."""
    return "length" if said in _LENGTH else "refused" if said in _REFUSED else "stop"
