"""Turns of phrase of everyday talk that no verb's table holds: "I'm off to Lisbon", "my sister's getting "
"married". Pure."""

import re
from collections.abc import Callable
from typing import Final

from braid.learn import dates
from braid.learn.dates import NEVER
from braid.learn.page import Page
from braid.learn.phrases import organisation, phrase, phrases, place
from braid.learn.rules.tastes import activity
from braid.learn.voice import Voice
from braid.learn.words import KIN, PETS
from braid.text.numbers import WORD
from braid.text.sentences import TextPart

_ROLE: Final = "|".join(sorted((re.escape(role) for role, rel in KIN.items() if rel), key=len, reverse=True))
_PETS: Final = "|".join(sorted(map(re.escape, PETS), key=len, reverse=True))
_NAME: Final = r"[A-ZÀ-Þ][a-zà-ÿ][\w-]*"
_I: Final = r"(?:i|we) (?:am|are) (?:now |just |already |finally |so |really |currently |also |actually )*"
_ENDED: Final = (
    r"(?: course| class| classes| lessons| programme| program| race| marathon| trip| tour| workshop| club)"
)

_OFF: Final = re.compile(
    rf"(?:{_I})off (?:on (?:a |my |our )?(?:\w+ )?(?:trip|holiday|vacation) )?to (?P<rest>.+)", re.IGNORECASE
)
_TRIP: Final = re.compile(
    r"(?:i|we) (?:have )?(?:just |finally |already )*(?:booked|got|bought) (?:an? |the |my |our |us |some )*"
    r"(?:flights?|tickets?|trip|holiday|train|hotel|cruise) (?:\w+ )?(?:to|in) (?P<rest>.+)",
    re.IGNORECASE,
)
_FORWARD: Final = re.compile(
    rf"(?:{_I})(?:looking forward to|excited (?:about|for)) (?:my|our) (?:\w+ )?(?:trip|holiday|vacation|visit) to "
    rf"(?P<rest>.+)",
    re.IGNORECASE,
)
_WILL_BE: Final = re.compile(r"(?:i|we) will be in (?P<rest>.+)", re.IGNORECASE)
_WEDDING: Final = re.compile(
    rf"my (?:\w+ )?(?P<role>{_ROLE})(?: (?P<name>(?-i:{_NAME})))?(?:'s| is| are) (?:finally |also )?getting "
    rf"(?P<what>married|engaged)\b",
    re.IGNORECASE,
)
_OWN_WEDDING: Final = re.compile(rf"(?:{_I})getting (?P<what>married)\b", re.IGNORECASE)
_GOT_INTO: Final = re.compile(
    r"(?:i|we) (?:have |had )?(?:\w+ly |just |also )*(?:gotten|got|been getting|am getting) (?:really |so |very "
    r"|back )?into "
    r"(?P<rest>.+)",
    re.IGNORECASE,
)
_BEEN_DOING: Final = re.compile(
    r"i (?:have been|have) (?:\w+ly |also |now )*(?:doing|practi[sc]ing) (?P<rest>yoga|pilates|karate|judo|tai chi"
    r"|ballet|gymnastics|meditation|photography|ceramics|pottery|taekwondo|boxing|aikido|crossfit)\b",
    re.IGNORECASE,
)
_BIG_PART: Final = re.compile(
    r"(?P<rest>[\w' ]{3,40}?) (?:is|are) (?:such |really )?(?:an? )?(?:huge|big|major|important) part of my life\b",
    re.IGNORECASE,
)
_AVOIDS: Final = re.compile(
    r"(?:i|we) (?:can not|do not|am not able to|am not allowed to) (?:have|eat|digest|tolerate) (?:any |much "
    r")?(?P<rest>dairy"
    r"|gluten|nuts|peanuts|meat|pork|beef|fish|seafood|shellfish|eggs|wheat|sugar|lactose|soy|red meat)\b(?! "
    r"(?:to|from))",
    re.IGNORECASE,
)
_INTOLERANT: Final = re.compile(
    r"i am (?P<rest>(?:lactose|gluten|fructose|histamine)[ -]intolerant)\b", re.IGNORECASE
)
_TRAINING: Final = re.compile(
    rf"(?:{_I}|i have been )training for (?P<rest>(?:a|an|the|my) .+)", re.IGNORECASE
)
_WORKING_ON: Final = re.compile(
    rf"(?:{_I}|i have been )(?:working on|writing) (?P<rest>(?:a|an|my|another) (?:(?!lot\b)[\w-]+ ){{0,3}}(?:book"
    rf"|novel|screenplay|script|album"
    r"|thesis|dissertation|memoir|short story|short film|documentary|podcast|play|poem))\b",
    re.IGNORECASE,
)
_TEACHES: Final = re.compile(
    r"i teach (?!my\b|them\b|him\b|her\b|you\b|people\b|kids\b)(?P<what>[a-z]+(?: [a-z]+)?)(?= at| in|[,.!]|$)(?: "
    r"(?:at|in) (?P<where>.+))?",
    re.IGNORECASE,
)
_RUNS: Final = re.compile(
    r"i (?:run|manage|own|have) (?P<rest>(?:a|an|my own|the) (?:(?!very\b)[\w-]+ ){0,3}(?:bakery|shop|store"
    r"|studio|café|cafe|restaurant|farm"
    r"|business|company|agency|gym|salon|bookshop|bookstore|startup|start-up|gallery|clinic|nursery|charity|blog))\b",
    re.IGNORECASE,
)
_EXPECTING: Final = re.compile(
    rf"(?:{_I}|my (?:wife|partner|girlfriend) is )expecting (?P<rest>(?:a|an|our|my) .+)", re.IGNORECASE
)
_TURNING: Final = re.compile(rf"(?:{_I})turning (?P<age>\d\d)\b", re.IGNORECASE)
_SPLIT: Final = re.compile(
    r"(?:i|we) (?:have )?(?:just |recently |finally )*(?:broke|broken|split) up(?: with (?P<who>.+))?",
    re.IGNORECASE,
)
_OUT_OF: Final = re.compile(
    r"(?:i|we) (?:have )?(?:just |had to )?(?:pulled out of|pull out of|dropped out of|drop out of|cancelled"
    r"|canceled|cancel"
    rf"|withdrawn from|withdrew from|quit) (?:the|my|our|that) (?P<rest>(?:[\w'-]+ ){{0,3}}?[\w'-]+{_ENDED})\b",
    re.IGNORECASE,
)
_SCRAP: Final = re.compile(
    rf"(?:please )?(?:scrap|forget|cancel|drop) (?:about )?(?:the|my|that|our) (?P<rest>(?:[\w'-]+ "
    rf"){{0,3}}?[\w'-]+{_ENDED})\b",
    re.IGNORECASE,
)
_CUP: Final = re.compile(
    r"(?:i am (?:already )?(?:on|having) my \w+ (?:cup|mug|pot|glass|pint|can|bottle) of"
    rf"|(?:an?|{WORD}) (?:cups?|mugs?|pots?|glass(?:es)?|pints?|cans?) of) (?P<rest>[\w' -]{{2,30}}?)"
    r"(?= today|(?P<daily> (?:a|every|each|per) (?:day|morning|night))|[,.!]|$)",
    re.IGNORECASE,
)
_CATS: Final = re.compile(
    rf"(?:(?:my|our) (?:\w+ )?(?P<kind>{_PETS})s?(?:,| are| are called| are named|'s names? (?:is|are)|s' names are)"
    rf"|(?:these|those|they) are (?:my|our) (?:\w+ )?(?P<kinds>{_PETS})s?,?) "
    rf"(?:called |named )?(?P<one>(?-i:{_NAME})) and (?P<two>(?-i:{_NAME}))(?!\w)",
    re.IGNORECASE,
)


