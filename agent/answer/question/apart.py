"""The questions that one consists of: "where do I live, and who do I work for?" is two. Pure."""

import re
from collections.abc import Iterator
from typing import Final

from braid.recall.decompose import entities
from braid.text.sentences import sentences

MOST: Final = 3
"""How many questions one is taken to be at most; what asks more is asked as it stands."""
_AUX: Final = r"(?:do|does|did|is|are|was|were|will|would|has|have|had|can|could|should|must)"
_ASKS: Final = re.compile(
    r"(?:(?:(?:for|with|to|by|from|at|in|on|of|until|since) )?(?:who|whom|whose|what|when|where|which|why|how)"
    rf"(?:['’]s|['’]re|['’]d|(?: \w+){{0,3}}? (?:{_AUX}|am))\b|who \w+(?:s|ed)\b"
    rf"|(?:{_AUX}|am) (?:i|we|you|he|she|it|they|there|my|our|his|her|their|the|(?-i:[A-Z])\w+)\b)",
    re.IGNORECASE,
)
"""How a whole question begins."""
_LEAD: Final = re.compile(r"^(?:and|so|ok(?:ay)?|also|hey|hi),? ", re.IGNORECASE)
_AND: Final = re.compile(r"(?:,|;)?\s+(?:and|plus|&)\s+(?:also )?", re.IGNORECASE)
_WORD_ALONE: Final = re.compile(
    r"when|where|why|(?:at|for|until) (?:what time|how (?:much|many|long))|how (?:much|long|often)|with whom?",
    re.IGNORECASE,
)
"""Asks the same again of something else: "where did Ana go, and when?"."""
_OF_A_DEED: Final = re.compile(rf"(?:where|when|why|who|how) (?P<rest>{_AUX} .+)", re.IGNORECASE)
_HOW_MANY: Final = re.compile(rf"how (?:many|much)(?! {_AUX}\b) \w+", re.IGNORECASE)
_HOW_MANY_ALONE: Final = re.compile(rf"how (?:many|much)(?= {_AUX}\b)", re.IGNORECASE)
_PERSON: Final = re.compile(r"\b(?:he|she|him)\b", re.IGNORECASE)
_THING: Final = re.compile(r"\b(?:it|they|them)\b", re.IGNORECASE)
_VALUE_ALONE: Final = re.compile(
    rf"(?:what|how (?:much|many)) {_AUX} (?:it|that|they)\b(?: \w+)?", re.IGNORECASE
)
"""Asks for the same value again: of what, only the question before it says."""
_OWNED: Final = re.compile(r"\b(?:his|her|their|its)\b", re.IGNORECASE)
_NAMED: Final = re.compile(r"\b(?:the|my|our|your) \w+", re.IGNORECASE)
"""What "it" stands for in the question behind."""


def asked_apart(question: str) -> tuple[str, ...]:
    """Return the questions that one consists of, each whole; none where it is one, or can't be taken apart surely."""
    asking = [_LEAD.sub("", question[part.start : part.stop].strip()) for part in sentences(question)]
    found: list[str] = []
    for part in (each for sentence in asking for each in _clauses(sentence)):
        whole = _whole(part, found[0] if found else part)
        if whole is None:
            return ()  # what one part tells, the other may ask of
        found.append(whole)
    return tuple(f"{each}?" for each in found) if 1 < len(found) <= MOST else ()


def _clauses(sentence: str) -> Iterator[str]:
    """Yield the parts of a sentence, split at each "and" behind which a question begins."""
    begin = 0
    for found in _AND.finditer(sentence):
        behind = found.end()
        if found.start() > 0 and (_ASKS.match(sentence, behind) or _WORD_ALONE.fullmatch(sentence, behind)):
            yield sentence[begin : found.start()]
            begin = behind
    yield sentence[begin:]


def _whole(part: str, first: str) -> str | None:
    """Return a part as a question that needs none before it, None where it isn't one; `first`: the one it follows."""
    if _WORD_ALONE.fullmatch(part):
        deed = _OF_A_DEED.fullmatch(first)
        return f"{part} {deed['rest']}" if deed is not None else None
    if not _ASKS.match(part) or _VALUE_ALONE.fullmatch(part):
        return None
    if part is first:
        return part
    if (count := _HOW_MANY.match(first)) is not None:
        part = _HOW_MANY_ALONE.sub(count[0], part, count=1)
    person, thing = next(iter(entities(first)), None), _NAMED.search(first)
    meant = {_PERSON: person or (thing and thing[0]), _THING: (thing and thing[0]) or person}
    meant[_OWNED] = meant[_PERSON]
    for pronoun, what in meant.items():
        if pronoun.search(part):
            if what is None:
                return None
            owning = ("'" if what.endswith("s") else "'s") if pronoun is _OWNED else ""
            part = pronoun.sub(f"{what}{owning}", part, count=1)
    return part
