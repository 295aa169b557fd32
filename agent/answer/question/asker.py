"""A question about the one who asks is answered by their own words, not by what they pasted. Pure."""

import re
from typing import Final

import msgspec

from braid.ledger.record.record import ExperienceBody
from braid.recall.decompose import Question
from braid.recall.hits import Hit, speaker
from braid.text.pasted import own, pasted
from braid.text.words import STOP

_OF_ME: Final = re.compile(r"\b(?:i|me|my|mine|myself)\b", re.IGNORECASE)
_DO_I: Final = re.compile(
    r"\b(?:do|did|am|was|have|had|can|could|will|would|should) i\b|\bi['’](?:m|ve|d|ll)\b", re.IGNORECASE
)
_I_SAID: Final = re.compile(
    r"\b(?:did|have|had) i (?:ever |just |already )?(?:say|said|tell|told|write|written|mention\w*)\b",
    re.IGNORECASE,
)
_PASTED: Final = re.compile(
    r"\b(?:e-?mails?|mails?|messages?|letters?|articles?|texts?|transcripts?|chats?|conversations?|past(?:e|ed)|forward(?:ed)?"
    r"|wr(?:o|i)te|writes|written|says?|said|sen[dt]|t(?:ell|old)|posts?|posted|tweets?|summar\w+|translat\w+|cv|resume"
    r"|logs?|code|songs?|lyrics|calls?|meetings?|interviews?|tools?|outputs?|documents?|notes?)\b",
    re.IGNORECASE,
)
"""What speaks of a text that somebody may have pasted, or of what another said."""

_PART_OF_ID: Final = re.compile(r"[^\W\d_]+")
_INITIALS: Final = 1
"""An id of so few letters is nobody's name."""
_WITH_I: Final = {
    "does": "do",
    "is": "am",
    "has": "have",
    "doesn't": "don't",
    "hasn't": "haven't",
    "were": "was",
}
_DOES: Final = rf"{'|'.join(_WITH_I)}|do|did|didn't|was|had|can|could|will|would|shall|should|must|may|might"


def is_of_asker(question: Question) -> bool:
    """Whether a question asks what is so of the one who asks it, not what stands in some text or what others said."""
    text = _I_SAID.sub("do i", question.text)
    if _OF_ME.search(text) is None or _PASTED.search(text) is not None:
        return False
    return not question.entities or question.intent == "check" or _DO_I.search(text) is not None


def of_user(text: str, user_id: str | None) -> str | None:
    """Return a question that names the user as their id does, as they would ask it; None for any other. An application
    asks so of one who never said their name: "Where does Maya live?" of the user `maya`.
    """
    parts = [re.escape(each) for each in _PART_OF_ID.findall((user_id or "").partition("@")[0])]
    if len("".join(parts)) <= _INITIALS or STOP.issuperset(map(str.lower, parts)):
        return None  # an id "will" is in too many questions
    name = r"[\W_]+".join(parts)
    named = re.compile(
        rf"(?:\b(?P<does>{_DOES}) )?(?<![\w'’-])(?:{name})(?P<whose>['’]s?)?(?![\w-])", re.IGNORECASE
    )
    asked = named.sub(_in_first_person, text)
    return None if asked == text else asked


def _in_first_person(named: re.Match[str]) -> str:
    does, whose = named["does"], named["whose"]
    if whose:
        return f"{does} my" if does else "my"
    if does is None:
        return "me"
    with_i = _WITH_I.get(does.lower(), does)
    return f"{with_i.capitalize() if does[0].isupper() else with_i} I"


def own_text(hit: Hit) -> str:
    """Return the text of a hit with what its speaker pasted blanked: sentences end there, and nothing moves."""
    return own(hit.text, speaker(hit), "\n") if _is_persons(hit) else hit.text


def with_own_words(hit: Hit) -> Hit | None:
    """Return a hit with its speaker's own words alone, None where it has none."""
    shown = own_text(hit)
    if shown == hit.text:
        return hit
    return msgspec.structs.replace(hit, part=shown) if shown.strip() else None


def is_pasted(text: str, said: str, by: str) -> bool:
    """Whether most of what is quoted of a person's turn was pasted by them."""
    start = text.find(said)
    if start < 0:
        return False
    stop = start + len(said)
    within = sum(max(0, min(stop, end) - max(start, begin)) for begin, end in pasted(text, by))
    return 2 * within > len(said)


def _is_persons(hit: Hit) -> bool:
    body = hit.record.body
    return isinstance(body, ExperienceBody) and body.provenance.actor.partition("(")[0] == "user"
