"""Which known entities a model is told of: those that the talk may mean, and those that are spoken of most. Pure."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from braid.learn.candidate import KnownEntity
from braid.views.embedder import Embedder, EmbeddingError, embedded

BY_SIMILARITY: Final = 50
BY_FREQUENCY: Final = 20
MOST_COMPARED: Final = 5_000
"""So many entities, the most spoken of, are compared with the talk."""


def chosen(
    entities: Sequence[KnownEntity], talk: Sequence[str], embedder: Embedder | None
) -> list[KnownEntity]:
    """Return 50 entities by similarity to any turn of a talk and the 20 spoken of most, each once (ADR-0013 §7).

    Without an embedder, or with one that fails, those named in the talk take the place of the similar ones.
    """
    often = sorted(entities, key=lambda one: (-one.mentions, one.name))
    compared = often[:MOST_COMPARED]
    near = _named(compared, talk)[:BY_SIMILARITY]
    if embedder is not None and compared and talk:
        with suppress(EmbeddingError):
            near = _similar(compared, talk, embedder)
    return list({one.name: one for one in (*near, *often[:BY_FREQUENCY])}.values())


def _similar(entities: Sequence[KnownEntity], talk: Sequence[str], embedder: Embedder) -> list[KnownEntity]:
    if len(entities) <= BY_SIMILARITY:
        return list(entities)
    names = embedded(embedder, [", ".join((one.name, *one.aliases)) for one in entities])
    best = (names @ embedded(embedder, talk).T).max(axis=1)
    return [entities[at] for at in (-best).argsort(kind="stable")[:BY_SIMILARITY]]


def _named(entities: Sequence[KnownEntity], talk: Sequence[str]) -> list[KnownEntity]:
    said = " ".join(talk).casefold()
    return [
        one for one in entities if any(name.casefold() in said for name in (one.name, *one.aliases) if name)
    ]
