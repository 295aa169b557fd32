"""Objects: the noun phrase, place, organisation or person that a stretch of words begins with. Pure.

Each function takes the words behind a pattern and returns what they name, or nothing: what is doubtful is left out.
"""

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from braid.learn.words import NOT_NAMES, PARTICIPLES, VERBS, listed
from braid.text import numbers
from braid.text.calendar import MONTH_NAME, MONTHS, WEEKDAY_NAME, WEEKDAYS

Chunk = Callable[[str], list[str]]

MAX_WORDS: Final = 6
_DETERMINERS: Final = listed("a an the some any my our this these your his her their its")
_STOP: Final = (
    listed(
        "but because so when while since if as until till unless than where though although or which that "
        "who whom whose whenever wherever today tomorrow yesterday tonight now lately recently again too "
        "also anymore already instead nowadays currently though right ever yet either anyway honestly "
        "especially like just via per once twice ago always everyday before after during through i we you "
        "he she they it is are was were am be been has have had do does did will would can could should "
        "might i'm i've it's that's not lol haha and there here then"
    )
    | frozenset(WEEKDAYS)
    | {f"{day}s" for day in WEEKDAYS}
)
_NEVER_FIRST: Final = listed(
    "it that this them you him her me us what how when everything something anything nothing someone "
    "one ones those these there both all none nobody everyone each other others another more most "
    "less least much many lot lots bit i we he she they to if who why where whatever whoever no not "
    "being having so too very just one's things stuff thing way enough such same up out off down over "
    "back away around about every time as"
)
_PREPOSITIONS: Final = listed("in on at with for from to by about into near under over through around")
_WORD: Final = re.compile(r"[^\s,.;:!?()\x00–—\"]+")
_LIST: Final = re.compile(r"\s*,\s*(?:and\s+|or\s+|but also\s+)?|\s+(?:and|or|&)\s+(?:also\s+)?")


def phrase(text: str, most: int = MAX_WORDS) -> list[str]:
    """Return the noun phrase that a text begins with, its article off; nothing where it goes on as a clause."""
    run = _run(text)
    found = _cut(run.words, most) if run.whole else ""
    return [found] if found else []


def phrases(text: str) -> list[str]:
    """Return the noun phrases of a list: `tea, rooibos and coffee`; the list ends where one isn't a phrase.

    What follows `improving education` in a list without being done, too, is improved as well: it is one item.
    """
    found: list[str] = []
    pieces = _LIST.split(_until_mark(text))
    marks = _LIST.findall(_until_mark(text))
    for place, piece in enumerate(pieces):
        run = _run(piece)
        if not run.whole or not run.words:
            break
        mark = marks[place - 1] if place else ""
        if run.words[0].lower() in ("their", "its") or (found and _leans(found[-1], run.words[0], mark)):
            break
        if found and (_is_open(found[-1], mark) or (_is_done(found[0]) and not _is_done(run.words[0]))):
            joined = f"{found[-1]}{mark}{' '.join(run.words)}"
            found[-1] = joined if len(joined.split()) <= MAX_WORDS + 2 else found[-1]
        elif bare := _cut(run.words, MAX_WORDS):
            found.append(bare)
        else:
            break
        if run.stopped:
            break
    return found[:6]


def _is_done(words: str) -> bool:
    return words.split(maxsplit=1)[0].lower().endswith("ing")


def _leans(before: str, word: str, mark: str) -> bool:
    """Whether `mindset` in "books about development and mindset" may belong to the item before it."""
    inside = before.split()[1:-1]
    return (
        mark.strip() == "and"
        and not _is_done(word)
        and not _is_done(before)
        and any(each in _PREPOSITIONS for each in inside)
    )


def _is_open(before: str, mark: str) -> bool:
    """Whether an item ends in the first of two adjectives: `creating a safe, inviting place`."""
    words = before.split()
    return mark.strip() == "," and len(words) > 2 and words[-2].lower() in ("a", "an", "the", "such")


def _until_mark(text: str) -> str:
    return re.split(r"[.;:!?()\x00–—\"]", text, maxsplit=1)[0]


class _Run(NamedTuple):
    """The leading words up to what can't be of a noun phrase."""

    words: list[str]
    stopped: bool
    """Something follows."""
    whole: bool
    """What follows is not part of it: a pronoun or "that" would say more closely what is meant."""


