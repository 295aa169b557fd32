"""Who somebody is: "Who is Lena?" is answered by what calls her something, "my cousin Lena", not by where she is; and
"Who is my cousin?" by the name beside that word. Pure.

What describes a name stands before it ("my boss, Tim Kern", "my boss is Tim"), or behind it ("Dana is the vet", "Lena,
my cousin"). Of several words for one person the newest two are said.
"""

import re
from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

from braid.agent import bands
from braid.agent.answer.ladder import told
from braid.agent.answer.question.identity import asked_for, role_asked
from braid.agent.answer.turn.turn import when_of
from braid.agent.answer.wording.report import quotable
from braid.agent.composer import Composed, QuestionContext
from braid.learn.words import KIN, PETS, TRADES
from braid.recall.decompose import Question
from braid.recall.hits import Hit, speaker

_WHOSE: Final = r"(?:my|our|his|her|their|your|[A-Z][\w-]+['’]s)"
_ROLE: Final = (
    rf"(?:{'|'.join(sorted(map(re.escape, (*KIN, *PETS, *TRADES)), key=len, reverse=True))}"
    r"|[a-z]+-in-law|[a-z]+(?:friend|mate|man|woman)|(?:[\w-]+ )?(?:guy|lady|lad|bloke)|chair|captain|treasurer"
    r"|president|owner|contact|lead|head|examiner|host)"
)
_MOST_TOLD: Final = 2
_NO_MORE: Final = (
    r"\b(?:isn['’]?t|wasn['’]?t|is not|was not|no longer|not .{0,30}any ?more|used to|ex|former|divorc\w+|separated"
    r"|split|br(?:oke|oken|eak) up|left|leaving|quit|fired|sacked|let go|retired|resigned|died|passed away"
    r"|(?:took|taken|takes) over|replac\w+|instead of)\b"
)
"""Says of somebody that they may be something no longer."""
_WHEREABOUTS: Final = re.compile(r"\b(?:mov(?:ed|es|ing)|lives?|living|relocat\w+|settled)\b", re.IGNORECASE)


class _Described(NamedTuple):
    hit: Hit
    words: str


def identified(question: Question, asked: QuestionContext) -> Composed | None:
    """Return who somebody is, as those put it who speak of them; None where it isn't asked, or nobody says."""
    name = asked_for(asked.question, [hit.text for hit in asked.hits])
    if name is None:
        return None
    hits = [hit for hit in (*asked.hits, *asked.more) if hit.source == "owner"]
    found = {hit.id: _Described(hit, words) for hit in hits if (words := described(name, hit.text))}
    newest = sorted(found.values(), key=lambda one: when_of(one.hit))
    if not newest or any(_is_over(name, hit, newest[-1].hit) for hit in hits):
        return None
    each = list({_bare(one.words): one for one in newest}.values())[-_MOST_TOLD:]
    short = "; ".join(_of_whom(one) for one in each)
    best = each[-1].hit
    return told(question, best, [one.hit for one in each], asked.given * bands.PLAIN, short)


def named(question: Question, asked: QuestionContext) -> Composed | None:
    """Return who is something to whoever asks, by name; None where that isn't asked, or nobody is called so."""
    roles = role_asked(asked.question)
    if not roles:
        return None
    hits = [hit for hit in (*asked.hits, *asked.more) if hit.source == "owner"]
    found = {hit.id: _Described(hit, name) for hit in hits for name in names_beside(roles, hit.text) if name}
    newest = sorted(found.values(), key=lambda one: when_of(one.hit))
    if "ex" not in roles:
        newest = [one for one in newest if not any(_is_over(one.words, hit, one.hit) for hit in hits)]
    each = list({one.words: one for one in newest}.values())[-_MOST_TOLD:]
    if not each:
        return None
    short = "; ".join(quotable(one.words) for one in each)
    return told(question, each[-1].hit, [one.hit for one in each], asked.given * bands.PLAIN, short)


def says_role(question: str, text: str) -> bool:
    """Whether a turn has a word for what is asked to be who, of whoever speaks, and not of what was so; true of any
    other question."""
    roles = role_asked(question)
    role = "|".join(map(re.escape, roles))
    former = "" if "ex" in roles else rf"|\b(?:ex|former|old|late)[ -](?:{role})\b"
    others = (
        rf"(?:\b(?:his|her|their|your)|[\w]['’]s) (?!(?:my|our|the|an?)\b)(?:[\w-]+ ){{0,2}}?(?:{role})\b"
        rf"|\b(?:{role}) (?:was|used to)\b|\bwas (?:my|our) (?:{role})\b{former}"
    )
    return not roles or not roles.isdisjoint(re.findall(r"[\w-]+", re.sub(others, " ", text.lower())))


