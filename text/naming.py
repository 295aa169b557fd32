"""Whether something says a name: as whole words, however written (`folding`), wherever it stands in a value."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from braid.text.folding import folded, whole
from braid.text.redact import visible


def naming(names: Iterable[str]) -> Callable[[object], bool]:
    """Return what says whether any text in a value of JSON, keys of objects too, has one of these names."""
    said = re.compile("|".join(whole(visible(name)) for name in names))
    return lambda value: any(said.search(folded(visible(text)).text) for text in _texts(value))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, member in value.items():  # pyright: ignore[reportUnknownVariableType]
            yield from _texts(key)  # pyright: ignore[reportUnknownArgumentType]
            yield from _texts(member)  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(value, Sequence):
        for member in value:  # pyright: ignore[reportUnknownVariableType]
            yield from _texts(member)  # pyright: ignore[reportUnknownArgumentType]
