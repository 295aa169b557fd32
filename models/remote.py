"""How a model behind HTTP is asked: a limit on time, a few repeats of what may pass, a bound on the answer."""

import json
import time
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from braid.models.wire import ElsewhereError, RefusalError, UnreachedError, Wire
from braid.views.embedder import EmbeddingError, ModelTimeoutError

MAX_ANSWER_BYTES: Final = 256 << 20
_PASSING: Final = frozenset({408, 425, 429, 500, 502, 503, 504, 529})
_LONGEST_WAIT_S: Final = 8.0


class Endpoint:
    """One address that takes and gives JSON. No key is part of any message or of how it is shown."""

    def __init__(
        self,
        url: str,
        *,
        key: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout_s: float = 30.0,
        tries: int = 4,
        sleep: Callable[[float], None] = time.sleep,
        near: bool = False,
        most_bytes: int | None = None,
        errors: tuple[type[Exception], type[Exception]] = (EmbeddingError, ModelTimeoutError),
    ) -> None:
        """`timeout_s` bounds each try; `tries` counts the first. ValueError for no http URL.

        `key` is sent as a bearer's, `headers` as they are. `near`: see `Wire`. `errors`: what is raised when it fails,
        and when it takes too long.
        """
        if urlsplit(url).scheme not in ("http", "https"):
            raise ValueError(f"{url!r} is no http or https address")
        if tries < 1 or timeout_s <= 0:
            raise ValueError("a model is asked at least once, for more than 0 s")
        self.url = url
        sent = {"Content-Type": "application/json", "Accept": "application/json", **(headers or {})}
        if key:
            sent["Authorization"] = f"Bearer {key}"
        self._secrets = [key or "", *(headers or {}).values()]
        self._wire = Wire(url, sent, near=near)
        self._timeout_s = timeout_s
        self._tries = tries
        self._sleep = sleep
        self._most_bytes = most_bytes
        self._failed, self._late = errors

    def post(self, message: Mapping[str, Any], *, within_s: float | None = None) -> Any:
        """Return the JSON that answers; raise one of `errors` once the tries, or the time for all, are used up."""
        data = json.dumps(message).encode()
        end = time.monotonic() + within_s if within_s is not None else None
        for attempt in range(1, self._tries + 1):
            allowed = self._timeout_s if end is None else max(end - time.monotonic(), 0.001)
            try:
                return self._once(data, allowed)
            except RefusalError as error:
                failure, wait = self._refused(error), _named_wait(error.retry_after, attempt)
                if error.code not in _PASSING:
                    raise failure from None
            except TimeoutError:
                failure, wait = self._too_late(within_s), _wait(attempt)
            except UnreachedError as error:
                failure, wait = self._failed(f"{self.url} can't be reached: {error}"), _wait(attempt)
            if attempt == self._tries or (end is not None and time.monotonic() + wait >= end):
                raise failure from None
            self._sleep(wait)
        raise AssertionError  # the loop returns or raises

    def _once(self, data: bytes, timeout_s: float) -> Any:
        most = MAX_ANSWER_BYTES if self._most_bytes is None else self._most_bytes
        try:
            raw = self._wire.post(data, timeout_s, most)
        except ElsewhereError as error:
            raise self._failed(f"{self.url} is not on this machine: {error}; nothing was sent") from None
        if len(raw) > most:
            raise self._failed(f"{self.url}: its answer is larger than {most} bytes")
        try:
            return json.loads(raw)
        except (ValueError, RecursionError) as error:
            raise self._failed(f"{self.url}: its answer is no JSON ({error})") from None

    def _refused(self, error: RefusalError) -> Exception:
        """Return what a server's refusal is told as: its own words, less any key that it repeats."""
        said = error.said
        for secret in filter(None, self._secrets):
            said = said.replace(secret, "…")
        return self._failed(f"{self.url} answered {error}: {said}")

    def _too_late(self, within_s: float | None) -> Exception:
        return self._late(f"{self.url} gave no answer within {within_s or self._timeout_s:g} s")


def _wait(attempt: int) -> float:
    return min(0.25 * 2.0 ** (attempt - 1), _LONGEST_WAIT_S)


def _named_wait(header: str | None, attempt: int) -> float:
    """Return how long to wait: what the server asks for, within reason."""
    try:
        return min(max(float(header or ""), 0.0), _LONGEST_WAIT_S)
    except ValueError:
        return _wait(attempt)
