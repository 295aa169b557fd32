"""What a text says that tone must not touch: numbers, names, dates, negations, quotations, citations. Pure.

Two texts with the same facts in the same order may differ in manner alone. The extractor would rather take an ordinary
word for a name than a name for an ordinary word.
"""

import re
from typing import Final

import msgspec

from braid.text.calendar import TIME_WORDS
from braid.text.numbers import NAMES

_PLAIN: Final = """
a about after again all also although always am an and another any anyone anything are as at be because been
before being both but by can could did do does doing done each either even ever every everyone everything
few for from further get gets had has have having he her here hers herself him himself his how however i if
in indeed instead into is it its itself just later less let many maybe me might mine more most much must my
myself nearly of off often on only or other others our ours out over own perhaps quite rather really same
shall she should since so some somebody someone something sometimes soon still such than that the their
theirs them themselves then there therefore these they this those though through thus to together too under
unless until up upon us usually very was we well were what whatever when where whether which while who whom
whose why with would yes yet you your yours yourself let ask check please
"""
PLAIN_WORDS: Final = frozenset(_PLAIN.split())
"""Words that are no name, though they begin a sentence with a capital."""
_DENIALS: Final = """
no not never nor none nothing nobody nowhere neither cannot without hardly scarcely barely rarely seldom
unless except nope nay deny denies denied refuse refuses refused lack lacks lacked fail fails failed dont
wont cant isnt arent wasnt werent doesnt didnt hasnt havent hadnt couldnt wouldnt shouldnt
"""
_NEGATIONS: Final = frozenset(_DENIALS.split())
_ORDINARY: Final = PLAIN_WORDS | NAMES | _NEGATIONS

_CITED: Final = (
    r"\[[^\[\]\n]*\]|\b[a-z]{1,12}_\d{4}-\d\d-\d\d(?:T[\d:]{8}Z)?_[0-9a-z]{4,12}\b"
    r"|\b[a-z][a-z0-9+.-]*://\S*[^\s.,;:!?)\]}'\"]|\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+|(?<!\w)[@#]\w+"
)
_QUOTED: Final = (
    r"```.*?```|`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”|«[^»\n]*»|„[^“”\n]*[“”]|\u2039[^\u203a\n]*\u203a|「[^」\n]*」"
    r"|(?<![\w'’])'(?=\S)[^'\n]*'(?!\w)|\u2018[^’\n]*’(?!\w)"
)
PROTECTED: Final = re.compile(f"{_QUOTED}|{_CITED}", re.DOTALL)
"""Spans that nothing may be done to."""
_CITATION: Final = re.compile(_CITED)
_NUMBER: Final = re.compile(
    r"[+\-−±]?[$€£¥₹]?\d(?:[\d.,:/ \-–]*\d)?(?:\s?(?:[%‰°€$£¥]|[ap]\.?m\b)|[a-zA-Zµ°]{1,4}\b)?"
)
_WORD: Final = re.compile(r"[^\W\d_][\w'’\-]*")


class TextFacts(msgspec.Struct, frozen=True):
    """What was found, each kind in the order of the text."""

    numbers: tuple[str, ...]
    names: tuple[str, ...]
    dates: tuple[str, ...]
    negations: tuple[str, ...]
    quotations: tuple[str, ...]
    citations: tuple[str, ...]

    def __bool__(self) -> bool:
        return any(getattr(self, name) for name in self.__struct_fields__)


def facts(text: str) -> TextFacts:
    """Return the facts of any text; what stands in quotations and citations counts there alone."""
    quotations: list[str] = []
    citations: list[str] = []
    for match in PROTECTED.finditer(text):
        (citations if _CITATION.fullmatch(match[0]) else quotations).append(match[0])
    rest = PROTECTED.sub(" \x00 ", text)
    found = [word.rstrip("-'’") for word in _WORD.findall(rest)]
    low = [word.lower().replace("’", "'") for word in found]
    counted = [number.strip() for number in _NUMBER.findall(rest)]
    return TextFacts(
        numbers=(*counted, *(word for word in low if _parts(word) & NAMES)),
        names=tuple(word for word in found if word != word.lower() and not is_ordinary(word)),
        dates=tuple(word for word in low if word in TIME_WORDS),
        negations=tuple(word for word in low if word in _NEGATIONS or word.endswith("n't")),
        quotations=tuple(quotations),
        citations=tuple(citations),
    )


def _parts(word: str) -> frozenset[str]:
    return frozenset(word.split("-"))


def is_ordinary(word: str) -> bool:
    """Whether a word with a capital may have it from the beginning of a sentence alone."""
    low = word.lower().replace("’", "'")
    return word[1:] == word[1:].lower() and (
        low.partition("'")[0] in _ORDINARY or (low.endswith("n't") and low[:-3] in PLAIN_WORDS)
    )
