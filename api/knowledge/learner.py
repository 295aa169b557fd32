"""Reading follows the log: what is new in it is read for claims, which are appended as inference records (SPEC §19).

One way through for live, catch-up and rebuild. The position is a convenience: without it the log is read from its
beginning, and the `once` keys keep everything from being recorded twice.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import accumulate, islice
from threading import Lock, RLock
from typing import Any, Final, NamedTuple, cast

import msgspec

from braid.knowledge.operations import Learned
from braid.knowledge.range_consumer import EXTRACTION, RangeRead
from braid.knowledge.retirement import retire_replaced
from braid.knowledge.setting import readers, setting
from braid.knowledge.tally import Tally
from braid.learn.gates.outcome import EVERY_SENSITIVITY, Sensitivity, suffix_of
from braid.learn.inference import Settled, inference, settled, turn_of
from braid.learn.parse.reader import ParseReader
from braid.learn.reading import method_of
from braid.learn.turn import KnownClaims, Turn, TurnReader, TurnReading
from braid.ledger.errors import ErasedError, ForgottenError
from braid.ledger.record.record import Draft, ExperienceBody, Record, is_reading
from braid.ledger.record.scope import memory_of
from braid.ledger.record.source import BELIEVED, SourceClass, is_least
from braid.outcomes import outcomes
from braid.session import Session
from braid.text.parse import ParserMissingError
from braid.views.errors import ViewError
from braid.wal.durable import make_folder, replace_file
from braid.work.spans import Spans, covers, union

REPLACED: Final = (
    "read:plain@1",
    "read:parse@2+en_core_web_sm-3.8.0+spacy-3.8.18",
    "read:parse@3+en_core_web_sm-3.8.0+spacy-3.8.18",
    *(
        f"read:parse@{version}{suffix_of(kinds)}+en_core_web_sm-3.8.0+spacy-3.8.18"
        for version in (4, 5)
        for kinds in EVERY_SENSITIVITY
    ),
)
"""Methods of readers that this release's takes the place of: what they have read loses its say when it first learns."""
WINDOW: Final = 2_000
"""How many records back what was said may lend a turn its meaning; as many are read again when the store is opened."""
BACK: Final = 500_000
"""How many characters of these are read again at most, the newest: opening a store of long turns stays quick."""
BATCH: Final = 2_000
"""How many records are read before what was found in them is appended, as one transaction."""
AHEAD: Final = 256
"""So many turns are shown to the reader before they are read one by one: a parser takes many at a time sooner."""

CORRECTION_WAIT_S: Final = 2.0
"""How long a correction waits for another thread that reads: what was corrected has lost its say already."""

Told = Callable[[Record, Draft], None]
_Whose = tuple[str | None, ...]


class _Position(msgspec.Struct, frozen=True):
    method: str
    position: int


class _Part(NamedTuple):
    """What a stretch of the log states, and how many turns, and characters of them, were read or left."""

    found: list[tuple[Record, Draft]]
    read: int
    partly: int
    left: int


