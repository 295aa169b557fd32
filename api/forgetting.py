"""What leaves the memory: hidden, brought back, or erased with its key and all that was derived from it alone."""

from collections.abc import Iterable, Mapping
from functools import partial

from braid.ledger import cascade as cascades
from braid.ledger import erase as erasing
from braid.ledger.errors import UnknownRecordError
from braid.ledger.ids import RecordId
from braid.ledger.withdrawal import falls_with, refuse_baseless, returns_with
from braid.log.operations import Read, read
from braid.writing import Writing


class Forgetting(Writing):
    """A store as whoever forgets in it sees it."""

    def forget(self, *ids: str, reason: str | None = None) -> RecordId:
        """Hide records and what falls with them (see `plan_forget`), until they are recovered or, past the window,
        erased by `retain`. Returns the tombstone's id.
        """
        _refuse_none(ids)
        with self.writer.turn():  # nothing that quotes them comes between plan and tombstone
            return erasing.forget(self.writer, [*ids, *self.plan_forget(*ids)], reason)

    def plan_forget(self, *ids: str) -> list[RecordId]:
        """Return what would fall if these records were forgotten: what rests on them alone, and the answers, stances
        and views that quote them.
        """
        self.refresh()
        return self._names(falls_with(self._reader, [self._reader.get(id).index for id in ids]))

    def plan_recover(self, *ids: str) -> list[RecordId]:
        """Return what fell with these forgotten records and would come back with them: not what is past its window.

        Raises InvalidRecordError for a record of which all that it rests on stays forgotten.
        """
        self.refresh()
        indexes = [self._reader.get(id, include_forgotten=True).index for id in ids]
        refuse_baseless(self._reader, indexes)
        late = set(erasing.due(self._reader, self._clock()))
        back = [at for at in returns_with(self._reader, indexes) if at not in late]
        return [id for id in self._names(back) if id not in ids]

    def _names(self, indexes: Iterable[int]) -> list[RecordId]:
        return [RecordId(self._reader.envelope(index).id) for index in indexes]

    def recover(self, *ids: str, reason: str | None = None) -> RecordId:
        """Bring forgotten records, and what fell with them, back within the retention window."""
        _refuse_none(ids)
        with self.writer.turn():
            return erasing.recover(self.writer, [*ids, *self.plan_recover(*ids)], self._clock(), reason)

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
        for record in read(self, Read(include_forgotten=True)):
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
