"""The gate before an embedder that is far away: the ceiling of the settings, placeholders, and the outbound log."""

import sqlite3
from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING

import msgspec

from braid.event_log import current_request, note
from braid.providers.gate import outbound
from braid.providers.outbound import OutboundCall
from braid.providers.policy import refusal_of_host
from braid.session import Session
from braid.settings import settings
from braid.text.redact import Redactor, Terms
from braid.views.embedder import Embedder, EmbeddingError

if TYPE_CHECKING:
    from braid.views.embedder import Vectors

_BYTES_A_TOKEN = 4


class GatedEmbedder:
    """An embedder behind a gate. Implements `Embedder`; its vectors are those of the words as they were sent."""

    remote = True

    def __init__(self, session: Session, embedder: Embedder) -> None:
        self._session = session
        self._embedder = embedder
        self.name = embedder.name
        self.version = embedder.version
        self.dimensions = embedder.dimensions

    def embed(self, texts: Sequence[str]) -> "Vectors":
        """Return what the model gives for these texts, less secrets and terms. Raises EmbeddingError."""
        self._session.refresh()  # another process may have set it
        now = settings(self._session)
        host = getattr(self._embedder, "host", None)
        if (why := refusal_of_host(host, now)) is not None:
            raise EmbeddingError(f"{why}: nothing was sent")
        secrets, terms = Redactor(), Terms(now.redacted_terms)
        sent = [terms.redact(secrets.redact(text)) for text in texts]
        call = self._begun(host, sent, len(secrets.replaced | terms.replaced))
        try:
            number = outbound(self._session).begin(call)
        except (OSError, sqlite3.Error) as error:
            raise EmbeddingError(
                f"what is sent can't be listed ({type(error).__name__}): nothing was sent"
            ) from None
        began, outcome = perf_counter(), "interrupted"
        try:
            found = self._embedder.embed(sent)
            outcome = "ok"
        except EmbeddingError as error:
            outcome = type(error).__name__
            raise
        finally:
            self._end(number, call, outcome, perf_counter() - began)
        return found

    def _begun(self, host: str | None, sent: list[str], placeholders: int) -> OutboundCall:
        bytes_out = sum(len(text.encode(errors="replace")) for text in sent)
        return OutboundCall(
            at=self._session.now(),
            tier="embedder",
            operation="embed",
            provider=str(getattr(self._embedder, "provider", "own")),
            model=self.name,
            host=host,
            remote=True,
            tokens_in=bytes_out // _BYTES_A_TOKEN,
            tokens_out=0,
            bytes_out=bytes_out,
            bytes_in=0,
            placeholders=placeholders,
            ms=0.0,
            outcome="interrupted",
            request_id=current_request(),
        )

    def _end(self, number: int, call: OutboundCall, outcome: str, seconds: float) -> None:
        call = msgspec.structs.replace(call, ms=round(1000 * seconds, 1), outcome=outcome)
        try:
            outbound(self._session).end(number, call)
        except (OSError, sqlite3.Error) as error:
            note("outbound_log_failed", outcome=type(error).__name__)
        note(
            "model_asked",
            operation="embed",
            model=self.name,
            tier="embedder",
            outcome=outcome,
            latency_ms=call.ms,
        )
