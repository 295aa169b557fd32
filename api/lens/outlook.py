"""What was asked of a lens, and what a log holds for it: the newest view, what of its chain still holds, what
came since.

What was asked for (lens, scope, parameters) is a record of its own, an event `lens`, named by a key; each view
made for it links to it. So the asking outlives a view that is erased with one of its records.
"""

from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from threading import TIMEOUT_MAX
from typing import Any, Final, TypeVar

import msgspec

from braid.errors import listed_by
from braid.ledger.erase.withdrawal import fell
from braid.ledger.errors import ErasedError, ForgottenError, UnknownRecordError
from braid.ledger.record.record import Draft, EventBody, ExperienceBody, Record, Scope, Target, ViewBody
from braid.ledger.record.scope import in_scope
from braid.ledger.record.standing import State
from braid.lenses.errors import LensError, LensFailedError, ViewUnreadableError
from braid.lenses.lens import Lens, checked_params
from braid.lenses.view import Ground, chain_of, ground_of, said_of
from braid.recall.deadline import within
from braid.session import Session

T = TypeVar("T")
LIMIT_S: Final = 60.0
"""How long a lens may take, unless the caller says otherwise."""
_FATES: Final[Mapping[State, str]] = {
    "living": "there again",
    "replaced": "superseded",
    "retired": "retired with its reader",
    "fallen": "fallen with what it rests on",
    "hidden": "forgotten",
    "erased": "erased",
    "later": "not there yet",
}


class Request(msgspec.Struct, frozen=True):
    """What a lens is asked for. `ids`: these records, instead of all of a scope."""

    lens: str
    scope: Scope | None = None
    params: dict[str, Any] = {}
    ids: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The key under which it is recorded once."""
        digest = blake2b(msgspec.json.encode(self, order="sorted"), digest_size=16).hexdigest()
        return f"lens:{self.lens}:{digest}"

    def draft(self) -> Draft:
        """Return it as a record."""
        body = EventBody(
            name="lens", data={"lens": self.lens, "params": self.params}, scope=self.scope, once=self.key
        )
        links: list[tuple[str, Target]] = [("evidence", id) for id in self.ids]
        return Draft(kind="event", body=body, links=links, public={"name": "lens"})


def request_of(
    lens: Lens, scope: Scope | None, params: Mapping[str, Any] | None, ids: Sequence[str] | None
) -> Request:
    """Return what a caller asks a lens for; raise ValueError and TypeError for what can't be meant."""
    if ids is not None and scope is not None:
        raise ValueError("a lens is applied to the records of a scope or to those that are named, not both")
    if ids is not None and not ids:
        raise ValueError("no record is named: give ids, or a scope")
    return Request(lens.name, scope, checked_params(lens, params), tuple(dict.fromkeys(ids or ())))


def recorded(session: Session, index: int) -> Request:
    """Return the request that a record holds; raise ViewUnreadableError for another record."""
    record = session.reader.at(index)
    body = record.body
    if not isinstance(body, EventBody) or body.name != "lens":
        raise ViewUnreadableError(f"{record.id} asks for no lens")
    ids = tuple(link.id for link in record.targets("evidence"))
    return Request(str(body.data.get("lens")), body.scope, dict(body.data.get("params") or {}), ids)


def request_behind(session: Session, id: str) -> int:
    """Return the log index of the request that a view was made for, or that `id` itself is."""
    index = session.reader.index_of(id)
    envelope = session.reader.envelope(index)
    if envelope.id != id:
        raise UnknownRecordError(f"{id}: no such record; index {index} is {envelope.id}")
    if envelope.kind == "event":
        return index
    asked = [link.index for link in session.reader.links(index) if link.role == "evidence"]
    if envelope.kind != "view" or not asked or not session.reader.envelope(asked[-1]).id.startswith("evt_"):
        raise listed_by(ViewUnreadableError(f"{id} is no view that a lens made"), "lens_views")
    return asked[-1]


