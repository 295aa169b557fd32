"""Whether what would be quoted can't be what is asked: somebody else's, only wished for, or of another kind. Pure.

"My brother lives in Bath" doesn't say where I live, "I'm thinking of buying a van" not what I drive, and "he weighs 4
kilos" not how old he is. Such a sentence is near, and no answer. What no rule knows is left alone.
"""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from braid.agent.answer.assertion.verdict import USED_TO, WISHES, asks_of_the_past
from braid.agent.answer.change.wording import PROPOSED
from braid.agent.answer.question.description import PERSONS
from braid.agent.answer.question.reading import ASKS_PAYMENT
from braid.agent.answer.turn.bearing import spelt_names
from braid.agent.answer.turn.counts import lists_another
from braid.agent.answer.turn.spans import best_span, kind_of
from braid.agent.answer.turn.turn import when_of
from braid.recall.decompose import Question
from braid.recall.hits import Hit, speaker
from braid.text.calendar import MONTH_NAME, MONTHS_AND_WEEKDAYS, WEEKDAY_NAME, WEEKDAYS, Span
from braid.text.dates import ahead, span, times
from braid.text.numbers import WORD as NUMBER
from braid.text.numbers import codes
from braid.text.words import STOP, stem, stems, words

_AUX: Final = r"(?:does|do|did|is|are|am|was|were|has|have|had|will|would|can|could|should)"
_OF_ME: Final = re.compile(rf"\b{_AUX} (?:i|we)\b|\bam i\b", re.IGNORECASE)
_OF_BODY: Final = re.compile(r"\bam i (?:\w+ )?(?:allergic|intolerant)\b", re.IGNORECASE)
"""Asks what is so of one person alone."""
_OF_NAMED: Final = re.compile(rf"\b{_AUX} (?P<name>(?-i:[A-ZÀ-Þ])[\w-]+)(?:['’]s?)? [a-z]", re.IGNORECASE)
_FIRST: Final = re.compile(r"\b(?:i|we|me|us|mine|ours|myself)\b|\b(?:i|we)['’]", re.IGNORECASE)
_IS_OR_DOES: Final = (
    r"(?:is|was|are|were|has|had|have|lives?|lived|works?|worked|wants?|drives?|likes?|loves?|hates?|owns?|plays?|speaks?"
    r"|studies|studied|weighs?|earns?|moved|went|got|takes?|took|eats?|ate|drinks?|drank|uses?|needs?|smokes?|runs?"
    r"|prefers?|keeps?|wears?|pays?|paid|bought|rents?)\b"
)
_OTHERS: Final = re.compile(
    rf"^\W*(?:(?:and|but|so|well|oh),? )*(?:(?i:my|our) (?:[\w-]+ ){{0,2}}?(?:{PERSONS})s?(?: [A-ZÀ-Þ][\w-]+)?"
    rf"|[A-ZÀ-Þ][\w-]+['’]s (?:[\w-]+ )?(?:{PERSONS})(?: [A-ZÀ-Þ][\w-]+)?|(?:[Hh]e|[Ss]he|[Tt]hey)"
    rf"|(?P<name>[A-ZÀ-Þ][a-zà-ÿ-]+)) {_IS_OR_DOES}"
)
"""A sentence that says of somebody else what they are or do."""
_REFERS: Final = re.compile(
    r"\b(?:he|she|they|it|you|him|her|them|his|their|your|its|this|that|these|those)\b", re.IGNORECASE
)
_HAS_SUBJECT: Final = re.compile(r"\b(?:he|she|they|it|you|i|we)\b", re.IGNORECASE)
_WISHED: Final = re.compile(
    r"\b(?:i|we|he|she|they|you|(?-i:[A-ZÀ-Þ])[\w-]+|(?:my|our|his|her|their) [\w-]+)(?:['’](?:m|re|s|ve|d))?"
    r"(?: (?:am|is|are|was|were|have been|has been|really|just|still|also|always)){0,3}"
    rf" (?:{WISHES}|(?<=['’]d )(?:like|love) to)\b",
    re.IGNORECASE,
)
"""Somebody who wishes: "thinking of you" is said of nobody."""
_UNREAL: Final = re.compile(
    r"^\W*(?:(?:and|but|so|well|oh|god|i|we) )*(?:wish (?:i|we|he|she|they|it|my|our|that)\b|if only\b|as if\b"
    r"|(?:dream(?:t|ed)|had a dream|imagined?|pretend(?:ed)?) (?:that )?(?:i|we|he|she|they|it|my|our|to|of)\b"
    r"|(?:could|would|should|might)(?: have|['’]ve) \w+)",
    re.IGNORECASE,
)
"""What never was: a wish, a dream, what could have been."""
_OF_ADVICE: Final = re.compile(
    r"\b(?:should|could|might|may|ought|can|must|need|have to|supposed|suggest\w*|propos\w*|idea|think|option)\b",
    re.IGNORECASE,
)
_OR: Final = re.compile(r"\bor\b", re.IGNORECASE)
_EITHER: Final = re.compile(r"\b(?P<one>\w{3,}) or (?:to )?(?:the |an? )?(?P<other>\w{3,})\b", re.IGNORECASE)
_WAS_TO: Final = re.compile(
    r"\b(?:(?:had )?(?:planned|intended|meant|hoped|wanted)|(?:was|were) (?:going|supposed|planning|hoping|meant)) to"
    r" (?!(?:say|tell|ask|mention|add|know|let|remind|check)\b)",
    re.IGNORECASE,
)
"""What somebody meant to do, of which nothing says that it still holds."""
_OF_PLANS: Final = re.compile(
    r"\b(?:plan\w*|intend\w*|meant|mean|hop(?:e|ing)|want\w*|supposed)\b", re.IGNORECASE
)
_LABELLED: Final = re.compile(
    r"\b(?P<noun>[a-z]{3,})(?: (?:no\.?|number|nr\.?))? #?(?P<number>\d{1,8})(?=\W*$|[,;:.!?)]|['’]s\b"
    r"| (?:is|was|has|are|for|to|at|on|in|goes|go|gets?|cost|of|with|from|be|and|or)\b)(?![.:]\d)",
    re.IGNORECASE,
)
"""A number that names one of several."""
_MONTH: Final = timedelta(days=31)
_HOW_MANY_ARE: Final = re.compile(
    r"^\W*(?:and |so )?how many (?:[\w-]+ ){1,3}?(?:(?:do|does) (?:[\w-]+ ){1,3}?(?:have|own|run)\b|are there\b)",
    re.IGNORECASE,
)
_MORE: Final = re.compile(
    r"\b(?:added|removed|lost|gained|(?:\d+|[a-z]+) (?:more|fewer|extra)|another)\b", re.IGNORECASE
)
_OF_LABEL: Final = re.compile(
    r"^\W*(?:is|are|was|were|has|have|does|did|will|can) (?:the )?(?P<noun>[a-z]+) #?(?P<number>\d+)",
    re.IGNORECASE,
)
_PERIOD: Final = re.compile(
    r"\b(?:this|next|last) (?:week(?:end)?|month|year)\b|\b(?:today|tomorrow|yesterday|tonight)\b",
    re.IGNORECASE,
)
_DAY: Final = re.compile(
    rf"\b(?P<since>{WEEKDAY_NAME})s?(?:\W*(?:[-–]|to|till|until|through)\W*(?P<until>{WEEKDAY_NAME})s?)?\b"
    r"|\b(?P<week>weekdays?)\b|\b(?P<end>weekends?)\b|\b(?P<all>(?:every|each|any) ?day|daily)\b",
    re.IGNORECASE,
)
_ON_DAY: Final = re.compile(
    rf"\b(?:on (?:an? |the |every )?(?:{WEEKDAY_NAME}s?|weekdays|weekends)|(?:at|on) the weekends?)\b",
    re.IGNORECASE,
)
_IN_MONTH: Final = re.compile(
    r"\b(?:in|for|of|during|from|since|until|by|\d(?:st|nd|rd|th)?) (?:early |late |mid-?)?"
    rf"((?!(?-i:may)){MONTH_NAME})\b",
    re.IGNORECASE,
)
_SPAN: Final = re.compile(
    rf"\b(?:{MONTH_NAME}|from|by)\W+(?:(?:to|and|through)\W+)?{MONTH_NAME}\b|\b(?:until|till|since)\b",
    re.IGNORECASE,
)
"""Months that others lie between."""
_EVENT: Final = re.compile(
    r"^\W*(?:the|an?|my|our|his|her|their|(?-i:[A-Z])[\w-]+) (?:[\w-]+ ){0,2}?"
    r"(?:(?!need|breed)[a-z]+ed|got|took|ate|stole|bought|sold|gave|brought|lost|caught|found|saw)"
    rf" (?:\d+|{NUMBER})\b",
    re.IGNORECASE,
)
"""What somebody or something else did to so many of them: "the fox got two hens"."""
_WHO_IS: Final = re.compile(
    r"^\W*(?:(?:and|so|again),? )?who(?:['’]?s| is) (?:the|my|our|his|her|their) (?P<role>[\w-]+(?: [\w-]+)?)\W*$",
    re.IGNORECASE,
)
_DENIAL: Final = re.compile(r"\b(?:not|never|no longer)\b|n['’]?t\b", re.IGNORECASE)
_DENYING: Final = re.compile(
    r"(?:\b(?:not|never|no longer)\b|n['’]t\b)(?! (?:only|just|until|till|before|more|less|later|earlier)\b)"
    r"(?: (?!(?:but|until|till|before|only|because|more|less|it['’]?s)\b)[^\s,;:–]+){0,4}\W*$",
    re.IGNORECASE,
)
"""A denial that reaches what follows it: within a few words, up to a comma, or what holds instead."""
_SHORT: Final = 12
"""How many words a sentence has at most that tells of a wish and of nothing else."""
_OF_WISHES: Final = re.compile(
    r"\b(?:want|would|like|love|think|consider|dream|hop(?:e|ing)|wish|plan|will|going|next|should|could|idea|intend|goal"
    r"|aim|target)",
    re.IGNORECASE,
)
_AGE: Final = re.compile(r"\bhow old\b|\bage\b", re.IGNORECASE)
_AGED: Final = re.compile(
    r"\b(?:years?|months?|weeks?|days?|old|born|birthday|turn(?:s|ed|ing)?|age[ds]?|teens?|thirties|forties)\b",
    re.IGNORECASE,
)
_MEASURED: Final = re.compile(
    r"[£$€]\s?\d|\d ?(?:kilos?|kg|g|quid|bucks|pounds?|euros?|dollars?|km|miles?|met(?:re|er)s?|cm|mm|litres?|ml|mg|%"
    r"|percent)\b",
    re.IGNORECASE,
)
_LIVE: Final = re.compile(
    r"\b(?:liv(?:e[sd]?|ing)|resid(?:e[sd]?|ing)|mov(?:e[sd]?|ing) (?:in|out|to|into))\b", re.IGNORECASE
)
_WORK: Final = re.compile(r"\b(?:work(?:s|ed|ing)?|employ(?:ed|er|s)?|jobs?|office)\b", re.IGNORECASE)
_ACTS: Final = tuple(
    (re.compile(rf"\b(?:{one})\b", re.IGNORECASE), re.compile(rf"\b(?:{other})\b", re.IGNORECASE))
    for one, other in (
        (
            r"s(?:ell(?:s|ing)?|old)(?! (?:me|us)\b)",
            r"b(?:uy(?:s|ing)?|ought)|(?:got|get(?:s|ting)?)(?! (?:[£$€]?\d|for\b))",
        ),
        ("arriv(?:e[sd]?|ing)", "leav(?:e|es|ing)|left|depart(?:s|ed|ing)?|set off"),
        ("open(?:s|ed|ing)?", "clos(?:e[sd]?|ing)|shut(?:s|ting)?"),
    )
)
"""Acts whose time or sum isn't the other's: who got a car in 2014 didn't say when it was sold."""
_CLOSES: Final = re.compile(r"\b(?:does|do|will) .*\b(?:open|close|shut)\b", re.IGNORECASE)
_IS_CLOSED: Final = re.compile(r"(?:\b(?:is|are|was|were|be)|['’]s|['’]re) (?:closed|shut)\b", re.IGNORECASE)
_HOUR: Final = re.compile(
    r"\d[:.]\d\d|\b(?:at|from|by|after|until|till|before) (?:\d|noon|midnight)|\d ?[ap]\.?m\b|\bfor good\b",
    re.IGNORECASE,
)
_OF_AN_ACT: Final = frozenset(("time", "clock", "money"))
_COUNTED: Final = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty|half|hundred|thousand|grand|fiver"
    r"|tenner|pence|\w+pence|an? (?:pound|euro|dollar|penny|cent))\b",
    re.IGNORECASE,
)
_SECRET: Final = re.compile(
    r"\b(?P<noun>surname|last name|middle name|maiden name|passwords?|passcode)\b", re.I
)
_KEY: Final = re.compile(r"\b(?:passwords?|passcode)\b", re.IGNORECASE)
_KEY_GIVEN: Final = re.compile(
    r"(?=\S*\d)\S{3,}|\b(?:passwords?|passcode)\b.{0,20}?(?:['’]s|\bis|\bwas|\bto|[:=]) *\S|[\"“`]\S+[\"”`]",
    re.IGNORECASE,
)
_NUMBERED: Final = re.compile(
    r"\b(?:phone|mobile|telephone|flight|merchant|account|order|customer|member\w*|card|invoice|ticket|case|tracking"
    r"|serial|policy|booking|reference|confirmation|passport|licen[cs]e|registration|bus|room|house|flat)"
    r" (?:numbers?|no\.?|code)\b|\biban\b|\b(?:my|our|the|his|her) pin\b",
    re.IGNORECASE,
)
_SPELT: Final = re.compile(
    r"\d|(?:\b(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|double)\b\W*){3}", re.IGNORECASE
)
_BESIDE: Final = tuple(
    (re.compile(asked, re.IGNORECASE), re.compile(has, re.IGNORECASE))
    for asked, has in (
        (
            r"\b(?:what|which) per ?cent(?:age)?\b|\bhow many per ?cent\b",
            r"\d ?%|\bper ?cent|\b(?:half|quarter|third|all|none)\b",
        ),
        (
            r"\bwhat\b.*\b(?:writ(?:e|ten)|wrote|engraved|printed|says?)\b.*\bon (?:the|my|our|his|her|it)\b",
            r"\b(?:writ\w+|wrote|says?|saying|reads?|reading|engrav\w+|print\w+|letters|words)\b|[\"“:]",
        ),
        (
            r"\bwhat (?:does|did) .+ do (?:at|for) (?:work|a living)\b",
            r"\b(?:works?|worked|working|job|(?:is|was|as|['’]s) an?|teach\w*|runs?|drives?|sells?|manag\w+|does)\b",
        ),
        (
            r"\bhow far (?:away )?(?:is|are|was|were)\b",
            r"\d ?(?:k|km|m|mi|h|hrs?|mins?)\b|\b(?:kilomet\w+|miles?|met(?:re|er)s?|yards?|minutes?|hours?|blocks?"
            r"|stops?|stations?|far|near\w*|close|door|corner|away|walk\w*|drive|half|done|finished)\b",
        ),
        (
            r"\bhow (?:big|large)\b",
            r"\d ?(?:m|m2|m²|km|cm|mm|gb|mb|tb|l|x)\b|\b(?:square|sq\w*|\w*met(?:re|er)s?|inch\w*|feet|foot|acres?"
            r"|hectares?|(?:bed)?rooms?|people|pupils|seats?|litres?|size\w*|big\w*|large\w*|small\w*|tiny|huge|medium"
            r"|by \d|times)\b",
        ),
        (r"\b(?:alarm|door|gate|access|entry|safe) (?:code|number|combination)\b", r"\d|\b\w+-\d|[\"“:]"),
    )
)
"""What a question asks for, and what a sentence that answers it has beside it."""
_KINDS: Final = tuple(
    tuple(frozenset(map(stem, words(one))) for one in family)
    for family in (
        ("cat cats kitten", "dog dogs puppy", "hamster", "rabbit rabbits", "parrot budgie", "horse pony", "tortoise"),
        (
            "mother mum mom", "father dad", "brother", "sister", "son", "daughter", "aunt", "uncle", "cousin", "nephew",
            "niece", "grandmother grandma granny nan", "grandfather grandpa grandad",
        ),
        ("car", "bike bicycle", "van", "motorbike motorcycle", "boat"),
    )
)  # fmt: skip
"""Kinds of one thing, each by its words: what is said of one says nothing of another."""
_SUBJECT: Final = re.compile(
    r"\W*(?:(?:so|and|but|well|oh|also|btw),? )*(?:my|our|his|her|their|the) (?:[\w-]+ )?(?P<what>[\w-]+?)(?:['’]s)? "
    r"(?:is|was|are|were|has|had|got|[\w-]+s)\b",
    re.IGNORECASE,
)
_WHAT: Final = re.compile(r"\b(?:what|which|whats)\b", re.IGNORECASE)
_PAYS_NOTHING: Final = re.compile(r"\b(?:free|nothing|for no)\b", re.IGNORECASE)


