"""What is over between people, and between somebody and their work, home or pet: they split up, I quit, Rex died. Pure.

What nobody has said before is not denied: these words end what is known.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from braid.learn.page import Page
from braid.learn.parse.changes import deny, living
from braid.learn.parse.clauses import Clause
from braid.learn.parse.people import whom
from braid.learn.parse.phrases import joined
from braid.ledger.record.record import Claim
from braid.text.sentences import TextPart

_PARTINGS: Final = frozenset(("break up", "split up", "split", "divorce", "separate"))
_PARTNERS: Final = frozenset(("partner_is", "married_to", "engaged_to", "relationship_status"))
_OVER: Final = frozenset(("done", "over", "finished", "through", "history"))
_BOTH: Final = 2
_LEAVES: Final = frozenset(("quit", "resign"))
_LETS_GO: Final = frozenset(("fire", "sack", "dismiss", "lay off"))
_WORK: Final = ("works_at", "works_for", "works_as")
_MOVES_OUT: Final = frozenset(("move out",))
_SHARED_HOMES: Final = ("flatmate", "roommate", "housemate", "lodger", "tenant")
_DIES: Final = frozenset(("die", "pass away"))
_PUT_DOWN: Final = re.compile(r"\bput (?P<name>[A-Z][\w-]+) (?:down\b|to sleep\b)")


def parted(page: Page, part: TextPart, clause: Clause) -> bool:
    """Deny what a clause says is over; True where something living was found."""
    if clause.denied or clause.mode in ("possible", "able"):
        return False
    if clause.token.lemma == "put" and (put_down := _PUT_DOWN.search(part.text)) is not None:
        return deny(page, part, _pets(page, [put_down["name"]]))
    for is_it, ends in _ENDINGS:
        if is_it(clause):
            names = [one.name for one in whom(page, clause.parse, clause.subject)]
            return bool(names) and deny(page, part, ends(page, names))
    return False


def _is_parting(clause: Clause) -> bool:
    """We split up; me and Marcus are done; Jo and I are over."""
    if clause.lemma in _PARTINGS:
        return True
    parse = clause.parse
    if clause.subject is None or clause.child("dobj", "xcomp", "prep") is not None:
        return False
    told = [clause.verb, *parse.children(clause.verb)]
    is_over = any(parse.word(at) in _OVER and at > clause.subject for at in told)
    return is_over and len(joined(parse, clause.subject)) == _BOTH


def _partners(page: Page, names: Sequence[str]) -> Iterator[Claim]:
    """Yield what is known of those who part: of two who are named (Jonas and I), only what is of both."""
    for claim in living(page):
        if claim.subject in names and claim.rel in _PARTNERS:
            is_of_both = claim.object in names or claim.rel == "relationship_status"
            if len(names) == 1 or is_of_both:
                yield claim


def _is_out_of_work(clause: Clause) -> bool:
    """I quit; I got fired; she was laid off. Not: I quit smoking; he was fired up."""
    if (
        clause.child("dobj", "prep", "xcomp", "ccomp", "advcl", "oprd", "prt") is not None
        and clause.lemma != "lay off"
    ):
        return False
    if clause.lemma in _LETS_GO:
        return clause.passive and clause.tense in ("past", "perfect")
    return clause.lemma in _LEAVES and clause.tense != "future"


def _work(page: Page, names: Sequence[str]) -> Iterator[Claim]:
    return (one for one in living(page) if one.subject in names and one.rel in _WORK)


def _homes(page: Page, names: Sequence[str]) -> Iterator[Claim]:
    return (one for one in living(page) if one.object in names and one.rel in _SHARED_HOMES)


def _pets(page: Page, names: Sequence[str]) -> Iterator[Claim]:
    """Yield that somebody has these pets, by name, and by kind where they have no other of it."""
    known = list(living(page))
    kinds = {one.object for one in known if one.rel == "is_a" and one.subject in names}
    others = {one.object for one in known if one.rel == "is_a" and one.subject not in names}
    for one in known:
        if one.rel == "pet" and (one.object in names or one.object in kinds - others):
            yield one


_ENDINGS: Final[
    tuple[tuple[Callable[[Clause], bool], Callable[[Page, Sequence[str]], Iterator[Claim]]], ...]
] = (
    (_is_parting, _partners),
    (_is_out_of_work, _work),
    (lambda clause: clause.lemma in _MOVES_OUT and clause.tense in ("past", "perfect"), _homes),
    (lambda clause: clause.lemma in _DIES and clause.tense in ("past", "perfect"), _pets),
)
"""What a clause ends, and of what is known that is."""
