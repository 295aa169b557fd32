"""A question that asks who somebody is: by name, "Who is Lena?", or by what they are, "Who is my cousin?". Pure."""

import re
from collections.abc import Sequence
from typing import Final

from braid.learn.words import KIN, PETS, TRADES
from braid.text.words import listed

_ASKED: Final = re.compile(
    r"\W*(?:(?:so|and|but|remind me|tell me|do you know|again),? )*who(?:['’]?s| is| was) "
    r"(?P<name>[\w'’-]+(?-i:(?: [A-Z][\w'’-]*){0,2}))(?: to (?:me|us))?(?: again| anyway)?\W*",
    re.IGNORECASE,
)
_NO_NAME: Final = listed("i me my you your he she it we they this that there the a an who")
_WHO_IS_MINE: Final = re.compile(
    r"\W*(?:(?:so|and|but|remind me|tell me|do you know|again),? )*(?:who(?:['’]?s| is| are)|what(?:['’]?s| is)"
    r"(?: the name of)?) (?:my|our) (?:(?:new|current|other|big|little|older|younger|elder|favou?rite) )?"
    r"(?P<role>[\w-]+(?: [\w-]+)??)"
    r"(?:['’]s name| called)?(?: again| anyway| now)?\W*",
    re.IGNORECASE,
)
_ONE: Final = tuple(
    tuple(group.split())
    for group in (
        "mother mum mom mam mummy", "father dad papa daddy", "grandmother grandma gran granny nan nana",
        "grandfather grandpa granddad grandad", "boss manager supervisor", "neighbour neighbor",
        "colleague coworker co-worker workmate teammate", "flatmate roommate housemate", "landlord landlady",
        "friend mate buddy pal", "doctor gp physician", "child kid",
    )
)  # fmt: skip
"""Words for one and the same."""
_OF: Final = {
    "partner": "wife husband girlfriend boyfriend fiancé fiancée spouse", "spouse": "wife husband",
    "wife": "spouse", "husband": "spouse", "child": "kid son daughter", "kid": "child son daughter",
    "sibling": "brother sister twin",
}  # fmt: skip
"""What somebody may be called besides: whoever asks for a child may mean a daughter, but a son is none."""


def asked_for(question: str, texts: Sequence[str] = ()) -> str | None:
    """Return the name of whom it is asked who they are; None for another question. In small letters it must be a name
    in one of the texts."""
    found = _ASKED.fullmatch(question)
    if found is None or found["name"].split()[0].lower() in _NO_NAME:
        return None
    name = found["name"]
    if name[:1].isupper():
        return name
    capital = re.compile(rf"(?<!^)(?<![.!?] )\b{re.escape(name.capitalize())}\b")
    return name.capitalize() if any(capital.search(text) for text in texts) else None


def role_asked(question: str) -> frozenset[str]:
    """Return the words for what somebody is to whoever asks ("my cousin"), where it is asked who that is; else none."""
    found = _WHO_IS_MINE.fullmatch(question)
    role = found["role"].lower() if found is not None else ""
    if role not in KIN and role not in TRADES and role not in PETS:
        return frozenset()
    same = next((group for group in _ONE if role in group), (role,))
    return frozenset((*same, *_OF.get(role, "").split()))
