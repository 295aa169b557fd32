"""A correction in plain words: what is right, what it stands in place of, and how the corrected text reads. Pure."""

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import Final, NamedTuple, TypeVar

from braid.agent.request.opening import CAN_YOU, CLAUSE, LEAD, QUESTION_MARKS
from braid.text.calendar import MONTHS, WEEKDAYS
from braid.text.sentences import sentences
from braid.text.wording import named, wording
from braid.text.words import stem, telling, telling_stems, words

T = TypeVar("T")
_MOST: Final = 4
"""A bare value has no more words; what has is a statement."""
CONFIRMS: Final = re.compile(
    r"\W*(?:(?:yes|yeah|yep|exactly|indeed|true|agreed|confirmed)\b|(?:right|correct)[,.!]|(?:that|this"
    r"|you)(?:['’]s|['’]re| is| are)"
    r" (?:right|correct|true)\b)",
    flags=re.IGNORECASE,
)
_WORD: Final = r"[^\s,;!?]*[^\s,.;:!?]"
_FEW: Final = rf"{_WORD}(?: {_WORD}){{0,5}}?"
_FIX_IT: Final = (
    r"(?:(?:can|could|would|will) (?:you|u) |please |pls )*(?:fix|change|update|correct|amend) (?:that|it|this)"
    r"(?: please| pls| for me)?"
)
_TAIL: Final = (
    r"(?:[,.!]? (?:please|pls|thanks|thank you|my bad|sorry(?: [\w ]{1,30})?|actually|then|of course|after all|mate"
    r"|lol|haha|mb|tho|though|btw|sry|oops|whoops|silly me|typo|(?:i )?(?:got|had) (?:that|it|this) wrong"
    rf"|(?:so )?{_FIX_IT}))*\W*"
)
_IS: Final = (
    r"(?:(?:it|that|this)(?:['’]?s| is| was| should (?:be|have been)) |should be |i meant |make it )?"
)
_BARE: Final = r"(?!(?:the|my|our|his|her|their|your|that|this|it|he|she|they|we|i|you|what|who|there)\b)"
_PAIRS: Final = tuple(
    re.compile(pattern, flags=re.IGNORECASE)
    for pattern in (
        rf"not (?P<wrong>{_FEW})[.,;:–—-]+ (?:but )?{_IS}(?P<right>{_FEW}){_TAIL}",
        rf"(?:.*[.,;:] )?(?P<wrong>{_FEW}) (?:is|was) (?:wrong|incorrect|not right|outdated|out of date)[.,;:]+"
        rf" {_IS}(?P<right>{_FEW}){_TAIL}",
        rf"(?:wrong|incorrect|not right)[:,] (?P<wrong>{_FEW})[.,;]+ {_IS}(?P<right>{_FEW}){_TAIL}",
        rf"(?:.*[.!,;:] )?(?:i|we|you) (?:said|wrote|put|typed|told you|have|had|noted|gave you) (?P<wrong>{_FEW})"
        rf"(?:,? (?:but|and|when)|,) (?:i |we )?(?:(?:actually |really )?meant|it(?:['’]?s| is| was"
        rf"| should (?:be|have been)))"
        rf"(?: to say)? (?P<right>{_FEW}){_TAIL}",
        (
            rf"{LEAD}(?:swap|replace|exchange|switch)(?: out)? (?P<wrong>{_FEW}) (?:for|with"
            rf"|by) (?P<right>{_FEW}){_TAIL}(?:, .*)?"
        ),
        rf"{LEAD}change (?P<wrong>{_BARE}{_FEW}) (?:to|into) (?P<right>{_FEW}){_TAIL}(?:, .*)?",
        (
            rf"{LEAD}(?P<wrong>{_BARE}{_FEW}) (?:should|must|ought to) (?:be|read|say"
            rf"|have been) (?P<right>{_FEW}){_TAIL}(?:, .*)?"
        ),
        rf"(?P<wrong>{_FEW}) ?(?:->|→|=>) ?(?P<right>{_FEW}){_TAIL}",
    )
)
"""Forms of which both sides are bare values."""
_FORMS: Final = tuple(
    re.compile(pattern, flags=re.IGNORECASE)
    for pattern in (
        rf"(?P<right>.+?)(?:,? (?:and|but) |[,.;!–—-]+ )not (?P<wrong>{_FEW}){_TAIL}",
        rf"(?P<right>.+?) not (?P<wrong>{_FEW}){_TAIL}",
        rf"(?P<right>.+?) (?:instead of|rather than) (?P<wrong>{_FEW}){_TAIL}",
    )
)
_CUE: Final = re.compile(
    r"\b(?:wrong|mistake[ns]?|misread|misheard|mixed|typo|meant|correct(?:ion|ed)?|oops|wait|nope|nah"
    r"|hang on|sorry|fix|update[ds]?|replace"
    r"|change[ds]?|swap|should be|actually|now|anymore|moved|migrated|rescheduled|off)\b",
    flags=re.IGNORECASE,
)
_VALUE: Final = re.compile(
    r"(?:(?:for|about|on|with|of) [^,.:]+?,? )?(?:(?:it|that|this|he|she|they|we|(?:the|his|her|its|their"
    r"|my|our|your) (?:right |correct |real |actual )?(?:name|figure"
    r"|number|date|day|time|price|amount|sum|word|answer|value|one|place|city|spelling|address|colour|color|room|year))"
    r"(?:['’]?(?:s|re)| (?:is|was|are|were|should (?:be|have been|read)|must be|has to be|use[sd]?|mean[st]?))"
    r"|i (?:actually |really )?meant(?: to say)?(?: that)?|make (?:it|that)|(?:should|must) be"
    r"|should(?:['’]ve| have| of) (?:said|been|read|put)|rather|so"
    r"|read)[:,]? (?P<value>.+)",
    flags=re.IGNORECASE,
)
"""What is right, of nothing that is named."""
_BEGINS_VALUE: Final = re.compile(
    r"(?:the|a|an|in|on|at|after|before|by|to|for|from|every|once|twice|three|two)\b|[\d£$€]",
    flags=re.IGNORECASE,
)
_KIND: Final = re.compile(rf"\d|\b(?:{'|'.join((*MONTHS, *WEEKDAYS))})\b", flags=re.IGNORECASE)
_SHOULD: Final = re.compile(r" (?:should|must|ought to) (?:be|read|say|have been) $", flags=re.IGNORECASE)
_NAMED: Final = re.compile(r"\b[A-Z][\w'’-]+")
_DENIES: Final = re.compile(
    r"\b(?:is|am|are|was|were|be|been|do|does|did|has|have|had|can|will|would|could|should|(?<!\d )may|might|must"
    r"|why|or|if|whether)$"
    r"|['’](?:s|m|re|ve|ll|d)$",
    flags=re.IGNORECASE,
)
_COLON: Final = re.compile(
    r": |, (?=(?:it|that|this|he|she|they)(?:['’]?s| is| was| should)\b)", flags=re.IGNORECASE
)
_PRONOUN: Final = re.compile(r"(?:it|that|this|he|she|they|its|his|her|their)\b", flags=re.IGNORECASE)
_BESIDE: Final = re.compile(r"^(?:(?:on|in|at|from|by|the|an?) )+(?=\S+$)", flags=re.IGNORECASE)
_ONE: Final = re.compile(r"(?<=\w) ones?$", flags=re.IGNORECASE)
_ORDINAL: Final = re.compile(r"(?<=\d)(?:st|nd|rd|th)$", flags=re.IGNORECASE)
_FIX: Final = re.compile(_FIX_IT, flags=re.IGNORECASE)
_INTERJECTION: Final = re.compile(
    r"(?:(?:no|nope|nah|lol|omg|um+|uh|sorry|oops|ugh|argh|hey|look|mate|guys|wait|actually|oh|ah|hm+|ok(?:ay)?|well"
    r"|right|correction|typo|my (?:mistake|bad)|hang on|hold on"
    r"|(?:i|we) (?:had|got) (?:that|it|this) wrong|(?:that|this)(?:['’]s| is| was) (?:wrong|not right|not true"
    r"|incorrect|a mistake|a typo)|wrong"
    r"|from now on)\b[\s,.!:;–—-]*)+",
    flags=re.IGNORECASE,
)
_LATELY: Final = re.compile(
    r",? \b(?:now|actually|instead|again|these days|from now on|from here on)\b", flags=re.IGNORECASE
)


