"""Whether cited memories bear a sentence out: its literals, names, numbers, dates, negation and words. Pure.

A lexical check, not an entailment: it leaves most paraphrases unchecked. What it must not call borne out is a fact that
no memory holds.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final, Literal

import msgspec

from braid.affect.facts import facts, is_ordinary
from braid.agent.guard.prompt import PromptMemory
from braid.text import numbers
from braid.text.calendar import MONTHS, SHORT_DAYS, WEEKDAYS, weekday_of
from braid.text.dates import times
from braid.text.sentences import sentences
from braid.text.words import stem, stems, telling, telling_stems, words

SHARE: Final = 0.5
"""How many of a sentence's telling words must stand in what it cites."""
_OPENING: Final = """
according actually additionally apparently based before currently earlier finally furthermore later
meanwhile mostly originally previously recently roughly similarly specifically today
"""
_OPENERS: Final = frozenset(_OPENING.split())
_LITERAL: Final = re.compile(r"https?://\S+|www\.\S+|[\w.+-]+@[\w-]+\.[\w.-]+|REDACTED_[A-Z]+_\d+|`[^`]+`")
_MARKUP: Final = re.compile(r"!\[|\]\(|<[a-zA-Z/!|]|&(?:#|lt;|gt;)|\[/?INST\]|```")
_NUMBER: Final = re.compile(r"(?<![\w.])\d(?:[\d.,:/]*\d)?")
_ORDINALS: Final = (
    *numbers.ORDINALS, "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth",
    "eighteenth", "nineteenth", "twentieth",
)  # fmt: skip
_ORDINAL: Final = re.compile(rf"\b(?:(twenty|thirty)[ -])?({'|'.join(_ORDINALS)})\b", re.IGNORECASE)
_WHOLE: Final = re.compile(r"(?!\d\d?\.\d\d?\.(?:19|20)\d\d$)\d+(?:[.:]\d+){2,}")
"""A version or a time with seconds, which is no date."""
_FROM_NOW: Final = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|(?:last|next|this) (?:night|week|weekend|month|year))\b"
    r"|\b(?:gestern|heute|morgen|hier|aujourd'hui|demain|ayer|hoy|mañana|ontem|hoje|amanhã)\b",
    re.IGNORECASE,
)
_DENIES: Final = re.compile(
    r"\b(?:nicht|kein\w*|nie|niemals|ne|n'|pas|jamais|nunca|jamás|não|nem|non|mai|niet|geen|nie|nigdy"
    r"|değil|не|нет|никогда)\b"
    r"|[不没沒無无]|ない|ません|없|않|안 |(?:^|\s)(?:لا|ليس|لم|لن)\s|नहीं|मत ",
    re.IGNORECASE,
)
_UNSPACED: Final = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")


Outcome = Literal["borne out", "unchecked", "contradicted"]


class Support(msgspec.Struct, frozen=True):
    """What the cited memories say to a sentence, and of what in it."""

    outcome: Outcome
    detail: str = ""


_NOT: Final = re.compile(
    r"\b(?:not|never|no longer|cannot|nobody|none|neither|without)\b|n['’]t\b"
    r"|\b(?:did|does|do|has|have|had|is|are|was|were|wo|ca|could|would|should)nt\b",
    re.IGNORECASE,
)
_OPENS: Final = re.compile(r"\s*(yes|no)\b[,.:;–—-]?\s*", re.IGNORECASE)
_CLAUSES: Final = re.compile(r"[,;:.!?]+(?=\s|$)|\s[–—-]\s|\b(?:but|and|so|because)\b", re.IGNORECASE)
BORNE: Final = 0.75
"""How many of its telling words the memory must have that bears a sentence out."""
_LIGHT: Final = frozenset(map(stem, """
get got gets go goes went gone come came cost costs want wanted take took taken pay paid use used do work live say said
put make made give gave have need would
am pm
""".split()))  # fmt: skip # noqa: SIM905
"""Words that one memory may say as another."""
_BREATHS: Final = re.compile(r"[.;!?]+(?=\s|$)|\n|\b(?:but|then|instead)\b", re.IGNORECASE)
"""Where what is said of one thing ends, and something else may begin."""
_GIVES_UP: Final = re.compile(
    r"\b(?:scrap\w*|cancel\w*|drop(?:s|ped)?|instead of|rather than|used to|almost|nearly|if|unless|might|may)\b",
    re.IGNORECASE,
)
"""What says that something is not so, or not surely."""
_CHANGES: Final = re.compile(
    r"\b(?:now|nvm|scrap\w*|cancel\w*|instead|moved?|changed?|actually|anymore|no|not|keep|stay\w*|may|will|decided)\b"
    r"|n['’]t\b|\bgoes\b",
    re.IGNORECASE,
)


