"""What a lens is: a name, a version, and a pure function from records to a form (docs/lenses.md)."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from braid.ledger.record.record import ExperienceBody, Record
from braid.lenses.entry import Entry
from braid.lenses.form import Form, Item

SHOWN_LINES: Final = 60
SHOWN_CHARS: Final = 6_000
SPOKEN: Final = ("occurrence", "observation")


class Lens(ABC):
    """A reinterpretation of records. Same records and parameters, same view: no clock, no randomness, no store.

    A lens *folds*: `fold` is given the view so far, joined with the new records in their raw form, and returns
    the view of all. However the records are cut into pieces, the view of all of them is the same; so a grown log
    costs its growth. A lens that can't promise this sets `folds` to False and is given all records every time.
    """

    name: ClassVar[str]
    version: ClassVar[str]
    """Another result for the same records is another version."""
    about: ClassVar[str]
    """One line for `braid lens list`."""
    folds: ClassVar[bool] = True
    model_backed: ClassVar[bool] = False
    """It asks a model: its views are recorded and never made again by a replay or an audit."""
    defined_by: ClassVar[str] = ""
    """Id of the record of the log that defines it; empty for a lens of a package."""
    params: ClassVar[Mapping[str, Any]] = {}
    """Parameters and their defaults; a caller's have the default's type."""

    def takes(self, record: Record) -> bool:
        """Whether the lens looks at this experience; by default at what people and agents said or observed: not at what
        was inferred from that, nor at what tools and systems put out."""
        return is_spoken(record)

    @abstractmethod
    def fold(self, form: Form, entries: Sequence[Entry], params: Mapping[str, Any]) -> Form:
        """Return the view of all records. `form` is that of the earlier ones, joined with `entries` at weight 1."""

    def order(self, form: Form) -> list[str]:
        """Return the keys of the items that are shown, in the order in which they are shown."""
        return sorted(key for key, item in form.items.items() if item.text)

    def render(self, form: Form, params: Mapping[str, Any]) -> str:
        """Return the view in words, one line an item, bounded."""
        return lines([form.items[key] for key in self.order(form)])

    def ranking(self, form: Form) -> list[int]:
        """Return the places of the records that the view keeps, best first: how recall orders hits through this
        lens."""
        return sorted(form.weights, key=lambda place: (-form.weights[place], place))


def is_spoken(record: Record) -> bool:
    """Whether a record is what a person or an agent said or observed."""
    body = record.body
    return (
        record.type in SPOKEN
        and isinstance(body, ExperienceBody)
        and body.provenance.actor in ("user", "agent")
    )


def lines(items: Sequence[Item]) -> str:
    """Return items as lines, with their time in front; what is over the limit is counted."""
    shown: list[str] = []
    size = 0
    for item in items:
        line = " ".join(f"{item.at}  {item.text}".split()) if item.at else item.text
        size += len(line) + 1
        if len(shown) == SHOWN_LINES or size > SHOWN_CHARS:
            shown.append(f"… and {len(items) - len(shown)} more")
            break
        shown.append(line)
    return "\n".join(shown)


def checked_params(lens: Lens, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a lens's parameters with the caller's in place of defaults; raise ValueError or TypeError for others."""
    found = dict(lens.params)
    for name, value in (given or {}).items():
        if name not in found:
            known = ", ".join(sorted(found)) or "none"
            raise ValueError(f"the lens {lens.name} has no parameter {name!r}; it has: {known}")
        if type(value) is not type(found[name]):
            wanted = type(found[name]).__name__
            raise TypeError(f"{name} of the lens {lens.name} is {wanted}, not {type(value).__name__}")
        found[name] = value
    return found