class Righting(NamedTuple):
    """What is right: a `statement`, or the bare `value` where nothing is named that it is of; and what was wrong.

    `is_cued`: whether the line says that something was wrong or has changed. `rest`: what stands in front of it.
    """

    statement: str
    value: str | None
    wrong: str
    is_cued: bool
    rest: str


def righting(line: str) -> Righting | None:
    """Return what a line puts right; None where it denies nothing, asks, or confirms."""
    parts = list(sentences(line))
    asks = any(mark in one.mark for one in parts for mark in QUESTION_MARKS)
    asks = asks and not _FIX.fullmatch(parts[-1].text)
    if not parts or CONFIRMS.match(line) or (asks and not CAN_YOU.search(line)):
        return None
    is_cued = _CUE.search(line) is not None
    told = line.strip(" .!?")
    for at in (0, *(one.end() for one in CLAUSE.finditer(told))):
        if (pair := _matched(_PAIRS, told[at:])) is not None:
            return Righting(told[at:], _bare(pair["right"]), _bare(pair["wrong"]), is_cued, told[:at])
    for at in reversed([0, *(one.start for one in parts[1:])]):
        for begins in (*(at + one.end() for one in _COLON.finditer(told[at:])), at):
            found = _matched(_FORMS, told[begins:])
            if found is not None:
                right = _bare(_LATELY.sub("", found["right"]))
                wrong, _, of = _BESIDE.sub("", _ONE.sub("", _bare(found["wrong"]))).partition(" for ")
                return Righting(right, _value(right), wrong, is_cued, f"{told[:begins]} {of}".strip())
    return None


