"""Whether a question asks for a list, a course of things, what changed, or all that is known; and of what. Pure.

Only where the wording asks for one: "how did the price go", "which two doctors", "what changed with the rota". A
question for one thing is none, however many answers there may be.
"""

import re
from typing import Final, Literal

import msgspec

from braid.agent.answer.lists.values import ValueKind, wanted
from braid.text.calendar import MONTHS
from braid.text.numbers import VALUES
from braid.text.words import CHAT, stem, words

Kind = Literal["list", "timeline", "changes", "known"]
MAX_CHARS: Final = 300
_LEAD: Final = re.compile(
    r"(?:(?:ok|okay|so|hey|hi|please|pls|and|um|right|well|also)\b[,.! ]*"
    r"|(?:can|could|would|will) (?:you|u) (?:please |pls )?|remind me[,:]? (?:of )?|i(?:'d| would) like to know[,:]? "
    r"|i (?:want|need)(?: to (?:know|see|have))? |do you (?:know|remember) )*",
    re.IGNORECASE,
)
_MOVES: Final = (
    r"go|goes|gone|went|moved?|grow|grown|develop(?:ed)?|evolved?|progress(?:ed)?|shift(?:ed)?|vary|varied"
)
_N: Final = r"two|three|four|five|six|seven|eight|nine|ten|[2-9]|1\d"
_CHANGES: Final = (
    r"\bwhat(?:['’]?s| is| has| have)?(?: \w+){0,2} changed?\b",
    r"\bwhat (?:were|are) the changes\b|\bwhat changes\b",
    r"\bhow (?:has|have|had|did|does|do)\b.{1,80}\bchanged?\b",
    r"\b(?:has|have|did) (?:it|that|this|they)(?: ever)? changed?\b",
    r"\bfrom what to what\b",
    r"\bwhat happened (?:to|with) .{0,40}\b(?:date|price|cost|deadline|time|plan|rate|dose|number|limit|day)s?\b",
    r"\bwhat (?:did|have|had) (?:we|i|they|you) (?:decided? and )?(?:revers|chang|undo|undone|scrap|dropp?)\w*\b",
    r"\bwhat (?:was|were|got) (?:changed|reversed|cancell?ed|scrapped|called off)\b",
)
_COURSE: Final = (
    rf"\bhow (?:did|has|have|had|do|does)\b(?! (?:that|it|this)\b).{{1,80}}\b(?:{_MOVES})\b"
    r"(?: (?:around|along|up|down|over time)\b)?"
    r"(?!\s+(?:to|into|in|at|on|by|home|without|with)\b)",
    r"\bhow .{1,80}\b(?:went|goes|moved)\b\s*(?:[,?.!]|$|over|from)",
    r"\b(?:timeline|history|chronology|story|course) (?:of|for|with)\b",
    r"\b(?:the|whole) \w+ (?:story|timeline|history)\b",
    r"\bin (?:the )?(?:order|sequence)\b|\bwhat came after what\b|\bone after (?:the )?(?:other|another)\b",
    r"\b(?:month by month|week by week|day by day|year by year|step by step)\b",
    r"\bover (?:the )?(?:time|(?:weeks|months|years|days))\b",
    r"\b(?:from )?(?:start|first|beginning) to (?:the )?(?:finish|end|last)\b",
    r"\bwhat(?:['’]s| has| had)? (?:happened|became|become) (?:to|with|of)\b",
)
_KNOWN: Final = (
    r"\bwhat (?:do|did|can) (?:you|u|we|i) (?:know|remember|have|recall|tell me) (?:of|about|on)\b",
    r"^tell me (?:everything|all|what you know)\b|\bwhat is (?:known|remembered) (?:of|about)\b",
    r"^(?:give me )?(?:a |the )?(?:summary|overview|summari[sz]e|sum up|recap)\b",
)
_PLURAL: Final = r"(?!\w+(?:ss|us|is)\b)(?!(?:times|news|was|is|has|does|this|always)\b)[a-z]{2,}s"
_LIST: Final = (
    r"^(?:list(?! price)|enumerate)\b|^name (?!of\b)(?:all|the|every|each|some|\w+s)\b",
    r"^(?:give|show|get|tell)(?: me)? (?:a list|the list|all|every|each|the names)\b",
    rf"\b(?:which|what)(?! of\b)(?: (?:other|all|different))? (?:(?:{_N}) )?(?:\w+ ){{0,2}}?{_PLURAL}"
    r"(?= (?:did|do|does|have|has|had|are|were|was|will|would|can|could|should|got|get|came|i|we|she|he|they|on|in)\b)",
    rf"\bwhat(?:['’]s| is| are| were| was)? (?:all )?the (?:(?:{_N}) )?(?:\w+ )?{_PLURAL}\b",
    rf"\b(?:the|what|which) (?:{_N}) (?:\w+ )?(?:{_PLURAL}|people|men|women|children)\b",
    r"\bwhat all\b|\bwho all\b|\ball of (?:it|them|us|those)\b",
    r"\bwho (?:else )?(?:was|were|is|are) (?:all )?(?:invited|there)\b",
    r"^what (?:was|is|were) (?:the )?(?:stuff|everything)\b|^(?:what's )?everything (?:that|we|i|on|about)\b",
    rf"^(?:what|which|who) (?:are|were) all (?:the )?(?:{_N} )?(?:\w+ )?(?:{_PLURAL})\b",
)
_FORMS: Final[tuple[tuple[Kind, tuple[str, ...]], ...]] = (
    ("known", _KNOWN), ("changes", _CHANGES), ("timeline", _COURSE), ("list", _LIST),
)  # fmt: skip
_ASKED: Final[tuple[tuple[Kind, re.Pattern[str]], ...]] = tuple(
    (kind, re.compile("|".join(forms), re.IGNORECASE)) for kind, forms in _FORMS
)
_OF_ASKER: Final = re.compile(r"\b(?:of|on|about) (?:me|myself|(?:the )?user)\W*$", re.IGNORECASE)
"""Ends a question for all that is known of whoever asks."""
_UNNAMED: Final = re.compile(r"\b\w+(?:['’]s?|s) things?\b|\b(?:that|this|the) thing\b", re.IGNORECASE)
"""A topic that only its owner could name: "dad's thing"."""
_COUNT: Final = re.compile(rf"\b({_N})\b", re.IGNORECASE)
_NOT_ONE: Final = re.compile(r"\bhow (?:many|much|often|long|old)\b|^(?:why|when)\b", re.IGNORECASE)
_IDLE: Final = frozenset("""
list name names give show tell get all every everything each thing things stuff order sequence timeline history story
course time over month months week weeks day days year years start finish beginning end happen happened happens
become became come came change changed changes reversed reverse go goes gone went move moved moves around grow grew
grown develop evolve progress shift shifted vary know known remember summary overview recap sum one two three four five
six seven eight nine ten various several now currently since far step was were did does what which who how full complete
anything something update story first last put
""".split())  # fmt: skip # noqa: SIM905


