"""A name taken apart: honorific, words, generation, numbers, whose relative, which place. Pure."""

import re
import unicodedata
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final, NamedTuple

from braid.stance.mentions import EntityType
from braid.text.aliases import lines_of, packaged
from braid.text.words import listed, normal

_HONORIFICS: Final = {
    "mr": "m", "mister": "m", "sir": "m", "mrs": "f", "ms": "f", "miss": "f", "madam": "f", "lady": "f", "lord": "m",
    "dr": "", "doctor": "", "prof": "", "professor": "", "mx": "", "coach": "", "judge": "", "captain": "",
    "nurse": "", "sister": "f", "father": "m", "fr": "m", "rev": "", "reverend": "",
}  # fmt: skip
"""Word before a name → whom it is said of: m, f, or either."""
_GENERATIONS: Final = {
    "jr": "junior", "junior": "junior", "jnr": "junior", "younger": "junior", "little": "junior", "young": "junior",
    "sr": "senior", "senior": "senior", "snr": "senior", "elder": "senior", "old": "senior",
    "ii": "second", "iii": "third", "iv": "fourth",
}  # fmt: skip
_BEFORE: Final = frozenset(("little", "young", "old"))
_KIN: Final[dict[str, str]] = {
    word: group[0]
    for group in (
        ("mother", "mum", "mom", "mummy", "mommy", "mama"),
        ("father", "dad", "daddy", "papa"),
        ("grandmother", "grandma", "gran", "granny", "nana", "nan", "oma"),
        ("grandfather", "grandpa", "granddad", "grandad", "gramps", "opa"),
        ("wife",), ("husband", "hubby"), ("partner",), ("spouse",), ("girlfriend",), ("boyfriend",),
        ("fiance", "fiancee"), ("brother", "bro"), ("sister", "sis"), ("twin",), ("sibling",), ("son",), ("daughter",),
        ("child", "kid"), ("baby",), ("aunt", "auntie", "aunty"), ("uncle",), ("niece",), ("nephew",), ("cousin",),
        ("grandson",), ("granddaughter",), ("stepson",), ("stepdaughter",), ("stepfather", "stepdad"),
        ("stepmother", "stepmum", "stepmom"), ("godmother",), ("godfather",), ("parent",),
        ("boss", "manager", "supervisor"), ("colleague", "coworker", "workmate", "teammate"),
        ("friend", "mate", "buddy"),
        ("neighbour", "neighbor"), ("landlord",), ("landlady",), ("flatmate", "roommate", "housemate"),
        ("doctor", "gp"), ("dentist",), ("therapist",), ("accountant",), ("bookkeeper",), ("lawyer",), ("teacher",),
        ("plumber",), ("vet",), ("nurse",), ("coach",), ("cat", "kitty", "kitten"), ("dog", "puppy", "pup"), ("ex",),
    )
    for word in group
}  # fmt: skip
"""Words for a relative, or for who somebody is to somebody → one word for all that say the same."""
SHARED_ROLES: Final = frozenset(
    ("colleague", "friend", "neighbour", "partner", "child", "sibling", "parent", "spouse", "twin", "ex")
)
"""Who is one of these may be another, too."""
_LEGAL: Final = frozenset(
    ("inc", "ltd", "llc", "llp", "gmbh", "mbh", "corp", "corporation", "co", "company", "plc", "ag", "sa", "bv",
     "limited", "incorporated", "gesellschaft")
)  # fmt: skip
_GENERIC: Final = frozenset(("app", "application", "platform", "software", "website", "site"))
"""What is said behind the name of a product and makes no other thing of it."""
_UNITS: Final = frozenset(("mg", "mcg", "µg", "ml", "g", "kg"))
_WRITTEN: Final = {
    "svc": "service", "db": "database", "stg": "staging", "prod": "production", "inv": "invoice", "rd": "road",
    "ave": "avenue", "mt": "mount", "fr": "father", "dept": "department", "univ": "university", "intl": "international",
    "no": "number", "nr": "number", "tkt": "ticket", "env": "environment", "repo": "repository", "mgmt": "management",
    "str": "street", "blvd": "boulevard", "ft": "fort", "hwy": "highway", "sq": "square",
}  # fmt: skip
"""Words as they are written short; `st` is a saint before a name and a street behind one."""
_WITH_DIGIT: Final = re.compile(r"^#?(?:v(?:er(?:sion)?)?\.?)?(?=\w*\d)0*(?P<number>[\w.]+?)\.?$")
_TOKEN: Final = re.compile(r"#?[^\W_]+(?:[.&'’][^\W_]+)*")
_DOTTED: Final = re.compile(r"(?:\w\.)+\w?\.?")
_OWNER: Final = re.compile(
    r"^(?P<whose>my|our|his|her|their|your)\b|^(?P<name>.{1,60}?)['’]s? (?=\w)", re.IGNORECASE
)
_PARTING: Final = re.compile(r", +|\s+(?:in|near|on|at|upon|of|from)\s+", re.IGNORECASE)
_CONNECTING: Final = listed("the a an of and for in on at upon de la le du der von und")
_FORMER: Final = frozenset(
    ("first", "second", "third", "former", "ex", "late", "old", "new", "previous", "next", "other")
)
_UMLAUTS: Final = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "ø": "o", "ł": "l", "æ": "ae", "å": "a"}
)


