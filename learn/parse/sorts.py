"""What sort of thing a noun phrase is: a place, a trade, a sum, a date. Small word lists, and the tagger's word for
names. Pure.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from braid.learn.parse.phrases import is_name, joined, noun, phrase_of, said_of, shown, subtree
from braid.learn.words import AILMENTS, KIN, LANGUAGES, LIMBS, NOT_NAMES, PETS, TRADES
from braid.text import dates
from braid.text.calendar import MONTHS
from braid.text.numbers import WORD, value
from braid.text.parse import Parse
from braid.text.quantities import sum_in
from braid.text.words import listed

_EMPTY: Final = listed(
    "it this that these those one ones them him her you me us something anything everything nothing "
    "someone anyone everyone "
    "everybody somebody ton tons bunch "
    "thing things lot lots bit idea way kind sort time day what which who all some more"
)
_GAMES: Final = listed(
    "guitar piano violin cello drums flute trumpet saxophone clarinet ukulele banjo harp bass keyboard "
    "accordion organ football "
    "soccer tennis basketball volleyball rugby hockey golf cricket baseball badminton squash chess "
    "poker bridge padel "
    "softball handball darts snooker pool go scrabble dnd dungeons"
)
_PASTIMES: Final = listed(
    "yoga pilates karate judo ballet pottery ceramics crossfit boxing meditation gymnastics taekwondo "
    "aikido calligraphy "
    "photography gardening woodworking embroidery knitting origami improv theatre climbing bouldering"
)
_SCHOOL: Final = listed(
    "maths math physics chemistry biology history geography english art music law medicine nursing "
    "economics philosophy psychology "
    "sociology engineering computing science architecture accounting finance marketing literature "
    "linguistics design"
)
_BUSINESS: Final = listed(
    "bakery shop store café cafe restaurant bar studio gallery salon business company firm agency farm "
    "school practice "
    "clinic startup brand bookshop gym kennel garage workshop pub hotel hostel nursery charity"
)
_WORKS: Final = listed(
    "screenplay novel book thesis dissertation blog memoir script play paper article poem song album"
)
_DRINKS: Final = listed("tea coffee decaf water wine beer juice milk cola soda matcha kombucha cocoa")
_HOMELY: Final = listed("bed sleep work school home bathroom toilet shower store shops supermarket gym")
_NOWHERE: Final = listed("home time moment way fear peace past future present world dream")
_NUMBER: Final = re.compile(rf"(?:\d[\d,.]*|{WORD})(?:\s?k)?$", re.IGNORECASE)
_WEEKDAY: Final = re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\bto(?:day|morrow)\b", re.I)
_ORDINAL: Final = re.compile(r"\d{1,2}(?:st|nd|rd|th)", re.IGNORECASE)
_LEAP: Final = datetime(2024, 1, 1, tzinfo=UTC)

Sort = Callable[[Parse, int], str | None]
"""Return a noun phrase as it is kept, or None where it isn't of that sort."""


def is_empty(parse: Parse, at: int) -> bool:
    """Whether a noun phrase names nothing: a pronoun, "that idea", "your haircut"."""
    token = parse.tokens[at]
    children = parse.around(at)
    if token.pos == "PRON" or token.text.lower() in _EMPTY or token.lemma.lower() in _EMPTY:
        return not any(child.dep == "prep" and child.lemma == "of" for child in children)
    described = any(child.dep in ("amod", "compound", "prep", "nummod") for child in children)
    return any(
        child.text.lower() in ("your", "its", "such", "no", "how", "what")
        or (child.text.lower() in ("that", "this", "those", "these") and not described)
        for child in children
    )


def thing(parse: Parse, at: int) -> str | None:
    """Return whatever has a name or a noun."""
    token = parse.tokens[at]
    if is_empty(parse, at) or token.pos not in ("NOUN", "PROPN", "NUM", "ADJ", "VERB", "X"):
        return None
    if _ORDINAL.fullmatch(token.text):
        return None
    if token.tag == "VBG" and token.pos == "VERB":
        return shown(parse, *said_of(parse, at))
    return noun(parse, at) or None


def _choice(parse: Parse, at: int) -> str | None:
    """Return what may be decided on: not his mum, with whom one goes."""
    return None if kin_of(parse, at) is not None else thing(parse, at)


def _name(parse: Parse, at: int) -> str | None:
    return (
        noun(parse, at, bare=True) if is_name(parse, at) and parse.tokens[at].text not in NOT_NAMES else None
    )


