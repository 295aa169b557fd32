"""Forms and their differences: what a view is, what raw records are, and the delta between the two. Pure.

A *form* is a set of records, each by its place and with a weight, and a set of named items that rest on records.
The *raw* form of n records holds each of them whole, at weight 1, and no item. A *delta* says what comes in, what
goes and which weights change. Two laws hold (and are tested): `patched(old, delta(old, new)) == new` for any two
forms, and for every lens `raw + delta = view`. A record is never copied into a form: its place stands for it.
"""

from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any, Final

import msgspec

RAW_WEIGHT: Final = 1.0


class Item(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something that a lens says, resting on the records at `places`. Without text it is the lens's own working memory:
    kept, never shown. `at` is when it holds or happened: an ISO day, month, year or instant."""

    text: str = ""
    places: tuple[int, ...] = ()
    at: str | None = None
    data: dict[str, Any] = {}


class Form(msgspec.Struct, frozen=True):
    """Records by place with their weights, items by key."""

    weights: Mapping[int, float] = {}
    items: Mapping[str, Item] = {}


class FormDelta(msgspec.Struct, frozen=True, kw_only=True):
    """What makes one form of another. Items that change are among the added ones."""

    items: Mapping[str, Item] = {}
    records: Mapping[int, float] = {}
    """Records that come in, with their weights: for a view over raw records always none."""
    lost_items: tuple[str, ...] = ()
    lost_records: tuple[int, ...] = ()
    reweighted: Mapping[int, tuple[float, float]] = {}
    """Place → weight before and after."""


def raw(places: Iterable[int]) -> Form:
    """Return the form of records as they were recorded."""
    return Form(dict.fromkeys(places, RAW_WEIGHT), {})


def joined(one: Form, other: Form) -> Form:
    """Return a form that holds both; they share no place and no key."""
    return Form({**one.weights, **other.weights}, {**one.items, **other.items})


def delta(old: Form, new: Form) -> FormDelta:
    """Return what changes `old` into `new`, in the order of places and keys: equal forms give equal bytes."""
    weights = new.weights
    return FormDelta(
        items={key: new.items[key] for key in sorted(new.items) if new.items[key] != old.items.get(key)},
        records={place: weights[place] for place in sorted(weights) if place not in old.weights},
        lost_items=tuple(sorted(key for key in old.items if key not in new.items)),
        lost_records=tuple(sorted(place for place in old.weights if place not in weights)),
        reweighted={
            place: (old.weights[place], weights[place])
            for place in sorted(weights)
            if place in old.weights and old.weights[place] != weights[place]
        },
    )


def patched(old: Form, change: FormDelta) -> Form:
    """Return `old` with a delta applied; raise ValueError for a delta that was not made of it."""
    weights, items = dict(old.weights), dict(old.items)
    for place in change.lost_records:
        if weights.pop(place, None) is None:
            raise ValueError(f"the delta removes the record at place {place}, which isn't there")
    for key in change.lost_items:
        if items.pop(key, None) is None:
            raise ValueError(f"the delta removes the item {key!r}, which isn't there")
    for place, (before, after) in change.reweighted.items():
        if weights.get(place) != before:
            raise ValueError(
                f"the delta changes the weight {before:g} at place {place}; it is {weights.get(place)}"
            )
        weights[place] = after
    if clash := weights.keys() & change.records.keys():
        raise ValueError(f"the delta adds the record at place {min(clash)}, which is there already")
    return Form({**weights, **change.records}, {**items, **change.items})


def problem(form: Form, count: int) -> str | None:
    """Return what is wrong with a form over `count` records, None when it is lawful; whatever its members are."""
    for place, weight in form.weights.items():
        if not _is_place(place, count):
            return f"it claims the record at place {place!r}; it was given {count}"
        if type(weight) not in (int, float) or not (isfinite(weight) and weight >= 0):
            return f"it gives the record at place {place} the weight {weight!r}; weights are finite and not negative"
    for key, item in form.items.items():
        if type(key) is not str or type(item) is not Item:
            return (
                f"it says {key!r}: {type(item).__name__}; items are of the class Item, by keys that are text"
            )
        outside = [place for place in item.places if not _is_place(place, count)]
        if outside:
            return f"its item {key!r} rests on the record at place {outside[0]!r}; it was given {count}"
    return None


def _is_place(place: object, count: int) -> bool:
    return type(place) is int and 0 <= place < count


def runs(places: Iterable[int]) -> list[tuple[int, int]]:
    """Return rising places as runs [first, end): most views leave out most records."""
    found: list[tuple[int, int]] = []
    for place in places:
        if found and found[-1][1] == place:
            found[-1] = (found[-1][0], place + 1)
        else:
            found.append((place, place + 1))
    return found


def places_of(found: Iterable[tuple[int, int]]) -> tuple[int, ...]:
    """Return the places of runs."""
    return tuple(place for first, end in found for place in range(first, end))
