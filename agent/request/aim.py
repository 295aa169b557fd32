"""What a line says of one memory, wherever in it: that it is over, or has another value. Pure.

Cues stand anywhere in the line. The memory is meant that shares the most words with it, of which those count most that
no other memory has. What fits two as well is of neither.
"""

import re
from collections.abc import Sequence
from math import log
from typing import Final, Generic, NamedTuple, TypeVar

from braid.agent.request.naming import LABELS, STATED, has_word, mended, naming_stems
from braid.agent.request.opening import CAN_YOU, QUESTION_MARKS
from braid.agent.request.removal import VERB
from braid.agent.request.righting import CONFIRMS
from braid.agent.request.slots import restated_in, slots, without_slots
from braid.text.calendar import MONTHS, WEEKDAYS
from braid.text.wording import denies, named
from braid.text.words import listed, stem

T = TypeVar("T")
_MOST_WORDS: Final = 26
_VERB: Final = (
    rf"(?:{VERB}|rm|del|away with|let(?=.* go\b)|(?:take|throw|cross|rub)(?=.*\b(?:out|off|away|down)\b))"
)
_MAY: Final = (
    r"(?:^|[.!?,;:()–—-]+ ?|\b(?:so|and|then|please|pls|kindly|just|now|(?:you|u) (?:can|may|could|should)"
    r"|(?:can|could|would|will) (?:you|u)|we can) )"
)
_WHOLE: Final = r"\b(?:everything|anything|both|all|the lot|whatever)\b"
_REST: Final = r"(?P<of>[^,;.!?()]*)"
_KEEP: Final = r"(?:keep|hold|hang|stor|remember|know)"
_REMOVE: Final = re.compile(
    rf"(?:{_MAY}{_VERB}|\b{_VERB}(?= {_WHOLE}))\b(?: (?:out|off|away|down|back)\b)?{_REST}", re.IGNORECASE
)
_GOES: Final = re.compile(
    r"(?P<of>\b(?!(?:i|we|you|he|she|they) )[^,;.!?()]*?) "
    r"(?:can|should|may|must|might as well|ha(?:s|ve) to|needs? to) (?:now |all )*"
    r"(?:go(?= now\b| too\b|\W*$|[,;.!)])|come (?:off|out)"
    r"|be (?:deleted|removed|scrapped|erased|forgotten|dropped|binned))",
    re.IGNORECASE,
)
_NEEDLESS: Final = re.compile(
    rf"\b(?:no (?:use|point|need|reason|sense)(?= (?:in|for|to|{_KEEP}))(?: (?:in|for|to))?|needn['’]?t"
    rf"|(?:do ?n['’]?t|no longer) need(?: to)?)(?: {_KEEP}(?:e|ing)?(?: on(?:to| to))?)?{_REST}",
    re.IGNORECASE,
)
_STATE: Final = re.compile(
    r"any ?more|any longer|no longer(?: holds?| applies)?|(?:is|are|s) (?:not|no) more|outdated|obsolete|out of date"
    r"|history\b|old news|useless|irrelevant|(?:that|it)(?:['’]?s| is) out\b|no good|given up"
    r"|(?:n['’]?t|\bnot) (?:right|true|correct|so|valid|the case)|(?:does|do)n['’]?t (?:hold|apply|count)"
    r"|(?:is|are|was|['’]s) (?:all )?wrong|(?:i|we) (?:stop|quit|stopped)|(?:['’]?s|is|are|am|['’]m|im) off the\b",
    re.IGNORECASE,
)
_IS_OVER: Final = re.compile(rf"(?P<of>[^,;.!?()]*?(?:{_STATE.pattern})[^,;.!?()]*)", re.IGNORECASE)
_OVER: Final = (_REMOVE, _GOES, _NEEDLESS, _IS_OVER)
_NEW: Final = re.compile(
    r"\b(?:now(?:adays)?|from (?:now|here|today|tomorrow|(?:next|this) (?:week|month|year|term|\w+day))(?: on)?"
    r"|as (?:of|from)|starting|these days"
    r"|instead|btw|make (?:it|that)|sho?u?l?d (?:say|be|read|have been)|ought to (?:say|be|read)|actually|my bad"
    r"|(?:i|we) (?:said|put|wrote|had|gave you|meant)|told (?:you|u)|wrong|typo|mistake|mixed|muddled|transposed"
    r"|swapped|slip|confused|mis(?:read|heard|counted|typed|took|spelt)|left off|w?h?oops|sorry|correction"
    r"|(?:put|set) (?:that|it|this) (?:right|straight)|please (?:to )?change"
    r"|(?:up ?date|alter|change|correct|fix|amend|adjust)(?: (?:that|it|this))?(?= please| pls|\W*$|,)"
    r"|(?<![\w'’] )(?:pls |please )?(?:move|push|shift|switch|bump|raise|lower)\b.* to"
    r"|(?:down|donw|back|forward|over) to|moved|changed|rescheduled|postponed|shifted|switched|bumped|new)\b",
    re.IGNORECASE,
)
_AGAIN: Final = re.compile(
    r"\b(?:again|turn(?:s|ed) out|after all|finally|at last|now|these days|got)\b", re.IGNORECASE
)
_GO: Final = r"(?:forget|delete|remove|drop|lose|change|scrap|shift|cancel|redo)"
_NOTHING: Final = re.compile(
    r"^\W*(?:if|when|once|unless|imagine|suppose|what|who|which|how|why|where|did|do(?! ?n)|does|is|isn['’]?t|are|was"
    r"|should|would(?! you)|can (?:i|we)|had|were|yes|exactly|right,|correct,)\b|\b(?:if|unless|yet|might|maybe"
    r"|perhaps|hopefully|wish|wonder|remind|imagine|suppose|would have|tbc|later|earlier|not sure|negotiating"
    rf"|(?:do ?n['’]?t|never|not|must not|mustn['’]?t) (?:let me )?{_GO}"
    r"|(?:going|want|wants|wanted|asked|asks|told|tells|needs?|have|has|got|decided|like|trying|tried|gonna|wanna)"
    rf" (?:(?:me|us|him|her|them|the \w+) )?(?:to )?{_GO}"
    r"|(?:i|we|they|he|she|who) (?:\w+ )?(?:forget|deleted|lost|dropped|removed)|\w+ forgot"
    r"|believes?|thinks?|thought|is sure|swears?|insists?|reckons?|claims?)\b",
    re.IGNORECASE,
)
"""Says that it isn't so yet, or that somebody else says or does it."""
_ALL: Final = re.compile(_WHOLE, re.IGNORECASE)
_ANY_MORE: Final = re.compile(r"\bany ?(?:more|longer)\b", re.IGNORECASE)
_IN_LAW: Final = re.compile(r"(\w+)-in-law", re.IGNORECASE)
_BESIDE: Final = re.compile(r"\b(?:since|because|as (?:i|we|he|she|they|it))\b[^,;.!?()]*", re.IGNORECASE)
_ASIDE: Final = re.compile(r"\([^)]*\)|[,;.!]\s*(?:but )?(?:keep|leave) [^,;.!]*", re.IGNORECASE)
"""What is said to stay, and what stands in brackets."""
_WHEN: Final = re.compile(
    rf"\b(?:as of|starting|beginning) (?:{'|'.join((*WEEKDAYS, *MONTHS))})\b", re.IGNORECASE
)
_OF_IT: Final = re.compile(r"\b(?:their|his|her|its|this|that) \w+", re.IGNORECASE)
_TALK: Final = frozenset(
    map(
        stem,
        listed("""
business digit figure mistake typo handwriting teh shoud everything anything both all lot whatever use no point need
afraid forgive hey update change alter correct fix amend make made put set take took moved thats new only out off since
twice what ugh oops said back again first last finally anyway count hour useless entry detail please now dont go
actually
"""),
    )
)
"""Words of speaking of what is kept, beside those of asking."""
_FEW: Final = 3
"""Fewer words that no memory has may stand beside one that points."""
_MARGIN: Final = 0.3
"""By so much the memory that is meant shares more than any other."""
_VALUE: Final = 0.5
"""What a value counts that both have, beside a word."""


