"""What "I meant …" is as a whole sentence: what was meant, in the place of what was said. Pure."""

import re
from typing import Final

from braid.text.words import telling_stems

_SENTENCE: Final = re.compile(
    r"(?:i|we|my|our|he|she|they|it|his|her|their|the|[A-Z][\w'’-]+)(?:['’](?:m|s|re|ve|d|ll)\b| ).*\S",
    flags=re.IGNORECASE,
)
_NUMBER: Final = re.compile(r"\d[\d.,:]*")
_NAME: Final = re.compile(r"[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)+")
"""Several words with capitals, which state nothing."""


def righted(before: str, right: str, object_: str | None) -> str | None:
    """Return what was meant, as a whole: `right` where it is a sentence, else put in the place of what was wrong.

    That is `object_`, what the turn before states, where it stands in it once and is of the kind of `right`. None where
    it doesn't tell, and for a sentence that has nothing of the one before: it is about something else.
    """
    right = right.rstrip(" .!")
    if object_ and before.lower().count(object_.lower()) == 1:
        at = before.lower().index(object_.lower())
        if (put := _in_place(right, object_)) is not None:
            return f"{before[:at]}{put}{before[at + len(object_) :]}"
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