def mismatch(question: Question, sentence: str, hit: Hit, hits: Sequence[Hit]) -> bool:
    """Whether a sentence of a hit can't be what answers. `hits` say what is a name."""
    return (
        _is_anothers(question, sentence, hit, hits)
        or _is_wished(question, sentence)
        or _is_over(question, sentence)
        or _leaves_open(question, sentence)
        or is_of_another_kind(question.text, sentence)
        or _denies_it(question, sentence, when_of(hit))
        or _names_another(question, sentence)
        or _is_of_other_act(question, sentence)
        or _is_of_another_thing(question, sentence, hit)
    )


def is_of_another_thing(question: Question, hit: Hit) -> bool:
    """Whether what a hit tells is of another thing or time than is asked, and takes nothing of that back."""
    span = best_span(question, hit.text, when_of(hit))
    return span is not None and _is_of_another_thing(question, span.sentence, hit)


def _is_of_another_thing(question: Question, sentence: str, hit: Hit) -> bool:
    return (
        _is_of_another_code(question, hit.text)
        or _is_of_other_kind(question, sentence)
        or _is_of_another_number(question, sentence)
        or _is_what_came_or_went(question, sentence)
        or _is_of_another_period(question, sentence, when_of(hit))
        or _is_of_other_days(question, sentence)
        or _is_of_other_months(question, sentence)
        or _tells_what_they_do(question, sentence)
    )


