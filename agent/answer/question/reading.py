"""A question as the ladder reads it: what is asked, of which kind the answer is, and of which time. Pure.

Openers, filler and mood are set aside; case, a missing mark and most typos don't matter. English.
"""

import re
from typing import Final, Literal

import msgspec

from braid.text.calendar import MONTH_NAME

Wants = Literal[
    "money", "number", "time", "clock", "person", "place", "reason", "check", "list", "manner", "value"
]
Era = Literal["any", "now", "before", "first", "last"]
_OPENERS: Final = re.compile(
    r"^(?:(?:h+m+|u+h+m*|o+h+|ah|ok(?:ay)?|right|so|and|but|also|then|hey|hi|hello|well|sorry|wait|no|actually|just"
    r"|btw|lol|ugh|pls|please|quick(?: one| question)?|one (?:more|last) thing|by the way|again|listen|look"
    r"|remind me(?: again)?|tell me(?: again)?|give me|(?:do|did) (?:you|u) (?:know|remember|recall|happen to know)"
    r"|(?:can|could|would) (?:you|u)(?: please)? (?:tell|remind|give|say|list)(?: me)?(?: again)?"
    r"|i (?:forget|forgot|wonder|can['’]?t remember|need to know)|any idea|what was it|out of curiosity)\b"
    r"[\s,:;.!–—-]*)+",
    re.IGNORECASE,
)
_AUX: Final = r"(?:am|is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|shall|may|must)"
_WHAT_FOR: Final = r" for(?: (?:every|each|in|on|per)\b|\W*$)"
ASKS_PAYMENT: Final = re.compile(
    r"\bwhat (?:does|do|did|will|would|has|have) .{1,40}"
    rf"\b(?:(?:pay|paid)(?!{_WHAT_FOR})|charge[ds]?|cost|earn|make (?:from|on|out of)"
    r"|get for (?:the|my|our|his|her|its|their))\b",
    re.IGNORECASE,
)
"""Asks for a sum that somebody pays or gets."""
_WITH_FOR: Final = (
    r"(?:aim|ask|pay|paid|look|wait|appl|work|search|hop|vot|head|settl|book|fall|fell|g[eo]t?|car|train|sav|wish|s[eo]ll?d?"
    r"|rent|charg|known?|stand|stood|plan|prepar)(?:y|ied|e|es|ed|t?ing|s)?"
)
"""Verbs that take a "for" of their own: what somebody is saving for is a thing, and no reason."""
_KINDS: Final[tuple[tuple[Wants, str], ...]] = (
    ("person", r"\bwho(?:['’]?s|m|se|['’]re|['’]d)?\b|\b(?:which|what) (?:person|doctor|parent|one of (?:us|them)|man"
     r"|woman|colleague|friend)\b|\bwhat(?:['’]?s| is| was) .{0,40}\b(?:called|named)\b|\bname of\b"),
    ("reason", r"\bwhy\b|\bhow come\b|\bwhat(?:['’]?s| is| was)? (?:the )?(?:reason|cause|made|motivated|inspired)\b"
     rf"|\bwhat(?:['’]?s| {_AUX}) (?!.*\b(?:sell|go|ask) for\b).{{2,60}} (?!{_WITH_FOR}\b)[\w'’]+ for\s*[?.!]*$"
     r"|\bwhat went wrong\b"),
    ("clock", r"\b(?:what|which|whats) time\b|\bat what hour\b|\bo['’]clock\b"),
    ("time", r"\bwhen\b|\b(?:which|what|on what|whats the) (?:week)?(?:day|date|month|year|week|season|days|dates)s?\b"
     r"|\bsince when\b|\bhow long ago\b|\bdeadline\b"
     r"|^(?!.*\bfor (?:[\w'’]+ ){0,2}birthday\b).*\bbirthday\b(?! (?:party|present|gift|cake|card|dinner|lunch)s?\b)"),
    ("money", r"\bhow much\b(?=.*\b(?:cost|pay|paid|spen[dt]|owe|charg|price|rent|fee|deposit|quote|bill|earn|refund"
     r"|money|euros?|pounds?|dollars?)|\s*(?:is|was|were|are|for|did)\b)"
     r"|^(?!.*\bhow (?:many|long|often)\b).*"
     r"\b(?:price|cost|costs|fee|rent|salary|wage|deposit|bill|fare|charge|balance|quote)\b"
     r"|\bwhat (?:does|do|did|will|would|have|has) .{1,40}"
     r"\b(?:(?:pay|paid|spend|spent|charge|earn|owe)\b(?!.*\bfor\W*$)|(?:sell|go|ask) for\b)"),
    ("number", r"\bhow (?:much|many|often|long|old|big|fast|far|tall|high|large|wide|heavy|deep|late|low|thick|hot"
     r"|cold)\b|\bnumber of\b|\bcount of\b|\b(?:what|which|whats)\b.{0,24}\b(?:number|amount|dose|size|limit|rate"
     r"|weight|level|percentage|score|total|maximum|minimum|max|version|code|reference|phone|temperature|height|age)\b"
     r"|\bin total\b"),
    ("place", r"\bwhere\b|\b(?:which|what) (?:city|country|state|town|place|street|address|shop|market|room|school"
     r"|restaurant|hospital|park|area)\b"),
    ("list", r"\blist\b|\bwhat all\b|\ball of (?:it|them)\b"),
    ("manner", r"^how\b"),
)  # fmt: skip
_WANTS: Final[tuple[tuple[Wants, re.Pattern[str]], ...]] = tuple(
    (name, re.compile(source, re.IGNORECASE)) for name, source in _KINDS
)
ASKS_DAY: Final = re.compile(r"\b(?:which|what) (?:week)?(?:day|date)\b", re.IGNORECASE)
"""What no time of the day answers."""
_CHECK: Final = re.compile(rf"^(?:{_AUX}(?:n['’]?t)?)\b", re.IGNORECASE)
_NOW: Final = re.compile(
    r"\b(?:now|now(?:a)?days|these days|at the moment|right now|currently|current|at present|still|any ?more|today"
    r"|so far|as of|in the end|finally|at last|final|end up|ended up|after all|really|actually|eventually|latest|newest"
    r"|most recent(?:ly)?|(?:moved|changed|switched|pushed|postponed|rescheduled) to(?=\W*$))\b",
    re.IGNORECASE,
)
_AT_FIRST_WORDS: Final = (
    r"at first|originally|initially|to (?:begin|start) with|(?:at|in) the (?:very )?(?:start|beginning)"
)
_AT_FIRST: Final = re.compile(rf"\b(?:{_AT_FIRST_WORDS})\b", re.IGNORECASE)
_FIRST: Final = re.compile(
    rf"\b(?:{_AT_FIRST_WORDS}|first(?! of)|original|initial|back when"
    r"|began|begin|starting|very first)\b",
    re.IGNORECASE,
)
_BEFORE: Final = re.compile(
    r"\b(?:before|(?:was|were) (?:[\w’']+ ){0,4}?(?:supposed|meant) to|previous(?:ly)?|former(?:ly)?|used to"
    r"|(?<!how )old\b|(?<!take )until|till"
    r"|earlier|back then|prior)\b",
    re.IGNORECASE,
)
_ASKS_BY_WORD: Final = re.compile(r"(?:what|which|where|who|whom|whose|why|how)\b", re.IGNORECASE)
_CLAUSE_BEHIND: Final = re.compile(
    r"(?<=\w),? (?:when|who|that) (?:i|we|you|he|she|it|they|one|my|our|his|her|their|the|an?"
    r"|some(?:one|body)|(?-i:[A-Z])\w+|[a-z]{2,}(?:ed|s)\b).*",
    re.IGNORECASE | re.DOTALL,
)
"""A clause behind what is asked: "what do I take when one starts" asks for no time."""
_LIVES: Final = re.compile(r"\bwhere (?:do|did) (?:i|we) (?:\w+ )?live\b", re.IGNORECASE)
_WHERE: Final = re.compile(r"where\b", re.IGNORECASE)
_LAST: Final = re.compile(r"\b(?:last|lately|recently)\b", re.IGNORECASE)
_DATED: Final = re.compile(
    rf"\b(?:in|on|of|from|by|during|since|for|early|late|mid|last) (?:the )?"
    rf"(?:\d{{1,2}}(?:st|nd|rd|th)? (?:of )?)?{MONTH_NAME}\b"
    r"|\b(?:19|20)\d\d\b",
    re.IGNORECASE,
)
_PAST: Final = re.compile(r"\b(?:did|was|were|had|didn['’]?t|wasn['’]?t)\b", re.IGNORECASE)
_SAID: Final = re.compile(
    r"\bwho (?:said|told|mentioned|wrote|suggested|asked|came up with|reported|pointed out|announced)\b",
    re.IGNORECASE,
)
_CHANGES: Final = re.compile(
    r"\bhow (?:has|have|did) .+ chang|\bwhat(?:['’]s)? (?:has |have )?(?:changed|happened)\b|\bmonth by month\b"
    r"|\btimeline\b|\bhistory of\b",
    re.IGNORECASE,
)


class AskedQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked. `core`: without openers; `said`: it asks who said something; `dated`: it names a time."""

    core: str
    wants: Wants
    era: Era
    at_first: bool
    """Whether it asks how something was at first."""
    said: bool
    dated: bool
    past: bool
    changes: bool
    """Whether it asks how something changed."""


def read(text: str) -> AskedQuestion:
    """Return a question as it is read. Any text is a legal question."""
    core = _OPENERS.sub("", text.strip()) or text.strip()
    return AskedQuestion(
        core=core,
        wants=_wants(core),
        era=_era(core),
        at_first=_AT_FIRST.search(core) is not None,
        said=_SAID.search(core) is not None,
        dated=_DATED.search(core) is not None,
        past=_PAST.search(core) is not None,
        changes=_CHANGES.search(core) is not None,
    )


def in_full(text: str) -> str:
    """Return a question as a cross-encoder is asked: who asks where they live is told where their home is, too."""
    if _LIVES.search(text) is None:
        return text
    return f"{text.rstrip(' ?.!')}, where is my flat?"


def tells_of_first(text: str) -> bool:
    """Whether a text says of itself that it tells of how something was at first."""
    return _AT_FIRST.search(text) is not None


def _wants(core: str) -> Wants:
    if _CHECK.match(core):
        return "check"
    if _ASKS_BY_WORD.match(core):
        core = _CLAUSE_BEHIND.sub("", core)
    if _WHERE.match(core):
        return "place"  # where we rent is no sum
    for name, pattern in _WANTS:
        if pattern.search(core):
            return name
    return "value"


def _era(core: str) -> Era:
    if _FIRST.search(core):
        return "first"
    if _BEFORE.search(core):
        return "before"
    if _NOW.search(core):
        return "now"
    return "last" if _LAST.search(core) else "any"
