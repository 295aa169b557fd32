"""Citations: record ids in brackets behind what they bear out, `[exp_…]`; for people, numbers and a list. Pure."""

import re
from collections.abc import Callable, Collection, Iterable
from typing import Final

CITATION: Final = re.compile(r"\[((?:exp|view|stance)_\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ_[0-9a-v]{12})\]")


def cited(text: str) -> list[str]:
    """Return the ids that a text cites, each once, in order."""
    return list(dict.fromkeys(CITATION.findall(text)))


def marks(ids: Iterable[str]) -> str:
    """Return the marks of some ids, to stand behind what they bear out."""
    return "".join(f" [{id}]" for id in dict.fromkeys(ids))


def numbered(text: str) -> tuple[str, list[str]]:
    """Return a text with numbers for its ids, `[1]`, and the ids in that order."""
    ids = cited(text)
    return _each(text, lambda id: f"[{ids.index(id) + 1}]"), ids


def bare(text: str) -> str:
    """Return a text without its citations."""
    return re.sub(r"\s+(?=[.,;:!?]|$)|(?<=\s)\s+", "", _each(text, lambda _: "")).strip()


def unknown(text: str, known: Collection[str]) -> list[str]:
    """Return the ids that a text cites and that were not given."""
    return [id for id in cited(text) if id not in known]


def _each(text: str, make: Callable[[str], str]) -> str:
    return CITATION.sub(lambda match: make(match[1]), text)
