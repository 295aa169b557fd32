"""What a question states before it asks, or behind: "I'm allergic to nuts, can I eat this?" Pure.

Only what the speaker says of themselves and theirs, parted by a comma from a whole question. What the question asks
to have confirmed stays asked: "my flight is at nine, isn't it?", "I'm on the old plan, is that right?"
"""

import re
from typing import Final

from braid.text.sentences import TextPart

_OWN: Final = r"(?:i|im|ive|we|my|our)\b(?!\s+(?:mean|wonder|guess|suppose)\b)"
_LEAD: Final = r"(?:(?:hi|hey|hello|so|ok|okay|well|also|btw|and|but)\b[,!]? )*"
_AUX: Final = (
    r"(?:do|does|did|is|are|am|was|were|can|could|will|would|should|shall|may|might|have|has)(?:n['’]t)?"
)
_STATED: Final = re.compile(rf"{_LEAD}{_OWN}", re.IGNORECASE)
_GROUND: Final = re.compile(rf"{_LEAD}(?:since|because|as|now that) (?={_OWN})", re.IGNORECASE)
_ASKED: Final = re.compile(
    rf",\s+(?=(?:(?:so|and|but) )?"
    rf"(?:{_AUX}|(?:what|how|why|which|where|when|who)(?:['’]s|(?: [\w'’-]+){{0,2}} {_AUX}))\b"
    r"(?: [\w'’-]+){2})",
    re.IGNORECASE,
)
_CONFIRMED: Final = re.compile(
    rf",\s+(?:and |but )?{_AUX} (?:that|this|it|i|we)\b[^,]*\b(?:right|correct|true|wrong|not|still|so|sure)\b",
    re.IGNORECASE,
)
_FACTIVE: Final = re.compile(
    rf"{_LEAD}(?:did(?:n['’]t)? you (?:know|hear)|can you believe"
    r"|(?:did|have)(?:n['’]t)? i (?:tell|told|mention(?:ed)?)(?: you)?)"
    rf"(?: that)? (?={_OWN})",
    re.IGNORECASE,
)
_BEHIND: Final = re.compile(rf",\s+(?={_OWN}(?:['’](?:m|ve|re)\b| [\w'’-]+ ))", re.IGNORECASE)
_OPENS: Final = re.compile(rf"{_LEAD}(?:{_AUX}|what|how|why|which|where|when|who|any)\b", re.IGNORECASE)


def parts(sentence: TextPart) -> list[TextPart]:
    """Return a question as what it asks and what it states, in their order; any other sentence as it is."""
    if "?" not in sentence.mark:
        return [sentence]
    text = sentence.text
    factive = _FACTIVE.match(text)
    if factive is not None:
        return [sentence.piece(0, factive.end(), "?"), sentence.piece(factive.end(), len(text), ".")]
    ground = _GROUND.match(text)
    start = ground.end() if ground is not None else 0
    asked = list(_ASKED.finditer(text))
    if asked and _STATED.match(text, start) and not _CONFIRMED.match(text, asked[-1].start()):
        at = asked[-1]
        return [sentence.piece(start, at.start(), "."), sentence.piece(at.end(), len(text), "?")]
    behind = list(_BEHIND.finditer(text))
    if behind and _OPENS.match(text):
        at = behind[0]
        return [sentence.piece(0, at.start(), "?"), sentence.piece(at.end(), len(text), ".")]
    return [sentence]
