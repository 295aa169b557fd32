"""Whether something says a name: as whole words, in whatever case and Unicode form, wherever it stands in a value."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from unicodedata import normalize


def naming(names: Iterable[str]) -> Callable[[object], bool]:
    """Return what says whether any text in a value of JSON, keys of objects too, has one of these names.

    At a letter of a script without capitals a word may go on: such scripts write words together, or put particles on.
    """
    said = re.compile("|".join(_form(_folded(name)) for name in names))
    return lambda value: any(said.search(_folded(text)) for text in _texts(value))


def _form(name: str) -> str:
    words = r"\s+".join(re.escape(word) for word in name.split())
    said = name.strip()
    before = r"(?<!\w)" if _ends(said[0]) else ""
    behind = r"(?!\w)" if _ends(said[-1]) else ""
    return before + words + behind


def _ends(edge: str) -> bool:
    """Whether a word ends where such a character stands at its edge."""
    return edge.isascii() or edge.upper() != edge.lower()


def _folded(text: str) -> str:
    return normalize("NFC", normalize("NFC", text).casefold())


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
