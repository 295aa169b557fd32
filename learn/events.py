"""What is told in fragments: offers and first days, engagements, births, dates set, put off and set anew. Pure."""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Final

from braid.learn import dates
from braid.learn.dates import Validity
from braid.learn.page import Page
from braid.learn.phrases import money, place
from braid.learn.rules.work import trade
from braid.learn.voice import Voice
from braid.learn.words import LIMBS
from braid.text.quantities import sole as number_in
from braid.text.sentences import TextPart

_NAME: Final = r"[A-ZÀ-Þ][\w&'-]*(?: (?:of |and |& )?[A-ZÀ-Þ][\w&'-]*){0,3}"
_DAY: Final = (
    r"(?:(?:on )?(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day,? )?(?:the )?\d{1,2}(?:st|nd|rd|th)?(?: of)? "
    r"(?:January|February|March|April|May|June|July|August|September|October|November"
    r"|December)(?:,? 20\d\d)?)"
)
_STATED: Final = Voice()
_NEAR: Final = 30
"""How many records back a matter that is being spoken of may lie."""

_OFFER: Final = re.compile(
    rf"\b(?:got|received|have|accepted|took|had) (?:an|the|a|their) (?:job )?offer (?:from|at) "
    rf"(?P<org>{_NAME})"
)
_HAS_APPLIED: Final = re.compile(r"\bapplied\b")
_ACCEPTED: Final = re.compile(
    r"\b(?:said yes|i accepted|accepted it|took it|signed the contract|i'm taking it)\b", flags=re.IGNORECASE
)
_APPLIED: Final = re.compile(
    rf"^(?P<title>[A-Z][\w ]{{2,40}}) at (?:a|an|the) [a-z][\w ]{{2,30}}, (?P<org>{_NAME})$"
)
_STARTING: Final = re.compile(
    r"^(?P<what>[A-Z][^,.;]{1,50}), (?:start|starting|starts|i start)(?: on| from)? (?P<when>.+)$",
    flags=re.IGNORECASE,
)
_LAST_DAY: Final = re.compile(
    (
        rf"\bmy last day(?: at (?P<org>{_NAME}))? (?:is|was|will be) (?P<when>[^,;]+)"
        rf"|^(?P<then>tomorrow|today|friday|monday|yesterday)(?:'s| is| was) my last day at "
        rf"(?P<where>{_NAME})"
    ),
    flags=re.IGNORECASE,
)
_FIRST_DAY: Final = re.compile(
    (
        rf"^(?:my )?first day (?:at|with) (?P<org>{_NAME})(?: is| was|'s)? (?P<when>done|today|over"
        rf"|yesterday|tomorrow|on .+)"
    ),
    flags=re.IGNORECASE,
)
_HAS_ME: Final = re.compile(r"\b(?:has|have|had) me [\w ]{2,40} as (?:a|an|the) (?P<what>.+)$")
_ENGAGED: Final = re.compile(
    r"\b(?P<who>[A-Z][\w-]+) (?:asked me to marry (?:him|her|them)|proposed(?: to me)?)\b(?P<when>.*)"
)
_SAID_YES: Final = re.compile(r"\bi said yes\b|\bof course i said\b", flags=re.IGNORECASE)
_BORN: Final = re.compile(r"\b(?P<who>[A-Z][\w-]+), born (?:on )?(?P<when>[^.;!?]{3,40})")
_HERE: Final = re.compile(rf"\bgreetings from (?P<where>{_NAME})", flags=re.IGNORECASE)
_LIVED_HERE: Final = re.compile(
    r"\bi(?:'ve| have) (?:now |just )?(?:lived|been living) here\b", flags=re.IGNORECASE
)
_EVENTS: Final = (
    "wedding|concert|gig|funeral|graduation|christening|recital|exhibition|operation|surgery"
    "|interview|exam|race|tournament|party"
)
_THERE_IS: Final = re.compile(
    (
        rf"\bthere(?:'ll| will|'s going to)(?: be)? (?:be )?an? (?P<event>(?:\w+ "
        rf")?(?:{_EVENTS}))\b[^.;]*? on (?P<when>{_DAY})"
    ),
    flags=re.IGNORECASE,
)
_SET: Final = re.compile(
    rf"\b(?P<event>{_EVENTS})\b[^.;]*?(?:, so|:|,) ?:? (?P<when>{_DAY})(?=[,.;!]|$)", flags=re.IGNORECASE
)
_WAS_MEANT: Final = re.compile(
    (
        rf"\b(?P<what>(?:my|our|Mum's|Mom's|Dad's|{_NAME}'s) (?:[\w-]+ ){{0,2}}(?:{_EVENTS}"
        rf"|appointment|flight|move|visit|trip)) was (?:meant to be|going to be|scheduled for|supposed "
        rf"to be|planned for|due)(?: on)? (?P<when>[^;.]+)"
    ),
    flags=re.IGNORECASE,
)
_NEW_DATE: Final = re.compile(
    r"\b(?:the )?new date (?:is|will be)(?: on)? (?P<when>.+)$", flags=re.IGNORECASE
)
_NOT_THEN: Final = re.compile(
    (
        rf"\bit (?:won't|will not|isn't going to) be (?:on )?(?P<when>{_DAY}|the \d{{1,2}}(?:st|nd|rd"
        rf"|th)(?: of [A-Z]\w+)?)"
    ),
    flags=re.IGNORECASE,
)
_BARE_DATE: Final = re.compile(
    r"^(?P<when>(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day )?\d{1,2} [A-Z]\w+ 20\d\d)(?=,|$)"
)
_SIGNED_UP: Final = re.compile(
    rf"\bsigned up for (?:a|the|my) (?P<what>[^,.;]{{3,50}}),? (?P<when>{_DAY})", flags=re.IGNORECASE
)
_EXPIRES: Final = re.compile(
    (
        r"\bmy (?P<what>passport|visa|licence|license|lease|contract|insurance|membership|permit) "
        r"(?:expires|runs out|ends)(?: on)? (?P<when>[^,;.]+)"
    ),
    flags=re.IGNORECASE,
)
_LIMB: Final = "|".join(LIMBS)
_BROKEN: Final = re.compile(
    rf"^(?P<how>broken|fractured|sprained) (?P<limb>(?:left |right )?(?:{_LIMB}))$", flags=re.IGNORECASE
)
_WHICH_LIMB: Final = re.compile(
    rf"\bit's (?:the|my) (?P<side>left|right) (?P<limb>{_LIMB})\b", flags=re.IGNORECASE
)
_INVOICE: Final = re.compile(
    rf"\binvoice\b[^.;]*? to (?:an? [a-zé]+, )?(?P<who>(?:the )?{_NAME}), (?:number|no\.?) "
    rf"(?P<code>[A-Z]{{2,5}}-\d{{2,8}})(?:, (?P<rest>.+))?"
)
_REFUND: Final = re.compile(
    r"\brefund (?:part of |for |of )?(?:the )?order (?P<code>\d{3,8})\b", flags=re.IGNORECASE
)
_IT_IS: Final = re.compile(r"^it(?:'s| is) (?P<rest>[£$€]\d.*)$", flags=re.IGNORECASE)
_NOT: Final = re.compile(
    (
        r"\b(?:that's|it's|it is|that is|make that|i meant|should be) (?P<right>[£$€]?\d[\d.,]*\d"
        r"|[£$€]?\d), not (?P<wrong>[£$€]?\d[\d.,]*\d|[£$€]?\d)(?![\w])"
    ),
    flags=re.IGNORECASE,
)


