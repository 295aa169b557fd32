"""Whether what a verb says is whole, and says something to those who weren't there. Pure."""

from typing import Final

from braid.learn.parse.clauses import Clause
from braid.learn.parse.people import Whom
from braid.learn.parse.phrases import words_of
from braid.learn.parse.sorts import is_empty
from braid.text.words import listed

SAYS_NOTHING: Final = listed(
    "be know mean guess thank hope see hear say tell think wonder ask believe suppose bet agree forget "
    "remember wait let seem "
    "look sound appear try need understand matter happen talk chat call appreciate welcome excuse "
    "apologise apologize promise "
    "swear joke kid worry care mind stand wish want like love enjoy hate prefer go come get have do "
    "stay keep can't check "
    "feel find imagine fancy please depend"
)
"""Verbs that state nothing of their own without a noun behind them."""
_BARE: Final = listed(
    "quit resign retire graduate divorce relocate separate smoke vape drink drive swim read watch finish"
)
"""Deeds that need no object."""
GOALS: Final = frozenset(("want", "hope", "aim", "dream", "wish", "aspire"))
PLANS: Final = frozenset(("go", "plan", "intend", "decide", "arrange", "agree", "mean", "prepare", "expect"))
_SEEMS: Final = listed(
    "look sound seem feel smell taste show highlight add help make bring mean remind represent stand"
)
"""What a thing does in somebody's eyes."""
_WELL: Final = frozenset(("great", "well", "fine", "good", "okay", "ok", "brilliantly", "swimmingly"))
_OF_DEED: Final = frozenset(("dobj", "prep", "advmod", "nummod", "npadvmod", "attr"))
_RUN_ON: Final = 20
"""So many words without a mark among them are speech as it was heard: what stands behind may be another sentence."""
_NEAR: Final = 8
YOURS: Final = frozenset(("you", "your", "yours", "yourself", "u", "ur"))


def is_worth_saying(clause: Clause, who: Whom, first: int, last: int) -> bool:
    """Whether a clause says something about its subject to those who weren't there."""
    parse, lemma = clause.parse, clause.token.lemma.lower()
    if (clause.child("xcomp") is not None and _is_only_lead(clause, lemma)) or _only_sets_out(clause):
        return False
    is_beside = who.sort == "person" and any(
        name in ("with", "for") and parse.tokens[at].text.lower() in ("me", "us")
        for name, _, at in clause.preps()
    )  # my aunt is staying with us
    if not is_telling(clause, first, last) and not is_beside and not (clause.no_more and who.sort != "first"):
        return False
    has_object = any(token.pos in ("NOUN", "PROPN", "NUM") for token in parse.tokens[first + 1 : last + 1])
    has_object = (
        has_object
        or gap_of(clause) is not None
        or clause.child("dobj", "prep", "xcomp", "prt", "ccomp", "acomp") is not None
    )
    if lemma in SAYS_NOTHING and not has_object and not (clause.progressive and who.sort != "first"):
        return False
    if who.sort == "thing":
        return True
    if who.sort == "first" and not has_object and not _says_all(clause):
        return False
    at = clause.child("dobj")
    return at is None or not is_empty(parse, at) or clause.child("prep", "xcomp", "ccomp") is not None


def is_general(clause: Clause) -> bool:
    """Whether a clause speaks of a kind, not of one thing: pets are awesome. Numbers and names make it one."""
    if clause.subject is None:
        return True
    parse = clause.parse
    first, last = clause.said
    if any(
        token.pos in ("NUM", "PROPN") or token.text.lower() in ("me", "my", "us")
        for token in parse.tokens[first + 1 : last + 1]
    ):
        return False
    is_bare = parse.child(clause.subject, "det", "poss", "nummod") is None
    return parse.tokens[clause.subject].pos != "PROPN" and is_bare


def _says_all(clause: Clause) -> bool:
    """Whether a verb says something without a noun: I quit, I don't drink, I'm left-handed."""
    low = clause.token.lemma.lower()
    if low in _BARE or (clause.passive and "-" in clause.token.text):
        return True
    subject = clause.parse.tokens[clause.subject or 0]
    is_main = clause.token.dep in ("ROOT", "conj", "ccomp") and subject.start < subject.stop
    return (
        is_main
        and low not in SAYS_NOTHING
        and any(child > clause.verb for child in clause.parse.children(clause.verb, "advmod", "npadvmod"))
    )


