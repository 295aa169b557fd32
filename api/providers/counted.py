"""A call to a model: put down in the outbound log before it is made, and again when it has ended."""

import logging
import sqlite3
from collections.abc import Sequence
from time import perf_counter
from typing import Final

import msgspec

from braid.event_log import current_request, note
from braid.providers.outbound import FILE, Kind, OutboundCall, outbound
from braid.session import Session

BYTES_A_TOKEN: Final = 4
"""Where a server counts no tokens they are estimated: too many rather than none."""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """Who is asked, for what."""

    tier: Kind
    operation: str
    provider: str
    model: str
    host: str | None
    remote: bool


class CountedCall:
    """A call from before it is made to its end. What dies in between stands as `interrupted`, with all it was sent."""

    def __init__(self, session: Session, asked: Asked, sent: Sequence[str], placeholders: int) -> None:
        """`sent`: what the model will be shown; `placeholders`: how many in it stand for something.

        Raises OSError, sqlite3.Error where it can't be put down: then it is not to be made.
        """
        bytes_out = sum(len(text.encode(errors="replace")) for text in sent)
        self._session = session
        self.call = OutboundCall(
            **msgspec.structs.asdict(asked),
            at=session.now(),
            tokens_in=bytes_out // BYTES_A_TOKEN + 1,
            tokens_out=0,
            bytes_out=bytes_out,
            bytes_in=0,
            placeholders=placeholders,
            ms=0.0,
            outcome="interrupted",
            request_id=current_request(),
        )
        self._id = outbound(session).begin(self.call)
        self._began = perf_counter()

    def end(self, outcome: str, *, tokens_in: int = -1, tokens_out: int = 0, bytes_in: int = 0) -> None:
        """Put down how it has ended, and say so in the log of events. Without `tokens_in` it took what was sent."""
        self.call = msgspec.structs.replace(
            self.call,
            tokens_in=self.call.tokens_in if tokens_in < 0 else tokens_in,
            tokens_out=tokens_out,
            bytes_in=bytes_in,
            ms=round(1000 * (perf_counter() - self._began), 1),
            outcome=outcome,
        )
        try:
            outbound(self._session).end(self._id, self.call)
        except (OSError, sqlite3.Error) as error:
            note("outbound_log_failed", level=logging.ERROR, error=error)
        note(
            "model_asked",
            operation=self.call.operation,
            provider=self.call.provider,
            model=self.call.model,
            tier=self.call.tier,
            outcome=outcome,
            latency_ms=self.call.ms,
            tokens=self.call.tokens_in + self.call.tokens_out,
        )


def uncounted(error: Exception) -> str:
    """Return in plain words why a call is not made that can't be put down."""
    return (
        f"what is sent can't be counted ({type(error).__name__}): nothing was sent; {FILE} in the store's folder may"
        " be deleted, then the day's count begins again"
    )