def _matched(forms: Iterable[re.Pattern[str]], told: str) -> re.Match[str] | None:
    all_found = (form.fullmatch(one) for one in (_without_interjection(told), told) for form in forms)
    return next((one for one in all_found if one is not None and _is_meant(one)), None)


def _without_interjection(told: str) -> str:
    found = _INTERJECTION.match(told)
    return told if found is None else told[found.end() :]


def _is_meant(found: re.Match[str]) -> bool:
    """Whether "X not Y" without a comma, and "Y should be X", set one thing of a kind against another: 141 not 114, but
    neither "it is not 5" nor "dinner should be at 7".
    """
    ahead = found.string[: found.start("wrong")]
    if _SHOULD.search(found.string[found.end("wrong") : found.start("right")]):
        return any(kind.search(found["right"]) and kind.search(found["wrong"]) for kind in (_KIND, _NAMED))
    if not re.search(r"[\w'’] not $", ahead, flags=re.IGNORECASE) or re.search(r"\b(?:and|but) not $", ahead):
        return True
    return _DENIES.search(found["right"]) is None


def _bare(text: str) -> str:
    return text.strip(' ,.!"“”')


def _is_bare(right: str) -> bool:
    """Whether some words are no sentence: two, or three that begin as a value does ("after the break")."""
    said = right.split()
    return len(said) < 3 or (len(said) == 3 and _BEGINS_VALUE.match(right) is not None)


def _value(right: str) -> str | None:
    """Return the value that a clause says of nothing that it names; None for a statement."""
    found = _VALUE.fullmatch(right)
    value: str | None = found["value"] if found is not None else right if _is_bare(right) else None
    # "it's Ilse who approves": what follows says of what
    if value is not None and (of := re.fullmatch(r"(?P<value>.+?) (?:who|that|which) .+", value)):
        value = of["value"]
    return value if value is not None and len(value.split()) <= _MOST else None


def as_number(found: Righting) -> Righting:
    """Return it with the number of a day in place of its ordinal: "the 3rd" is the "3" of "3 November"."""
    return found._replace(wrong=_ORDINAL.sub("", found.wrong))


def corrected(before: str, found: Righting) -> str | None:
    """Return a text with what is right in the place of what was wrong; None where it doesn't say that once."""
    at = place_of(before, found.wrong)
    if at is None:
        return None
    start, stop = at
    put = _aligned(before, found.statement, start, stop) if found.value is None else found.value
    if not put:
        return _sentence(found.statement)
    return f"{before[:start]}{_behind(before[:start], put)}{before[stop:]}"


def _behind(head: str, put: str) -> str:
    """Return what is put behind some words without a first word that they end with: "is in" and "in Epping"."""
    first, _, rest = put.partition(" ")
    last = head.split()[-1:]
    return rest if rest and last and last[0].lower() == first.lower() else put


def place_of(text: str, wanted: str) -> tuple[int, int] | None:
    """Return from where to where a text says some words; None where it doesn't say them once."""
    found = list(re.finditer(rf"(?<!\w){re.escape(wanted)}(?!\w)", text, flags=re.IGNORECASE))
    return found[0].span() if len(found) == 1 else None


def _tokens(text: str) -> list[tuple[str, int, int]]:
    return [(one[0].lower().strip(".,;!"), *one.span()) for one in re.finditer(r"[^\s]+", text)]


