"""What somebody who talks to their memory wants of a line: told, asked, put right, changed, forgotten, explained. Pure.

Of a line that may be several, a request to forget goes before one to put right, and that before one to change.
"""

import re
from typing import Final, Literal

import msgspec

from braid.agent.answer.wording.provenance import asks_how
from braid.agent.request.change import ChangeRequest, change_request
from braid.agent.request.opening import LEAD, QUESTION_MARKS
from braid.agent.request.pointing import Pointed, pointed
from braid.agent.request.removal import Removal, removal
from braid.agent.request.righting import Righting, righting
from braid.recall.decompose import entities
from braid.text.sentences import sentences
from braid.text.words import stem, telling, telling_stems

Kind = Literal["tell", "ask", "how", "meant", "perhaps_meant", "request", "forget_all"]
_MEANT: Final = re.compile(
    r"\s*(?:(?:no|nope|sorry|oops|wait|actually|oh)\b[,.! ]+)*(?:what )?i (?:actually |really )?meant(?: to say)?"
    r"(?: that| was)?[:,]? (?P<text>\S.*?)\s*",
    flags=re.IGNORECASE | re.DOTALL,
)
_NO_BUT: Final = re.compile(
    r"\s*(?i:no|nope|nah|oops|sorry|wait)\b[,.! –—-]+(?:(?i:it|that)(?:['’]s| is| was) )?"
    r"(?P<text>[A-Z\d](?:[^\s,;:?]* ?){1,4}?)[.!]*\s*"
)
"""A "no" and a bare name or number: perhaps what the line before should have said."""
_FORGET_ALL: Final = re.compile(
    rf"{LEAD}(?:forget|delete|erase|drop|wipe|clear|remove)"
    r" (?:me|it all|(?:absolutely )?(?:everything|all(?: of it| my data)?|anything|the lot"
    r"|my (?:whole |entire )?(?:memory|memories|data))"
    r"(?:(?: that)? you(?:'ve| have)? (?:ever )?(?:know|knew|remember|have|hold|kept|stored|learn(?:ed|t)?|got)"
    r"|(?: that)? i(?:'ve| have)? (?:ever )?(?:said|told you|mentioned))?(?: (?:about|of|on) (?:me|us|myself))?)"
    r"(?:,? please)?\s*[.!]*\s*",
    flags=re.IGNORECASE,
)
_ASKS: Final = re.compile(
    r"\s*(?:and |so |but )?(?:(?:what|where|who|whom|whose|which|how|why|when) (?:is|are|was|were|do|does|did|has|have"
    r"|had|can|could|will|would|should|many|much|long|old|often)\b|(?:tell|remind) me (?:about|what|when|where|who|how"
    r"|why|which)\b|do you (?:know|remember)\b)",
    flags=re.IGNORECASE,
)

MOST_CHARS: Final = 400
"""A longer line tells or asks something, whatever words are in it."""


class Wish(msgspec.Struct, frozen=True):
    """What is wanted. `text`: the line, or what of it is asked or meant; `told`: what was said before a question.

    `asked`: what is to be put right, changed or removed.
    """

    kind: Kind
    text: str
    told: str = ""
    asked: Removal | Righting | ChangeRequest | Pointed | None = None


def wish(line: str) -> Wish:
    """Return what a line wants; what can't be told apart is something told."""
    if asks_how(line):
        return Wish("how", line)
    if _FORGET_ALL.fullmatch(line) is not None:
        return Wish("forget_all", line)
    return _request(line) or _question(line) or Wish("tell", line)


def _request(line: str) -> Wish | None:
    if len(line) > MOST_CHARS:
        return None
    pointing = pointed(line)
    to_forget = pointing if pointing is not None and pointing.kind == "forget" else None
    asked = removal(line) or to_forget or righting(line)
    is_asked = line.rstrip().endswith(QUESTION_MARKS)
    if asked is None and not is_asked and (meant := _MEANT.fullmatch(line)) is not None:
        return Wish("meant", meant["text"])
    wanted = asked or change_request(line) or pointing
    if wanted is None and (perhaps := _NO_BUT.fullmatch(line)) is not None:
        return Wish("perhaps_meant", perhaps["text"].rstrip(".! "))
    return Wish("request", line, asked=wanted) if wanted is not None else None


def _question(line: str) -> Wish | None:
    parts = list(sentences(line))
    last = line[parts[-1].start :].strip() if parts else line
    if last.endswith(QUESTION_MARKS) or _ASKS.match(last):
        return Wish("ask", last, line[: parts[-1].start].strip() if parts else "")
    return None


def says_again(question: str, told: str, about: str = "") -> bool:
    """Whether a question gives away what was told: a name or number of it, more than half of it, or all of `about`."""
    asked, said = telling_stems(question), telling_stems(told)
    given_away = {stem(word) for name in entities(told) for word in telling(name)}
    given_away |= {word for word in said if any(char.isdigit() for char in word)}
    topic = telling_stems(about)
    return (
        bool(asked & given_away) or 2 * len(asked & said) > len(said) > 0 or (bool(topic) and topic <= asked)
    )
