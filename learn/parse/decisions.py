"""What is decided or proposed, and who takes what on: "let's use Kafka", "Kim takes over the releases". Pure."""

from typing import Final

from braid.learn.page import Page
from braid.learn.parse.clauses import Clause
from braid.learn.parse.people import topic, whom
from braid.learn.parse.phrases import noun, part_of, said_of, shown
from braid.learn.parse.said import quoted
from braid.learn.parse.sorts import thing
from braid.learn.voice import Voice
from braid.text.parse import Parse
from braid.text.sentences import TextPart
from braid.text.words import listed

_LET: Final = listed(
    "use go stick switch take pick choose move drop call set run meet start ship buy hire order book"
)
_CHOOSING: Final = frozenset(
    ("use", "pick", "choose", "switch", "drop", "order", "book", "hire", "buy", "ship")
)
_TAKES: Final = frozenset((
    "take over", "take on", "handle", "own", "lead", "manage", "run", "cover", "do", "look after",
    "be responsible",
))  # fmt: skip
_WORK: Final = listed(
    "release releases deploy deploys deployment deployments onboarding migration rota payroll invoices "
    "newsletter review reviews testing support "
    "docs documentation logistics catering shopping accounts bookkeeping cleaning cooking school run "
    "project backend frontend database budget "
    "stock orders ordering marketing social design website app site service module ticket task tasks "
    "rollout launch on-call oncall"
)


def proposed(page: Page, sentence: TextPart, clause: Clause, voice: Voice) -> bool:
    """Claim what is proposed or handed over; True where a clause did that."""
    return _let_us(page, sentence, clause, voice) or _takes(page, sentence, clause, voice)


def _let_us(page: Page, sentence: TextPart, clause: Clause, voice: Voice) -> bool:
    """Let's use Kafka."""
    parse = clause.parse
    if clause.lemma != "let" or clause.denied:
        return False
    inner = clause.child("ccomp", "xcomp")
    us = any(
        token.text.lower() in ("us", "'s", "’s", "s")
        for token in parse.tokens[clause.verb + 1 : clause.verb + 2]
    )
    if inner is None or not us or parse.lemma(inner) not in _LET:
        return False
    first, last = said_of(parse, inner)
    if last <= first or not _is_choice(parse, inner, last):
        return False
    part = part_of(sentence, parse, clause.verb, last)
    at = parse.child(inner, "dobj")
    what = (
        thing(parse, at)
        if at is not None and parse.lemma(inner) in ("use", "pick", "choose", "take")
        else shown(parse, inner, last)
    )
    if what is None:
        return False
    page.claim(part, voice, page.turn.speaker, "decided_on", what, type="decision")
    return True


def _is_choice(parse: Parse, verb: int, last: int) -> bool:
    """Whether something is chosen or set: use Kafka, meet at 6; not: go for it, make a difference together."""
    words = parse.tokens[verb + 1 : last + 1]
    if any(token.pos in ("PROPN", "NUM") for token in words):
        return True
    is_chosen = parse.lemma(verb) in _CHOOSING or any(
        token.text.lower() == "with" and token.head == verb for token in words
    )
    return is_chosen and any(token.pos == "NOUN" for token in words)


def _takes(page: Page, sentence: TextPart, clause: Clause, voice: Voice) -> bool:
    """Kim takes over the releases: owner_is of what she takes on, one at a time."""
    if (
        clause.lemma not in _TAKES
        or clause.denied
        or clause.mode not in ("actual", "planned")
        or clause.under is not None
    ):
        return False
    if clause.tense not in ("present", "future"):
        return False
    parse = clause.parse
    at = clause.child("dobj")
    who = whom(page, parse, clause.subject)
    if at is None or not who or who[0].sort == "thing":
        return False
    if clause.lemma not in ("take over",) and parse.lemma(at) not in _WORK:
        return False
    what = topic(noun(parse, at))
    if not what or parse.tokens[at].pos == "PRON":
        return False
    page.claim(quoted(sentence, clause), voice, what, "owner_is", who[0].name, type="relation")
    return True
