"""What in a text answers: the sentence that bears on a question, and in it the date, number, name or clause. Pure.

Everything returned is a slice of the text in its own words, but for times (`moments`).
"""

import re
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import Final

import msgspec

from braid.agent.answer.assertion.verdict import with_contraries
from braid.agent.answer.change.former_value import of_time_asked
from braid.agent.answer.question.reading import ASKS_PAYMENT, AskedQuestion, read
from braid.agent.answer.turn.bearing import is_of_thing
from braid.agent.answer.turn.counts import amount_of, counted, elided, is_of_each
from braid.agent.answer.turn.moments import time_of
from braid.recall.decompose import Question, decompose, entities
from braid.text import numbers
from braid.text.calendar import MONTHS, WEEKDAYS
from braid.text.sentences import TextPart, clauses, sentences
from braid.text.words import STOP, stem, stems, telling_stems, words

MAX_CHARS: Final = 8_000
"""How much of a long text is looked through."""
MOST_WORDS: Final = 16
_DURATION: Final = re.compile(
    rf"\b(?:for |over |about |almost |nearly )*(?:(?:\d+|{numbers.COUNT}|several)\s+)"
    r"(?:and a half )?(?:minute|hour|day|week|month|year|decade)s?\b(?: ago)?|\bsince [A-Z\d][\w ]{2,20}",
    re.IGNORECASE,
)
_NUMBER_BEFORE: Final = re.compile(
    rf"(?:\d|\b{numbers.WORD})(?: ?(?:[€£$%]|euros?|pounds?|dollars?|quid|times))? $", re.IGNORECASE
)
_FILLER: Final = re.compile(
    r"^(?:(?:oh|ah|wow|hey|yes|yeah|yep|no|nope|well|so|and|but|also|thanks|thank you|sure|totally|absolutely"
    r"|definitely|actually|honestly|cool|great|awesome|nice|right|okay|ok|it's|i think|i guess|you know)\b[,!. ]*)+",
    re.IGNORECASE,
)
_PLACED: Final = re.compile(
    r"\b(?:in|at|to|from|near|on|around|through)\s+((?:the |a |an )?(?:St\. )?[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)*)"
)

_TAKES_BACK: Final = re.compile(
    r"(?:(?:(?:my |our )?[\w-]+)(?:['’](?:ve|s)| have| has)? )?(?:changed (?:my|our|his|her|their) minds?"
    r"|(?:switched|swapped|changed) \w+|scratch that|\w+ change|(?:sold|quit|cancell?ed) (?:it|that|them))",
    re.IGNORECASE,
)
"""A clause that says that something changed, and not what it is now."""
_BECAUSE: Final = re.compile(r"\b(?:because|since|so that|due to|thanks to)\b.*", re.IGNORECASE)
_SO: Final = re.compile(r",? (?:and )?so (?!that|much|many|far|long|good|bad)", re.IGNORECASE)
_CALLED: Final = re.compile(r"\b(?P<what>[\w'’-]+)?(?: is| was)? (?:called|named) ([A-Z][\w'’-]+)")
_ASKS_WHO: Final = re.compile(r"\W*who(?!['’]?s\b| (?:is|was|are|were)\b)", re.IGNORECASE)
_NAMES_ON: Final = re.compile(r"(?:(?:, | and |, and | or )[A-Z][a-zà-ÿ'’-]+(?![\w'’]| [a-z]+s\b))+")
"""Further names behind one: "Aline and Pete"."""
_IN_TWO: Final = re.compile(
    r"[,;]\s+(?:(?:so|and|but|because) )?|\s+and (?=[A-Z][\w'’-]* (?:is|was|has|does|[a-z]+s)\b)"
)
"""Where what a sentence says of somebody else begins: "and Tom is allergic"."""
_LEADS_TO_MONTH: Final = (
    r"(?:in|by|of|on|until|till|from|since|for|during|before|after|next|last|this|early|late|mid|end"
    r"|\d+(?:st|nd|rd|th)?)"
)
_SOMEWHERE: Final = re.compile(
    r"\b(?:in|at|on|near|under|behind|beside|opposite|above|below|inside|outside|between)"
    r" (?:the|an?|my|our|his|her|their|your)\b(?! (?:morning|afternoon|evening|night|weekend|week|month|moment)\b)",
    re.IGNORECASE,
)
_CALENDAR: Final = frozenset((
    *MONTHS, *WEEKDAYS, *(f"{day}s" for day in WEEKDAYS), "the", "a", "day", "eve", "new", "year", "good", "boxing",
    "christmas", "xmas", "easter", "whitsun", "halloween", "thanksgiving", "ramadan", "eid", "diwali", "hanukkah",
    "passover", "midsummer",
))  # fmt: skip
"""Words of times, which are no places."""


