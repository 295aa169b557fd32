"""Secrets in a text, replaced by placeholders before the text leaves, and put back into what returns. Pure.

What a secret looks like is a table (`text/secrets.py`). Where it takes an ordinary number for a secret, a word of a
prompt is lost.
"""

import re
from collections.abc import Iterable
from typing import Final

from braid.text.secrets import MARK, SHAPES

_PLACEHOLDER: Final = re.compile(rf"{MARK}[A-Z]+_\d+")
_INVISIBLE: Final = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e01ef]"
)
"""What shows nothing and could part a secret, or carry words that nobody sees."""


class Redactor:
    """The secrets of one exchange and their placeholders; one secret has one placeholder all through."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        """`taken`: placeholders that stand for something else already, such as those that an earlier look put there."""
        self._placeholders: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        self._taken = frozenset(taken)

    @property
    def count(self) -> int:
        """How many secrets were found."""
        return len(self._placeholders)

    def redact(self, text: str) -> str:
        """Return a text without its secrets, and without characters that show nothing; twice is as good as once."""
        text = visible(text)
        for shape in SHAPES:
            for start, end in reversed(shape.spans(text)):
                if MARK not in text[start:end]:
                    text = text[:start] + self._placeholder(shape.name, text[start:end]) + text[end:]
        return text

    @property
    def replaced(self) -> dict[str, str]:
        """What was replaced, by its placeholder."""
        return {placeholder: secret for secret, placeholder in self._placeholders.items()}

    def restore(self, text: str) -> str:
        """Return a text with the secrets in the places of their placeholders."""
        secrets = self.replaced
        return _PLACEHOLDER.sub(lambda match: secrets.get(match[0], match[0]), text)

    def _placeholder(self, name: str, secret: str) -> str:
        if secret not in self._placeholders:
            # A number, not a hash: a code of six digits is found from its hash in a moment.
            number = self._counts.get(name, 0) + 1
            while f"{MARK}{name}_{number}" in self._taken:
                number += 1
            self._counts[name] = number
            self._placeholders[secret] = f"{MARK}{name}_{number}"
        return self._placeholders[secret]


def visible(text: str) -> str:
    """Return a text without characters that show nothing."""
    return _INVISIBLE.sub("", text)


def placeholders(text: str) -> set[str]:
    """Return the placeholders in a text."""
    return set(_PLACEHOLDER.findall(text))