def run(lens: Lens, limit_s: float, step: Callable[[], T]) -> T:
    """Return what a lens's code gives; raise LensFailedError where it fails or takes longer than it may.

    One that goes on is left behind in a thread that nobody waits for: what it gives is not used, nothing can stop it
    before the program ends.
    """
    if not 0 < limit_s <= TIMEOUT_MAX:
        raise ValueError(f"the limit of a lens is a positive number of seconds, not {limit_s:g}")
    try:
        return within(limit_s, step)
    except TimeoutError:
        raise LensFailedError(
            f"the lens {lens.name} took longer than {limit_s:g} s; nothing was written"
        ) from None
    except LensError:
        raise
    except (Exception, SystemExit) as error:
        raise LensFailedError(f"the lens {lens.name} failed: {type(error).__name__}: {error}") from error


class Outlook(msgspec.Struct, kw_only=True):
    """A request's newest view, what of its chain still holds, and the records that come behind that."""

    request: Request
    id: str | None
    """Id of the request's record; None while it is not recorded."""
    newest: Record | None
    chain: list[Record]
    ground: Ground
    fresh: list[Record]
    reasons: list[str]
    position: int


class Looking:
    """Reads for a lens, and counts what it reads."""

    def __init__(self, session: Session, limit_s: float = LIMIT_S) -> None:
        self._session = session
        self._limit_s = limit_s
        self.reader = session.reader
        self.read = 0

    def at(self, index: int) -> Record:
        """Return a living record, verified."""
        self.read += 1
        return self.reader.at(index)

    def outlook(self, lens: Lens, request: Request, version: str | None = None) -> Outlook:
        """Return what there is for a request and what it lacks. `version`: of this version of the lens's views."""
        size = self.reader.size
        found = self.reader.key_index.find([request.key]).get(request.key)
        made = [] if found is None else self._made(found, version or lens.version)
        chain = self._chain(made)
        newest = chain[-1] if chain else None
        ground = ground_of(chain)
        fresh: list[Record]
        if request.ids:
            reasons, chain, ground, fresh = self._named(request, chain, ground)
        else:
            reasons, chain, ground, fresh = self._grown(lens, request, chain, ground, size)
        if newest is None and found is not None and self._was_erased(found):
            reasons = ["it was erased with a record that it rests on"]
        elif newest is None:
            reasons = [f"not applied yet in version {version or lens.version}"]
        return Outlook(
            request=request, id=None if found is None else self._name(found), newest=newest, chain=chain,
            ground=ground, fresh=fresh, reasons=reasons, position=size,
        )  # fmt: skip

    def _views_of(self, request: int) -> list[int]:
        """Return the views that were made for a request, the newest first."""
        links = self._session.views.catalog.children(request)
        return sorted({at for at, id, _ in links if id.startswith("view_")}, reverse=True)

    def _made(self, request: int, version: str) -> list[Record]:
        """Return the newest readable view of a request and version, in a list of at most one."""
        control = self.reader.control
        for index in self._views_of(request):
            if index in control.erased or (index in control.hidden and not fell(self.reader, index)):
                continue
            record = self._view(index)
            if isinstance(record.body, ViewBody) and record.body.version == version and _is_own(record):
                return [record]
        return []

    def _view(self, index: int) -> Record:
        """Return a view, one that fell with what it rests on too: it is cut to before that, and never shown."""
        self.read += 1
        return self.reader.at(index, include_forgotten=True)

    def _was_erased(self, request: int) -> bool:
        return any(index in self.reader.control.erased for index in self._views_of(request))

    def _chain(self, made: list[Record]) -> list[Record]:
        """Return a view's chain; none where a view that it stands on can't be had, so that it is made from the
        start."""
        try:
            return chain_of(made[0], self._view) if made else []
        except (ErasedError, ForgottenError, ViewUnreadableError):
            return []

    def _named(
        self, request: Request, chain: list[Record], ground: Ground
    ) -> tuple[list[str], list[Record], Ground, list[Record]]:
        """Look at a request for records by id: whatever changed among them, it is made again."""
        control = self.reader.control
        indexes = sorted({self.reader.index_of(id) for id in request.ids})
        gone = [at for at in indexes if at in control.hidden or at in control.erased]
        living = [at for at in indexes if at not in gone]
        reasons = [f"{self._name(at)} is {self._fate(at)}" for at in gone if at in ground.places]
        if not reasons and [link.index for link in ground.targets] == living:
            return [], chain, ground, []
        back = [at for at in living if at not in ground.places]
        reasons += [f"{self._name(at)} is there again" for at in back if chain]
        return reasons, [], Ground(), [self.at(at) for at in living]

    def _grown(
        self, lens: Lens, request: Request, chain: list[Record], ground: Ground, size: int
    ) -> tuple[list[str], list[Record], Ground, list[Record]]:
        """Look at what came behind a chain, and cut the chain back to before whatever that changed."""
        growth = self._scan(ground.position, size)
        cut, reasons = size, list[str]()
        for index in sorted(self._touched(growth, ground.position)):
            held = index in ground.places
            if held != self._belongs(lens, request, index):
                cut = min(cut, index)
                reasons.append(f"{self._name(index)} is {self._fate(index)}")
        if cut < ground.position:
            chain = [record for record in chain if said_of(record).position <= cut] if lens.folds else []
            ground = ground_of(chain)
            growth = self._scan(ground.position, size)
        fresh = self._chosen(lens, request, growth)
        if not reasons and fresh:
            reasons = [f"{len(fresh)} more record{'s' if len(fresh) > 1 else ''} in its scope"]
        if reasons and chain and not lens.folds:
            return reasons, [], Ground(), self._chosen(lens, request, self._scan(0, size))
        return reasons, chain, ground, fresh

    def _chosen(self, lens: Lens, request: Request, growth: Sequence[Record]) -> list[Record]:
        """Return the records of a stretch up to the log's end that belong into the view."""
        return self._taken(lens, [record for record in growth if self._is_in_scope(request, record)])

    def _taken(self, lens: Lens, records: Sequence[Record]) -> list[Record]:
        """Return those that the lens looks at; its own code is run no longer than it may take, and no reading in it."""
        return run(lens, self._limit_s, lambda: [record for record in records if lens.takes(record)])

    def _scan(self, start: int, stop: int) -> list[Record]:
        """Return the records of a stretch of the log that have a body, forgotten ones too."""
        found = [entry.record for batch in self.reader.entries(start, stop) for entry in batch]
        self.read += len(found)
        return [record for record in found if record.raw is not None]

    def _touched(self, growth: Sequence[Record], before: int) -> set[int]:
        """Return the earlier records whose standing the growth may have changed."""
        from braid.ledger.read.backlinks import affected

        changed: set[int] = set()
        for record in growth:
            if record.kind == "experience":
                changed |= {link.index for link in record.targets("supersedes")}
            elif record.kind == "tombstone":
                changed |= {link.index for link in record.targets("target")}
        return {index for index in affected(self.reader, changed) if index < before}

    def _belongs(self, lens: Lens, request: Request, index: int) -> bool:
        """Whether a record belongs into a view as the log stands now."""
        if not self.reader.standings().lives(index):
            return False
        record = self.at(index)
        return self._is_in_scope(request, record) and bool(self._taken(lens, [record]))

    def _is_in_scope(self, request: Request, record: Record) -> bool:
        if record.kind != "experience" or not self.reader.standings().lives(record.index):
            return False
        return isinstance(record.body, ExperienceBody) and in_scope(record.body.scope, request.scope)

    def _name(self, index: int) -> str:
        return self.reader.envelope(index).id

    def _fate(self, index: int) -> str:
        return _FATES[self.reader.standings().of(index).state]


def _is_own(record: Record) -> bool:
    """Whether a view was made here: positions of another log mean nothing in this one."""
    return "imported" not in record.members
