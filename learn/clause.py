"""A clause taken apart: who, in which tense, denied or not, which verb, and the words behind it. Pure."""

import re
from typing import Final, Literal, NamedTuple

from braid.learn.words import (
    ADVERBS,
    CAN,
    HEDGES,
    KIN,
    MODALS,
    NAME,
    NOT_NAMES,
    PARTICIPLES,
    PETS,
    VERBS,
    listed,
)
from braid.text.calendar import MONTH_NAME, WEEKDAY_NAME
from braid.text.numbers import COUNT

Tense = Literal["present", "past", "perfect", "future", "intended", "used", "can", "modal"]

_SHORT: Final = re.compile(
    (
        r"\b(?P<word>\w+)'(?P<end>m|ve|re|ll|d|s|t)\b(?P<next>\s+\w+)?|\b(?P<slack>im|ive|dont|doesnt"
        r"|didnt|isnt|wasnt|havent|cant|gonna|wanna|gotta|cannot)\b"
    ),
    flags=re.IGNORECASE,
)
_ENDS: Final = {"m": "am", "ve": "have", "re": "are", "ll": "will"}
_SLACK: Final = {
    "im": "i am", "ive": "i have", "dont": "do not", "doesnt": "does not", "didnt": "did not", "isnt": "is not",
    "wasnt": "was not", "havent": "have not", "cant": "can not", "gonna": "going to", "wanna": "want to",
    "gotta": "have to", "cannot": "can not",
}  # fmt: skip
_THEY: Final = listed("he she it that who there what here")
_NOTS: Final = {"can": "can not", "won": "will not", "shan": "shall not", "ain": "am not"}
_OF_HAVE: Final = PARTICIPLES - {"called", "named", "married", "broken"} | frozenset(
    ("had", "never", "always")
)
_OPENING: Final = re.compile(
    r"^(?:(?:hi|hello|hey|yes|yeah|yep|yup|no(?=[,.!])|nope|oh|ah|well|ok|okay|so|and|but|also"
    r"|plus|anyway|actually|btw|by the way"
    r"|to be honest|tbh|honestly|in fact|of course|sure|right|haha|ha|lol|wow|thanks|thank you"
    r"|sorry|guess what"
    r"|note that|remember that|fyi|for the record|for context|turns out(?: that)?|it turns out(?: "
    r"that)?|just so you know"
    r"|one thing|good news|bad news|fun fact|well then|these days|nowadays|at the moment|right "
    r"now|now|currently"
    r"|recently|lately|for now|today|yesterday|finally|luckily|sadly|unfortunately|as for me|me too|same here"
    rf"|since then|last (?:week|month|year|night|weekend|summer|winter|spring|{WEEKDAY_NAME}|mon|tues?"
    r"|wed|thurs?|fri|sat|sun)"
    rf"|(?:this|next) (?:week|month|year|weekend|summer|morning|{WEEKDAY_NAME})"
    rf"|{COUNT} (?:days?|weeks?|months?|years?) ago|on {WEEKDAY_NAME}|in (?:19|20)\d\d|in {MONTH_NAME}"
    r"|after that|then|first of all|my friend|dude|man|girl|bro|besides (?:that)?|speaking of "
    r"which|as you know"
    r"|like i said|as i said|the thing is|the truth is|omg|ugh|hmm|hm|um|great|cool|awesome"
    r"|amazing|exactly|absolutely"
    r"|definitely|totally|great question|good question)\b(?:[,.!…-]+\s*|\s+))+",
    flags=re.IGNORECASE,
)
_SETTING: Final = re.compile(
    (
        r"^(?:on|in|at|after|during|over|since|before|for|with"
        r"|about)\s(?:[\w'-]+\s){1,6}?,?\s?(?=(?:i|we|my)\s)|^(?:on|in|at|after|during|over"
        r"|as)\s[^,]{2,40},\s(?=(?:i|we|my|she|he)\s)"
    ),
    flags=re.IGNORECASE,
)
_HEDGED: Final = re.compile(
    r"^(?P<hedge>i(?: really| still| just)? (?:think|guess|believe|suppose|reckon|assume|imagine"
    r"|heard|hear|feel like)|i am (?:pretty|fairly|quite|not entirely|not quite|almost) sure"
    r"|it (?:seems|looks like|appears)|as far as i know|if i remember (?:right|rightly|correctly"
    r"|well)|maybe|perhaps|probably"
    r"|apparently|supposedly|allegedly|possibly|rumour has it|i am not sure but)[,]?(?: that)? +",
    flags=re.IGNORECASE,
)
_ROLE: Final = "|".join(sorted(map(re.escape, KIN.keys() | PETS), key=len, reverse=True))
_SUBJECT: Final = re.compile(
    rf"^(?:(?P<first>i|we|me and my \w+|my \w+ and i|(?:my (?:{_ROLE}) )?(?P<with>[A-Z]\w+) and i)(?![\w'])"
    rf"|(?P<pronoun>he|she)(?![\w'])"
    rf"|(?P<parent>(?-i:Mum|Mom|Dad|Grandma|Grandpa|Gran))(?=\s|'s )"
    rf"|(?:my|our) (?:(?:own|older|younger|elder|little|big|eldest|oldest|youngest|new|old|dear"
    rf"|lovely|poor|late|other|baby|twin) )*"
    rf"(?P<role>{_ROLE})(?:,? (?P<called>{NAME}))?(?P<also> and (?-i:[A-Z])\w+)?,?(?=\s|'s )"
    rf"|(?P<name>(?-i:[A-ZÀ-Þ][\w-]+(?: [A-ZÀ-Þ][\w-]+)?))(?=\s|'s ))",
    flags=re.IGNORECASE,
)
_BE: Final = {
    "am": "present",
    "is": "present",
    "are": "present",
    "was": "past",
    "were": "past",
    "'s": "present",
    "be": "present",
}
_STEPS: Final = 9


