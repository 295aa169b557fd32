"""Words that are to be held back from a text, however they are written in it, and what stands for them. Pure."""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import msgspec

from braid.text.fence import CUT, escaped
from braid.text.redact import visible

WITHHELD: Final = "WITHHELD_"
"""Begins each placeholder that stands for a term."""
_WITHHELD: Final = re.compile(rf"{WITHHELD}\d+")
_MOST_MARKS: Final = 200
"""How long a term may be."""
_SAYS: Final = re.compile(r"\w.*\w", re.DOTALL)
_UNSPACED: Final = (
    r"\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
    r"\U00020000-\U0003ffff"
)
"""Scripts whose words stand without spaces, or with particles on them: Thai, Lao, Burmese, Khmer, Japanese, Chinese,
Korean."""
_NOT_WITHIN: Final = rf"[^\W_{_UNSPACED}]"
_ENDS_UNSPACED: Final = re.compile(rf"[{_UNSPACED}]")
_IN_FRONT: Final = re.compile(_NOT_WITHIN)


class _Folded(NamedTuple):
    """A text as it is compared: composed, of one width, without case. `spans`: where each of its characters stands."""

    text: str
    spans: Sequence[tuple[int, int]]


def _folded(text: str) -> _Folded:
    if text.isascii():
        return _Folded(text.lower(), [(at, at + 1) for at in range(len(text))])
    letters: list[str] = []
    spans: list[tuple[int, int]] = []
    at = 0
    while at < len(text):
        end = at + 1
        while end < len(text) and (unicodedata.combining(text[end]) or "\u1160" <= text[end] <= "\u11ff"):
            end += 1
        one = _fold(text[at:end])
        letters.append(one)
        spans += [(at, end)] * len(one)
        at = end
    return _Folded("".join(letters), spans)


@lru_cache(maxsize=4_096)
def _fold(cluster: str) -> str:
    """Return a letter with its marks as it is compared: ﬁ is fi, ß is ss, and full width is none."""
    plain = unicodedata.normalize("NFKC", cluster).casefold()
    return unicodedata.normalize("NFKC", plain)


def says_something(term: str) -> bool:
    """Whether a term has two letters or digits at least: less would be found everywhere."""
    return _SAYS.search(visible(term)) is not None


class Terms:
    """Words that no model is shown, and what stands for them in one exchange: `WITHHELD_1`, which a model can speak of.

    A term is found whole: in any case, width and form of its letters, with any space between its words, also where a
    prompt has escaped it. Where a script puts no spaces, and where particles stand on a name, it is found within.
    """

    def __init__(self, terms: Sequence[str]) -> None:
        shown = [visible(term).strip() for term in terms if says_something(term)]
        forms = {" ".join(_folded(form).text.split()) for term in shown for form in (term, escaped(term))}
        self._begun = {form[:n] for form in forms for n in range(2, len(form))}
        joined = "|".join(map(_whole, sorted(forms, key=len)[::-1]))
        self._pattern = re.compile(joined) if joined else None
        self._by_placeholder: dict[str, str] = {}

    @property
    def replaced(self) -> dict[str, str]:
        """What was replaced, by its placeholder."""
        return dict(self._by_placeholder)

    def redact(self, text: str) -> str:
        """Return a text with a placeholder in the place of each term."""
        if self._pattern is None:
            return text
        folded = _folded(text)
        parts: list[str] = []
        done = 0
        for match in self._pattern.finditer(folded.text):
            start, end = folded.spans[match.start()][0], folded.spans[match.end() - 1][1]
            parts += [text[done:start], self._placeholder(_unescaped(text[start:end]), text)]
            done = end
        *cut, last = "".join([*parts, text[done:]]).split(CUT)
        return CUT.join([*(self._ended(each, text) for each in cut), last])

    def _ended(self, said: str, text: str) -> str:
        """Return what stands in front of a cut, without the beginning of a term that was cut in two: Nightingal…"""
        near = max(0, len(said) - _MOST_MARKS)
        low, spans = _folded(said[near:])
        for start in range(len(low) - 1):
            bound = start == 0 or not _IN_FRONT.match(low[start - 1]) or _ENDS_UNSPACED.match(low[start])
            if bound and low[start:] in self._begun:
                at = near + spans[start][0]
                return said[:at] + self._placeholder(_unescaped(said[at:]), text)
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


def _whole(term: str) -> str:
    """Return a pattern for a folded term that stands whole, in a folded text."""
    before = "" if _ENDS_UNSPACED.match(term[0]) else rf"(?<!{_NOT_WITHIN})"
    behind = "" if _ENDS_UNSPACED.match(term[-1]) else rf"(?!{_NOT_WITHIN}|[\u0300-\u036f])"
    return before + r"\s+".join(map(re.escape, term.split())) + behind


def _unescaped(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&amp;", "&")