def _place(parse: Parse, at: int) -> str | None:
    if is_name(parse, at):
        day = _WEEKDAY.search(parse.tokens[at].text) or dates.day(parse.tokens[at].text, _LEAP)
        return None if day else noun(parse, at, bare=True)  # the meeting moved to Thursday
    low = parse.lemma(at)
    if (
        parse.tokens[at].pos == "NUM"
        or _ORDINAL.fullmatch(parse.tokens[at].text)
        or low in _NOWHERE
        or is_empty(parse, at)
        or len(low) < 2
        or (parse.word(parse.tokens[at].head) == "on" and not parse.children(at))  # I live on tea
        or (low == "own" and parse.tokens[at].pos == "ADJ")
        or _WEEKDAY.search(noun(parse, at))
    ):
        return None
    return noun(parse, at)


def _somewhere(parse: Parse, at: int) -> str | None:
    if parse.lemma(at) in _HOMELY and not is_name(parse, at):
        return None
    return noun(parse, at, bare=is_name(parse, at)) if thing(parse, at) else None


def _organisation(parse: Parse, at: int) -> str | None:
    if (
        parse.tokens[at].pos not in ("NOUN", "PROPN")
        or is_empty(parse, at)
        or kin_of(parse, at) is not None
        or parse.lemma(at)
        in ("home", "night", "moment", "time", "myself", "people", "kid", "child", "guy", "team")
    ):
        return None
    if parse.lemma(at) in ("hour", "week", "year", "month", "day", "project"):
        return None
    within = any(one.dep == "prep" and one.lemma == "in" for one in parse.around(at))
    return noun(parse, at, bare=is_name(parse, at) or within)


def _trade(parse: Parse, at: int) -> str | None:
    token = parse.tokens[at]
    low = token.text.lower()
    if low in TRADES or token.lemma.lower() in TRADES:
        return shown(parse, *phrase_of(parse, at, frozenset(("prep", "acl", "npadvmod"))))
    return None


_TOY: Final = re.compile(
    r"\b(?:stuffed|plush|soft toy|plastic|wooden|paper|virtual|robot)\b|\btoy\b(?! (?:poodle|terrier|spaniel|fox))",
    re.IGNORECASE,
)


def _pet(parse: Parse, at: int) -> str | None:
    if parse.lemma(at) not in PETS or _TOY.search(shown(parse, *phrase_of(parse, at))):
        return None
    return shown(parse, *phrase_of(parse, at, frozenset(("acl", "prep", "amod"))))


def _counted(words: frozenset[str]) -> Sort:
    def sort(parse: Parse, at: int) -> str | None:
        if parse.lemma(at) not in words:
            return None
        if parse.child(at, "nummod") is None and parse.tokens[at].tag != "NN":
            return None
        return shown(parse, *phrase_of(parse, at, frozenset(("prep", "acl", "relcl"))))

    return sort


def _listed(words: frozenset[str], *, whole: bool = False) -> Sort:
    def sort(parse: Parse, at: int) -> str | None:
        if parse.word(at) in words or parse.lemma(at) in words:
            return noun(parse, at, bare=not whole)
        return None

    return sort


def _language(parse: Parse, at: int) -> str | None:
    if parse.lemma(at) in LANGUAGES:
        return parse.tokens[at].text
    inner = [
        number
        for number in subtree(parse, at)
        if parse.tokens[number].dep == "pobj" and parse.lemma(number) in LANGUAGES
    ]
    return parse.tokens[inner[0]].text if inner else None


def _subject(parse: Parse, at: int) -> str | None:
    low = parse.lemma(at)
    known = low in _SCHOOL or low in LANGUAGES or low in _GAMES or low in _PASTIMES
    return (
        noun(parse, at, bare=True)
        if known
        or (
            parse.tokens[at].pos == "NOUN"
            and not is_empty(parse, at)
            and low not in ("lesson", "night", "class")
        )
        else None
    )


def _money(parse: Parse, at: int) -> str | None:
    text = noun(parse, at)
    return text if sum_in(text) else None


def _sum(parse: Parse, at: int) -> str | None:
    text = noun(parse, at, bare=True)
    return text if sum_in(text) or (_NUMBER.match(text) and len(text) > 2) else None


def _age(parse: Parse, at: int) -> str | None:
    found = number(parse.tokens[at].text)
    return found if found is not None and 1 <= float(found.replace(",", "")) <= 120 else None


def _day(parse: Parse, at: int) -> str | None:
    first, last = phrase_of(parse, at)
    text = shown(parse, first, min(last + 2, len(parse.tokens) - 1))
    if _ORDINAL.fullmatch(text):
        return f"the {text}"
    return text if dates.day(text, _LEAP) is not None or dates.day(f"on {text}", _LEAP) is not None else None


