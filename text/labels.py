"""What stands before a colon at the beginning of a line: somebody's name, or a label of what follows. Pure."""

import re
from typing import Final

from braid.text.calendar import TIME_WORDS
from braid.text.numbers import NAMES
from braid.text.words import CHAT

FIRST: Final = re.compile(r"\b(?:i|my|me|mine|we|our|us)\b", re.IGNORECASE)
"""Words by which people speak of themselves."""
SELF: Final = frozenset(("me", "i", "myself"))
_OWN: Final = """
about absence account achievement action actually added addendum addition address advance advice afaik age agenda aim
allergy allowance answer anyway apartment appointment arm arms art asap aside asthma aunt baby back background balance
bank basically basics basketball bed beer best bike bills bio biology birthday birthplace blood body bonus book books
boss boyfriend bread breakfast brother btw budget bus business bye car career cat cats caveat cello chance change
changed cheese chemistry chess child children church city clarification class club coffee colleague colleagues color
colour company complaint computer concern conclusion condition conference confession congrats cons consequence contact
context correction cost country course cousin current currently custom date daughter deadline debt decided decision
default dentist desk desktop detail details diabetes diagnosis diary diet dinner disclaimer dislike dislikes distance
dog dogs done dose dream drink dropped drug drugs drums due ears edit education email employer energy english entry
eod eta event everyone everything exam example exams exception exercise experience eyes fact facts family fave
favorite favourite fear feedback feeling feet fiance fiancé film final finally finance finish first fish fix flat
flight follow-up food foot football footnote french friend friends fruit full fun furthermore fyi game games garden
gender general german gift girlfriend goal goals golf gone good gp grade great gripe group guitar gym habit hair hand
hands hardware hate head headline heads-up health heart height hello help hey hi hint history hobbies hobby holiday
home homework honestly hope hopes hotel house household however hungry husband idea iirc imho imo important in income
info information insight instrument insurance intention intro introduction invoice issue italian item job joke journal
kept key kids kindergarten knee knees knowledge language languages laptop latest learned leg legs lesson level life
like likes list living loc location log lol looking love lunch lungs mail main marital math maths meal meals meaning
meanwhile meat medical medication medications medicine meds meeting memo memory message migraine migraines milestone
milk mission mobile money mood moral mosque motto movie movies music n.b name names nationality nb neck need needs
neighbor neighbors neighbour neighbours never new news nickname nose not nota note note-to-self notes notice nut
object objective occupation office ok okay old omg opinion option order origin other outcome own owner p.p.s p.s pace
pain painting parents partner passion passport password past peeve people performance personal pet pets phone physics
piano pilates pills pin place plan plane plans plumber plus point portuguese position postscript pps preference
preferences present pressure price printer prio priority pro problem profession profile progress project proof pros ps
psa purpose question quick race rant rating reality reason recap recipe reference regards relationship religion
reminder removed rent request requirement residence resolution result ride role room router rsvp rugby rule rules run
salary same savings schedule school science score secret self seriously shift shopping short shoulder shoulders side
singing sister situation size skill skills skin sleep soccer software son sorry sort source spanish splits spoiler
sport sports spot start starting state statement status step stomach story street strength strengths stress studies
study subject subjects sugar sum summary surname surprise swim symptom symptoms system table tally task tea team teeth
tel telephone tennis text thanks then therapy thesis thing things thought thoughts throat time timezone tip title
tl;dr tldr todo topic total town trade train transport travel trigger trip trivia truth tummy tv twitter type uncle
uni university update updated upshot username usual vacation vehicle verdict version vet village violin visa vision
visitors vitamins warning water weakness weather website weekend weight where wife wine wip wish wishes work workout
workplace worry worst year yes yoga zip
"""
_LABELS: Final = frozenset(_OWN.split()) | CHAT | TIME_WORDS | NAMES
_ENDS: Final = re.compile(
    r"(?<!^cle)(?:tion|sion|ment|ness|ship|ism|ies)s?$|^(?!sterling|fleming|harding)\w{4,}ings?$"
)
"""How words end that are no names."""
_ALSO_NAMES: Final = """
will april may june august summer autumn hope faith joy grace rose mark art dawn don sue guy miles love
"""
_NAMES_TOO: Final = frozenset(_ALSO_NAMES.split())
"""Labels that are names, too."""
_PARTS: Final = """
a speaker user assistant agent customer client patient doctor nurse interviewer interviewee guest host caller
operator human ai bot chatbot chatgpt claude gpt gemini moderator narrator teacher student candidate recruiter manager
reporter journalist author writer lawyer witness judge attorney salesperson rep support attendee presenter anonymous
participant respondent employee landlord tenant buyer seller mum mom dad mother father grandma grandpa q
"""
_ROLES: Final = frozenset(_PARTS.split())
"""Who speaks in a talk without a name."""
_TITLE: Final = re.compile(r"^(?:dr|mrs?|ms|miss|prof|sir)\b\.?\s", re.IGNORECASE)
_WORD: Final = re.compile(r"[^\W\d_][\w'’-]*")
_PARTICLES: Final = frozenset(
    ("de", "da", "di", "del", "van", "von", "der", "den", "la", "le", "el", "al", "bin")
)
_MOST: Final = 3
"""A name has so many words at most, but for what stands between them."""


def is_same(name: str, speaker: str) -> bool:
    """Whether a name is the speaker's, in full or the first."""
    one, other = name.lower().split(), speaker.lower().split()
    return bool(one and other) and (one == other or (one[0] == other[0] and 1 in (len(one), len(other))))


def may_be_name(label: str) -> bool:
    """Whether a label is also a name, which only those beside it can tell: Will, April, Hope."""
    return label[:1].isupper() and label.lower() in _NAMES_TOO


def is_voice(label: str) -> bool:
    """Whether a label may be who says what follows: a name, a handle, or a part in a talk."""
    if label.startswith("@") or _TITLE.match(label):
        return True
    words = _WORD.findall(label)
    lower = [word.lower().rstrip(".") for word in words]
    if not words or len([word for word in lower if word not in _PARTICLES]) > _MOST:
        return False
    if lower[0] in _ROLES and len(words) == 1:
        return True
    if len({word[0].isupper() for word in words if word.lower() not in _PARTICLES}) > 1:
        return False  # "Good news", "Note to self"
    if not words[0][0].isupper() and len(words) > 1:
        return False
    return not any(word in _LABELS or _ENDS.search(word) or word.rstrip("s") in _LABELS for word in lower)