def read(page: Page, sentence: TextPart) -> None:
    """Read what a sentence tells in ways that no verb's table holds."""
    low = sentence.text.lower()
    for needed, pattern, reads in _TABLE:
        if needed in low:
            match = pattern.search(sentence.text)
            if match is not None:
                reads(page, sentence, match)


def _when(page: Page, text: str, *, forward: bool | None = None) -> Validity:
    found = dates.day(text, page.turn.when, forward=forward)
    if found.since is not None:
        return found
    return dates.past(text, page.turn.when) if forward is False else dates.ahead(text, page.turn.when)


def _on(
    page: Page,
    part: TextPart,
    what: str,
    when: datetime | None,
    *,
    polarity: bool = True,
    voice: Voice = _STATED,
) -> None:
    """Say on which day something is, and keep it in mind for what is said of it next."""
    if when is not None:
        page.claim(part, voice, what, "is_on", when.date().isoformat(), polarity=polarity)
        page.note_topic("matter", what)


# -- work -----------------------------------------------------------------------------------------


def _offer(page: Page, part: TextPart, match: re.Match[str]) -> None:
    page.note_topic("offer", match["org"])
    page.offer = match["org"] if page.says(_ACCEPTED) else None


def _applied(page: Page, part: TextPart, match: re.Match[str]) -> None:
    if trade(match["title"]) and page.says(_HAS_APPLIED):
        page.note_topic("offer", match["org"])
        page.note_topic("title", match["title"])