def _date(parse: Parse, at: int) -> str | None:
    first, last = phrase_of(parse, at)
    text = shown(parse, first, min(last + 3, len(parse.tokens) - 1))
    found, said = dates.day(text, _LEAP), dates.partial(text)
    if found is None or found.since is None:
        return None
    if said is not None and said.year is None:  # of which year isn't said
        return f"{found.since.day} {MONTHS[found.since.month - 1].title()}"
    return found.since.date().isoformat()


def _food(parse: Parse, at: int) -> str | None:
    low = parse.lemma(at)
    if (
        parse.tokens[at].pos not in ("NOUN", "PROPN")
        or is_empty(parse, at)
        or low in ("breakfast", "lunch", "dinner", "meal", "snack", "cereal", "time")
    ):
        return None
    return noun(parse, at, bare=True)


_DRUG: Final = re.compile(
    r"(?:mab|nib|pril|olol|statin|zole|cillin|mycin|oxacin|formin|gliptin|sartan|dipine|pam|lam|done"
    r"|ine|ide|in|one|xaban|tadine|rizine|profen|phen|tropin)s?$",
    re.IGNORECASE,
)
_DOSED: Final = re.compile(
    r"\b(?:mg|mcg|ml|tablets?|pills?|capsules?|puffs?|drops?|units|dose|insulin|antibiotics?"
    r"|painkillers?|antidepressants?|statins?|inhaler"
    r"|vitamins?|supplements?|melatonin|iron|steroids?|blood thinners?)\b",
    re.IGNORECASE,
)
_NOT_DRUGS: Final = listed(
    "medicine train machine cabin vacation one someone phone line pain rain bin fountain dine wine "
    "magazine mountain coin plane time routine bine "
    "side ride guide bride fine mine shine spine pride tide slide decline cuisine engine skin chin pin "
    "margin basin cousin"
)


def _drug(parse: Parse, at: int) -> str | None:
    low = parse.lemma(at)
    text = noun(parse, at)
    if _DOSED.search(text) or (
        _DRUG.search(low)
        and len(low) > 5
        and low not in _NOT_DRUGS
        and parse.tokens[at].pos in ("NOUN", "PROPN")
    ):
        return text
    return None


SORTS: Final[dict[str, Sort]] = {
    "thing": thing,
    "taste": thing,
    "choice": _choice,
    "name": _name,
    "place": _place,
    "somewhere": _somewhere,
    "organisation": _organisation,
    "company": _name,
    "trade": _trade,
    "person": _name,
    "pet": _pet,
    "language": _language,
    "subject": _subject,
    "money": _money,
    "sum": _sum,
    "date": _date,
    "age": _age,
    "drug": _drug,
    "day": _day,
    "food": _food,
    "children": _counted(listed("kid child son daughter")),
    "siblings": _counted(listed("brother sister sibling")),
    "child": _listed(listed("child baby son daughter twins twin boy girl"), whole=True),
    "ailment": _listed(AILMENTS),
    "limb": _listed(LIMBS, whole=True),
    "game": _listed(_GAMES),
    "pastime": _listed(_PASTIMES),
    "business": _listed(_BUSINESS, whole=True),
    "work": _listed(_WORKS, whole=True),
    "drink": _listed(_DRINKS),
}


def objects(parse: Parse, at: int, sort: str) -> list[str]:
    """Return each of what is joined at a token, as it is kept; empty where the first isn't of that sort."""
    if not sort:
        text = noun(parse, at)
        return [text] if text else []
    read = SORTS[sort]
    found = [read(parse, one) for one in joined(parse, at)]
    return [one for one in found if one] if found and found[0] else []


def is_drink(text: str) -> bool:
    """Whether words end with a drink: green tea."""
    return text.lower().rpartition(" ")[2] in _DRINKS


def number(text: str) -> str | None:
    """Return a number in digits, None for what is none."""
    text = text.strip().lower()
    if re.fullmatch(r"\d{1,3}(?:,\d{3})*(?:\.\d+)?|\d+(?:\.\d+)?", text):
        return text
    found = value(text) if _NUMBER.match(text) else None
    return None if found is None else f"{found:g}" if isinstance(found, float) else str(found)


def kin_of(parse: Parse, at: int) -> str | None:
    """Return the word for kin, friend or office that a noun is, None for others."""
    token = parse.tokens[at]
    if (word := token.text.lower()) in KIN:
        return word
    return lemma if (lemma := token.lemma.lower()) in KIN else None
