"""Views that lenses made: shown in full, compared, found stale, made anew."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import msgspec

from braid.ledger.errors import ErasedError, ForgottenError
from braid.ledger.record import Record, ViewBody
from braid.lens_definitions import lens_named
from braid.lenses.errors import LensError, UnknownLensError, ViewUnreadableError
from braid.lenses.lens import Lens
from braid.lenses.view import chain_of, lens_behind, said_of
from braid.lensing import View, apply_lens, scope_of, shown
from braid.looking import LIMIT_S, Looking, recorded, request_behind
from braid.session import Session


def show(store: Session, id: str, *, include_forgotten: bool = False) -> View:
    """Return a view in full, and why it is stale. A view that rests on something forgotten is not shown, unless asked
    for. Raises ViewUnreadableError, ForgottenError, and what reading raises."""
    looking = Looking(store)
    record = store.reader.get(id, include_forgotten=True)
    said_of(record)
    chain = chain_of(record, lambda at: store.reader.at(at, include_forgotten=True))
    hidden = store.reader.control.hidden
    lost = [link.id for each in chain for link in each.targets("applied_to") if link.index in hidden]
    if lost and not include_forgotten:
        raise ForgottenError(
            f"{id} rests on {lost[0]}, which is forgotten: `braid lens refresh {id}` makes it without"
        )
    record = store.reader.get(id, include_forgotten=include_forgotten)
    return shown(record, chain, looking.read, _lens(store, record), stale=_staleness(store, record))


def _lens(store: Session, view: Record) -> Lens | None:
    """Return the lens that made a view; None where it is not installed any more, or not in that version."""
    try:
        return lens_behind(view, lambda at: store.reader.at(at, include_forgotten=True))
    except (LensError, ErasedError):
        return None


def _staleness(store: Session, record: Record) -> list[str]:
    """Return why a view is not the last word on what it was asked for."""
    body = cast("ViewBody", record.body)
    try:
        request = recorded(store, request_behind(store, record.id))
        lens = lens_named(store, request.lens)
    except (UnknownLensError, ViewUnreadableError, ErasedError, ForgottenError) as error:
        return [str(error)]
    known = Looking(store).outlook(lens, request, body.version)
    newer = known.newest is not None and known.newest.index > record.index
    return [f"{known.newest.id} came after it"] if newer and known.newest is not None else known.reasons


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """How a request stands: its newest view in the lens's installed version, and why that is stale."""

    request: str
    lens: str
    version: str
    scope: dict[str, str]
    params: dict[str, Any]
    view: str | None
    records: int
    stale: list[str]


def standings(store: Session) -> Iterator[Standing]:
    """Yield how each recorded request stands, oldest first."""
    store.refresh()
    asked: Any = store.views.sql("SELECT log_index FROM events WHERE name = 'lens' ORDER BY log_index").table
    for index in asked.column("log_index").to_pylist():
        request = recorded(store, index)
        id = store.reader.envelope(index).id
        told: dict[str, Any] = {
            "request": id, "lens": request.lens, "scope": scope_of(request.scope), "params": request.params,
        }  # fmt: skip
        try:
            lens = lens_named(store, request.lens)
        except UnknownLensError as error:
            yield Standing(**told, version="", view=None, records=0, stale=[str(error)])
            continue
        known = Looking(store).outlook(lens, request)
        newest = known.newest
        yield Standing(
            **told,
            version=lens.version,
            view=None if newest is None else newest.id,
            records=0 if newest is None else said_of(newest).records,
            stale=known.reasons,
        )


def refresh(store: Session, ids: Sequence[str] = (), *, limit_s: float = LIMIT_S) -> list[View]:
    """Make the views of these requests (or views) anew, or of all that are stale; return those that were appended.

    One that a lens is no longer installed for is left; of several that fail, the first stops it, what came before
    stays."""
    if ids:
        wanted = list(dict.fromkeys(request_behind(store, id) for id in ids))
    else:
        stale = [one for one in standings(store) if one.stale and one.version]
        wanted = [store.reader.index_of(one.request) for one in stale]
    made = [apply_lens(store, recorded(store, index), limit_s=limit_s) for index in wanted]
    return [view for view in made if view.appended]


def all_views(store: Session) -> list[dict[str, Any]]:
    """Return every view in the log that a lens made, oldest first: all versions, superseded ones too."""
    store.refresh()
    found: Any = store.views.sql("SELECT id FROM views ORDER BY log_index").table
    newest = {standing.view: standing for standing in standings(store)}
    rows: list[dict[str, Any]] = []
    for id in found.column("id").to_pylist():
        record = store.reader.get(id)
        body = cast("ViewBody", record.body)
        row: dict[str, Any] = {
            "id": id,
            "lens": body.lens,
            "version": body.version,
            "scope": scope_of(body.scope),
        }
        try:
            said = said_of(record)
            row |= {"records": said.records, "params": said.params}
        except ViewUnreadableError:
            row |= {"records": len(record.targets("applied_to")), "params": {}}
        standing = newest.get(id)
        row["stale"] = standing.stale if standing is not None else ["not the newest of its kind"]
        rows.append(row)
    return rows


def difference(store: Session, one: str, other: str) -> dict[str, Any]:
    """Return what makes the view `other` of the view `one`: items by key, records and weights by id."""
    first, second = show(store, one), show(store, other)
    before = {item["key"]: item for item in first.items}
    after = {item["key"]: item for item in second.items}
    shared = first.weights.keys() & second.weights.keys()
    return {
        "from": {"id": one, "lens": first.lens, "version": first.version},
        "to": {"id": other, "lens": second.lens, "version": second.version},
        "added": [after[key] for key in after if _worded(after[key]) != _worded(before.get(key))],
        "removed": [before[key] for key in before if _worded(before[key]) != _worded(after.get(key))],
        "records_added": [id for id in second.weights if id not in first.weights],
        "records_removed": [id for id in first.weights if id not in second.weights],
        "reweighted": [
            {"exp": id, "w_old": first.weights[id], "w_new": second.weights[id]}
            for id in first.weights
            if id in shared and first.weights[id] != second.weights[id]
        ],
    }


def _worded(item: Mapping[str, Any] | None) -> Any:
    """Return an item without its places, which are numbers of one view's own."""
    return None if item is None else {name: value for name, value in item.items() if name != "places"}
