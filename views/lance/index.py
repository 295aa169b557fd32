"""Questions to one state of the LanceDB projection (`braid.views.search.Index`): log indexes and scores come back."""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import partial, wraps
from typing import Any, Final, ParamSpec, TypeVar

import numpy as np

from braid.ledger.record.scope import SCOPES
from braid.views.errors import DamagedViewError
from braid.views.lance.addresses import Addresses
from braid.views.lance.arrow import numbers
from braid.views.lance.card import RowCard, fetched, read_cards
from braid.views.lance.maintenance import partitions
from braid.views.lance.schema import EXPERIENCE, SIGNATURE, WAITING
from braid.views.lance.view import COPY_ROWS, LanceView, told_as_damage
from braid.views.search import SEMANTIC, Fetched, IndexHit, Row, Where

P = ParamSpec("P")
T = TypeVar("T")
MAX_QUERY_CHARS: Final = 8_192
"""More of a question adds no word that tells records apart."""
_LEAST_PROBES: Final = 20
_PROBED: Final = 20
"""Of a large index's partitions one in so many is looked into, so that growth costs time before it costs hits."""
_OVER: Final = 4
_LIVE: Final = f"kind = '{EXPERIENCE}'"


def _telling(ask: Callable[P, T]) -> Callable[P, T]:
    """Tell of damage that a question meets: opening a set reads neither its indexes nor most of its rows."""

    @wraps(ask)
    def told(*given: P.args, **named: P.kwargs) -> T:
        try:
            return ask(*given, **named)
        except DamagedViewError as error:
            index: Any = given[0]
            index._damaged(str(error))
            raise

    return told


def _untold(_why: str) -> None:
    """Nobody is told."""


