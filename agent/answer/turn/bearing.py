"""What kinds of value a text bears that answer a question: a sum, a count, a day, a name, a reason. Pure.

A value that the question itself has answers nothing: "the 17th" doesn't say when, where the question says "on the
17th".
"""

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import Final

import numpy as np

from braid.agent.answer.question.description import PERSONS
from braid.agent.answer.question.reading import ASKS_DAY, AskedQuestion
from braid.agent.answer.turn.counts import without_rates
from braid.agent.composer import Nearness
from braid.text import numbers
from braid.text.calendar import MONTH_NAME, MONTHS, WEEKDAYS
from braid.text.words import STOP, stem, words

_NUMBER: Final = re.compile(
    rf"(?<![\w.])\d[\d.,:/x×]*(?:\s?(?:k|m|kg|km|mg|mcg|ml|%|gb|mb|h|hrs?|mins?)\b)?|\b{numbers.WORD}",
    re.IGNORECASE,
)
_DAY_NUMBER: Final = re.compile(
    rf"\b\d{{1,2}}(?:st|nd|rd|th)\b|\b\d{{4}}-\d\d-\d\d\b|\b\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{MONTH_NAME}\b"
    rf"|\b{MONTH_NAME}\.? \d{{1,2}}(?:st|nd|rd|th)?\b|\b\d{{1,2}}[/.]\d{{1,2}}(?:[/.]\d{{2,4}})?:",
    re.IGNORECASE,
)
_MONEY: Final = re.compile(
    r"[$€£]\s?\d|\d\s?(?:[$€£]|(?:euros?|pounds?|dollars?|quid|bucks|eur|gbp|usd|cents?|pence|p)\b)"
    r"|\b(?:euros?|pounds?|dollars?|quid|bucks)\b"
    r"|(?<![-\w./:])(?:(?<!\bat )|(?=\d{3}\b(?!:)))\d[\d.,]*k?\b(?! ?(?:[ap]\.?m|%|th|st|nd|rd|kg|km|mg|mcg|ml"
    r"|cm|mm|gb|inch(?:es)?|hours?|days?|weeks?|months?|years?|mins?|minutes?)\b)",
    re.IGNORECASE,
)
_SPOKEN_SUM: Final = re.compile(
    rf"(?<!\bat )(?<!\bpast )\b(?:{numbers.WORD} {numbers.WORD}|(?=\w+ (?:hundred|thousand)\b){numbers.WORD}"
    rf"|(?=\w+t(?:een|y)\b){numbers.WORD}(?= (?:an?|per|each) ))(?=\W*$|[.,;:!?)]|\s(?:an?|per|each|for|and|but|so|now"
    r"|with|without|we|they|it|he|she|i|from|because|in|on|to|all|plus|incl\w*|already|altogether|total|this|last)\b)",
    re.IGNORECASE,
)
"""A sum in words: "eight hundred and fifty", "one eighty for ten lessons", "seventy-four a night"."""
_PAID: Final = re.compile(
    r"\b(?:pa(?:y|ys|id)|owe[sd]?|gives?|gave|costs?|charge[sd]?|lent|sent)\b", re.IGNORECASE
)
_TIME: Final = re.compile(
    rf"\b(?:{MONTH_NAME}|(?:mon|tues?|wed(?:s|nes)?|thur?s?|fri|sat(?:ur)?|sun)(?:day)?s?|tomorrow|yesterday|today|tonight"
    r"|last night|weekends?|(?:next|last|this) (?:week|month|year|spring|summer|autumn|winter)|ago"
    r"|(?:the )?\d{1,2}(?:st|nd|rd|th)|\d{4}-\d\d(?:-\d\d)?|(?:19|20)\d\d"
    r"|(?:twenty |thirty )?(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|\w+teenth|twelfth"
    r"|twentieth|thirtieth))\b",
    re.IGNORECASE,
)
_CLOCK: Final = re.compile(
    r"\b\d{1,2}[:.]\d\d\b|\b\d{1,2}\s?[ap]\.?m\b|\bnoon\b|\bmidnight\b|\bhalf (?:past )?\w+|\bquarter (?:past|to)\b"
    r"|\bo['’]clock\b|\b(?:at|from|till|until|by) (?:\d{1,2}|seven|eight|nine|ten|eleven|twelve|one|two|three|four|five"
    r"|six)\b|\b(?:seven|eight|nine|ten|eleven|twelve|one|two|three|four|five|six)"
    r" (?:oh|ten|fifteen|twenty|thirty|forty|fifty)\b",
    re.IGNORECASE,
)
_REASON: Final = re.compile(
    r"\b(?:because|'?cause|cos|cuz|since|so that|due to|thanks to|so we|so i|that['’]?s why|turns? out|reason|too \w+"
    r"|can(?:no|['’])?t|couldn['’]t|won['’]t|wouldn['’]t|didn['’]t|doesn['’]t|failed|full|broken?|dead|hates?|wants?|needs?)\b",
    re.IGNORECASE,
)
_PLACE: Final = re.compile(
    r"\b(?:in|at|to|from|near|on|by|behind|under|opposite|into)\s+(?:the |my |our |a )?\w|\bwith (?-i:[A-Z])"
    r"|\b(?:up|down)stairs\b|\b(?:holds|contains)\b|\bnext door\b|\bat home\b",
    re.IGNORECASE,
)
_ALONE: Final = re.compile(r"(?:^|[.!?,] )\s*(?!\w+ing\b)[A-Z][a-zà-ÿ-]+(?=[,.!]|$)")
"""A name that is all that a clause says: "moving in March. Leiden, got the place"."""
_NAME: Final = re.compile(r"\b[A-Z][a-zà-ÿA-Z'’-]+")
_OPENING: Final = re.compile(
    r"\s*([A-Z][a-zà-ÿA-Z'’-]+) (?:[A-Z]\w+ )?(?:is|was) (?:my|our|his|her|their|the)\b"
)
_ACTING: Final = re.compile(
    r"(?:^|[.!?] )\s*(?!I['’])([A-Z][a-zà-ÿ'’-]+)(?: (?:and )?[A-Z]\w+)? "
    r"(?:(?:also|always|now|usually|just|still|already) )?(?:(?!was\b|has\b)[a-z]{2,}(?:s|ed)|has to|will|can|got"
    r"|said|told|went|took|did|made|came|gave|bought|brought|paid|won|found|sent|wrote|put|lent|['’]ll"
    r"|(?:is|was) [a-z]{2,}ing)\b"
)
"""A name that opens a sentence, by what it does."""
_ROLE_ACTING: Final = re.compile(
    rf"(?:^|[.!?] )\s*(?:(?:(?:my|our|his|her|their)|[A-Z][\w-]+['’]s) )?(?:[\w-]+ )?"
    rf"({PERSONS}|grandma|grandpa|granny|nan)(?: [A-Z][\w-]+)? (?:(?:also|always|now|usually|just|still|already) )?"
    r"(?:is [a-z]+ing|will|can|['’]ll|(?!is\b|was\b|has\b)[a-z]{2,}(?:s|ed)|got|said|told|went|took|did|made|came|gave"
    r"|bought|brought|paid|found|sent|wrote|put|lent)\b",
    re.IGNORECASE,
)
"""Somebody by what they are to another, by what they do: "Mum is baking the cake"."""
_FIRST_WORD: Final = re.compile(r"(?:^|[.!?] )\s*([A-Z][a-zà-ÿ-]+)(?:['’]s|['’]ll)?(?= [a-z])")
_LOW: Final = re.compile(r"\b[a-zà-ÿ]{3,}\b")
_BARE: Final = re.compile(r"[\d.,]*\d\Z")
_CLOCKED: Final = re.compile(r":\d")
_NAMED: Final = re.compile(r"[\w:,;] [A-Z][a-z]+ $")
_OF_SUM: Final = 3
"""How many digits a number has at least that is a sum right behind a name: "Cronin 9500", not "Postgres 16"."""
_NUMBERED: Final = frozenset("""
platform room bus gate floor number no page chapter flat version line track route table seat level unit apartment house
tram terminal bay door zone grade
""".split())  # fmt: skip # noqa: SIM905
"""Nouns that a number names: of "platform 7" nothing is counted, and nothing costs it."""
_STOREYS: Final = frozenset(("floor", "storey", "row"))
ROLE: Final = re.compile(
    rf"\b(?:{PERSONS}|mam|gran\w*|babcia|dr|nurse|physio\w*|pharmacist|plumber|driver|lad|kid)s?\b",
    re.IGNORECASE,
)
_FIRST: Final = re.compile(r"\b(?:i|i['’]?m|i['’]?ll|i['’]?ve|me|my)\b", re.IGNORECASE)
_OWNED: Final = re.compile(r"\b(?:my|our)\b", re.IGNORECASE)
_CHECKED: Final = re.compile(
    r"\b(?:yes|yeah|yep|no|nope|not|never|done|sure|still|any ?more)\b|n['’]t\b", re.IGNORECASE
)
_COUNTED: Final = re.compile(
    r"\bhow many (?:of (?:the|those|these|my|our) )?(?:\w+ )??([a-z]+)\b", re.IGNORECASE
)
_OF_CODE: Final = re.compile(r"\b(?:code|reference|number|version)\b", re.IGNORECASE)
_CODE: Final = re.compile(r"\b(?=[\w-]*\d)[A-Za-z][\w-]*\b")
"""Letters with a digit: LUNCH20."""
_WHO_DOES: Final = re.compile(r"\W*who ([a-z]+)", re.IGNORECASE)
_BE: Final = frozenset(("is", "was", "are", "were"))
_NAME_FIRST: Final = re.compile(r"(?:^|[.!?] )\s*([A-Z][a-zà-ÿ'’-]+) ([a-z]+)\b")
_LASTING: Final = re.compile(
    rf"\b(?:sec(?:ond)?s?|min(?:ute)?s?|hours?|hrs?|h|days?|nights?|weeks?|months?|years?|decades?|until|till|since|ever)\b"
    rf"|\d ?(?:m|cm|mm|km|ft|h|min)\b|\b(?:met(?:re|er)s?|feet|foot|inch(?:es)?|miles?|pages?|words)\b|\b{MONTH_NAME}\b"
    r"|\b(?:19|20)\d\d\b|\d:\d",
    re.IGNORECASE,
)
"""Says how long something takes or is."""
_OFTEN: Final = re.compile(
    r"\b(?:every|once|twice|hourly|daily|weekly|fortnightly|monthly|yearly)\b", re.IGNORECASE
)
_CLAUSE_ENDS: Final = re.compile(r"\s*(?:[.!;,](?!\d)|$)")
_PHONE: Final = re.compile(r"\b(?:phone|mobile|telephone)\b", re.IGNORECASE)
_LONG_NUMBER: Final = re.compile(r"\d(?:[ -]?\d){5,}")
_SPELT: Final = frozenset(
    (
        *MONTHS,
        *WEEKDAYS,
        *(f"{day}s" for day in WEEKDAYS),
        "i",
        "ok",
        "yes",
        "no",
        "hi",
        "hello",
        "mr",
        "mrs",
        "dr",
        "im",
        "ill",
    )
)
_OF_THING: Final = re.compile(
    r"\b(?:(?:at|in|into|near) (?:the )?|the )(?:(?-i:[A-Z])[\w.]* )*$", re.IGNORECASE
)
_FAMILY: Final = re.compile(r"(?<=\b[Tt]he )[A-Z][a-zà-ÿ-]+s (?:have|are|were|do|[a-z]+(?:[^s\W]|ss))\b")
"""A family by its name: "the Hendersons have", and not "the Mercedes is"."""
_ASKS_NAME: Final = re.compile(r"^\W*what\b.*\b(?:called|named)\b", re.IGNORECASE)
_GIVES_NAME: Final = re.compile(r"\b(?:called|named)\W+(?:the |a )?(?P<name>[\w-]+)", re.IGNORECASE)
_ASKS_FOR: Final = re.compile(r"^\W*what\b.*\bfor\W*$", re.IGNORECASE)
_IS_FOR: Final = re.compile(r"\bfor [a-z]", re.IGNORECASE)
_WHEN: Final = re.compile(
    r"\b(?:when(?:ever)?|after|before|while) (?:i|we|you|he|she|it|they|the|my|our|his|her|[a-z]+ing)\b",
    re.IGNORECASE,
)
"""A time by what happens then: "it hurts when I climb stairs"."""
_TITLED: Final = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|Prof|St)\. $")
"""A full stop that ends no sentence."""
SAME: Final = 0.75
"""The cosine of two words from which they count the same things: children, kids."""
REACH: Final = 4
"""How many words may stand between a number and what it counts."""