def support(sentence: str, cited: Sequence[PromptMemory], question: str, now: datetime) -> Support:
    """Return whether the cited memories together bear a sentence out, contradict it, or leave it unchecked.

    Borne out: one memory says nearly all that it tells, in its order and with its numbers, and no later one of those
    cited speaks of that, or of a change. Contradicted: it has a name, number or date that none holds, or denies what
    one says, or says what one denies. By words: what was put in other words is unchecked.
    """
    opener = _OPENS.match(sentence)
    body = sentence[opener.end() :] if opener else sentence
    wrong = _amiss(body, cited, question, now)
    if wrong is not None:
        return Support("contradicted", wrong)
    if (turned := _against(body, cited)) is not None:
        return Support("contradicted", turned)
    if not _shares(body, cited):
        return Support("contradicted", "anything of them")
    return Support("borne out") if _is_said(body, cited) else Support("unchecked")


def _shares(sentence: str, cited: Sequence[PromptMemory]) -> bool:
    """Whether a sentence tells anything that the memories do, besides the names of who speaks."""
    speakers = _terms(" ".join(one.speaker for one in cited))
    told = (_terms(sentence) - speakers) | set(_numbers(sentence))
    held = {each for one in cited for each in (*_terms(one.text), *_numbers(one.text))} | _dated(cited)
    return not told or not told.isdisjoint(held)


def _is_said(sentence: str, cited: Sequence[PromptMemory]) -> bool:
    """Whether one memory says nearly all of a sentence, and none behind it may have changed that."""
    speakers = {stem(word) for one in cited for word in words(one.speaker)}
    told = _terms(sentence)
    about = told & speakers
    rest = {each for each in told - speakers - _LIGHT if not any(map(str.isdigit, each))}
    order = sorted(cited, key=lambda one: one.when)
    for at, one in enumerate(order):
        later = order[at + 1 :]
        if any(_CHANGES.search(each.text) or rest & _terms(each.text) for each in later):
            continue
        if _says(sentence, rest, about, one):
            return True
    return False


def _says(sentence: str, rest: set[str], about: set[str], one: PromptMemory) -> bool:
    """Whether a memory says nearly all that a sentence tells, `rest`, with its numbers, in its order; `about`: the
    speakers whom it names.

    In one breath: "scrap Kafka. we go with NATS" doesn't say "we go with Kafka".
    """
    if not any(_in_breath(rest, piece, one, sentence) for piece in _BREATHS.split(one.text)):
        return False
    held, own = _terms(one.text), stems(one.speaker)
    numbers_held = {*_numbers(one.text), *_ordinals(one.text), *_dated([one])}
    days = {_whole(word) for word in words(one.text)}
    found = [each for each in rest if each in held | numbers_held or _whole(each) in days]
    if not rest or len(found) < BORNE * len(rest):
        return False
    clocks = {each.replace(":", ".") for each in numbers_held}
    if not set(_numbers(sentence)) <= numbers_held | clocks | {"0", "1"}:
        return False
    # Of two who are named, the words don't say who did it.
    if not about <= own | held or ((about & held) - own and own & about):
        return False
    if (_NOT.search(one.text) is None) != (_NOT.search(sentence) is None) or "?" in one.text:
        return False
    return _in_order(sentence, one.text, rest)


def _in_breath(rest: set[str], piece: str, one: PromptMemory, sentence: str) -> bool:
    """Whether a piece of a memory has nearly all words of a sentence, and gives up what the sentence doesn't."""
    numbers_held = {*_numbers(piece), *_ordinals(piece), *_dated([one])}
    days = {_whole(word) for word in words(piece)}
    found = [each for each in rest if each in _terms(piece) | numbers_held or _whole(each) in days]
    gives_up = _GIVES_UP.search(piece) is not None and _GIVES_UP.search(sentence) is None
    return len(found) >= BORNE * len(rest) and not gives_up


