"""What somebody did, or will do, at a time that they tell: "Last Friday I took my kids to a pottery workshop". Pure.

Whatever the verb, a deed with a day is worth keeping: it is what "When did …?" asks for. Without a day, or as one of
the things that everybody does all day (thought, felt, said), it states nothing.
"""

import re
from typing import Final

from braid.learn import dates
from braid.learn.clause import Subject
from braid.learn.dates import NEVER, Validity
from braid.learn.page import Page
from braid.learn.phrases import action, phrase
from braid.learn.voice import Voice
from braid.learn.words import VERBS, listed
from braid.text.calendar import MONTH_NAME
from braid.text.numbers import COUNT
from braid.text.sentences import TextPart

_IRREGULAR: Final = listed(
    "went took made had gave got saw met ran won held wrote read bought built drew spoke spent taught began "
    "caught found "
    "flew drove rode sang swam lost left hosted put broke cut grew threw led fell hurt sold did wore"
)
_NOTHING: Final = listed(
    "wanted needed liked loved hoped seemed looked wished guessed figured noticed realised realized remembered missed "
    "talked chatted asked mentioned decided wondered enjoyed hated learned learnt reminded texted messaged "
    "called replied "
    "agreed booked scheduled planned reserved arranged "
    "stayed used supposed tried ended happened turned changed worked lived studied slept waited"
)
_DID: Final = re.compile(
    r"(?:have |has )?(?P<how>(?:(?:just|finally|also|even|actually|already|really|recently|lately|\w+ly) )*)"
    r"(?P<verb>[a-z]+) (?P<rest>.+)"
)
_EMPTY: Final = re.compile(
    r"(?:had to\b|had (?:an? |some |so |such |the )?(?:\w+ )?(?:time|blast|fun|lot|day|chance|look|feeling|idea"
    r"|chat|talk|week"
    r"|weekend|month|year|good|bad|great|rough|problem|trouble)\b"
    r"|got (?:so|really|to|a chance|the chance|back|home|up|into|over|through|lots?|better|worse|tired|sick|it"
    r"|some|(?:\w+ )?news)\b"
    r"|made (?:me|us|him|her|my day|it|sure|a difference|up)\b|took (?:it|a break|care|time|a while|a long|forever)\b"
    r"|found (?:out|that|it)\b|read (?:that|about)\b|saw (?:that|how)\b|went (?:well|great|through|by|on|to "
    r"(?:bed|sleep|work)"
    r"|home|back)\b|did (?:not|it|that)\b|gave (?:me|us|up)\b|left (?:me|it)\b|lost (?:track|touch|my temper)\b"
    r"|said\b|told\b|heard\b|thought\b|felt\b|knew\b|finished (?:it|that)\b)"
)
_TURN: Final = re.compile(
    r".*?\bjust (?:started|launched|opened|signed|joined|left|lost|won|adopted|bought|published|released"
    r"|participated|applied"
    r"|submitted|received|got (?:accepted|hired|promoted|fired|sacked|married|engaged)|finished|completed|passed"
    r"|moved)\b"
)
"""What is "just" done without a day is kept where it changes something."""
_LASTING: Final = re.compile(
    rf"\b(?:since|until|till|every|each|when|while|for (?:the (?:last|past)|{COUNT}|many|some) "
    r"(?:day|week|month|year|hour|time)s?)\b",
    re.IGNORECASE,
)
_AGO: Final = re.compile(rf" ?\b{COUNT} weekends (?:ago|later)\b", re.IGNORECASE)
_SHOWN: Final = re.compile(
    r"\bth(?:is|at) (?!(?:past )?(?:day|week|weekend|month|year|morning|afternoon|evening|night|summer|spring"
    r"|autumn|fall"
    r"|winter)\b)(?=[a-z])"
)
"""`made this bowl`, beside a picture of it."""
_ON_DAY: Final = re.compile(
    r"\b(?:on|in|around|by) (?:the |early |late )?(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day,? )?(?:the )?"
    rf"(?:\d|{MONTH_NAME}\b)",
    re.IGNORECASE,
)
_PLAIN: Final = {"had": "have", "did": "do"}
_UNSAID: Final = re.compile(
    r"\b(?:your|few|lot|off|going|idea|one|two|three|more|some|amazing|great|good|nice|fun|really|awesome|big|new"
    r"|out|up|another|called)$"
    r"|\byour\b",
    re.IGNORECASE,
)
"""What ends so says less than was said."""
_THAT: Final = re.compile(
    r"(?:^|.*?\b(?:of|is|are|was|were|to|loved?|remember|about) )(?:an?|the|this|these|those|my|our|some) "
    r"(?P<what>(?!(?:last|way|time|day)\b)[\w'-]+(?: [\w'-]+){0,3}?) (?:that )?(?:i|we) (?:just |recently "
    r"|finally )?(?P<verb>[a-z]+)"
    r" (?P<rest>(?:yesterday|last|this|on|two|three|a few|in)\b.*)",
    re.IGNORECASE,
)
_MOMENT: Final = re.compile(
    r"(?P<first>last [a-z]+|yesterday|this (?:week|weekend|month|morning)) (?:was|has been)\b"
    r"|.*\b(?:something|thing|things|lot|stuff)\b.* happened(?: to me)? (?P<then>last \w+|yesterday|this (?:week"
    r"|weekend|month|morning)"
    r"|on \w+day)",
    re.IGNORECASE,
)
_DOING: Final = re.compile(
    r"(?:am|are) (?:\w+ly |also |just |now )*(?P<verb>[a-z]+ing) (?!to\b|for\b|about\b|of\b|so\b)(?P<rest>.+)"
)
_THINKING: Final = re.compile(
    r"(?:am|are) (?:\w+ly |also |just |now )*(?P<hedge>thinking (?:about|of)) (?P<verb>[a-z]+ing) (?P<rest>.+)"
)
_NO_PLAN: Final = listed(
    "going looking thinking hoping being having feeling getting doing trying working loving enjoying planning "
    "wondering "
    "waiting talking living studying learning missing coming telling saying asking kidding joking moving flying "
    "travelling "
    "traveling visiting starting beginning relocating taking making putting giving"
)