class Subject(NamedTuple):
    """Who a clause is about, as it is said: the first person (`name`: and who else), a pronoun, a role, or a name."""

    first: bool = False
    pronoun: str = ""
    role: str = ""
    name: str = ""
    plural: bool = False
    """More than the speaker alone: we."""


class Clause(NamedTuple):
    """A clause taken apart. `rest` stands behind the verb; `ended`: "no longer", "any more"."""

    subject: Subject
    verb: str
    form: str
    """The verb as it stands there."""
    tense: Tense
    progressive: bool
    denied: bool
    ended: bool
    hedge: str | None
    rest: str


def expanded(text: str) -> str:
    """Return a clause with its contractions written out."""
    return _SHORT.sub(_full, text)


def _full(match: re.Match[str]) -> str:
    if match["slack"]:
        return _SLACK[match["slack"].lower()]
    word, end, behind = match["word"], match["end"].lower(), match["next"] or ""
    following = behind.strip().lower()
    if end in _ENDS:
        return f"{word} {_ENDS[end]}{behind}"
    if end == "t" and word[-1:] in "nN":
        return f"{_NOTS.get(word.lower(), f'{word[:-1]} not')}{behind}"
    if end == "d":
        had = following in ("been", "had", "gone", "never") or (
            following.endswith("ed") and following in PARTICIPLES
        )
        return f"{word} {'had' if had else 'would'}{behind}"
    if end == "s" and word.lower() in _THEY:
        return f"{word} {'has' if following in _OF_HAVE else 'is'}{behind}"
    return match[0]


def opened(text: str) -> tuple[str, str | None]:
    """Return a clause without its opening words, and the words that hedge it."""
    text = _FOUND.sub("", _SETTING.sub("", _OPENING.sub("", text, count=1), count=1), count=1)
    match = _HEDGED.match(text)
    if match is None:
        return text, None
    return _OPENING.sub("", text[match.end() :], count=1), match["hedge"]


