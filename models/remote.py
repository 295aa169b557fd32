"""How a model behind HTTP is asked: a limit on time, a few repeats of what may pass, a bound on the answer.

urllib only: one POST of JSON needs no client library. A redirect is refused, since it would carry the key elsewhere.
"""

import json
import time
from collections.abc import Callable, Mapping
from http.client import HTTPException
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, Request, build_opener

from braid.views.embedder import EmbeddingError, ModelTimeoutError

MAX_ANSWER_BYTES: Final = 256 << 20
_PASSING: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_LONGEST_WAIT_S: Final = 8.0


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(  # noqa: PLR0917 - as urllib calls it
        self, req: Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> None:
        del req, fp, code, msg, headers, newurl


class Endpoint:
    """One address that takes and gives JSON."""

    def __init__(
        self,
        url: str,
        *,
        key: str | None = None,
        timeout_s: float = 30.0,
        tries: int = 4,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`timeout_s` bounds each wait on the connection; `tries` counts the first. ValueError for no http URL."""
        if urlsplit(url).scheme not in ("http", "https"):
            raise ValueError(f"{url!r} is no http or https address")
        if tries < 1 or timeout_s <= 0:
            raise ValueError("a model is asked at least once, for more than 0 s")
        self.url = url
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"
        self._timeout_s = timeout_s
        self._tries = tries
        self._sleep = sleep
        self._opener: OpenerDirector = build_opener(_NoRedirect)

    def post(self, message: Mapping[str, Any]) -> Any:
        """Return the JSON that answers; raise ModelTimeoutError or EmbeddingError once the tries are used up."""
        data = json.dumps(message).encode()
        for attempt in range(1, self._tries + 1):
            try:
                return self._once(data)
            except HTTPError as error:
                with error:
                    said = error.read(300).decode("utf-8", "replace")
                failure: EmbeddingError = EmbeddingError(
                    f"{self.url} answered {error.code} {error.reason}: {said}"
                )
                wait = _named_wait(error.headers.get("Retry-After"), attempt)
                if error.code not in _PASSING:
                    raise failure from None
            except TimeoutError:
                failure = ModelTimeoutError(f"{self.url} gave no answer within {self._timeout_s:g} s")
                wait = _wait(attempt)
            except (URLError, HTTPException, ConnectionError) as error:
                why = getattr(error, "reason", error)
                if isinstance(why, TimeoutError):
                    failure = ModelTimeoutError(f"{self.url} gave no answer within {self._timeout_s:g} s")
                else:
                    failure = EmbeddingError(f"{self.url} can't be reached: {why}")
                wait = _wait(attempt)
            if attempt == self._tries:
                raise failure from None
            self._sleep(wait)
        raise AssertionError  # the loop returns or raises

    def _once(self, data: bytes) -> Any:
        request = Request(self.url, data, self._headers, method="POST")  # noqa: S310 - http and https only, see __init__
        with self._opener.open(request, timeout=self._timeout_s) as answer:
            raw = answer.read(MAX_ANSWER_BYTES + 1)
        if len(raw) > MAX_ANSWER_BYTES:
            raise EmbeddingError(f"{self.url}: its answer is larger than {MAX_ANSWER_BYTES} bytes")
        try:
            return json.loads(raw)
        except (
            ValueError
        ) as error:  # RecursionError of a hostile nesting is none, and ends the call as it should
            raise EmbeddingError(f"{self.url}: its answer is no JSON ({error})") from None


def _wait(attempt: int) -> float:
    return min(0.25 * 2.0 ** (attempt - 1), _LONGEST_WAIT_S)


def _named_wait(header: str | None, attempt: int) -> float:
    """Return how long to wait: what the server asks for, within reason."""
    try:
        return min(max(float(header or ""), 0.0), _LONGEST_WAIT_S)
    except ValueError:
        return _wait(attempt)