_BE: Final = frozenset(("is", "was", "are", "were"))
_LEADING: Final = frozenset(("the", "a", "an", "my", "our", "his", "her", "their"))
_FEW: Final = 3
_POINTS_BACK: Final = frozenset(("he", "she", "it", "they", "that", "this"))
_ELIDES: Final = re.compile(r"\W*(?:and )?[A-Z][\w'’-]+ (?:the|an?|on|at|in|for|my|our|their)\b")
_TITLES: Final = frozenset(("dr", "mr", "mrs", "ms", "prof"))
_BEHIND_TITLE: Final = re.compile(r"\.? [A-Z][\w'’-]+")
_LABEL_WORDS: Final = 6
_NOTE: Final = re.compile(
    r"(?:^|[,;] )(?P<label>[^,;:.!?\n]{2,50}): (?P<value>[^;\n]+?)(?=, [^,;:.!?\n]{2,50}: |;|$)"
)
"""A note in a line: labels, each with what stands behind its colon."""


class AnswerSpan(msgspec.Struct, frozen=True):
    """What answers. `sentence` is a slice of the text, `short` the answer in the fewest words, `fit` in [0, 1] how many
    of the question's telling words the sentence has, `tells` how many others."""

    sentence: str
    short: str
    fit: float
    tells: int
    wanted: bool
    """Whether it says what kind of thing was asked for."""


class ReadQuestion(Question, frozen=True, kw_only=True):
    """A question as the ladder reads it, and what was read for it of the texts that were found: each once."""

    asked: AskedQuestion
    spans: dict[tuple[str, datetime], AnswerSpan | None] = msgspec.field(
        default_factory=dict[tuple[str, datetime], AnswerSpan | None]
    )
    """What answers best, by the text and when it was said."""


def read_question(text: str, now: datetime) -> ReadQuestion:
    """Return a question, asked at `now`, taken apart and read."""
    question = decompose(text, now)
    return ReadQuestion(**msgspec.structs.asdict(question), asked=read(question.text))


def kind_of(question: Question) -> AskedQuestion:
    """Return a question as the ladder reads it."""
    return question.asked if isinstance(question, ReadQuestion) else read(question.text)


def best_span(question: Question, text: str, when: datetime) -> AnswerSpan | None:
    """Return what of a text, said at `when`, answers best; None for a text without a statement."""
    if not isinstance(question, ReadQuestion):
        return _best_span(question, text, when)
    key = (text, when)
    if key not in question.spans:
        question.spans[key] = _best_span(question, text, when)
    return question.spans[key]


def _best_span(question: Question, text: str, when: datetime) -> AnswerSpan | None:
    text = text[:MAX_CHARS]
    parts = [part for part in sentences(text) if not part.mark.strip().startswith("?")]
    found: list[AnswerSpan] = []
    for part in parts:
        one = _span(question, text[part.start : part.stop], part, when)
        if found and one.wanted and _goes_on(one.sentence):
            one = msgspec.structs.replace(one, fit=max(one.fit, found[-1].fit))
        found.append(one)
    return max(
        found,
        key=lambda span: (
            bool(span.short),
            span.fit + 0.34 * span.wanted,
            min(span.tells, 6),
            -len(span.sentence),
        ),
        default=None,
    )


