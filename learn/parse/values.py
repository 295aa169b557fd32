"""What a thing's date, price, number or value is; of a person, their address, phone and birthday. Pure."""

import re
from typing import Final

from braid.learn import dates
from braid.learn.parse.people import Whom
from braid.learn.parse.phrases import shown
from braid.learn.parse.said import Said, say
from braid.text.calendar import MONTH_NAME, MONTHS, TIME_WORDS, WEEKDAY_NAME
from braid.text.numbers import ORDINAL
from braid.text.quantities import sum_in
from braid.text.words import listed

_CODE: Final = re.compile(r"#?(?=[\w./:@-]*\d)[A-Za-z0-9][\w./:@-]{1,40}")
_MAIL: Final = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]+")
_COUNTED: Final = listed(
    "invoice booking order reference ticket tracking policy account customer case flight confirmation "
    "member membership code id ref"
)
_MONTH: Final = re.compile(rf"\b{MONTH_NAME}\b|\d\s?[./-]\s?\d", re.IGNORECASE)
_MOST_DAYS: Final = 31
_YEARS: Final = 1900
_LINE: Final = re.compile(
    r"(?:(?:new|old|work|home|mobile|cell|phone) )*(?:e-?mail|phone|number|address)\b", re.IGNORECASE
)
_NOW: Final = re.compile(r"[^.!?]*\bnow\b", re.IGNORECASE)
_ORDINAL: Final = re.compile(ORDINAL, re.IGNORECASE)
_NAMES_TIME: Final = TIME_WORDS | listed("end start beginning half quarter fortnight time date deadline eve")
_DAY: Final = r"\d{1,2}(?:st|nd|rd|th)?"
_UP_TO: Final = r"(?: ?[-–—] ?| (?:to|until|till|and) (?:the )?)"
_SPAN: Final = re.compile(
    rf"\b{_DAY}(?: {MONTH_NAME})?{_UP_TO}{_DAY} (?:of )?{MONTH_NAME}\b"
    rf"|\b{MONTH_NAME} {_DAY}{_UP_TO}(?:{MONTH_NAME} )?{_DAY}\b(?![:.]\d)",
    re.IGNORECASE,
)
_UNDATED: Final = re.compile(
    rf"\bbetween (?:the )?{WEEKDAY_NAME}\b|\bor (?:on )?(?:the )?(?:{_DAY} |{WEEKDAY_NAME}\b)"
    r"|^(?:not )?(?:(?:before|after)\b|sometime\b)",
    re.IGNORECASE,
)
"""What names a day that it isn't on."""
_COUNTED_FROM: Final = re.compile(
    r"^(?:the day after tomorrow\b|(?:a|one|two) (?:week|fortnight)s? (?:on|today|tomorrow|from)\b"
    r"|the (?:day|night) (?:before|after)\b)",
    re.IGNORECASE,
)
"""The days and weeks that name a day: not 90 days from today."""
_FROM_SAYING: Final = re.compile(
    rf"^(?:on )?(?:next {WEEKDAY_NAME}"
    rf"|(?:the )?(?:day|evening|night|morning|afternoon|{WEEKDAY_NAME}) (?:before|after)$"
    rf"|(?:the )?(?:following|next) (?:day|morning|evening|{WEEKDAY_NAME})|(?:the )?week(?:end)? after next"
    rf"|(?:either )?(?:on )?{WEEKDAY_NAME} or\b)",
    re.IGNORECASE,
)
"""What means nothing without the day that it was said on, or the words before it."""
_ANOTHER_VALUE: Final = re.compile(r"[,(]|days?\b")
"""Before a sum, what is no part of it: what something is, with its price beside it."""


def expires(said: Said, subject: Whom) -> bool:
    """My passport runs out on 3 September."""
    if said.clause.lemma not in ("expire", "run out") or subject.sort != "thing" or said.clause.denied:
        return False
    first, last = said.clause.said
    held = dates.ahead(shown(said.clause.parse, first, last), said.page.turn.when)
    if held.since is None or held.until is None or (held.until - held.since).days > 1:
        return False
    said.claim(subject.name, "expires_on", held.since.date().isoformat())
    return True


