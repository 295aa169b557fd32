"""What is said of a thing that has a name of its own: dates, prices, numbers, addresses, favourites. Pure."""

import re
from collections.abc import Callable
from typing import Final

from braid.learn import dates
from braid.learn.dates import NEVER, Validity
from braid.learn.page import Page
from braid.learn.phrases import money, person, phrase, phrases
from braid.learn.voice import Voice
from braid.learn.words import KIN, NOT_NAMES, listed
from braid.text.calendar import MONTHS
from braid.text.sentences import TextPart

_ROLE: Final = "|".join(sorted((re.escape(role) for role in KIN), key=len, reverse=True))
_WHOSE: Final = (
    rf"(?P<whose>my|our|(?:my|our) (?:\w+ )?(?:{_ROLE})'s|(?-i:[A-Z][\w-]+(?: [A-Z][\w-]+)?)(?:'s))"
)
_EVENT: Final = (
    r"(?:[\w-]+ ){0,2}?(?:wedding|appointment|interview|exam|operation|surgery|concert|party"
    r"|party|graduation|race|marathon|half marathon"
    r"|meeting|flight|recital|funeral|check-up|checkup|audition|deadline|tournament|conference"
    r"|christening|baptism|anniversary|tour|gig|launch|trip|game|match|follow-up|due date|viewing"
    r"|inspection)"
)
_IS: Final = r"(?: is|'s| will be| has been moved to| was moved to| got moved to| is now| is going to be)"

