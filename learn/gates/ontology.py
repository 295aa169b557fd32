"""May this relation hold between these two: what stands at its ends, and how its object is to be read. Pure."""

import re
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from braid.learn.gates.outcome import GateError
from braid.ledger.record.record import Claim
from braid.stance.relations import compared_as, name_of
from braid.text import numbers
from braid.text.words import normal

Kind = Literal["person", "place", "organisation", "thing", "date", "number", "address", "email", "phone"]


class Ends(NamedTuple):
    """What may stand at the ends of a relation; empty where anything may."""

    subject: frozenset[Kind] = frozenset()
    object: frozenset[Kind] = frozenset()


_PERSON: Final[frozenset[Kind]] = frozenset(("person",))
_PLACE: Final[frozenset[Kind]] = frozenset(("place",))
_ORGANISATION: Final[frozenset[Kind]] = frozenset(("organisation",))


def _rows(
    names: str, subject: frozenset[Kind] = frozenset(), object: frozenset[Kind] = frozenset()
) -> dict[str, Ends]:
    return {name: Ends(subject, object) for name in names.split()}


ENDS: Final[Mapping[str, Ends]] = {
    **_rows(
        "married_to engaged_to partner_is child parent sibling mother_is father_is relative friend",
        _PERSON,
        _PERSON,
    ),
    **_rows("colleague boss_is", _PERSON, _PERSON),
    **_rows("lives_in born_in comes_from moved_to moved_from", _PERSON, _PLACE),
    **_rows("works_at works_for started_job left_job studies_at", _PERSON, _ORGANISATION),
    **_rows("works_as speaks allergic_to has_condition diet nationality hobby studied", _PERSON),
    **_rows("born_on birthday", _PERSON, frozenset(("date",))),
    **_rows("happened_on is_on due_on", frozenset(), frozenset(("date",))),
    **_rows("age_is", frozenset(), frozenset(("number",))),
    **_rows("count_is costs earns number_is", frozenset(), frozenset(("number",))),
    **_rows("email_is", frozenset(), frozenset(("email",))),
    **_rows("phone_is", frozenset(), frozenset(("phone",))),
}
"""What may stand where; a relation that isn't listed takes anything."""
_ALIKE: Final[Mapping[Kind, frozenset[str]]] = {
    "person": frozenset(("person", "user", "human", "people", "pet", "animal")),
    "place": frozenset(("place", "location", "city", "country", "region", "address", "gpe")),
    "organisation": frozenset(
        ("organisation", "organization", "org", "company", "team", "school", "service", "shop")
    ),
}
_IDLE: Final = frozenset(("", "thing", "concept", "other", "entity", "unknown"))
_TIME: Final = re.compile(
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|today|tomorrow|yesterday|tonight"
    r"|january|february|april|june|july|august|september|october|november|december|\d[\d.,:/-]*)s?",
    re.IGNORECASE,
)
"""What is no person, place or firm. A girl may be called May."""
_DATE: Final = re.compile(
    r"\d|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|day|week|month|year|spring|summer|autumn|fall|winter"
    r"|christmas|easter|noon|midnight|tomorrow|tonight|morning|evening",
    re.IGNORECASE,
)
_MAX_AGE: Final = 130


def ontology(claim: Claim, kinds: Mapping[str, str]) -> None:
    """Raise GateError where a relation can't hold between these two: `endpoint`, `object_kind`, `self_reference`.

    `kinds`: what known entities are, by their names in normal form.
    """
    if normal(claim.subject) == normal(claim.object):
        raise GateError("ontology", "self_reference")
    name = name_of(claim.rel)
    ends = ENDS.get(name) or ENDS.get(compared_as(name).name)
    if ends is None:
        return
    if ends.subject and not _fits(claim.subject, ends.subject, kinds):
        raise GateError("ontology", "endpoint")
    for kind in ends.object:
        if kind in _ALIKE:
            if not _fits(claim.object, ends.object, kinds):
                raise GateError("ontology", "endpoint")
        elif not _reads_as(claim.object, kind, name):
            raise GateError("ontology", "object_kind")


def _fits(name: str, wanted: frozenset[Kind], kinds: Mapping[str, str]) -> bool:
    """Whether a name may be of one of these kinds: it is known to be, or nothing is known of it."""
    low = normal(name)
    if low in ("user", "i", "me"):
        return "person" in wanted
    if _TIME.fullmatch(low):
        return False
    kind = kinds.get(low, "").casefold()
    return kind in _IDLE or any(kind in _ALIKE[one] for one in wanted if one in _ALIKE)


def _reads_as(text: str, kind: Kind, name: str) -> bool:
    """Whether an object can be read as what its relation has: a date, a number, an address."""
    if kind == "date":
        return _DATE.search(text) is not None
    if kind == "email":
        return "@" in text
    digits = sum(map(str.isdigit, text))
    if kind == "phone":
        return digits >= 5
    spoken = next(numbers.spoken(text), None) if not digits else None
    if name == "age_is":
        age = re.search(r"\d{1,9}", text)
        years = int(age[0]) if age else spoken
        return years is not None and years <= _MAX_AGE
    return bool(digits) or spoken is not None or name == "number_is"