def _is_of_other_kind(question: Question, sentence: str) -> bool:
    """Whether a sentence is about a dog, and it is asked of the cat, of which it says nothing."""
    of = _SUBJECT.match(sentence)
    if of is None:
        return False
    asked, said = {stem(word) for word in words(question.text)}, stems(sentence)
    for family in _KINDS:
        meant = [one for one in family if not one.isdisjoint(asked)]
        if len(meant) == 1 and meant[0].isdisjoint(said):
            return any(stem(of["what"]) in one for one in family)
    return False


def _is_of_another_number(question: Question, sentence: str) -> bool:
    """Whether a question asks of one of several by its number, and a sentence names none but others: order 4471, and
    4472."""
    asked = _labels(question.text)
    if question.intent == "check":  # "does it cost 900?" names nothing by its number
        of = _OF_LABEL.match(question.text)
        asked = {stem(of["noun"].lower()): {of["number"]}} if of is not None else {}
    heard = _labels(sentence)
    return any(
        number not in words(sentence) and bool(heard.get(noun, set()) - {number})
        for noun, numbers in asked.items()
        for number in numbers
    )


def _is_what_came_or_went(question: Question, sentence: str) -> bool:
    """Whether it is asked how many there are, and a sentence tells how many more or fewer there were made."""
    asks = _HOW_MANY_ARE.search(question.text) is not None and _MORE.search(question.text) is None
    told = _MORE.search(sentence) or (_EVENT.search(sentence) if _FIRST.search(question.text) else None)
    return asks and told is not None