def is_telling(clause: Clause, first: int, last: int) -> bool:
    """Whether words say something to those who weren't there: not "you", not only pronouns."""
    words = words_of(clause.parse, first, last)
    if any(token.text.lower() in YOURS for token in words):
        return False
    nouns = [
        token
        for token in words[1:]
        if token.pos in ("NOUN", "PROPN", "NUM", "ADJ") or (token.pos in ("VERB", "ADV") and len(words) > 2)
    ]
    return bool(nouns) or len(words) <= 2


def is_pep_talk(clause: Clause, who: Whom) -> bool:
    """We'll keep going; I'll do my best; the colours look great: nobody knows more for it."""
    tokens, lemma = clause.parse.tokens, clause.token.lemma.lower()
    behind = {token.lemma.lower() for token in tokens[clause.verb + 1 :]}
    if clause.mode == "planned" and who.sort == "first":
        return lemma in ("keep", "see", "try") or (lemma == "do" and "best" in behind)
    own = any(
        token.text.lower() in ("me", "my", "us", "our") or token.pos in ("NUM", "PROPN")
        for token in tokens[clause.verb + 1 :]
    )
    goes_well = lemma == "go" and tokens[clause.said[1]].text.lower() in _WELL
    return who.sort == "thing" and clause.tense == "present" and (goes_well or (lemma in _SEEMS and not own))


def is_considered(clause: Clause, who: Whom) -> bool:
    """I'm thinking about starting a project: not yet a plan, and said as it is."""
    tokens = clause.parse.tokens
    deeds = any(name in ("about", "of") and tokens[at].tag == "VBG" for name, _, at in clause.preps())
    return clause.token.tag == "VBG" and clause.token.lemma == "think" and who.sort != "thing" and deeds


def is_elliptic(clause: Clause) -> bool:
    """Whether "did" stands for another verb, or for what was said: Yvonne did, my wife; I do both."""
    if clause.token.lemma != "do":
        return False
    tokens, verb = clause.parse.tokens, clause.verb
    behind = [
        tokens[one] for one in clause.parse.children(verb) if one > verb and tokens[one].dep in _OF_DEED
    ]
    said = [
        one
        for one in behind
        if one.text.lower() not in ("both", "neither", "it", "this", "that", "so", "them")
    ]
    is_loose = clause.token.tag == "VB" and clause.token.dep == "conj"
    return not said or is_loose or tokens[verb + 1].text == ","


def _only_sets_out(clause: Clause) -> bool:
    """Whether the verb only says that somebody sets out for the deed that is told next: I went out and got a copy."""
    behind = clause.parse.tokens[clause.verb + 1 : clause.verb + 3]
    return (
        clause.token.lemma == "go"
        and len(behind) == 2
        and behind[0].text.lower() in ("out", "ahead", "back", "off", "over", "up", "down")
        and behind[1].text.lower() == "and"
    )


def _is_only_lead(clause: Clause, lemma: str) -> bool:
    """Whether the verb only leads to the one that it governs, which is read for itself: want to, used to, have to."""
    if lemma in ("have", "need"):
        return clause.tense not in ("past", "perfect")
    if (
        lemma == "try" and clause.tense == "past"
    ):  # tried to quit sugar: that was done, whether or not it was quit
        first, last = clause.said
        return not any(
            one.pos in ("NOUN", "PROPN", "NUM") for one in clause.parse.tokens[first + 1 : last + 1]
        )
    return lemma in GOALS | PLANS | {"seem", "be", "try"} or clause.lemma == "used"


def is_cut(clause: Clause, who: Whom, first: int, last: int) -> bool:
    """Whether what a verb says lacks its end, or runs into what was said next: what we believe in; I counted."""
    tokens = clause.parse.tokens
    end = tokens[last]
    if end.pos == "ADP" and end.dep == "prep" and gap_of(clause) is None and not clause.parse.children(last):
        return True
    if who.sort == "first" and first == last and not _says_all(clause):
        return True
    heard = len(tokens) > _RUN_ON and not any(token.pos == "PUNCT" for token in tokens[:-1])
    return heard and last - first > _NEAR


def gap_of(clause: Clause) -> int | None:
    """Return what a relative clause is about, where it is its object: these figurines I bought yesterday."""
    token = clause.token
    if (
        token.dep != "relcl"
        or clause.subject == token.head
        or clause.child("dobj") is not None
        or clause.passive
        or any(one.tag == "WRB" for one in clause.around())
    ):
        return None
    head = clause.parse.tokens[token.head]
    named = head.pos in ("NOUN", "PROPN") and head.lemma not in ("way", "reason", "time", "moment")
    return token.head if named else None