_FAVOURITE: Final = re.compile(
    (
        r"^my (?:all[- ]time |absolute |new |current |personal )*favou?rite (?P<kind>[a-z]+(?: "
        r"[a-z]+)?)(?: (?:at the moment|of all time|these days|right now|ever|so far))? (?:is|are|has "
        r"to be|would be|has always been|was always)(?: probably| definitely| still| always| called| "
        r"by far)* (?P<rest>.+)$"
    ),
    flags=re.IGNORECASE,
)
_IS_FAVOURITE: Final = re.compile(
    (
        r"^(?P<what>[\w' -]{2,40}?) (?:is|are) (?:definitely |probably |still |by far )?my (?:all[- "
        r"]time |absolute |new )*favou?rites?(?: (?P<kind>[a-z]+))?(?=[,.!]|$| (?:of|by|ever))"
    ),
    flags=re.IGNORECASE,
)
_NAME: Final = re.compile(
    r"^(?:my name is|my name's|the name is|the name's|i am called) (?P<name>.+)$", flags=re.IGNORECASE
)
_I_AM: Final = re.compile(
    (
        r"^i am (?P<name>(?-i:[A-ZÀ-Þ][a-zà-ÿ'-]+(?: [A-ZÀ-Þ][a-zà-ÿ'-]+)?))(?=\s*$|[,.!]|\s+(?:and"
        r"|from|nice)\b)"
    ),
    flags=re.IGNORECASE,
)
_GREETING: Final = re.compile(
    (
        r"\b(?:hi|hello|hey|nice to meet|pleased to meet|good (?:morning|evening|afternoon)|first "
        r"time|introduc|the basics)\b"
    ),
    flags=re.IGNORECASE,
)
_BIRTHDAY: Final = re.compile(rf"^{_WHOSE} birthday(?: is|'s) (?:on )?(?P<rest>.+)$", flags=re.IGNORECASE)
_ON: Final = re.compile(
    (
        rf"^(?:{_WHOSE}|the|my next|our next) (?P<event>{_EVENT}){_IS} (?:now )?(?:set for |scheduled "
        rf"for |booked for |happening |due )?(?:on )?(?P<rest>.+)$"
    ),
    flags=re.IGNORECASE,
)
_MINE: Final = re.compile(
    (
        r"^(?:my|our) (?P<what>email(?: address)?|e-mail(?: address)?|phone(?: number)?|mobile(?: "
        r"number)?|number|address)(?: is|'s) (?:now )?(?P<rest>.+)$"
    ),
    flags=re.IGNORECASE,
)
_CODE: Final = re.compile(
    (
        r"^(?:(?P<of>[\w' -]{2,40}?)'s |the |my |our )(?P<what>(?:[\w-]+ ){0,2}(?:invoice|booking"
        r"|order|reference|ticket|tracking|policy|account|customer|case|flight|confirmation|member"
        r"|membership|case)(?: (?:number|reference|code|id|ref))?)(?: number)? is (?:now "
        r")?(?P<code>(?-i:#?(?=[\w-]*\d)[A-Z0-9][A-Z0-9/-]{2,20}))(?=[\s,.;!]|$)"
    ),
    flags=re.IGNORECASE,
)
_COSTS: Final = re.compile(
    (
        r"^(?P<what>(?:my|our|the|this|a|an) (?!only\b|first\b)[\w' -]{2,40}?) (?:cost|costs|is|was"
        r"|will cost|came to|comes to)(?: me| us)? (?P<rest>(?:about |around |only |just |roughly "
        r")?(?:[£$€]\s?\d|\d[\d,.]* ?(?:pounds|dollars|euros|quid|bucks|euro|eur|usd|gbp)).*)$"
    ),
    flags=re.IGNORECASE,
)
_PAID: Final = re.compile(
    r"^(?:i|we) paid (?P<rest>.+? for (?:the|my|our|a|an|this) .+)$", flags=re.IGNORECASE
)
_BORN: Final = re.compile(r"^i was born on (?P<rest>.+)$", flags=re.IGNORECASE)
_HOBBIES: Final = re.compile(
    (
        r"^(?:my|some of my|one of my) (?:main |biggest |favou?rite )?(?:hobby|hobbies|pastimes?"
        r"|passions?) (?:is|are|include|includes) (?P<rest>.+)$"
    ),
    flags=re.IGNORECASE,
)
_ARE_HOBBIES: Final = re.compile(
    (
        r"^(?P<what>[\w' ]{3,60}?) (?:is|are) (?:two of |one of |some of )?my (?:main |biggest "
        r"|favou?rite )?(?:hobby|hobbies|pastimes?|passions?)\b"
    ),
    flags=re.IGNORECASE,
)
_NO_MORE: Final = re.compile(
    (
        r"^no more (?P<what>coffee|tea|alcohol|meat|sugar|dairy|gluten|bread|beer|wine|caffeine|fish"
        r"|chocolate|milk|cheese|pork|beef) for me\b"
    ),
    flags=re.IGNORECASE,
)
_SACRED: Final = re.compile(
    r"^(?P<what>coffee|tea|wine|beer) is (?:sacred|life|my lifeblood|non-negotiable|my fuel|everything)\b",
    flags=re.IGNORECASE,
)
_DONE_WITH: Final = re.compile(
    (
        r"^i am (?:completely |totally )?done with (?P<what>coffee|tea|alcohol|meat|sugar|dairy|beer"
        r"|wine|caffeine|smoking)\b"
    ),
    flags=re.IGNORECASE,
)
_BETTER: Final = re.compile(
    (
        r"^i (?:actually |really |much |now )*(?:like|love|enjoy) (?P<what>[\w' -]{2,30}?) (?:better"
        r"|more)(?: than (?P<than>[\w' -]{2,30}))?(?= now|[,.!]|$)"
    ),
    flags=re.IGNORECASE,
)
_DRINKS: Final = listed("coffee tea alcohol beer wine caffeine milk")


def read(page: Page, part: TextPart, bare: str, voice: Voice, hedge: str | None) -> bool:
    """Read a clause that speaks of a thing; True where nothing else is to be read in it."""
    low = bare.lower()
    for needed, pattern, reads in _TABLE:
        if needed in low and (match := pattern.match(bare)) is not None:
            return reads(page, part, match, voice._replace(hedge=hedge or voice.hedge))
    return False


def _says(
    page: Page,
    part: TextPart,
    voice: Voice,
    rel: str,
    objects: list[str],
    *,
    subject: str | None = None,
    polarity: bool = True,
    held: Validity = NEVER,
) -> bool:
    for what in objects:
        page.claim(part, voice, subject or page.turn.speaker, rel, what, polarity=polarity, held=held)
    return bool(objects)