class Learner:
    """Follows one store's log with one reader, and keeps what is known in each conversation while the store is open."""

    def __init__(
        self, session: Session, of: Sensitivity = frozenset(), trust: SourceClass = BELIEVED
    ) -> None:
        """`of`: whether it reads claims of health, of money, of both, or of neither; `trust`: the lowest source class
        that is read. Raises ParserMissingError where nothing can take sentences apart.
        """
        self._session = session
        self._of = of
        self._trust: SourceClass = trust
        self.turn = RLock()
        self._reader: TurnReader = ParseReader(session.parser, of)
        self._path = session.path / "views" / f"learned{suffix_of(of).replace('+', '-')}.json"
        self._known: dict[_Whose, KnownClaims] = {}
        self._before: dict[_Whose, deque[Turn]] = {}
        self._turns: dict[int, Turn] = {}
        self._at: int | None = None
        """Up to where `_known` has followed the log."""
        self._own: Spans = ()
        """What this handle has read and appended. What is before `_at` may be others', or left by one that died."""

    def learn(self, *, dry_run: bool = False, told: Told | None = None) -> Learned:
        """Read what has not been read yet, and append what it states; `told` is shown each record read and its draft.

        If the process dies between the append and the position, the batch is in the log and its keys are known: reading
        it again adds nothing. After a dry run, use another learner.
        """
        size = self._session.reader.size
        records = claims = partly = left = read = 0
        counted: set[str] = set()
        at = self._resume()
        while at < size:
            stop = min(at + BATCH, size)
            part = self._read(at, stop)
            found, read = part.found, read + part.read
            partly, left = partly + part.partly, left + part.left
            added = self._unknown(found, counted) if dry_run else self._append(found)
            records += len(added)
            claims += sum(len(cast("ExperienceBody", draft.body).symbolic) for _, draft in added)
            for record, draft in added if told is not None else ():
                cast("Told", told)(record, draft)
            self._own = union(self._own, [(at, stop)])
            at = self._at = stop
        if not dry_run and at > self._saved() and self._trust == BELIEVED:
            if not (self._of or self._saved()):  # once for a store: it looks at every reading
                retire_replaced(self._session, REPLACED)
            self._save(at)
        return Learned(read=read, records=records, claims=claims, position=at, partly=partly, left=left)

    @property
    def version(self) -> str:
        """The method of what is read: the version of the rules, and of the parser."""
        return method_of(self._reader)

    @property
    def position(self) -> int:
        """Up to where it has read the log, by what this handle or the file of its position knows."""
        at = self._at
        return self._saved() if at is None else at

    @property
    def is_on(self) -> bool:
        """Whether claims of its kinds are made now."""
        return self._of <= setting(self._session).allowed.allowed

    def is_work(self, record: Record) -> bool:
        """Whether there may be something to read in a record."""
        return record.raw is not None and turn_of(record) is not None

    def read(self, start: int, stop: int) -> RangeRead:
        """Return what the records from index `start` to `stop` state; nothing is appended."""
        with self.turn:
            if covers(self._own, [(start, stop)]):
                return RangeRead([], Tally())
            if self._at != start or self._holds_gone():
                self.reset()
                self._warm_up(start)
            part = self._read(start, stop)
        tally = Tally()
        tally.turns = part.read
        return RangeRead(part.found, tally)

    def reached(self, stop: int, own: Spans) -> None:
        """Take note that the log has an outcome of what is before index `stop`, but for what is left, and that it has
        what this handle read of `own`.
        """
        with self.turn:
            first = not self._noted()
            self._own = union(self._own, own)
            if self._at is None or self._at < stop:
                self._at = stop
            if self._at > self._noted():
                self._save(self._at)
        if first:
            retire_replaced(self._session, REPLACED)

    def reset(self) -> None:
        """Forget what was learned of the talk by reading: it is read again."""
        with self.turn:
            self._known, self._before, self._turns, self._at = {}, {}, {}, None
            self._own = ()

    def _read(self, start: int, stop: int) -> "_Part":
        """Return what the turns from `start` to `stop` state; what they say is known from now on."""
        found: list[tuple[Record, Draft]] = []
        read = partly = left = 0
        for record, turn in self._prepared(self._new(start, stop)):
            read += 1
            draft, unread = self._draft(record, turn)
            partly, left = partly + bool(unread), left + unread
            if draft is not None and self._is_wanted(record):
                found.append((record, draft))
        return _Part(_once(found), read, partly, left)

    def _resume(self) -> int:
        """Return where to read on; what was said shortly before is made known again, without what is gone since."""
        if (at := self._at) is not None:
            if self._holds_gone():
                self.reset()
                self._warm_up(at)
                self._at = at
            return at
        # With another trust, what was passed over is read.
        at = self._saved() if self._trust == BELIEVED else 0
        if at < self._session.reader.size:
            self._warm_up(at)
        return at

    def _holds_gone(self) -> bool:
        """Whether a turn that is known has been forgotten or erased: what it lent to later ones, it lends no more."""
        control = self._session.reader.control
        return any(at in control.hidden or at in control.erased for at in self._turns)

    def _warm_up(self, at: int) -> None:
        """Make known what was said shortly before a place."""
        newest = _newest([turn for _, turn in self._new(max(0, at - WINDOW), at)])
        self._reader.prepare(newest)
        for turn in newest:
            known = self._known_to(turn)
            known.add(self._reader.read(turn, known).notes)

    def _saved(self) -> int:
        return max(self._noted(), outcomes(self._session).progress(EXTRACTION, self.version).upto)

    def _noted(self) -> int:
        with suppress(OSError, msgspec.MsgspecError):
            saved = msgspec.json.decode(self._path.read_bytes(), type=_Position)
            if saved.method == method_of(self._reader) and saved.position <= self._session.reader.size:
                return saved.position
        return 0

    def _save(self, at: int) -> None:
        make_folder(self._path.parent)
        # Another process that shares the store may have renamed the new file away: its position does as well as ours.
        with suppress(FileNotFoundError):
            replace_file(
                self._path, msgspec.json.encode(_Position(method_of(self._reader), at)), "learned.write"
            )

    # -- reading ----------------------------------------------------------------------------------

    def _prepared(self, new: Iterator[tuple[Record, Turn]]) -> Iterator[tuple[Record, Turn]]:
        """Yield turns that the reader has been shown."""
        while some := list(islice(new, AHEAD)):
            self._reader.prepare([turn for _, turn in some])
            yield from some

    def _new(self, start: int, stop: int) -> Iterator[tuple[Record, Turn]]:
        """Yield the turns from `start` to `stop`; one that was forgotten when its turn came follows its recovery."""
        hidden = self._session.reader.control.hidden
        for entries in self._session.reader.entries(start, stop):
            for record, _ in entries:
                if record.kind == "tombstone" and record.envelope.public.get("op") == "recover":
                    yield from self._recovered(record)
                elif record.index not in hidden and (turn := self._turn_of(record)) is not None:
                    yield record, self._placed(record, turn)

    def _turn_of(self, record: Record) -> Turn | None:
        """Return a record as a turn; None for what is not trusted: it changes nobody's mind, nor what "it" means."""
        turn = turn_of(record)
        if turn is None or not is_least(self._session.reader.source_classes.note(record), self._trust):
            return None
        return turn

    def _recovered(self, tombstone: Record) -> Iterator[tuple[Record, Turn]]:
        for link in tombstone.targets("target"):
            with suppress(ErasedError, ForgottenError):
                record = self._session.reader.at(link.index)
                if (turn := self._turn_of(record)) is not None:
                    yield record, self._placed(record, turn)

    def _placed(self, record: Record, turn: Turn) -> Turn:
        """Return a turn with whose memory it is, and kept for the turns that may need it."""
        whose = _whose(record)
        before = self._before.setdefault(whose, deque(maxlen=self._reader.looks_back))
        turn = msgspec.structs.replace(turn, whose=whose, previous=tuple(before))
        before.append(msgspec.structs.replace(turn, previous=()))
        self._turns[turn.at] = msgspec.structs.replace(turn, previous=())  # as a rereading will have it
        return turn

    def _known_to(self, turn: Turn) -> KnownClaims:
        known = self._known.setdefault(turn.whose, KnownClaims())
        known.since = turn.at - WINDOW
        if len(self._turns) > 2 * WINDOW + AHEAD:  # by the turn that is read: the parser is shown later ones
            self._turns = {at: kept for at, kept in self._turns.items() if at >= known.since}
        return known

    def _draft(self, record: Record, turn: Turn) -> tuple[Draft | None, int]:
        """Return what is to be recorded of a turn, and how many characters of it are left; make known what it says."""
        known = self._known_to(turn)
        reading = self._reader.read(turn, known)
        known.add(reading.notes)
        if not reading.claims:
            return None, reading.left
        found = Settled(reading.claims, ()) if not reading.used else self._settled(turn, reading)
        ids = [self._session.reader.envelope(at).id for at in found.evidence]
        draft = inference(self._reader, record, found.claims, ids) if found.claims else None
        return draft, reading.left

    def _settled(self, turn: Turn, reading: TurnReading) -> Settled:
        return settled(self._reader, turn, reading, self._turn_at)

    def _turn_at(self, index: int) -> Turn:
        """Return what was said at a place, as a rereading will have it: what is no longer held is in the log."""
        if index not in self._turns:
            record = self._session.reader.at(index)
            turn = cast("Turn", turn_of(record))  # only a turn lends another its meaning
            self._turns[index] = msgspec.structs.replace(turn, whose=_whose(record))
        return self._turns[index]

    # -- appending --------------------------------------------------------------------------------

    def _append(self, found: list[tuple[Record, Draft]]) -> list[tuple[Record, Draft]]:
        """Append drafts as one transaction; return those that were not in the log before."""
        if not found:
            return []
        placed = self._session.append_drafts([draft for _, draft in found])
        return [one for one, at in zip(found, placed, strict=True) if not at.known]

    def _unknown(self, found: list[tuple[Record, Draft]], counted: set[str]) -> list[tuple[Record, Draft]]:
        """Return those that appending would add: each key once, and none that is in the log; `counted` grows."""
        keys = [draft.body.once for _, draft in found]
        held = self._session.reader.key_index.find([key for key in keys if key is not None])
        new: list[tuple[Record, Draft]] = []
        for one, key in zip(found, keys, strict=True):
            if key is None or not (key in held or key in counted):
                new.append(one)
            counted.update([key] if key is not None else [])
        return new

    def _is_wanted(self, record: Record) -> bool:
        """Whether nobody has erased, on its own, what was read of this record before: it isn't to come back. Nor is
        what came with an imported record: it stands here already, under a key of the import's.
        """
        erased = self._session.reader.control.erased
        came = "imported" in record.members
        if not came and (not erased or record.index >= max(erased)):
            return True
        children = self._session.views.catalog.children(record.index)
        read = [at for at, _, role in children if role == "parent"]
        return not any(at in erased or (came and self._is_ours(at)) for at in read)

    def _is_ours(self, index: int) -> bool:
        """Whether a record is what this very reader has read of another, here or elsewhere."""
        record = self._session.reader.at(index, include_forgotten=True)
        said = record.members.get("provenance")  # of whatever kind, known to this release or not
        return isinstance(said, dict) and cast("dict[str, Any]", said).get("method") == method_of(
            self._reader
        )


