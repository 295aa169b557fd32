"""Words that are to be held back from a text, however they are written in it, and what stands for them. Pure."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from braid.text.fence import CUT, escaped
from braid.text.folding import ends_at, folded, whole
from braid.text.redact import visible

WITHHELD: Final = "WITHHELD_"
"""Begins each placeholder that stands for a term."""
_WITHHELD: Final = re.compile(rf"{WITHHELD}\d+")
_MOST_MARKS: Final = 200
"""How long a term may be."""
_SAYS: Final = re.compile(r"\w.*\w", re.DOTALL)


def says_something(term: str) -> bool:
    """Whether a term has two letters or digits at least: less would be found everywhere."""
    return _SAYS.search(visible(term)) is not None


class Terms:
    """Words that no model is shown, and what stands for them in one exchange: `WITHHELD_1`, which a model can speak of.

    A term is found whole: in any case, width and form of its letters, with any space between its words, also where a
    prompt has escaped it. Where a script puts no spaces, and where particles stand on a name, it is found within.
    """

    def __init__(self, terms: Sequence[str], taken: Iterable[str] = ()) -> None:
        """`taken`: texts of the exchange, whose own words may look like placeholders: those stand for nothing here."""
        shown = [visible(term).strip() for term in terms if says_something(term)]
        forms = {form for term in shown for form in (term, escaped(term)) if folded(form).text.split()}
        begun = {" ".join(folded(form).text.split()) for form in forms}
        self._begun = {form[:n] for form in begun for n in range(2, len(form))}
        joined = "|".join(map(whole, sorted(forms, key=len)[::-1]))
        self._pattern = re.compile(joined) if joined else None
        self._by_placeholder: dict[str, str] = {}
        self._by_term: dict[str, str] = {}
        self._taken = {name for text in taken for name in _WITHHELD.findall(text)}
        self._next = 1

    @property
    def replaced(self) -> dict[str, str]:
        """What was replaced, by its placeholder."""
        return dict(self._by_placeholder)

    def redact(self, text: str) -> str:
        """Return a text with a placeholder in the place of each term."""
        if self._pattern is None:
            return text
        self._taken.update(name for name in _WITHHELD.findall(text) if name not in self._by_placeholder)
        low, spans = folded(text)
        parts: list[str] = []
        done = 0
        for match in self._pattern.finditer(low):
            start, end = spans[match.start()][0], spans[match.end() - 1][1]
            if start < done:
                continue  # the rest of a letter that counts as two
            parts += [text[done:start], self._placeholder(_unescaped(text[start:end]))]
            done = end
        *cut, last = "".join([*parts, text[done:]]).split(CUT)
        return CUT.join([*map(self._ended, cut), last])

    def _ended(self, said: str) -> str:
        """Return what stands in front of a cut, without the beginning of a term that was cut in two: Nightingal…"""
        near = max(0, len(said) - _MOST_MARKS)
        low, spans = folded(said[near:])
        for start in range(len(low) - 1):
            bound = (
                start == 0
                or not low[start - 1].isalnum()
                or not (ends_at(low[start - 1]) and ends_at(low[start]))
            )
            if bound and low[start:] in self._begun:
                at = near + spans[start][0]
                return said[:at] + self._placeholder(_unescaped(said[at:]))
        return said

    def restore(self, text: str, *, in_json: bool = False) -> str:
        """Return a text with the terms in the places of their placeholders; `in_json`: as they stand in JSON."""
        return _WITHHELD.sub(lambda match: self._original(match[0], in_json=in_json), text)

    def _original(self, placeholder: str, *, in_json: bool) -> str:
        found = self._by_placeholder.get(placeholder, placeholder)
        return msgspec.json.encode(found).decode()[1:-1] if in_json else found

    def _placeholder(self, term: str) -> str:
        if term not in self._by_term:
            while f"{WITHHELD}{self._next}" in self._taken:
                self._next += 1
            self._by_term[term] = name = f"{WITHHELD}{self._next}"
            self._by_placeholder[name] = term
            self._next += 1
        return self._by_term[term]


def _unescaped(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&amp;", "&")
