"""Where in a line somebody asks for something: where a clause begins, behind the words of asking. Pure.

A reminder ("don't forget …"), a report ("she said, delete it") and a condition ("if I cancel, delete …") ask for
nothing now; neither does a question, but for "can you …?".
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from braid.text.sentences import sentences

LEAD: Final = (
    r"(?P<lead>(?:(?:(?:please|pls)(?: to)?|kindly|just|now|also|then|so|and|but|ok(?:ay)?|oh|no|nope|sorry|oops|wait"
    r"|hang on|hey|yo|hi|um+|uh|erm|lol|haha|nah|well|actually|right|yes|never ?mind|maybe"
    r"|(?:you|u) (?:can|may|should|could|must|might as well)|please you"
    r"|(?:can|could|would|will|might) (?:you|u|we)|would you mind|i(?:['’]d| would| should) (?:like|love"
    r"|want) you to|i(?:['’]d| would)"
    r" (?:appreciate it|be (?:\w+ )?(?:grateful|glad|happy)) if you(?:['’]d| would| could)|if you (?:could|would)"
    r"|i (?:want|need) you to|let['’]s|go ahead and|feel free to"
    r"|be so (?:kind|good) (?:and|as to)|(?:it is|it['’]s) (?:ok|okay|fine|safe|time) to)\b[,.!:]? *)*)"
)
"""What stands before a verb that asks."""
CLAUSE: Final = re.compile(r"[,;.!:?–—-]\s+|\s(?=(?:so|and|then|please)\s)", flags=re.IGNORECASE)
"""Where a clause ends."""
_CONDITION: Final = re.compile(
    r"(?:and |so |but )?(?:if|when|once|unless|in case|whenever|next time|as soon as|remember to|remind me"
    r"|imagine|suppose"
    r"|should|had|were|what if|until|till|before you|after you|do|did|does|how|why|what|where|who|which|whatever"
    r"|don['’]?t(?! need)|never(?! ?mind)|i (?:keep|always|never|often))\b",
    flags=re.IGNORECASE,
)
_OF_ANOTHER: Final = re.compile(
    r"\b(?:wants?|wanted|asks?|asked|told|tells?|begs?|begged|tr(?:y|ies|ied)|needs?(?<!no longer need)(?<!t need)"
    r"|needed|going|has|have|had|would like|forgot|remember)"
    r" (?:[\w'’]+ )?to\b[^.!?;]*$",
    flags=re.IGNORECASE,
)
"""What stands before a clause that goes on with what somebody wants done: "she wants us to call and …"."""
_QUOTES: Final = " ,:\"'\u201c\u2018"
_REPORT: Final = re.compile(
    r"\b(?:said|says|told (?:me|us|him|her|them|you)|tells me|wrote|writes|asked|asks|replied|shouted|goes|like)\W*$",
    flags=re.IGNORECASE,
)
CAN_YOU: Final = re.compile(r"\b(?:can|could|would|will|might) (?:you|u)\b", flags=re.IGNORECASE)
QUESTION_MARKS: Final = ("?", "\uff1f", "\u061f", "\u037e")
"""As Latin, Chinese and Japanese, Arabic, and Greek have them."""


class Opening(NamedTuple):
    """A place where a request may begin. `before`, `after`: the rest of the line; `clause`: up to the sentence's end,
    without its mark."""

    before: str
    clause: str
    after: str
    is_question: bool


def openings(line: str) -> Iterator[Opening]:
    """Yield each place of a line where a request may begin, the first one first."""
    for part in sentences(line):
        if _CONDITION.match(part.text) and not CAN_YOU.match(part.text):
            continue
        after = line[part.stop :].lstrip(".!?… ")
        is_question = any(mark in part.mark for mark in QUESTION_MARKS)
        for at in (0, *(found.end() for found in CLAUSE.finditer(part.text))):
            before = line[: part.start + at].strip()
            if not _REPORT.search(before.rstrip(_QUOTES)) and not _OF_ANOTHER.search(before):
                yield Opening(before, part.text[at:].strip(), after, is_question)


def is_asked(lead: str, opening: Opening) -> bool:
    """Whether a clause asks that something be done: a question does only with "can you"."""
    return not opening.is_question or CAN_YOU.search(lead) is not None
