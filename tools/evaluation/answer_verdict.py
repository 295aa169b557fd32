"""Whether an answer tells what a talk says: a verdict without a model, by values and not by wording. Pure.

Numbers, dates and times are compared by what they are worth: 3k is 3,000, "the 20th of March" is 2026-03-20, 9:15 is
9.15. What a turn says within a quotation is that turn's; what stands outside it, the answer says itself.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple

import msgspec

from braid.agent.cite import bare
from braid.text.calendar import MONTH_NAME, SHORT_DAYS, WEEKDAYS, month_of
from braid.text.numbers import SCALES, VALUES

Rung = Literal["told", "near", "silent"]
"""told: as an answer, however surely; near: shown without being made an answer of."""
Verdict = Literal[
    "right",
    "wrong",
    "in part",
    "near with it",
    "near without",
    "silent",
    "told never said",
    "untold never said",
]
"""in part: a list or a change of which not all is told, and nothing else; near with it: the right turn is shown."""
VERDICTS: Final[tuple[Verdict, ...]] = (
    "right", "wrong", "in part", "near with it", "near without", "silent", "told never said", "untold never said",
)  # fmt: skip


class TalkQuestion(msgspec.Struct, frozen=True):
    """A question of a talk, and what is right; see tests/data/talks/README.md."""

    id: str
    question: str
    asks: str
    answer: str
    accept: tuple[str, ...]
    turns: tuple[str, ...]
    also: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    change: bool = False
    never_said: bool = False


class Given(msgspec.Struct, frozen=True):
    """What was answered: `text` without citations, `short` as programs get it, and the turns that it cites."""

    rung: Rung
    text: str = ""
    short: str = ""
    cited: tuple[str, ...] = ()


class Judgement(msgspec.Struct, frozen=True):
    """A verdict, and why."""

    verdict: Verdict
    why: str


class _Said(NamedTuple):
    """A clause of an answer, or what it quotes of a turn, in words and values; `turn` of a quotation: the turns that it
    stands in."""

    words: tuple[str, ...]
    quoted: bool = False
    turns: frozenset[str] = frozenset()
    past: bool = False


_QUOTE: Final = re.compile(r"“([^”]*)”")
_FRAME: Final = re.compile(
    r"(?:\b[Oo]n [^,:.“”]{3,40}, )?(?P<who>[^.,:;“”!?]{1,60}?) (?:said|wrote)\b(?:[^:“”]{0,80})?:\s*$",
    re.DOTALL,
)
"""Who said it when, before a quotation: the day of saying is no value that the answer tells."""
_CLAUSE: Final = re.compile(r"[;:()–—!?]|,(?=\s)|\.(?=\s|$)|\b(?:but|and|now|then)\b|→", re.IGNORECASE)
_NUMBER: Final = r"\d+(?:[.,:]\d+)*"
_ORDINAL: Final = "\x01"
"""Stands behind the number of a day, in place of its "th"."""
_TOKEN: Final = re.compile(rf"@\d+-\d+|{_ORDINAL}|{_NUMBER}|[^\W\d_]+")
_DATES: Final = (
    re.compile(r"\b(?:19|20)\d\d-(?P<month>[01]\d)-(?P<day>[0-3]\d)\b"),
    re.compile(rf"\b(?P<day>[0-3]?\d)(?:st|nd|rd|th)?(?: of)? (?P<month>{MONTH_NAME})\b(?!')", re.IGNORECASE),
    re.compile(
        rf"\b(?P<month>{MONTH_NAME})\.? (?:the )?(?P<day>[0-3]?\d)(?:st|nd|rd|th)?\b(?![:.]\d)", re.IGNORECASE
    ),
)
_THOUSANDS: Final = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_YES: Final = frozenset(("yes", "yeah", "yep"))
_NO: Final = frozenset(("no", "nope"))
_DENIES: Final = frozenset(
    ("not", "no", "never", "nobody", "none", "isnt", "wasnt", "arent", "werent", "didnt", "doesnt", "dont", "hasnt",
     "havent", "hadnt", "wont", "cant", "couldnt", "wouldnt", "cannot", "nor", "neither", "without")
)  # fmt: skip
_NEAR: Final = 6
"""How many words before a value deny it."""
_PAST: Final = frozenset(
    ("before", "until", "till", "first", "initially", "originally", "original", "previously", "previous", "earlier",
     "formerly", "used", "longer", "anymore", "instead", "rather", "replaced", "replaces", "replacing", "old", "from",
     "once")
)  # fmt: skip
_AMOUNTS: Final = frozenset(("amount", "how_many", "count"))
_IN_PARTS: Final = frozenset(("list", "timeline", "what_changed", "count"))
_OPENING: Final = 7
"""Among how many words of an answer its yes or no stands: "Perhaps no, but …"."""


def judge(wanted: TalkQuestion, given: Given, texts: Mapping[str, str], user: str = "") -> Judgement:
    """Return what an answer is worth. `texts`: what each turn says; `user`: who asks, whom an answer may call "you"."""
    if wanted.never_said:
        if given.rung == "told":
            return Judgement("told never said", "it was never said")
        return Judgement("untold never said", given.rung)
    if given.rung == "silent":
        return Judgement("silent", "nothing was said")
    cites = not set(wanted.turns).isdisjoint(given.cited)
    if given.rung == "near":
        return Judgement("near with it", "shown") if cites else Judgement("near without", "not shown")
    why = _amiss(wanted, given, texts, user)
    return _of_told(wanted, given, texts) if why is None else _of_amiss(wanted, given, texts, why)


def _of_told(wanted: TalkQuestion, given: Given, texts: Mapping[str, str]) -> Judgement:
    """Judge an answer that tells the right value."""
    if set(wanted.turns).isdisjoint(given.cited):
        return Judgement("wrong", "the right value, citing a turn that doesn't bear it")
    missing = [each for each in wanted.also if not _anywhere(each, given, texts)]
    if missing:
        return Judgement("in part", f"without {', '.join(missing)}")
    return Judgement("right", "told and cited")


def _of_amiss(wanted: TalkQuestion, given: Given, texts: Mapping[str, str], why: str) -> Judgement:
    """Judge an answer that doesn't tell the right value: of a list it may tell another part."""
    cites = not set(wanted.turns).isdisjoint(given.cited)
    if cites and why == "not told" and wanted.asks in _IN_PARTS:
        told = [each for each in wanted.also if _anywhere(each, given, texts)]
        if told:
            return Judgement("in part", f"only {', '.join(told)}")
    if why == "not told":
        why = "another piece of the right turn" if cites else "another turn"
    return Judgement("wrong", why)


