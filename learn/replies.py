"""What a short reply states by the question before it: "Any allergies?" "Only dust." Pure.

Only a reply that isn't a clause of its own is read so, and only of the turn right before, by somebody else: what is
asked gives the relation, what is answered the object.
"""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Final, NamedTuple

from braid.learn import dates
from braid.learn.clause import expanded, predicate, subject_of
from braid.learn.page import Page
from braid.learn.phrases import Chunk, number, organisation, person, phrase, phrases, place
from braid.learn.rules.people import counted, diet, pet, siblings, status
from braid.learn.rules.tastes import activity, game, languages
from braid.learn.rules.work import trade
from braid.learn.source import TurnText
from braid.learn.turn import Turn
from braid.learn.voice import Voice
from braid.learn.words import DIETS, PETS, STATUSES
from braid.text.calendar import MONTHS
from braid.text.sentences import TextPart

MAX_WORDS: Final = 10
"""A longer reply says itself what it speaks of."""
_NEAR: Final = 4
"""Between a question and its reply may stand the record of what was read of it."""
_SOON: Final = timedelta(days=1)
_YES: Final = re.compile(
    r"(?:oh |haha |well |hell )?(?:yes|yeah|yep|yup|yea|sure do|sure am|i do|i am|i sure do|of course|absolutely"
    r"|definitely|indeed)\b(?! and no\b)(?:[,.! ]+(?:i (?:do|am|did|really do|sure do)|a lot|very much|every day"
    r"|all the time|too|indeed|definitely|absolutely)\b)*[,.! ]*$",
    re.IGNORECASE,
)
_NO: Final = re.compile(
    r"(?:oh |haha |well )?(?:no|nope|nah|never|not really|not any ?more|not at all|i do not|i am not|no more)\b"
    r"(?:[,.! ]+(?:i (?:do not|am not|never do)|not really|not any ?more|not at all|never|sorry|actually)\b)*[,.! ]*$",
    re.IGNORECASE,
)
_DENIES: Final = re.compile(r"(?:no|nope|nah|none|never|nothing|not|neither|nobody)\b", re.IGNORECASE)
_LEAD: Final = re.compile(
    r"(?:(?:yes|yeah|yep|yup|oh|ah|well|um|hmm|haha|hi|hey|sure|thanks|just|only|mostly|mainly|actually|definitely"
    r"|currently|now|usually|always|it is|they are|he is|she is|that is|that would be|has to be|have to be|my name is"
    r"|the name is|allergic to|as)[,.!]* )+",
    re.IGNORECASE,
)
_TAIL: Final = re.compile(
    r",? (?:sadly|mostly|mainly|usually|unfortunately|luckily|actually|always|though|lol|haha|really|for now|these days"
    r"|at the moment)[.! ]*$",
    re.IGNORECASE,
)
_UNSURE: Final = re.compile(r"(?P<hedge>probably|maybe|perhaps|i guess|i think)[,]? ", re.IGNORECASE)
_NAMED: Final = re.compile(
    r"(?:an? )?(?:[\w-]+ ){0,3}?(?P<kind>[\w-]+),? (?:named|called) (?P<name>[A-ZÀ-Þ][\w-]+)"
)
_PET: Final = "|".join(sorted(map(re.escape, PETS), key=len, reverse=True))


class _Open(NamedTuple):
    """A question for an object."""

    asked: re.Pattern[str]
    rel: str
    chunk: Chunk


def _asks(source: str) -> re.Pattern[str]:
    return re.compile(rf"(?:^|.*?[,;] ?|.*?\b(?:and|so|but) ){source}", re.IGNORECASE)


def _inside(text: str) -> list[str]:
    return place(re.sub(r"^(?:in|at|near|just outside|from) (?:the )?", "", text, flags=re.IGNORECASE))


def _trade(text: str) -> list[str]:
    return trade(re.sub(r"^(?:an?|the) ", "", text.lower()))


def _day(text: str) -> list[str]:
    found = re.match(r"(?:on )?(?:the )?(.+)", text, re.IGNORECASE)
    held = dates.day(found[1], dates.LEAP) if found else dates.NEVER
    return [f"{held.since.day} {MONTHS[held.since.month - 1].title()}"] if held.since else []