def _starting(page: Page, part: TextPart, match: re.Match[str]) -> None:
    """Read `Senior data engineer, start on Monday` of an offer taken, `De Kade, starting on …` of one applied for."""
    held = Validity(_when(page, match["when"], forward=True).since)
    if held.since is None:
        return
    speaker = page.turn.speaker
    title = trade(match["what"])
    if title and page.offer:
        page.claim(part, Voice(), speaker, "works_at", page.offer, held=held)
        page.claim(part, Voice(), speaker, "works_as", title[0].lower(), held=held)
        return
    offered = page.topic("offer")
    if offered is not None and offered.name == match["what"]:
        page.claim(part, Voice(), speaker, "works_at", offered.name, held=held)
        known = page.topic("title")
        if known is not None:
            page.claim(part, Voice(), speaker, "works_as", known.name.lower(), held=held)


def _employer(page: Page, said: str | None) -> str | None:
    """Return the employer by its whole name, where an earlier turn told it; the newest one when none is said."""
    for note in page.known.facts():
        claim = note.claim
        if (
            claim is None
            or claim.rel != "works_at"
            or claim.subject != page.turn.speaker
            or not claim.polarity
        ):
            continue
        if said is None and claim.valid_from is not None and claim.valid_from > page.turn.when:
            continue
        if said is None or claim.object.lower().startswith(said.lower()):
            page.use(note)
            return claim.object
    return said


def _last_day(page: Page, part: TextPart, match: re.Match[str]) -> None:
    said = match["org"] or match["where"]
    employer = _employer(page, said.strip() if said else None)
    held = _when(page, match["when"] or match["then"], forward=True)
    if employer is not None and held.until is not None:
        page.claim(part, Voice(), page.turn.speaker, "works_at", employer, held=Validity(None, held.until))


def _first_day(page: Page, part: TextPart, match: re.Match[str]) -> None:
    employer = _employer(page, match["org"])
    when = _when(page, "today" if match["when"].lower() in ("done", "over") else match["when"])
    if employer is not None and when.since is not None:
        page.claim(part, Voice(), page.turn.speaker, "works_at", employer, held=Validity(when.since))


def _has_me(page: Page, part: TextPart, match: re.Match[str]) -> None:
    for title in trade(match["what"]):
        page.claim(part, Voice(), page.turn.speaker, "works_as", title)


# -- people ---------------------------------------------------------------------------------------