def read(page: Page, part: TextPart, bare: str, voice: Voice) -> bool:
    """Read a clause that is one of these; True where nothing else is to be read in it."""
    low = bare.lower()
    for needed, pattern, reads in _TABLE:
        if needed in low and (match := pattern.match(bare)) is not None:
            return reads(page, part, match, voice)
    return False


_Reads = Callable[[Page, TextPart, re.Match[str], Voice], bool]


def _says(
    rel: str, chunk: Callable[[str], list[str]], *, polarity: bool = True, dated: bool = False
) -> _Reads:
    """Return what claims a relation of the speaker to what stands at `rest`."""

    def reads(page: Page, part: TextPart, match: re.Match[str], voice: Voice) -> bool:
        held = dates.ahead(part.text, page.turn.when) if dated else NEVER
        objects = chunk(match["rest"])
        for what in objects:
            page.claim(part, voice, page.turn.speaker, rel, what, polarity=polarity, held=held)
        return bool(objects)

    return reads


def _will_be(page: Page, part: TextPart, match: re.Match[str], voice: Voice) -> bool:
    """Read `I'll be in Berlin next week`: without a time it may be anything."""
    if dates.ahead(part.text, page.turn.when) == NEVER:
        return False
    return _says("going_to", place, dated=True)(page, part, match, voice)


