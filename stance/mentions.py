"""Whom and what claims speak of: names, the form they are compared in, the type that the relation tells. Pure.

`Maya sibling Nadia` mentions two persons, `user uses QuickBooks` a product, `Jonas's sister lives_in Ghent`
three: her, Jonas, and a place. What is no name ("going out late", a date, a sum) is no mention.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final, Literal, NamedTuple

from braid.ledger.record.record import Claim
from braid.stance.relations import name_of
from braid.text.aliases import MAX_NAME, packaged
from braid.text.words import normal

RULES: Final = "1"
"""Changes whenever the same claims may give other mentions, or other entities."""
EntityType = Literal["person", "organisation", "product", "place", "thing"]
MentionRole = Literal["subject", "object", "owner", "said_by"]
_TYPES: Final[frozenset[str]] = frozenset(("person", "organisation", "product", "place", "thing"))

_PEOPLE: Final = """
    partner_is married_to engaged_to sibling parent child relative friend colleague boss_is
    flatmate neighbour landlord_is doctor_is dentist_is therapist_is coach_is teacher_is bookkeeper_is accountant_is
    lawyer_is mother_is father_is met reports_to manages mentor_is"""
PEOPLE: Final = frozenset(_PEOPLE.split())
"""Relations between two persons."""
_PLACES: Final = frozenset(
    (
        "lives_in",
        "stays_in",
        "located_in",
        "moved_to",
        "moved_from",
        "born_in",
        "comes_from",
        "visited",
        "went_to",
    )
)
_ORGANISATIONS: Final = frozenset(
    ("works_at", "works_for", "studies_at", "member_of", "started_job", "left_job")
)
_PRODUCTS: Final = frozenset(("uses", "drives"))
_OF_A_PERSON: Final = """lives_in stays_in moved_to moved_from born_in comes_from works_as diet allergic_to
    has_condition born_on birthday age_is nationality speaks earns feels believes likes
    dislikes loves enjoys hates prefers wants owns plays hobby drinks eats reads watches learning plans_to
    has_to"""
_PERSONAL: Final = _ORGANISATIONS | frozenset(_OF_A_PERSON.split())
"""Relations whose subject is a person."""
SELF: Final = frozenset(("user", "i", "me", "myself"))
"""How a reader calls whoever speaks, where no name is known."""
NAMED: Final = frozenset(
    ("name_is", "called", "named", "nickname_is", "also_known_as", "alias_is", "known_as")
)
"""Relations that state another name of their subject."""
_ORGANISATION: Final = re.compile(
    r"\b(?:inc|ltd|llc|llp|gmbh|corp|corporation|company|plc|bank|university|college|school|hospital|clinic|agency"
    r"|foundation|council|ministry|team|department)\.?$",
    re.IGNORECASE,
)
_HONORIFIC: Final = re.compile(
    r"^(?:mr|mrs|ms|miss|mx|dr|prof|professor|sir|aunt|auntie|uncle)\b\.?\s+\w", re.IGNORECASE
)
_OWNED: Final = re.compile(r"^(?P<owner>.{1,60}?)['’]s? (?P<what>[^'’]{1,60})$")
_NOT_A_NAME: Final = re.compile(r"[@/\\{}<>=|]|https?:|^\W*[\d.,:%$€£ +-]+\w{0,3}$|\d{4}-\d\d")
_PROPER: Final = re.compile(r"(?<!\w)(?:[A-ZÀ-Þ][\w'’.&-]*|[a-z]+[A-Z]\w*)")
_MONTH: Final = (
    "january|february|march|april|may|june|july|august|september|october|november|december"
    "|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec"
)
_DAY: Final = re.compile(
    rf"^(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:\d\S* (?:of )?)?(?:{_MONTH})(?:,? \d.*)?"
    r"|today|tomorrow|yesterday|i|true|false|yes|no|none)$",
    re.IGNORECASE,
)
"""Days, months and dates, and words that stand for an answer: 21 June, Mondays, yes."""
MAX_WORDS: Final = 6


class Mention(NamedTuple):
    """A name in a claim: the claim's place among those of its record, the name's place in the claim."""

    k: int
    role: MentionRole
    name: str
    key: str
    """The name in normal form."""
    canonical: str
    """The same by the alias dictionary of this release."""
    type: EntityType


def mentions_of(claims: Iterable[Claim]) -> Iterator[Mention]:
    """Yield whom and what claims speak of, in their order."""
    for k, claim in enumerate(claims):
        rel = name_of(claim.rel)
        subject, object_ = _types(rel)
        yield from _subject(k, claim.subject, subject)
        if _is_told(claim.object, rel, object_):
            yield from _subject(k, claim.object, object_, "object")
        if claim.said_by is not None and _is_name(claim.said_by, "person"):
            yield _mention(k, "said_by", claim.said_by, "person")


def owned(name: str) -> tuple[str, str] | None:
    """Return whose what a name is, in normal form: of `Jonas's sister`, jonas and sister; None for any other name."""
    found = _OWNED.match(name.strip())
    return (normal(found["owner"]), normal(found["what"])) if found else None


def _subject(k: int, name: str, type_: EntityType | None, role: MentionRole = "subject") -> Iterator[Mention]:
    if not _is_name(name, type_):
        return
    yield _mention(k, role, name, type_)
    found = _OWNED.match(name.strip())
    if found is not None and _PROPER.search(found["owner"]):
        yield _mention(k, "owner", found["owner"].strip(), None)


def _mention(k: int, role: MentionRole, name: str, told: EntityType | None) -> Mention:
    key = normal(name)
    return Mention(k, role, " ".join(name.split()), key, packaged().of(name), type_of(name, told))


def type_of(name: str, told: EntityType | None = None) -> EntityType:
    """Return of which type a name is: by its own form, else by what its relation tells, else a thing."""
    if normal(name) in SELF or _HONORIFIC.match(name):
        return "person"
    if _ORGANISATION.search(name):
        return "organisation"
    known = packaged().type_of(name)
    if known in _TYPES and (told is None or told == "product"):
        return known  # type: ignore[return-value]  # one of them
    return told or "thing"


def _types(rel: str) -> tuple[EntityType | None, EntityType | None]:
    """Return what a relation tells of the types of its subject and of its object."""
    if rel in PEOPLE:
        return "person", "person"
    subject: EntityType | None = "person" if rel in _PERSONAL else None
    if rel in _PLACES:
        return subject, "place"
    if rel in _ORGANISATIONS:
        return subject, "organisation"
    return subject, "product" if rel in _PRODUCTS else None


def _is_told(name: str, rel: str, type_: EntityType | None) -> bool:
    """Whether an object is something with a name: written as one, known as one, or where a relation has one."""
    return (
        type_ is not None
        or rel in NAMED
        or bool(_PROPER.search(name))
        or normal(name) in packaged().canonical
    )


def _is_name(name: str, told: EntityType | None) -> bool:
    """Whether words may be a name; a month is none, unless a person is spoken of: April, June."""
    stripped = name.strip()
    return (
        0 < len(stripped) <= MAX_NAME
        and len(stripped.split()) <= MAX_WORDS
        and any(character.isalpha() for character in stripped)
        and _NOT_A_NAME.search(stripped) is None
        and (told == "person" or _DAY.match(stripped) is None or normal(stripped) in SELF)
    )
