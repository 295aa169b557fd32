"""Who speaks of themselves: "I'll bring the grill", said by Ravi, answers who brings it. Pure."""

import re
from collections.abc import Iterator
from typing import Final

from braid.agent.answer.turn.bearing import spelt_names
from braid.agent.answer.turn.turn import is_agent
from braid.recall.decompose import Question
from braid.recall.hits import Hit, speaker
from braid.text.sentences import sentences
from braid.text.words import telling_stems, words

MAX_CHARS: Final = 4_000
"""How much of a long text is looked through."""
_WHO: Final = re.compile(
    r"^\W*(?i:(?:and|so|ok|hey|again|remind me|tell me)\W+)*(?i:who)"
    r"(?:(?:(?:['’]?s|['’]ll|['’]d| is| was| are| were| will| can| could| would)(?: (?:going|allowed|supposed) to)?"
    r" (?!(?:the|my|our|his|her|their|your|a|an|i|we|you|he|she|they|that|this|it|in|on|at|also|else)\b)"
    r"(?![\w-]+['’]s)[a-z])"
    r"| (?:(?:is|was|ca|wo|does|did|could|would)n['’]?t|cannot) (?!(?:the|my|our|their|your|a|an|i|we|you)\b)[a-z]"
    r"| (?!(?:is|was|are|were|do|does|did|will|can|could|would|should|else|to|am|the|['’]?s)\b)[a-z])"
)
"""Asks who is or does something; not whom somebody met, nor who somebody's boss is."""
_OF_SELF: Final = re.compile(
    r"^\W*(?:(?:and|but|so|ok|okay|yes|yeah|well|sure|oh|then|sorry|guys|hang on|hey|fine|right)\W+)*"
    r"i(?:['’](?:m|ll|ve|d))?(?! (?:think|guess|hope|hear|heard|believe|wonder|know|said|told|saw|met|asked"
    r"|spoke)\b)\b",
    re.IGNORECASE,
)
_DENIES: Final = re.compile(
    r"\b(?:not|never|no longer|no more|cannot|cant|wont|dont)\b|n['’]t\b", re.IGNORECASE
)
_BESIDE: Final = 4
"""How many words a piece has at most that goes on with what was said before it: "I'm out on Friday, exam on Monday"."""
_OF_ANOTHER: Final = re.compile(
    r"\b(?:he|she|they|we|you|it|his|her|their|your|our|who|nobody|somebody|everybody)\b|['’]s\b",
    re.IGNORECASE,
)
_PIECE: Final = re.compile(
    r"[,;:–—()]\s+|\s+(?:and|but|while|because|so)\s+(?=[A-ZI]|he\b|she\b|they\b|my\b)"
)


def speaker_meant(question: Question, hit: Hit) -> str:
    """Return the name of who said a hit, where it is asked who is or does something and they say it of themselves;
    else nothing. An agent's own is left out; and what is denied, unless it is asked who doesn't."""
    name = speaker(hit)
    if is_agent(hit) or name in ("", "user") or _WHO.search(question.text) is None:
        return ""
    if not set(words(name)).isdisjoint(words(question.text)):
        return ""
    pieces = [
        (piece, ahead)
        for part in sentences(hit.text[:MAX_CHARS])
        if "?" not in part.mark
        for piece, ahead in _pieces(hit.text[part.start : part.stop])
    ]
    asked = set(question.stems)
    met = [len(asked & telling_stems(piece)) for piece, _ in pieces]
    most = max(met, default=0)
    if not most:
        return ""
    best, ahead = pieces[met.index(most)]
    act, *things = question.stems
    if things and asked & telling_stems(best) == {act}:
        return ""  # who brings the grill says nothing of who brings the tent
    denies = _DENIES.search(best) is not None
    if _OF_SELF.match(best):
        return name if denies == (_DENIES.search(question.text) is not None) else ""
    goes_on = _OF_SELF.match(ahead) is not None and not denies and _goes_on(best)
    return name if goes_on and _DENIES.search(f"{ahead} {question.text}") is None else ""


def _pieces(sentence: str) -> Iterator[tuple[str, str]]:
    """Yield the pieces of a sentence, each with the one before it; the first with nothing."""
    pieces = _PIECE.split(sentence)
    yield from zip(pieces, ("", *pieces), strict=False)


def _goes_on(piece: str) -> bool:
    """Whether a piece is a few words that name nobody."""
    named = {name.lower() for match in spelt_names(f"so {piece}") for name in words(match[0])}
    return (
        len(piece.split()) <= _BESIDE and named.isdisjoint(words(piece)) and _OF_ANOTHER.search(piece) is None
    )