def _wedding(page: Page, part: TextPart, match: re.Match[str], voice: Voice) -> bool:
    parts = match.groupdict()
    who = page.turn.speaker
    if role := parts.get("role"):
        if parts.get("name"):
            page.introduce(role.lower(), parts["name"] or "")
        who = parts.get("name") or page.of_role(role.lower())
    held = dates.ahead(part.text, page.turn.when)
    page.claim(part, voice, who, "plans_to", f"get {match['what'].lower()}", held=held)
    return True


def _working_on(page: Page, part: TextPart, match: re.Match[str], voice: Voice) -> bool:
    return _says("working_on", phrase)(page, part, match, voice)


def _teaches(page: Page, part: TextPart, match: re.Match[str], voice: Voice) -> bool:
    page.claim(part, voice, page.turn.speaker, "teaches", match["what"])
    for where in organisation(match["where"]) if match["where"] else ():
        page.claim(part, voice, page.turn.speaker, "works_at", where)
    return True


def _turning(page: Page, part: TextPart, match: re.Match[str], voice: Voice) -> bool:
    held = dates.ahead(part.text, page.turn.when)
    if held == NEVER:
        return False
    page.claim(part, voice, page.turn.speaker, "age_is", match["age"], held=dates.Validity(held.since))
    return True


def _split(page: Page, part: TextPart, match: re.Match[str], voice: Voice) -> bool:
    held = dates.past(part.text, page.turn.when)._replace(until=None)
    page.claim(part, voice, page.turn.speaker, "relationship_status", "single", held=held)
    return True


def _cup(page: Page, part: TextPart, match: re.Match[str], voice: Voice) -> bool:
    """Read a drink of which somebody has many, or one each day."""
    if not match["daily"] and not match[0].lower().startswith("i am"):
        return False
    return _says("drinks", phrases)(page, part, match, voice)


def _pair(page: Page, part: TextPart, match: re.Match[str], voice: Voice) -> bool:
    kind = (match["kind"] or match["kinds"]).lower()
    for name in (match["one"], match["two"]):
        page.claim(part, voice, page.turn.speaker, "pet", name)
        page.claim(part, voice, name, "is_a", kind)
    return True


def _intolerance(text: str) -> list[str]:
    return [text.lower().replace(" intolerant", " intolerance")]


_TABLE: Final[tuple[tuple[str, re.Pattern[str], _Reads], ...]] = (
    ("off ", _OFF, _says("going_to", place, dated=True)),
    (" to ", _TRIP, _says("going_to", place, dated=True)),
    (" in ", _TRIP, _says("going_to", place, dated=True)),
    (" to ", _FORWARD, _says("going_to", place, dated=True)),
    ("will be in", _WILL_BE, _will_be),
    ("getting ", _WEDDING, _wedding),
    ("getting married", _OWN_WEDDING, _wedding),
    (" into ", _GOT_INTO, _says("likes", activity)),
    ("ing ", _BEEN_DOING, _says("hobby", phrase)),
    ("part of my life", _BIG_PART, _says("hobby", activity)),
    ("not ", _AVOIDS, _says("eats", phrase, polarity=False)),
    (
        "intolerant",
        _INTOLERANT,
        _says("has_condition", _intolerance),
    ),
    ("training for", _TRAINING, _says("goal", phrase, dated=True)),
    ("ing", _WORKING_ON, _working_on),
    ("teach ", _TEACHES, _teaches),
    ("run ", _RUNS, _says("owns", phrase)),
    ("manage ", _RUNS, _says("manages", phrase)),
    ("expecting", _EXPECTING, _says("expecting", phrase, dated=True)),
    ("turning ", _TURNING, _turning),
    (" up", _SPLIT, _split),
    (" of ", _OUT_OF, _says("signed_up_for", phrase, polarity=False)),
    ("cancel", _OUT_OF, _says("signed_up_for", phrase, polarity=False)),
    ("quit", _OUT_OF, _says("signed_up_for", phrase, polarity=False)),
    ("scrap", _SCRAP, _says("signed_up_for", phrase, polarity=False)),
    ("cancel", _SCRAP, _says("signed_up_for", phrase, polarity=False)),
    (" of ", _CUP, _cup),
    (" and ", _CATS, _pair),
)