def _goes_on(sentence: str) -> bool:
    """Whether a sentence speaks of what the one before it does: of "she" or "it", or in a few words."""
    said = words(sentence)
    return len(said) <= _FEW or not _POINTS_BACK.isdisjoint(said[:1])


def _span(question: Question, sentence: str, part: TextPart, when: datetime) -> AnswerSpan:
    asked = question.stems
    stems = telling_stems(with_contraries(question, sentence))
    fit = sum(each in stems for each in asked) / len(asked) if asked else 0.0
    if is_of_each(question.text, sentence):
        fit = 1.0
    asks_sum = question.intent == "fact" and (
        kind_of(question).wants == "money" or ASKS_PAYMENT.search(question.text)
    )
    finder = _count if asks_sum else _FINDERS.get(question.intent)
    short = finder(question, sentence, when) if finder else None
    tells = len(stems.difference(asked))
    return AnswerSpan(sentence, short or _clause(question, sentence), fit, tells, short is not None)


def _clause(question: Question, sentence: str) -> str:
    """Return the clause that says most that the question doesn't, among those that share its words; without filler."""
    asked = set(question.stems)
    if (noted := _noted(asked, sentence) or amount_of(question.text, sentence)) is not None:
        return noted

    def worth(clause: str) -> tuple[float, int]:
        said = telling_stems(clause)
        placed = question.intent == "place" and _SOMEWHERE.search(clause) is not None
        return len(said & asked) + 2 * placed + min(len(said - asked), 4) / 4, -len(clause)

    bare = TextPart(sentence, 0, len(sentence))
    found = [_trimmed(sentence[part.start : part.stop]) for part in clauses(bare)]
    found = [one for one in found if not _TAKES_BACK.fullmatch(one)] or found
    return max((one for one in found if one), key=worth, default=_trimmed(sentence))


def _noted(asked: set[str], sentence: str) -> str | None:
    """Return what stands behind the label that the question names: "home wifi: teapot-77, office: harbor" has two."""
    found = [
        (len(asked & stems(note["label"])), note["value"])
        for note in _NOTE.finditer(sentence.strip())
        if len(note["label"].split()) <= _LABEL_WORDS
    ]
    shared, value = max(found, key=lambda one: one[0], default=(0, ""))
    return _trimmed(value) or None if shared else None


def _trimmed(clause: str) -> str:
    bare = _FILLER.sub("", clause.strip(" \t\n,;:-–—")).strip(" ,;:-–—.!")
    return " ".join(bare.split()[:MOST_WORDS])


def _count(question: Question, sentence: str, when: datetime) -> str | None:
    del when
    return counted(question.text, sentence)


def _lasted(question: Question, sentence: str, when: datetime) -> str | None:
    del when
    if (bare := elided(question.text, sentence)) is not None:
        return bare
    match = next((one for one in _DURATION.finditer(sentence) if not _is_rate(sentence, one)), None)
    return re.sub(r"^(?:for|over) ", "", match[0], flags=re.I) if match else None


def _is_rate(sentence: str, time: re.Match[str]) -> bool:
    """Whether a time is one of those that something is paid or done for: "30 a month"."""
    return (
        time[0].lower().startswith(("a ", "an "))
        and _NUMBER_BEFORE.search(sentence, 0, time.start()) is not None
    )