def dated(said: Said, subject: Whom, at: int) -> bool:
    """The concert is tomorrow; my birthday is June 3rd. Not: retention is 90 days from today."""
    if subject.sort != "thing":
        return False
    words = shown(said.clause.parse, said.clause.verb + 1, said.clause.said[1])
    amount, lemma = said.clause.parse.tokens[at].text, said.clause.parse.lemma(at)
    if said.clause.parse.tokens[at].pos == "NOUN" and amount.isalpha() and not _is_of_time(lemma):
        return False  # she is charge nurse tonight
    if amount.isdigit() and _MOST_DAYS < int(amount) < _YEARS:
        return False  # my blood pressure was 142 over 91 yesterday
    is_span = said.clause.parse.tokens[at].lemma in ("day", "week", "month", "year", "fortnight")
    if is_span and _COUNTED_FROM.match(words) is None:
        return False
    return dated_by(said, subject, words)


def _is_of_time(lemma: str) -> bool:
    return lemma in _NAMES_TIME or _ORDINAL.fullmatch(lemma) is not None


def dated_by(said: Said, subject: Whom, words: str) -> bool:
    """Claim the day in the words behind "be": of a birthday without its year, of anything else with it."""
    when = said.page.turn.when
    if subject.name.lower().endswith("birthday"):
        owner = subject.name[: -len("birthday")].strip().removesuffix("'s").removesuffix("’s") or said.speaker
        held = dates.day(words, dates.LEAP)
        if held.since is None or not _MONTH.search(words):
            return False  # my birthday is the 21st: of which month isn't said
        return say(
            said,
            owner,
            "birthday",
            f"{held.since.day} {MONTHS[held.since.month - 1].title()}",
        )
    if _SPAN.search(words) or _UNDATED.search(words):
        return _FROM_SAYING.match(words) is not None  # from 3 to 17 August: neither day is that of the whole
    if said.clause.tense == "past" and _NOW.match(said.page.text, said.part.stop):
        return False  # the review was on Monday, it's now on Wednesday
    held = dates.past(words, when) if said.clause.tense == "past" else dates.ahead(words, when)
    if held.since is None or held.until is None or (held.until - held.since).days > 1:
        return _FROM_SAYING.match(words) is not None  # then nothing is claimed of it
    return say(said, subject.name, "is_on", held.since.date().isoformat(), held=dates.NEVER)


def priced(said: Said, subject: Whom, at: int) -> bool:
    """The ticket is 40 euros."""
    text = shown(said.clause.parse, said.clause.verb + 1, said.clause.said[1])
    found = sum_in(text)
    if subject.sort != "thing" or found is None or len(text.split()) > 6:
        return False
    if _ANOTHER_VALUE.search(text[: found.start()]):
        return False  # swimming is tuesdays (£6.50 a go)
    return say(said, subject.name, "costs", text)


def coded(said: Said, subject: Whom, at: int) -> bool:
    """My email is kofi@mail.example; the invoice is INV-2034; the limit is 500."""
    parse = said.clause.parse
    if subject.sort != "thing":
        return False
    name = subject.name
    text = shown(parse, said.clause.verb + 1, said.clause.said[1]).partition(", not ")[0]
    mail = _MAIL.search(text)
    for word, rel in (
        ("email", "email_is"),
        ("e-mail", "email_is"),
        ("phone", "phone_is"),
        ("number", "phone_is"),
        ("address", "address_is"),
    ):
        if (
            name.startswith(f"{said.speaker}'s ")
            and _LINE.match(name.removeprefix(f"{said.speaker}'s "))
            and word in name.removeprefix(f"{said.speaker}'s ").split()[:2]
        ):
            what = mail[0] if mail and rel == "email_is" else text
            return say(said, said.speaker, rel, what)
    code = _CODE.search(text)
    if code is None or len(text.split()) > 8:
        return False
    if set(name.lower().split()) & _COUNTED and text.startswith(code[0]) and len(code[0]) > 2:
        return say(said, name, "number_is", code[0])
    if text.startswith(code[0]) or (len(text.split()) <= 4 and "," not in text[: code.start()]):
        return say(said, name, "value_is", text)
    return False