def _in_order(sentence: str, text: str, shared: set[str]) -> bool:
    """Whether the words of a sentence stand in a memory in the same order: "from X to Y" is not "from Y to X"."""
    said = [stem(word) for word in telling(sentence) if stem(word) in shared]
    there = [stem(word) for word in telling(text)]
    at = 0
    for word in said:
        if word in there:
            if word not in there[at:]:
                return False
            at = there.index(word, at)
    return True


def _against(sentence: str, cited: Sequence[PromptMemory]) -> str | None:
    """Return what a sentence says that a memory denies, or denies that a memory says, clause by clause."""
    told = _clauses(sentence)
    newest_first = sorted(cited, key=lambda one: one.when, reverse=True)
    held = [clause for one in newest_first for clause in _clauses(one.text)]
    for words_of, denied in told:
        for other, other_denied in held:
            if (denied | other_denied) and bool(denied) != bool(other_denied):
                core = denied or other_denied
                affirmed = other if denied else words_of
                if core <= affirmed and len(words_of & other) >= 2:
                    return "its negation" if denied else "it without a negation"
                break
    return None


def _clauses(text: str) -> list[tuple[set[str], set[str]]]:
    """Return the telling words of each clause, and those of them that it denies."""
    found: list[tuple[set[str], set[str]]] = []
    for clause in _CLAUSES.split(text):
        terms = _terms(_NOT.sub(" ", clause))
        if not terms:
            continue
        match = _NOT.search(clause)
        behind = telling(clause[match.end() :])[:2] if match else []
        found.append((terms, {stem(word) for word in behind}))
    return found


def _amiss(sentence: str, cited: Sequence[PromptMemory], question: str, now: datetime) -> str | None:
    """Return a literal, name, number or date of a sentence that no cited memory holds."""
    if _MARKUP.search(sentence):
        return "markup"
    source = "\n".join(one.text for one in cited)
    for literal in _LITERAL.finditer(sentence):
        if literal[0].rstrip(".,;:!?)") not in source:
            return literal[0]
    if any(one.when.date() != now.date() for one in cited) and (said := _FROM_NOW.search(sentence)):
        return f"{said[0]!r}, which counts from another day"
    return next(_new_names(sentence, cited, question), None) or next(_new_numbers(sentence, cited), None)


def lack(sentence: str, cited: Sequence[PromptMemory], question: str, now: datetime) -> str | None:
    """Return what of a sentence the memories that it cites don't hold, None where they bear it out."""
    source = "\n".join(one.text for one in cited)
    return (
        _amiss(sentence, cited, question, now)
        or _new_words(sentence, source, cited, question)
        or _turned(sentence, source)
    )


def _new_names(sentence: str, cited: Sequence[PromptMemory], question: str) -> Iterator[str]:
    """Yield names that no memory holds. The question's own count where nobody is named as the speaker."""
    known = {stem(word) for one in cited for word in words(f"{one.text} {one.speaker}")} | _dated(cited)
    if all(one.speaker in ("user", "agent", "tool") for one in cited):
        known |= stems(question)
    first = next(iter(words(sentence)), "")
    for name in facts(sentence).names:
        low = words(name)
        if (
            is_ordinary(name)
            or (low == [first] and first in _OPENERS)
            or all(_whole(w) in WEEKDAYS for w in low)
        ):
            continue
        if low == [first] and re.match(r"\w+s (?:are|were|have|go|cost|need)\b", sentence):
            continue  # things, many of them: a capital only for standing first
        if not all(stem(word) in known or word in known for word in low):
            yield name


def _new_numbers(sentence: str, cited: Sequence[PromptMemory]) -> Iterator[str]:
    known = _dated(cited) | {found for one in cited for found in (*_numbers(one.text), *_ordinals(one.text))}
    clocks = {found.replace(":", ".") for found in known if ":" in found}
    yield from (
        found
        for found in _numbers(sentence)
        if found not in known and found not in clocks and found not in ("0", "1")
    )
    held = _dated(cited) | {_whole(word) for one in cited for word in words(one.text)}
    yield from (
        word
        for word in words(sentence)
        if _whole(word) in (*MONTHS, *WEEKDAYS) and _whole(word) not in held and word != "may"
    )


def _ordinals(text: str) -> Iterator[str]:
    """Yield the days of a month that are named in words: "the eleventh", "twenty sixth"."""
    tens = {"": 0, "twenty": 20, "thirty": 30}
    for match in _ORDINAL.finditer(text):
        yield str(tens[(match[1] or "").lower()] + _ORDINALS.index(match[2].lower()) + 1)