def _favourite(page: Page, part: TextPart, match: re.Match[str], voice: Voice) -> bool:
    kind = match["kind"].lower()
    if (
        kind.split()[0]
        in ("part", "thing", "things", "way", "memory", "moment", "one", "ones", "bit", "kind", "type")
        or page.wry
    ):
        return True
    return _says(page, part, voice, "favourite_" + re.sub(r"\W+", "_", kind), phrase(match["rest"]))


def _is_favourite(page: Page, part: TextPart, match: re.Match[str], voice: Voice) -> bool:
    if not match["kind"] or page.wry:
        return False
    return _says(page, part, voice, "favourite_" + match["kind"].lower(), phrase(match["what"]))


def _name(page: Page, part: TextPart, match: re.Match[str], voice: Voice) -> bool:
    return _says(page, part, voice, "name_is", person(match["name"]))


def _i_am(page: Page, part: TextPart, match: re.Match[str], voice: Voice) -> bool:
    words = match["name"].split()
    if any(word in NOT_NAMES for word in words):
        return False
    own = page.turn.speaker.split()
    introduced = words[0] in own or len(words) > 1 or page.says(_GREETING)
    return introduced and _says(page, part, voice, "name_is", [match["name"]])


def _birthday(page: Page, part: TextPart, match: re.Match[str], voice: Voice) -> bool:
    found = dates.day(match["rest"], page.turn.when)
    if found.since is None:
        return True
    said = f"{found.since.day} {MONTHS[found.since.month - 1].title()}"
    return _says(page, part, voice, "birthday", [said], subject=_owner(page, match["whose"]))


def _owner(page: Page, whose: str | None) -> str:
    """Return who "my", "my wife's", "Mireille's" is."""
    if whose is None or whose.lower() in ("my", "our"):
        return page.turn.speaker
    bare = whose.removesuffix("'s")
    match = re.match(rf"(?:my|our) (?:\w+ )?({_ROLE})$", bare, flags=re.IGNORECASE)
    if match is not None:
        return page.of_role(match[1].lower())
    note = page.known.named(bare)
    if note is not None:
        page.use(note)
    return bare


def _event(page: Page, part: TextPart, match: re.Match[str], voice: Voice) -> bool:
    whose, event = match["whose"], match["event"].lower().strip()
    held = dates.ahead(match["rest"], page.turn.when)
    if (
        held.since is None
        or held.until is None
        or (held.until - held.since).days > 1
        or re.match(r"(?:not|over|going|so|the (?:same|best|worst|most)|a )", match["rest"])
    ):
        return False
    subject = f"{_owner(page, whose)}'s {event}" if whose else event
    page.claim(part, voice, subject, "is_on", held.since.date().isoformat())
    return True


