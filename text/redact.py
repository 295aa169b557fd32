"""Secrets in a text, replaced by placeholders before the text leaves, and put back into what returns. Pure.

What a secret looks like is a table (`text/secrets.py`). Where it takes an ordinary number for a secret, a word of a
prompt is lost.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final
from unicodedata import normalize

import msgspec

from braid.text.fence import CUT, escaped
from braid.text.secrets import MARK, SHAPES

_PLACEHOLDER: Final = re.compile(rf"{MARK}[A-Z]+_\d+")
WITHHELD: Final = "WITHHELD_"
"""Begins each placeholder that stands for a term."""
_WITHHELD: Final = re.compile(rf"{WITHHELD}\d+")
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


def _unescaped(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&amp;", "&")


MOST_MARKS: Final = 200
"""How long a term may be."""
_SAYS: Final = re.compile(r"\w.*\w", re.DOTALL)
_UNSPACED: Final = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
)
"""Marks of scripts that put no space between words: Thai, Lao, Burmese, Khmer, Japanese, Chinese."""


def _whole(term: str) -> str:
    """Return a pattern for a term that stands whole; where its script has no spaces, wherever it stands."""
    before = "" if _UNSPACED.match(term[0]) else r"(?<!\w)"
    behind = "" if _UNSPACED.match(term[-1]) else r"(?!\w)"
    return before + r"\s+".join(map(re.escape, term.split())) + behind


class Terms:
    """Words that no model is shown, and what stands for them in one exchange: `WITHHELD_1`, which a model can speak of.

    A term is found whole, in any case, with any space between its words, also where a prompt has escaped it.
    """

    def __init__(self, terms: Sequence[str]) -> None:
        shown = [visible(term).strip() for term in terms]
        written = {normalize(form, term) for term in shown if _SAYS.search(term) for form in ("NFC", "NFD")}
        forms = written | {escaped(term) for term in written}
        self._begun = {
            low[:n] for one in forms for low in [" ".join(one.lower().split())] for n in range(2, len(low))
        }
        joined = "|".join(map(_whole, sorted(forms, key=len)[::-1]))
        self._pattern = re.compile(joined, re.IGNORECASE) if joined else None
        self._by_placeholder: dict[str, str] = {}

    @property
    def replaced(self) -> dict[str, str]:
        """What was replaced, by its placeholder."""
        return dict(self._by_placeholder)

    def redact(self, text: str) -> str:
        """Return a text with a placeholder in the place of each term."""
        if self._pattern is None:
            return text
        whole = self._pattern.sub(lambda match: self._placeholder(_unescaped(match[0]), text), text)
        *cut, last = whole.split(CUT)
        return CUT.join([*(self._ended(each, text) for each in cut), last])

    def _ended(self, said: str, text: str) -> str:
        """Return what stands in front of a cut, without the beginning of a term that was cut in two: Nightingal…"""
        low = said.lower()
        for start in range(max(0, len(said) - MOST_MARKS), len(said) - 1):
            bound = start == 0 or not said[start - 1].isalnum() or _UNSPACED.match(said[start]) is not None
            if bound and low[start:] in self._begun:
                return said[:start] + self._placeholder(_unescaped(said[start:]), text)
        return said

    def restore(self, text: str, *, in_json: bool = False) -> str:
        """Return a text with the terms in the places of their placeholders; `in_json`: as they stand in JSON."""
        return _WITHHELD.sub(lambda match: self._original(match[0], in_json=in_json), text)

    def _original(self, placeholder: str, *, in_json: bool) -> str:
        found = self._by_placeholder.get(placeholder, placeholder)
        return msgspec.json.encode(found).decode()[1:-1] if in_json else found

    def _placeholder(self, term: str, text: str) -> str:
        for placeholder, known in self._by_placeholder.items():
            if known == term:
                return placeholder
        number = len(self._by_placeholder) + 1
        while f"{WITHHELD}{number}" in text or f"{WITHHELD}{number}" in self._by_placeholder:
            number += 1
        self._by_placeholder[f"{WITHHELD}{number}"] = term
        return f"{WITHHELD}{number}"
