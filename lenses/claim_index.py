"""The book that lenses over claims keep: every claim so far as a lens's own memory, by the relations that bear on
it. Pure.

With it, a grown log is compared with all that was claimed before without reading it again, and only the relations
that the new claims speak of are looked at.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from braid.ledger.record.record import ExperienceBody, Record
from braid.lenses.entry import Entry
from braid.lenses.form import Form, Item
from braid.stance.claims import OWN_METHOD, RecordedClaim, of_one

CLAIM: Final = "~claim/"


def claims_something(record: Record) -> bool:
    """Whether an experience of any type makes a claim; what a stance concluded is no evidence."""
    body = record.body
    return isinstance(body, ExperienceBody) and bool(body.symbolic) and body.provenance.method != OWN_METHOD


def theme_of(said: RecordedClaim) -> str:
    """Return the relation by which claims are compared; opposites have one."""
    relation = said.relation
    return min(relation.name, relation.opposite or relation.name)


def noted(items: Mapping[str, Item], entries: Sequence[Entry]) -> tuple[dict[str, Item], set[str]]:
    """Return the items with the claims of new records among them and without what was said on their themes; and
    these."""
    claims = {
        f"{CLAIM}{said.index:07d}/{said.k:03d}/{said.derived}": said
        for entry in entries
        for said in entry.said
    }
    themes = {theme_of(said) for said in claims.values()}
    kept = {
        key: item
        for key, item in items.items()
        if key.startswith(CLAIM) or item.data.get("theme") not in themes
    }
    for key, said in claims.items():
        data: dict[str, Any] = msgspec.to_builtins(said)
        data["voices"] = sorted(said.voices)
        kept[key] = Item(places=(said.index,), data={"theme": theme_of(said), "said": data})
    return kept, themes


def read(items: Mapping[str, Item], theme: str) -> list[RecordedClaim]:
    """Return all claims of a theme, in the order in which they were made."""
    keys = sorted(key for key, item in items.items() if key.startswith(CLAIM) and item.data["theme"] == theme)
    return [msgspec.convert(items[key].data["said"], RecordedClaim) for key in keys]


def subjects(claims: Iterable[RecordedClaim]) -> list[list[str]]:
    """Return the names of each subject, those that are of one together: "Ana" and "Ana Moreira"."""
    found: list[list[str]] = []
    for name in sorted({said.claim.subject for said in claims}, key=lambda name: (-len(name), name)):
        known = next((names for names in found if of_one(names[0], name)), None)
        if known is None:
            found.append([name])
        else:
            known.append(name)
    return found


def resting(items: Mapping[str, Item], weights: Mapping[int, float] | None = None) -> Form:
    """Return the form of the records that shown items rest on: at weight 1, or at the weight that is given."""
    places = sorted({place for item in items.values() if item.text for place in item.places})
    return Form({place: (weights or {}).get(place, 1.0) for place in places}, items)