def read(page: Page, part: TextPart, subject: Subject, behind: str) -> None:
    """Read a deed, past or to come, of the speaker or of somebody or something of theirs."""
    if subject.first or subject.role:
        _done(page, part, subject, behind)
    if subject.first:
        _to_come(page, part, behind)


def _done(page: Page, part: TextPart, subject: Subject, behind: str) -> None:
    match = _DID.match(behind)
    if match is None or _LASTING.search(part.text):
        return
    verb = match["verb"].lower()
    held = _past(page, part.text, is_just="just" in match["how"].split() and _TURN.match(behind) is not None)
    if held is None or not _is_deed(verb, match["rest"]):
        return
    who = page.who(subject)
    for what in _deed(verb, match["rest"]) if who is not None else ():
        page.claim(part, Voice(), who or "", "did", what, held=held)


def _past(page: Page, text: str, *, is_just: bool = False) -> Validity | None:
    """Return the past time that a clause tells, or that its turn has begun with; today for what was "just" done."""
    held = dates.past(text, page.turn.when)
    if dates.day(text, page.turn.when) != NEVER and _ON_DAY.search(text) is None:
        return None  # the day of what was booked, not of the booking
    if held == NEVER:
        held = page.moment or (dates.past("this morning", page.turn.when) if is_just else NEVER)
    return None if held.since is None or held.since > page.turn.when else held


def _is_deed(verb: str, behind: str) -> bool:
    past = verb in _IRREGULAR or (verb.endswith("ed") and verb not in ("need", "feed"))
    return past and verb not in _NOTHING and _EMPTY.match(f"{verb} {behind}") is None


def _deed(verb: str, behind: str) -> list[str]:
    """Return what was done in the past tense, of anybody: `took their kids to a pottery workshop`."""
    plain = _PLAIN.get(verb, verb)
    found = action(f"{plain} {_SHOWN.sub('', _AGO.sub('', behind))}")
    return [_theirs(f"{verb}{what[len(plain) :]}") for what in found if not _UNSAID.search(what)]


def _theirs(what: str) -> str:
    return re.sub(r"\b(?:my|our)\b", "their", what)


def shown(page: Page, part: TextPart, bare: str) -> None:
    """Read a deed by which a thing is told: `these figurines I bought yesterday remind me of you`."""
    match = _THAT.match(bare)
    if match is None or not _is_deed(match["verb"].lower(), "it was"):
        return
    held = _past(page, match["rest"])
    for what in phrase(match["what"]) if held is not None else ():
        page.claim(
            part, Voice(), page.turn.speaker, "did", f"{match['verb'].lower()} {what}", held=held or NEVER
        )


_MINE: Final = re.compile(
    r"(?:my|our) (?P<thing>(?:[a-z]+ )?[a-z]+) (?P<behind>(?:was )?[a-z]+ed(?: .+)?)", re.IGNORECASE
)


def thing(page: Page, part: TextPart, bare: str) -> None:
    """Read what became of a thing of the speaker's: `my laptop crashed last week`."""
    match = _MINE.match(bare)
    held = None if match is None or _LASTING.search(part.text) else _past(page, part.text)
    if match is None or held is None:
        return
    for what in action(match["behind"]) or [match["behind"].split()[0]]:
        if not what.startswith(("was", "seemed", "looked", "needed", "turned", "used")):
            page.claim(part, Voice(), f"{page.turn.speaker}'s {match['thing']}", "did", what, held=held)


def note_moment(page: Page, bare: str) -> None:
    """Note the time of which a turn goes on to tell: `last week was wild`, `something happened yesterday`."""
    match = _MOMENT.match(bare)
    if match is not None:
        held = dates.past(match["first"] or match["then"], page.turn.when)
        page.moment = None if held == NEVER else held


def _to_come(page: Page, part: TextPart, behind: str) -> None:
    """Read `am hosting a party next month`, and, softened, `are thinking about going camping next month`."""
    thinking = _THINKING.match(behind)
    match = thinking or _DOING.match(behind)
    if match is None or (thinking is None and match["verb"] in _NO_PLAN):
        return
    held = dates.ahead(part.text, page.turn.when)
    if held == NEVER:
        return
    for what in action(f"{_base(match['verb'])} {_AGO.sub('', match['rest'])}"):
        if not _UNSAID.search(what):
            hedge = thinking["hedge"] if thinking else None
            page.claim(part, Voice(), page.turn.speaker, "plans_to", _theirs(what), held=held, hedge=hedge)


def _base(doing: str) -> str:
    """Return a verb as it is called: hosting, host; hiking, hike; running, run."""
    if doing in VERBS:
        return VERBS[doing]
    stem = doing[:-3]
    if len(stem) > 2 and stem[-1] == stem[-2] and stem[-1] not in "lsz":
        return stem[:-1]
    is_short = re.fullmatch(r"[^aeiou]*[aeiou][^aeiouwxy]", stem) is not None
    return f"{stem}e" if is_short or re.search(r"(?:[aeiou][vzcg]|at|iz|is|rs|as)$", stem) else stem