class Aimed(NamedTuple, Generic[T]):
    """What is said of which memories: that they go, or what the one reads. `is_all`: whether they go together;
    `is_asked`: whether the line asks for it, and doesn't only say how things are."""

    found: tuple[T, ...]
    text: str | None = None
    is_all: bool = False
    is_asked: bool = False


class _Near(NamedTuple, Generic[T]):
    """A memory, what it has of a line's words and values ("=9"), and what that counts."""

    one: T
    text: str
    shared: frozenset[str]
    score: float

    @property
    def words(self) -> frozenset[str]:
        return frozenset(word for word in self.shared if word[0] != "=")

    @property
    def is_mostly_said(self) -> bool:
        """Whether it says little beside what the line does."""
        return 4 * len(self.shared) >= len(_naming(self.text))


def may_aim(line: str) -> bool:
    """Whether a line may say something of a memory: it has a cue or a value, and none that it isn't so."""
    asks = any(mark in line for mark in QUESTION_MARKS) and not CAN_YOU.search(line)
    if asks or len(line.split()) > _MOST_WORDS or _NOTHING.search(line) or CONFIRMS.match(line):
        return False
    return bool(slots(line)) or any(cue.search(line) for cue in (*_OVER, _NEW, _AGAIN))


def aimed(line: str, near: Sequence[tuple[T, str]]) -> Aimed[T] | None:
    """Return what a line says of one of some memories, or of several that can't be told apart; None where of none."""
    if not may_aim(line):
        return None
    line = mended(_WHEN.sub(" now ", _ASIDE.sub(" ", line)), [text for _, text in near])
    rated = _rated(line, near)
    return _changed(line, rated) or _gone(line, rated)