def _labels(text: str) -> dict[str, set[str]]:
    """Return the numbers that name one of several, by what they name: room 12, ticket #77."""
    found: dict[str, set[str]] = {}
    for one in _LABELLED.finditer(text):
        noun = one["noun"].lower()
        if noun not in STOP and noun not in MONTHS_AND_WEEKDAYS:
            found.setdefault(stem(noun), set()).add(one["number"])
    return found


def _is_of_another_period(question: Question, sentence: str, when: datetime) -> bool:
    """Whether a question asks of a time, and a sentence tells of a week or day that isn't in it, as named on the day of
    saying: "this week", said in March, asked of May."""
    asked = question.time
    if asked is None or kind_of(question).wants in ("time", "clock"):
        return False
    named = [_period(one[0], when) for one in _PERIOD.finditer(sentence)]
    others = times(_PERIOD.sub("", sentence), when)
    if not named or None in named or next(others, None) is not None:
        return False
    return all(one is not None and _is_apart(asked, one) for one in named)


def _tells_what_they_do(question: Question, sentence: str) -> bool:
    """Whether it is asked who somebody is, and a sentence only tells what they do: "the vet counts four kittens"."""
    asked = _WHO_IS.match(question.text)
    if asked is None:
        return False
    role = re.escape(asked["role"])
    acts = re.search(
        rf"\b(?:the|my|our|your|his|her|their) {role} (?!(?i:is|was|called|named|who|at|from|and)\b)[a-z]",
        sentence,
        re.I,
    )
    return (
        acts is not None
        and len(re.findall(rf"\b{role}\b", sentence, re.I)) == 1
        and (re.search(rf"\b{role},? (?-i:[A-Z])", sentence, re.I) is None)
    )