def changes_who(question: str, text: str) -> bool:
    """Whether a later turn may change who somebody is: not where it says only where they live now."""
    return says_role(question, text) or _WHEREABOUTS.search(text) is None


def names_beside(roles: Collection[str], text: str) -> Iterator[str]:
    """Yield the names of those who are called one of these of the speaker's, and are so still."""
    role = f"(?i:{'|'.join(sorted(map(re.escape, roles), key=len, reverse=True))})"
    no_former = "" if "ex" in roles else r"(?!(?i:ex|old|former|late)\b)"
    own = rf"(?i:my|our) {no_former}(?:[\w-]+ ){{0,2}}?{role}"
    name = r"(?P<name>[A-Z][\w-]+(?: [A-Z][\w-]+)?)"
    for pattern in (
        rf"\b{own}(?:,| is|['’]s)? (?:called |named )?{name}",
        rf"(?:^|[.,;:!?] ){role}(?:,| is|['’]s)? (?:called |named )?{name}",
        rf"\b{name}(?: is|['’]s|,) {own}\b",
        rf"\b{name} \((?:{own}|{role})\)",
    ):
        yield from (one["name"] for one in re.finditer(pattern, text) if not _denied(text, one.start()))


def described(name: str, text: str) -> str:
    """Return the words that call somebody something, empty where none do."""
    called = rf"{re.escape(name)}(?:['’]?s)?(?: [A-Z][\w'’-]+)?(?![\w'’-])"
    last = rf"{re.escape(name)}\W*(?:[.,;!?]|$)"
    behind = rf"(?i:{_WHOSE}|the|an?) (?:[\w-]+ ){{0,3}}?{_ROLE}\b[^.,;:!?]*"
    for pattern in (
        rf"\b(?P<said>(?i:{_WHOSE}|the) (?:[\w-]+ ){{0,2}}?{_ROLE}),? (?:is |was )?(?:called |named )?{called}",
        rf"\b(?P<said>(?i:{_WHOSE}|the) [^.,;:!?]{{2,40}}?) (?:is|was) (?:called |named )?{last}",
        rf"(?:^|[.,;:!?] )(?P<said>(?i:{_ROLE})),? (?:is |was )?(?:called |named )?{called}",
        rf"\b{called} \((?P<said>(?i:(?:{_WHOSE}|the) )?(?:[\w-]+ ){{0,2}}?{_ROLE})\)",
        rf"\b{called} (?:is|was) (?P<said>{behind})",
        rf"\b{re.escape(name)}['’]s (?P<said>{behind}|{_ROLE} of [^.,;:!?]*)",
        rf"\b{called},? (?:who (?:is|was) )?(?P<said>(?i:{_WHOSE}|the|an?) (?:[\w-]+ ){{0,2}}?{_ROLE})\b",
    ):
        if (found := re.search(pattern, text)) is not None and not _denied(text, found.start()):
            return found["said"]
    return ""


def _denied(text: str, start: int) -> bool:
    return re.search(r"\b(?:not|n['’]t|never)\b\W*$", text[:start], re.IGNORECASE) is not None


def _is_over(name: str, hit: Hit, last: Hit) -> bool:
    """Whether a turn as new as the last word for somebody says that they are something no longer."""
    if when_of(hit) < when_of(last):
        return False
    said = re.search(
        rf"\b{re.escape(name)}\b[^.!?]*{_NO_MORE}|{_NO_MORE}[^.!?]*\b{re.escape(name)}\b", hit.text
    )
    return said is not None


def _bare(words: str) -> str:
    return re.sub(rf"^(?:{_WHOSE}|the|an?) ", "", words, flags=re.IGNORECASE).lower()


def _of_whom(one: _Described) -> str:
    """Return words for somebody as they are said by who answers: "my cousin" is the speaker's."""
    who = speaker(one.hit)
    whose = "your" if who == "user" else f"{who}'s"
    return quotable(re.sub(r"^(?:my|our)\b", whose, one.words.strip(), flags=re.IGNORECASE))
