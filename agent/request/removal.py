"""A request that something be forgotten: which words ask for it, and what is to go. Pure."""

import re
from typing import Final, Literal, NamedTuple

from braid.agent.request.naming import THING, naming_stems
from braid.agent.request.opening import LEAD, Opening, is_asked, openings

Removing = Literal["forget_last", "forget_about", "forget_that", "forget_denied"]

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
_ME: Final = (
    r"(?:you(?:['’]ve| have)?(?: got)?|i(?:['’]ve| have)?|we(?:['’]ve| have)?|there(?:['’]s| is)|was)"
)
_KEPT: Final = (
    r"(?:(?:ever|just|already|once|previously|currently|still|all) )*(?:have|had|has|got|know|knew|keep"
    r"|kept|hold|held|saved"
    r"|stored|noted|wrote(?: down)?|written(?: down)?|remember(?:ed)?|recorded|said|say|told you|tell you"
    r"|mentioned|gave you"
    r"|given you|taught you|learned|learnt|there)"
)
_WHATEVER: Final = (
    rf"(?:absolutely )?(?:(?:ev\w*thing|anything|all(?: of)?(?: what)?|the lot|the whole lot|whatever|what"
    rf"|{_NOTE})(?: (?:that|which))?(?: {_ME})?(?: {_KEPT})?"
    r"(?: (?:down|in (?:there|here|your notes)))?)"
)
_TAIL: Final = (
    r"(?:(?: (?:from|off|out of|in))? (?:your|the|my|our) (?:list|notes?|memory|records?|head|mind|files?|store|log))?"
    r"(?: for (?:me|us|good|now))?(?:,? (?:please|pls|thanks|thank you|ok|okay|will you))*[\s.!]*"
)
_IT: Final = (
    r"(?:it|that|this|(?:that|this|the (?:old|last|wrong)) (?:one|note|entry|bit|line)|that last (?:one|bit|thing|part)"
    r"|what i (?:just )?said|the last (?:thing|one|bit)(?: i (?:just )?said)?|my last (?:message|line|note))"
)
_GO: Final = (
    r"(?:(?:has|needs?|ought) to|must|should|can|may|might as well) (?:go|come out|be (?:deleted|removed"
    r"|dropped))"
)
_GONE: Final = (
    r"(?:to be |to get |was |were )?(?:removed|deleted|gone|erased|forgotten|dropped|cleared|wiped"
    r"|taken (?:out|off))"
)
_HAVE: Final = r"(?:i(?:['’]d| would) (?:like|love|prefer)|i want|have|get)"
_NEEDLESS: Final = (
    r"(?:you (?:don['’]?t|do not|no longer) (?:need|have) to|(?:there(?:['’]s| is) )?no (?:more )?need to|no longer)"
    r" (?:keep|remember|store|hold(?: on to)?|know)"
)
_READ: Final[tuple[tuple[Removing, str], ...]] = (
    ("forget_last", rf"{LEAD}{VERB} {_IT}{_TAIL}"),
    (
        "forget_last",
        rf"{LEAD}(?:take|throw|get|cross|chuck|wipe) {_IT} (?:off|out|away|down|back|rid of){_TAIL}",
    ),
    ("forget_that", rf"{LEAD}(?:the|that|my|your) {THING}{_SAYING}(?P<text>.+?) {_GO}{_TAIL}"),
    ("forget_that", rf"{LEAD}{VERB} (?:{_NOTE}{_SAYING}|that )(?P<text>.+?){_TAIL}"),
    ("forget_that", rf"{LEAD}take {_NOTE}{_SAYING}(?P<text>.+?) (?:off|out|away|down){_TAIL}"),
    ("forget_about", rf"{LEAD}{_WHATEVER} {_ABOUT} (?P<text>.+?) {_GO}{_TAIL}"),
    (
        "forget_about",
        rf"{LEAD}{VERB} (?:all |every )(?:of )?(?:the |my |your )?(?P<text>.+?) {THING}{_TAIL}",
    ),
    ("forget_about", rf"{LEAD}{VERB} {_WHATEVER} {_ABOUT} (?P<text>.+?){_TAIL}"),
    ("forget_about", rf"{LEAD}{VERB} about (?P<text>.+?){_TAIL}"),
    ("forget_that", rf"{LEAD}{_HAVE} {_NOTE}{_SAYING}(?P<text>.+?) {_GONE}{_TAIL}"),
    ("forget_about", rf"{LEAD}{_HAVE} {_WHATEVER} {_ABOUT} (?P<text>.+?) {_GONE}{_TAIL}"),
    ("forget_that", rf"{LEAD}{_NEEDLESS} (?:{_NOTE}{_SAYING}|that )(?P<text>.+?){_TAIL}"),
    ("forget_about", rf"{LEAD}{_NEEDLESS} {_WHATEVER} {_ABOUT} (?P<text>.+?){_TAIL}"),
    ("forget_that", rf"{LEAD}forget (?P<text>(?:i|we|he|she|they|my|our|his|her|their)\b.+?){_TAIL}"),
    (
        "forget_about",
        rf"{LEAD}forget (?:where|when|who|whose|which|why|what|how(?: \w+)?) (?P<text>.+?){_TAIL}",
    ),
)
_FORMS: Final[tuple[tuple[Removing, re.Pattern[str]], ...]] = tuple(
    (kind, re.compile(form, flags=re.IGNORECASE | re.DOTALL)) for kind, form in _READ
)
_TOPIC: Final = re.compile(
    rf"(?:.*[.!?,;:]\s)?{_NOTE} {_ABOUT} (?P<text>[^.!?]+)", flags=re.IGNORECASE | re.DOTALL
)
_TOLD: Final = re.compile(
    r"(?:.*[.!?,;:]\s)?(?:i|we)(?:['’]ve| have| had)? (?:(?:once|already|just|earlier|also"
    r"|ever) )*(?:told you|said|mentioned)(?: that)?"
    r" (?P<text>[^.!?]+)",
    flags=re.IGNORECASE | re.DOTALL,
)
_UNTRUE: Final = re.compile(
    r",? (?:(?:it|that|this|which) )?(?:(?:is|was|['’]s) )?(?:wrong|old|outdated|out of date|not (?:true"
    r"|right|so)|no longer (?:true|right|so)"
    r"|untrue|nonsense|a (?:typo|mistake))(?: (?:now|any ?more))?$",
    flags=re.IGNORECASE,
)
_QUOTES: Final = " .!\"'\u201c\u201d\u2018\u2019"
_HAS_NOTE: Final = re.compile(
    rf"(?:.*\b(?:you(?:['’]ve| have)(?: got)?|you (?:still )?(?:have|say|think)|there(?:['’]s"
    rf"| is))(?: (?:still|down))? "
    rf"|(?:.*[.!?,;:]\s)?(?=the|that|this|your|my)){_NOTE}{_SAYING}(?P<text>[^.!?]+)",
    flags=re.IGNORECASE | re.DOTALL,
)
_BREAK: Final = re.compile(r"[.!?;:,]\s+|\s+(?:and|so|but)\s+")
_POINTS_BACK: Final = re.compile(r"\b(?:it|them|that|this|those|these|him|there)\b", flags=re.IGNORECASE)
_OF_IT: Final = re.compile(r"(?:it|he|she|they) |that (?:is|was|has|had)$", flags=re.IGNORECASE)
_DOING: Final = re.compile(
    r"(?:my|me) (?=\w+ing (?:the|an?|any|my|our|his|her|their|its?)\b)", flags=re.IGNORECASE
)
"""What is named by what somebody does says that they do it."""
_HERE: Final = " \n "
"""Stands where what is over was said to be."""
_HAS: Final = r"(?:['’]ve\b|\b(?:have|has|had)\b)? ?"
_DENIALS: Final[tuple[tuple[re.Pattern[str], str], ...]] = tuple(
    (re.compile(pattern, flags=re.IGNORECASE), put)
    for pattern, put in (
        (r"\b(?:no longer|no more|not)(?= \w)\s", ""),
        (r"\b(do|does)(?:n['’]?t| not) (\w+)", r"\2"),
        (r"\b(is|are|was|were|have|has|can|will)n['’]?t\b", r"\1"),
        (r",? \b(?:any ?more|any longer|these days|now)\b", ""),
        (rf"{_HAS}\b(?:stopped|quit|gave up|given up|finished|dropped)\b (?:\w+ing )?", _HERE),
        (rf"{_HAS}\b(?:cancell?ed|sold|returned|ended|scrapped)\b ", _HERE),
        (r"(?:['’]m|['’]re|\b(?:am|are|is)) (?:off|(?:done|finished|through) with) ", _HERE),
        (
            r"(?:['’]s|['’]re| is| are| was| were) (?:all )?(?:done|over|finished|gone|off|sold|history|no more)\b",
            "",
        ),
    )
)


