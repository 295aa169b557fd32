"""Which words of a request name what is meant: not those of asking, nor "note" and "bit". Pure."""

import re
from typing import Final

from braid.text.words import listed, stem, telling

THING: Final = (
    r"(?:notes?|entry|entries|lines?|ones?|memory|memories|records?|bits?|parts?|things?|facts?|items?|points?|info"
    r"|information|statements?|instructions?|rules?|stuff|details?|data|mentions?|sentences?|remarks?)"
)
THINGS: Final = re.compile(rf"\b{THING}\b", re.IGNORECASE)
SAYING: Final = frozenset(
    map(
        stem,
        listed("""
i you u we he she it they say says said saying state states tell told mention mentioned write wrote re about regarding
concerning keep kept know knew remember remembered hold held store stored have has got had get gone let so too also just
already now any more anymore longer please pls thanks lol haha true right wrong old outdated memory memories note notes
list records head mind need needn be being none there having isn isnt doesn doesnt aren wasn weren hasn haven hadn won
wouldn couldn don dont didn bit bits thing things stuff one ones entry yesterday today will ya
plz teh kindly dear
"""),
    )
)
"""Words of asking, which say nothing of what is meant."""
LABELS: Final = frozenset(
    map(
        stem,
        listed("""
name names date dates day days time times number numbers price cost costs amount value hint address place details info
rate rates fee charge deadline salary size colour color wage length age level due
"""),
    )
)
"""Words for a kind of value, which a memory that has one needn't say."""


def naming_stems(text: str) -> frozenset[str]:
    """Return the stems of the words that name something: none of "the bit that says it isn't"."""
    return frozenset(map(stem, telling(THINGS.sub(" ", text)))) - SAYING
