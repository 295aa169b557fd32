"""Claims gathered from the log: which records may bear on a question, what they claim, what they rest on.

The projection says which records to look at; what they claim is read from the log, verified. Where no projection can be
asked, the log itself is read. Claims of one user never enter when a scope says whose are meant.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from braid.claims.reader import ClaimReader
from braid.claims.subjects import subjects_of
from braid.ledger.record.record import Asks, ExperienceBody, Record, Scope, StanceBody
from braid.ledger.record.source import BELIEVED, SourceClass
from braid.session import Session
from braid.stance.claims import RecordedClaim, is_meant
from braid.stance.rivals import Group, group_of, groups_of, kinds_of
from braid.text.words import normal
from braid.views.errors import ViewError

if TYPE_CHECKING:
    from array import array

    from braid.views.duck.tables import OpenTables


class ClaimFinder(ClaimReader):
    """What may be known of a store: its claims below a size, of one scope."""

    def __init__(
        self, session: Session, scope: Scope | None, size: int | None, *, trust: SourceClass = BELIEVED
    ) -> None:
        """`size`: as the log was with so many records; None for now. `trust`: the lowest source class believed."""
        super().__init__(session.reader, scope, session.reader.standings(size), trust=trust)
        self._session = session

    def named(self, asks: Asks | None) -> list[int]:
        """Return the records that claim something of what is asked, or all that claim anything; by the projection."""
        try:
            kept = self._subjects()
            if kept is not None:
                return _named(asks, kept, self.size)
            with self._session.views.tables() as tables:
                meant = None if asks is None or not asks.subjects else _meant(asks, self.scope, tables)
                return [index for (index,) in tables.rows(*_query(meant, self.scope)) if index < self.size]
        except (ViewError, OSError):
            return list(self._scan())

    def _subjects(self) -> "Mapping[str, array[int]] | None":
        """Return the records with claims by subject; None of a past moment, and where there are too many to be kept.
        Raises ViewError and OSError."""
        if self.size != self._reader.size:
            return None
        where, params = _bounds(self.scope)
        query = (
            "SELECT DISTINCT c.subject, c.log_index FROM claims c JOIN experiences e USING (log_index)"  # noqa: S608 - our own words
            f" WHERE {where} AND c.log_index >= ? ORDER BY c.log_index LIMIT ?"
        )

        def fetch(since: int, most: int) -> tuple[list[tuple[Any, ...]], int]:
            with self._session.views.tables() as tables:
                return tables.rows(query, [*params, since, most]), tables.stamp.position

        return subjects_of(self._standings).of(self.scope, self.size, fetch)

    def alike(self, some: Sequence[RecordedClaim], most: int) -> list[int]:
        """Return the records with claims that may exclude some claims, in log order: of each the nearest `most` on each
        side.

        Raises ViewError and OSError where no projection can be asked: the log is not read for it.
        """
        groups = {group_of(said) for said in some}
        kinds = {group.kind for group in groups}
        where, params = _bounds(self.scope)
        of_scope = f"FROM claims c JOIN experiences e USING (log_index) WHERE {where}"
        with self._session.views.tables() as tables:
            rels = [rel for (rel,) in tables.rows(f"SELECT DISTINCT c.rel {of_scope}", params)]
            rows = tables.rows(
                f"SELECT c.log_index, c.subject, c.rel, c.object {of_scope}"
                " AND c.rel IN (SELECT unnest(?::VARCHAR[])) ORDER BY c.log_index",
                [*params, [rel for rel in rels if not kinds.isdisjoint(kinds_of(rel))]],
            )
        near: dict[Group, list[int]] = {group: [] for group in groups}
        for index, *words in rows:
            for group in groups.intersection(groups_of(*words)) if index < self.size else ():
                if near[group][-1:] != [index]:
                    near[group].append(index)
        found = {said.index for said in some}
        for said in some:
            beside = near[group_of(said)]
            place = bisect_left(beside, said.index)
            found.update(beside[max(0, place - most) : place + most + 1])
        return sorted(found)

    def stances(self) -> list[tuple[int, str]]:
        """Return the stances of the scope with their questions, newest first."""
        where, params = _bounds(self.scope)
        query = f"SELECT log_index, question FROM stances e WHERE {where} ORDER BY log_index DESC"  # noqa: S608 - our own words
        try:
            with self._session.views.tables() as tables:
                return [(index, asked or "") for index, asked in tables.rows(query, params)]
        except (ViewError, OSError):
            records = [record for batch in self._reader.entries() for record, _ in batch]
        return [
            (record.index, _question_of(record)) for record in reversed(records) if record.kind == "stance"
        ]

    @cached_property
    def speakers(self) -> Sequence[str]:
        """Who "I" may be: the one user of the scope with a name, or, of several, those it is named for."""
        where, params = _bounds(self.scope)
        query = (
            f"SELECT DISTINCT name FROM experiences e WHERE actor = 'user' AND name IS NOT NULL AND {where}"  # noqa: S608 - our own words
        )
        try:
            with self._session.views.tables() as tables:
                names = sorted(row[0] for row in tables.rows(query, params))
        except (ViewError, OSError):
            return []
        user = normal(self.scope.user_id) if self.scope and self.scope.user_id else ""
        if len(names) < 2 or not user:
            return names if len(names) == 1 else []
        return [name for name in names if user in normal(name) or normal(name).partition(" ")[0] in user]

    def _scan(self) -> Iterator[int]:
        for batch in self._reader.entries(0, self.size):
            for record, _ in batch:
                if record.kind == "experience" and record.raw is not None:
                    body = record.body
                    if isinstance(body, ExperienceBody) and body.symbolic:
                        yield record.index


def _named(asks: Asks | None, kept: "Mapping[str, array[int]]", size: int) -> list[int]:
    """Return the records that claim something of the subjects that a question is about, or of any, in log order."""
    anybody = asks is None or not asks.subjects
    found = [
        indexes
        for subject, indexes in kept.items()
        if anybody or (asks is not None and any(is_meant(name, subject) for name in asks.subjects))
    ]
    return sorted({index for indexes in found for index in indexes if index < size})


def _meant(asks: Asks, scope: Scope | None, tables: "OpenTables") -> list[str]:
    """Return the subjects, as they are written in claims, that a question is about: SQL can't tell (Renée, RENÉE)."""
    where, params = _bounds(scope)
    query = f"SELECT DISTINCT c.subject FROM claims c JOIN experiences e USING (log_index) WHERE {where}"  # noqa: S608 - our own words
    known = [subject for (subject,) in tables.rows(query, params)]
    return [subject for subject in known if any(is_meant(name, subject) for name in asks.subjects)]


def _query(subjects: Sequence[str] | None, scope: Scope | None) -> tuple[str, list[Any]]:
    """Return what asks the projection for records with claims, of these subjects or of all."""
    where, params = _bounds(scope)
    if subjects is not None:
        where += " AND c.subject IN (SELECT unnest(?::VARCHAR[]))"
        params.append(list(subjects))
    query = (
        "SELECT DISTINCT c.log_index FROM claims c JOIN experiences e USING (log_index)"  # noqa: S608 - our own words
        f" WHERE {where} ORDER BY c.log_index"
    )
    return query, params


def _bounds(scope: Scope | None) -> tuple[str, list[Any]]:
    """Return what holds the experiences `e` of a query to a scope."""
    given = {
        name: value for name, value in msgspec.structs.asdict(scope or Scope()).items() if value is not None
    }
    return " AND ".join(("true", *(f"e.{name} = ?" for name in given))), list(given.values())


def _question_of(record: Record) -> str:
    body = record.body if record.raw is not None else None
    return body.question if isinstance(body, StanceBody) else ""
