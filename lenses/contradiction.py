"""The contradiction lens: which claims exclude each other, how, and which of the two gives way."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, ClassVar

from braid.ledger.record.record import Record
from braid.lenses.claim_index import claims_something, noted, read, resting
from braid.lenses.entry import Entry
from braid.lenses.form import Form, Item
from braid.lenses.lens import Lens
from braid.stance.claims import RecordedClaim, clash, overlap
from braid.stance.precedence import advantage, backdated
from braid.stance.reconcile import VERSION


class ContradictionLens(Lens):
    """Keeps the records whose claims exclude each other while both hold, or would."""

    name: ClassVar[str] = "contradiction"
    version: ClassVar[str] = f"1.{VERSION}"
    about: ClassVar[str] = "claims that exclude each other, and which gives way"

    def takes(self, record: Record) -> bool:
        """Take experiences of every type that claim something."""
        return claims_something(record)

    def fold(self, form: Form, entries: Sequence[Entry], params: Mapping[str, Any]) -> Form:
        del params
        items, themes = noted(form.items, entries)
        for theme in sorted(themes):
            for one, other in _clashing(read(items, theme)):
                items[f"{theme}/{_key(one)}/{_key(other)}"] = _item(theme, one, other)
        return resting(items)


def _clashing(claims: Sequence[RecordedClaim]) -> Iterator[tuple[RecordedClaim, RecordedClaim]]:
    """Yield each pair once, the one that was said later last."""
    ordered = sorted(backdated(claims), key=lambda said: (said.said, said.index, said.k, said.derived))
    for one, other in combinations(ordered, 2):
        if clash(one, other) is not None and overlap(one, other):
            yield one, other


def _key(said: RecordedClaim) -> str:
    return f"{said.index:07d}.{said.k:03d}.{said.derived}"


def _item(theme: str, one: RecordedClaim, other: RecordedClaim) -> Item:
    gives_way = one if advantage(other, one) else other if advantage(one, other) else None
    why = advantage(other, one) or advantage(one, other)
    told = (
        f"the {'first' if gives_way is one else 'second'} gives way ({why})"
        if gives_way
        else "neither gives way"
    )
    return Item(
        text=f"{one.text} / {other.text}: {told}",
        places=tuple(sorted({one.index, other.index})),
        at=other.said.date().isoformat(),
        data={
            "theme": theme,
            "how": clash(one, other),
            "claims": [one.text, other.text],
            "gives_way": None if gives_way is None else gives_way.text,
            "why": why,
        },
    )