def _aligned(before: str, statement: str, start: int, stop: int) -> str | None:
    """Return what stands in a statement where a text has some words, by the words around them; None if none tell."""
    old, new = _tokens(before), _tokens(statement)
    inside = [at for at, (_, first, last) in enumerate(old) if first < stop and last > start]
    begins, ends = len(new), 0
    for kind, first, last, other, end in _blocks(old, new):
        held = [at for at in inside if first <= at < last]
        if not held or kind == "delete":
            continue
        if kind == "equal":
            begins, ends = min(begins, other + held[0] - first), max(ends, other + held[-1] - first + 1)
            continue
        # what stands in front of it in the text, and was said otherwise, too, is not of it
        ahead = held[0] - first
        begins, ends = min(begins, other + ahead, end - 1), max(ends, end)
    return statement[new[begins][1] : new[ends - 1][2]].rstrip(" .,;!") if begins < ends else None


def _blocks(
    old: list[tuple[str, int, int]], new: list[tuple[str, int, int]]
) -> Sequence[tuple[str, int, int, int, int]]:
    said, asked = [one[0] for one in old], [one[0] for one in new]
    return SequenceMatcher(None, said, asked, autojunk=False).get_opcodes()


def replaced_in(before: str, statement: str) -> str:
    """Return a text with what a statement says otherwise at one place; where they differ at more, the statement."""
    statement = _LATELY.sub("", _without_interjection(statement)).strip(" ,.!")
    old, new = _tokens(before), _tokens(statement)
    put = [block for block in _blocks(old, new) if block[0] not in ("equal", "delete")]
    if len(put) != 1 or put[0][0] != "replace":
        return _sentence(statement)
    _, first, last, begins, ends = put[0]
    said = statement[new[begins][1] : new[ends - 1][2]].rstrip(" .,;!")
    tail = before[old[last - 1][2] :] if last < len(old) else before[len(before.rstrip(" .!")) :]
    return f"{before[: old[first][1]]}{said}{tail}"


def fitting(said: Iterable[tuple[T, str]], statement: str, *, but: str = "") -> list[T]:
    """Return those of some texts that a statement is most about: they share the most telling words with it, but `but`,
    and of these the most words. None where even the best shares no telling word.
    """
    wanted, every = telling_stems(statement) - telling_stems(but), set(wording(statement))
    shared = [
        ((len(wanted & telling_stems(text)), len(every & set(wording(text)))), one) for one, text in said
    ]
    most = max((count for count, _ in shared), default=(0, 0))
    return [one for count, one in shared if count == most and most[0]]


def fits(text: str, asked: Righting) -> bool:
    """Whether a correction is of what a text says, and not of something else that has the same value."""
    of_itself = asked.value is not None or _PRONOUN.match(asked.statement) is not None
    own = asked.is_cued or _is_of_same(text, asked)
    return of_itself or (own and is_about(text, asked.statement, but=asked.wrong))


def meant_by(asked: Righting, found: Sequence[tuple[T, str]]) -> list[T]:
    """Return those of some texts, which all say what was wrong, that a correction is of: one, several that can't be
    told apart, or none.
    """
    texts = dict(enumerate(text for _, text in found))
    most = fitting(texts.items(), f"{asked.rest} {asked.statement}", but=asked.wrong)
    if len(found) == 1:
        most = [0] if fits(texts[0], asked) or _shares(texts[0], asked) else []
    elif len(most) == 1 and not (
        asked.is_cued or fits(texts[most[0]], asked) or _is_of_same(texts[most[0]], asked)
    ):
        most = []
    if not most and asked.value is not None:
        most = [*texts]
    is_vague = len(most) > 1 and not asked.is_cued and asked.value is None
    return [] if is_vague else [found[at][0] for at in most]


def _is_of_same(text: str, asked: Righting) -> bool:
    """Whether a statement names whom a text names, or what it begins with: "Max has drums" isn't Leo's."""
    of = [*(named(text) - {*words(asked.wrong)}), *telling(text)[:1]]
    return any(stem(word) in telling_stems(asked.statement) for word in of)


def _shares(text: str, asked: Righting) -> bool:
    own = telling_stems(text) - telling_stems(asked.wrong)
    return not own.isdisjoint(telling_stems(asked.statement))


def is_about(text: str, statement: str, *, but: str = "") -> bool:
    """Whether a statement speaks of what a text does: half of the text's telling words, but `but`, are in it."""
    own = telling_stems(text) - telling_stems(but)
    return bool(own) and 2 * len(own & telling_stems(statement)) >= len(own)


def _sentence(text: str) -> str:
    text = text.strip(" ,.!")
    return f"{text[:1].upper()}{text[1:]}."
