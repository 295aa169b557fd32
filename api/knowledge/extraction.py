"""Extractors over a log: a model reads session by session, events one by one; what passes the gates is appended.

What was found in a turn enters the log as one record above it, with what made it; a replay needs neither extractor nor
model. Each extractor has its own cursor. What two find in one turn has the turn's one voice: it counts once.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from threading import RLock
from typing import Any, Final, NamedTuple, cast

import msgspec

from braid.claims.finder import ClaimFinder
from braid.knowledge.cursor import Cursor, load, path_of, save
from braid.knowledge.operations import Extracted
from braid.knowledge.setting import setting
from braid.knowledge.turns import Whose, ends_session, followed, living, session_of, spoken, whose
from braid.learn import stated
from braid.learn.candidate import Extraction, Extractor, KnownEntity, Maker
from braid.learn.gates.consistency import KnownIndex
from braid.learn.gates.gate import judge
from braid.learn.gates.outcome import EVERY_SENSITIVITY, GateSettings, Judged, Kept, Sensitivity, suffix_of
from braid.learn.reading import BY_MODEL, made_of, method_of, once_key, reading
from braid.learn.turn import Turn
from braid.ledger.record.record import Claim, Confidence, Draft, ExperienceBody, Record, Scope
from braid.session import Session
from braid.text.parse import Parse, Parser
from braid.views.errors import ViewError

Told = Callable[[Record, Draft], None]
BATCH: Final = 500
"""Records with stated data that are appended as one transaction."""
BEFORE: Final = 12
"""Turns of a session that are kept as context for those after them."""
LOOKED_BACK: Final = 2_000
"""Records before the position that are looked through for such turns when a run begins."""
MAX_CLAIMS: Final = 500
"""Known claims of one person that an extractor is told of, the newest."""
FAILED_RUN: Final = 3
"""So many sessions that fail one after the other end a run: their model is away, and the rest waits."""
_USES_KEPT: Final = 50


_Part = tuple[int, Sensitivity]
"""A turn, and of what the claims of it are that stand in one record."""


class _Count:
    """What a run has done."""

    def __init__(self) -> None:
        self.sessions = self.turns = self.records = self.claims = self.staged = 0
        self.tokens_in = self.tokens_out = 0
        self.refused: Counter[str] = Counter()
        self.warnings: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()

    def judged(self, judged: Judged) -> None:
        self.staged += len(judged.staged)
        self.refused.update(f"{one.gate}:{one.outcome}" for one in judged.refused)
        self.warnings.update(f"hallucination:{one.kind}" for one in judged.warnings)

    def extracted(self, found: Extraction) -> None:
        self.tokens_in += found.tokens_in
        self.tokens_out += found.tokens_out
        self.warnings.update(f"{stage}:{kind}" for stage, kind in found.warnings)
        self.failures.update(f"{stage}:{kind}" for stage, kind in found.failures)

    def appended(self, drafts: Iterable[Draft]) -> None:
        for draft in drafts:
            self.records += 1
            self.claims += len(cast("ExperienceBody", draft.body).symbolic)


class _Talk(NamedTuple):
    """An open session: its turns that wait, and the last ones before them."""

    waiting: list[Turn]
    before: deque[Turn]


class _Log:
    """What both ways of extracting need of a store: known keys, appending, and what is not to be written."""

    def __init__(self, session: Session, count: _Count, *, dry_run: bool, told: Told | None) -> None:
        self.session = session
        self.count = count
        self.dry_run = dry_run
        self._told = told

    def read_before(self, maker: Maker, parents: Sequence[str]) -> set[str]:
        """Return those of these records of which something that this maker found stands in the log."""
        makers = (made_of(maker, kinds) for kinds in EVERY_SENSITIVITY)
        keys = {once_key(one, id): id for one in makers for id in parents}
        return {keys[key] for key in self.session.reader.key_index.find(list(keys))}

    def append(self, found: Sequence[tuple[Record, Draft]]) -> None:
        """Append readings as one transaction, or only count them; each is known by its key."""
        if not found:
            return
        added = list(found)
        if not self.dry_run:
            placed = self.session.append_drafts([draft for _, draft in found])
            added = [one for one, at in zip(found, placed, strict=True) if not at.known]
        self.count.appended(draft for _, draft in added)
        for record, draft in added if self._told is not None else ():
            cast("Told", self._told)(record, draft)


class SessionExtraction:
    """One extractor that reads whole sessions, over one log."""

    def __init__(
        self,
        log: _Log,
        extractor: Extractor,
        *,
        parser: Parser | None,
        settings: GateSettings,
        turns_each: int,
    ) -> None:
        self._log = log
        self._session = log.session
        self._extractor = extractor
        self._parser = parser
        self._settings = settings
        self._turns_each = turns_each
        self._method = method_of(extractor.maker)
        self._path = path_of(self._session.path / "views", self._method)
        self._talks: dict[Whose, _Talk] = {}
        self._known: dict[Whose, list[Claim]] = {}
        self._left: list[int] = []
        """Turns that could not be read this time."""
        self._failed_run = 0
        self.cursor = Cursor()

    @property
    def is_stopped(self) -> bool:
        """Whether the model has failed so often in a row that it isn't asked any more."""
        return self._failed_run >= FAILED_RUN

    def run(self, *, ended_only: bool) -> None:
        """Read what has not been read yet. A session is read when it ends, and every so many turns."""
        size = self._session.reader.size
        self.cursor = load(self._path, size)
        waiting, self.cursor.waiting = self.cursor.waiting, []
        start = self.cursor.position
        again = set(waiting)
        for record in followed(self._session, max(0, start - LOOKED_BACK), start):
            if record.index not in again and (turn := spoken(record)) is not None:
                self._talk(session_of(record)).before.append(turn)
        for index in waiting:
            if (held := living(self._session, index)) is not None:
                self._meet(held)
        for record in followed(self._session, start, size):
            self.cursor.position = max(self.cursor.position, record.index + 1)
            self._meet(record)
        if not ended_only:
            for key in list(self._talks):
                self._flush(key)
        self.cursor.position = size
        self._save()

    def _talk(self, key: Whose) -> _Talk:
        return self._talks.setdefault(key, _Talk([], deque(maxlen=BEFORE)))

    def _meet(self, record: Record) -> None:
        key = session_of(record)
        if ends_session(record):
            self._flush(key)
        elif (turn := spoken(record)) is not None:
            talk = self._talk(key)
            talk.waiting.append(turn)
            if len(talk.waiting) >= self._turns_each:
                self._flush(key)

    def _flush(self, key: Whose) -> None:
        """Read the turns of a session that wait; they wait on where the extractor fails."""
        talk = self._talk(key)
        turns = list(talk.waiting)
        talk.waiting.clear()
        if not turns:
            return
        if self.is_stopped:
            self._left += [turn.at for turn in turns]
        elif not self._read(key, turns, tuple(talk.before)):
            self._left += [turn.at for turn in turns if not self.cursor.failed(turn.at)]
        talk.before.extend(turns)
        self._save()

    def _save(self) -> None:
        if not self._log.dry_run:
            held = [turn.at for talk in self._talks.values() for turn in talk.waiting]
            self.cursor.waiting = sorted({*self._left, *held})
            save(self._path, self.cursor)

    # -- one session ------------------------------------------------------------------------------

    def _read(self, key: Whose, turns: list[Turn], before: tuple[Turn, ...]) -> bool:
        """Read some turns of a session; return whether the extractor could."""
        records = {
            turn.at: record for turn in turns if (record := living(self._session, turn.at)) is not None
        }
        done = self._log.read_before(self._extractor.maker, [record.id for record in records.values()])
        new = [turn for turn in turns if turn.at in records and records[turn.at].id not in done]
        if not any(turn.role == "user" for turn in new):
            return True
        seen = [
            msgspec.structs.replace(turn, previous=())
            for turn in turns
            if turn.at in records and turn not in new
        ]
        new[0] = msgspec.structs.replace(new[0], previous=(*before, *seen))
        known = self._known_to(key)
        entities = entities_of(known)
        found = self._extractor.extract(new, entities, known[-MAX_CLAIMS:], self._session.now())
        self._log.count.extracted(found)
        if found.failures and not found.candidates:
            self._failed_run += 1
            return False
        self._failed_run = 0
        self._log.count.sessions += 1
        self._log.count.turns += len(new)
        judged = judge(
            found.candidates, new, KnownIndex(known, entities), self._parses(found, new), self._settings
        )
        self._log.count.judged(judged)
        drafts = list(_drafts(found, judged, records, self._extractor.maker))
        self._log.append(drafts)
        known += [one.claim for one in judged.kept if not one.superseded]
        return True

    def _parses(self, found: Extraction, turns: Sequence[Turn]) -> dict[int, Parse]:
        """Return the parses of the turns that candidates quote."""
        if self._parser is None:
            return {}
        wanted = {one.evidence.turn for one in found.candidates}
        named = [turn for turn in turns if turn.at in wanted]
        return {
            turn.at: parse
            for turn, parse in zip(named, self._parser.parse([t.text for t in named]), strict=True)
        }

    def _known_to(self, key: Whose) -> list[Claim]:
        """Return what is known of a session's person, oldest first; it grows by what is kept."""
        scope = whose(key)
        if key[:3] not in self._known:
            self._known[key[:3]] = known_claims(self._session, scope)
        return self._known[key[:3]]


