"""Turns of a conversation on their way into the log: drafts, batches, what was known, what was refused."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from braid.ledger.compose import encode_body
from braid.ledger.errors import BodyTooLargeError, ErasedError, InvalidRecordError
from braid.ledger.record import Draft, ExperienceBody, Scope
from braid.ledger.validate import check_draft
from braid.ledger.writer import utc_now
from braid.tools.cli.output import line, say
from braid.tools.cli.progress import Bar
from braid.tools.cli.sources import Opened, draft_of
from braid.tools.importers.message import BadLine, Message

if TYPE_CHECKING:
    from braid.store import Store

BATCH = 1_000
ScopeOf = Callable[[str | None], Scope | None]


class _Turn(NamedTuple):
    """A turn waiting for its batch; `line` counts from 1 in its source."""

    name: str
    line: int
    draft: Draft
    hash: str


class Intake:
    """Takes sources into a store, a thousand turns a transaction, and counts."""

    def __init__(self, store: "Store", scope_of: ScopeOf, *, dry_run: bool = False) -> None:
        self._store = store
        self._scope_of = scope_of
        self._dry_run = dry_run
        self._batch: dict[str, _Turn] = {}
        self._seen: dict[str, str] = {}
        self.taken = self.known = self.skipped = self.text_bytes = 0

    def take(self, opened: Opened, source: str, bar: Bar) -> None:
        """Read a source to its end. `source` is its lasting name, for keys."""
        for item in opened.importer.read(opened.stream, opened.uri):
            if isinstance(item, BadLine):
                self._skip(opened.name, item.line, item.reason)
            else:
                self._add(opened.name, item, item.key(source))
            if len(self._batch) >= BATCH:
                bar.advance(self._commit())
        bar.advance(self._commit())

    def _skip(self, name: str, number: int, reason: str) -> None:
        self.skipped += 1
        say(f"{line(name)}:{number}: {reason}")

    def _add(self, name: str, message: Message, key: str) -> None:
        draft = draft_of(message, self._scope_of(message.session), key)
        turn = _Turn(name, message.ordinal + 1, draft, message.source_hash)
        earlier = self._batch.get(key)
        if earlier is None:
            self._batch[key] = turn
        else:
            self._judge(turn, earlier.hash)

    def _judge(self, turn: _Turn, hash_before: str | None) -> None:
        """Count a turn whose key was there already: known, or in conflict when what it says has changed."""
        if hash_before is None or hash_before == turn.hash:
            self.known += 1
        else:
            self._skip(
                turn.name,
                turn.line,
                "another turn was recorded under this id before; `braid correct` it instead",
            )

    def _commit(self) -> int:
        turns = list(self._batch.values())
        self._batch.clear()
        if self._dry_run:
            turns = self._sound(turns, utc_now())
            self._count_dry(turns)
            return len(turns)
        if turns:
            self._write(turns)
        return len(turns)

    def _write(self, turns: list[_Turn]) -> None:
        try:
            placed = self._store.append_all([turn.draft for turn in turns])
        except (InvalidRecordError, BodyTooLargeError):
            sound = self._sound(turns, utc_now())
            if len(sound) == len(turns):
                raise
            if sound:
                self._write(sound)
            return
        for turn, at in zip(turns, placed, strict=True):
            if at.known:
                self._judge(turn, self._hash_at(at.index))
            else:
                self._count(turn)

    def _count(self, turn: _Turn) -> None:
        self.taken += 1
        body = turn.draft.body
        self.text_bytes += len(body.content.text.encode()) if isinstance(body, ExperienceBody) else 0

    def _sound(self, turns: Sequence[_Turn], now: datetime) -> list[_Turn]:
        """Return the turns that may enter the log; report the others."""
        sound: list[_Turn] = []
        for turn in turns:
            try:
                check_draft(turn.draft, now)
                encode_body(turn.draft)
            except (InvalidRecordError, BodyTooLargeError) as error:
                self._skip(turn.name, turn.line, str(error))
            else:
                sound.append(turn)
        return sound

    def _count_dry(self, turns: list[_Turn]) -> None:
        keys = {turn.draft.body.once or "": turn for turn in turns}
        self._store.views.catalog.catch_up()
        found = self._store.views.catalog.find(list(keys))
        for key, turn in keys.items():
            if key in found:
                self._judge(turn, self._hash_at(found[key]))
            elif key in self._seen:
                self._judge(turn, self._seen[key])
            else:
                self._seen[key] = turn.hash
                self._count(turn)

    def _hash_at(self, index: int) -> str | None:
        """Return the source hash of the record at `index`, None where it can't be had."""
        try:
            body = self._store.reader.at(index, include_forgotten=True).body
        except (ErasedError, ValueError):
            return None
        sources = body.provenance.sources if isinstance(body, ExperienceBody) else []
        return sources[0].hash if sources else None