_YOU: Final = r"(?:do|are|have|did) (?:you|y'all|you guys)"
_ALLERGIES: Final = (
    rf"(?:any (?:food )?allergies|{_YOU} (?:have )?(?:any (?:food )?allergies|allergic to anything)"
    rf"|what {_YOU} allergic to|what(?: specifically| exactly)? {_YOU} allergic to)"
)
_OPEN: Final = (
    _Open(_asks(_ALLERGIES), "allergic_to", phrases),
    _Open(
        _asks(
            rf"(?:where(?:abouts)?|(?:what|which) (?:city|town|country|place)) {_YOU} "
            r"(?:live|living|based|stay|staying)"
        ),
        "lives_in",
        _inside,
    ),
    _Open(_asks(rf"where {_YOU} (?:originally )?(?:come )?from\b"), "comes_from", _inside),
    _Open(_asks(rf"what {_YOU} do for (?:a living|work)"), "works_as", _trade),
    _Open(_asks(r"what(?:'s| is) your (?:job|profession|occupation|line of work)"), "works_as", _trade),
    _Open(_asks(rf"where {_YOU} work(?:ing)?\b"), "works_at", organisation),
    _Open(_asks(r"(?:do|have) you (?:have |got )?(?:any )?(?:pets|animals|cats|dogs)\b"), "pet", pet),
    _Open(_asks(r"(?:any|got any) pets"), "pet", pet),
    _Open(_asks(rf"what(?:'s| is| are) your (?:{_PET})s?'?s? names?"), "pet", person),
    _Open(_asks(r"(?:do|have) you (?:have |got )?(?:any )?(?:kids|children)\b"), "child", counted),
    _Open(_asks(r"(?:do|have) you (?:have |got )?(?:any )?(?:siblings|brothers|sisters)\b"), "sibling", siblings),
    _Open(_asks(r"what(?:'s| is) your name\b"), "name_is", person),
    _Open(_asks(r"how old are you\b"), "age_is", number),
    _Open(_asks(r"when(?:'s| is) your birthday"), "birthday", _day),
    _Open(_asks(r"what(?: kind of| sort of)? languages? do you speak"), "speaks", languages),
    _Open(_asks(r"(?:what|which)(?: kind of)? instruments? do you play"), "plays", game),
    _Open(_asks(r"(?:what are your|(?:do you have )?any) hobbies"), "hobby", activity),
    _Open(_asks(r"what do you (?:like to )?do (?:for fun|in your (?:free|spare) time|to relax)"), "hobby", activity),
)  # fmt: skip
_FAVOURITE: Final = _asks(
    r"(?:what|who|which)(?:'s| is| are) your (?:all[- ]time |absolute )?favou?rite (?:kind of |type of |sort of )?"
    r"(?P<kind>[a-z]+(?: [a-z]+)?)\?*$"
)


class _Closed(NamedTuple):
    """A question for a yes or a no to an object that it names."""

    asked: re.Pattern[str]
    rel: str
    chunk: Callable[[str], list[str]]


_STILL: Final = r"(?:still |ever |even |really |also )?"
_DIETS: Final = "|".join(map(re.escape, sorted(DIETS)))
_STATUSES: Final = "|".join(map(re.escape, sorted(STATUSES)))
_LIVE: Final = rf"(?:do you {_STILL}live|are you {_STILL}(?:living|based))"
_WORK: Final = rf"(?:do you {_STILL}work|are you {_STILL}working)"
_CLOSED: Final = (
    _Closed(
        _asks(rf"do you {_STILL}(?:like|love|enjoy) (?!to\b|(?:it|that|this|them)\b)(?P<o>.+)"),
        "likes",
        phrase,
    ),
    _Closed(_asks(rf"do you {_STILL}drink (?P<o>.+)"), "drinks", phrase),
    _Closed(_asks(rf"do you {_STILL}eat (?P<o>.+)"), "eats", phrase),
    _Closed(_asks(rf"do you {_STILL}play (?P<o>.+)"), "plays", game),
    _Closed(_asks(rf"do you {_STILL}speak (?P<o>.+)"), "speaks", languages),
    _Closed(_asks(rf"{_LIVE} (?P<o>in .+)"), "lives_in", _inside),
    _Closed(_asks(rf"{_WORK} (?:at|for) (?P<o>.+)"), "works_at", organisation),
    _Closed(_asks(rf"are you {_STILL}allergic to (?!any)(?P<o>.+)"), "allergic_to", phrase),
    _Closed(_asks(rf"are you {_STILL}(?:an? )?(?P<o>{_DIETS})\b"), "diet", diet),
    _Closed(_asks(rf"are you {_STILL}(?P<o>{_STATUSES})\b"), "relationship_status", status),
)