_ONE: Final = re.compile(
    rf"{LEAD}{VERB} (?:(?:the|that|this) (?:[\w-]+ )?(?:note|entry|line|one|memory|record|bit|thing"
    r"|item|point|rule|detail|sentence)\b|(?:what|which|who|where|when|how) (?!(?:i|we|you)\b))",
    flags=re.IGNORECASE,
)


class Removal(NamedTuple):
    """What is to go. `texts`: what it says or is about, the whole first, then with less of what may be a reason.

    `rest`: what else the line says; `is_one`: whether one thing is to go, and not all that is about something. Of
    `forget_denied` the texts are what a clause denies that stands in front.
    """

    kind: Removing
    texts: tuple[str, ...]
    rest: str
    is_one: bool = False


def removal(line: str) -> Removal | None:
    """Return what a line asks to be forgotten; None where it asks for nothing of the kind."""
    for opening in openings(line):
        for kind, pattern in _FORMS:
            found = pattern.fullmatch(opening.clause)
            if found is None or not is_asked(found["lead"], opening):
                continue
            if kind != "forget_last" and opening.before and _points_back(opening.clause, found["text"]):
                return None
            if kind != "forget_last":
                if (doing := _DOING.match(found["text"])) is not None:
                    return Removal("forget_that", (f"I {found['text'][doing.end() :]}",), opening.before)
                is_one = _ONE.match(opening.clause) is not None
                return Removal(
                    kind, _shortened(found["text"]), _joined(opening.before, opening.after), is_one
                )
            return _of_last(opening)
    return None