_FOUND: Final = re.compile(
    r"^i (?:have )?(?:just |recently |also |only |actually )*(?:found out|learned|learnt|discovered|realised"
    r"|realized|figured out)"
    r"(?: recently| today| yesterday| last (?:week|month|year))?(?: that)? (?=(?:i|my|we) )",
    flags=re.IGNORECASE,
)
_LEFT_OUT: Final = (
    (re.compile(r"(?:\w+ly |just |also )*been (?=\w+ing\b)", flags=re.IGNORECASE), "i have "),
    (
        re.compile(
            r"(?:\w+ly |just |also )*(?:moved|got|went|started|adopted|bought|joined|visited|finished|passed"
            r"|signed|took|made|ran"
            r"|had|won|met|attended|graduated|quit|left|broke|tried|watched) (?=\w)",
            flags=re.IGNORECASE,
        ),
        "i ",
    ),
    (
        re.compile(
            r"(?:still |currently |also |now )*(?:living|working|studying|learning|volunteering|moving|going"
            r"|heading|flying|travell?ing"
            r"|visiting|planning|training|getting|off to) (?=\w)",
            flags=re.IGNORECASE,
        ),
        "i am ",
    ),
)
_FINITE: Final = re.compile(
    r"\b(?:is|was|are|were|has|can|will|would|makes|made|helps|helped|gives|gave|feels|felt|sounds|must|seems"
    r"|takes|keeps"
    r"|lets|brings|means)\b",
    flags=re.IGNORECASE,
)


def with_subject(text: str) -> str:
    """Return a clause that leaves out its "I" with it: `Been living in Hull since 2020`; any other as it is."""
    for pattern, before in _LEFT_OUT:
        match = pattern.match(text)
        if match is not None and not _FINITE.search(text, match.end()):
            return f"{before}{text[0].lower()}{text[1:]}"
    return text


def subject_of(text: str) -> tuple[Subject, str] | None:
    """Return who a clause begins with, and what follows; None where it begins with anything else."""
    match = _SUBJECT.match(text)
    if match is None:
        return None
    if match["name"] or match["role"]:
        subject = _named(match)
    elif match["first"]:
        subject = Subject(first=True, plural=match["first"].lower() != "i", name=match["with"] or "")
    else:
        subject = Subject(pronoun=(match["pronoun"] or "").lower(), role=(match["parent"] or "").lower())
    return None if subject is None else (subject, text[match.end() :].lstrip(" ,"))


def _named(match: re.Match[str]) -> Subject | None:
    """Return a subject that is a name, or a role of the speaker's; None for a word that only looks like a name."""
    if match["role"]:
        called = match["called"] or ""
        return None if match["also"] else Subject(role=match["role"].lower(), name=called)
    words = match["name"].split()
    if words[0] in NOT_NAMES:
        return None
    return Subject(name=" ".join(word for word in words if word not in NOT_NAMES))


class _Group:
    """The words before a main verb, taken in one by one: auxiliaries, denials, hedges, adverbs."""

    def __init__(self, words: list[str], hedge: str | None) -> None:
        self.words = words
        self.hedge = hedge
        self.tense: Tense = "present"
        self.denied = self.ended = self.be = self.have = self.used = False

    def takes(self, at: int) -> bool:
        """Whether the word at this place is one of the group; if so, it is taken in."""
        low = self.words[at].lower().strip(",")
        following = self.words[at + 1].lower().strip(",.!") if at + 1 < len(self.words) else ""
        return (
            self._softens(low, following)
            or self._helps(low, following, at)
            or self._is_in(low, following, at)
        )

    def _softens(self, low: str, following: str) -> bool:
        if low in ("not", "never"):
            self.denied = True
        elif low in HEDGES:
            self.hedge = self.hedge or low
        elif low == "no" and following == "longer":
            self.denied = self.ended = True
        else:
            return (low == "longer" and self.ended) or (
                low in ADVERBS and not (self.be and low in ("all", "both", "only"))
            )
        return True

    def _helps(self, low: str, following: str, at: int) -> bool:
        """Take in what says the tense."""
        if low in _HELPERS:
            self.tense = _HELPERS[low]
        elif low == "used" and following == "to":
            self.used = True
        elif low == "going" and following == "to" and self.be and _is_verb_next(self.words, at + 2):
            self.tense = "intended"
        elif low in ("do", "does", "did") and (
            following == "not" or following in VERBS or following in ADVERBS
        ):
            self.tense = "past" if low == "did" else self.tense
        else:
            return low == "to" and (self.used or self.tense == "intended")
        return True

    def _is_in(self, low: str, following: str, at: int) -> bool:
        """Take in forms of "be" and "have" that aren't the main verb."""
        if low in ("have", "has", "had") and not self.be and _is_perfect(self.words, at + 1):
            self.have = True
            self.tense = "perfect" if self.tense == "present" else self.tense
        elif low in _BE and not self.be and not self.have:
            self.be = True
            if self.tense == "present" and _BE[low] == "past":
                self.tense = "past"
        elif low == "been" and self.have:
            self.be = True
        else:
            return False
        return True


