"""Objects of claims as values: text, numbers and dates in one normal form, and when two of them mean the same. Pure.

"£45" and "£54.00" differ, "1,180" and "£1,180.00" don't; "21 June" is a coarser "21 June 2025".
"""

import re
from functools import lru_cache
from typing import Final

from braid.stance.relations import Of
from braid.text.dates import partial
from braid.text.measures import measure, number
from braid.text.quantities import sole
from braid.text.words import normal, stem

_WORD: Final = re.compile(r"[^\W_]+(?:[.'&-][^\W_]+)*[+#]*|[£$€%]")
"""C, C++ and C# are three."""
_WORDS: Final = """about an and any are as at be been by can did do does for from get go goes going gone got had has
have her his in is it its make made my of off on or our out she so take that the their there they this to took up was we
went were what when which who will with would you your"""
_IDLE: Final = frozenset(_WORDS.split())


def same(one: str, other: str, of: Of = "text", *, broad: bool = False) -> bool:
    """Whether two objects are the same one, compared as text, numbers or dates; `broad`: "Leeds" and "Leeds, in
    Meanwood" are, as more and less of one answer.
    """
    if of != "date" and (found := _measured(one, other)) is not None:
        return found
    if of == "number" and (a := sole(one)) and (b := sole(other)):
        return a[0] == b[0] and (a[1] == b[1] or not a[1] or not b[1])
    if of == "date" and (c := partial(one)) and (d := partial(other)):
        return all(left == right or None in (left, right) for left, right in zip(c, d, strict=True))
    left, right = stemmed(one), stemmed(other)
    if left == right:
        return True
    return broad and (_begins(left, right) or _begins(right, left))


def _measured(one: str, other: str) -> bool | None:
    """Return whether two measures of one kind, or two numbers of papers, are equal; None where they are none."""
    a, b = measure(one), measure(other)
    if a is not None and b is not None and a[1] == b[1]:
        return a[0] == b[0]
    parted = number(one)
    return True if parted is not None and parted == number(other) else None


def is_finer(one: str, other: str, of: Of) -> bool:
    """Whether a date says more of the same day than another: "12 June 2025" more than "June 2025"."""
    if of != "date" or not (a := partial(one)) or not (b := partial(other)):
        return False
    return any(left is not None and right is None for left, right in zip(a, b, strict=True))


@lru_cache(maxsize=20_000)
def stemmed(text: str) -> tuple[str, ...]:
    """Return the words of a text's normal form, in the singular as far as an `s` tells."""
    words = _WORD.findall(normal(text)) or [normal(text)]  # an emoji is an object too
    return tuple(
        word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
        for word in words
        if word
    )


@lru_cache(maxsize=20_000)
def telling(text: str) -> frozenset[str]:
    """Return the stems of the words of a text that say something."""
    words = re.findall(r"[^\W_]+", normal(text))
    return frozenset(stem(word) for word in words if len(word) > 1 and word not in _IDLE)


def _begins(short: tuple[str, ...], long: tuple[str, ...]) -> bool:
    return 0 < len(short) < len(long) and long[: len(short)] == short


def akin(one: str, other: str) -> bool:
    """Whether two objects are of one sort, as far as their words tell: they share one, or one is in the other
    (vim, neovim; morning flights, evening flights).
    """
    a, b = set(stemmed(one)), set(stemmed(other))
    return bool(a & b) or any(
        min(len(left), len(right)) > 2 and (left in right or right in left) for left in a for right in b
    )
