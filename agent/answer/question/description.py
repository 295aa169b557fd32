"""Somebody or something described by a clause: "the flat that we took", "the neighbour upstairs"; and how that is asked
for. Pure, by rules, in English; what no rule reads is left alone.
"""

import re
from typing import Final

import msgspec

from braid.text.verbs import base, is_base, is_past
from braid.text.words import STOP, listed

PERSONS: Final = (
    "sister|brother|mother|mum|mom|father|dad|son|daughter|niece|nephew|aunt|uncle|cousin|grandmother|grandfather"
    "|wife|husband|partner|girlfriend|boyfriend|fiancée|fiancé|boss|manager|colleague|friend|neighbour|neighbor"
    "|landlord|landlady|doctor|dentist|teacher|coach|tutor|flatmate|roommate|best man|best woman|lawyer|supplier"
    "|customer|client|tenant|owner|employer|trainer|therapist|ex|person"
)
OTHERS: Final = (
    "man|woman|guy|lady|girl|boy|guest|one|couple|student|nurse|plumber|builder|baker|driver|singer|player"
)
_PEOPLE: Final = frozenset(f"{PERSONS}|{OTHERS}".split("|"))
_HEAD: Final = (
    r"(?:the|my|our|his|her|their) (?:(?!that\b|which\b|who\b|where\b)[\w-]+ ){0,2}?(?P<head>[a-zéè]+)"
)
_RELATIVE: Final = re.compile(
    rf"\b{_HEAD},? (?:(?P<rel>that|which|whom|whose|who|where|(?:in|at|on|from|for|with) (?:which|whom)) "
    r"|(?=(?:I|we|he|she|they|[A-Z][a-z]+) [a-z]+))(?P<clause>.+)"
)
_WHERE: Final = (
    r"upstairs|downstairs|next door|opposite|across the [a-z]+"
    r"|(?:from|at|on|with|in) (?:(?:the|my|our) )?(?:[A-Z][\w-]+(?: [A-Z][\w-]+)*"
    r"|[a-z]+(?: (?:club|shop|school|office|station|team|market|company|hall|house))?)"
)
_ROLE: Final = re.compile(
    rf"\b(?P<whole>(?P<np>the (?:[a-z]+ )??(?P<head>{PERSONS}|{OTHERS}) (?:{_WHERE}))(?P<own>['’]s)?)(?=[ ?,.]|$)"
)
_DO: Final = listed("do does did has have had will would can could should may might must")
_BE: Final = frozenset(["is", "are", "was", "were"])
_CALLED: Final = re.compile(
    r" (?P<tail>(?:called|named|like|worth|doing|made of|known for|allergic to|born|married|based|from)(?: .*)?)$"
)
_IDENTITY: Final = re.compile(
    r"\s*(?:and |so )?(?:who|what|which)(?:(?:['’]s| is| are| was| were)|(?: \w+){1,2} (?:is|was|are|were))"
    r"(?: the name of| called)?\s*",
    re.IGNORECASE,
)
_SUBJECT: Final = re.compile(
    r"(?P<who>I|we|you|he|she|they|it|(?:my|our|his|her|their|the) [a-z]+|[A-Z][\w’'-]*(?: [A-Z][\w’'-]*)*)"
    r" (?:(?P<aux>have|has|had|was|were|is|are|will|would|can|could) )?(?P<verb>[a-z]+)(?P<rest>.*)"
)
_PLURAL: Final = frozenset(("I", "we", "you", "they"))
_STANDING: Final = (
    (re.compile(r"\babove (?:me|us|mine|ours)\b"), "upstairs from me"),
    (re.compile(r"\b(?:below|beneath|under(?:neath)?) (?:me|us|mine|ours)\b"), "downstairs from me"),
    (re.compile(r"\b(?:next|beside) (?:to )?(?:me|us)\b"), "next door to me"),
)
"""Where somebody lives, as those put it who live below."""
_LEAST_WORDS: Final = 2


