"""What is known of relations, as data: how many objects one may have, how long it lasts, what it excludes.

A relation that isn't listed is legal: it may have many objects, lasts as a state does, and excludes nothing but its own
denial. Names are plain snake_case; `lives in` and `Lives-In` mean `lives_in`.
"""

import re
from functools import lru_cache
from typing import Final, Literal, NamedTuple

Temporal = Literal["trait", "state", "episode"]
"""Of a person's nature (slow to change), a state of affairs (changes), or something that happened once."""
Of = Literal["text", "number", "date"]
"""What the objects are compared as."""


class Relation(NamedTuple):
    """What is known of one relation."""

    name: str
    many: bool = False
    """May hold of several objects at the same time."""
    temporal: Temporal = "state"
    opposite: str | None = None
    """Holding of an object excludes the opposite of that same object."""
    of: Of = "text"
    begins: str | None = None
    """An episode: the state that begins with it (`moved_to` Ghent: from then on `lives_in` Ghent)."""
    ends: str | None = None
    """An episode: the state that ends with it (`left_job` X: no longer `works_at` X)."""
    means: str | None = None
    """Another name, or a stronger word, for this relation: compared as that one."""
    rivals: bool = False
    """Objects exclude each other only when they are of one sort (`prefers` vim, neovim; not vim, window seats)."""


_ONE_STATE: Final = (
    "lives_in", "stays_in", "located_in", "works_as", "works_at", "works_for", "boss_is", "partner_is", "married_to",
    "engaged_to", "studies_at", "diet", "status", "relationship_status", "drives", "favourite", "value_is", "owner_is",
)  # fmt: skip
_MANY_STATE: Final = (
    "colleague", "friend", "pet", "owns", "uses", "does", "has", "drinks", "eats", "plays", "hobby", "member_of",
    "studies", "reads", "watches", "learning", "needs", "wants", "feels", "believes",
)  # fmt: skip
_ONE_TRAIT: Final = ("name_is", "born_in", "comes_from", "nationality", "mother_is", "father_is")
_MANY_TRAIT: Final = (
    "child", "parent", "sibling", "relative", "speaks", "allergic_to", "studied", "can", "has_condition",
    "is_a",
)  # fmt: skip
_EPISODES: Final = (
    "goal", "plans_to", "has_to", "went_to", "visited", "bought", "met", "attended", "did", "made", "happened", "read",
    "watched",
)  # fmt: skip

_TABLE: Final = (
    *(Relation(name) for name in _ONE_STATE),
    *(Relation(name, many=True) for name in _MANY_STATE),
    *(Relation(name, temporal="trait") for name in _ONE_TRAIT),
    *(Relation(name, many=True, temporal="trait") for name in _MANY_TRAIT),
    *(Relation(name, many=True, temporal="episode") for name in _EPISODES),
    Relation("likes", many=True, opposite="dislikes"),
    Relation("dislikes", many=True, opposite="likes"),
    Relation("loves", many=True, means="likes"),
    Relation("enjoys", many=True, means="likes"),
    Relation("hates", many=True, means="dislikes"),
    Relation("prefers", rivals=True),
    Relation("age_is", of="number"),
    Relation("number_is", of="number"),
    Relation("count_is", of="number"),
    Relation("costs", of="number"),
    Relation("earns", of="number"),
    Relation("born_on", temporal="trait", of="date"),
    Relation("birthday", temporal="trait", of="date"),
    Relation("happened_on", temporal="trait", of="date"),
    Relation("is_on", of="date"),
    Relation("due_on", of="date"),
    Relation("email_is"),
    Relation("phone_is"),
    Relation("address_is"),
    Relation("moved_to", many=True, temporal="episode", begins="lives_in"),
    Relation("moved_from", many=True, temporal="episode", ends="lives_in"),
    Relation("started_job", many=True, temporal="episode", begins="works_at"),
    Relation("left_job", many=True, temporal="episode", ends="works_at"),
    Relation("quit", many=True, temporal="episode", ends="does"),
)  # fmt: skip

FAVOURITE: Final = "favourite_"
"""Begins the name of a relation to what is dearest of a kind (`favourite_colour`): of that there is one."""
RELATIONS: Final[dict[str, Relation]] = {relation.name: relation for relation in _TABLE}

_NOT_A_LETTER: Final = re.compile(r"[^\w]+|_+")


def name_of(rel: str) -> str:
    """Return a relation's name as the table writes it."""
    return _NOT_A_LETTER.sub("_", rel.strip().casefold()).strip("_")


@lru_cache(maxsize=4_096)
def relation(rel: str) -> Relation:
    """Return what is known of a relation; of an unknown one, but for a favourite, that it may have many objects."""
    name = name_of(rel)
    return RELATIONS.get(name) or Relation(name, many=not name.startswith(FAVOURITE))


@lru_cache(maxsize=4_096)
def compared_as(rel: str) -> Relation:
    """Return the relation as which this one is compared: `hates` as `dislikes`."""
    known = relation(rel)
    return relation(known.means) if known.means else known