def _whose(record: Record) -> tuple[str | None, ...]:
    """Return whose memory a record is of."""
    scope = record.body.scope
    return memory_of(scope)


def _once(found: list[tuple[Record, Draft]]) -> list[tuple[Record, Draft]]:
    """Return each record that was read once: one that was forgotten and has come back is met in two places."""
    return list({record.index: (record, draft) for record, draft in reversed(found)}.values())[::-1]


def _newest(turns: list[Turn]) -> list[Turn]:
    """Return the last of these turns, in their order, that have `BACK` characters together."""
    lengths = accumulate(len(turn.text) for turn in reversed(turns))
    return turns[len(turns) - sum(length <= BACK for length in lengths) :]


def learn(
    session: Session,
    *,
    dry_run: bool = False,
    told: Told | None = None,
    trust: SourceClass = BELIEVED,
    wait_s: float = -1,
) -> Learned:
    """Read what has not been read yet, by the session's one learner: two that follow one log would trip over each
    other. Where another thread reads for longer than `wait_s` seconds, nothing is read; it, or a job, goes on."""
    if dry_run or trust != BELIEVED:
        others = [Learner(session, of, trust) for of in readers(session)]
        return _together([one.learn(dry_run=dry_run, told=told) for one in others])
    done: list[Learned] = []
    for of in readers(session):
        learner = learner_of(session, of)
        if not learner.turn.acquire(timeout=wait_s):
            continue
        try:
            done.append(learner.learn(told=told))
        except BaseException:  # of what it had begun to read it knows a part: it is read again
            learner.reset()
            raise
        finally:
            learner.turn.release()
    return _together(done)


