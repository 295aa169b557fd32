"""Entities as a way into memories: a name → who is meant, where they are spoken of, and with whom.

Made of the projection's `entity_mentions`: names that are one exactly, by aliases, by what was stated and decided.
Where a name means several, or nobody, nothing is returned: a question that names no entity is asked as it was.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from braid.ledger.record.record import Scope
from braid.stance.mentions import SELF
from braid.text.aliases import packaged
from braid.text.words import normal, words

if TYPE_CHECKING:
    from braid.views.duck.tables import OpenTables

MAX_WORDS: Final = 6
_ROWS: Final = (
    "SELECT m.entity_id, m.name, m.type, m.turn_index, m.log_index, m.claim_k FROM entity_mentions m"
    " WHERE {} ORDER BY m.log_index, m.claim_k, m.name"
)


class MentionRow(NamedTuple):
    """A mention of an entity: by which name, in which turn (log index), by which claim of which record."""

    entity: str
    name: str
    type: str
    turn: int
    record: int
    claim: int


class NamedEntity(NamedTuple):
    """An entity that a name means. `turns`: log indexes of what was said of it, oldest first."""

    id: str
    name: str
    type: str
    turns: tuple[int, ...]


class EntityIndex:
    """Entities by their names, and who is spoken of together. Pure; some microseconds a word."""

    def __init__(self, rows: Iterable[MentionRow]) -> None:
        self._by_name = defaultdict[tuple[str, ...], set[str]](set)
        self._rows = defaultdict[str, list[MentionRow]](list)
        together = defaultdict[tuple[int, int], set[str]](set)
        for row in rows:
            self._rows[row.entity].append(row)
            together[row.record, row.claim].add(row.entity)
            for key in (normal(row.name), packaged().of(row.name)):
                if key not in SELF:
                    self._by_name[tuple(words(key))[:MAX_WORDS]].add(row.entity)
        self._near = defaultdict[str, set[str]](set)
        for some in together.values():
            for id in some:
                self._near[id] |= some - {id}

    def resolve(self, name: str) -> NamedEntity | None:
        """Return whom or what a name means; None where that is nobody, or several."""
        found = self._ids(tuple(words(normal(name)))) or self._ids(tuple(words(packaged().of(name))))
        return self._entity(next(iter(found))) if len(found) == 1 else None

    def entities_in(self, text: str) -> list[NamedEntity]:
        """Return who and what a text names, in its order, each once: of names within names the longest counts."""
        said = words(text)
        found: dict[str, None] = {}
        at = 0
        while at < len(said):
            for size in range(min(MAX_WORDS, len(said) - at), 0, -1):
                ids = self._ids(tuple(said[at : at + size]))
                if ids:
                    found |= dict.fromkeys(ids) if len(ids) == 1 else {}
                    at += size - 1
                    break
            at += 1
        return [self._entity(id) for id in found]

    def neighbours(self, id: str) -> Iterator[NamedEntity]:
        """Yield the entities that one claim or more speaks of together with this one: one hop."""
        return (self._entity(other) for other in sorted(self._near[id]))

    def _ids(self, key: tuple[str, ...]) -> set[str]:
        return self._by_name.get(key[:MAX_WORDS], set()) if key else set()

    def _entity(self, id: str) -> NamedEntity:
        rows = self._rows[id]
        types = [row.type for row in rows if row.type != "thing"]
        turns = tuple(dict.fromkeys(sorted(row.turn for row in rows)))
        return NamedEntity(id, rows[0].name, types[0] if types else "thing", turns)


def entity_index(tables: "OpenTables", scope: Scope | None) -> EntityIndex:
    """Return the entities of a scope. Raises what asking the projection raises."""
    wanted = msgspec.structs.asdict(scope or Scope())
    given: dict[str, Any] = {name: value for name, value in wanted.items() if value is not None}
    where = " AND ".join(("true", *(f"m.{name} = ?" for name in given)))
    return EntityIndex(MentionRow(*row) for row in tables.rows(_ROWS.format(where), list(given.values())))
