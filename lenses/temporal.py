"""The temporal lens: a timeline of what happened when, by the days that are named, not by when they were named."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from braid.ledger.record.record import ANSWER, REFLECTION, ExperienceBody, Record
from braid.lenses.entry import Entry
from braid.lenses.form import Form, Item
from braid.lenses.lens import Lens
from braid.text.dates import iso_dates
from braid.text.sentences import gist, statements
from braid.text.words import spoken

LEAST_WORDS = 4
_TOLD_AGAIN: Final = frozenset((ANSWER, REFLECTION))


class TemporalLens(Lens):
    """A sentence that names a day stands at that day; a record that names none, but says something, at its own."""

    name: ClassVar[str] = "temporal"
    version: ClassVar[str] = "2"
    about: ClassVar[str] = "a timeline: what is said to have happened, or is planned, and when"
    params: ClassVar[Mapping[str, Any]] = {"named_only": False}

    def takes(self, record: Record) -> bool:
        """See `Lens`; an answer, and what was noted of it, tells again what happened, on another day."""
        return super().takes(record) and not (
            isinstance(record.body, ExperienceBody) and record.body.provenance.method in _TOLD_AGAIN
        )

    def fold(self, form: Form, entries: Sequence[Entry], params: Mapping[str, Any]) -> Form:
        """See `Lens`. Records that say nothing, or (`named_only`) name no day, are left out."""
        weights, items = dict(form.weights), dict(form.items)
        for entry in entries:
            found = _events(entry)
            if not found and not params["named_only"] and len(spoken(entry.text)) >= LEAST_WORDS:
                found = [(entry.at.date().isoformat(), gist(entry.text))]
            for number, (at, text) in enumerate(found):
                items[f"{at}/{entry.place:07d}/{number:03d}"] = Item(
                    text=f"{entry.who}: {text}", places=(entry.place,), at=at
                )
            if not found:
                del weights[entry.place]
        return Form(weights, items)

    def ranking(self, form: Form) -> list[int]:
        """Return places in the order of the timeline."""
        named = [place for key in self.order(form) for place in form.items[key].places]
        return list(dict.fromkeys(place for place in named if place in form.weights))


def _events(entry: Entry) -> list[tuple[str, str]]:
    said = entry.at.date()
    return [(day, gist(sentence)) for sentence in statements(entry.text) for day in iso_dates(sentence, said)]
