"""Lenses: named, versioned, pure functions from records to a view, and the views that were kept of them."""

from collections.abc import Mapping
from typing import Annotated

import msgspec

from braid.ledger.errors import (
    ErasedError,
    ForgottenError,
    IntegrityError,
    ReadOnlyError,
    UnknownRecordError,
)
from braid.ledger.record.ids import RecordId
from braid.ledger.record.record import AffectDelta
from braid.lenses.errors import (
    DefinitionError,
    LensError,
    LensFailedError,
    UnknownLensError,
    ViewUnreadableError,
)
from braid.log import drafts
from braid.operation import Id, Json, Name, Request, Response, Scoped, operation
from braid.session import Session
from braid.wal.errors import OutcomeUnknownError

_VIEW = "view_2025-05-17T09:00:00Z_0000000300ab"
_LATER = "view_2025-06-01T09:00:00Z_0000000900cd"
_READS = (UnknownRecordError, ErasedError, ForgottenError, IntegrityError, ViewUnreadableError)
_APPLIES = (ValueError, UnknownLensError, LensFailedError, LensError, ReadOnlyError, OutcomeUnknownError)
LimitSeconds = Annotated[float, msgspec.Meta(gt=0, description="Seconds that a lens may take.")]


class ApplyLens(Scoped, frozen=True, kw_only=True):
    """A lens, and what it is applied to: the records of a scope, or those with these ids.

    `version`: only if the lens is that version. `params`: the lens's own, as it documents them.
    """

    name: Name
    ids: tuple[Id, ...] | None = None
    version: str | None = None
    params: dict[str, Json] | None = None
    limit_s: LimitSeconds = 60.0


class ViewItem(Response, frozen=True, kw_only=True):
    """Something that a view says: `at`, when it holds or happened; `records`, the ids of what it rests on."""

    key: str
    text: str
    records: tuple[str, ...]
    places: tuple[int, ...]
    """The same records as places among those of the view."""
    at: str | None = None
    data: Mapping[str, Json] = {}


class View(Response, frozen=True, kw_only=True):
    """A view as it is shown: its form in full, whatever views it stands on."""

    id: str
    lens: str
    version: str
    text: str
    items: tuple[ViewItem, ...]
    """What the lens says, in the order in which it says it."""
    affect_delta: AffectDelta | None
    """From the mean tone of the records that it reads again to that of its words; None where one side has none."""
    weights: Mapping[str, float]
    """Id of each record that the view keeps → its weight; a raw record weighs 1."""
    params: Mapping[str, Json]
    scope: Mapping[str, str]
    records: int
    """How many records it is of."""
    position: int
    """How many records of the log it had looked through."""
    stands_on: tuple[str, ...]
    """The earlier views that it continues."""
    stale: tuple[str, ...]
    """Why it should be made again; empty for one that is up to date."""
    read: int = 0
    """How many records were read for it now."""
    appended: bool = False


@operation(
    ApplyLens,
    View,
    access="write",
    reads=True,
    cost="log",
    repeatable=True,
    positional=("name",),
    example=ApplyLens(name="temporal", user_id="maya"),
    errors=(*_APPLIES, UnknownRecordError),
)
def apply_lens(session: Session, asked: ApplyLens) -> View:
    """Return a lens's view of a scope's records (of all without one, or of those with these ids), and keep it.

    Where nothing has changed since the last one, that is returned and nothing is written; else what came since is
    read, and the new view supersedes it. Raises UnknownLensError, LensFailedError (nothing was written), ValueError.
    """
    from braid.lens.definitions import lens_named
    from braid.lens.outlook import request_of
    from braid.lens.view import apply_lens as applied

    session.refresh()
    within = drafts.scope_of(asked)
    request = request_of(lens_named(session, asked.name), within, asked.params, asked.ids)
    return applied(session, request, version=asked.version, limit_s=asked.limit_s)


class DefineLens(Request, frozen=True, kw_only=True):
    """The TOML text of a definition (docs/lenses.md)."""

    definition: str


class Kept(Response, frozen=True, kw_only=True):
    """The id of a record."""

    id: RecordId


@operation(
    DefineLens,
    Kept,
    access="admin",
    cost="index",
    repeatable=True,
    positional=("definition",),
    returns="id",
    example=DefineLens(definition='name = "deploys"\nversion = "1"\nabout = "What was deployed."\n'),
    errors=(DefinitionError, ReadOnlyError, OutcomeUnknownError),
)
def define_lens(session: Session, asked: DefineLens) -> Kept:
    """Keep a lens that a TOML text defines, as a signed record; the same text again writes nothing.

    A change needs a version above the newest. Raises DefinitionError (nothing was written), and what appending raises.
    """
    from braid.lens.definitions import define

    session.refresh()
    return Kept(id=RecordId(define(session, asked.definition)))


class ListLenses(Request, frozen=True, kw_only=True):
    """Every lens that can be applied here."""


class LensInfo(Response, frozen=True, kw_only=True):
    """A lens. `folds`: it reads only what is new. `model`: it asks a model. `defined_by`: the record that says so."""

    name: str
    version: str
    folds: bool
    model: bool
    about: str
    defined_by: str | None = None


class Lenses(Response, frozen=True, kw_only=True):
    """Lenses that are installed, then those that are defined here. `troubles`: why one that is there can't be used."""

    lenses: tuple[LensInfo, ...]
    troubles: tuple[str, ...] = ()


