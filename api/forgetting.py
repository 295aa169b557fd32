"""What leaves the memory: hidden, brought back, or erased with its key and all that was derived from it alone."""

from collections.abc import Mapping
from functools import partial

from braid.ledger import cascade as cascades
from braid.ledger import erase as erasing
from braid.ledger.errors import UnknownRecordError
from braid.ledger.ids import RecordId
from braid.writing import Writing


class Forgetting(Writing):
    """A store as whoever forgets in it sees it."""

    def forget(self, *ids: str, reason: str | None = None) -> RecordId:
        """Hide records, and what was read of them, until they are recovered or, past the window, erased by `retain`."""
        from braid.learning import readings_of

        _refuse_none(ids)
        return erasing.forget(self.writer, [*ids, *readings_of(self, ids)], reason)

    def recover(self, *ids: str, reason: str | None = None) -> RecordId:
        """Bring forgotten records back within the retention window."""
        from braid.learning import hidden_with

        _refuse_none(ids)
        return erasing.recover(self.writer, [*ids, *hidden_with(self, ids)], self._clock(), reason)

    def plan_erase(self, *ids: str, **scope: str) -> cascades.Cascade:
        """Return what erasing these ids, or everything of a scope (`user_id=…`, `session_id=…`), would
        take and weaken.
        """
        self.refresh()
        indexes = [self._reader.index_of(id) for id in ids]
        for id, index in zip(ids, indexes, strict=True):
            if self._reader.envelope(index).id != id:
                raise UnknownRecordError(f"{id}: no such record")
        if scope:
            indexes += self._within(scope)
        return cascades.plan(self._reader, indexes)

    def _within(self, scope: Mapping[str, str]) -> list[int]:
        """Return the records of a scope by reading the log itself: a projection may lag, or leave out the forgotten."""
        unknown = set(scope) - {"user_id", "agent_id", "run_id", "session_id"}
        if unknown:
            raise ValueError(
                f"unknown scope {', '.join(sorted(unknown))}; known: user_id, agent_id, run_id, session_id"
            )
        for name, value in scope.items():
            _refuse_no_text(name, value)
        self._reader.need_vault()
        found: list[int] = []
        for record in self.read(include_forgotten=True):
            if record.envelope.is_control or record.kind in ("genesis", "key", "tombstone"):
                continue
            given: dict[str, str] = record.members.get("scope") or {}
            if all(given.get(name) == value for name, value in scope.items()):
                found.append(record.index)
        return found

    def erase(self, *ids: str, reason: str | None = None, **scope: str) -> list[erasing.Certificate]:
        """Erase records and what is derived from them alone: keys destroyed, bodies blanked, projections
        rebuilt, certified.
        """
        self.plan_erase(*ids)  # refuses unknown ids before anything is done
        indexes = [self._reader.index_of(id) for id in ids]
        choose = partial(self._chosen, indexes, scope)
        return erasing.erase(self.writer, choose, self.views.purge, reason=reason)

    def _chosen(self, indexes: list[int], scope: Mapping[str, str]) -> list[int]:
        within = self._within(scope) if scope else []
        return indexes + [index for index in within if index not in self._reader.control.erased]

    def carry_out(self, cascade: cascades.Cascade, *, reason: str | None = None) -> list[erasing.Certificate]:
        """Erase what `plan_erase` was asked for, planned anew: what was derived from it since then goes too."""
        return erasing.erase(self.writer, cascade, self.views.purge, reason=reason)

    def retain(self) -> list[erasing.Certificate]:
        """Erase what was forgotten longer ago than the retention window; a logged event says when the sweep looked."""
        return erasing.retain(self.writer, self._clock(), self.views.purge)

    def retention_due(self) -> list[int]:
        """Return the forgotten records that the next `retain` would erase."""
        return erasing.due(self._reader, self._clock())

    def compact(self) -> int:
        """Give back the disk space of erased bodies; return bytes."""
        return erasing.compact(self.writer)


def _refuse_no_text(name: str, value: object) -> None:
    """Refuse what names no scope: None would be every record that says nothing of it, and erasing is for good."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is text, not {value!r:.60}; nothing was erased")


def _refuse_none(ids: tuple[str, ...]) -> None:
    """Refuse to sign a tombstone of nothing."""
    if not ids:
        raise ValueError("no record was named: give the ids of those that are meant")
