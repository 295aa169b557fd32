"""Views as records: a view's delta into a body, and back; what a view stands on; the same view made again. Pure.

A view links `applied_to` the records that are new to it, in the log's order, and `parent` the view that it stands
on, whose braid carries the rest. A record's *place* is its number among all of them, oldest first, along that
chain. What a body says of records it says by place, or, in `reweighted`, by link: places that this view applies
to are its first links; an earlier record whose weight changes has an `evidence` link of its own. So nothing in a
body depends on log indexes, and a view that moves to another log still reads the same.

Only views that are far from each other in size stand on each other (`absorbed`): of n records a chain has at most
log₂ n views, and a record is linked again at most log₂ n times.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

import msgspec

from braid.ledger.errors import NotRederivableError
from braid.ledger.record.envelope import MAX_LINKS, Link
from braid.ledger.record.record import Content, Draft, Record, Reweighted, Scope, Target, ViewBody
from braid.ledger.record.record import Delta as StoredDelta
from braid.lenses.definition import definition_of, lens_of
from braid.lenses.entry import entry_of
from braid.lenses.errors import DefinitionError, LensFailedError, UnknownLensError, ViewUnreadableError
from braid.lenses.form import Form, FormDelta, Item, delta, joined, patched, places_of, problem, raw, runs
from braid.lenses.lens import Lens
from braid.lenses.registry import by_name

Read = Callable[[int], Record]
"""A record by log index, verified; raises what reading raises for one that is gone."""
MAX_CHAIN: Final = 64
MAX_TEXT_BYTES: Final = 1 << 20
"""Of a view's words; its items may hold more, as far as a record does."""


class Ground(msgspec.Struct, frozen=True):
    """What a view stands on: the form of an earlier view, and the records at its places. Empty: the raw records."""

    form: Form = Form()
    targets: tuple[Link, ...] = ()
    position: int = 0
    """How many records of the log it had looked through."""

    @property
    def places(self) -> dict[int, int]:
        """Log index → place."""
        return {link.index: place for place, link in enumerate(self.targets)}


class ViewContent(msgspec.Struct, frozen=True):
    """What a view's structured content says beside its delta."""

    position: int
    params: dict[str, Any] = {}
    records: int = 0
    """How many records it is of, those of its chain too."""


class _Added(msgspec.Struct, frozen=True, omit_defaults=True):
    items: dict[str, Item] = {}
    records: list[tuple[int, float]] = []


class _Removed(msgspec.Struct, frozen=True, omit_defaults=True):
    items: list[str] = []
    records: list[tuple[int, int]] = []
    """Runs [first, end) of places."""


def folded(
    lens: Lens, ground: Ground, records: Sequence[Record], params: Mapping[str, Any]
) -> tuple[Form, str]:
    """Return a lens's view of the records behind `ground` and `records`, and its words; raise LensFailedError."""
    start = len(ground.targets)
    count = start + len(records)
    places = ground.places | {record.index: start + at for at, record in enumerate(records)}
    entries = [entry_of(record, start + at, places) for at, record in enumerate(records)]
    form = joined(ground.form, raw(range(start, count)))
    given = _data_of(ground.form)
    try:
        made = cast("object", lens.fold(form, entries, dict(params)))
        if not isinstance(made, Form):
            raise LensFailedError(f"the lens {lens.name} gave a {type(made).__name__}, not a form")
        if wrong := problem(made, count):
            raise LensFailedError(f"the lens {lens.name} gave no view of these records: {wrong}")
        if _data_of(ground.form) != given:
            raise LensFailedError(
                f"the lens {lens.name} changed the view that it was given: it returns another"
            )
        made = Form(dict(made.weights), _plain(made.items, ground.form.items))
        return made, _told(lens, made, params)
    except LensFailedError:
        raise
    except (Exception, SystemExit) as error:  # a lens that exits must not end the program that asked it
        raise LensFailedError(f"the lens {lens.name} failed: {type(error).__name__}: {error}") from error


def _data_of(form: Form) -> bytes:
    """Return the part of a form that could be changed in place: no delta would show it."""
    return msgspec.json.encode([item.data for item in form.items.values()])


