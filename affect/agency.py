"""Who acts and who is acted upon, as numbers: what dominance shows by, beside a text's vector. Pure.

`tools/lab/fit_affect.py` fits to these columns. The words are chosen by hand, before any was fitted.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

_LISTS: Final = (
    "i i'm i've i'll i'd",
    "we we're we've we'll",
    "you you're you'll you've",
    "must shall",
    "can",
    "can't cannot couldn't unable",
    "will i'll we'll you'll",
    "might may could perhaps maybe possibly probably",
    """
    able achieve achieved best confident control free freedom lead leader led master power powerful proud strong
    succeed succeeded success successful sure victory win won wins
    """,
    """
    afraid alone confused dead defeat died fail failed failure fear forced helpless hurt killed lose loss lost poor
    scared sick suffering trapped victim victims weak worried
    """,
    "aid help need needed needs please support",
    "never no none not nothing",
    "because so therefore",
    "if",
)
_LIST_OF: Final = {
    word: tuple(at for at, listed in enumerate(_LISTS) if word in listed.split())
    for word in " ".join(_LISTS).split()
}
_OPENINGS: Final = """
add always ask avoid be bring buy call check choose come consider do don't enjoy find follow get give go head
help keep learn let look make never please put read remember see start stay stop take tell think try turn use
visit wait walk write
"""
_ORDERS: Final = frozenset(_OPENINGS.split())
"""What a sentence that tells its reader to do something opens with."""
_ASKS: Final = frozenset(("how", "what", "when", "where", "who", "why"))
_BEING: Final = frozenset(("am", "are", "be", "been", "being", "is", "was", "were"))


def agency(words: Sequence[str]) -> list[float]:
    """Return one row of numbers for the words of a text, in lower case and in order; always as many."""
    counts = [0] * len(_LISTS)
    for word in words:
        for at in _LIST_OF.get(word, ()):
            counts[at] += 1
    root = max(len(words), 1) ** 0.5
    return [*(count / root for count in counts), *map(float, _build(words))]


def _build(words: Sequence[str]) -> tuple[bool, ...]:
    """Return how the text is built: orders, forbids, is passive, names a doer, asks, makes a condition."""
    first = words[0] if words else ""
    return (
        first in _ORDERS,
        first == "don't" or (first == "do" and "not" in words),
        any(one in _BEING and other.endswith(("ed", "en")) for one, other in pairwise(words)),
        "by" in words,
        first in _ASKS,
        first in ("if", "unless"),
    )