class ListRequest(msgspec.Struct, frozen=True):
    """What a list is asked for: `topic`, the stems of the words for what it is of; `value`, what each piece of it must
    have, None for anything; `count`, how many pieces are asked for, None where that is not said."""

    kind: Kind
    topic: tuple[str, ...]
    value: ValueKind | None = None
    count: int | None = None
    words: frozenset[str] = frozenset()
    """All words of the question."""
    about: str = ""
    """The topic in the question's own words, in their order."""


def list_request(question: str) -> ListRequest | None:
    """Return what list a question asks for, None where it asks for none."""
    text = " ".join(question[:MAX_CHARS].split())
    bare = _LEAD.sub("", text, count=1)
    if _UNNAMED.search(bare):
        return None
    kind: Kind | None = next((each for each, form in _ASKED if form.search(bare)), None)
    if kind is None or (kind == "list" and _NOT_ONE.search(bare)):
        return None
    if kind == "known" and _OF_ASKER.search(bare):
        return ListRequest(kind, (), words=frozenset(words(text)), about="user")
    topic = tuple(dict.fromkeys(stem(word) for word in words(bare) if _tells(word)))
    value = wanted(bare)
    if kind == "list" and value is not None and value.sort == "day":
        return None  # "what days do we have the flat?" asks for one time
    if value is not None:
        topic = tuple(each for each in topic if each not in value.names) or topic
    count = _COUNT.search(bare)
    number = (
        VALUES.get(count[1].lower()) if count and not count[1].isdigit() else int(count[1]) if count else None
    )
    return ListRequest(
        kind,
        topic,
        value,
        number,
        frozenset(words(text)),
        " ".join(word for word in words(bare) if _tells(word)),
    )


def _tells(word: str) -> bool:
    return word not in CHAT and word not in _IDLE and word not in MONTHS and len(word) > 1
