"""Lenses at the front door: a lens applied to the records of a scope, and its view kept as a record.

Applying again reads what came since the last view, and that view's chain; what changed behind it (forgotten,
recovered, corrected) is read again from there on. Nothing is written but the finished view, in one transaction
with what was asked.
"""

from collections.abc import Sequence
from typing import cast

import msgspec

from braid.ledger.record.envelope import Link
from braid.ledger.record.record import Draft, Record, Scope, Target, ViewBody
from braid.ledger.record.scope import SCOPES
from braid.lens.definitions import lens_named
from braid.lens.operations import View, ViewItem
from braid.lens.outlook import LIMIT_S, Looking, Outlook, Request, run
from braid.lens.tone_shift import Read, shifted
from braid.lenses.errors import LensError
from braid.lenses.form import Form
from braid.lenses.lens import Lens
from braid.lenses.view import ViewContent, absorbed, chain_of, folded, ground_of, said_of, view_draft
from braid.session import Session


def apply_lens(
    session: Session, request: Request, *, version: str | None = None, limit_s: float = LIMIT_S
) -> View:
    """Return the up-to-date view of a request, appended if there was something new. Raises UnknownLensError, LensError,
    LensFailedError (nothing was written), and what reading and appending raise."""
    lens = lens_named(session, request.lens, version)
    looking = Looking(session, limit_s)
    known = looking.outlook(lens, request)
    if known.newest is not None and not known.reasons:
        return shown(known.newest, known.chain, looking.read, lens, stale=())
    if known.newest is None and not known.fresh:
        raise LensError(
            f"there is nothing that the lens {lens.name} looks at in this scope; nothing was written"
        )
    form, text = run(lens, limit_s, lambda: folded(lens, known.ground, known.fresh, request.params))
    batch = [known.request.draft()] if known.id is None else []
    placed = session.append_drafts([*batch, _draft(lens, known, form, text, session.reader.at)])[-1]
    record = looking.at(placed.index)
    view = shown(record, chain_of(record, looking.at), looking.read, lens, stale=())
    return msgspec.structs.replace(view, appended=not placed.known)


def _draft(lens: Lens, known: Outlook, form: Form, text: str, at: Read) -> Draft:
    """Return the view as a record that stands on as much of the chain as is worth it."""
    kept = (
        absorbed(known.chain, len(known.fresh)) if lens.folds and not lens.model_backed else len(known.chain)
    )
    standing = known.chain[:kept]
    ground = ground_of(standing)
    taken = list(known.ground.targets[len(ground.targets) :])
    taken += [Link("applied_to", record.index, record.id) for record in known.fresh]
    total = len(ground.targets) + len(taken)
    request: Target = _First() if known.id is None else known.id
    key = f"view:{known.request.key}:{lens.version}:{known.position}"
    draft = view_draft(
        lens, ground, taken, form, text,
        said=ViewContent(known.position, known.request.params, total), scope=known.request.scope, request=request,
        standing_on=standing[-1].id if standing else None,
        replaces=known.newest.id if known.newest is not None else None, once=key,
    )  # fmt: skip
    here = {record.index: record for record in known.fresh}
    return shifted(draft, taken, lambda index: here.get(index) or at(index))


class _First:
    """The request, where it goes into the same transaction in front of its first view."""

    place = 0


def shown(
    record: Record, chain: Sequence[Record], read: int, lens: Lens | None, *, stale: Sequence[str]
) -> View:
    """Return a view with what it stands on. `lens`: the one that made it, None where it can't be had."""
    body, said = cast("ViewBody", record.body), said_of(record)
    ground = ground_of(chain)
    ids = [link.id for link in ground.targets]
    items = ground.form.items
    return View(
        id=record.id,
        lens=body.lens,
        version=body.version or "",
        text=body.content.text if body.content else "",
        items=tuple(
            ViewItem(
                key=key,
                text=items[key].text,
                records=tuple(ids[at] for at in items[key].places),
                places=items[key].places,
                at=items[key].at,
                data=items[key].data,
            )
            for key in _order(lens, ground.form)
        ),
        affect_delta=body.affect_delta,
        weights={ids[place]: ground.form.weights[place] for place in sorted(ground.form.weights)},
        params=said.params,
        scope=scope_of(body.scope),
        records=len(ids),
        position=said.position,
        stands_on=tuple(each.id for each in chain[:-1]),
        stale=tuple(stale),
        read=read,
    )


def _order(lens: Lens | None, form: Form) -> list[str]:
    """Return the keys in the order of the lens; in their own where that version of it can't be had, or fails."""
    try:
        keys = run(lens, LIMIT_S, lambda: list(lens.order(form))) if lens is not None else sorted(form.items)
        return [key for key in keys if key in form.items]
    except LensError:
        return sorted(key for key, item in form.items.items() if item.text)


def scope_of(scope: Scope | None) -> dict[str, str]:
    """Return what a scope says."""
    return (
        {}
        if scope is None
        else {name: value for name in SCOPES if (value := getattr(scope, name)) is not None}
    )