def _whole(word: str) -> str:
    """Return a weekday in full, of "weds" and "fridays"; any other word as it is."""
    if word.rstrip("s") in WEEKDAYS:
        return word.rstrip("s")
    if word in SHORT_DAYS or word == "weds":
        return WEEKDAYS[weekday_of(word)]
    return word


def _numbers(text: str) -> Iterator[str]:
    """Yield numbers by what they are worth, in digits or words: 3k is 3,000, 16.40 is 16:40; dates by their parts."""
    bare = _LITERAL.sub(" ", text)
    for match in _NUMBER.finditer(bare):
        found = match[0]
        if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", found):
            yield _worth(found.replace(",", ""))
        elif re.fullmatch(r"\d+(?:\.\d+)?", found):
            thousands = re.match(r"\s?k\b", bare[match.end() :], re.IGNORECASE)
            yield _worth(str(float(found) * 1000)) if thousands else _worth(found)
            if re.fullmatch(r"(?:[01]?\d|2[0-3])\.[0-5]\d", found):
                yield from _clock(found.replace(".", ":"), bare[match.end() :])
        elif re.fullmatch(r"(?:[01]?\d|2[0-3]):[0-5]\d", found):
            yield from _clock(found, bare[match.end() :])
        elif _WHOLE.fullmatch(found):
            yield found.replace(":", ".")
        else:
            yield from (_worth(part) for part in re.split(r"[.,:/]", found))
    yield from map(str, numbers.spoken(text))


def _worth(number: str) -> str:
    """Return a number without leading zeros, and without decimals that are zeros."""
    whole, _, part = number.partition(".")
    digits = whole.lstrip("0") or "0"
    return f"{digits}.{part}" if part.strip("0") else digits


def _clock(found: str, behind: str) -> Iterator[str]:
    """Yield a time of the day as hours and minutes, of twenty-four."""
    hour, _, minute = found.partition(":")
    after_noon = re.match(r"\s?p\.?m\b", behind, re.IGNORECASE) is not None and int(hour) < 12
    yield f"{int(hour) + 12 * after_noon}:{minute}"


def _dated(cited: Sequence[PromptMemory]) -> set[str]:
    """Return what may be said of the days of memories, and of a day that they name from their own:
    "yesterday"."""
    found: set[str] = set()
    for one in cited:
        named = [*times(one.text, one.when, "ahead"), *times(one.text, one.when)]
        days = [one.when.astimezone(UTC), *(each.span.since for each in named if each.span.since is not None)]
        for day in days:
            found |= {
                str(day.year),
                str(day.month),
                str(day.day),
                MONTHS[day.month - 1],
                WEEKDAYS[day.weekday()],
            }
    return found


def _new_words(sentence: str, source: str, cited: Sequence[PromptMemory], question: str) -> str | None:
    speakers = _terms(" ".join(one.speaker for one in cited))
    terms, held = _terms(sentence) - speakers - _terms(question), _terms(source)
    if not terms:
        return None if _terms(sentence) & (held | speakers) else "anything of them"
    dates = _dated(cited)
    found = [term for term in terms if term in held or term in dates]
    return None if len(found) >= SHARE * len(terms) else ", ".join(sorted(terms - held)[:5])


def _turned(sentence: str, source: str) -> str | None:
    """Return a word of it where a sentence denies what its memory affirms, or affirms what it denies."""
    terms = _terms(sentence)
    clauses = [clause for one in sentences(source) for clause in one.text.split(";") if clause.strip()]
    shared = [len(terms & _terms(clause)) for clause in clauses]
    nearest = [clause for clause, count in zip(clauses, shared, strict=True) if count == max(shared)]
    if any(_denies(clause) == _denies(sentence) for clause in nearest):
        return None
    return "its negation" if _denies(sentence) else "it without a negation"


def _denies(text: str) -> bool:
    return bool(facts(text).negations) or _DENIES.search(text) is not None


def _terms(text: str) -> set[str]:
    """Return what a text tells: stems of words, and pairs of characters where words are not spaced."""
    unspaced = _UNSPACED.findall(text)
    pairs = {run[at : at + 2] for run in unspaced for at in range(max(len(run) - 1, 1))}
    return pairs | telling_stems(_UNSPACED.sub(" ", text))