def _amiss(wanted: TalkQuestion, given: Given, texts: Mapping[str, str], user: str) -> str | None:
    """Return what is wrong with what an answer tells, None for nothing; its citations aside."""
    said = list(_said(given.text, texts))
    own = [one for one in said if not one.quoted]
    short = _Said(words_of(given.short), past=_is_past(words_of(given.short)))
    stale = _stale(wanted, said, short)
    if wanted.asks == "yes_no" and (told := _polarity(given)) is not None:
        if told != _expected(wanted.answer, default=told):
            return "yes for no, or no for yes"
        return stale
    if stale is not None:
        return stale
    accepted = [each for each in wanted.accept if not (wanted.asks == "yes_no" and _is_check(words_of(each)))]
    values = [words_of(each) for each in accepted]
    if wanted.asks in ("who", "who_said"):
        said += [_Said(who) for who in _speakers(given.text)]
        if user and any(value == words_of(user) for value in values):
            values.append(("you",))
    by_number = wanted.asks in _AMOUNTS
    found = denied = in_own = False
    for one in said:
        loose = by_number and not one.quoted
        for value in values:
            for at in _places(value, one.words, loose=loose):
                if one.quoted or not _is_denied(one.words, at, value):
                    found = True
                    in_own = in_own or not one.quoted
                else:
                    denied = True
    if not found:
        return "the right value, denied" if denied else "not told"
    asserted = _asserted(own, short.words)
    if asserted and not in_own and not any(_places(value, short.words, loose=by_number) for value in values):
        return "another piece of the right turn than the one it tells"
    return None