def _named(question: Question, sentence: str, when: datetime) -> str | None:
    del when
    asked = set(words(question.text))
    names = [
        name
        for name in entities(sentence)
        if asked.isdisjoint(words(name))
        and name.lower() not in STOP
        and not _is_time(name, sentence)
        and not is_of_thing(sentence, sentence.find(name))
    ]
    acting = [name for name in names if _acts(question, sentence[sentence.find(name) + len(name) :])]
    called = _CALLED.search(sentence)
    # Who has a beagle called Pluto isn't Pluto.
    asks_who = _ASKS_WHO.match(question.text) is not None
    if called is not None and not (asks_who and stem((called["what"] or "").lower()) in question.stems):
        by_name = [one for one in names if one.startswith(called[2])]
        if by_name and not acting:
            return by_name[0]
    is_elliptic = elliptic(frozenset(question.stems), _IN_TWO.split(sentence)) is not None
    names = _in_piece(question, sentence, names if is_elliptic else acting or names)
    if names and not acting and sentence.startswith(names[0]):
        names = names[1:]
    return _with_others(sentence, names[0]) if names else None


def _with_others(sentence: str, name: str) -> str:
    """Return a name with those that a sentence joins to it: "Aline and Pete"."""
    at = sentence.find(name) + len(name)
    if name.lower() in _TITLES and (titled := _BEHIND_TITLE.match(sentence, at)) is not None:
        name, at = name + titled[0], titled.end()
    others = _NAMES_ON.match(sentence, at)
    return name if others is None else name + others[0]


def _acts(question: Question, behind: str) -> bool:
    """Whether the word behind a name is what it is asked who does or is: "Aisha speaks German", "Priya is vegan"."""
    told = [word for word in words(behind) if word not in _BE | _LEADING]
    return bool(told) and stem(told[0]) == next(iter(question.stems), "")


def _in_piece(question: Question, sentence: str, names: list[str]) -> list[str]:
    """Return of some names those in the piece of a sentence that speaks most of what is asked; all where none does."""
    asked = frozenset(question.stems)
    pieces = _IN_TWO.split(sentence)
    if (at := elliptic(asked, pieces)) is not None:
        pieces = [pieces[at]]
    met = [len(asked.intersection(map(stem, words(piece)))) for piece in pieces]
    best = pieces[met.index(max(met))] if pieces else ""
    there = [name for name in names if name in best] if met.count(max(met)) == 1 else []
    return there or names


def elliptic(asked: AbstractSet[str], pieces: Sequence[str]) -> int | None:
    """Return which later piece leaves its verb to the first and alone has a word of what is asked: "Sara leads the
    mobile team, Jonas the backend"; None where none does."""
    wanted = asked - stems(pieces[0])
    found = [
        at
        for at, piece in enumerate(pieces)
        if at and _ELIDES.match(piece) and not wanted.isdisjoint(stems(piece))
    ]
    return found[0] if len(found) == 1 else None


def _is_time(name: str, sentence: str) -> bool:
    """Whether what is spelt as a name is a day of the week, or a month that is told as one: by 1 June, in April."""
    low = name.lower()
    if low.rstrip("s") in WEEKDAYS or low in WEEKDAYS:
        return True
    return low in MONTHS and re.search(rf"\b{_LEADS_TO_MONTH} {name}\b", sentence, re.IGNORECASE) is not None


def _place(question: Question, sentence: str, when: datetime) -> str | None:
    del when
    asked = set(words(question.text))
    found = [match[1] for match in _PLACED.finditer(of_time_asked(question.text, sentence))]
    places = [
        place for place in found if asked.isdisjoint(words(place)) and not _CALENDAR.issuperset(words(place))
    ]
    return next(iter(_in_piece(question, sentence, places)), None)


def _reason(question: Question, sentence: str, when: datetime) -> str | None:
    del when
    match = _BECAUSE.search(sentence)
    if match is None and (so := _SO.search(sentence)) is not None:  # allergic to nuts, so none for me
        is_asked = not telling_stems(sentence[so.end() :]).isdisjoint(question.stems)
        return _trimmed(sentence[: so.start()]) or None if is_asked else None
    return " ".join(match[0].strip(" .!").split()[:MOST_WORDS]) if match else None


Finder = Callable[[Question, str, datetime], str | None]
_FINDERS: Final[dict[str, Finder]] = {
    "time": time_of, "count": _count, "duration": _lasted, "person": _named, "place": _place, "reason": _reason,
}  # fmt: skip