def _engaged(page: Page, part: TextPart, match: re.Match[str]) -> None:
    if page.says(_SAID_YES) and page.is_person(match["who"]):
        held = dates.past(match["when"], page.turn.when)
        page.claim(part, Voice(), page.turn.speaker, "engaged_to", match["who"], held=Validity(held.since))


def _born(page: Page, part: TextPart, match: re.Match[str]) -> None:
    held = _when(page, match["when"], forward=False)
    if held.since is not None and held.until is not None and (held.until - held.since).days == 1:
        page.claim(part, Voice(), match["who"], "born_on", held.since.date().isoformat())
        page.introduce("child of the family", match["who"])


def _here(page: Page, part: TextPart, match: re.Match[str]) -> None:
    page.here = match["where"] if place(match["where"]) else None


def _lived_here(page: Page, part: TextPart, match: re.Match[str]) -> None:
    if page.here:
        page.claim(
            part,
            Voice(),
            page.turn.speaker,
            "lives_in",
            page.here,
            held=dates.bounds(part.text, page.turn.when),
        )


def _broken(page: Page, part: TextPart, match: re.Match[str]) -> None:
    page.claim(
        part, Voice(), page.turn.speaker, "has_condition", f"{match['how'].lower()} {match['limb'].lower()}"
    )


def _which_limb(page: Page, part: TextPart, match: re.Match[str]) -> None:
    """Read `it's the LEFT wrist` of one that is known to be broken."""
    side, limb = match["side"].lower(), match["limb"].lower()
    for note in page.known.facts():
        claim = note.claim
        if (
            claim is None
            or claim.subject != page.turn.speaker
            or claim.rel != "has_condition"
            or not claim.object.endswith(limb)
        ):
            continue
        page.use(note)
        how = claim.object.split()[0]
        voice = Voice(source_type="corrected")
        page.claim(part, voice, page.turn.speaker, "has_condition", f"{how} {side} {limb}")
        other = "left" if side == "right" else "right"
        page.claim(part, voice, page.turn.speaker, "has_condition", f"{how} {other} {limb}", polarity=False)
        return


# -- days -----------------------------------------------------------------------------------------


def _there_is(page: Page, part: TextPart, match: re.Match[str]) -> None:
    _on(page, part, match["event"].lower(), _when(page, match["when"], forward=True).since)


def _set(page: Page, part: TextPart, match: re.Match[str]) -> None:
    if re.search(r"\b(?:we|our|my|i)\b|'ve", part.text, flags=re.IGNORECASE):
        what = f"{page.turn.speaker}'s {match['event'].lower()}"
        _on(page, part, what, _when(page, match["when"], forward=True).since)


def _was_meant(page: Page, part: TextPart, match: re.Match[str]) -> None:
    what = re.sub(r"^(?:my|our) ", f"{page.turn.speaker}'s ", match["what"], flags=re.IGNORECASE)
    what = re.sub(r"^(Mum|Mom|Dad)'s", lambda found: f"{page.turn.speaker}'s {found[1].lower()}'s", what)
    _on(
        page,
        part,
        what,
        _when(page, match["when"]).since,
        polarity=False,
        voice=Voice(source_type="corrected"),
    )
    page.matter = what


def _new_date(page: Page, part: TextPart, match: re.Match[str]) -> None:
    if page.matter is not None:
        when = _when(page, match["when"], forward=True)
        _on(page, part, page.matter, when.since, voice=Voice(source_type="corrected"))


def _not_then(page: Page, part: TextPart, match: re.Match[str]) -> None:
    """Read `it won't be the 12th of April`: whatever was to be then isn't."""
    when = _when(page, match["when"], forward=True).since
    for note in page.known.facts():
        claim = note.claim
        if (
            when is not None
            and claim is not None
            and claim.rel == "is_on"
            and claim.object == when.date().isoformat()
            and claim.polarity
        ):
            page.use(note)
            _on(page, part, claim.subject, when, polarity=False, voice=Voice(source_type="corrected"))
            return


