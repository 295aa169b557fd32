"""What takes back or puts right what was said before: retractions, "A, not B", "I meant …". Pure."""

import re
from collections.abc import Callable
from typing import Final

import msgspec

from braid.learn import dates
from braid.learn.clause import Subject, expanded
from braid.learn.mentions import mentioned
from braid.learn.moods import states_nothing
from braid.learn.page import Page
from braid.learn.rules.rule import Rule
from braid.learn.voice import Voice
from braid.text.sentences import TextPart

_RETRACTION: Final = re.compile(
    (
        r"\b(?:forget|ignore|disregard|scratch|strike|delete|drop) (?:what|everything|that|the thing"
        r"|the part) (?:i |we )?(?:said |told you |mentioned |wrote )?(?:earlier |before |yesterday "
        r")?(?:about )(?P<what>[^,.;!]+)"
    ),
    flags=re.IGNORECASE,
)
_ABOUT: Final = re.compile(
    r"^(?:(?P<who>[A-Z][\w-]+|me|my [\w-]+)(?:'s)? )?(?P<verb>being|having|living|working|liking"
    r"|loving|hating|moving|eating|drinking|owning|playing) (?P<rest>.+)$"
)
_VERBS: Final = {
    "being": "is",
    "having": "has",
    "living": "lives",
    "working": "works",
    "liking": "likes",
    "loving": "loves",
    "hating": "hates",
    "moving": "moved",
    "eating": "eats",
    "drinking": "drinks",
    "owning": "owns",
    "playing": "plays",
}
_PREFIX: Final = re.compile(
    (
        r"^(?:(?:(?:a )?(?:small |quick )?correction|scratch that|strike that|wait|no wait|sorry|my "
        r"mistake|my bad|i misspoke|i was wrong|that was wrong|to correct myself|let me correct that"
        r"|oops|actually no|no,? sorry)\b[,:;.! -]*)+(?:i (?:actually )?meant(?: to say)?(?: that)? "
        r")?(?P<rest>\S.*)$"
    ),
    flags=re.IGNORECASE,
)
_ELLIPSIS: Final = re.compile(
    (
        r"^it(?:'s| is) (?P<whose>her|his|my) (?P<role>[\w-]+),? (?P<name>(?-i:[A-ZÀ-Þ])[\w-]+) who "
        r"(?:is|does|has)\b"
    ),
    flags=re.IGNORECASE,
)
Reads = Callable[[Page, TextPart, Voice], "Subject | None"]
ReadsOn = Callable[[Page, TextPart, Voice], None]


def read(page: Page, sentence: TextPart, clause: Reads, read_on: ReadsOn) -> bool:
    """Read a sentence that corrects; True where nothing else is to be read in it. `clause` reads a clause, `read_on` a
    sentence, in a voice."""
    text = sentence.text
    retraction = _RETRACTION.search(text)
    if retraction is not None:
        _retract(page, sentence, retraction["what"], clause)
        return True
    ellipsis = _ELLIPSIS.match(text)
    if ellipsis is not None and page.claims:
        return _instead(page, sentence, ellipsis)
    prefix = _PREFIX.match(text)
    if prefix is not None and "?" not in sentence.mark:
        rest = TextPart(prefix["rest"], sentence.start + prefix.start("rest"), sentence.stop, sentence.mark)
        if not states_nothing(rest):
            read_on(page, rest, Voice(source_type="corrected"))
        return True
    return False


def _retract(page: Page, sentence: TextPart, what: str, clause: Reads) -> None:
    """Read `forget what I said about Mireille being allergic to shellfish`: she isn't."""
    match = _ABOUT.match(what.strip())
    if match is None:
        return
    who = match["who"] or "I"
    who = "I" if who == "me" else who
    verb = (
        {"is": "am", "has": "have"}.get(_VERBS[match["verb"]], _VERBS[match["verb"]])
        if who == "I"
        else _VERBS[match["verb"]]
    )
    said = TextPart(f"{who} {verb} {match['rest']}", sentence.start, sentence.stop, ".")
    if who not in ("I",) and not who.startswith("my "):
        page.seen(who)
    clause(page, said, Voice(source_type="corrected", flipped=True))


def _instead(page: Page, sentence: TextPart, match: re.Match[str]) -> bool:
    """Read `it's her brother Loïc who is`: what has just been taken back of one holds of another."""
    taken = page.claims[-1]
    if taken.polarity or taken.source_type != "corrected":
        return False

    mentioned(page, sentence)
    page.claim(sentence, Voice(source_type="corrected"), match["name"], taken.rel, taken.object)
    return True


_NOT: Final = re.compile(r",? (?:and )?not (?:in |at |for )?(?P<what>[A-Z][^,.;!]+)")


def not_that(page: Page, part: TextPart, voice: Voice, who: str, rule: Rule) -> None:
    """Deny what a clause sets apart: `lives in Perth, not Adelaide`."""
    match = _NOT.search(expanded(part.text))
    for what in rule.chunk(match["what"]) if match is not None else []:
        page.claim(part, voice, who, rule.rel, what, polarity=False)


def moves(page: Page) -> None:
    """Date a new home by the move that the same turn tells of: `We moved yesterday, so I live in Edinburgh now`."""
    claims = page.claims
    homes = [
        at
        for at, claim in enumerate(claims)
        if claim.rel == "lives_in" and claim.polarity and claim.valid_from is None
    ]
    match = re.search(
        r"\b(?:we|i)(?:'ve)? moved(?: in| house| here)? ([^,.;!?]+)", page.text, flags=re.IGNORECASE
    )
    if len(homes) != 1 or match is None:
        return
    held = dates.past(match[1], page.turn.when)
    if held.since is not None:
        claims[homes[0]] = msgspec.structs.replace(claims[homes[0]], valid_from=held.since)