def known_claims(session: Session, scope: Scope) -> list[Claim]:
    """Return the living claims of a scope, oldest first, the newest `MAX_CLAIMS`."""
    named = None if scope == Scope() else scope
    finder = ClaimFinder(session, named, None)
    return [one.claim for one in finder.claims(finder.named(None)[-MAX_CLAIMS:])]


def entities_of(claims: Iterable[Claim]) -> list[KnownEntity]:
    """Return who and what claims speak of by name, with how often."""
    counted = Counter(
        name for claim in claims for name in (claim.subject, claim.object) if name[:1].isupper()
    )
    return [KnownEntity(name, mentions=count) for name, count in counted.most_common()]


def _drafts(
    found: Extraction, judged: Judged, records: dict[int, Record], maker: Maker
) -> Iterator[tuple[Record, Draft]]:
    """Yield the reading of each turn in which something was found, what was staged of it, and what was warned of."""
    kept: dict[_Part, list[Kept]] = {}
    for one in judged.kept:
        kept.setdefault((one.candidate.evidence.turn, one.kinds), []).append(one)
    staged: dict[_Part, list[dict[str, Any]]] = {}
    for doubt in judged.staged:
        staged.setdefault((doubt.candidate.evidence.turn, doubt.kinds), []).append(
            {
                **msgspec.to_builtins(doubt.candidate.claim),
                "why": f"{doubt.gate}:{doubt.outcome}",
                "p": doubt.p,
            }
        )
    warned: dict[int, list[tuple[str, str]]] = {}
    for warning in judged.warnings:
        warned.setdefault(warning.turn, []).append(("hallucination", warning.kind))
    general = [*found.warnings, *warned.pop(-1, [])]
    model = next((one.maker.model for one in found.candidates), maker.model)
    made = Maker(maker.name, maker.version, model)
    for part in sorted({*kept, *staged}, key=lambda one: (one[0], suffix_of(one[1]))):
        at, kinds = part
        if at not in records:
            continue
        notes: dict[str, Any] = {}
        if part in staged:
            notes["staged"] = staged[part]
        if warnings := sorted({*general, *warned.get(at, [])}):
            notes["warnings"] = [
                {"gate": gate, "class": kind, "maker": maker.name} for gate, kind in warnings
            ]
        found_here = kept.get(part, [])
        claims = [_weighed(one) for one in found_here]
        sure = min((one.p for one in found_here if not one.superseded), default=None)
        low = min((one.p for one in found_here), default=None) if sure is None else sure
        confidence = Confidence(p=low, method=BY_MODEL) if low is not None else None
        yield records[at], reading(made_of(made, kinds), records[at], claims, confidence, notes=notes)