def _is_of_other_days(question: Question, sentence: str) -> bool:
    """Whether it is asked of a day of the week, and a sentence tells of none but others: of weekdays, not Saturdays."""
    asked = {day for one in _ON_DAY.finditer(question.text) for day in _days(one[0])}
    said = _days(sentence)
    return question.intent != "check" and bool(asked) and bool(said) and asked.isdisjoint(said)


def _is_of_other_months(question: Question, sentence: str) -> bool:
    """Whether it is asked of a month, and a sentence tells of none but others: what we read in April, and in March."""
    if question.intent == "check" or kind_of(question).wants in ("time", "clock") or _SPAN.search(sentence):
        return False
    asked, said = (
        {one[1].lower()[:3] for one in _IN_MONTH.finditer(text)} for text in (question.text, sentence)
    )
    return bool(asked) and bool(said) and asked.isdisjoint(said)


def _days(text: str) -> set[int]:
    """Return the days of the week that a text names, as 0 for Monday to 6."""
    found: set[int] = set()
    for one in _DAY.finditer(text):
        if one["since"]:
            since, until = (
                WEEKDAYS.index(day.lower()) for day in (one["since"], one["until"] or one["since"])
            )
            found |= {(since + more) % 7 for more in range((until - since) % 7 + 1)}
        else:
            found |= {*range(7)} if one["all"] else {5, 6} if one["end"] else {*range(5)}
    return found


