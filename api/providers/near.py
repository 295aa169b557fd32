"""Whose embedder is far away gets a gate: loaded when one is first asked, since most stores have none."""

from typing import TYPE_CHECKING

from braid.session import Session

if TYPE_CHECKING:
    from braid.views.embedder import Embedder


def keep_near(session: Session) -> None:
    """Put the gate before the session's embedder, should it be far away."""

    def gated(embedder: "Embedder") -> "Embedder":
        from braid.providers.embedding import GatedEmbedder

        return GatedEmbedder(session, embedder)

    session.embedding_gate = gated