def _told(lens: Lens, form: Form, params: Mapping[str, Any]) -> str:
    """Return a view in words; raise LensFailedError for what can't be shown or kept."""
    text = cast("object", lens.render(form, dict(params)))
    if not isinstance(text, str):
        raise LensFailedError(f"the lens {lens.name} rendered its view as {type(text).__name__}, not as text")
    if (size := len(text.encode())) > MAX_TEXT_BYTES:
        raise LensFailedError(
            f"the lens {lens.name} rendered its view in {size} bytes; at most {MAX_TEXT_BYTES} are kept"
        )
    if unknown := [key for key in lens.order(form) if key not in form.items]:
        raise LensFailedError(f"the lens {lens.name} shows an item {unknown[0]!r} that its view doesn't have")
    return text


def _plain(items: Mapping[str, Item], known: Mapping[str, Item]) -> dict[str, Item]:
    """Return items as they will be read back; raise ValueError or TypeError for what isn't JSON, NaN among it."""
    new = {key: item for key, item in items.items() if item != known.get(key)}
    text = json.dumps(msgspec.to_builtins(new), allow_nan=False)
    return {**items, **msgspec.json.decode(text, type=dict[str, Item])}


def view_draft(
    lens: Lens,
    ground: Ground,
    applied: Sequence[Link],
    form: Form,
    text: str,
    *,
    said: ViewContent,
    scope: Scope | None,
    request: Target,
    standing_on: str | None,
    replaces: str | None,
    once: str | None,
) -> Draft:
    """Return a view as a record: its delta to `ground` joined with the raw records `applied`."""
    start = len(ground.targets)
    base = joined(ground.form, raw(range(start, start + len(applied))))
    change = delta(base, form)
    older = [place for place in change.reweighted if place < start]
    links: list[tuple[str, Target]] = [("applied_to", link.id) for link in applied]
    numbers = {start + at: at for at in range(len(applied))}
    numbers |= {place: len(links) + at for at, place in enumerate(older)}
    links += [("evidence", ground.targets[place].id) for place in older]
    links += [("parent", standing_on)] if standing_on else []
    links += [("supersedes", replaces)] if replaces else []
    links += [("evidence", lens.defined_by)] if lens.defined_by else []
    links.append(("evidence", request))
    body = ViewBody(
        lens=lens.name,
        version=lens.version,
        delta_from_raw=_stored(change, numbers),
        content=Content(text=text, structured=msgspec.to_builtins(said)),
        scope=scope,
        once=once,
    )
    return Draft(kind="view", body=body, links=links)


def _stored(change: FormDelta, numbers: Mapping[int, int]) -> StoredDelta:
    added = _Added(dict(change.items), list(change.records.items()))
    removed = _Removed(list(change.lost_items), runs(change.lost_records))
    return StoredDelta(
        added=msgspec.to_builtins(added) or None,
        removed=msgspec.to_builtins(removed) or None,
        reweighted=[
            Reweighted(link=numbers[place], w_old=before, w_new=after)
            for place, (before, after) in change.reweighted.items()
        ],
    )


def said_of(record: Record) -> ViewContent:
    """Return what a view says of itself; raise ViewUnreadableError for one that no lens made."""
    body = record.body
    if not isinstance(body, ViewBody):
        raise ViewUnreadableError(f"{record.id} is a {record.kind}, not a view")
    try:
        if body.content is None or body.version is None:
            raise ValueError("it names no version")
        return msgspec.convert(body.content.structured, ViewContent)
    except (ValueError, TypeError) as error:
        raise ViewUnreadableError(f"{record.id} was not made by a lens: {error}") from error


def chain_of(record: Record, read: Read) -> list[Record]:
    """Return a view and the views that it stands on, the first one first.

    Raises ViewUnreadableError, and what reading raises.
    """
    chain = [record]
    while parents := chain[-1].targets("parent"):
        if len(chain) == MAX_CHAIN:
            raise ViewUnreadableError(f"{record.id} stands on more than {MAX_CHAIN} views")
        chain.append(read(parents[0].index))
    return chain[::-1]


