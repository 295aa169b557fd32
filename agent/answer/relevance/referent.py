"""Whether what is quoted speaks of the person whom a question describes: "my neighbour", "Mireille's brother". Pure.

"I live in Porto" is near to "Where does my neighbour live?", and says nothing of the neighbour.
"""

import re
from collections.abc import Sequence
from typing import Final

from braid.agent.answer.question.description import PERSONS
from braid.learn.words import NAME
from braid.recall.decompose import Question
from braid.recall.hits import Hit, is_soon_after, speaker
from braid.text.words import words

REPLIES: Final = 2
"""How many turns further on a question is still replied to."""
_AUX: Final = r"(?:does|do|did|is|are|was|were|has|have|had|will|would|can|could|should)"
_SUBJECT: Final = re.compile(
    rf"^\W*(?:(?:and|so|but),? )?(?:[\w-]+ ){{0,3}}?{_AUX} (?P<whose>my|our|his|her|their|(?-i:[A-ZÀ-Þ])[\w-]+['’]s?)"
    rf" (?:[\w-]+ ){{0,2}}?(?P<role>{PERSONS})(?:['’]s?)? \w",
    re.IGNORECASE,
)
_ALIKE: Final = (
    ("mother", "mum", "mom", "mummy"), ("father", "dad", "daddy"), ("neighbour", "neighbor"),
    ("flatmate", "roommate", "housemate"), ("wife", "partner", "spouse"), ("husband", "partner", "spouse"),
    ("girlfriend", "partner"), ("boyfriend", "partner"), ("boss", "manager", "supervisor"),
    ("landlord", "landlady"), ("grandmother", "grandma", "gran", "granny"),
    ("grandfather", "grandpa", "granddad"), ("colleague", "coworker", "workmate"),
)  # fmt: skip
_OWN: Final = frozenset(("my", "our", "his", "her", "their"))
_SOMEBODY: Final = re.compile(r"\b(?:he|she|they|him|her|them|his|their)\b", re.IGNORECASE)


def is_meant(question: Question, said: str, hit: Hit, hits: Sequence[Hit]) -> bool:
    """Whether a sentence of a hit names whom the question describes; so it is where the question describes nobody.

    By the role, by the name that one of the hits gives to it, or by a pronoun beside one of these.
    """
    found = _SUBJECT.search(question.text)
    if found is None:
        return True
    whose = re.sub(r"['’]s?$", "", found["whose"].lower())
    owner = "" if whose in _OWN else whose
    roles = _forms(found["role"].lower())
    names = _names(roles, owner, hits)
    if not names.isdisjoint(words(speaker(hit))) or _speaks_of(said, roles, owner, names, hit):
        return True
    near = [one.text for one in hits if is_soon_after(hit, one, REPLIES) and "?" in one.text]
    beside = any(_speaks_of(text, roles, owner, names, hit) for text in (hit.text, *near))
    return beside and _SOMEBODY.search(said) is not None


def _forms(role: str) -> frozenset[str]:
    return frozenset((role, *(word for group in _ALIKE if group[0] == role for word in group)))


def _speaks_of(text: str, roles: frozenset[str], owner: str, names: frozenset[str], hit: Hit) -> bool:
    heard = set(words(text))
    if not names.isdisjoint(heard):
        return True
    owned = not owner or owner in heard or owner in words(speaker(hit))
    return owned and any(
        role in heard or f"{role}s" in heard or (" " in role and role in text.lower()) for role in roles
    )


def _names(roles: frozenset[str], owner: str, hits: Sequence[Hit]) -> frozenset[str]:
    """Return the words of the names that the hits give to a role."""
    role = "|".join(map(re.escape, sorted(roles)))
    pattern = re.compile(
        rf"\b(?:{role})(?:['’]s name)?(?:,? (?:is|was))?(?:,? (?:called|named))?,? (?P<after>{NAME})"
        rf"|(?P<before>{NAME})(?:,| is| was|,? who is) (?:my|our|his|her|their|[A-Z]\w+['’]s) (?:[\w-]+ )?(?:{role})\b",
        re.IGNORECASE,
    )
    found: set[str] = set()
    for hit in hits:
        if owner and owner not in words(f"{hit.text} {speaker(hit)}"):
            continue
        for match in pattern.finditer(hit.text):
            found.update(words(match["after"] or match["before"]))
    return frozenset(found - {owner})