def read(page: Page, first: TextPart) -> bool:
    """Read the first sentence of a turn as a reply; True where it was one that stated something."""
    before = page.turn.previous[-1] if page.turn.previous else None
    if before is None or not _may_answer(page.turn, before) or len(first.text.split()) > MAX_WORDS:
        return False
    asked = "" if "?" in first.mark else _question(before)
    said = expanded(first.text)
    if not asked or not (_yes_or_no(page, first, asked, said) or _named(page, first, asked, said)):
        return False
    page.use_turn(before)
    return True


def _may_answer(turn: Turn, before: Turn) -> bool:
    """Whether a turn stands right behind another, which somebody else said within a day."""
    is_near = 0 < turn.at - before.at <= _NEAR and abs(turn.when - before.when) <= _SOON
    return is_near and (before.speaker, before.role) != (turn.speaker, turn.role)


def _question(before: Turn) -> str:
    """Return the question that a turn ends with, without contractions; empty where it asks nothing, or two things."""
    found = [sentence for sentence in TurnText(before.text).sentences() if "?" in sentence.mark]
    return "" if len(found) != 1 or " or " in found[0].text else found[0].text


def _yes_or_no(page: Page, part: TextPart, asked: str, said: str) -> bool:
    polarity = True if _YES.match(said) else False if _NO.match(said) else None
    if polarity is None:
        return False
    for closed in _CLOSED:
        if (match := closed.asked.match(asked)) is not None:
            for what in closed.chunk(match["o"].strip(" ?!")):
                page.claim(part, Voice(), page.turn.speaker, closed.rel, what, polarity=polarity)
                return True
    return False


def _named(page: Page, part: TextPart, asked: str, said: str) -> bool:
    """Read a reply that names what was asked for."""
    unsure = _UNSURE.match(said)
    hedge = unsure["hedge"] if unsure else None
    text = _TAIL.sub("", _LEAD.sub("", said[unsure.end() :] if unsure else said))
    if _DENIES.match(text) or _is_clause(text):
        return False
    for open_ in _OPEN:
        if open_.asked.match(asked) is not None:
            return _claimed(page, part, open_, text, hedge)
    if (favourite := _FAVOURITE.match(asked)) is not None:
        kind = re.sub(r"\W+", "_", favourite["kind"].lower())
        return _claimed(page, part, _Open(_FAVOURITE, f"favourite_{kind}", phrase), text, hedge)
    return False


def _is_clause(text: str) -> bool:
    """Whether a reply has a subject and a verb of its own."""
    found = subject_of(text)
    if found is None:
        return False
    subject, behind = found
    return not subject.name or bool(subject.role) or predicate(subject, behind, None) is not None


def _claimed(page: Page, part: TextPart, open_: _Open, text: str, hedge: str | None) -> bool:
    named = _NAMED.match(text) if open_.rel == "pet" else None
    if named is not None and named["kind"].lower() in PETS:
        page.claim(part, Voice(), page.turn.speaker, "pet", named["name"], hedge=hedge)
        page.claim(part, Voice(), named["name"], "is_a", named["kind"].lower(), hedge=hedge)
        return True
    objects = open_.chunk(text)
    for what in objects:
        page.claim(part, Voice(), page.turn.speaker, open_.rel, what, hedge=hedge)
    return bool(objects)
