"""What is asked or offered, and what is said to it later: "I got an offer from Airbus … I said yes". Pure."""

import re
from typing import Final

from braid.learn import dates
from braid.learn.page import Page
from braid.learn.parse.clauses import Clause
from braid.learn.parse.people import whom
from braid.learn.parse.phrases import is_name, noun
from braid.learn.voice import Voice
from braid.learn.words import TRADES
from braid.text.sentences import TextPart

_POST: Final = re.compile(
    r"(?:^|(?<=[.!?] ))(?P<trade>[A-Z][a-z]+(?: [a-z]+){0,3})(?: at [^,.!?]*)?(?:, (?P<at>[A-Z][\w' "
    r"]*))?[,.!]"
)
"""A post, named after what was said of an offer: Head of sound at a concert hall, De Kade."""
_STARTS: Final = re.compile(r"\bstart(?:s|ing)? (?:on )?(?P<day>[^,.;!?]{3,40})", re.IGNORECASE)
_ASKS: Final = frozenset(("ask", "beg"))


def offered(page: Page, clause: Clause) -> None:
    """Note an offer, an application or a proposal, for the turns after it."""
    parse = clause.parse
    if clause.denied or clause.mode not in ("actual", "planned"):
        return
    at = clause.child("dobj")
    is_offer = at is not None and parse.lemma(at) == "offer"
    if not (is_offer or clause.lemma == "apply" or clause.lemma in _ASKS):
        return
    who = whom(page, parse, clause.subject)
    if not who:
        return
    if who[0].sort == "first" and at is not None and is_offer:
        names = [
            noun(parse, inner, bare=True)
            for prep in (*parse.children(at), *parse.children(clause.verb))
            if parse.word(prep) in ("from", "at")
            for inner in parse.children(prep)
            if is_name(parse, inner)
        ]
        _note(page, names[0] if names else "")
    elif who[0].sort == "first" and clause.lemma == "apply":
        _note(page, "")
    elif who[0].sort == "person" and clause.lemma in _ASKS and _marries(clause):
        page.note_topic("proposal", who[0].name)


def _note(page: Page, name: str) -> None:
    trade, org = _post(page.text)
    if name or org:
        page.note_topic("offer", name or org)
    if trade:
        page.note_topic("post", trade)


def _post(text: str) -> tuple[str, str]:
    """Return the trade and the organisation that a post is named by; empty where none is."""
    for match in _POST.finditer(text):
        trade = match["trade"].lower()
        if trade.split()[-1] in TRADES or trade.startswith("head of "):
            return trade, (match["at"] or "").strip()
    return "", ""


def _marries(clause: Clause) -> bool:
    inner = clause.child("xcomp", "ccomp")
    return inner is not None and clause.parse.lemma(inner) == "marry"


def taken_up(page: Page, part: TextPart, clause: Clause, voice: Voice) -> bool:
    """Claim what an offer comes to by "I said yes", "I took it", "I got it"; True where one was open."""
    if clause.denied or clause.mode != "actual" or not _says_yes(clause):
        return False
    who = whom(page, clause.parse, clause.subject)
    if not who or who[0].sort != "first":
        return False
    proposal, offer = page.topic("proposal"), page.topic("offer")
    if (
        proposal is not None
        and proposal.name
        and clause.lemma == "say"
        and (offer is None or offer.at <= proposal.at)
    ):
        page.note_topic("proposal", "")
        page.claim(part, voice, who[0].name, "engaged_to", proposal.name, type="relation")
        return True
    if offer is None or not offer.name:
        return False
    day = _STARTS.search(page.text)
    page.note_topic("offer", "")
    held = dates.Validity(dates.ahead(day["day"], page.turn.when).since) if day else dates.NEVER
    page.claim(part, voice, who[0].name, "works_at", offer.name, held=held)
    post = page.topic("post")
    trade = _post(page.text)[0] or (post.name if post is not None else "")
    if trade:
        page.claim(part, voice, who[0].name, "works_as", trade, held=held)
    return True


def _says_yes(clause: Clause) -> bool:
    parse = clause.parse
    words = [parse.word(at) for at in parse.children(clause.verb) if at > clause.verb]
    if clause.lemma == "say":
        return "yes" in words
    if clause.lemma in ("accept", "take", "get"):
        return clause.tense == "past" and words[:1] in (["it"], ["offer"], ["job"])
    return False