def _stale(wanted: TalkQuestion, said: Sequence[_Said], short: _Said) -> str | None:
    """Return what is told that no longer holds, or is a neighbour's: as what holds, not as what was."""
    values = [words_of(each) for each in wanted.accept]
    by_number = wanted.asks in _AMOUNTS
    for text in wanted.stale:
        old = words_of(text)
        for one in (*said, short):
            if one.quoted and not one.turns.isdisjoint(wanted.turns):
                continue  # a turn that says both bears the answer
            loose = by_number and not one.quoted
            right = {
                place
                for value in values
                for start in _places(value, one.words, loose=loose)
                for place in range(start, start + len(value))
            }
            for at in _places(old, one.words, loose=loose):
                if one.past or _is_denied(one.words, at, old) or set(range(at, at + len(old))) <= right:
                    continue
                if one is short and right:
                    continue
                return f"a stale value, or another's: {text}"
    return None


def _asserted(own: Sequence[_Said], short: tuple[str, ...]) -> bool:
    """Whether an answer says its fewest words itself, and doesn't only quote them; a yes or no alone tells no value."""
    if not short or _is_check(short):
        return False
    return any(_places(short, one.words, loose=False) for one in own)


def _is_check(value: tuple[str, ...]) -> bool:
    return len(value) == 1 and value[0] in _YES | _NO


def _polarity(given: Given) -> bool | None:
    """Return whether an answer says yes or no itself, None where it says neither."""
    outside = _QUOTE.sub(" ", given.text)
    for text in (given.short, outside):
        for word in words_of(text)[: 1 if text is given.short else _OPENING]:
            if word in _YES | _NO:
                return word in _YES
    return None


def _expected(answer: str, *, default: bool) -> bool:
    first = words_of(answer)[:1]
    return default if not first or first[0] not in _YES | _NO else first[0] in _YES


def _anywhere(text: str, given: Given, texts: Mapping[str, str]) -> bool:
    value = words_of(text)
    pieces = [*_said(given.text, texts), _Said(words_of(given.short))]
    return any(
        one.quoted or not _is_denied(one.words, at, value)
        for one in pieces
        for at in _places(value, one.words, loose=False)
    )


def _said(text: str, texts: Mapping[str, str]) -> Iterator[_Said]:
    """Yield the clauses of an answer and its quotations, in order, without who said them when."""
    whole = bare(text)
    at, changed = 0, "may have changed" in whole
    quotations = list(_QUOTE.finditer(whole))
    by_turn = {id: words_of(turn) for id, turn in texts.items()}
    for number, match in enumerate([*quotations, None]):
        outside = whole[at : match.start() if match else len(whole)]
        before = _FRAME.sub("", outside) if match else outside
        for clause in _CLAUSE.split(before):
            if words := words_of(clause):
                yield _Said(words, past=_is_past(words))
        if match is None:
            return
        words = words_of(match[1].removesuffix("…"))
        turns = frozenset(id for id, turn in by_turn.items() if words and _places(words, turn, loose=False))
        lead = words_of(before)[-_NEAR:]
        # "This may have changed." stands before what was said first and what was said since.
        past = _is_past(lead) or (changed and number < len(quotations) - 1)
        yield _Said(words, True, turns, past)
        at = match.end()


def _speakers(text: str) -> Iterator[tuple[str, ...]]:
    whole, at = bare(text), 0
    for match in _QUOTE.finditer(whole):
        if frame := _FRAME.search(whole[at : match.start()]):
            yield words_of(frame["who"])
        at = match.end()