def _weighed(one: Kept) -> Claim:
    """Return a claim; one that the same session takes back says how little of it is left."""
    if not one.superseded:
        return one.claim
    return msgspec.structs.replace(one.claim, details={**one.claim.details, "superseded": f"{one.p:g}"})


# -- events -----------------------------------------------------------------------------------------


class EventExtraction:
    """What records state as data, over one log."""

    def __init__(self, log: _Log, settings: GateSettings) -> None:
        self._log = log
        self._session = log.session
        self._settings = settings
        self._path = path_of(self._session.path / "views", method_of(stated.MAKER))
        self._uses: dict[tuple[Whose, str], list[Record]] = {}

    def run(self) -> int:
        """Read what has not been read yet; return how far."""
        size = self._session.reader.size
        cursor = load(self._path, size)
        found: list[tuple[Record, Draft]] = []
        for record in followed(self._session, cursor.position, size):
            found += [(record, draft) for draft in self._drafts(record)]
            if len(found) >= BATCH:
                self._log.append(found)
                found = []
        self._log.append(found)
        if not self._log.dry_run and size > cursor.position:
            save(self._path, Cursor(position=size))
        return size

    def _drafts(self, record: Record) -> Iterator[Draft]:
        """Yield what is to be recorded of a record: each thing that it states is judged on its own."""
        if record.kind not in ("event", "experience"):
            return
        found = list(stated.stated(record))
        earlier: list[Record] = []
        if (tool := stated.tool_of(record)) is not None:
            earlier = self._earlier(record, tool)
            if (use := stated.used(record, earlier)) is not None:
                found.append(use)
            else:
                earlier = []
        known = KnownIndex()
        kept: dict[Sensitivity, list[Claim]] = {}
        for one in found:
            judged = judge([one.candidate], [one.turn], known, {}, self._settings)
            self._log.count.judged(judged)
            for each in judged.kept:
                kept.setdefault(each.kinds, []).append(each.claim)
        for kinds, claims in kept.items():
            yield stated.draft(record, claims, [one.id for one in earlier], kinds)

    def _earlier(self, record: Record, tool: str) -> list[Record]:
        """Return the uses of a tool within its scope before a record, the newest, in the order of the log."""
        key = session_of(record)[:3], tool
        if key not in self._uses:
            self._uses[key] = list(self._found(record))
        uses = self._uses[key]
        earlier = [one for one in uses if one.index < record.index][-_USES_KEPT:]
        self._uses[key] = [*uses[-_USES_KEPT:], record]
        return earlier

    def _found(self, record: Record) -> Iterator[Record]:
        """Yield the uses of a record's tool that the projection knows of, before the record."""
        actor = cast("ExperienceBody", record.body).provenance.actor
        scope = msgspec.structs.asdict(whose(session_of(record)))
        query = (
            "SELECT log_index FROM experiences e WHERE actor = ? AND log_index < ?"  # noqa: S608 - our own words
            + "".join(f" AND {name} IS NOT DISTINCT FROM ?" for name in scope if name != "session_id")
            + " ORDER BY log_index DESC LIMIT ?"
        )
        params = [
            actor,
            record.index,
            *(value for name, value in scope.items() if name != "session_id"),
            _USES_KEPT,
        ]
        try:
            with self._session.views.tables() as tables:
                indexes = sorted(index for (index,) in tables.rows(query, params))
        except (ViewError, OSError):
            return
        for index in indexes:
            if (one := living(self._session, index)) is not None:
                yield one


