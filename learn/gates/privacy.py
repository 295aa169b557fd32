"""How private a kept claim is: one of five levels (docs/learning.md), named by its `details["privacy"]`. Pure."""

import re
from typing import Final

from braid.learn.candidate import Candidate
from braid.learn.gates.outcome import Level
from braid.stance.relations import name_of
from braid.text.words import listed, normal

_CONTACT: Final = listed(
    "email_is phone_is address_is born_on birthday born_in age_is number_is earns name_is nationality"
)
_CONTACT_WORDS: Final = re.compile(
    r"\b(?:phone|mobile|e-?mail|address|birthday|born|postcode|zip code|surname|maiden name)\b|@\w|\+?\d[\d ()-]{8,}\d"
    r"|\b\d{1,5} (?:\w+ ){1,3}(?:street|st|road|rd|avenue|ave|lane|ln|drive|way|close|court|square|strasse|straße)\b",
    re.IGNORECASE,
)
_WORKING: Final = frozenset(("tool", "workflow", "communication", "environment", "style", "domain"))
_THINGS: Final = re.compile(
    r"\b(?:db|database|server|service|api|port|staging|prod|production|deploy\w*|release|launch|build|pipeline|timeout"
    r"|limit|version|region|cluster|queue|cron|backup|store|shop|order|invoice|package|repo|branch|config|setting|bot"
    r"|team|project|site|page|cache|bucket|job|alert|dashboard|payout|dispute|refund|integration)s?\b",
    re.IGNORECASE,
)


def level(candidate: Candidate, *, sensitive: bool = False) -> Level:
    """Return how private a claim is; `sensitive`: it is of health or money."""
    claim = candidate.claim
    if (
        sensitive
        or name_of(claim.rel) in _CONTACT
        or _CONTACT_WORDS.search(f"{claim.rel.replace('_', ' ')} {claim.object}")
    ):
        return "L3"
    if candidate.type == "skill" or (candidate.category in _WORKING):
        return "L1"
    subject = normal(claim.subject)
    if subject == "user" or claim.subject[:1].isupper() or claim.said_by is not None:
        return "L2"
    if _THINGS.search(claim.subject):
        return "L0" if candidate.type in ("fact", "relation", "entity", "episode") else "L1"
    return "L2"