class LanceIndex:
    """The projection as it stood when this was opened. Safe to share between threads."""

    def __init__(
        self,
        view: LanceView,
        hidden: Callable[[], Container[int]],
        addresses: Addresses | None = None,
        damaged: Callable[[str], None] = _untold,
    ) -> None:
        """`hidden` returns what is forgotten or erased by now: the projection may trail behind it. `addresses`: what is
        known of this set's. `damaged` is told what a question meets that can't be read.
        """
        if view.stamp is None:
            raise DamagedViewError("it was never finished")
        self._table = view.table
        self._model = view.model
        self._position = view.stamp.position
        self._hidden = hidden
        self._addresses = addresses or Addresses()
        self._damaged = damaged
        with told_as_damage("read"):
            # Mostly there is neither, and one count tells so: each costs some milliseconds whenever the log has grown.
            either = self._table.count(f"kind = '{SIGNATURE}' OR ({WAITING})")
            waiting = self._table.count(WAITING) if either else 0
            self._weighed = either > waiting
            self._pending = waiting if self._model.name else 0
            self._probes = max(_LEAST_PROBES, partitions(self._table) // _PROBED)

    @property
    def position(self) -> int:
        """How many records of the log it has taken in."""
        return self._position

    @property
    def model(self) -> str:
        """The name and version of the model whose vectors it holds, or ''."""
        return self._model.name

    @property
    def pending(self) -> int:
        """How many records wait for their vector; counted once, when this was opened."""
        return self._pending

    @property
    def dimensions(self) -> int:
        """The length of the vectors of meaning."""
        return self._model.dimensions

    @_telling
    def nearest(
        self, vector: Any, role: str | Sequence[str] = SEMANTIC, k: int = 10, where: Where | None = None
    ) -> list[IndexHit]:
        """Return the k records nearest by cosine, each weighed by the salience that the log gives its role.

        Raises ValueError for an unknown role, a vector of another length, or one that has no direction.
        """
        roles = _roles(role)
        clause = _clause(where, roles if set(roles) < set(SEMANTIC) else ())
        if clause is None or k < 1:
            return []
        query = _unit(vector, self._model.dimensions)
        wide = k * _OVER if self._weighed else k
        search = partial(self._table.nearest, query, column="vector", probes=self._probes, most=wide)
        scores = self._scored(search, clause, "_distance")
        hits = {index: 1.0 - distance for index, distance in scores.items()}
        if self._weighed:
            weights = self._signatures(list(hits), roles, None if where is None else where.below)
            hits = {index: score * weights.get(index, (1.0, None))[0] for index, score in hits.items()}
        return self._best(hits, k)

    @_telling
    def words(self, text: str, k: int = 10, where: Where | None = None) -> list[IndexHit]:
        """Return the k records that fit the words best by BM25."""
        clause = _clause(where)
        said = _askable(text)
        if clause is None or k < 1 or not said:
            return []
        search = partial(self._table.matching, said, column="text", most=k)
        return self._best(self._scored(search, clause, "_score"), k)

    def _scored(self, search: Callable[..., Any], clause: str, score: str) -> dict[int, float]:
        """Return what a search finds: the column `score` by log index. No clause is needed to keep out the dead: only
        what lives has words and vectors.
        """
        if self._addresses.known:
            with told_as_damage("read"):
                found = search(where=clause, columns=[score], addressed=True)
            indexes = self._addresses.indexes(self._table, numbers(found["_rowid"]))
        else:
            with told_as_damage("read"):
                found = search(where=clause, columns=["log_index", score])
            indexes = found["log_index"].to_pylist()
            self._addresses.miss(self._table, 1.0)
        return dict(zip(indexes, found[score].to_pylist(), strict=True))

    def _best(self, scores: Mapping[int, float], k: int) -> list[IndexHit]:
        hidden = self._hidden()
        best = sorted(scores.items(), key=lambda one: (-one[1], one[0]))
        return [
            IndexHit(index, float(score))
            for index, score in best
            if index not in hidden and 0 <= index < self._position  # a forged row may say any
        ][:k]

    def rows(self, where: Where | None = None) -> Iterator[Row]:
        """Yield the records that satisfy `where` in the log's order; only their indexes are held all at once."""
        clause = _clause(where)
        if clause is None:
            return
        with told_as_damage("read"):
            indexes = sorted(
                index
                for batch in self._table.batches(clause or _LIVE, ["log_index"], COPY_ROWS)
                for index in batch["log_index"].to_pylist()
            )
        for at in range(0, len(indexes), 4_096):
            some = self.take(indexes[at : at + 4_096])
            yield from (some[index] for index in indexes[at : at + 4_096] if index in some)

    def take(self, indexes: Sequence[int]) -> dict[int, Row]:
        """Return the rows of these records, by index; hidden and unknown ones are left out."""
        return self.both(indexes).rows

    @_telling
    def both(self, indexes: Sequence[int]) -> Fetched:
        """Return the rows of these records, and their vectors of meaning, read together."""
        cards = self._cards(self._seen(indexes))
        weights = self._signatures(list(cards), SEMANTIC) if self._weighed else {}
        return fetched(cards, weights, self._model.dimensions)

    def _cards(self, indexes: Sequence[int]) -> dict[int, RowCard]:
        """Return the cards of these records: by address where it is known, of the others by log index."""
        if not indexes:
            return {}
        found: dict[int, bytes | None] = {}
        addresses, missing = self._addresses.of(indexes)
        if addresses:
            at = {address: index for index, address in addresses.items()}
            with told_as_damage("read"):
                there = self._table.at(at, ["card"])  # one column: each is read row by row
            found = dict(
                zip(map(at.__getitem__, _column(there, "_rowid")), _column(there, "card"), strict=True)
            )
            missing += addresses.keys() - found.keys()
        if missing:
            rows = self._rows(f"log_index IN ({_numbers(missing)})", ["log_index", "card"])
            found |= zip(_column(rows, "log_index"), _column(rows, "card"), strict=True)
            self._addresses.miss(self._table, len(missing) / len(indexes))
        return read_cards({index: card for index, card in found.items() if card is not None})

    def _rows(self, where: str, columns: list[str]) -> Any:
        with told_as_damage("read"):
            return self._table.rows(where, columns)

    def _seen(self, indexes: Sequence[int]) -> list[int]:
        hidden = self._hidden()
        return [index for index in indexes if index not in hidden]

    def vectors(self, indexes: Sequence[int], role: str | Sequence[str] = SEMANTIC) -> dict[int, Any]:
        """Return unit vectors (float32[d]) of these records, by index; pending ones are left out."""
        roles = _roles(role)
        found = self._selected(self._seen(indexes), ("log_index", "role", "vector"))
        if found is None:
            return {}
        said = dict(zip(found["log_index"].to_pylist(), found["role"].to_pylist(), strict=True))
        return {index: vector for index, vector in _dense(found) if said[index] in roles}

    def _selected(self, indexes: Sequence[int], columns: Sequence[str]) -> Any | None:
        """Return the rows of these records as an Arrow table; None where none is asked for.

        What no longer lives is left out here: LanceDB would meet the whole of the index of `kind` with a few numbers.
        """
        if not indexes:
            return None
        names = dict.fromkeys([*columns, "kind"])
        found = self._rows(f"log_index IN ({_numbers(indexes)})", list(names))
        lives = np.array([kind == EXPERIENCE for kind in found["kind"].to_pylist()], dtype=bool)
        return found if lives.all() else found.filter(lives)

    def _signatures(
        self, indexes: Sequence[int], roles: Sequence[str], below: int | None = None
    ) -> dict[int, tuple[float, str | None]]:
        """Return salience and label by target: what the newest signature of one of these roles says, of those below a
        log index where one is given."""
        if not indexes:
            return {}
        names = ", ".join(_literal(role) for role in roles)
        where = f"kind = '{SIGNATURE}' AND role IN ({names}) AND target IN ({_numbers(indexes)})"
        if below is not None:
            where += f" AND log_index < {below:d}"
        columns = ["log_index", "k", "target", "salience", "label"]
        found = self._rows(where, columns).to_pylist()
        hidden = self._hidden()
        newest = sorted(found, key=lambda row: (row["log_index"], row["k"]))
        return {
            row["target"]: (row["salience"], row["label"]) for row in newest if row["log_index"] not in hidden
        }


def _column(found: Any, name: str) -> list[Any]:
    """Return the cells of one column of an Arrow table."""
    cells: list[Any] = found[name].to_pylist()
    return cells


def _dense(found: Any) -> Iterator[tuple[int, Any]]:
    """Yield (log index, float32[d]) of each row of an Arrow table that has a vector."""
    found = found.filter(found["vector"].is_valid())
    width = found.schema.field("vector").type.list_size
    dense = found["vector"].combine_chunks().flatten().to_numpy(zero_copy_only=False).reshape(-1, width)
    return zip(found["log_index"].to_pylist(), dense, strict=True)


def _roles(role: str | Sequence[str]) -> tuple[str, ...]:
    roles = (role,) if isinstance(role, str) else tuple(role)
    unknown = [one for one in roles if one not in SEMANTIC]
    if unknown or not roles:
        raise ValueError(
            f"no vectors of role {', '.join(unknown) or '(none)'} are kept, only of {', '.join(SEMANTIC)}"
        )
    return roles


def _unit(vector: Any, dimensions: int) -> Any:
    found = np.asarray(vector, dtype=np.float64)
    if found.shape != (dimensions,):
        raise ValueError(
            f"the vectors here have {dimensions} dimensions; one of shape {found.shape} was given"
        )
    length = float(np.linalg.norm(found)) if np.isfinite(found).all() else 0.0
    if not 0.0 < length < np.inf:
        raise ValueError("a vector of zeros or of values that are no numbers has no direction")
    return (found / length).astype(np.float32)


def _askable(text: str) -> str:
    """Return a question's first words, without control characters and halves of surrogate pairs."""
    head = text[:MAX_QUERY_CHARS].encode("utf-8", "ignore").decode()
    return "".join(char if char.isprintable() else " " for char in head).strip()


def _clause(where: Where | None, roles: Sequence[str] = ()) -> str | None:
    """Return the filter in LanceDB's SQL, empty for none; None for one that nothing can satisfy."""
    parts: list[str] = []
    if roles:
        parts.append(f"role IN ({', '.join(_literal(role) for role in roles)})")
    if where is None:
        return " AND ".join(parts)
    parts += [
        f"{column} = {_literal(value)}" for column in SCOPES if (value := getattr(where, column)) is not None
    ]
    if where.below is not None:
        parts.append(f"log_index < {where.below:d}")
    if where.since_us is not None:
        parts.append(f"happened_us >= {where.since_us:d}")
    if where.until_us is not None:
        parts.append(f"happened_us < {where.until_us:d}")
    if where.among is not None:
        if not where.among:
            return None
        parts.append(f"log_index IN ({_numbers(sorted(where.among))})")
    return " AND ".join(parts)


def _literal(text: str) -> str:
    """Return text as an SQL literal: quotes doubled; nothing else is special inside one."""
    return "'" + text.encode("utf-8", "replace").decode().replace("'", "''") + "'"


def _numbers(indexes: Sequence[int]) -> str:
    return ", ".join(f"{index:d}" for index in indexes)