def _naming(text: str) -> frozenset[str]:
    return naming_stems(_IN_LAW.sub(r"inlaw\1", without_slots(text))) - _TALK


def _values(text: str) -> frozenset[str]:
    return frozenset(f"={one.same}" for one in slots(text))


def _rated(line: str, near: Sequence[tuple[T, str]]) -> list[_Near[T]]:
    own = [(_naming(text), _values(text)) for _, text in near]
    having = {word: {at for at, one in enumerate(own) if has_word(one[0], word)} for word in _naming(line)}
    having |= {value: {at for at, one in enumerate(own) if value in one[1]} for value in _values(line)}
    weight = {
        word: log(1 + len(own) / len(at)) * (_VALUE if word[0] == "=" else 1)
        for word, at in having.items()
        if at
    }
    shared = [frozenset(word for word in weight if at in having[word]) for at in range(len(own))]
    return [
        _Near(one, text, shared[at], sum(weight[word] for word in shared[at]))
        for at, (one, text) in enumerate(near)
    ]


def _best(rated: Sequence[_Near[T]], among: Sequence[_Near[T]]) -> list[_Near[T]]:
    """Return those of some memories that share the most; none where another shares more."""
    most = max((one.score for one in among), default=0)
    if any(one.score > most + _MARGIN for one in rated):
        return []
    return [one for one in among if one.score > most - _MARGIN]