def _period(named: str, when: datetime) -> Span | None:
    """Return the week or day that words name from the day they were said on."""
    if named.lower().startswith(("last", "yesterday")):
        return span(named, when)
    return ahead(named, when)


def _is_apart(asked: Span, told: Span) -> bool:
    """Whether two spans have no day in common; of a month without a year, of any year."""
    if told.since is None or told.until is None:
        return False
    if asked.month is not None:
        if told.until - told.since > _MONTH:
            return False
        return asked.month not in (told.since.month, (told.until - timedelta(days=1)).month)
    before = asked.until is not None and asked.until <= told.since
    return before or (asked.since is not None and told.until <= asked.since)


def _is_of_other_act(question: Question, sentence: str) -> bool:
    """Whether a time or a sum is asked of one act, and a sentence tells of the opposite one alone."""
    if kind_of(question).wants not in _OF_AN_ACT:
        return False
    if _CLOSES.search(question.text) and _IS_CLOSED.search(sentence) and _HOUR.search(sentence) is None:
        return True  # that it is closed this week says nothing of when it closes
    return any(
        one.search(question.text) and other.search(sentence) and not one.search(sentence)
        for each in _ACTS
        for one, other in (each, each[::-1])
    )


def _is_of_another_code(question: Question, turn: str) -> bool:
    """Whether a question names a version or a code, and a turn none but others: release 2.5, and 2.4."""
    for named, heard in zip(codes(question.text), codes(turn), strict=True):
        if named and heard and named.isdisjoint(heard):
            return True
    return False


def _names_another(question: Question, sentence: str) -> bool:
    """Whether a sentence names people only in another part than the one that speaks of what is asked: "until the brake
    test in June; Tadeusz writes the manual"."""
    parts = sentence.split(";")
    if question.intent != "person" or len(parts) == 1:
        return False
    asked = set(question.stems)
    most = max(parts, key=lambda part: len(asked & stems(part)))
    named = [
        any(
            one[0].lower() not in MONTHS_AND_WEEKDAYS
            for one in spelt_names(part if part is parts[0] else f"; {part}")
        )
        for part in parts
    ]
    return any(named) and not named[parts.index(most)] and _FIRST.search(most) is None


def _denies_it(question: Question, sentence: str, when: datetime) -> bool:
    """Whether a sentence denies the value that would be told of it: the launch isn't on 5 July."""
    if question.intent == "check" or _DENIAL.search(question.text):
        return False
    span = best_span(question, sentence, when)
    value = (
        [word for word in words(span.short) if word not in STOP] if span is not None and span.wanted else []
    )
    at = sentence.lower().find(value[0]) if value else -1
    return at >= 0 and _DENYING.search(sentence[:at]) is not None