def _points_back(clause: str, text: str) -> bool:
    """Whether what is named is told only by what stands in front: "it isn't", "that booking"."""
    is_word = " " not in text and re.search(rf"\bthat {re.escape(text)}\W*$", clause) is not None
    return is_word or not naming_stems(text) or _OF_IT.match(text) is not None


def _of_last(opening: Opening) -> Removal | None:
    """Return what "it" is: what was said in front of it in the same line, else the last thing that was told."""
    before = opening.before
    if not re.search(r"\w{2,} \w", before) or opening.after:
        return None if opening.after else Removal("forget_last", (), "")
    said = _UNTRUE.sub("", before.rstrip(" .!,;:-–—")).rstrip(" .!,;:-–—")
    if (note := _HAS_NOTE.fullmatch(said) or _TOLD.fullmatch(said)) is not None:
        return Removal("forget_that", _shortened(note["text"]), "")
    if (topic := _TOPIC.fullmatch(said)) is not None:
        return Removal("forget_about", _shortened(topic["text"]), "")
    if denied := affirmed(before):
        return Removal("forget_denied", denied, before)
    return None


def affirmed(said: str) -> tuple[str, ...]:
    """Return what a text says is over, as if it were not ("I no longer ski" → "I ski"), first with who does it.

    It is its last clause; where that says "it", the one in front. Nothing where it says no such thing.
    """
    for clause in reversed([one.strip(" .,!") for one in _BREAK.split(said) if one.strip(" .,!")]):
        now: str = clause
        for pattern, put in _DENIALS:
            now = pattern.sub(put, now)
        now = now.strip(" .,!")
        if now and now != clause and not _POINTS_BACK.search(now):
            whole, _, behind = (" ".join(part.split()) for part in now.partition(_HERE.strip(" ")))
            return (f"{whole} {behind}".strip(), behind) if behind else (whole,)
    return ()


def _shortened(text: str) -> tuple[str, ...]:
    """Return a text, and it without what stands behind its last commas, which may say why."""
    found = [text.strip(_QUOTES)]
    while "," in found[-1]:
        found.append(found[-1].rpartition(",")[0].rstrip())
    return tuple(found)


def _joined(before: str, after: str) -> str:
    return " ".join(part.strip(" ,;:–—-") for part in (before, after) if re.search(r"\w", part))
