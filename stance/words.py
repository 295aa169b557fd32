"""Claims in words that a person would use: "Jonas lives in Leeds", "Mireille is not allergic to shellfish". Pure."""

from typing import Final

from braid.ledger.record.record import Claim
from braid.stance.relations import name_of

DID: Final = "did"
"""Its objects say themselves what was done: "took the kids to the museum"."""
_NOUNS: Final = frozenset(
    ("child", "parent", "sibling", "relative", "friend", "pet", "colleague", "neighbour", "flatmate", "hobby", "goal",
     "diet", "status", "birthday", "nationality", "relationship_status")
)  # fmt: skip
_STATES: Final = (
    "allergic_to",
    "married_to",
    "engaged_to",
    "located_in",
    "born_in",
    "born_on",
    "due_on",
    "member_of",
)
_DOES: Final = {
    "studies": "study",
    "does": "do",
    "watches": "watch",
    "has": "have",
    "goes": "go",
    "can": "can",
}
_DID: Final = {
    "moved": "move", "visited": "visit", "attended": "attend", "watched": "watch", "started": "start",
    "studied": "study", "went": "go", "bought": "buy", "met": "meet", "made": "make", "left": "leave", "did": "do",
    "read": "read", "happened": "happen", "quit": "quit", "signed": "sign",
}  # fmt: skip


def words_of(claim: Claim) -> str:
    """Return a claim in words; a relation that isn't known is taken for a verb."""
    rel = name_of(claim.rel)
    if rel in _NOUNS or rel.endswith("_is") or rel.startswith("favourite_"):
        noun = rel.removesuffix("_is").replace("_", " ")
        return _joined(f"{claim.subject}'s {noun} is", claim, "not")
    if rel in _STATES:
        return _joined(f"{claim.subject} is", claim, "not", rel)
    if rel.startswith("is_"):
        return _joined(f"{claim.subject} is", claim, "not", rel.removeprefix("is_"))
    if claim.polarity:
        return _joined(claim.subject, claim, "", "" if rel == DID else rel)
    verb, _, rest = rel.partition("_")
    if verb in _DID:
        return _joined(f"{claim.subject} did not", claim, "", f"{_DID[verb]} {rest}")
    base = _DOES.get(verb) or (verb[:-1] if verb.endswith("s") and not verb.endswith("ss") else verb)
    return _joined(f"{claim.subject} does not", claim, "", f"{base} {rest}")


def _joined(head: str, claim: Claim, negation: str, rel: str = "") -> str:
    middle = "" if claim.polarity else negation
    return " ".join(part for part in (head, middle, rel.replace("_", " ").strip(), claim.object) if part)
