"""A question that follows an answer: "who said that?", "and when?", "how sure are you?", "and her sister?". Pure.

The first three are answered by the last answer's own citations and probability, in words; the last is the last question
asked anew, of somebody else.
"""

import re
from collections.abc import Sequence
from typing import Final, Literal

from braid.agent import bands
from braid.agent.answer.wording.provenance import asks_how
from braid.agent.answer.wording.report import capital, date, report_of
from braid.agent.composer import Composed, EarlierAnswer, QuestionContext, Support
from braid.recall.decompose import entities
from braid.text.words import listed

Kind = Literal["who", "when", "sure", "how"]
MOST: Final = 3
"""How many of the citations are told."""
_LEAD: Final = r"\s*(?:and|but|so|ok(?:ay)?|hm+)?[,.]?\s*"
_KINDS: Final[tuple[tuple[Kind, "re.Pattern[str]"], ...]] = (
    ("who", re.compile(
        rf"{_LEAD}(?:who(?: was it)?(?: that)? (?:said|says|told (?:you|me|us)|wrote|mentioned)"
        r"(?: (?:so|that|this|it))?"
        r"|according to whom?|whose words (?:are|were) (?:that|those))\s*[?!.]*\s*", re.IGNORECASE)),
    ("when", re.compile(
        rf"{_LEAD}(?:when(?: was (?:that|this|it)(?: said)?| did (?:they|he|she|i|we) say (?:that|so|it))?"
        r"|since when|how long ago(?: was (?:that|it))?)\s*[?!.]*\s*", re.IGNORECASE)),
    ("sure", re.compile(
        rf"{_LEAD}(?:(?:how|are you) (?:sure|certain|confident)(?: (?:are|is) (?:you|that))?"
        r"(?: (?:of|about) (?:that|this|it))?"
        r"|really|are you sure(?: (?:of|about) (?:that|this|it))?)\s*[?!.]*\s*", re.IGNORECASE)),
)  # fmt: skip
_OTHER: Final = re.compile(
    r"\s*(?:and|but|what about|how about|and what about|and how about)\s+"
    r"(?P<who>(?:(?:my|our|the|his|her|their|its|your)\s+)?[^\W\d_][\w'’-]*(?:\s+[^\W\d_][\w'’-]*){0,2})\s*\?\s*",
    re.IGNORECASE,
)
_OF_THEM: Final = re.compile(r"(?:his|her|their|its)\s+", re.IGNORECASE)
_NO_ONE: Final = listed("when who why how where what then now so that this it not if because")
_I: Final = (
    (re.compile(r"\b(?:my|our) (?P<of>[a-z]+)\b", re.IGNORECASE), "{0}'s {of}"),
    (re.compile(r"\bdo (?:i|we)\b", re.IGNORECASE), "does {0}"),
    (re.compile(r"\b(?:am i|are we)\b", re.IGNORECASE), "is {0}"),
    (re.compile(r"\bhave (?:i|we)\b", re.IGNORECASE), "has {0}"),
    (re.compile(r"\b(?:i|we)\b", re.IGNORECASE), "{0}"),
)
"""How a question of whoever asks is put of somebody else."""
_SURE: Final[dict[bands.Band, str]] = {
    "plain": "I am sure of it, as far as memory goes.",
    "hedged": "I am fairly sure, but not beyond doubt.",
    "careful": "I am not sure of it.",
    "unsaid": "I am not sure at all: it was only the nearest that I remember.",
}
_GONE: Final = "I can't say: what that answer rested on can't be read any more."


def asks_of_answer(question: str) -> Kind | None:
    """Return what a question asks of the answer before it, None where it asks for anything else."""
    if asks_how(question):
        return "how"
    return next((kind for kind, form in _KINDS if form.fullmatch(question)), None)


def follows(question: str) -> bool:
    """Whether a question can only be read with the answer before it."""
    return asks_of_answer(question) is not None or _other(question) is not None


def asked_anew(question: str, earlier: EarlierAnswer) -> str:
    """Return the question that "and her sister?" stands for: the last one, of somebody else; any other as it is."""
    who = _other(question)
    if who is None or not earlier.question:
        return question
    named = next(iter(entities(earlier.question)), None)
    if _OF_THEM.match(who):
        if named is None:
            return question
        who = f"{named}'s {_OF_THEM.sub('', who, count=1)}"
    if named is not None:
        return earlier.question.replace(named, who, 1)
    for form, put in _I:
        if (found := form.search(earlier.question)) is not None:
            anew = put.format(who, **found.groupdict())
            return f"{earlier.question[: found.start()]}{anew}{earlier.question[found.end() :]}"
    return question


def followed(asked: QuestionContext) -> Composed | None:
    """Return what the last answer's own citations and probability say, None where the question asks for more."""
    kind = asks_of_answer(asked.question) if asked.after is not None else None
    if asked.after is None or kind is None:
        return None
    earlier = asked.after
    if earlier.abstained:
        return _nothing("I gave no answer before.", "the answer before was none")
    if earlier.put_right:
        told = " ".join(capital(report_of(one, one.text)) for one in earlier.put_right)
        text = f"What that answer rested on was put right since. {told}"
        cites = tuple(one.id for one in earlier.put_right)
        return Composed(text=text, citations=cites, short="put right since", p=bands.PLAIN)
    if not earlier.citations:
        return _nothing(_GONE, "the answer before rests on nothing that can be read")
    shown = earlier.citations[:MOST]
    told = " ".join(capital(report_of(one, one.quote or one.text)) for one in shown)
    lead = f"{_SURE[bands.band(earlier.p)]} " if kind == "sure" else ""
    return Composed(
        text=f"{lead}{told}{_more(len(earlier.citations) - len(shown))}",
        citations=tuple(one.id for one in shown),
        short=_short(kind, shown, earlier.p),
        p=bands.PLAIN,
    )


def _short(kind: Kind, shown: Sequence[Support], p: float) -> str:
    if kind == "who":
        return "; ".join(dict.fromkeys(one.speaker for one in shown))
    if kind == "when":
        return "; ".join(dict.fromkeys(date(one.when) for one in shown))
    return (
        _SURE[bands.band(p)].rstrip(".")
        if kind == "sure"
        else "; ".join(one.quote or one.text for one in shown)
    )


def _more(count: int) -> str:
    return f" It rests on {count} more." if count > 0 else ""


def _nothing(text: str, reason: str) -> Composed:
    return Composed(text=text, citations=(), abstained=True, reason=reason)


def _other(question: str) -> str | None:
    match = _OTHER.fullmatch(question)
    if match is None or match["who"].lower().split()[0] in _NO_ONE:
        return None
    return " ".join(match["who"].split())