_MORE: Final = listed(
    "that who whose which i we you he she they it is are was were am i'm i've it's that's has have "
    "had will would can could do does did"
)
_AFTER: Final = re.compile(
    (
        rf"\s(?:(?:{numbers.COUNT}|many|some|several) (?:days?|weeks?|months?|years?|hours?)(?: ago| back| now)\b"
        r"|(?:last|this|next|every|each|past|the other|the next|all|most|the last few|these|those) "
        r"(?:other )?(?:days?|weeks?|weekends?|months?|years?|mornings?|afternoons?|evenings?|nights?"
        r"|summers?|winters?|springs?|autumns?|fall|time"
        rf"|mon|tues?|wed|thurs?|fri|sat|sun|{WEEKDAY_NAME}s?|{MONTH_NAME})\b"
        r"|(?:on|in|at|since|until|till|from|by|during|around|before|after|for|over|throughout"
        rf"|starting) (?:the )?(?:(?:early|late|mid)[ -])?(?:\d|{WEEKDAY_NAME}s?\b|weekends?\b|weekdays?\b"
        rf"|{MONTH_NAME}\b|christmas\b|easter\b|summer\b|winter\b|spring\b|autumn\b|fall\b"
        r"|mornings?\b|afternoons?\b|evenings?\b|nights?\b|noon\b|midnight\b|last\b|next\b|lunch\b"
        r"|breakfast\b|dinner\b|now\b|years\b|a while\b|ages\b|the past\b|past\b|first time\b|my "
        r"(?:day|week|month)s? off\b|(?:my|our) (?:free|spare) time\b"
        rf"|(?:{numbers.COUNT}|several|many|some) (?:days?|weeks?|months?|years?"
        r"|hours?)\b|sure\b|example\b|once\b|work\b|home\b|school\b)"
        r"|twice\b|once\b|times\b|together\b|alone\b|somewhere\b|as well\b|a lot\b|so much\b|very "
        r"much\b|more than\b|the most\b|most of all\b|too\b|at all\b|any ?more\b|cause\b|'cause\b"
        r"|cuz\b|coz\b|cos\b|even (?:more|though)\b|just in case\b|right now\b|again\b)"
    ),
    flags=re.IGNORECASE,
)


def _run(text: str) -> _Run:
    stretch = re.split(r"[,.;:!?()\x00–—\"](?:\s|$)|\s-\s|-\s|[\x00\"]", text, maxsplit=1)[0]
    match = _AFTER.search(f" {stretch}")
    words = (stretch if match is None else f" {stretch}"[: match.start()]).split()
    for place, word in enumerate(words):
        low = word.lower()
        if low in _MORE:
            return _Run(words[:place], stopped=True, whole=False)
        if low in _STOP:
            return _Run(words[:place], stopped=True, whole=True)
        following = words[place + 1].lower() if place + 1 < len(words) else ""
        if low == "to" and place and following in _DOING:
            return _Run(words[:place], stopped=True, whole=True)
        if low in ("in", "on", "at", "for", "with", "by", "from") and following in (
            "",
            "and",
            "me",
            "it",
            "them",
        ):
            return _Run(words[:place], stopped=True, whole=True)
    return _Run(words, stopped=match is not None, whole=True)


def _cut(words: list[str], most: int) -> str:
    while words and words[0].lower() in _DETERMINERS:
        words = words[1:]
    if len(words) > most:
        for place in range(len(words) - 1, 0, -1):
            if words[place].lower() in _PREPOSITIONS and place <= most:
                words = words[:place]
                break
        else:
            return ""
    while words and words[-1].lower() in _NEVER_LAST:
        words = words[:-1]
    if not words or words[0].lower() in _NEVER_FIRST or not any(ch.isalnum() for ch in words[0]):
        return ""
    if any(word.lower() in _POINTING for word in words) or (len(words) == 1 and words[0].lower() in _VAGUE):
        return ""
    return " ".join(words).strip("'*_~-")


_DOING: Final = VERBS.keys() - PARTICIPLES | listed(
    "be do feel show give help celebrate relax try build create share express support raise keep "
    "spend bring connect inspire remember unwind improve discuss talk check look clear escape put let "
    "become stay fix cook bake write sing dance sleep"
)
_NEVER_LAST: Final = _PREPOSITIONS | _DETERMINERS | listed("of very really more most both even also not so")
_POINTING: Final = listed("it them him her me us you this that these those there itself")
_VAGUE: Final = listed(
    "place event team book group making one thing story stories addition part side idea time day "
    "moment feeling process experience work job journey results result vibe vibes vibe view look feel "
    "sound way people guys folks man woman guy girl being doing going getting having seeing trying "
    "looking thinking knowing taking giving helping putting bringing keeping mine yours life living "
    "everything progress person new good great best better"
)


_CAPITAL: Final = r"[A-ZÀ-ÖØ-Þ][\w'’.-]*[\w]|[A-ZÀ-ÖØ-Þ]"
_PLACE: Final = re.compile(
    rf"(?:the )?((?:{_CAPITAL})(?:[ -](?:(?:of|de|del|la|le|los|las|da|do|upon|der)[ "
    rf"-]){{0,2}}(?:{_CAPITAL})){{0,4}})"
)
_CALLED: Final = re.compile(
    rf"(?:a|an|the) (?:[\w-]+ ){{1,4}}(?:called|named) ((?:{_CAPITAL})(?: (?:{_CAPITAL})){{0,2}})"
)


