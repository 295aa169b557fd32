"""What a tormented process remembers: texts that say how long they are and where they stand in their transaction.

Whatever else is read back, half a text, a neighbour's place, another transaction's size, is damage.
"""

import random
import re

_TEXT = re.compile(r"torture ([0-9a-f]{16}) (\d+)/(\d+) (\d+) (x*)")
_LENGTHS = (0, 10, 1_000, 20_000)


def text_of(chance: random.Random, place: int = 0, count: int = 1) -> str:
    """Return a text for the record at `place` among the `count` of its transaction."""
    length = chance.choice(_LENGTHS)
    return f"torture {chance.getrandbits(64):016x} {place}/{count} {length} {'x' * length}"


def is_whole(text: str, place: int, count: int) -> bool:
    """Whether the text is one of ours, all of it, and stands where it was put."""
    found = _TEXT.fullmatch(text)
    return found is not None and (int(found[2]), int(found[3]), int(found[4])) == (
        place,
        count,
        len(found[5]),
    )
