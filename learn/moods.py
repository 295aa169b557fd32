"""Which sentences state nothing: questions, wishes, dreams, fiction; and which tone spoils a judgement. Pure."""

import re
from typing import Final

from braid.text.sentences import TextPart
from braid.text.words import STOP, listed, words

_UNREAL: Final = re.compile(
    r"\b(?:if|wish(?:ed|es)?|imagin(?:e|ing)|pretend(?:ing)?|suppose (?:i|we)|hypothetically"
    r"|theoretically|what if|as if|unless"
    r"|as though|dream(?:t|ed|s|ing)? (?:that|of|about|i|we|aloud|out loud)|in (?:my|the|a|this"
    r"|that) (?:dream|game|story|book|novel|film|movie|series|play|script)"
    r"|daydream\w*|fantas(?:y|ise|ize)\w*|in another life|in a parallel|let's say|say i|would "
    r"have|could have|should have"
    r"|used to think|thought (?:i|we|that)|once upon|role[- ]?play\w*|my character|feels? like "
    r"(?:i|we|a)|felt like|joking|kidding|just joking"
    r"|supposed to|no idea whether|wonder (?:if|whether))\b",
)
_FICTION: Final = re.compile(
    (
        r"\b(?:dream\w*|in (?:the|a|this|that) (?:game|story|book|novel|film|movie|series|play"
        r"|script)|imagin\w*|pretend\w*|my character|role[- ]?play\w*)\b"
    ),
)
_IRONY: Final = re.compile(
    r"\boh,? (?:great|brilliant|joy|wonderful|fantastic|perfect|lovely|good)\b|\bjust (?:love"
    r"|adore) (?:it when|how|being|living|spending|when|having|standing|waiting|getting|listening)"
    r"|\b(?:best part of my day|highlight of my (?:day|week|year|life)|can't you tell|can you "
    r"tell|yeah,? right|how lucky|lucky me|what a joy|just what i needed|thanks a lot,|as if i "
    r"had nothing|living the dream)\b"
    r"|^(?:\W*(?:oh|haha|lol|yeah|yep|right|ha)\W+)*(?:oh,? sure|sure,? because|yeah,? because|right,? because)\b"
    r"|(?:^|[.!?]\s+)(?:oh|yeah|yes)\W+sure\W+(?:and )?(?:i'm|i am|we're|he's|she's)\b"
    r"|, obviously\W*$|^\W*(?:ha(?:ha)+|lol|lmao)\b[^.!?\n]*\b(?:totally|obviously|clearly)\b"
    r"|(?:^|\s)/s\b|🙄|🙃|\bnot\s*!\s*$",
)
_ANGER: Final = re.compile(
    (
        r"\b(?:venting|so angry|so mad|furious|could (?:have )?scream|unbearable|can't believe (?:him"
        r"|her|them)|hate everyone|hate everything|i'm fuming|rant(?:ing)?|don't conclude|don't read "
        r"anything into|ugh|argh|ffs)\b"
    ),
)
_FLEETING: Final = re.compile(
    (
        r"\b(?:don't (?:keep|remember|store|save|note) (?:that|this|it)|for today only|only (?:for "
        r")?today|off the record|between us|delete (?:that|this) after|don't tell)\b"
    ),
)
_ASKS: Final = re.compile(
    (
        r"^(?:(?:and|but|so|ok|okay|well|hey|hi|yo|wow|oh|also|by the way|please)[,!]? )*(?:do|does|did"
        r"|can|could|would|will|shall|should|is|are|am|was|were|have|has|what|where|when|who|why|how"
        r"|which|whose|any)\b(?! (?:i|you) (?:say|mention))"
    ),
    flags=re.IGNORECASE,
)
_BEHIND: Final = re.compile(
    r"\b(I (?:think|guess|suppose|reckon|believe|bet)|if I remember (?:right|rightly))[ .!]*$", re.IGNORECASE
)


_FEIGNED: Final = re.compile(
    r"^say,? (?:you|we|he|she|they)\b"
    r"|\b(?:imagin(?:e|ing)|pretend(?:ing)?|suppose (?:i|we)|hypothetically|theoretically|(?<!a )(?<!my "
    r")(?<!the )(?<!this )dream(?:t|ed|s|ing)? "
    r"(?:that|about|i|we)|in (?:my|the|a|this|that) (?:dream|game|story|book|novel|film|movie|series"
    r"|play|script)\b"
    r"|daydream\w*|fantas(?:y|ise|ize)\w*|in another life|in a parallel|let's say|say i|once upon"
    r"|role[- ]?play\w*|my character|joking|kidding)\b"
)
"""What makes a whole sentence a fiction; conditions and wishes are told by their clauses."""


_FOREIGN: Final = listed(
    "je tu il elle nous vous le les des du une est et dans pour avec sur que qui pas der das und ist nicht ich wir "
    "ein eine mit auf für dem den von zu el los las y es por con para una del muy pero di che non per sono della het "
    "een van niet ik wij "
    "voor jeg og det på ikke som não uma em com os são nie się na jest"
)


def is_foreign(text: str) -> bool:
    """Whether a text's small words are of another language: the parser is of English, and would guess."""
    found = words(text)
    foreign = [word for word in found if word in _FOREIGN]
    return len(foreign) > 1 and len(foreign) > sum(word in STOP for word in found)


def is_no_statement(sentence: TextPart) -> bool:
    """Whether a whole sentence is a question, or a fiction."""
    return _asks(sentence) or _FEIGNED.search(sentence.text.lower()) is not None


def states_nothing(sentence: TextPart) -> bool:
    """Whether a sentence is a question or speaks of what isn't so."""
    return _asks(sentence) or _UNREAL.search(sentence.text.lower()) is not None


def _asks(sentence: TextPart) -> bool:
    """Whether a sentence is a question, by its mark or, without any, by how it begins."""
    return "?" in sentence.mark or (
        sentence.mark not in (".", "!") and _ASKS.match(sentence.text) is not None
    )


def names_nobody(sentence: TextPart) -> bool:
    """Whether even who is named in a sentence may not exist: a question, a dream, a story."""
    return "?" in sentence.mark or _FICTION.search(sentence.text.lower()) is not None


def is_ironic(text: str) -> bool:
    """Whether a turn has marks of irony: its likings can't be taken at their word."""
    return _IRONY.search(text.lower()) is not None


def is_angry(text: str) -> bool:
    """Whether a turn lets off steam: what it judges of others isn't meant to last."""
    return _ANGER.search(text.lower()) is not None


def is_fleeting(text: str) -> bool:
    """Whether the speaker asks that it not be kept."""
    return _FLEETING.search(text.lower()) is not None


def hedge_behind(sentence: TextPart) -> str | None:
    """Return the words behind a sentence that soften it: he laughs at my jokes, out of fear I think."""
    found = _BEHIND.search(sentence.text)
    return found[1] if found is not None else None