def place(text: str) -> list[str]:
    """Return the place that a text begins with: capitalised, or `a small town called Ashby`."""
    match = _CALLED.match(text) or _PLACE.match(text)
    if match is None:
        return []
    name = match[1]
    if name.split()[0].lower() in (*MONTHS, *WEEKDAYS) or name.split()[0] in NOT_NAMES:
        return []
    return [name.removesuffix("'s")]


def organisation(text: str) -> list[str]:
    """Return the firm, school or shop that a text begins with: a name, or a short noun phrase with an article."""
    match = re.match(
        rf"(?:the )?((?:{_CAPITAL})(?: (?:(?:of|for|and|&|the|in|de) ){{0,2}}(?:{_CAPITAL})){{0,5}})", text
    )
    if (
        match
        and match[1].split()[0] not in NOT_NAMES
        and match[1].split()[0].lower() not in (*MONTHS, *WEEKDAYS)
    ):
        return [re.sub(r" in [A-Z].*", "", match[1])]
    match = _WORKPLACE.match(text)
    return [match[1]] if match is not None else []


_WORKPLACE: Final = re.compile(
    (
        r"(?:an?|the|my|our) ((?:(?!and\b|of\b|in\b|at\b|for\b|with\b)[\w'-]+ ){0,3}(?:hospital"
        r"|school|library|bakery|café|cafe|coffee shop|shop|store|post office|law firm|firm"
        r"|company|university|college|clinic|factory|garage|restaurant|bank|hotel|farm|nursery"
        r"|kindergarten|museum|theatre|theater|gallery"
        r"|lab|laboratory|start-?up|agency|salon|pub|bar|supermarket|warehouse|station|church|council"
        r"|town hall|city hall|centre|center|shelter|charity|magazine"
        r"|newspaper|pharmacy|brewery|zoo|gym|airport|port|shipyard|nursing home|care home|hospice"
        r"|ministry|embassy|courthouse|bookshop|bookstore|soup kitchen|food bank"
        r"|non-?profit))(?![\w'-])"
    ),
    flags=re.IGNORECASE,
)


def person(text: str) -> list[str]:
    """Return the name of a person that a text begins with."""
    match = re.match(rf"((?:{_CAPITAL})(?: (?:{_CAPITAL}))?)(?![\w'])", text)
    if match is None:
        return []
    words = match[1].split()
    if words[0] in NOT_NAMES:
        return []
    if len(words) > 1 and words[1] in NOT_NAMES:
        words = words[:1]
    return [" ".join(words)]


def persons(text: str) -> list[str]:
    """Return the names of a list of persons."""
    found: list[str] = []
    for piece in _LIST.split(_until_mark(text)):
        name = person(piece)
        if not name:
            break
        found += name
    return found


def anything(text: str) -> list[str]:
    """Return what a pattern has matched whole."""
    return [text.strip(" .,!?")] if text.strip(" .,!?") else []


def number(text: str) -> list[str]:
    """Return a whole number, in digits or words."""
    said = numbers.leading(text.lower())
    return [] if said is None else [str(said)]


_MONEY: Final = re.compile(
    r"(?:about |around |only |just |roughly |nearly |almost )?"
    r"((?:[£$€]\s?\d[\d,]*(?:\.\d+)?k?|\d[\d,]*(?:\.\d+)? ?(?:pounds|dollars|euros|quid|bucks"
    r"|euro|eur|usd|gbp|£|\$|€))"
    r"(?: (?:a|per) (?:month|year|week|day|night|hour|head))?)",
    flags=re.IGNORECASE,
)


def money(text: str) -> list[str]:
    """Return the amount of money that a text begins with."""
    match = _MONEY.match(text)
    return [match[1]] if match else []


def action(text: str) -> list[str]:
    """Return what is planned: a verb and its object, time and reason off."""
    stretch = re.split(r"[,.;:!?()\x00–—\"](?:\s|$)|\s-\s|[\x00\"]", text, maxsplit=1)[0]
    match = _AFTER.search(f" {stretch}")
    words = (stretch if match is None else f" {stretch}"[: match.start()]).split()
    for place, word in enumerate(words):
        low = word.lower()
        if low in ("sometime", "someday", "soon", "later", "eventually", "one") or (
            low in _STOP and low not in ("be", "have", "do")
        ):
            words = words[:place]
            break
        if (
            low == "to"
            and place > 1
            and words[place + 1 : place + 2]
            and words[place + 1].islower()
            and words[place + 1] not in _DETERMINERS
        ):
            words = words[:place]
            break
    while words and words[-1].lower() in _NEVER_LAST:
        words = words[:-1]
    if not 2 <= len(words) <= 8 or any(
        word.lower() in _POINTING or word.lower() in ("something", "things", "some") for word in words
    ):
        return []
    return [" ".join(words)]
