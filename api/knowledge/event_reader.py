"""What records state as data, as a consumer of the log: preferences, and tools by their use. It needs no model."""

from collections.abc import Iterator
from typing import Final, cast

import msgspec

from braid.knowledge.cursor import Cursor, load, path_of, save
from braid.knowledge.range_consumer import RangeRead
from braid.knowledge.setting import setting
from braid.knowledge.tally import Tally
from braid.knowledge.turns import Whose, followed, living, session_of, whose
from braid.learn import stated
from braid.learn.gates.consistency import KnownIndex
from braid.learn.gates.gate import judge
from braid.learn.gates.outcome import GateSettings, Sensitivity
from braid.learn.reading import method_of
from braid.ledger.record.record import Claim, Draft, ExperienceBody, Record
from braid.session import Session
from braid.views.errors import ViewError
from braid.work.spans import Spans

VERSION: Final = method_of(stated.MAKER)
_USES_KEPT: Final = 50


class EventReader:
    """Reads what records state as data, over one log. Implements `RangeReader`."""

    version = VERSION

    def __init__(self, session: Session, settings: GateSettings | None = None) -> None:
        """`settings`: other than the signed ones."""
        self._session = session
        self._settings = settings
        self._uses: dict[tuple[Whose, str], list[Record]] = {}

    @property
    def is_on(self) -> bool:
        """Always: a kind that is not allowed makes no claim."""
        return True

    def is_work(self, record: Record) -> bool:
        """Whether there may be something to read in a record."""
        if record.kind not in ("event", "experience") or record.raw is None:
            return False
        return stated.tool_of(record) is not None or any(True for _ in stated.stated(record))

    def read(self, start: int, stop: int) -> RangeRead:
        """Return what the records from index `start` to `stop` state; nothing is appended."""
        tally = Tally()
        found = [
            (record, draft)
            for record in followed(self._session, start, stop)
            for draft in self._drafts(record, tally)
        ]
        return RangeRead(found, tally)

    def reached(self, stop: int, own: Spans) -> None:
        """Take note of how far the log has outcomes."""
        del own
        path = path_of(self._session.path / "views", VERSION)
        if stop > load(path, self._session.reader.size).position:
            save(path, Cursor(position=stop))

    def reset(self) -> None:
        """Forget what was learned of the talk by reading: it is read again."""
        self._uses.clear()

    def _drafts(self, record: Record, tally: Tally) -> Iterator[Draft]:
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
        settings = self._settings or setting(self._session).allowed
        kept: dict[Sensitivity, list[Claim]] = {}
        for one in found:
            judged = judge([one.candidate], [one.turn], known, {}, settings)
            tally.judged(judged)
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