def _changed(line: str, rated: Sequence[_Near[T]]) -> Aimed[T] | None:
    texts = {one.text: new for one in rated if (new := restated_in(one.text, line)) is not None}
    best = _best(rated, [one for one in rated if one.text in texts and not denies(one.text)])
    if len(best) != 1 or not best[0].words or not best[0].is_mostly_said:
        return None
    one = best[0]
    unknown = {word for word in _naming(_NEW.sub(" ", line)) if not has_word(one.words, word)} - LABELS
    is_cued = _NEW.search(line) is not None or _IS_OVER.search(line) is not None
    says_old = not one.shared - one.words <= _values(texts[one.text])
    if any(stem(word) in unknown for word in named(line)):  # of somebody else
        return None
    if not (says_old or len(unknown) <= len(one.shared) if is_cued else not unknown and len(one.words) > 1):
        return None
    return Aimed((one.one,), texts[one.text])


def _gone(line: str, rated: Sequence[_Near[T]]) -> Aimed[T] | None:
    bare = _BESIDE.sub(" ", line)
    cues = [(found, _wanted(found)) for form in _OVER for found in form.finditer(bare)]
    unknown = _naming(line) - frozenset[str]().union(*(one.shared for one in rated))
    for cue, wanted in sorted(cues, key=lambda one: not one[1] - LABELS):
        is_asked, is_all = cue.re is not _IS_OVER, _ALL.search(cue[0]) is not None
        says_so = denies(cue["of"]) or STATED.match(cue["of"]) is not None
        alike = [one for one in rated if not (is_asked and says_so) or denies(one.text) == denies(cue["of"])]
        if wanted - LABELS:
            most = 0 if is_asked else len(wanted) // 3
            fitting = [one for one in alike if len(wanted - one.shared - LABELS) <= most]
        else:
            fitting = [
                one
                for one in alike
                if _is_pointed_to(one, rated, is_all=is_all, is_enough=len(unknown) < _FEW)
            ]
        if not is_asked or not wanted - LABELS:
            fitting = [
                one for one in fitting if one.is_mostly_said and (is_all or len(one.shared) > 1 or not wanted)
            ]
        if is_all and fitting:
            return _together(fitting)
        best = _best(rated, fitting)
        if len(best) == 1 or (best and is_asked):
            return Aimed(tuple(one.one for one in best), is_asked=is_asked)
    return None if cues else _denied(line, rated)


def _wanted(cue: re.Match[str]) -> frozenset[str]:
    """Return what a cue names that goes: its words, and where it is asked for, its values."""
    of = _ANY_MORE.split(cue["of"])[0] if cue.re is _NEEDLESS else cue["of"]
    of = _OF_IT.sub(" ", _STATE.sub(" ", of))
    return _naming(of) | (_values(of) if cue.re is not _IS_OVER else frozenset[str]())


def _is_pointed_to(one: _Near[T], rated: Sequence[_Near[T]], *, is_all: bool, is_enough: bool) -> bool:
    """Whether "that", with what else the line says, may be a memory: by two words, or by one that no other has."""
    is_only = any(sum(word in other.shared for other in rated) == 1 for word in one.shared)
    return len(one.shared) > 1 or (is_all and bool(one.shared)) or (is_only and is_enough)


def _together(fitting: Sequence[_Near[T]]) -> Aimed[T] | None:
    """Return all that have the word which tells most of the best one: "bin everything on Hargreaves"."""
    best = max(fitting, key=lambda one: one.score)
    if not best.words:
        return None
    word = min(best.words, key=lambda word: (sum(word in one.shared for one in fitting), word))
    meant = {word} | (best.shared - best.words)  # of "14 Elm Road" not 22 Elm Road
    return Aimed(tuple(one.one for one in fitting if meant <= one.shared), is_all=True, is_asked=True)


def _denied(line: str, rated: Sequence[_Near[T]]) -> Aimed[T] | None:
    """Return the one memory that says it isn't so: "momo is allowed fish again"."""
    if denies(line) or not _AGAIN.search(line):
        return None
    best = _best(
        rated,
        [
            one
            for one in rated
            if denies(one.text)
            and len(one.shared) > 1
            and _values(one.text) <= one.shared
            and 3 * len(one.words) >= 2 * len(_naming(one.text))
        ],
    )
    return Aimed((best[0].one,)) if len(best) == 1 else None