def _is_past(words: Sequence[str]) -> bool:
    return not _PAST.isdisjoint(words)


def _is_denied(words: Sequence[str], at: int, value: Sequence[str]) -> bool:
    """Whether a clause denies the value that stands at a place in it."""
    if not _DENIES.isdisjoint(value):
        return False
    return not _DENIES.isdisjoint(words[max(0, at - _NEAR) : at])


def _places(value: Sequence[str], words: Sequence[str], *, loose: bool) -> list[int]:
    """Return where a value stands in some words; `loose`: a number by itself, without what it counts."""
    if not value:
        return []
    found = [at for at in range(len(words) - len(value) + 1) if _stands(value, words[at : at + len(value)])]
    numbers = [each for each in value if each[0].isdigit()]
    if found or not loose or len(numbers) != 1:
        return found
    return [at for at, word in enumerate(words) if word == numbers[0]]


def _stands(value: Sequence[str], words: Sequence[str]) -> bool:
    last = len(value) - 1
    return all(
        _same(each, word, begins=at == last) for at, (each, word) in enumerate(zip(value, words, strict=True))
    )


def _same(value: str, word: str, *, begins: bool) -> bool:
    """Whether a word is that of a value, or begins with it: "suma" is sumatriptan's, "pat" Pat's, "sat" Saturday's."""
    if value == word:
        return True
    if value.endswith(".") and word.startswith("@"):  # the 22nd, of any month
        return word.partition("-")[2] == value[:-1]
    if not begins or not value[0].isalpha():
        return False
    if len(value) >= 4:
        return word.startswith(value)
    return word == f"{value}s" or (value in SHORT_DAYS and word in WEEKDAYS and word.startswith(value))


def words_of(text: str) -> tuple[str, ...]:
    """Return the words and values of a text as they are compared: lower case, without accents, values by worth."""
    folded = unicodedata.normalize("NFKD", text.casefold().replace("’", "").replace("'", ""))
    low = "".join(c for c in folded if not unicodedata.combining(c) and c != _ORDINAL)
    for form in _DATES:
        low = form.sub(_date, low)
    low = re.sub(r"\b([0-3]?\d)(?:st|nd|rd|th)\b", rf"\1 {_ORDINAL}", low)
    found: list[str] = []
    for token in _TOKEN.findall(low):
        _take(token, found)
    return tuple(found)


def _date(match: re.Match[str]) -> str:
    month = match["month"]
    return f" @{int(month) if month.isdigit() else month_of(month)}-{int(match['day'])} "


def _take(token: str, found: list[str]) -> None:
    """Put a token behind the others: it may only say how much the one before is worth."""
    before = found[-1] if found else ""
    number = before.isdigit()
    if token == _ORDINAL:
        found[-1] = f"{int(before)}."
    elif token in ("k",) and before.replace(".", "", 1).isdigit():
        found[-1] = _plain(str(float(before) * 1000))
    elif token in SCALES and number:
        found[-1] = str(int(before) * SCALES[token])
    elif token in VALUES:
        tens = number and 20 <= int(before) < 100 and int(before) % 10 == 0 and 0 < VALUES[token] < 10
        if tens:
            found[-1] = str(int(before) + VALUES[token])
        else:
            found.append(str(VALUES[token]))
    elif token[0].isdigit():
        found.append(_worth(token))
    else:
        found.append(token)


def _worth(number: str) -> str:
    if _THOUSANDS.fullmatch(number):
        return _plain(number.replace(",", ""))
    low = number.replace(":", ".").replace(",", ".")
    return _plain(low) if low.count(".") < 2 else low


def _plain(number: str) -> str:
    """Return a number without leading zeros, and without decimals that are zeros."""
    whole, _, part = number.partition(".")
    digits = whole.lstrip("0") or "0"
    return digits if not part.strip("0") else f"{digits}.{part}"
