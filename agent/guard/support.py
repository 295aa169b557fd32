"""Whether cited memories bear a sentence out: its literals, names, numbers, dates, negation and words. Pure.

A lexical check, not an entailment: it lets through what is put together wrongly from right words, and refuses some good
paraphrases. What it refuses costs a fallback; what it must not let through is a fact that no memory holds.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from braid.affect.facts import facts, is_ordinary
from braid.agent.guard.prompt import PromptMemory
from braid.text import numbers
from braid.text.calendar import MONTHS, WEEKDAYS
from braid.text.dates import span
from braid.text.sentences import sentences
from braid.text.words import stem, telling, words

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


def lack(sentence: str, cited: Sequence[PromptMemory], question: str, now: datetime) -> str | None:
    """Return what of a sentence the memories that it cites don't hold, None where they bear it out."""
    if _MARKUP.search(sentence):
        return "markup"
    source = "\n".join(one.text for one in cited)
    for literal in _LITERAL.finditer(sentence):
        if literal[0].rstrip(".,;:!?)") not in source:
            return literal[0]
    if any(one.when.date() != now.date() for one in cited) and (said := _FROM_NOW.search(sentence)):
        return f"{said[0]!r}, which counts from another day"
    return (
        next(_new_names(sentence, cited, question), None)
        or next(_new_numbers(sentence, cited), None)
        or _new_words(sentence, source, cited, question)
        or _turned(sentence, source)
    )


def _new_names(sentence: str, cited: Sequence[PromptMemory], question: str) -> Iterator[str]:
    """Yield names that no memory holds. The question's own count where nobody is named as the speaker."""
    known = {stem(word) for one in cited for word in words(f"{one.text} {one.speaker}")} | _dated(cited)
    if all(one.speaker in ("user", "agent", "tool") for one in cited):
        known |= {stem(word) for word in words(question)}
    first = next(iter(words(sentence)), "")
    for name in facts(sentence).names:
        low = words(name)
        if is_ordinary(name) or (low == [first] and first in _OPENERS):
            continue
        if not all(stem(word) in known or word in known for word in low):
            yield name


def _new_numbers(sentence: str, cited: Sequence[PromptMemory]) -> Iterator[str]:
    known = _dated(cited) | {found for one in cited for found in _numbers(one.text)}
    yield from (found for found in _numbers(sentence) if found not in known and found not in ("0", "1"))
    held = _dated(cited) | {word for one in cited for word in words(one.text)}
    yield from (
        word
        for word in words(sentence)
        if word in (*MONTHS, *WEEKDAYS) and word not in held and word != "may"
    )


def _numbers(text: str) -> Iterator[str]:
    """Yield numbers, written in digits or as a word: thousands without their commas, dates by their parts."""
    for found in _NUMBER.findall(_LITERAL.sub(" ", text)):
        if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", found):
            yield found.replace(",", "")
        elif re.fullmatch(r"\d+[.]\d+", found):
            yield found
        else:
            yield from (part.lstrip("0") or "0" for part in re.split(r"[.,:/]", found))
    yield from map(str, numbers.spoken(text))


def _dated(cited: Sequence[PromptMemory]) -> set[str]:
    """Return what may be said of the days of memories, and of a day that they name from their own:"
    " "yesterday"."""
    found: set[str] = set()
    for one in cited:
        days = [one.when.astimezone(UTC)]
        if (named := span(one.text, one.when)) is not None and named.since is not None:
            days.append(named.since)
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
    return pairs | {stem(word) for word in telling(_UNSPACED.sub(" ", text))}
