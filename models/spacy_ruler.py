"""spaCy's attribute ruler with a memory: what its rules make of a token, looked up once for each kind of token.

The ruler matches 179 patterns against every token, which is a third of the whole parse. All but nine are of one token,
and look at no more than its tag, its dependency, whether it is blank, and which of some two hundred words it is: tokens
that agree in these get the same attributes, so the rules run over one of them. A text in which one of the nine matches
is left to spaCy's ruler as a whole. What comes out is the same, token by token.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

_KEY: Final = ("LOWER", "TAG", "DEP", "IS_SPACE")
_APART: Final = "|"
"""Stands between two tokens of different texts, so that no pattern of two matches both."""
_Key = tuple[int, ...]
_Pattern = list[dict[str, Any]]


class RememberingRuler:
    """Sets what an `AttributeRuler` sets. Not safe to share between threads."""

    def __init__(self, ruler: Any) -> None:
        from spacy.matcher import Matcher

        self._ruler = ruler
        patterns: list[_Pattern] = [each for rule in ruler.patterns for each in rule["patterns"]]
        self._others: Any = Matcher(ruler.vocab)
        self._others.add("others", [each for each in patterns if not _is_simple(each)])
        self._words = {ruler.vocab.strings[word] for word in _words(patterns)}
        self._known: dict[_Key, tuple[Any, ...]] = {}
        """At most a row for each tag, dependency and word that a pattern names."""

    def __call__(self, docs: Iterable[Any]) -> None:
        """Set the attributes of parsed texts."""
        keyed: list[tuple[Any, Sequence[_Key]]] = []
        for doc in docs:
            if self._others(doc, allow_missing=True):
                self._ruler(doc)
            else:
                keyed.append((doc, self._keys(doc)))
        self._learn(
            {
                key: token
                for doc, keys in keyed
                for key, token in zip(keys, doc, strict=True)
                if key not in self._known
            }
        )
        for doc, keys in keyed:
            for key, token in zip(keys, doc, strict=True):
                token.tag, token.dep, token.pos, token.lemma, token.morph = self._known[key]

    def _keys(self, doc: Any) -> list[_Key]:
        rows: list[list[int]] = doc.to_array(_KEY).tolist() if len(doc) else []
        return [(word if word in self._words else 0, *rest) for word, *rest in rows]

    def _learn(self, new: dict[_Key, Any]) -> None:
        """Have the rules run over a token of each new kind."""
        from spacy.tokens import Doc

        words = [word for token in new.values() for word in (token.text, _APART)]
        doc: Any = Doc(self._ruler.vocab, words=words)
        tokens = list(doc)[::2]
        for token, alike in zip(tokens, new.values(), strict=True):
            token.tag, token.dep = alike.tag, alike.dep
        self._ruler(doc)
        for key, token in zip(new, tokens, strict=True):
            self._known[key] = (token.tag, token.dep, token.pos, token.lemma, token.morph)


def _is_simple(pattern: _Pattern) -> bool:
    """Whether a pattern is of one token, looks at nothing else than a key, and names the words that it is for."""
    lower = pattern[0].get("LOWER", "")
    named = isinstance(lower, str) or list(lower) == ["IN"]
    return len(pattern) == 1 and named and pattern[0].keys() <= set(_KEY)


def _words(patterns: Iterable[_Pattern]) -> set[str]:
    """Return the words that simple patterns name."""
    found: set[str] = set()
    for pattern in filter(_is_simple, patterns):
        lower = pattern[0].get("LOWER", [])
        found.update([lower] if isinstance(lower, str) else lower["IN"] if lower else [])
    return found
