"""Idioms, and sentences without a verb that say something: "No more coffee for me", "Broken wrist.", "Allergies:
peanuts, shellfish". Pure.
"""

import re
from collections.abc import Iterable
from typing import Final

from braid.learn import dates
from braid.learn.page import Page
from braid.learn.parse.clauses import Clause
from braid.learn.parse.sorts import is_drink
from braid.learn.voice import Voice
from braid.learn.words import LIMBS
from braid.text.sentences import TextPart

_NO_MORE: Final = re.compile(
    r"^no more (?P<what>[a-z][a-z ]{1,30}?) for (?:me|us)\b(?P<rest>.*)$", re.IGNORECASE
)
_SACRED: Final = re.compile(
    r"^(?P<what>[a-z]+) is (?:sacred|life|my fuel|non-negotiable|everything to me)\b", re.IGNORECASE
)
_BROKEN: Final = re.compile(
    r"^(?:a )?(?P<what>(?:broken|sprained|fractured|torn) (?:left |right )?(?P<limb>[a-z]+))$", re.IGNORECASE
)
_LABELS: Final = {
    "allergic_to": ("health", r"(?:food )?allerg(?:y|ies)|allergic to"),
    "diet": ("preference", r"diet"),
    "name_is": ("fact", r"(?:full |my )?name"),
    "works_as": ("fact", r"role|job|job title|occupation|profession"),
    "works_at": ("fact", r"employer|workplace"),
    "phone_is": ("fact", r"(?:my )?(?:new )?(?:(?:phone|mobile) )?number|phone|mobile"),
    "email_is": ("fact", r"(?:my )?(?:new )?e-?mail"),
    "address_is": ("fact", r"(?:my )?(?:new )?address"),
    "speaks": ("skill", r"languages?"),
    "hobby": ("interest", r"hobby|hobbies|interests"),
    "takes": ("health", r"meds|medications?"),
    "has_condition": ("health", r"(?:medical )?conditions?"),
    "likes": ("preference", r"likes"),
    "dislikes": ("preference", r"dislikes"),
}
"""What stands before a colon, and what its values are of who speaks."""
_OFFICES: Final = (
    r"owners?|reviewers?|assignees?|host|organi[sz]er|chair|venue|supplier|driver|caterer|approvers?"
)
"""Labels whose values, names all, say who or what it is."""
_LABEL: Final = re.compile(
    r"(?:^|(?<=[,;] ))(?:"
    + "|".join(f"(?P<{rel}>{form})" for rel, (_, form) in _LABELS.items())
    + rf"|(?P<office>{_OFFICES})): +",
    re.IGNORECASE,
)
_SINGLE: Final = frozenset(("name_is", "works_as", "works_at", "phone_is", "email_is", "address_is"))
_SHAPES: Final = {"phone_is": r"\d{3}|\d \d", "email_is": "@", "address_is": r"\d", "name_is": r"^[A-ZÀ-Þ]"}
_OF_ANOTHER: Final = re.compile(r"['’]s\b|\b(?:his|her|their|he|she|they|your|for)\b", re.IGNORECASE)
"""Behind these a label may be of somebody else: my sister's details."""
_GREETING: Final = 3
_VALUES: Final = re.compile(r"\s*(?:,|;|/|\band\b|&)\s*(?:and )?", re.IGNORECASE)
_NO_VALUE: Final = re.compile(
    r"(?:none|no|nothing|n/a|not|too|same|see|tbd|tbc|unknown|i|my|we|he|she|they|it|you|please|what|the)\b|.*[?:]|\W*$"
    r"|(?:\S+ ){5}",
    re.IGNORECASE,
)
_NAME: Final = re.compile(r"[^\W\d_a-z][\w'’.-]*(?: [^\W\d_a-z][\w'’.-]*){0,2}")


def opens_with_label(sentence: TextPart) -> bool:
    """Whether a sentence gives a value behind a label that is known: it is one piece."""
    return _LABEL.match(sentence.text) is not None


def _labelled(page: Page, sentence: TextPart) -> bool:
    """Allergies: peanuts, shellfish; name: Oksana Bilyk, role: site manager; owner: Farid."""
    found = list(_LABEL.finditer(sentence.text)) if ":" in sentence.text else []
    if not found or found[0].start() or _OF_ANOTHER.search(page.text[: sentence.start]):
        return False
    name, told = page.turn.speaker, len(page.claims)
    for at, match in enumerate(found):
        stop = found[at + 1].start() if at + 1 < len(found) else len(sentence.text)
        text = sentence.text[match.end() : stop].strip(" ,;.")
        rel = match.lastgroup or ""
        values = [text] if rel in _SINGLE else _VALUES.split(text)
        part = TextPart(
            sentence.text[match.start() : stop].rstrip(" ,;"),
            sentence.start + match.start(),
            sentence.start + stop,
            ".",
        )
        if rel == "name_is" and len(page.text[: sentence.start].split()) > _GREETING:
            continue  # bought a bike. Name: Gherkin
        if any(_NO_VALUE.match(value) for value in values) or not re.search(_SHAPES.get(rel, ""), text):
            continue
        if rel == "office":
            if all(_NAME.fullmatch(value) for value in values):
                for value in values:
                    page.claim(part, Voice(), match["office"].lower(), "is", value)
            continue
        for value in values:
            page.claim(part, Voice(), name, rel, value, type=_LABELS[rel][0])
    return len(page.claims) > told


def read(page: Page, sentence: TextPart, clauses: Iterable[Clause]) -> bool:
    """Claim what a sentence without a verb of its own says; True where it did."""
    name = page.turn.speaker
    if (match := _SACRED.match(sentence.text)) is not None and is_drink(match["what"]):
        page.claim(sentence, Voice(), name, "drinks", match["what"].lower(), type="preference")
        return True
    if _labelled(page, sentence):
        return True
    if any(clause.subject is not None for clause in clauses):
        return False
    if (match := _NO_MORE.match(sentence.text)) is not None and is_drink(match["what"]):
        held = dates.bounds(match["rest"], page.turn.when)
        page.claim(
            sentence, Voice(), name, "drinks", match["what"], polarity=False, held=held, type="preference"
        )
        return True
    if (match := _BROKEN.match(sentence.text)) is not None and match["limb"].lower() in LIMBS:
        page.claim(sentence, Voice(), name, "has_condition", match["what"].lower(), type="health")
        return True
    return False