def _mine(page: Page, part: TextPart, match: re.Match[str], voice: Voice) -> bool:
    what, rest = match["what"].lower(), match["rest"].strip()
    if what.startswith(("email", "e-mail")):
        found = re.match(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+", rest)
        return found is not None and _says(page, part, voice, "email_is", [found[0].rstrip(".")])
    if what == "address":
        return False
    found = re.match(r"\+?[\d][\d ()/-]{5,20}\d", rest)
    return found is not None and _says(page, part, voice, "phone_is", [found[0]])


def _code(page: Page, part: TextPart, match: re.Match[str], voice: Voice) -> bool:
    what = re.sub(r" (?:number|code|id)$", "", match["what"].lower())
    if corrections_of(page, part, match["code"].rstrip("."), voice):
        return True
    owner = match["of"]
    subject = f"{re.sub(r'^(?:the|my|our) ', '', owner)}'s {what}" if owner else what
    return _says(page, part, voice, "number_is", [match["code"].rstrip(".")], subject=subject)


_NOT_CODE: Final = re.compile(r", not (?P<wrong>[A-Z0-9][A-Z0-9/-]*[A-Z0-9])(?![\w-])")


def corrections_of(page: Page, part: TextPart, right: str, voice: Voice) -> bool:
    """Read `INV-2034, not INV-2043` of a number that was told before; False where none was."""
    around = page.text[part.start : part.stop + 40]
    match = _NOT_CODE.search(around, len(right))
    if match is None:
        return False
    for note in page.known.facts():
        claim = note.claim
        if claim is not None and claim.rel == "number_is" and claim.object == match["wrong"]:
            page.use(note)
            corrected = voice._replace(source_type="corrected")
            page.claim(part, corrected, claim.subject, "number_is", right)
            page.claim(part, corrected, claim.subject, "number_is", claim.object, polarity=False)
            return True
    return False


def _costs(page: Page, part: TextPart, match: re.Match[str], voice: Voice) -> bool:
    what = match["what"]
    subject = re.sub(r"^(?:the|this|an?) ", "", what, flags=re.IGNORECASE)
    if mine := re.match(r"(?:my|our) (.+)", what, flags=re.IGNORECASE):
        subject = f"{page.turn.speaker}'s {mine[1]}"
    return _says(page, part, voice, "costs", money(match["rest"]), subject=subject)


def _paid(page: Page, part: TextPart, match: re.Match[str], voice: Voice) -> bool:
    amount = money(match["rest"])
    behind = re.search(r" for (?:the|my|our|an?|this) (.+)$", match["rest"])
    subject = phrase(behind[1]) if behind else []
    return bool(subject) and _says(page, part, voice, "costs", amount, subject=subject[0])


def _born(page: Page, part: TextPart, match: re.Match[str], voice: Voice) -> bool:
    found = dates.day(match["rest"], page.turn.when, forward=False)
    return found.since is not None and _says(page, part, voice, "born_on", [found.since.date().isoformat()])


def _hobbies(page: Page, part: TextPart, match: re.Match[str], voice: Voice) -> bool:
    return _says(page, part, voice, "hobby", phrases(match["rest"]))


def _are_hobbies(page: Page, part: TextPart, match: re.Match[str], voice: Voice) -> bool:
    return _says(page, part, voice, "hobby", phrases(match["what"]))


def _no_more(page: Page, part: TextPart, match: re.Match[str], voice: Voice) -> bool:
    what = match["what"].lower()
    following = page.text[part.start : part.stop + 40]
    held = dates.bounds(following, page.turn.when)
    return _says(
        page, part, voice, "drinks" if what in _DRINKS else "eats", [what], polarity=False, held=held
    )


def _sacred(page: Page, part: TextPart, match: re.Match[str], voice: Voice) -> bool:
    return _says(page, part, voice, "drinks", [match["what"].lower()])


def _better(page: Page, part: TextPart, match: re.Match[str], voice: Voice) -> bool:
    found = phrase(match["what"])
    return _says(page, part, voice, "prefers", found) and _says(page, part, voice, "likes", found)


_Reads = Callable[[Page, TextPart, re.Match[str], Voice], bool]
_TABLE: Final[tuple[tuple[str, re.Pattern[str], _Reads], ...]] = (
    ("favo", _FAVOURITE, _favourite),
    ("name", _NAME, _name),
    ("called", _NAME, _name),
    ("i am ", _I_AM, _i_am),
    ("birthday", _BIRTHDAY, _birthday),
    (" is ", _ON, _event),
    ("'s ", _ON, _event),
    (" will ", _ON, _event),
    ("moved to", _ON, _event),
    ("my ", _MINE, _mine),
    (" is ", _CODE, _code),
    (" cost", _COSTS, _costs),
    (" is ", _COSTS, _costs),
    (" was ", _COSTS, _costs),
    ("paid", _PAID, _paid),
    ("born on", _BORN, _born),
    ("my ", _HOBBIES, _hobbies),
    (" my ", _ARE_HOBBIES, _are_hobbies),
    ("favo", _IS_FAVOURITE, _is_favourite),
    ("no more", _NO_MORE, _no_more),
    ("done with", _DONE_WITH, _no_more),
    (" is ", _SACRED, _sacred),
    ("better", _BETTER, _better),
    (" more", _BETTER, _better),
)
"""A word without which a pattern needn't be tried, the pattern, and what reads it."""
