"""Turns of a conversation on their way into the log: drafts, batches, what was known, what was refused."""

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

import msgspec

from braid.ledger.errors import BodyTooLargeError, InvalidRecordError
from braid.ledger.record.record import Draft, Scope
from braid.ledger.record.source import WORDS
from braid.ledger.record.validate import check_draft
from braid.ledger.write.compose import encode_body
from braid.ledger.write.writer import utc_now
from braid.tools.cli.duplicates import KnownTurn, KnownTurns
from braid.tools.cli.located import FIRST_LINE, Locator, words_of
from braid.tools.cli.output import line, many, say
from braid.tools.cli.progress import Bar
from braid.tools.cli.rejects import Skips
from braid.tools.cli.sources import Mine, Opened, draft_of
from braid.tools.importers.errors import SourceError
from braid.tools.importers.message import BadLine, Message

if TYPE_CHECKING:
    from braid.store import Store

_LINE = re.compile(r"#L(\d+)")
NAMED = 10
"""So many files that were passed over are named."""
BATCH = 1_000
BATCH_BYTES = 8 * 2**20
ScopeOf = Callable[[str | None], Scope | None]
OUTSIDERS = f"{WORDS}outsider"
_ANOTHER = "another turn was recorded under this id before; `braid correct` it instead"


class _Turn(NamedTuple):
    """A turn waiting for its batch."""

    place: str
    message: Message
    key: str
    supersedes: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


