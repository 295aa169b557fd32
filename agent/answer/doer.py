"""Who speaks of themselves: "I'll bring the grill", said by Ravi, answers who brings it. Pure."""

import re
from typing import Final

from braid.agent.answer.turns import is_agent
from braid.recall.decompose import Question
from braid.recall.hits import Hit, speaker
from braid.text.sentences import sentences
from braid.text.words import stem, telling, words

MAX_CHARS: Final = 4_000
"""How much of a long text is looked through."""
_WHO: Final = re.compile(
    r"^\W*(?i:(?:and|so|ok|hey|again|remind me|tell me)\W+)*(?i:who)"
    r"(?:(?:(?:['’]?s|['’]ll|['’]d| is| was| are| were| will| can| could| would)(?: (?:going|allowed|supposed) to)?"
    r" (?!(?:the|my|our|his|her|their|your|a|an|i|we|you|he|she|they|that|this|it|in|on|at|also|else)\b)"
    r"(?![\w-]+['’]s)[a-z])"
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
_PIECE: Final = re.compile(
    r"[,;:–—()]\s+|\s+(?:and|but|while|because|so)\s+(?=[A-ZI]|he\b|she\b|they\b|my\b)"
)


def speaker_meant(question: Question, hit: Hit) -> str:
    """Return the name of who said a hit, where it is asked who is or does something and they say it of themselves;
    else nothing. An agent's own is left out, and what is denied."""
    name = speaker(hit)
    if is_agent(hit) or name in ("", "user") or _WHO.search(question.text) is None:
        return ""
    if not set(words(name)).isdisjoint(words(question.text)):
        return ""
    pieces = [
        piece
        for part in sentences(hit.text[:MAX_CHARS])
        if "?" not in part.mark
        for piece in _PIECE.split(hit.text[part.start : part.stop])
    ]
    asked = set(question.stems)
    met = [len(asked & {stem(word) for word in telling(piece)}) for piece in pieces]
    most = max(met, default=0)
    if not most:
        return ""
    best = pieces[met.index(most)]
    return name if _OF_SELF.match(best) and _DENIES.search(best) is None else ""
