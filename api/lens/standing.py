"""Views that lenses made: shown in full, compared, found stale, made again."""

from collections.abc import Iterator, Sequence
from typing import Any, cast

import msgspec

from braid.ledger.errors import ErasedError, ForgottenError
from braid.ledger.record.record import Record, ViewBody
from braid.lens.definitions import lens_named
from braid.lens.operations import (
    LensDifference,
    RequestStanding,
    Reweighted,
    View,
    ViewItem,
    ViewRow,
)
from braid.lens.outlook import LIMIT_S, Looking, recorded, request_behind
from braid.lens.view import apply_lens, scope_of, shown
from braid.lenses.errors import LensError, UnknownLensError, ViewUnreadableError
from braid.lenses.lens import Lens
from braid.lenses.view import chain_of, lens_behind, said_of
from braid.session import Session


def show(session: Session, id: str, *, include_forgotten: bool = False) -> View:
    """Return a view in full, and why it is stale. A view that rests on something forgotten is not shown, unless asked
    for. Raises ViewUnreadableError, ForgottenError, and what reading raises."""
    looking = Looking(session)
    record = session.reader.get(id, include_forgotten=True)
    said_of(record)
    chain = chain_of(record, lambda at: session.reader.at(at, include_forgotten=True))
    hidden = session.reader.control.hidden
    lost = [link.id for each in chain for link in each.targets("applied_to") if link.index in hidden]
    if lost and not include_forgotten:
        raise ForgottenError(
            f"{id} rests on {lost[0]}, which is forgotten: a refresh of the lens makes it without"
        )
    record = session.reader.get(id, include_forgotten=include_forgotten)
    return shown(record, chain, looking.read, _lens(session, record), stale=_staleness(session, record))


def _lens(session: Session, view: Record) -> Lens | None:
    """Return the lens that made a view; None where it is not installed any more, or not in that version."""
    try:
        return lens_behind(view, lambda at: session.reader.at(at, include_forgotten=True))
    except (LensError, ErasedError):
        return None


def _staleness(session: Session, record: Record) -> Sequence[str]:
    """Return why a view is not the last word on what it was asked for."""
    body = cast("ViewBody", record.body)
    try:
        request = recorded(session, request_behind(session, record.id))
        lens = lens_named(session, request.lens)
    except (UnknownLensError, ViewUnreadableError, ErasedError, ForgottenError) as error:
        return [str(error)]
    known = Looking(session).outlook(lens, request, body.version)
    newer = known.newest is not None and known.newest.index > record.index
    return [f"{known.newest.id} came after it"] if newer and known.newest is not None else known.reasons


def standings(session: Session) -> Iterator[RequestStanding]:
    """Yield how each recorded request stands, oldest first."""
    asked: Any = session.views.sql(
        "SELECT log_index FROM events WHERE name = 'lens' ORDER BY log_index"
    ).table
    for index in asked.column("log_index").to_pylist():
        request = recorded(session, index)
        id = session.reader.envelope(index).id
        told: dict[str, Any] = {
            "request": id, "lens": request.lens, "scope": scope_of(request.scope), "params": request.params,
        }  # fmt: skip
        try:
            lens = lens_named(session, request.lens)
        except UnknownLensError as error:
            yield RequestStanding(**told, version="", view=None, records=0, stale=(str(error),))
            continue
        known = Looking(session).outlook(lens, request)
        newest = known.newest
        yield RequestStanding(
            **told,
            version=lens.version,
            view=None if newest is None else newest.id,
            records=0 if newest is None else said_of(newest).records,
            stale=tuple(known.reasons),
        )


def refresh(session: Session, ids: Sequence[str] = (), *, limit_s: float = LIMIT_S) -> list[View]:
    """Make the views of these requests (or views) again, or of all that are stale; return those that were appended.

    One that a lens is no longer installed for is left; of several that fail, the first stops it, what came before
    stays."""
    if ids:
        wanted = list(dict.fromkeys(request_behind(session, id) for id in ids))
    else:
        stale = [one for one in standings(session) if one.stale and one.version]
        wanted = [session.reader.index_of(one.request) for one in stale]
    made = [apply_lens(session, recorded(session, index), limit_s=limit_s) for index in wanted]
    return [view for view in made if view.appended]


def all_views(session: Session) -> Iterator[ViewRow]:
    """Yield every view in the log that a lens made, oldest first: all versions, superseded ones too."""
    found: Any = session.views.sql("SELECT id FROM views ORDER BY log_index").table
    newest = {standing.view: standing for standing in standings(session)}
    for id in found.column("id").to_pylist():
        record = session.reader.get(id)
        body = cast("ViewBody", record.body)
        try:
            said = said_of(record)
            records, params = said.records, said.params
        except ViewUnreadableError:
            records, params = len(record.targets("applied_to")), {}
        standing = newest.get(id)
        yield ViewRow(
            id=id,
            lens=body.lens,
            version=body.version,
            scope=scope_of(body.scope),
            records=records,
            params=params,
            stale=standing.stale if standing is not None else ("not the newest of its kind",),
        )


def difference(session: Session, one: str, other: str) -> LensDifference:
    """Return what makes the view `other` of the view `one`: items by key, records and weights by id."""
    first, second = show(session, one), show(session, other)
    before = {item.key: item for item in first.items}
    after = {item.key: item for item in second.items}
    return LensDifference(
        one=_row(first),
        other=_row(second),
        added=tuple(after[key] for key in after if _worded(after[key]) != _worded(before.get(key))),
        removed=tuple(before[key] for key in before if _worded(before[key]) != _worded(after.get(key))),
        records_added=tuple(id for id in second.weights if id not in first.weights),
        records_removed=tuple(id for id in first.weights if id not in second.weights),
        reweighted=tuple(
            Reweighted(exp=id, w_old=weight, w_new=second.weights[id])
            for id, weight in first.weights.items()
            if id in second.weights and weight != second.weights[id]
        ),
    )


def _row(view: View) -> ViewRow:
    return ViewRow(
        id=view.id,
        lens=view.lens,
        version=view.version,
        scope=view.scope,
        records=view.records,
        params=view.params,
        stale=view.stale,
    )


def _worded(item: ViewItem | None) -> ViewItem | None:
    """Return an item without its places, which are numbers of one view's own."""
    return None if item is None else msgspec.structs.replace(item, places=())