class Intake:
    """Takes sources into a store, up to a thousand turns a transaction, and counts.

    What was taken is in the log before the next batch is read: stopped at any moment and begun again, it finds the
    turns that are there by their keys (`Message.key`) and goes on behind them.
    """

    def __init__(
        self,
        store: "Store",
        scope_of: ScopeOf,
        *,
        dry_run: bool = False,
        since: datetime | None = None,
        mine: Mine | None = None,
    ) -> None:
        """`mine`: whose words are the owner's, in mail and rooms."""
        self._mine = mine or Mine()
        self._form = ""
        self.others = 0
        """Turns that were taken as outsiders' words."""
        self.passed_over = 0
        """Files of folders and zips that are of another format than the rest."""
        self.damaged = 0
        """Turns of which bytes were no text."""
        self._store = store
        self._known = KnownTurns(store, scope_of(None))
        self._located = Locator(self._known)
        self._scope_of = scope_of
        self._dry_run = dry_run
        self._since = since
        self._batch: dict[str, _Turn] = {}
        self._batch_bytes = 0
        self._seen: dict[str, str] = {}
        self.taken = self.known = self.older = self.revised = self.text_bytes = 0
        self.roles: Counter[str] = Counter()
        self.skips = Skips()

    @property
    def skipped(self) -> int:
        """How many lines were left out."""
        return self.skips.count

    def take(self, opened: Opened, source_id: str, bar: Bar) -> None:
        """Read a source to its end. `source_id` is its lasting name, for keys."""
        self._form = opened.importer.name
        is_nameless = self._form in FIRST_LINE and source_id == opened.source_id
        self._located = Locator(self._known, is_nameless=is_nameless, begun_at=self._store.reader.size)
        try:
            for item in opened.importer.read(opened.source):
                if isinstance(item, BadLine):
                    self.skips.tell(_place(opened.name, item.part, item.line), item.reason)
                else:
                    self._add(_where(opened, item), item, source_id)
                if len(self._batch) >= BATCH or self._batch_bytes >= BATCH_BYTES:
                    self._pass(opened, bar)
        except SourceError as error:
            self.skips.tell(line(opened.name), f"{error}; what follows was not read")
        else:
            self._tell_unread(opened)
        self._pass(opened, bar)

    def _tell_unread(self, opened: Opened) -> None:
        """Say which files of a folder or zip are of another format: nothing of them is taken."""
        names = opened.source.unread()
        if not names:
            return
        self.passed_over += len(names)
        shown = ", ".join(map(line, names[:NAMED]))
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        say(
            f"{line(opened.name)}: read as {self._form}; {many(len(names), 'file')} of it passed over: {shown}{more}"
        )

    def _pass(self, opened: Opened, bar: Bar) -> None:
        count = self._commit()
        meter = opened.source.meter
        if meter.total:
            bar.reach(meter.done >> 10, max(meter.total, meter.done) >> 10)
        else:
            bar.advance(count)

    def _add(self, place: str, message: Message, source_id: str) -> None:
        if self._since and message.occurred_at and message.occurred_at < self._since:
            self.older += 1
            return
        tags = tuple(self._mine.tags(self._form, message))
        turn = _Turn(place, message, message.key(source_id), tags=tags)
        earlier = self._batch.get(turn.key)
        if earlier is None:
            self._batch[turn.key] = turn
            self._batch_bytes += len(message.text) + len(msgspec.json.encode(message.extra))
        else:
            self._judge(turn, earlier.message.source_hash)

    def _judge(self, turn: _Turn, hash_before: str | None) -> None:
        """Count a turn whose key was there already: known, or in conflict when what it says has changed."""
        if hash_before is None or hash_before == turn.message.source_hash:
            self.known += 1
        else:
            self.skips.tell(turn.place, _ANOTHER)

    def _commit(self) -> int:
        """Take the batch; return how many turns it held."""
        batch = list(self._batch.values())
        self._batch.clear()
        self._batch_bytes = 0
        turns = self._unknown(batch)
        if self._dry_run:
            for turn, _ in self._sound(self._drafted(turns), utc_now()):
                self._seen[turn.key] = turn.message.source_hash
                self._count(turn)
        elif turns:
            self._write(self._drafted(turns))
        return len(batch)

    def _unknown(self, batch: list[_Turn]) -> list[_Turn]:
        """Return the turns that are to be recorded; count the others. No draft is made of what is known."""
        left: list[_Turn] = []
        places = self._located.locate([(turn.key, turn.message) for turn in batch])
        for turn, (key, index, there) in zip(batch, places, strict=True):
            if index is None and key in self._seen:
                self._judge(turn, self._seen[key])
            elif index is None:
                left.append(turn._replace(key=key))
            elif turn.message.external_id is None:  # the key holds the hash
                self.known += 1
            elif turn.message.revised:
                left += self._revision(turn._replace(key=key), index)
            elif self._says_as_much(turn, there):
                self.known += 1
            else:
                self._judge(turn, there.hash)
        return left

    def _says_as_much(self, turn: _Turn, there: KnownTurn) -> bool:
        """Whether a turn adds nothing: the same words in another line, or older ones than the edit that is known."""
        is_same = self._located.is_nameless and there.words == words_of(turn.message)
        return is_same or _is_older(turn.message, there)

    def _revision(self, turn: _Turn, index: int) -> list[_Turn]:
        """Return the turn as what replaces its newest version; nothing when that one says the same."""
        id, newest = self._known.newest(index)
        if newest.hash == turn.message.source_hash or _is_older(turn.message, newest):
            self.known += 1
            return []
        key = json.dumps([turn.key, "revised", id, turn.message.source_hash], separators=(",", ":"))
        return [turn._replace(key=key, supersedes=(id,))]

    def _drafted(self, turns: list[_Turn]) -> list[tuple[_Turn, Draft]]:
        return [(turn, self._draft_of(turn)) for turn in turns]

    def _draft_of(self, turn: _Turn) -> Draft:
        within = self._scope_of(turn.message.session)
        return draft_of(turn.message, within, turn.key, turn.supersedes, tags=turn.tags)

    def _write(self, drafted: Sequence[tuple[_Turn, Draft]]) -> None:
        try:
            placed = self._store.session.append_drafts([draft for _, draft in drafted])
        except (InvalidRecordError, BodyTooLargeError) as error:
            sound = self._sound(drafted, utc_now())
            if len(sound) == len(drafted):
                self._write_apart(drafted, error)
            elif sound:
                self._write(sound)
            return
        for (turn, _), at in zip(drafted, placed, strict=True):
            if at.known:  # another process took it meanwhile
                self._judge(turn, self._known.turns([at.index])[at.index].hash)
            else:
                self._count(turn)

    def _write_apart(self, drafted: Sequence[tuple[_Turn, Draft]], error: Exception) -> None:
        """Write the turns that revise none, then each of the others; report the one that may not revise. Raises the
        error where none does."""
        revising = [one for one in drafted if one[0].supersedes]
        if not revising:
            raise error
        if len(drafted) == 1:
            self.skips.tell(revising[0][0].place, str(error))
            return
        if plain := [one for one in drafted if not one[0].supersedes]:
            self._write(plain)
        for one in revising:
            self._write([one])

    def _count(self, turn: _Turn) -> None:
        self.taken += 1
        self.revised += bool(turn.supersedes)
        self.others += OUTSIDERS in turn.tags
        self.damaged += "bytes_replaced" in turn.message.extra
        self.roles[turn.message.role] += 1
        self.text_bytes += len(turn.message.text.encode())

    def _sound(self, drafted: Sequence[tuple[_Turn, Draft]], now: datetime) -> list[tuple[_Turn, Draft]]:
        """Return the turns that may enter the log; report the others."""
        sound: list[tuple[_Turn, Draft]] = []
        for turn, draft in drafted:
            try:
                check_draft(draft, now)
                encode_body(draft)
            except (InvalidRecordError, BodyTooLargeError) as error:
                self.skips.tell(turn.place, str(error))
            else:
                sound.append((turn, draft))
        return sound


def _is_older(message: Message, known: KnownTurn) -> bool:
    """Whether a turn was said, or edited, before the edit that is known: an older export came later."""
    if known.edited_at is None or not message.says_edits:  # a member of that name may be anybody's own
        return False
    return not message.revised or (message.edited_at is not None and message.edited_at < known.edited_at)


def _place(name: str, part: str, number: int) -> str:
    return f"{line(name)}{'/' if part else ''}{line(part)}:{number}"


def _where(opened: Opened, message: Message) -> str:
    """Where a turn stands: its line or place, and of a folder or zip the file."""
    if not opened.source.is_tree:
        at = _LINE.search(message.source_uri)
        return _place(opened.name, "", int(at[1]) if at else message.ordinal + 1)
    return line(opened.name + unquote(message.source_uri.removeprefix(opened.source.uri)))