class Described(msgspec.Struct, frozen=True):
    """Where a description stands in a question, and the question that asks what it describes."""

    start: int
    stop: int
    asks: str
    own: str = ""
    """The ending of one that owns what follows."""


def described(text: str) -> Described | None:
    """Return the first description in a question that is more than what is asked for; None without one."""
    return next((found for read in (_relative, _role) if (found := read(text)) is not None), None)


def _role(text: str) -> Described | None:
    found = _ROLE.search(text)
    if found is None or _is_asked(text[: found.start()], text[found.end() :]):
        return None
    return Described(found.start(), found.end(), f"Who is {found['np']}?", found["own"] or "")


def _relative(text: str) -> Described | None:
    bare = text.rstrip(" ?.!")
    found = _RELATIVE.search(bare)
    if found is None or found["head"] in STOP:
        return None
    before = bare[: found.start()].rstrip()
    clause = found["clause"][: _ends(before, found["clause"])].rstrip(" ,")
    stop = found.start("clause") + len(clause)
    if len(clause.split()) < _LEAST_WORDS or _is_asked(before, bare[stop:]):
        return None
    return Described(found.start(), stop, _asks(found["head"], found["rel"] or "", _standing(clause)))


def _is_asked(before: str, behind: str) -> bool:
    """Whether a question asks for just what is described: "Who is the man who sold the van?"."""
    return _IDENTITY.fullmatch(before) is not None and not behind.strip(" ?.!")


def _ends(before: str, clause: str) -> int:
    """Return where a clause ends: with the question, but where the question's own verb stands behind it.

    That is so where "does" or "did" stands before what is described: "Where does the man who sold the van live?".
    """
    last = before.rpartition(" ")[2].lower()
    if last in _BE and (called := _CALLED.search(clause)) is not None:
        return called.start()
    if last not in _DO:
        return len(clause)
    places = [match for match in re.finditer(r"[a-z]+", clause) if is_base(match[0])]
    for match in reversed(places):
        ahead = clause[: match.start()].split()
        if len(ahead) >= _LEAST_WORDS and ahead[-1] not in ("to", "the", "a", "my", "I", "we", "they", "you"):
            return match.start()
    return len(clause)


def _standing(clause: str) -> str:
    for pattern, put in _STANDING:
        clause = pattern.sub(put, clause)
    return clause


def _asks(head: str, rel: str, clause: str) -> str:
    """Return the question for what a clause describes."""
    if rel == "whose":
        noun, _, rest = clause.partition(" ")
        lead = f"Whose {noun}" if head in _PEOPLE else f"Which {head}'s {noun}"
        return _question(lead, rest)
    if head in _PEOPLE:
        return _question(_with(rel, "who"), clause)
    return _question(_with("in" if rel == "where" else rel, f"which {head}"), clause)


def _with(rel: str, asked: str) -> str:
    """Return what is asked for behind the preposition of the clause, if it has one: "In which hall"."""
    preposition = rel.partition(" ")[0]
    if preposition in ("", "that", "which", "who", "whom"):
        return asked[:1].upper() + asked[1:]
    return f"{preposition.capitalize()} {'whom' if asked == 'who' else asked}"


def _question(lead: str, clause: str) -> str:
    """Return a question; of a clause that has no subject, or a verb that isn't known, in its own words."""
    return asked_of(lead, clause) or f"{lead} {clause}?"


def asked_of(lead: str, clause: str) -> str | None:
    """Return a question: "Which flat" and "we took" are "Which flat did we take?"; None for what is no such clause."""
    found = _SUBJECT.fullmatch(clause)
    if found is None or (found["aux"] is None and base(found["verb"]) is None):
        return None
    who, verb, rest = found["who"], found["verb"], found["rest"]
    if found["aux"] is not None:
        return f"{lead} {found['aux']} {who} {verb}{rest}?"
    do = "did" if is_past(verb) else "do" if who in _PLURAL else "does"
    return f"{lead} {do} {who} {base(verb)}{rest}?"