def spelt_names(text: str) -> Iterator[re.Match[str]]:
    """Yield the words of a text that are spelt as names, not those that open a sentence or stand in capitals."""
    for match in _NAME.finditer(text):
        low = match[0].lower()
        before = text[max(match.start() - 8, 0) : match.start()]
        opens = not before or (before[-2:-1] in (".", "!", "?") and not _TITLED.search(before))
        if not opens and low not in STOP and low not in _SPELT and not match[0].isupper():
            yield match


def _is_label(text: str, number: re.Match[str]) -> bool:
    """Whether a number names what stands before it, and counts nothing."""
    ahead = text[max(number.start() - 20, 0) : number.start()]
    if not _NUMBERED.isdisjoint(words(ahead)[-1:]) or not _STOREYS.isdisjoint(
        words(text[number.end() :])[:1]
    ):
        return True
    return len(number[0].strip(" ,.")) < _OF_SUM and _NAMED.search(ahead) is not None


def is_of_thing(text: str, at: int) -> bool:
    """Whether the name at a place in a text is a thing's, and nobody's: "at the Westbad", "the Fauré"."""
    return _OF_THING.search(text, 0, at) is not None and _FAMILY.match(text, at) is None


class Bearing:
    """What answers one question."""

    def __init__(
        self, asked: AskedQuestion, named: AbstractSet[str] = frozenset(), nearest: Nearness | None = None
    ) -> None:
        """`named`: names in lower case that are known by other texts, and so in this spelling, too. `nearest`: what
        tells that kids are children."""
        self._asked = asked
        self._nearest = nearest
        self._named = named - STOP - _SPELT
        self._known: frozenset[str] = frozenset(words(asked.core))
        counted = _COUNTED.search(asked.core)
        self._counts = stem(counted[1].lower()) if counted else ""
        self._counted = counted[1].lower() if counted else ""
        self._own = _FIRST.search(asked.core) is not None  # who asks "who is my …?" is not whom they ask for
        self._who = asked.wants == "person" and "whose" not in self._known  # the car may say whose it is
        self._day = ASKS_DAY.search(asked.core) is not None
        self._how = asked.core.lower().startswith("how ")
        verb = _WHO_DOES.match(asked.core)
        self._verb = verb[1].lower() if verb is not None and verb[1].lower() not in _BE else ""
        self._code = not self._how and _OF_CODE.search(asked.core) is not None
        self._long = asked.core.lower().startswith("how long")
        self._often = asked.core.lower().startswith("how often")
        self._phone = _PHONE.search(asked.core) is not None
        self._called = _ASKS_NAME.search(asked.core) is not None
        self._for = _ASKS_FOR.search(asked.core) is not None
        self._when = asked.core.lower().startswith("when ")

    def bears(self, text: str) -> bool:  # noqa: PLR0911 - one line a kind
        """Whether a text bears a value of the kind that is asked for; any does where no kind is."""
        wants = self._asked.wants
        if self._phone:
            return _LONG_NUMBER.search(text) is not None
        if wants == "money":
            return self._new(_MONEY, _DAY_NUMBER.sub(" ", text)) or self.numbers(text) > 0
        if wants == "number":
            if self._long:
                return _LASTING.search(text) is not None
            often = self._often and _OFTEN.search(text) is not None
            return often or (bool(self._amounts(text)) if self._how else self.numbers(text) > 0)
        if wants == "time":
            is_dated = self._new(_TIME, text) or (not self._day and bool(self._amounts(text)))
            return is_dated or (self._when and _WHEN.search(text) is not None)
        if wants == "clock":
            return self._new(_CLOCK, text)
        if wants == "person":
            own = (_OWNED if self._own else _FIRST).search(text) is not None
            named = self._is_named(text)
            return named or ROLE.search(text) is not None or own
        if wants == "place":
            return _PLACE.search(text) is not None or self._new(_ALONE, text)
        if wants == "reason" and self._for and _IS_FOR.search(text) is not None:
            return True
        return wants != "reason" or _REASON.search(text) is not None

    def plainly(self, text: str) -> bool:  # noqa: PLR0911 - one line a kind
        """Whether a text bears it in a form that is hardly anything else: a count beside what it counts, a sum with
        its sign, a name amid a sentence, a yes or a no."""
        wants = self._asked.wants
        if wants == "money":
            return self._sum(_DAY_NUMBER.sub(" ", text))
        if wants == "number":
            if self._often and _OFTEN.search(text):
                return True
            if self._long:
                return _LASTING.search(text) is not None
            return self.counts(text) if self._counts else self.numbers(_DAY_NUMBER.sub(" ", text)) > 0
        if wants == "time":
            return self._new(_TIME, text)
        if wants == "person":
            return self._is_named(text)
        if wants == "place":
            return self.names(text) > 0 and _PLACE.search(text) is not None
        if wants == "check":
            return _CHECKED.search(text) is not None
        return wants in ("reason", "clock") and self.bears(text)

    def numbers(self, text: str) -> int:
        """Return how many numbers of a text the question doesn't have."""
        codes = _CODE.finditer(text) if self._code else ()
        return sum(not self._known.issuperset(words(match[0])) for match in (*_NUMBER.finditer(text), *codes))

    def is_sole(self, text: str) -> bool:
        """Whether just one number of a text says how many: of "January was nine" it is clear what is counted."""
        return len({*self._amounts(_DAY_NUMBER.sub(" ", text))}) == 1

    def _amounts(self, text: str) -> list[str]:
        """Return those of these that say how much or when, and don't name a thing: "room 12", "Lindenweg 14"."""
        return [
            match[0].lower()
            for match in _NUMBER.finditer(text)
            if not self._known.issuperset(words(match[0])) and not _is_label(text, match)
        ]

    def names(self, text: str) -> int:
        """Return how many names of a text the question doesn't have. What opens a sentence is none, nor what stands in
        capitals or has a number of its own: "TSH", "Apache-2.0"."""
        spelt = sum(
            self._known.isdisjoint(words(match[0]))
            and not text[match.end() : match.end() + 1].isdigit()
            and not (self._who and is_of_thing(text, match.start()))
            for match in spelt_names(text)
        )
        return spelt + len((self._named & {*_LOW.findall(text)}) - self._known)

    def _is_named(self, text: str) -> bool:
        """Whether a text has a name that is asked for; of what something is called also one in lower case."""
        called = _GIVES_NAME.finditer(text) if self._called else ()
        by_name = any(self._known.isdisjoint(words(found["name"])) for found in called)
        return by_name or self.names(text) > 0 or self._opens_with_name(text)

    def _opens_with_name(self, text: str) -> bool:
        """Whether a sentence begins with who somebody is or does: "Tom is my husband", "Hannah teaches the class"."""
        if self._verb and any(
            found[2] == self._verb and found[1].lower() not in STOP | _SPELT | self._known
            for found in _NAME_FIRST.finditer(text)
        ):
            return True  # who has, and "Jonas has"
        openings = (_OPENING.match(text), *_ACTING.finditer(text), *self._known_openings(text))
        if self._who and any(
            self._known.isdisjoint(words(found[1])) for found in _ROLE_ACTING.finditer(text)
        ):
            return True
        return any(
            found is not None and found[1].lower() not in STOP | _SPELT | self._known for found in openings
        )

    def _known_openings(self, text: str) -> Iterator[re.Match[str]]:
        """Yield what opens a sentence and is known as a name: "Priya has my pager", where Priya speaks too."""
        return (match for match in _FIRST_WORD.finditer(text) if match[1].lower() in self._named)

    def counts(self, text: str) -> bool:
        """Whether a number stands close before what the question counts."""
        if not self._counts:
            return False
        text = without_rates(self._asked.core, text)
        for match in _NUMBER.finditer(text):
            behind = words(text[match.end() : match.end() + 60])[:REACH]
            if not _CLAUSE_ENDS.match(text, match.end()):
                is_counted = any(map(self._is_counted, behind))
            else:  # "tickets are dear, I bought two"
                ahead = words(text[: match.start()])
                is_counted = any(map(self._is_counted, [*behind, *ahead[:-1]]))
            if is_counted and not self._known.issuperset(words(match[0])):
                return True
        return False

    def _is_counted(self, word: str) -> bool:
        """Whether a word is what the question counts, or means the same."""
        if stem(word) == self._counts:
            return True
        if self._nearest is None or word in STOP or not word.isalpha():
            return False
        return float(np.asarray(self._nearest([self._counted], [[word]]))[0, 0]) >= SAME

    def _sum(self, text: str) -> bool:
        """Whether a text has a sum that the question doesn't: with its sign or unit, or a number that isn't an hour and
        doesn't name a platform."""
        for match in _MONEY.finditer(text):
            if self._known.issuperset(words(match[0])):
                continue
            paid = _PAID.search(text, max(match.start() - 20, 0), match.start()) is not None
            named = (_is_label(text, match) and not paid) or _CLOCKED.match(text, match.end()) is not None
            if not (_BARE.match(match[0]) and named):
                return True
        return self._new(_SPOKEN_SUM, text)

    def _new(self, pattern: re.Pattern[str], text: str) -> bool:
        return any(not self._known.issuperset(words(match[0])) for match in pattern.finditer(text))
