"""What somebody who talks to their memory wants of a line: told, asked, put right, forgotten, explained. Pure."""

import re
from typing import Final, Literal

import msgspec

from braid.agent.answer.wording.provenance import asks_how
from braid.recall.decompose import entities
from braid.text.sentences import sentences
from braid.text.words import stem, telling, telling_stems

Kind = Literal[
    "tell", "ask", "how", "correct", "put_right", "forget_last", "forget_about", "forget_that", "forget_all"
]
_LEAD: Final = r"\s*(?:please |no,? |sorry,? |oh,? |wait,? |ok(?:ay)?,? )*"
_CORRECT: Final = re.compile(
    r"\s*(?:(?:no|nope|sorry|oops|wait|actually|oh)\b[,.! ]+)*(?:what )?i (?:actually |really )?meant(?: to say)?"
    r"(?: that| was)?[:,]? (?P<text>\S.*?)\s*",
    flags=re.IGNORECASE | re.DOTALL,
)
_FORGET_LAST: Final = re.compile(
    rf"{_LEAD}(?:forget|scratch|delete|drop) (?:that|it|this|what i (?:just )?said|the last (?:thing|one|bit))"
    r"(?:,? please)?\s*[.!]*\s*",
    flags=re.IGNORECASE,
)
_FORGET_ABOUT: Final = re.compile(
    rf"{_LEAD}(?:you (?:can|may) )?(?:forget|delete|drop) (?:(?:what|everything|all|anything)(?: that)? ?"
    r"(?:i(?:'ve| have)? (?:ever )?(?:said|told you|mentioned) )?)?about (?P<text>[^.!?]+?)(?:,? please)?\s*[.!]*\s*",
    flags=re.IGNORECASE,
)
_FORGET_THAT: Final = re.compile(
    rf"{_LEAD}(?:you (?:can|may) )?(?:forget|delete|drop) (?:the fact )?that (?P<text>[^?]+?)(?:,? please)?\s*[.!]*\s*",
    flags=re.IGNORECASE,
)
_FORGET_ALL: Final = re.compile(
    rf"{_LEAD}(?:you (?:can|may|must|should) |i want you to )?(?:forget|delete|erase|drop|wipe|clear|remove)"
    r" (?:me|it all|(?:absolutely )?(?:everything|all(?: of it| my data)?|anything|the lot"
    r"|my (?:whole |entire )?(?:memory|memories|data))"
    r"(?:(?: that)? you(?:'ve| have)? (?:ever )?(?:know|knew|remember|have|hold|kept|stored|learn(?:ed|t)?|got)"
    r"|(?: that)? i(?:'ve| have)? (?:ever )?(?:said|told you|mentioned))?(?: (?:about|of|on) (?:me|us|myself))?)"
    r"(?:,? please)?\s*[.!]*\s*",
    flags=re.IGNORECASE,
)
_RIGHT: Final = re.compile(
    r"\s*(?:(?:no|nope|sorry|oops|wait|actually|oh)\b[,.! ]+)*(?:(?:correct(?:ion)?|(?:that|this)(?:['’]s| is| was) "
    r"(?:wrong|not right))[:,.]? )(?:it(?:['’]s| is| was) )?(?P<text>[^?]+,? (?:and )?not [^?]+?)\s*",
    flags=re.IGNORECASE,
)
_FEW: Final = r"[^\s,.;:!?]+(?: [^\s,.;:!?]+){0,2}"
_INSTEAD_OF: Final = re.compile(
    rf"\s*(?:(?:no|nope|sorry|oops|wait|actually|oh)\b[,.! ]+)*it(?:['’]s| is| was) {_FEW}, not {_FEW}[.!]*\s*",
    flags=re.IGNORECASE,
)
"""It may put something right, or state something new: whether what it denies was said decides."""
_IT_IS: Final = re.compile(r".*?\bit(?:['’]s| is| was) ", flags=re.IGNORECASE)
_WISHES: Final[tuple[tuple[Kind, re.Pattern[str]], ...]] = (
    ("forget_last", _FORGET_LAST),
    ("forget_all", _FORGET_ALL),
    ("forget_about", _FORGET_ABOUT),
    ("forget_that", _FORGET_THAT),
    ("correct", _RIGHT),
    ("put_right", _INSTEAD_OF),
    ("correct", _CORRECT),
)
_ASKS: Final = re.compile(
    r"\s*(?:and |so |but )?(?:(?:what|where|who|whom|whose|which|how|why|when) (?:is|are|was|were|do|does|did|has|have"
    r"|had|can|could|will|would|should|many|much|long|old|often)\b|(?:tell|remind) me (?:about|what|when|where|who|how"
    r"|why|which)\b|do you (?:know|remember)\b)",
    flags=re.IGNORECASE,
)
_QUESTION_MARKS: Final = ("?", "\uff1f", "\u061f", "\u037e")
"""As Latin, Chinese and Japanese, Arabic, and Greek have them."""
_INSTEAD: Final = re.compile(r"(?P<right>.+?),? (?:and )?not (?P<wrong>.+)", flags=re.IGNORECASE)
_SENTENCE: Final = re.compile(
    r"(?:i|we|my|our|he|she|they|it|his|her|their|the|[A-Z][\w'’-]+)(?:['’](?:m|s|re|ve|d|ll)\b| ).*\S",
    flags=re.IGNORECASE,
)