def _bare_date(page: Page, part: TextPart, match: re.Match[str]) -> None:
    """Read `Saturday 10 May 2025, same barn` where a date has just been called off."""
    note = page.topic("matter")
    if note is None or page.turn.at - note.at > _NEAR or "same" not in part.text.lower():
        return
    _on(page, part, note.name, _when(page, match["when"]).since, voice=Voice(source_type="corrected"))


def _signed_up(page: Page, part: TextPart, match: re.Match[str]) -> None:
    _on(page, part, match["what"], _when(page, match["when"], forward=True).since)


def _expires(page: Page, part: TextPart, match: re.Match[str]) -> None:
    held = _when(page, match["when"], forward=True)
    if held.since is not None:
        page.claim(
            part,
            Voice(),
            f"{page.turn.speaker}'s {match['what'].lower()}",
            "expires_on",
            held.since.date().isoformat(),
        )


# -- numbers --------------------------------------------------------------------------------------


def _invoice(page: Page, part: TextPart, match: re.Match[str]) -> None:
    subject = f"{match['who']}'s invoice"
    page.claim(part, Voice(), subject, "number_is", match["code"])
    for amount in money(match["rest"] or ""):
        page.claim(part, Voice(), subject, "costs", amount)


def _refund(page: Page, part: TextPart, match: re.Match[str]) -> None:
    page.matter = f"refund for order {match['code']}"


def _it_is(page: Page, part: TextPart, match: re.Match[str]) -> None:
    if page.matter is not None:
        for amount in money(match["rest"]):
            page.claim(part, Voice(), page.matter, "costs", amount)


def _not_but(page: Page, part: TextPart, match: re.Match[str]) -> None:
    """Read `that's 54, not 45` of a number that was told before."""
    wrong = number_in(match["wrong"])
    for note in page.known.facts():
        claim = note.claim
        told = number_in(claim.object) if claim is not None and claim.polarity else None
        if (
            claim is None
            or wrong is None
            or told is None
            or told[0] != wrong[0]
            or page.turn.at - note.at > _NEAR
        ):
            continue
        page.use(note)
        voice = Voice(source_type="corrected")
        sign = claim.object[0] if claim.object[0] in "£$€" else ""
        right = match["right"] if match["right"][0] in "£$€" else f"{sign}{match['right']}"
        page.claim(part, voice, claim.subject, claim.rel, right)
        page.claim(part, voice, claim.subject, claim.rel, claim.object, polarity=False)
        return


_Reads = Callable[[Page, TextPart, re.Match[str]], None]
_TABLE: Final[tuple[tuple[str, re.Pattern[str], _Reads], ...]] = (
    ("offer", _OFFER, _offer),
    (" at a", _APPLIED, _applied),
    (", start", _STARTING, _starting),
    ("last day", _LAST_DAY, _last_day),
    ("first day", _FIRST_DAY, _first_day),
    (" me ", _HAS_ME, _has_me),
    ("marry", _ENGAGED, _engaged),
    ("proposed", _ENGAGED, _engaged),
    ("born", _BORN, _born),
    ("greetings from", _HERE, _here),
    (" here", _LIVED_HERE, _lived_here),
    ("roken", _BROKEN, _broken),
    ("ractured", _BROKEN, _broken),
    ("it's", _WHICH_LIMB, _which_limb),
    ("there", _THERE_IS, _there_is),
    ("wedding", _SET, _set),
    (" was ", _WAS_MEANT, _was_meant),
    ("new date", _NEW_DATE, _new_date),
    ("be ", _NOT_THEN, _not_then),
    ("20", _BARE_DATE, _bare_date),
    ("signed up", _SIGNED_UP, _signed_up),
    ("my ", _EXPIRES, _expires),
    ("invoice", _INVOICE, _invoice),
    ("refund", _REFUND, _refund),
    ("it's", _IT_IS, _it_is),
    (", not ", _NOT, _not_but),
)