class _Turn:
    """Two threads that extract from one log would each ask the model: they take turns."""

    def __init__(self) -> None:
        self.lock = RLock()


def extract(
    session: Session,
    extractor: Extractor | None,
    *,
    parser: Parser | None = None,
    settings: GateSettings | None = None,
    turns_each: int = 10,
    ended_only: bool = False,
    dry_run: bool = False,
    told: Told | None = None,
) -> Extracted:
    """Run the extractor of events, and one that reads sessions where one is given, over what they have not read yet."""
    count = _Count()
    settings = settings or setting(session).allowed
    log = _Log(session, count, dry_run=dry_run, told=told)
    with session.kept(_Turn, _Turn).lock:
        position = EventExtraction(log, settings).run()
        sessions: SessionExtraction | None = None
        if extractor is not None:
            sessions = SessionExtraction(
                log, extractor, parser=parser, settings=settings, turns_each=turns_each
            )
            sessions.run(ended_only=ended_only)
    return Extracted(
        sessions=count.sessions,
        turns=count.turns,
        records=count.records,
        claims=count.claims,
        staged=count.staged,
        refused=dict(count.refused),
        warnings=dict(count.warnings),
        failures=dict(count.failures),
        tokens_in=count.tokens_in,
        tokens_out=count.tokens_out,
        waiting=len(sessions.cursor.waiting) if sessions is not None else 0,
        given_up=len(sessions.cursor.dead) if sessions is not None else 0,
        stopped=sessions is not None and sessions.is_stopped,
        position=position,
    )