_NUMBER: Final = re.compile(r"\d[\d.,:]*")
_NAME: Final = re.compile(r"[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)+")
"""Several words with capitals, which state nothing."""


class Wish(msgspec.Struct, frozen=True):
    """What is wanted. `text`: what is asked, right, or to be forgotten; `told`: what was said before a question."""

    kind: Kind
    text: str
    told: str = ""


def wish(line: str) -> Wish:
    """Return what a line wants; what can't be told apart is something told."""
    if asks_how(line):
        return Wish("how", line)
    for kind, pattern in _WISHES:
        if (found := pattern.fullmatch(line)) is not None and not line.rstrip().endswith(_QUESTION_MARKS):
            return Wish(kind, found["text"] if "text" in pattern.groupindex else line)
    parts = list(sentences(line))
    last = line[parts[-1].start :].strip() if parts else line
    if last.endswith(_QUESTION_MARKS) or _ASKS.match(last):
        return Wish("ask", last, line[: parts[-1].start].strip() if parts else "")
    return Wish("tell", line)


def says_again(question: str, told: str, about: str = "") -> bool:
    """Whether a question gives away what was told: a name or number of it, more than half of it, or all of `about`."""
    asked, said = telling_stems(question), telling_stems(told)
    given_away = {stem(word) for name in entities(told) for word in telling(name)}
    given_away |= {word for word in said if any(char.isdigit() for char in word)}
    topic = telling_stems(about)
    return (
        bool(asked & given_away) or 2 * len(asked & said) > len(said) > 0 or (bool(topic) and topic <= asked)
    )


def replaced(right: str) -> tuple[str, str] | None:
    """Return what is right and what was wrong where both are said ("Lisbon, not Porto"), else None."""
    said = _IT_IS.sub("", right, count=1) if _INSTEAD_OF.fullmatch(right) else right
    instead = _INSTEAD.fullmatch(said.rstrip(" .!"))
    return None if instead is None else (instead["right"], instead["wrong"])


def righted(before: str, right: str, object_: str | None) -> str | None:
    """Return what was meant, as a whole: `right` where it is a sentence, else put in the place of what was wrong.

    That is what `right` says ("Lisbon, not Porto"), else `object_`, what the turn before states, where it stands in it
    once and is of the kind of `right`. None where neither tells, and for a sentence that has nothing of the one before:
    it is about something else.
    """
    right = right.rstrip(" .!")
    instead = _INSTEAD.fullmatch(right)
    wrong = instead["wrong"] if instead is not None else object_
    new = instead["right"] if instead is not None else right
    if wrong and before.lower().count(wrong.lower()) == 1:
        at = before.lower().index(wrong.lower())
        put = new if instead is not None else _in_place(new, wrong)
        if put is not None:
            return f"{before[:at]}{put}{before[at + len(wrong) :]}"
    is_sentence = _SENTENCE.fullmatch(right) is not None and len(right.split()) > 2
    one, other = telling_stems(right), telling_stems(before)
    if not is_sentence or 2 * len(one & other) < min(len(one), len(other)) or not one & other:
        return None
    return f"{right[:1].upper()}{right[1:]}."


def _in_place(new: str, wrong: str) -> str | None:
    """Return what stands in the place of some words: a name for a name; a number for the one number, with their words.

    None where it can't: a sentence, another kind, or a number with words of its own.
    """
    if _SENTENCE.fullmatch(new) and not _NAME.fullmatch(new):
        return None
    ours, theirs = (_NUMBER.findall(each) for each in (new, wrong))
    if not ours and not theirs:
        return new
    if len(ours) != 1 or len(theirs) != 1:
        return None
    bare = [{*_NUMBER.sub(" ", each).lower().split()} for each in (new, wrong)]
    if not bare[0]:
        return wrong.replace(theirs[0], ours[0])
    return new if bare[0] <= bare[1] | {"am", "pm"} and (bare[0] == bare[1] or not bare[1]) else None