def ground_of(chain: Sequence[Record]) -> Ground:
    """Return the form that a chain of views adds up to; raise ViewUnreadableError where one is not of its kind."""
    ground = Ground()
    for record in chain:
        ground = _stepped(ground, record)
    return ground


def _stepped(ground: Ground, record: Record) -> Ground:
    said, body = said_of(record), cast("ViewBody", record.body)
    applied = record.targets("applied_to")
    start = len(ground.targets)
    base = joined(ground.form, raw(range(start, start + len(applied))))
    places = ground.places
    try:
        added = msgspec.convert(body.delta_from_raw.added or {}, _Added)
        removed = msgspec.convert(body.delta_from_raw.removed or {}, _Removed)
        weighed = {
            start + one.link if one.link < len(applied) else places[record.links[one.link].index]:
            (one.w_old, one.w_new)
            for one in body.delta_from_raw.reweighted
        }  # fmt: skip
        change = FormDelta(
            items=added.items,
            records=dict(added.records),
            lost_items=tuple(removed.items),
            lost_records=places_of(removed.records),
            reweighted=weighed,
        )
        form = patched(base, change)
    except (ValueError, TypeError, KeyError) as error:
        raise ViewUnreadableError(
            f"{record.id}: its delta is not one to what it stands on: {error}"
        ) from error
    return Ground(form, (*ground.targets, *applied), said.position)


def absorbed(chain: Sequence[Record], new: int) -> int:
    """Return how many views of a chain a view of `new` more records stands on; it takes over the others' records."""
    kept, size = len(chain), new
    while kept:
        links = len(chain[kept - 1].targets("applied_to"))
        if links > size or links + size > MAX_LINKS // 2:
            break
        size += links
        kept -= 1
    return kept


def lens_behind(record: Record, read: Read) -> Lens:
    """Return the lens that made a view: of the definition that the view names, else the installed one of that version.

    Raises UnknownLensError, DefinitionError for a definition of another lens, and what reading it raises.
    """
    body = cast("ViewBody", record.body)
    named = record.targets("evidence")[-2:-1]  # the request is the last
    if not named or not named[0].id.startswith("evt_"):
        return by_name(body.lens, body.version)
    definition = definition_of(read(named[0].index))
    if (definition.name, definition.version) != (body.lens, body.version):
        raise DefinitionError(
            f"{record.id} is of the lens {body.lens} {body.version}, and names the definition of"
            f" {definition.name} {definition.version}"
        )
    return lens_of(definition, named[0].id)


def rederive(record: Record, read: Read) -> Draft:
    """Return a view as its lens makes it of the records that it names. Raises NotRederivableError, and what reading
    raises for a record that is gone."""
    body = cast("ViewBody", record.body)
    try:
        said = said_of(record)
        lens = lens_behind(record, read)
    except (UnknownLensError, ViewUnreadableError) as error:
        raise NotRederivableError(str(error)) from None
    if lens.model_backed:
        raise NotRederivableError(
            f"the lens {lens.name} asks a model: what it said is recorded, not made again"
        )
    parent = next(iter(record.targets("parent")), None)
    ground = Ground()
    if parent is not None:
        try:
            ground = ground_of(chain_of(read(parent.index), read))
        except ViewUnreadableError as error:
            raise NotRederivableError(f"it stands on a view that can't be read: {error}") from None
    applied = record.targets("applied_to")
    records = [read(link.index) for link in applied]
    try:
        form, text = folded(lens, ground, records, said.params)
    except LensFailedError as error:
        raise NotRederivableError(str(error)) from None
    request = record.targets("evidence")[-1:]
    replaces = next(iter(record.targets("supersedes")), None)
    return view_draft(
        lens,
        ground,
        applied,
        form,
        text,
        said=ViewContent(said.position, said.params, len(ground.targets) + len(applied)),
        scope=body.scope,
        request=request[0].id if request else "",
        standing_on=parent.id if parent else None,
        replaces=replaces.id if replaces else None,
        once=body.once,
    )
