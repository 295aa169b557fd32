"""Claims in words that a person would use: "Jonas lives in Leeds", "Mireille is not allergic to shellfish". Pure."""

from typing import Final

from braid.ledger.record.record import Claim
from braid.stance.relations import name_of
from braid.text.verbs import base, is_past, plain

DID: Final = "did"
"""Its objects say themselves what was done: "took the kids to the museum"."""
_NOUNS: Final = frozenset(
    ("child", "parent", "sibling", "relative", "friend", "pet", "colleague", "neighbour", "flatmate", "hobby", "goal",
     "diet", "status", "birthday", "nationality", "relationship_status")
)  # fmt: skip
_STATES: Final = frozenset(
    (
        "allergic_to",
        "afraid_of",
        "engaged_to",
        "expecting",
        "interested_in",
        "located_in",
        "married_to",
        "due_on",
    )
)
"""What somebody is; so is whatever begins with a verb in -ing: `going_to`."""
_WORDED: Final = {
    "member_of": ("is", "a member of"),
    "trait": ("is", ""),
    "born_in": ("was", "born in"),
    "born_on": ("was", "born on"),
}
_ALIKE: Final = ("read", "quit")
"""Relations of what was done whose verb has one form."""
_BE: Final = frozenset(("is", "are", "was", "were"))
_VERBS: Final = {"has_condition": "has", "left_job": "left"}
"""Relations whose second word only says what their object is."""


def words_of(claim: Claim) -> str:  # noqa: PLR0911 - one line a kind
    """Return a claim in words; a relation that isn't known is taken for a verb."""
    rel = name_of(claim.rel)
    if rel in _NOUNS or rel.endswith("_is") or rel.startswith("favourite_"):
        noun = rel.removesuffix("_is").replace("_", " ")
        return _joined(claim, f"{claim.subject}'s {noun}", "is", "")
    if rel in _WORDED:
        return _joined(claim, claim.subject, *_WORDED[rel])
    if rel in _STATES or rel.startswith("is_") or rel.partition("_")[0].endswith("ing"):
        return _joined(claim, claim.subject, "is", rel.removeprefix("is_"))
    verb, _, rest = _VERBS.get(rel, rel).replace("_", " ").partition(" ")
    if verb in _BE:
        return _joined(claim, claim.subject, verb, rest)
    if verb == "can":
        may = "can" if claim.polarity else "cannot"
        return " ".join(filter(None, (claim.subject, may, rest, claim.object)))
    if claim.polarity:
        own = rel == DID or (rel == "does" and _is_third_person(claim.object.partition(" ")[0]))
        return " ".join(filter(None, (claim.subject, "" if own else verb, rest, claim.object)))
    done, _, what = claim.object.partition(" ")
    if rel in (DID, "does") and (is_past(done) or _is_third_person(done)):
        return " ".join(filter(None, (claim.subject, rel, "not", plain(done), what)))
    does = "did" if is_past(verb) or verb in _ALIKE else "does"
    return " ".join(filter(None, (claim.subject, does, "not", plain(verb), rest, claim.object)))


def _is_third_person(word: str) -> bool:
    """Whether a word is a verb as it stands behind a name: plays, has; not "do", nor "judo"."""
    return word == "has" or (word.endswith("s") and base(word) not in (None, word))


def _joined(claim: Claim, who: str, be: str, rest: str) -> str:
    """Return a claim of a verb that is denied by a "not" behind it."""
    return " ".join(
        filter(None, (who, be, "" if claim.polarity else "not", rest.replace("_", " "), claim.object))
    )
