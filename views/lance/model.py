"""Whose vectors a set holds."""

import msgspec

from braid.views.embedder import Embedder


class VectorModel(msgspec.Struct, frozen=True):
    """A model as a set names it. Without one, `name` is empty and every row is pending."""

    name: str = ""
    """Name and version in one."""
    dimensions: int = 1


def model_of(embedder: Embedder | None) -> VectorModel:
    """Return how a set names an embedder."""
    return (
        VectorModel()
        if embedder is None
        else VectorModel(f"{embedder.name}@{embedder.version}", embedder.dimensions)
    )
