"""The stance lens: of everything that is claimed, what holds: a stance on each subject and relation at once.

It asks for the time at which something was last said of them: a lens has no clock. What is kept as a stance of
its own, at a time of the asker's, is `braid stance`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from braid.ledger.record.record import Asks, Record
from braid.lenses.claim_index import claims_something, noted, read, resting, subjects
from braid.lenses.entry import Entry
from braid.lenses.form import Form, Item
from braid.lenses.lens import Lens
from braid.stance.claims import RecordedClaim
from braid.stance.fold import GroundedRecord
from braid.stance.reconcile import VERSION, Reconciliation, reconcile
from braid.text.words import normal


class StanceLens(Lens):
    """Keeps the records that make claims, weighed by how probable what they claim is."""

    name: ClassVar[str] = "stance"
    version: ClassVar[str] = f"1.{VERSION}"
    about: ClassVar[str] = "what holds of everything that is claimed, and how sure that is"

    def takes(self, record: Record) -> bool:
        """Take experiences of every type that claim something."""
        return claims_something(record)

    def fold(self, form: Form, entries: Sequence[Entry], params: Mapping[str, Any]) -> Form:
        del params
        items, themes = noted(form.items, entries)
        for theme in sorted(themes):
            claims = read(items, theme)
            for names in subjects(claims):
                own = [said for said in claims if said.claim.subject in names]
                outcome = _outcome(names, own)
                items[f"{theme}/{normal(names[0])}"] = _item(theme, names[0], own, outcome)
        return resting(items, _weights(items))


def _outcome(names: list[str], claims: Sequence[RecordedClaim]) -> Reconciliation:
    relation = claims[-1].relation
    last = max(said.said for said in claims)
    asks = Asks(subjects=names, rels=[relation.name], at=last)
    sources = [GroundedRecord(place, f"place {place}") for place in sorted({said.index for said in claims})]
    return reconcile(f"{names[0]} {relation.name}", asks, claims, sources)


def _item(theme: str, subject: str, claims: Sequence[RecordedClaim], outcome: Reconciliation) -> Item:
    decision = outcome.decision
    sure = 1 - decision.residual_uncertainty
    held = decision.claim or f"undecided: {decision.undecided}"
    return Item(
        text=f"{subject}, {theme.replace('_', ' ')}: {held} ({sure:.2f})" if outcome.candidates else "",
        places=tuple(sorted({one.said.index for one in outcome.candidates})),
        at=max(said.said for said in claims).date().isoformat(),
        data={
            "theme": theme,
            "decision": decision.claim or None,
            "residual_uncertainty": round(decision.residual_uncertainty, 9),
            "candidates": [
                {"claim": one.said.text, "place": one.said.index, "p": round(one.p, 9), "held": one.held}
                for one in outcome.candidates
            ],
        },
    )


def _weights(items: Mapping[str, Item]) -> dict[int, float]:
    """Return the highest probability among what each record claims."""
    weights: dict[int, float] = {}
    for item in items.values():
        for one in item.data.get("candidates", ()):
            weights[one["place"]] = max(weights.get(one["place"], 0.0), one["p"])
    return weights
