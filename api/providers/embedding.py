"""The gate before an embedder that is far away: the ceiling of the settings, placeholders, and the outbound log."""

import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING

from braid.providers.counted import Asked, CountedCall, uncounted
from braid.providers.policy import refusal_of_host
from braid.session import Session
from braid.settings import settings
from braid.text.redact import Redactor
from braid.text.terms import Terms
from braid.views.embedder import Embedder, EmbeddingError

if TYPE_CHECKING:
    from braid.views.embedder import Vectors


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
        secrets, terms = Redactor(), Terms(now.redacted_terms, texts)
        sent = [terms.redact(secrets.redact(text)) for text in texts]
        asked = Asked(
            tier="embedder",
            operation="embed",
            provider=str(getattr(self._embedder, "provider", "own")),
            model=self.name,
            host=host,
            remote=True,
        )
        try:
            call = CountedCall(self._session, asked, sent, len(secrets.replaced | terms.replaced))
        except (OSError, sqlite3.Error) as error:
            raise EmbeddingError(uncounted(error)) from None
        outcome = "interrupted"
        try:
            found = self._embedder.embed(sent)
            outcome = "ok"
        except EmbeddingError as error:
            outcome = type(error).__name__
            raise
        finally:
            call.end(outcome)
        return found