def predicate(subject: Subject, text: str, hedge: str | None) -> Clause | None:
    """Return the clause whose subject is known, by its verb group; None where no known verb is found."""
    words = text.split()
    group = _Group(words, hedge)
    for at in range(min(len(words), _STEPS)):
        if not group.takes(at):
            return _found(subject, group, at)
    return None


def _found(subject: Subject, group: _Group, at: int) -> Clause | None:
    """Return the clause whose main verb, or what stands behind "be", is at this place."""
    words, tense = group.words, group.tense
    be = group.be and tense != "intended"
    form = words[at].lower().strip(",.!")
    lemma = VERBS.get(form)
    progressive = be and form.endswith("ing") and lemma is not None
    passive = be and lemma in _PASSIVES and form in PARTICIPLES and form != "married"
    rest = " ".join(words[at + 1 :])
    if be and not progressive and not passive:
        lemma, form, rest = "be", "be", " ".join(words[at:])
    elif lemma is None and tense != "intended":
        return None
    if group.used:
        tense = "used"
    elif not be and tense == "present" and not group.denied and _is_past(form, lemma):
        tense = "past"
    ended = group.ended or (group.denied and _ENDED.search(rest) is not None)
    return Clause(subject, lemma or form, form, tense, progressive, group.denied, ended, group.hedge, rest)


_ENDED: Final = re.compile(r"\b(?:any ?more|any longer)\b", flags=re.IGNORECASE)
_HELPERS: Final[dict[str, Tense]] = {
    **dict[str, Tense].fromkeys(CAN, "can"),
    **dict[str, Tense].fromkeys(MODALS, "modal"),
    "will": "future",
}


def _is_past(form: str, lemma: str | None) -> bool:
    """Whether a form is past where no auxiliary says so; a participle may stand for it."""
    return form in _ALIKE or (lemma != form and (form in PARTICIPLES or form in _PASTS))


_PASSIVES: Final = listed("diagnose promote name call bear be marry")


_ALIKE: Final = frozenset(("quit",))
"""Verbs whose past is as their present; nobody says that they habitually do it."""


_PASTS: Final = listed(
    "ate drank drove rode spoke went flew won ran took broke grew began sprained fractured proposed "
    "dislike diagnosed promoted saw did moved"
)


def _is_verb_next(words: list[str], at: int) -> bool:
    return (
        at < len(words)
        and words[at][:1].islower()
        and words[at].lower().strip(",.!") not in ("the", "a", "an", "my", "our", "bed", "work", "school")
    )


def _is_perfect(words: list[str], at: int) -> bool:
    """Whether "have" at the place before is an auxiliary: a participle follows, adverbs passed over."""
    for word in words[at : at + 4]:
        low = word.lower().strip(",.!")
        if low in PARTICIPLES:
            return True
        if low not in ADVERBS and low not in ("not", "never", *HEDGES):
            return False
    return False