class NameParts(NamedTuple):
    """A name taken apart; every word is folded: lower case, no accents, no short ways of writing."""

    key: str
    words: tuple[str, ...]
    """What is left of it without the rest."""
    honorific: str | None = None
    generation: str | None = None
    numbers: tuple[str, ...] = ()
    doses: tuple[str, ...] = ()
    kin: tuple[str, ...] = ()
    """Who it is to somebody: of "my brother Kofi", brother."""
    owner: str = ""
    """Whose relative: of "Ravi's dad", ravi; of "my sister", me; else nobody's."""
    former: tuple[str, ...] = ()
    """Which of several: the first wife, the new landlord."""
    place: tuple[str, ...] = ()
    """What stands behind a comma, or behind `upon`: of "Paris, Texas", texas."""

    @property
    def squashed(self) -> str:
        """Its words without what parts them: `quickbooks` of Quick Books."""
        return "".join(self.words)


@lru_cache(maxsize=20_000)
def folded(text: str) -> str:
    """Return text in lower case, without accents: `krakow` of Kraków, `muenster` of Münster."""
    low = unicodedata.normalize("NFC", text.casefold()).translate(_UMLAUTS)
    return "".join(one for one in unicodedata.normalize("NFKD", low) if not unicodedata.combining(one))


def _tokens(text: str) -> list[str]:
    found: list[str] = []
    for match in _TOKEN.finditer(text):
        word = folded(match[0]).replace("’", "'")
        if _DOTTED.fullmatch(word):
            word = word.replace(".", "")
        found.append(word.removesuffix(".com").removesuffix(".io").removesuffix(".org"))
    return found


def _written_out(words: list[str]) -> list[str]:
    found: list[str] = []
    for place, word in enumerate(words):
        if word == "st":
            found.append("saint" if place == 0 else "street")
        else:
            found.append(_WRITTEN.get(word, word))
    return found


@lru_cache(maxsize=20_000)
def parts_of(name: str, type_: EntityType = "thing") -> NameParts:
    """Take a name apart. Never fails."""
    text = " ".join(name.split())
    owner = ""
    if type_ in ("person", "thing") and (found := _OWNER.match(text)):
        owner = (
            "me"
            if (found["whose"] or "").lower() in ("my", "our")
            else folded(found["whose"] or found["name"])
        )
        text = text[found.end() :].strip() or text
    head, place = text, ""
    if type_ in ("place", "organisation") and (parted := _PARTING.search(text)) and parted.start():
        head, place = text[: parted.start()], text[parted.end() :]
    words = [word for word in _tokens(head) if word not in ("the", "a", "an")] or _tokens(text)
    honorific = None
    if len(words) > 1 and words[0] in _HONORIFICS and type_ in ("person", "thing"):
        honorific = words.pop(0)
    rest = _sorted_out(_written_out(words), type_)
    kin = rest.kin
    if kin and not owner and len(rest.words) <= 1:
        owner = "me"
    if honorific in _KIN and not kin:
        kin = (_KIN[honorific],)
    return rest._replace(
        key=normal(name), honorific=honorific, kin=kin, owner=owner,
        place=tuple(word for word in _tokens(place) if word not in _CONNECTING),
    )  # fmt: skip


def _sorted_out(words: list[str], type_: EntityType) -> NameParts:
    generation = None
    numbers: list[str] = []
    doses: list[str] = []
    kin: list[str] = []
    former: list[str] = []
    rest: list[str] = []
    for at, word in enumerate(words):
        number = _WITH_DIGIT.match(word)
        behind = words[at + 1] if at + 1 < len(words) else ""
        before_a_name = word in _BEFORE and behind and behind not in _KIN
        if type_ == "person" and word in _GENERATIONS and (at or before_a_name):
            generation = _GENERATIONS[word]
        elif number is not None:
            (doses if behind in _UNITS else numbers).append(number["number"])
        elif (word in _UNITS and doses) or (word in _LEGAL and at and type_ != "person"):
            continue
        elif word in _FORMER and behind in _KIN:
            former.append(word)
        elif type_ in ("person", "thing") and word in _KIN:
            kin.append(_KIN[word])
        else:
            rest.append(word)
    if type_ in ("product", "organisation", "thing") and len(rest) > 1 and rest[-1] in _GENERIC:
        rest.pop()
    return NameParts(
        "", tuple(rest), generation=generation, numbers=tuple(sorted(numbers)), doses=tuple(doses), kin=tuple(kin),
        former=tuple(former),
    )  # fmt: skip


def initials_of(words: tuple[str, ...]) -> set[str]:
    """Return what the words may be short for by their first letters, with and without small words between them."""
    telling = [word for word in words if word not in _CONNECTING]
    return {"".join(word[0] for word in some) for some in (words, telling) if len(some) > 1}


def gender_of(honorific: str | None) -> str:
    """Return whom an honorific is said of: m, f, or nothing where it is said of both."""
    return _HONORIFICS.get(honorific or "", "")


def role_of(word: str) -> str | None:
    """Return the role that a word names: mother for mum; None for another word."""
    return _KIN.get(folded(word))


@cache
def _short_forms() -> dict[str, frozenset[str]]:
    """Return for each name and short form the names that it may stand for."""
    text = (files("braid.learn.resolve") / "data" / "nicknames.txt").read_text("utf-8")
    found: dict[str, set[str]] = {}
    for line in lines_of(text):
        for one in (line.name, *line.others):
            found.setdefault(one, set()).add(line.name)
    return {name: frozenset(stands) for name, stands in found.items()}


def stands_for(word: str) -> frozenset[str]:
    """Return the given names that a word may stand for, itself where it is one of them: of Liz, elizabeth."""
    return _short_forms().get(word, frozenset())


def is_short_form(one: str, other: str) -> bool:
    """Whether one given name is a short form of the other, or both are of one name: Liz, Elizabeth."""
    return not stands_for(one).isdisjoint(stands_for(other))


def alias_of(name: str) -> str:
    """Return the name that this one is told by in the dictionary of this release."""
    return packaged().of(name)