def _is_wished(question: Question, sentence: str) -> bool:
    """Whether a short sentence tells of a wish or proposes something, where the question asks for none; a long one
    tells of more."""
    if PROPOSED.search(sentence) is not None and _OF_ADVICE.search(question.text) is None:
        return True
    if _UNREAL.search(sentence) is not None and _OF_WISHES.search(question.text) is None:
        return True
    wished = len(sentence.split()) <= _SHORT and _WISHED.search(sentence) is not None
    return wished and _OF_WISHES.search(question.text) is None


def _leaves_open(question: Question, sentence: str) -> bool:
    """Whether it is asked which of two it is, and a sentence offers both: "59 to buy or 3 a month to rent"."""
    which = _EITHER.search(question.text)
    if which is None or _OR.search(sentence) is None:
        return False
    said = stems(sentence)
    return stem(which["one"].lower()) in said and stem(which["other"].lower()) in said


def _is_over(question: Question, sentence: str) -> bool:
    """Whether a sentence tells of what somebody used to do, or meant to, where it is asked what is so; but not for a
    yes or no, which that may be."""
    asks_of_now = question.intent != "check" and not asks_of_the_past(question)
    if asks_of_now and _WAS_TO.search(sentence) and _OF_PLANS.search(question.text) is None:
        return True
    return asks_of_now and USED_TO.search(sentence) is not None and USED_TO.search(question.text) is None


def _is_anothers(question: Question, sentence: str, hit: Hit, hits: Sequence[Hit]) -> bool:
    """Whether a sentence is about somebody else than the one whom the question asks of."""
    if _OF_ME.search(question.text):
        found = _OTHERS.match(sentence)
        if found is None or _FIRST.search(sentence) is not None:
            return False
        named = found["name"]
        if named is None:
            return True
        # "Otto is allergic": to a yes or no about me, whoever or whatever the sentence begins with is another.
        of_one = question.intent == "check" or _OF_BODY.search(question.text) is not None
        another = of_one and named.lower() not in words(question.text)
        return named.lower() not in words(speaker(hit)) and (another or _is_name(named, hits))
    named = _OF_NAMED.search(question.text)
    if named is None:
        return False
    heard = {*words(hit.text), *words(speaker(hit))}
    if question.intent == "check" and _HAS_SUBJECT.search(hit.text) is None:
        return heard.isdisjoint(words(named["name"]))  # "his new girlfriend" takes up nobody of the question
    return heard.isdisjoint(words(named["name"])) and _REFERS.search(hit.text) is None


def _is_name(word: str, hits: Sequence[Hit]) -> bool:
    """Whether a word that begins a sentence is a name: somebody speaks under it, or it stands so within a sentence."""
    within = re.compile(rf"[a-z,] {re.escape(word)}\b")
    return any(word.lower() in words(speaker(one)) or within.search(one.text) for one in hits)


def is_of_another_kind(asked: str, sentence: str) -> bool:
    """Whether a sentence bears no value of the kind that is asked for."""
    if _AGE.search(asked) and _MEASURED.search(sentence) and not _AGED.search(sentence):
        return True
    for one, other in ((_LIVE, _WORK), (_WORK, _LIVE)):
        if (
            one.search(asked)
            and not other.search(asked)
            and other.search(sentence)
            and not one.search(sentence)
        ):
            return True
    secret = _SECRET.search(asked)
    if secret is not None and set(words(secret["noun"])).isdisjoint(words(sentence)):
        return True
    return lists_another(asked, sentence) or _lacks_detail(asked, sentence)


def _lacks_detail(asked: str, sentence: str) -> bool:
    """Whether a question asks for a code, a number, an age or a sum, and a sentence has none."""
    asks_what = _WHAT.search(asked) is not None  # not where the passwords are
    lacks = (
        _AGE.search(asked) and not (_COUNTED.search(sentence) or _AGED.search(sentence)),
        asks_what and _KEY.search(asked) and not _KEY_GIVEN.search(sentence),
        asks_what and _NUMBERED.search(asked) and not _SPELT.search(sentence),
        ASKS_PAYMENT.search(asked) and not (_COUNTED.search(sentence) or _PAYS_NOTHING.search(sentence)),
    )
    return any(lacks) or any(one.search(asked) and not has.search(sentence) for one, has in _BESIDE)