def learner_of(session: Session, of: Sensitivity) -> Learner:
    """Return the one learner of a session that reads claims of these kinds. Raises ParserMissingError."""
    return session.kept(_Learners, _Learners).of(session, of)


class _Learners:
    """The session's learners, one for each reader."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._held: dict[Sensitivity, Learner] = {}

    def of(self, session: Session, kinds: Sensitivity) -> Learner:
        with self._lock:
            if kinds not in self._held:
                self._held[kinds] = Learner(session, kinds)
            return self._held[kinds]


def _together(done: Sequence[Learned]) -> Learned:
    """Return what readers of the same turns have done: the most turns that one has read, the records of all."""
    return msgspec.structs.replace(
        max(done, key=lambda one: one.read, default=Learned(read=0, records=0, claims=0, position=0)),
        records=sum(one.records for one in done),
        claims=sum(one.claims for one in done),
    )


def follow(session: Session, corrected: Sequence[str]) -> None:
    """Read what was appended; what was corrected only where something was read of it. A follower of `Session`.

    Raises ParserMissingError, but not for a correction: that is in the log, and what is derived of it may follow.
    """
    if not corrected:
        session.refresh()
        learn(session)
        return
    with suppress(ParserMissingError, ViewError):
        if readings_of(session, corrected):
            learn(session, wait_s=CORRECTION_WAIT_S)


def readings_of(session: Session, ids: Sequence[str]) -> list[str]:
    """Return the ids of what was read of these records: to be hidden with them."""
    control = session.reader.control
    return [child for _, at, child in _readings(session, ids) if at not in control.hidden]


def _readings(session: Session, ids: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Yield what was read of these records, erased ones left out: the parent's index, its own, its id."""
    reader = session.reader
    for id in ids:
        parent = reader.index_of(id)
        for at, child, role in session.views.catalog.children(parent):
            if role != "parent" or child in ids or at in reader.control.erased:
                continue
            record = reader.at(at, include_forgotten=True)
            if record.kind == "experience" and _is_reading(record):
                yield parent, at, child


def _is_reading(record: Record) -> bool:
    if record.raw is None:
        return False
    return is_reading(record.body)