@operation(ListLenses, Lenses, access="read", cost="index", example=ListLenses())
def lenses(session: Session, asked: ListLenses) -> Lenses:
    """Return every lens that can be applied here: installed ones, and the newest version of those defined here."""
    from braid.lens.definitions import available

    del asked
    session.refresh()
    return available(session)


class ListViews(Request, frozen=True, kw_only=True):
    """Every view that a lens made."""


class ViewRow(Response, frozen=True, kw_only=True):
    """A view in the log, in short; `stale`: why it should be made again."""

    id: str
    lens: str
    version: str | None
    scope: Mapping[str, str]
    records: int
    params: Mapping[str, Json]
    stale: tuple[str, ...]


class Views(Response, frozen=True, kw_only=True):
    """Views, oldest first."""

    views: tuple[ViewRow, ...]


@operation(
    ListViews,
    Views,
    access="read",
    cost="log",
    pages="views",
    table="views",
    page_key=("id",),
    returns="views",
    example=ListViews(),
    errors=(IntegrityError, LensFailedError),
)
def lens_views(session: Session, asked: ListViews) -> Views:
    """Return every view that a lens made, oldest first, of all versions, with why it is stale."""
    from braid.lens.standing import all_views

    del asked
    session.refresh()
    return Views(views=tuple(all_views(session)))


class ShowView(Request, frozen=True, kw_only=True):
    """A view by its id. `include_forgotten`: also where something that it rests on is forgotten."""

    id: Id
    include_forgotten: bool = False


@operation(
    ShowView,
    View,
    access="read",
    cost="index",
    positional=("id",),
    example=ShowView(id=_VIEW),
    errors=_READS,
)
def lens_view(session: Session, asked: ShowView) -> View:
    """Return a view in full, with what it stands on, and why it is stale.

    Raises ViewUnreadableError, and as `get`; ForgottenError also when something that it rests on is forgotten.
    """
    from braid.lens.standing import show

    session.refresh()
    return show(session, asked.id, include_forgotten=asked.include_forgotten)


class ListRequests(Request, frozen=True, kw_only=True):
    """Everything that was asked of a lens."""


class RequestStanding(Response, frozen=True, kw_only=True):
    """How a request stands: its newest view in the lens's present version, and why that is stale."""

    request: str
    lens: str
    version: str
    scope: Mapping[str, str]
    params: Mapping[str, Json]
    view: str | None
    records: int
    stale: tuple[str, ...]


class RequestStandings(Response, frozen=True, kw_only=True):
    """How each request stands, oldest first."""

    standings: tuple[RequestStanding, ...]


@operation(
    ListRequests,
    RequestStandings,
    access="read",
    cost="log",
    pages="standings",
    page_key=("request",),
    returns="standings",
    example=ListRequests(),
    errors=(IntegrityError, LensFailedError),
)
def lens_standings(session: Session, asked: ListRequests) -> RequestStandings:
    """Return how each thing that was asked of a lens stands: its newest view, and why that is stale."""
    from braid.lens.standing import standings

    del asked
    session.refresh()
    return RequestStandings(standings=tuple(standings(session)))


class RefreshLenses(Request, frozen=True, kw_only=True):
    """Views or requests by their ids; all that are stale, without any."""

    ids: tuple[Id, ...] = ()
    limit_s: LimitSeconds = 60.0


class Refreshed(Response, frozen=True, kw_only=True):
    """The views that were appended."""

    views: tuple[View, ...]


@operation(
    RefreshLenses,
    Refreshed,
    access="write",
    reads=True,
    cost="log",
    repeatable=True,
    positional=("*ids",),
    returns="views",
    example=RefreshLenses(ids=(_VIEW,)),
    errors=(*_APPLIES, *_READS),
)
def refresh_lenses(session: Session, asked: RefreshLenses) -> Refreshed:
    """Make these views again (or all that are stale); return those that were appended. Raises as `apply_lens`."""
    from braid.lens.standing import refresh

    session.refresh()
    return Refreshed(views=tuple(refresh(session, asked.ids, limit_s=asked.limit_s)))


class CompareViews(Request, frozen=True, kw_only=True):
    """Two views: of two times, of two versions of a lens, or of two lenses."""

    one: Id
    other: Id


class Reweighted(Response, frozen=True, kw_only=True):
    """A record that weighs otherwise in the second view."""

    exp: str
    w_old: float
    w_new: float


class LensDifference(Response, frozen=True, kw_only=True):
    """What makes the second view of the first: items and records added and removed, weights that changed."""

    one: ViewRow
    other: ViewRow
    added: tuple[ViewItem, ...]
    removed: tuple[ViewItem, ...]
    records_added: tuple[str, ...]
    records_removed: tuple[str, ...]
    reweighted: tuple[Reweighted, ...]


@operation(
    CompareViews,
    LensDifference,
    access="read",
    cost="index",
    positional=("one", "other"),
    example=CompareViews(one=_VIEW, other=_LATER),
    errors=_READS,
)
def lens_difference(session: Session, asked: CompareViews) -> LensDifference:
    """Return what makes one view of another: items added and removed, records, weights. Raises as `lens_view`."""
    from braid.lens.standing import difference

    session.refresh()
    return difference(session, asked.one, asked.other)
