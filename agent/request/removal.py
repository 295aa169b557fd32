"""A request that something be forgotten: which words ask for it, and what is to go. Pure."""

import re
from typing import Final, Literal, NamedTuple

from braid.agent.request.naming import THING, naming_stems
from braid.agent.request.opening import LEAD, Opening, is_asked, openings

Removing = Literal["forget_last", "forget_about", "forget_that"]

VERB: Final = (
    r"(?:forget|delet(?:e|ing)|remov(?:e|ing)|drop(?:ping)?|eras(?:e|ing)|wip(?:e|ing)(?: out)?|scrap(?:ping)?|scratch"
    r"|unlearn|ignor(?:e|ing)|disregard(?:ing)?|dump(?:ing)?|zap|axe|strik(?:e|ing)|purg(?:e|ing)"
    r"|clear(?:ing)?(?: (?:out|away))?|bin|ditch|discard|trash|chuck(?: out)?|lose|undo|kill|nix"
    r"|cross(?:ing)? (?:out|off)|get(?:ting)? rid of|tak(?:e|ing) (?:out|off|away|down|back)|throw(?:ing)? (?:out|away)"
    r"|do away with|let go of|stop (?:keeping|storing|remembering))"
)
_NOTE: Final = rf"(?:(?:the|that|this|those|these|my|your|our|any|every|each|all|a|an) )*(?:[\w-]+ )??{THING}"
_SAYING: Final = (
    r"(?:,? (?:(?:that|which) (?:says?|said|states?|claims?|reads?|has|tells? you)|saying|stating|claiming"
    r"|reading|where"
    r" (?:it|you) (?:says?|said|ha(?:s|ve))|where i (?:said|say|told you|wrote)|i (?:gave|told) you|you have|about how)"
    r"(?: that)?:?| that|:) "
)
_ABOUT: Final = (
    r"(?:about|on|of|regarding|concerning|mentioning|(?:that|which) mentions?|with|to do with|related to|relating to"
    r"|that concerns?|involving|around|for(?! (?:me|us)\b))"
)
_WHATEVER: Final = (
    rf"(?:absolutely )?(?:(?:ev\w*thing|anything|all(?: of)?(?: what)?|the lot|the whole lot|whatever|what"
    rf"|{_NOTE})(?: [\w'’]+){{0,4}}?)"
)
_TAIL: Final = (
    r"(?:(?: (?:from|off|out of|in))? (?:your|the|my|our) (?:list|notes?|memory|records?|head|mind|files?|store|log))?"
    r"(?: for (?:me|us|good|now))?(?:,? (?:please|pls|thanks|thank you|ok|okay|will you))*[\s.!]*"
)
_IT: Final = (
    r"(?:it|that|this|(?:that|this|the (?:old|last|wrong)) (?:one|note|entry|bit|line)|that last (?:one|bit|thing|part)"
    r"|what i (?:just )?said|the last (?:thing|one|bit)(?: i (?:just )?said)?|my last (?:message|line|note))"
)
_READ: Final[tuple[tuple[Removing, str], ...]] = (
    (
        "forget_last",
        rf"(?:{VERB} {_IT}|(?:take|throw|cross|chuck|wipe) {_IT} (?:off|out|away|down|back))",
    ),
    ("forget_that", rf"{VERB} (?:{_NOTE}{_SAYING}|that )(?P<text>.+?)"),
    ("forget_about", rf"{VERB} (?:all |every )(?:of )?(?:the |my |your )?(?P<text>.+?) {THING}"),
    ("forget_about", rf"{VERB} (?:{_WHATEVER} {_ABOUT}|about) (?P<text>.+?)"),
    ("forget_about", r"forget (?:my|our|his|her|their) (?P<text>.+?)"),
    ("forget_about", r"forget (?:where|when|who|whose|which|why|what|how(?: \w+)?) (?P<text>.+?)"),
)
_FORMS: Final[tuple[tuple[Removing, re.Pattern[str]], ...]] = tuple(
    (kind, re.compile(rf"{LEAD}{form}{_TAIL}", flags=re.IGNORECASE | re.DOTALL)) for kind, form in _READ
)
_QUOTES: Final = " .!\"'\u201c\u201d\u2018\u2019"
_OF_IT: Final = re.compile(r"(?:it|he|she|they) |that (?:is|was|has|had)$", flags=re.IGNORECASE)
_DOING: Final = re.compile(
    r"(?:my|me) (?=\w+ing (?:the|an?|any|my|our|his|her|their|its?)\b)", flags=re.IGNORECASE
)
"""What is named by what somebody does says that they do it."""
_ONE: Final = re.compile(
    rf"{LEAD}(?:forget (?:my|our|his|her|their)\b|{VERB} "
    r"(?:(?:the|that|this) (?:[\w-]+ )?(?:note|entry|line|one|memory|record|bit|thing"
    r"|item|point|rule|detail|sentence)\b|(?:what|which|who|where|when|how) (?!(?:i|we|you)\b)))",
    flags=re.IGNORECASE,
)


class Removal(NamedTuple):
    """What is to go. `texts`: what it says or is about, the whole first, then with less of what may be a reason.

    `rest`: what else the line says; `is_one`: whether one thing is to go, and not all that is about something.
    """

    kind: Removing
    texts: tuple[str, ...]
    rest: str
    is_one: bool = False


def removal(line: str) -> Removal | None:
    """Return what a line asks to be forgotten; None where it asks for nothing of the kind."""
    for opening in openings(line):
        for kind, form in _FORMS:
            found = form.fullmatch(opening.clause)
            if found is not None and is_asked(found["lead"], opening):
                return _last(opening) if kind == "forget_last" else _named(kind, found["text"], opening)
    return None


def _last(opening: Opening) -> Removal | None:
    """Return that the last thing told is to go; None where "it" may be what the line says beside."""
    is_alone = not opening.after and not re.search(r"\w{2,} \w", opening.before)
    return Removal("forget_last", (), "") if is_alone else None


def _named(kind: Removing, text: str, opening: Opening) -> Removal | None:
    if opening.before and _points_back(opening.clause, text):
        return None
    if (doing := _DOING.match(text)) is not None:
        return Removal("forget_that", (f"I {text[doing.end() :]}",), opening.before)
    is_one = _ONE.match(opening.clause) is not None
    return Removal(kind, _shortened(text), _joined(opening.before, opening.after), is_one)


def _points_back(clause: str, text: str) -> bool:
    """Whether what is named is told only by what stands in front: "it isn't", "that booking"."""
    is_word = " " not in text and re.search(rf"\bthat {re.escape(text)}\W*$", clause) is not None
    return is_word or not naming_stems(text) or _OF_IT.match(text) is not None


def _shortened(text: str) -> tuple[str, ...]:
    """Return a text, and it without what stands behind its last commas, which may say why."""
    found = [text.strip(_QUOTES)]
    while "," in found[-1]:
        found.append(found[-1].rpartition(",")[0].rstrip())
    return tuple(found)


def _joined(before: str, after: str) -> str:
    return " ".join(part.strip(" ,;:–—-") for part in (before, after) if re.search(r"\w", part))
